"""Does it matter how a calibration error is computed? Nixon et al. (2019), tables 1 to 3, section 5.3, figure 1.

The installed study `error_choices` is asked about ten networks for digits, whose
predictions are ten files, so that each claim has an error over networks, and about a file that is given by --data, of
which only splits of the same rows can be had. Claims of the paper are differences with a sign: of mean rank
correlations over 10 to 50 bins (section 5.3), of the ECE after a temperature was fitted to errors with a property
(table 3, CIFAR-10), of errors before and after histogram binning (tables 1 and 2), and that classes differ in their
error (figure 1, left). The networks share the digits, so that errors are over networks, not over digits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.papers.error_choices import OPTIONS, QUICK, SAME, SEARCHES, found_in
from calibstat.papers.parts.error_choice_pages import chosen, draw_classes, draw_temperatures
from calibstat.papers.parts.prediction_files import PredictionFile
from calibstat.papers.parts.splits import EVERY
from calibstat.plots.studies.estimates import panels
from calibstat.study import Study

from .parts.digit_networks import networks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = 20346
OF_EACH = ("claim", "each error", "each class", "left out")  # questions whose rows of each network are kept
SPLITS = {"networks": 2, "given files": 20}
CORRELATIONS = {  # Nixon et al. 2019, section 5.3: mean rank correlation over 10 to 50 bins
    "adaptive bins": 0.5927,
    "even bins": 0.3677,
    "all classes": 0.6037,
    "most likely class": 0.3565,
    "class-conditional": 0.5546,
    "class-unconditional": 0.4056,
    "thresholded": 0.5010,
    "unthresholded": 0.4592,
    "L1": 0.5352,
    "L2": 0.4250,
}
FITTED_ECE = {  # table 3, CIFAR-10: mean ECE of temperatures fitted to the errors with a property
    "adaptive bins": 0.0175,
    "even bins": 0.0097,
    "all classes": 0.0143,
    "most likely class": 0.0129,
    "class-conditional": 0.0145,
    "class-unconditional": 0.0126,
    "unthresholded": 0.0146,
    "thresholded": 0.0126,
    "L2": 0.0155,
    "L1": 0.0117,
}
WAYS = {SAME: ("ties together", "ties split"), "ECE": SEARCHES}
PRINTED: Mapping[str, Mapping[str, float]] = {SAME: CORRELATIONS, "ECE": FITTED_ECE}


def table(
    *, quick: bool, n_jobs: int | None = None, data: Sequence[Path] = (), store: Path | None = None
) -> pd.DataFrame:
    """Ask about the networks, and about given files."""
    import pandas as pd

    options = {name: option.default for name, option in OPTIONS.items()} | (QUICK if quick else {})
    sources: dict[str, Mapping[str, Any]] = {
        "networks": networks(quick),
        "given files": {path.stem: PredictionFile.of(path) for path in data},
    }
    parts = [
        found_in(own, {**options, "splits": 1 if quick else SPLITS[kind]}, store, n_jobs).assign(models=kind)
        for kind, own in sources.items()
        if own
    ]
    found = pd.concat(parts, ignore_index=True).drop(columns=["low", "high", "classes"])
    single = (found["models"] == "networks") & (found["file"] != EVERY)
    found = found[(~single | found["question"].isin(OF_EACH)) & (found["against"] != "log loss")]
    return found[["question", "models", *(name for name in found if name not in ("question", "models"))]]


def printed(claim: str, against: str) -> float:
    """Return the difference that the paper prints, nan if it prints none."""
    larger, _, smaller = claim.partition(" − ")
    values = PRINTED.get(against, {})
    return values[larger] - values[smaller] if larger in values else np.nan


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the differences that the paper claims, the temperatures, and the classes of a given file."""
    last = table[table["models"] == table["models"].iloc[-1]]
    return {"": draw_claims(table), "temperatures": draw_temperatures(table), "classes": draw_classes(last)}


def draw_claims(table: pd.DataFrame) -> Figure:
    """Draw the differences of section 5.3 and of table 3 beside the paper's."""
    figure, (row,) = panels(1, 2, 6.0, 4.0)
    for axes, against, scale in zip(row, WAYS, (1, 100), strict=True):
        _draw_differences(axes, table, against, scale)
    row[0].set_xlabel("difference of mean rank correlations over 10 to 50 bins")
    row[1].set_xlabel("difference of ECE × 100 (symmetric log scale)")
    row[1].set_xscale("symlog", linthresh=0.5)
    row[1].set_xlim(-70, 70)
    row[1].minorticks_off()
    row[1].set_xticks([-10, -1, 0, 1, 10], ["−10", "−1", "0", "1", "10"])
    figure.supxlabel(
        "to the right of 0: as the paper claims; bars: ± 2 standard errors over networks", fontsize="small"
    )
    return figure


def _draw_differences(axes: Axes, table: pd.DataFrame, against: str, scale: float) -> None:
    from calibstat.plots.style import PALETTE

    rows = table[(table["question"] == "claim") & (table["against"] == against)]
    names = list(rows["measure"].unique())
    looks = [(kind, way) for kind in SPLITS for way in WAYS[against]]
    for k, (kind, way) in enumerate(looks):
        block = rows[(rows["models"] == kind) & (rows["way"] == way)]
        if block.empty:
            continue
        own = chosen(block)
        y = np.arange(len(names)) + (k - 2) / 7
        mean = own.set_index("measure")["mean"].loc[names]
        error = 2 * own.set_index("measure")["sd"].loc[names] / np.sqrt(own["files"].iloc[0])
        shown = {"xerr": scale * error.to_numpy()} if kind == "networks" else {}
        axes.errorbar(scale * mean, y, fmt="osD^"[k], color=PALETTE[k], markersize=5, label=f"{kind}, {way}", **shown)
    axes.plot([scale * printed(name, against) for name in names], np.arange(len(names)) + 2 / 7, "X", color="black",
              label="the paper, CIFAR-10")  # fmt: skip
    axes.axvline(0, color="black", linewidth=1, zorder=1)
    axes.set(yticks=range(len(names)), yticklabels=[name.replace(" − ", "\n− ") for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, frameon=False, fontsize="small")


study = Study(
    question="Does it matter how a calibration error is computed?",
    seed=SEED,
    runtime_hours=0.05,
    table=table,
    takes_data=True,
    takes_store=True,
    figures=figures,
)
