"""Does each band of a reliability diagram cover everything it is about at once?

A reliability diagram is read anywhere, so a band must hold everywhere at once. The promises, at 95%: the consistency
bands hold the frequencies of all bins, and all of the CORP curve, of a calibrated model; the confidence band holds the
average outcome probabilities of all bins; the band of a non-decreasing curve holds the whole curve. All are
proven, so that coverage below .94 by more than chance is a fault of the code. Beside them are the pointwise bars, of
which nothing is promised for all bins, and waves, which do decrease: there the band of a non-decreasing curve promises
nothing, and one sees whether its lines cross, which would tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat import Sample, reliability
from calibstat.generators.simulator import drawing
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.papers.parts.promises import COVERAGE, PROMISED, more_often
from calibstat.plots.studies.estimates import panels, positions
from calibstat.study import Study
from calibstat.study.engine import Cells, Models, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20313
RESAMPLES = 199
ROUNDING = 1e-9
CALIBRATED, WAVES = "calibrated", "waves of"  # of the names of curves, on which depends what is asked of them

Curve = Callable[[np.ndarray], np.ndarray]


def temperature(beta: float) -> Curve:
    """Return the curve whose log-odds are those of the prediction times beta."""
    return lambda v: v**beta / (v**beta + (1 - v) ** beta)


def wave(height: float) -> Curve:
    """Return the curve that goes up and down around a half, four times."""
    return lambda v: 0.5 + height * np.sin(8 * np.pi * v)


# the predictions, by the two parameters of their beta distribution or their values, and the probability of the outcome
CURVES: Mapping[str, tuple[Any, Curve]] = {
    "uniform, calibrated": ((1, 1), lambda v: v),
    "near 0 and 1, calibrated": ((0.3, 0.3), lambda v: v),
    "eleven values, calibrated": (np.arange(11) / 10, lambda v: v),
    "prevalence .01, calibrated": ((1, 99), lambda v: v),
    "prevalence .001, calibrated": ((1, 999), lambda v: v),
    "S-shape": ((1, 1), temperature(2)),
    "flat S-shape": ((1, 1), temperature(0.5)),
    "step": ((1, 1), lambda v: np.where(v < 0.5, 0.2, 0.8)),
    "ten stairs": ((1, 1), lambda v: (np.minimum(np.floor(10 * v), 9) + 0.5) / 10),
    "constant .5": ((1, 1), lambda v: np.full_like(v, 0.5)),
    "constant .3": ((1, 1), lambda v: np.full_like(v, 0.3)),
    "constant .02": ((1, 1), lambda v: np.full_like(v, 0.02)),
    "prevalence .01, a third of the truth": ((1, 299), lambda v: np.minimum(3 * v, 1)),
    "eleven values, flat S-shape": (np.arange(11) / 10, temperature(0.5)),
    "waves of .3": ((1, 1), wave(0.3)),
    "waves of .15": ((1, 1), wave(0.15)),
}


@dataclass(frozen=True)
class Model:
    """Predictions, with outcomes from a curve by its name."""

    curve: str

    def sample(self, n: int, rng: Any = None) -> Models:
        """Draw independent rows: outcomes, predictions and true probabilities."""
        n, random = drawing(n, rng)
        made, curve = CURVES[self.curve]
        v = random.beta(made[0], made[1], n) if isinstance(made, tuple) else random.choice(made, n)
        chance = curve(v)
        return (random.random(n) < chance).astype(np.int64), {"prediction": v, "chance": chance}


# --- what each band is asked ------------------------------------------------------------------------------------------

Answer = tuple[bool, float, bool]  # whether everything is held, mean width over rows, whether lines cross
Ask = Callable[[Reliability, Model, np.ndarray, np.ndarray], Answer]


def width_of_bins(found: Reliability) -> float:
    """Return the mean width of the bars, over rows."""
    assert found.low is not None
    assert found.high is not None
    return float(np.average(found.high - found.low, weights=found.count))


def frequencies(found: Reliability, model: Model, v: np.ndarray, chance: np.ndarray) -> Answer:
    """Ask whether every frequency is inside."""
    assert found.inside is not None
    return bool(found.inside.all()), width_of_bins(found), False


def corp(found: Reliability, model: Model, v: np.ndarray, chance: np.ndarray) -> Answer:
    """Ask whether the CORP curve is inside."""
    low, high = found.curve_at(v)
    return bool(found.corp_inside), float((high - low).mean()), False


def averages(found: Reliability, model: Model, v: np.ndarray, chance: np.ndarray) -> Answer:
    """Ask whether the average outcome probability of the rows of every bin is inside."""
    assert found.low is not None
    assert found.high is not None
    bins = np.searchsorted(found.right, v, side="left")  # bins are closed on the right
    average = np.bincount(bins, chance, found.count.size) / found.count
    inside = (found.low - ROUNDING <= average) & (average <= found.high + ROUNDING)
    return bool(inside.all()), width_of_bins(found), False


def whole_curve(found: Reliability, model: Model, v: np.ndarray, chance: np.ndarray) -> Answer:
    """Ask whether the curve is inside at its steps, which of one that does not decrease is everywhere, and at rows."""
    assert found.curve_value is not None
    x = np.concatenate((found.curve_value, v))
    low, high = found.curve_at(x)
    truth = CURVES[model.curve][1](x)
    inside = (low - ROUNDING <= truth) & (truth <= high + ROUNDING)
    return bool(inside.all()), float((high - low)[found.curve_value.size :].mean()), bool(found.crosses)


@dataclass(frozen=True)
class Method:
    """A band, what it is asked, whether for calibrated models only, and whether it is promised to hold all at once."""

    measure: str
    ask: Ask
    options: Mapping[str, Any]
    calibrated_only: bool = False
    promised: bool = True


QUANTILE: Mapping[str, Any] = {"strategy": "quantile", "n_bins": 10}
METHODS: Mapping[str, Method] = {
    "consistency": Method("bins", frequencies, {"band": "consistency"}, True),
    "consistency, 10 quantile bins": Method("bins", frequencies, {"band": "consistency", **QUANTILE}, True),
    "consistency, CORP curve": Method("curve", corp, {"band": "consistency"}, True),
    "pointwise consistency": Method("bins", frequencies, {"band": "pointwise_consistency"}, True, False),
    "confidence": Method("bins", averages, {"band": "confidence"}),
    "confidence, 10 quantile bins": Method("bins", averages, {"band": "confidence", **QUANTILE}),
    "pointwise confidence": Method("bins", averages, {"band": "pointwise_confidence"}, False, False),
    "monotone": Method("curve", whole_curve, {"band": "monotone"}),
}


@dataclass(frozen=True)
class Bands:
    """Asks each band of one curve."""

    model: Model
    methods: tuple[str, ...]

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers, one after the other."""
        y, rows = data
        v, chance = rows["prediction"], rows["chance"]
        sample, made, answers = Sample.from_rows(y, v), dict[str, Reliability](), []
        for name in self.methods:
            method = METHODS[name]
            key = repr(method.options)
            if key not in made:
                asked = {
                    "n_resamples": RESAMPLES,
                    "confidence_level": PROMISED,
                    "interval": False,
                    "n_bins": 15,
                    **method.options,
                }
                made[key] = reliability(sample, rng=rng, **asked)
            answers += [float(part) for part in method.ask(made[key], self.model, v, chance)]
        return answers


def methods_of(curve: str) -> tuple[str, ...]:
    """Name the bands that are asked of a curve."""
    return tuple(name for name, method in METHODS.items() if CALIBRATED in curve or not method.calibrated_only)


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Return a row for each curve, number of rows and band."""
    import pandas as pd

    curves = [*CURVES][::5] if quick else [*CURVES]
    n, replicates = ([100, 1000], 20) if quick else ([100, 1000, 10_000], 400)
    return pd.DataFrame([row for curve in curves for row in _rows(curve, n, replicates, n_jobs)])


def _rows(curve: str, n: list[int], replicates: int, n_jobs: int | None) -> Iterator[dict[str, Any]]:
    model, names = Model(curve), methods_of(curve)
    columns = [" | ".join(part) for part in product(names, ("held", "width", "crosses"))]
    cells = Cells([(curve, rows) for rows in n], {curve: model}, replicates, SEED, Bands(model, names), columns)
    answers = compute(cells, None, n_jobs, curve)
    for (group, rows), (k, name) in product(enumerate(n), enumerate(names)):
        method = METHODS[name]
        held, width, crosses = answers[:, group, 3 * k : 3 * k + 3].T
        rises = not (curve.startswith(WAVES) and method.ask is whole_curve)
        row = {"question": "coverage", "generator": curve, "n": rows, "measure": method.measure, "method": name}
        row |= {"level": PROMISED, "replicates": replicates, **rate_of("covered", held > 0)}
        row |= {"mean_width": width.mean(), "crossed": int(crosses.sum()), "promised": method.promised and rises}
        yield row


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of promised bands that hold everything too rarely."""
    promised = table[table["promised"]]
    return more_often(promised, promised["replicates"] - promised["covered"], 1 - COVERAGE)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often everything is held, and how wide the bands are."""
    return {"": draw(table, "rate"), "width": draw(table, "mean_width")}


def draw(table: pd.DataFrame, what: str) -> Figure:
    """Draw a column for each curve, with a panel for each number of rows."""
    import seaborn as sns

    numbers, curves = list(table["n"].unique()), list(table["generator"].unique())
    names = [name for name in METHODS if name in set(table["method"])]
    colors = dict(zip(names, sns.color_palette("colorblind", len(names)), strict=True))
    with sns.axes_style("whitegrid"):
        figure, grid = panels(1, len(numbers), 3.6, 0.42 * len(curves) + 1, sharex=True, sharey=True)
    for axes, n in zip(grid.flat, numbers, strict=True):
        for k, name in enumerate(names):
            rows = table[(table["n"] == n) & (table["method"] == name)]
            y = positions(rows["generator"], curves) + (k - (len(names) - 1) / 2) * 0.1
            marker = "o" if METHODS[name].promised else "X"
            if what == "rate":
                axes.hlines(y, rows["low"], rows["high"], color=colors[name], linewidth=1)
            axes.plot(rows[what], y, marker, color=colors[name], markersize=4.5, label=name)
        axes.set(title=f"n = {n}", yticks=range(len(curves)), yticklabels=curves, ylim=(len(curves) - 0.5, -0.5))
        axes.grid(visible=False, axis="y")
    words = "mean width over rows"
    if what == "rate":
        words = f"share of {table['replicates'].iloc[0]} data sets in which all is held at once (exact 95% limits)"
        for axes in grid.flat:
            axes.axvline(COVERAGE, color="black", linestyle="--", linewidth=1, label=f"promised, {COVERAGE:g}")
    figure.legend(*grid.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.supxlabel(words, fontsize="medium")
    return figure


study = Study(
    question="Does each band of a reliability diagram cover everything it is about at once?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
