"""The files of `calibstat audit`: JSON, table and picture."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from calibstat.inference.auditing.audit_results import Audit
from calibstat.output.csv_text import as_csv
from calibstat.plots import plot


def save_audits(audits: Mapping[str, Audit], folder: Path) -> list[Path]:
    """Write the audits of one or more models to a folder, as table, picture and JSON, and return their paths."""
    path = folder / "groups.json"
    everything = {name: each.to_dict() for name, each in audits.items()}
    path.write_text(json.dumps(everything, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    return [*save_groups(audits, folder), path]


def save_groups(audits: Mapping[str, Audit], folder: Path) -> list[Path]:
    """Write the table, with a row for each group and model, and the picture."""
    frames = {name: each.to_frame() for name, each in audits.items()}
    (name, frame), *others = frames.items()
    if others:
        import pandas as pd

        frame = pd.concat(frames, names=["model"]).reset_index("model")
    sheet = folder / "groups.csv"
    sheet.write_text(as_csv(frame), encoding="utf-8", newline="")
    return [sheet, save_alone(folder / "groups.png", audits if others else audits[name])]


def save_alone(path: Path, result: object) -> Path:
    """Draw a result, in its usual size, into a PNG and return its path."""
    import matplotlib.pyplot as plt

    figure: Any = plot(result).figure
    figure.savefig(path, dpi=100)
    plt.close(figure)
    return path
