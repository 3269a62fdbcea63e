"""How often does a test report a direction of the error that does not exist?

A test that rejects says whether events are more or less frequent than predicted, or of confidences whether they are
under- or over-confident, and whether predictions are too far apart or too close together. Both are signs of one
component of the residuals. Here the mean of one component is exactly 0 while the other is not, or both are 0; then 5 %
of the data sets at most may have it claimed. The claims are approximate, and made from 1000 rows on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.measures import Omnibus
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

from .parts.fixed_predictions import FixedPredictions, quantiles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20412
LEVEL = 0.05
BIAS, SLOPE = ("too many events", "too few events"), ("too far apart", "too close together")
CONFIDENCE = ("under-confident", "over-confident")
NAMES = (*BIAS, *CONFIDENCE, *SLOPE)


@dataclass(frozen=True)
class Case:
    """Outcome probabilities, and the directions that they do not have."""

    label: str
    error: str
    rows: FixedPredictions
    absent: tuple[str, ...]


@dataclass(frozen=True)
class FixedConfidences(FixedPredictions):
    """The same as predictions of two classes, of which the second is the most likely one."""

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw the classes."""
        label, prediction = super().sample(n, rng)
        return label, np.column_stack((1 - prediction, prediction))


@dataclass(frozen=True)
class Claims:
    """Asks which directions are claimed: 1 or 0 for each."""

    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the answers."""
        lens: Any = "top_label" if isinstance(data, cs.Predictions) else None
        found = cs.calibration_test(data, lens=lens, n_resamples=self.n_resamples, rng=rng).deviation
        return [float(found is not None and name in (found.claims or ())) for name in NAMES]


def predictions(n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Return predictions of several kinds."""
    from scipy.stats import beta, norm, uniform

    yield "uniform", quantiles(n, uniform)
    yield "rare", quantiles(n, beta(1, 49))
    yield "at the ends", quantiles(n, beta(0.3, 0.3))
    yield "50 trees", np.round(quantiles(n, beta(2, 5)) * 50) / 50
    yield "sure of outcome 1", 1 / (1 + np.exp(-2 - 1.5 * norm.ppf((np.arange(n) + 0.5) / n)))


def first_components(prediction: np.ndarray) -> np.ndarray:
    """Return the weights of every row in the first two components, shape (2, n)."""
    sample = cs.Sample.from_rows(np.zeros(prediction.size), prediction)
    seen = Omnibus().diagnose(sample)
    assert seen is not None
    cell, diagnostics = seen
    assert diagnostics.components is not None
    basis = np.zeros((2, diagnostics.value.size))
    basis[:, diagnostics.inner] = diagnostics.components.basis[:, :2].T
    return basis[:, cell[np.searchsorted(sample.value, prediction)]]


def probabilities(prediction: np.ndarray, bias: float | None, slope: float | None) -> np.ndarray:
    """Return probabilities whose logits are those of the predictions, times exp(slope) plus bias.

    The one that is None makes the mean of its component 0.
    """
    from scipy.special import expit, logit

    inner = (prediction > 0) & (prediction < 1)
    basis = first_components(prediction)

    def moved(shift: float, stretch: float) -> np.ndarray:
        found = prediction.copy()
        found[inner] = expit(shift + np.exp(stretch) * logit(prediction[inner]))
        return found

    def component(k: int, truth: np.ndarray) -> float:
        return float(basis[k] @ (truth - prediction))

    if bias is not None:
        return moved(bias, root_near_0(lambda x: component(1, moved(bias, x))))
    if slope is not None:
        return moved(root_near_0(lambda x: component(0, moved(x, slope))), slope)
    return prediction


def root_near_0(function: Callable[[float], float]) -> float:
    """Return a root of a function, in the first of growing intervals about 0 over which it changes its sign."""
    from scipy.optimize import brentq

    end = next(end for end in np.geomspace(0.01, 20, 40) if function(-end) * function(end) < 0)
    return float(brentq(function, -end, end))


def cases(quick: bool) -> Iterator[Case]:
    """Return all that is asked."""
    for n in [1000] if quick else [1000, 3000, 10_000]:
        for label, v in predictions(n):
            yield Case(label, "none", FixedPredictions(v, v), (*BIAS, *SLOPE))
            for shift in (-0.6, 0.6):
                yield Case(label, f"shift {-shift:g}", FixedPredictions(v, probabilities(v, shift, None)), SLOPE)
            for slope in (-0.5, 0.5):
                sign = "over" if slope < 0 else "under"  # data sets are drawn by this name, which is why it stays
                yield Case(label, f"{sign}-confident", FixedPredictions(v, probabilities(v, None, slope)), BIAS)
        yield from cases_of_confidences(n)


def cases_of_confidences(n: int) -> Iterator[Case]:
    """Return cases in which what is predicted is that the most likely class is right."""
    from scipy.stats import beta

    for label, v in (
        ("confidence", quantiles(n, beta(5, 2, 0.5, 0.5))),
        ("sure confidence", quantiles(n, beta(20, 1, 0.5, 0.5))),
    ):
        yield Case(label, "none", FixedConfidences(v, v), NAMES)
        for slope in (-0.5, 0.5):
            sign = "too far apart" if slope < 0 else "too close together"
            yield Case(label, sign, FixedConfidences(v, probabilities(v, None, slope)), (*BIAS, *CONFIDENCE))


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count the false claims of each case."""
    import pandas as pd

    replicates, claims = (20, Claims(39)) if quick else (1000, Claims(199))
    return pd.DataFrame([counted(case, replicates, claims, n_jobs) for case in cases(quick)])


def counted(case: Case, replicates: int, claims: Claims, n_jobs: int | None) -> dict[str, Any]:
    """Return one row of the table: how often any direction that is not there is claimed, and any that is."""
    n, label, names = case.rows.prediction.size, f"{case.label}, {case.error}", [*NAMES]
    cells = Cells([(label, n)], {label: case.rows}, replicates, SEED, claims, names)
    claimed = compute(cells, None, n_jobs, f"{label}, {n}").reshape(replicates, len(names)) == 1
    absent = np.isin(names, case.absent)
    return {
        "question": "size",
        "generator": label,
        "n": n,
        "measure": "omnibus",
        "method": "labels",
        "level": LEVEL,
        "replicates": replicates,
        **rate_of("claims", claimed[:, absent].any(axis=1)),
        "true_claims": int(claimed[:, ~absent].any(axis=1).sum()),
    }


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cases in which a direction that is not there is claimed more often than the level allows."""
    return more_often(table, table["claims"], LEVEL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often a direction is claimed that is not there, one line for each case."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    color = list(colors().values())
    labels = list(dict.fromkeys(table["generator"]))
    figure = Figure(figsize=(6, 7.5), layout="constrained")
    ax = figure.subplots()
    for k, ((n, rows), marker) in enumerate(zip(table.groupby("n"), "osX", strict=False)):
        place = [labels.index(label) + 0.22 * (k - 1) for label in rows["generator"]]
        error = [rows["rate"] - rows["low"], rows["high"] - rows["rate"]]
        ax.errorbar(rows["rate"], place, xerr=error, fmt=marker, ms=4, lw=1, color=color[k], label=f"{n:,} rows")
    ax.axvline(LEVEL, color="black", ls="--", lw=1)
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.set_xlabel("share of data sets with a false claim\n(bars: exact 95 % limits; dashed: 5 %)")
    figure.legend(loc="outside upper center", ncols=3, frameon=False)
    return {"claims": figure}


study = Study(
    question="How often does a test report a direction of the error that does not exist?",
    seed=SEED,
    runtime_hours=0.3,
    table=table,
    figures=figures,
    violations=violations,
)
