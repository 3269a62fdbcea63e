"""Checkpoints of a network during training: Vaicenavicius et al. (2019), figure 3, and Nakkiran's slides (2023).

Each file is a checkpoint, in the order in which files are given, with arrays train_y, train_prob, test_y and test_prob
(or train_logits and test_logits). A folder stands for all its .npz files, in the order of the numbers in their names:
epoch2.npz comes before epoch10.npz. Log loss, accuracy, ECE and p-values on test rows are drawn over the checkpoints,
with a star at the least log loss. Beside them are the error on training rows and the gap to test rows, with intervals,
and whether the gap is in absolute value at most the gap of the classification error, as the slides claim. Without a
file four checkpoints are drawn, of a model that becomes over-confident on test rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calibstat import calibration_test, estimate, generalization_gap, generators
from calibstat.cli.input_files import columns_of
from calibstat.cli.terminal import late_bar
from calibstat.digits import settled
from calibstat.papers.parts.prediction_files import PredictionFile, Rows
from calibstat.papers.parts.recalibrations import infinite
from calibstat.papers.tables import names_of
from calibstat.plots.studies.estimates import panels
from calibstat.plots.style import PALETTE, entitle, legend
from calibstat.study import Study
from calibstat.study.stored_rows import Row, stored
from calibstat.study.study_options import Option

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20344
SET_NAMES = ("train", "test")
P_VALUES = ("p by ECE", "p by omnibus")
ON_TEST = ("log loss", "accuracy", "ECE", *P_VALUES)
QUICK = 199  # resamples, with which the least p-value is far below .05
SMALLEST_P = "least p-value"  # that so many resamples can give
GAPS = ("ECE, train", "gap", "error, train", "error, test", "gap of the error", "within")
OPTIONS: Mapping[str, Option] = {
    "bins": Option(15, "bins of the ECE"),
    "resamples": Option(499, "resamples of tests and intervals"),
}


class Checkpoint(Protocol):
    """Training rows and test rows of one checkpoint."""

    def sets(self) -> tuple[Rows, Rows]:
        """Return classes and predictions of both."""


@dataclass(frozen=True)
class FileOfSets:
    """A file with training rows and test rows."""

    train: PredictionFile
    test: PredictionFile

    @classmethod
    def of(cls, path: Path) -> FileOfSets:
        """Return a file as it is now; a ValueError names the columns that are not there."""
        there = columns_of(path)
        parts = []
        for name in SET_NAMES:
            kinds = [kind for kind in ("prob", "logits") if any(each.startswith(f"{name}_{kind}") for each in there)]
            if f"{name}_y" not in there or not kinds:
                shown = ", ".join(there[:10]) + ", ..." * (len(there) > 10)
                raise ValueError(f"expected arrays {name}_y and {name}_prob or {name}_logits in {path}, found {shown}")
            parts.append(PredictionFile.of(path, f"{name}_y", f"{name}_{kinds[0]}*", kinds[0] == "logits"))
        return cls(*parts)

    def sets(self) -> tuple[Rows, Rows]:
        """Return classes and predictions of training rows and of test rows; a ValueError names the file."""
        try:
            train, test = self.train.rows(), self.test.rows()
        except ValueError as error:
            raise ValueError(f"{error}, in {self.train.path}") from error
        first, second = (p.shape[1] for _, p in (train, test))
        if first != second:
            expected = "as many classes in the training rows as in the test rows"
            raise ValueError(f"expected {expected}, found {first} and {second}, in {self.train.path}")
        return train, test


@dataclass(frozen=True)
class DrawnSets:
    """A model that is calibrated on training rows, and has this temperature on test rows."""

    temperature: float

    def sets(self) -> tuple[Rows, Rows]:
        """Return classes and predictions of 500 rows of each."""
        made = (generators.dirichlet((0.3,) * 10, temperature=t) for t in (1.0, self.temperature))
        train, test = (each.sample(500, SEED + k) for k, each in enumerate(made))
        return (train[0], train[1]), (test[0], test[1])


CHECKPOINTS: Mapping[str, Checkpoint] = {f"{t:g}": DrawnSets(t) for t in (0.7, 1.0, 1.5, 2.5)}


def table(
    *,
    quick: bool,
    data: Sequence[Path],
    store: Path | None,
    options: Mapping[str, Any],
    n_jobs: int | None = None,
) -> pd.DataFrame:
    """Ask each checkpoint, and number them in their order."""
    import pandas as pd
    from joblib import Parallel, delayed

    asked = {**options, "resamples": min(options["resamples"], QUICK)} if quick else dict(options)
    paths = names_of([file for path in data for file in files_of(path)])
    sources: Mapping[str, Checkpoint] = {name: FileOfSets.of(path) for name, path in paths.items()} or CHECKPOINTS
    parts = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(stored_checkpoint)(store, source, asked) for source in sources.values()
    )
    rows: list[Row] = []
    with late_bar(len(sources)) as show:
        for number, (name, part) in enumerate(zip(sources, parts, strict=True), 1):
            rows += [{"question": "checkpoint", "number": number, "file": name, **row} for row in part]
            show(number, name)
    found = pd.DataFrame(rows)
    losses = found.loc[found["measure"] == "log loss", "value"].to_numpy()
    return found.assign(least=found["number"] == losses.argmin() + 1)


def files_of(path: Path) -> list[Path]:
    """Return a file, or the checkpoints in a folder by the numbers in their names; a ValueError if it holds none."""
    if not path.is_dir():
        return [path]
    inside = {file: file.relative_to(path) for file in path.rglob("*.npz")}
    found = [file for file, name in inside.items() if not any(part.startswith((".", "_")) for part in name.parts)]
    if not found:
        raise ValueError(f"expected a file of .npz in the folder {path}, found none")
    return sorted(found, key=lambda file: [_by_number(part) for part in inside[file].parts])


def _by_number(name: str) -> list[tuple[int, str]]:
    """Return what puts names in the order of the numbers in them, and otherwise of their letters."""
    parts = re.split(r"(\d+)", name)
    return [(int(part), "") if k % 2 else (-1, part) for k, part in enumerate(parts)]


def stored_checkpoint(store: Path | None, source: Checkpoint, options: Mapping[str, Any]) -> list[Row]:
    """Return the rows of one checkpoint, from the store if they are there."""
    return stored(store, (source, sorted(options.items())), lambda: one_checkpoint(source, options))


def one_checkpoint(source: Checkpoint, options: Mapping[str, Any]) -> list[Row]:
    """Return what is seen on test rows, and the gap between training rows and test rows."""
    train, (y, p) = source.sets()
    asked: dict[str, Any] = {"lens": "top_label", "n_resamples": options["resamples"], "rng": 1}
    bins: dict[str, Any] = {"measure": "ece", "n_bins": options["bins"]}
    values = (
        np.inf if infinite(y, {"": p}) else estimate(y, p, measure="log_loss", lens="canonical"),
        np.mean(p.argmax(axis=1) == y),
        estimate(y, p, lens="top_label", **bins),
        calibration_test(y, p, **bins, **asked).pvalue,
        calibration_test(y, p, measure="omnibus", **asked).pvalue,
    )
    found = generalization_gap(train, (y, p), n_bins=options["bins"], n_resamples=options["resamples"], rng=1)
    gaps = (
        (found.train.estimate, found.train.low, found.train.high),
        (found.gap, found.gap_low, found.gap_high),
        (found.error_train, np.nan, np.nan),
        (found.error_test, np.nan, np.nan),
        (found.error_gap, found.error_gap_low, found.error_gap_high),
        (abs(found.gap) <= abs(found.error_gap), np.nan, np.nan),
    )
    rows: list[Row] = [{"measure": name, "value": float(each)} for name, each in zip(ON_TEST, values, strict=True)]
    rows.append({"measure": SMALLEST_P, "value": 1 / (options["resamples"] + 1)})
    return rows + [
        {"measure": name, "value": float(value), "low": float(low), "high": float(high)}
        for name, (value, low, high) in zip(GAPS, gaps, strict=True)
    ]


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw what is seen on test rows over the checkpoints, and the two gaps with their intervals.

    A p-value that is the least of so many resamples is not measured, and has a mark of its own.
    """
    from matplotlib.ticker import MaxNLocator

    least = table.loc[table["measure"] == SMALLEST_P, "value"].max()
    figure, grid = panels(2, 3, 4.0, 3.0)
    for axes in grid.flat:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for measure, axes in zip(ON_TEST, grid.flat, strict=False):
        own = table[table["measure"] == measure]
        star = own[own["least"].astype(bool)]
        measured = ~(own["measure"].isin(P_VALUES) & (own["value"] < least * (1 + 1e-5)))  # a file has six digits
        axes.plot(own["number"], own["value"], color=PALETTE[0])
        axes.plot(own["number"][measured], own["value"][measured], "o", color=PALETTE[0])
        axes.plot(own["number"][~measured], own["value"][~measured], "v", color=PALETTE[0], markerfacecolor="white")
        axes.plot(star["number"], star["value"], "*", color=PALETTE[1], markersize=16, markeredgecolor="black")
        axes.set_title(f"{measure}, test")
        if measure in P_VALUES:
            axes.axhline(0.05, color="black", linewidth=1, linestyle=":")
            axes.set_ylim(-0.04, 1.02)
    axes = grid.flat[5]
    for color, measure, beside in zip(PALETTE, ("gap", "gap of the error"), (-0.1, 0.1), strict=False):
        own = table[table["measure"] == measure]
        ends = [own["value"] - own["low"], own["high"] - own["value"]]
        label = "of ECE" if measure == "gap" else "of the error"
        axes.errorbar(own["number"] + beside, own["value"], yerr=ends, fmt="o", color=color, label=label)
    axes.axhline(0, color="black", linewidth=1, zorder=1)
    legend(axes, above=True, columns=2)
    entitle(axes, "gap, test minus train", new=False)
    words = f"open triangle: no resample was as large, so that p is at most {settled(least):.2g}"
    figure.supxlabel(f"checkpoint; star: the least log loss on test rows; dots: p = 0.05\n{words}", fontsize="medium")
    return {"": figure}


study = Study(
    question="Is the network calibrated at each checkpoint, and on which rows are its errors made?",
    seed=SEED,
    table=table,
    runtime_hours=0.005,
    takes_data=True,
    takes_store=True,
    options=OPTIONS,
    figures=figures,
)
