"""What `calibstat report` writes to a folder: JSON, tables and pictures."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibstat.cli.class_report import ClassFindings, assess_classes, classes_frame, save_alone
from calibstat.cli.lens_syntax import View
from calibstat.cli.report import Finding, error_intervals, findings_frame, save_side_by_side
from calibstat.cli.wording import CAUTIONS
from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.inference.reliability import Reliability, reliability
from calibstat.inference.reliability_diagrams import ClassWiseReliability, SimplexReliability
from calibstat.output.csv_text import as_csv

PANELS = 25  # classes that one picture shows; of more, bars are those that need no drawing


@dataclass(frozen=True)
class Classes:
    """What a report says of the classes of predictions.

    Attributes
    ----------
    findings : ClassFindings
        The expected calibration error of each class, and its test.
    diagrams : ClassWiseReliability
        The reliability diagram of each class.
    simplex : SimplexReliability or None
        Reliability of whole vectors, of three or four classes.
    """

    findings: ClassFindings
    diagrams: ClassWiseReliability
    simplex: SimplexReliability | None


def judge_classes(view: View, rng: Any = 0) -> Classes | None:
    """Look at each class that the lens shows, or at each class there is; None for predictions of one event."""
    if not isinstance(view.data, Predictions):
        return None
    data = view.whole_vectors or view.data
    band = "consistency" if data.n_classes <= PANELS else "confidence"
    diagrams = reliability(data, lens=lenses.class_wise, band=band, rng=rng, n_jobs=-1)
    few = data.n_classes in (3, 4)
    simplex = reliability(data, lens="canonical", band=None, strategy="tree") if few else None
    return Classes(assess_classes(data, "ece", rng=rng), diagrams, simplex)


def save(
    view: View,
    findings: Sequence[Finding],
    classes: Classes | None,
    folder: Path,
    *,
    about: dict[str, Any],
    rng: Any = 0,
) -> list[Path]:
    """Write JSON, tables and pictures to a folder and return their paths."""
    one_event = view.whole_vectors is None and not view.each_class
    diagram = reliability(view.data, lens=view.settings("ece")["lens"], rng=rng) if one_event else None
    text, sheet = folder / "report.json", folder / "table.csv"
    text.write_text(as_json(view, findings, classes, diagram, about) + "\n", encoding="utf-8")
    sheet.write_text(as_csv(findings_frame(findings)), encoding="utf-8", newline="")
    saved = [text, sheet]
    if diagram:
        title = [diagram.lens] if classes else []  # which event it is, of several classes
        saved.append(save_side_by_side(folder / "reliability.png", [diagram], title))
    titles = [finding.title for finding in findings]
    saved.append(save_side_by_side(folder / "null.png", [finding.test for finding in findings], titles))
    if errors := error_intervals(findings):
        saved.append(save_side_by_side(folder / "intervals.png", [errors]))
    return saved + (save_classes(classes, folder) if classes else [])


def save_classes(classes: Classes, folder: Path) -> list[Path]:
    """Write the table and the pictures of the classes to a folder and return their paths."""
    sheet = folder / "classes.csv"
    sheet.write_text(as_csv(classes_frame(classes.findings)), encoding="utf-8", newline="")
    saved = [sheet, save_alone(folder / "classes.png", classes.diagrams)]
    return [*saved, save_alone(folder / "simplex.png", classes.simplex)] if classes.simplex else saved


def as_json(
    view: View,
    findings: Sequence[Finding],
    classes: Classes | None,
    diagram: Reliability | None,
    about: dict[str, Any],
) -> str:
    """Return everything that was found as strict JSON."""
    found = [
        {
            "measure": finding.bound.name,
            "title": finding.title,
            "options": finding.bound.options,
            "estimate": finding.estimate,
            "interval": finding.interval.to_dict() if finding.interval else None,
            "test": finding.test.to_dict(),
        }
        for finding in findings
    ]
    whole = {**about, "data": summary(view.data), "findings": found}
    if diagram:
        whole["reliability"] = diagram.to_dict()
    if classes:
        of_each = classes.findings.test.to_dict()
        del of_each["null_distribution"]  # as many numbers as resamples times classes
        whole["classes"] = {
            "test": of_each,
            "reliability": classes.diagrams.to_dict(),
            "simplex": classes.simplex.to_dict() if classes.simplex else None,
        }
    return json.dumps(strict({**whole, "cautions": list(CAUTIONS)}), indent=1, allow_nan=False)


def summary(data: Any) -> dict[str, Any]:
    """Return what the data are, in numbers."""
    if not isinstance(data, Predictions):
        return {"n": data.n, "positives": float(data.positives.sum()), "distinct_predictions": data.value.size}
    happened = np.bincount(data.label, minlength=data.n_classes).tolist()
    return {
        "n": data.n,
        "classes": list(data.names),
        "happened": happened,
        "accuracy": float((data.top == data.label).mean()),
        "mean_largest_probability": float(data.largest.mean()),
    }


def strict(value: Any) -> Any:
    """Replace what JSON has no literal for, infinite and missing numbers, by null."""
    if isinstance(value, dict):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [strict(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
