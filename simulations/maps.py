"""Does a calibration map explain the data? Level and power of two tests that have the same null hypothesis.

Under the null hypothesis outcomes come from the probabilities to which a map sends the predictions (Vaicenavicius et
al. 2019, section 4.2: consistency resampling under a calibration function). ``calibration_test(y, p, null=map)`` asks
by the measure of the predictions as they are; ``calibration_test(y, map(p))`` asks by the mapped ones. The
promise: where outcomes come from the map, each rejects at 5 % in at most 5 % of data sets. Which one finds more is
judged both ways, on each side of the map: outcomes on the way to calibration, at calibration, on the mirrored side of
it, and beyond the map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.papers.parts.promises import more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

from .parts.fixed_predictions import FixedPredictions, FixedVectors, quantiles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20437
LEVEL = 0.05
NULL, MAPPED = "null=map", "mapped predictions"
# where outcomes come from: log-odds (of vectors logarithms) of the map's, as a power of the map's own move
SIDES = {"the map": 1.0, "half way back": 0.5, "calibrated": 0.0, "mirrored": -1.0, "beyond": 1.5}


@dataclass(frozen=True)
class Tempered:
    """Log-odds, or logarithms of vectors, times a factor, plus a shift of the log-odds of an event."""

    factor: float
    shift: float = 0.0

    def __call__(self, p: np.ndarray) -> np.ndarray:
        """Return the probabilities; 0 and 1 stay."""
        from scipy.special import expit, logit, softmax

        if p.ndim == 1:
            out, inner = p.copy(), (p > 0) & (p < 1)
            out[inner] = expit(self.factor * logit(p[inner]) + self.shift)
            return out
        return softmax(self.factor * np.log(p), axis=1)

    def moved(self, times: float) -> Tempered:
        """Return the map that moves so many times as far from calibration."""
        return Tempered(self.factor**times, self.shift * times)


@dataclass(frozen=True)
class Case:
    """Data sets of fixed predictions, the map that is tested, and the measures with their options."""

    label: str
    rows: Any
    map: Callable[[np.ndarray], np.ndarray]
    side: str
    measures: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Asks:
    """Asks both tests by each measure for their p-values."""

    map: Callable[[np.ndarray], np.ndarray]
    measures: Mapping[str, Mapping[str, Any]]
    n_resamples: int

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return the p-values."""
        if isinstance(data, cs.Sample):
            value = self.map(data.value)
            order = np.argsort(value, kind="stable")  # a map need not rise
            mapped: Any = cs.Sample.from_counts(value[order], data.count[order], data.positives[order])
        else:
            mapped = cs.Predictions.from_rows(data.label, self.map(data.prob))
        few: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng}
        found = []
        for measure, options in self.measures.items():
            found.append(cs.calibration_test(data, measure=measure, null=self.map, **few, **options).pvalue)
            found.append(cs.calibration_test(mapped, measure=measure, **few, **options).pvalue)
        return found


def events(n: int) -> Iterator[tuple[str, np.ndarray, Tempered]]:
    """Return predictions of an event of several kinds, and a map of each."""
    from scipy.stats import beta, norm

    normal = norm.ppf((np.arange(n) + 0.5) / n)
    yield "normal log-odds, halved", 1 / (1 + np.exp(-0.4 - 1.7 * normal)), Tempered(0.5)
    yield "normal log-odds, times 1.6", 1 / (1 + np.exp(0.6 - 1.2 * normal)), Tempered(1.6)
    yield "Beta(2, 3), shifted by .5", quantiles(n, beta(2, 3)), Tempered(1.0, 0.5)
    yield "rare, shifted by -.7", quantiles(n, beta(1, 30)), Tempered(1.0, -0.7)
    yield "30 trees with 0 and 1, times .7", np.round(quantiles(n, beta(0.7, 0.9)) * 30) / 30, Tempered(0.7)


def vectors(n: int) -> Iterator[tuple[str, np.ndarray, Tempered]]:
    """Return predictions of several classes, and a map of each."""
    prob = cs.generators.dirichlet((1.2, 0.8, 0.6, 0.4)).sample(n, rng=SEED)[1]
    yield "4 classes, temperature 2", prob, Tempered(0.5)
    yield "4 classes, temperature .6", prob, Tempered(1 / 0.6)


def cases(quick: bool) -> Iterator[Case]:
    """Return all that is asked."""
    of_event: dict[str, dict[str, Any]] = {name: {} for name in ("omnibus", "ece", "ks")}
    of_vectors: dict[str, dict[str, Any]] = {"omnibus": {}, "canonical_ce": {"n_bins": 3}}
    for n in [100] if quick else [100, 1000]:
        for label, p, tempered in events(n):
            for side, times in SIDES.items():
                rows = FixedPredictions(p, tempered.moved(times)(p))
                yield Case(label, rows, tempered, side, of_event)
        for label, prob, tempered in vectors(n):
            for side, times in SIDES.items():
                yield Case(label, FixedVectors(prob, tempered.moved(times)(prob)), tempered, side, of_vectors)


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Count the rejections of both tests."""
    import pandas as pd

    replicates, n_resamples = (20, 19) if quick else (500, 199)
    rows: list[dict[str, Any]] = []
    for case in cases(quick):
        n, label = len(case.rows.prediction), f"{case.label}: {case.side}"
        names = [f"{measure} | {test}" for measure in case.measures for test in (NULL, MAPPED)]
        ask = Asks(case.map, case.measures, n_resamples)
        cells = Cells([(label, n)], {label: case.rows}, replicates, SEED, ask, names)
        rejected = compute(cells, None, n_jobs, f"{label}, {n}")[:, 0] <= LEVEL
        for k, name in enumerate(names):
            measure, test = name.split(" | ")
            what: dict[str, Any] = {"question": "size" if case.side == "the map" else "power", "generator": case.label}
            what |= {"side": case.side, "n": n, "measure": measure, "method": test, "level": LEVEL}
            rows.append({**what, "replicates": replicates, **rate_of("rejections", rejected[:, k])})
    return pd.DataFrame(rows)


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells in which a map that is right is rejected more often than the level allows."""
    right = table[table["question"] == "size"]
    return more_often(right, right["rejections"], LEVEL)


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the power of one test over the power of the other, a panel for each side of the map."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    keys = ["generator", "side", "n", "measure"]
    both = table.pivot_table(index=keys, columns="method", values="rate").reset_index()
    figure = Figure(figsize=(12.5, 3.4), layout="constrained")
    hues: dict[Any, Any] = dict(zip(("omnibus", "ece", "ks", "canonical_ce"), list(colors().values()), strict=False))
    for ax, side in zip(figure.subplots(1, len(SIDES), sharey=True), SIDES, strict=True):
        for (measure, rows), marker in zip(
            both[both["side"] == side].groupby("measure", sort=False), "osD^", strict=False
        ):
            ax.plot(rows[MAPPED], rows[NULL], marker, ms=5, alpha=0.75, color=hues[measure], label=measure)
        ax.plot([0, 1], [0, 1], color="black", lw=1, ls="--")
        ax.set_title(f"outcomes from {side}" if side == "the map" else side, fontsize="medium")
        ax.set_aspect("equal")
        ax.set_xlabel("rejects mapped predictions")
    figure.axes[0].set_ylabel("rejects by null=map")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4, frameon=False)
    return {"": figure}


study = Study(
    question="Does a calibration map explain the data?",
    seed=SEED,
    runtime_hours=0.1,
    table=table,
    figures=figures,
    violations=violations,
)
