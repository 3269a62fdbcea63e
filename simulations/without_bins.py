"""Is there a calibration curve whose error, without bins, lies above the upper end too often? A search for the worst.

`confidence_interval(measure="l1", shape="nondecreasing")` bounds E|E[y | v] - v| for every curve of a stated shape.
The predictions of a population are held. Curves are tried that were made against the very cells of these rows (the
largest of a dynamic programme), stairs, saws, shifts, other odds and random steps, then changes of the worst. A curve
whose error is not above the end of a calibrated model cannot be missed. The worst curves are asked again with fresh
data sets. Promised is that the truth lies above the end with a probability of at most the nominal one, and for
`method="proven"` of at most two fifths of it, up to the exact binomial limit.

In "new predictions" predictions are drawn anew for each data set, and the truth is the error of the population, of
curves that are fixed beforehand: the ends are for it too, with eta chosen after the data.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import Sample, Slope, Variation
from calibstat.bounds.curves.curve_interval import CurveBound
from calibstat.bounds.curves.curve_shapes import Shape, shape_of
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.stored_rows import stored

from .parts.hard_curves import EXPONENTS, Rows, changed, predictions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20731
TAILS = 0.05, 0.025
PROVEN_SHARE = 0.4  # of the nominal probability, which a proven end may miss
SEVEN = ("uniform", "ends", "rare .02", "half sure", "11 values", "101 values", ".50 to .52")
UNTUNED = ("rare .005", "low", "middle", "3 values", "5 values", "20 values")
RISING: str | Shape = "nondecreasing"
MORE_ROWS = [("uniform", 10_000), ("rare .02", 10_000), ("uniform", 100_000)]
FEWER_ROWS = [("3 values", 60), ("5 values", 60), ("rare .02", 200)]
LESS_SMOOTH: list[tuple[str, int, str | Shape]] = [
    *(("uniform", 1000, shape) for shape in (Variation(0.2), Variation(0.5), Slope(1.0))),
    *(("uniform", 10_000, shape) for shape in (Variation(0.2), Slope(1.0))),
    *((name, 1000, shape) for name in ("ends", "rare .02", "11 values") for shape in (Variation(0.5), Slope(1.0))),
]
FIRST, AGAIN = 200, 4000  # data sets of each curve, and of the worst ones
DRAWN_ANEW = 100  # data sets with new predictions
WORST, CHANGES = 2, 6
Row = dict[str, Any]


def of_fixed_predictions(name: str, n: int, shape: str | Shape, quick: bool) -> list[Row]:
    """Search the curves of a shape of rows with these predictions."""
    random = drawing(1, np.random.SeedSequence([SEED, n, *f"{name}{shape}".encode()]))[1]
    rows = Rows(predictions(name, n), shape)
    first, again = (60, 200) if quick else (FIRST, AGAIN)
    curves = list(rows.curves(random))[:: 9 if quick else 1]
    found: list[Row] = []
    for method in EXPONENTS:
        for tail in TAILS[: 1 if quick else None]:
            exponent = rows.exponent(method, tail)

            def misses(curve: np.ndarray, data_sets: int, exponent: float = exponent) -> int:
                least = rows.least_sum(rows.truth(curve), exponent)
                return int((rows.sums(random, curve, data_sets) < least).sum()) if least > 0 else 0

            tried = [(misses(curve, first), label, curve) for label, curve in curves]
            for _ in range(1 if quick else CHANGES):
                _, label, curve = max(tried, key=lambda each: each[0])
                curve = rows.made(changed(random, curve))
                tried.append((misses(curve, first), f"{label}, changed", curve))
            worst = sorted(tried, key=lambda each: -each[0])[: 1 if quick else WORST]
            for _, label, curve in worst:
                missed = misses(curve, again)
                end = rows.bound.end(exponent, rows.bound.expected)
                facts = {"predictions": name, "n": n, "runs": rows.bound.runs.rows.size, "shape": str(shape)}
                facts |= {"method": method, "tail": tail, "tried": len(tried), "curve": label}
                facts |= {"truth": rows.truth(curve), "end_if_calibrated": end, "replicates": again, "missed": missed}
                found.append({"question": "these predictions"} | facts | {"rate": missed / again})
    return found


CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "four stairs": lambda v: (np.floor(4 * v).clip(0, 3) + 0.5) / 4,
    "constant .5": lambda v: np.full(v.shape, 0.5),
    "every row + .1": lambda v: np.minimum(v + 0.1, 1.0),
    "doubled": lambda v: np.minimum(2 * v, 1.0),
    "half wave": lambda v: v + 0.08 * np.sin(2 * np.pi * v),
}
NEW: list[tuple[str, str | Shape]] = [
    ("uniform", "nondecreasing"),
    ("rare .02", "nondecreasing"),
    ("uniform", Variation(0.5)),
    ("uniform", Slope(1.0)),
]


def of_new_predictions(name: str, shape: str | Shape, n: int, data_sets: int) -> list[Row]:
    """Ask for the error of the population, with predictions that are drawn anew for each data set."""
    random = drawing(1, np.random.SeedSequence([SEED, n, 1, *f"{name}{shape}".encode()]))[1]
    many = predictions(name, 200_000)
    found = []
    for label, of in CURVES.items():
        if not _has_shape(shape, many, of(many)):
            continue
        truth = float(np.abs(of(many) - many).mean())
        missed = {(method, tail): 0 for method in EXPONENTS for tail in TAILS[:1]}
        for _ in range(data_sets):
            v = predictions(name, n, random)
            sample = Sample.from_rows(random.random(n) < of(v), v)
            runs = Runs.of(sample.value, sample.count)
            bound = CurveBound(sample, runs, shape_of(shape), 1)
            for method, tail in missed:
                missed[method, tail] += bound.end(EXPONENTS[method](runs, 1, tail)) < truth
        for (method, tail), count in missed.items():
            facts = {"predictions": name, "n": n, "runs": runs.rows.size, "shape": str(shape), "method": method}
            facts |= {"tail": tail, "tried": 1, "curve": label, "truth": truth, "end_if_calibrated": np.nan}
            facts |= {"replicates": data_sets, "missed": int(count), "rate": int(count) / data_sets}
            found.append({"question": "new predictions"} | facts)
    return found


def _has_shape(shape: str | Shape, v: np.ndarray, curve: np.ndarray) -> bool:
    steps = np.diff(curve - v)
    if isinstance(shape, Variation):
        return float(np.abs(steps).sum()) <= shape.most
    if isinstance(shape, Slope):
        return bool((np.abs(steps) <= shape.most * np.diff(v) + 1e-12).all())
    return bool((np.diff(curve) >= 0).all())


def table(*, quick: bool, n_jobs: int | None = None, store: Path | None = None) -> pd.DataFrame:
    """Search all populations, and draw predictions anew for some; those that the store has are not asked again."""
    import pandas as pd
    from joblib import Parallel, delayed

    fixed = [(name, 1000, RISING) for name in SEVEN + UNTUNED]
    fixed += [(name, n, RISING) for name, n in MORE_ROWS + FEWER_ROWS] + LESS_SMOOTH
    new = [(name, shape, 1000, DRAWN_ANEW) for name, shape in NEW]
    if quick:
        fixed = [("uniform", 300, RISING), ("3 values", 60, RISING), ("uniform", 300, Variation(0.5))]
        new = [(name, shape, 200, 4) for name, shape in NEW[:1]]
    asked = [(of_fixed_predictions, (*each, quick)) for each in fixed] + [(of_new_predictions, each) for each in new]
    tasks = [delayed(stored)(store, (of.__name__, *each, SEED), partial(of, *each)) for of, each in asked]
    return pd.DataFrame([row for rows in Parallel(n_jobs=n_jobs)(tasks) for row in rows])


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cases that miss more often than is promised."""
    import pandas as pd

    parts = []
    for (method, tail), rows in table.groupby(["method", "tail"], sort=False):
        promised = float(tail) * (PROVEN_SHARE if method == "proven" else 1.0)  # type: ignore[arg-type]
        parts.append(more_often(rows, rows["missed"], promised, len(table)))
    return pd.concat(parts)


def figures(table: pd.DataFrame) -> dict[str, Figure]:
    """Draw how often the worst curve of each population is missed."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(TAILS), figsize=(10, 8), sharey=True, layout="constrained")
    held = table[table["question"] == "these predictions"]
    held = held.assign(label=held["predictions"] + ", n = " + held["n"].astype(str))
    other = held["shape"] != RISING
    held.loc[other, "label"] += ", " + held["shape"]
    labels = list(held["label"].unique())
    for ax, tail in zip(axes, TAILS, strict=True):
        for method, marker in zip(EXPONENTS, "ox", strict=True):
            rows = held[(held["method"] == method) & (held["tail"] == tail)]
            worst = rows.groupby("label", sort=False)["rate"].max()
            ax.plot(worst.to_numpy(), [labels.index(each) for each in worst.index], marker, label=method)
        ax.axvline(tail, color="0.5", linewidth=1)
        ax.set_xlim(0, None)
        ax.set_xlabel(f"share of data sets missed, nominal {tail:g}")
        ax.set_yticks(range(len(labels)), labels)
    axes[0].legend()
    return {"": figure}


study = Study(
    question="Is there a calibration curve whose error, without bins, is above the upper end too often?",
    seed=SEED,
    table=table,
    takes_store=True,
    violations=violations,
    figures=figures,
    runtime_hours=0.3,
)
