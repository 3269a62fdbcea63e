"""Do tests, intervals and comparisons of rows with weights keep their guarantees?

Weights are log-normal, or 20 for one row in 20 and else 1. They are drawn with a number z of each row, which may also
decide how wrong a prediction is: then the error of the population, in which rows count by their weights, is not that of
the rows, and is known all the same. The test draws labels with the weights held fixed and is exact. Intervals and
comparisons draw rows with their weights; they are approximate. Beside the test are two that take weights for something
else: whole numbers of repeated rows, and nothing.

An interval cannot know of weights that no row shows. Where one row in 50 weighs 100 and only such rows are wrong, 50
rows may hold none: that is the question "unseen", about which nothing is promised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import calibstat as cs
from calibstat.generators.simulator import drawing
from calibstat.papers.parts.promises import MORE_MISSES, more_often
from calibstat.study import Study
from calibstat.study.engine import Cells, compute
from calibstat.study.question import rate_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20491
LEVEL = 0.05
TESTS = ("omnibus", "ece", "ks")
TAKEN = ("weights", "repeated rows", "nothing")
ENDS = ("ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "brier")
COMPARED = ("kernel_ce", "brier")
WEIGHTS = ("log-normal .5", "log-normal 1", "log-normal 1.5", "one in 20 is 20")
UNSEEN = "one in 50 is 100"
HEAVY = {WEIGHTS[3]: (1.6448536269514722, 20.0), UNSEEN: (2.0537489106318225, 100.0)}  # z above it, and its weight
SHIFT = 0.5
POINTS = 200_000  # of the population


@dataclass(frozen=True)
class Weighted:
    """Rows with weights; `wrong` is "nowhere", "shift" (all logits), "by weight" (up or down by z) or "if heavy"."""

    prevalence: float
    weights: str
    wrong: str

    @property
    def label(self) -> str:
        """What is drawn, in words."""
        return f"prevalence {self.prevalence:g}, {self.weights}, wrong {self.wrong}"

    @property
    def spread(self) -> float:
        """The spread of the logarithm of the weights, 0 where they have two values."""
        return float(self.weights.split()[1]) if self.weights.startswith("log") else 0.0

    def weight(self, z: np.ndarray) -> np.ndarray:
        """Return the weights of rows with these numbers."""
        if self.spread:
            return np.exp(self.spread * z)
        above, heavy = HEAVY[self.weights]
        return np.where(z > above, heavy, 1.0)

    @property
    def border(self) -> float:
        """The z above which predictions are too low."""
        return HEAVY[self.weights][0] if self.wrong == "if heavy" else 0.0

    def chance(self, p: np.ndarray, above: np.ndarray) -> np.ndarray:
        """Return the true probabilities; `above` says whether z is above the border, or with which probability."""
        if self.wrong == "nowhere":
            return p
        if self.wrong == "shift":
            return _shifted(p, SHIFT)
        if self.wrong == "if heavy":
            return above * _shifted(p, 4 * SHIFT) + (1 - above) * p
        return above * _shifted(p, SHIFT) + (1 - above) * _shifted(p, -SHIFT)

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Draw outcomes, with predictions and weights."""
        _, random = drawing(n, rng)
        p, z = random.beta(*_shape(self.prevalence), n), random.normal(size=n)
        y = random.random(n) < self.chance(p, z > self.border)
        return y.astype(np.int64), {"prediction": p, "weight": self.weight(z)}

    @property
    def share_above(self) -> float:
        """The share of the weight of rows with z above the border."""
        from scipy.special import ndtr

        if self.spread:
            return float(ndtr(self.spread))  # weights exp(s z) move the mean of z to s
        least, weight = HEAVY[self.weights]
        share = float(ndtr(-least))
        others = float(ndtr(-self.border)) - share
        return (others + share * weight) / (1 - share + share * weight)


def _shape(prevalence: float) -> tuple[float, float]:
    return (2.0, 2 / prevalence - 2)


def _shifted(p: np.ndarray, shift: float) -> np.ndarray:
    odds = np.exp(shift) * p / (1 - p)
    return odds / (1 + odds)


@cache
def _quantiles(prevalence: float) -> np.ndarray:
    """Return predictions of equal probability that represent their distribution."""
    from scipy.special import betaincinv

    return np.asarray(betaincinv(*_shape(prevalence), (np.arange(POINTS) + 0.5) / POINTS))


@cache
def truth(case: Weighted, measure: str) -> float:
    """Return the measure of the population in which rows count by their weights."""
    p = _quantiles(case.prevalence)
    chance = case.chance(p, np.full(POINTS, case.share_above))
    return float(cs.estimate(cs.Sample.from_counts(p, np.full(POINTS, 0.5), 0.5 * chance), measure=measure))


@dataclass(frozen=True)
class Answers:
    """Asks about one data set."""

    question: str
    n_resamples: int

    @property
    def columns(self) -> list[tuple[str, str]]:
        """What is asked: the measure, and how weights are taken or which end it is."""
        if self.question == "size":
            return list(product(TESTS, TAKEN))
        return [(m, "p") for m in COMPARED] if self.question == "comparison" else list(product(ENDS, ("low", "high")))

    def __call__(self, data: Any, rng: np.random.SeedSequence) -> list[float]:
        """Return p-values, or the ends of intervals."""
        y, columns = data
        p, weight = columns["prediction"], columns["weight"]
        draws: dict[str, Any] = {"n_resamples": self.n_resamples, "rng": rng}
        if self.question == "size":
            whole = cs.Sample.from_rows(y, p, np.maximum(np.rint(weight), 1))
            asked: dict[str, Any] = {"weights": (y, p), "repeated rows": (whole,), "nothing": (y, p)}
            given: dict[str, Any] = {"weights": {"sample_weight": weight}}
            test: Any = cs.calibration_test
            return [test(*asked[taken], measure=m, **given.get(taken, {}), **draws).pvalue for m, taken in self.columns]
        if self.question != "comparison":
            found = [cs.confidence_interval(y, p, measure=m, sample_weight=weight, **draws) for m in ENDS]
            return [end for each in found for end in (each.low, each.high)]
        models = {"too low": _shifted(p, -SHIFT), "too high": _shifted(p, SHIFT)}
        return [float(cs.compare(y, models, measure=m, sample_weight=weight, **draws).pvalue[0]) for m in COMPARED]


def cases(question: str, quick: bool) -> list[tuple[Weighted, int]]:
    """Return the populations and the numbers of rows."""
    prevalence, weights, rows = ([0.5], WEIGHTS[1:2], [100]) if quick else ([0.5, 0.01], WEIGHTS, [100, 1000])
    if question == "unseen":
        return [(Weighted(0.5, UNSEEN, "if heavy"), n) for n in ([50] if quick else [50, 200, 1000])]
    wrong = ("nowhere", "shift", "by weight") if question == "interval" else ("nowhere",)
    if question == "comparison":
        prevalence = [0.5]  # two models that are wrong by the same, one up and one down
    return [(Weighted(*each), n) for *each, n in product(prevalence, weights, wrong, rows)]


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask everything about all cases."""
    import pandas as pd

    rows: list[dict[str, Any]] = []
    for question in ("size", "interval", "comparison", "unseen"):
        asked, replicates = cases(question, quick), 10 if quick else {"size": 1000}.get(question, 400)
        named = {case.label: case for case, _ in asked}
        ask = Answers(question, 199)
        columns = [", ".join(column) for column in ask.columns]
        groups = [(case.label, n) for case, n in asked]
        answers = compute(Cells(groups, named, replicates, SEED, ask, columns), None, n_jobs, f"weights, {question}")
        for g, (case, n) in enumerate(asked):
            for k, (measure, which) in enumerate(ask.columns):
                row = {"question": question, "prevalence": case.prevalence, "weights": case.weights}
                row |= {"wrong": case.wrong, "n": n, "measure": measure, "method": which, "replicates": replicates}
                rows.append(row | _rates(question, case, measure, which, answers[:, g], k))
    return pd.DataFrame(rows)


def _rates(question: str, case: Weighted, measure: str, which: str, answers: np.ndarray, k: int) -> dict[str, Any]:
    """Return how often something false was said; of an interval, that the truth is outside at this end."""
    if question in ("size", "comparison"):
        return rate_of("false", answers[:, k] <= LEVEL) | {"truth": np.nan, "width": np.nan}
    true = 0.0 if case.wrong == "nowhere" and measure != "brier" else truth(case, measure)
    missed = answers[:, k] > true if which == "low" else answers[:, k] < true
    low = k - (which == "high")
    return rate_of("false", missed) | {"truth": true, "width": float((answers[:, low + 1] - answers[:, low]).mean())}


def violations(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows in which the exact test rejects, or an end of an interval misses, more often than promised."""
    import pandas as pd

    test = table[(table["question"] == "size") & (table["method"] != "repeated rows")]
    ends = table[table["question"] == "interval"]
    return pd.concat(
        [
            more_often(test, test["false"], LEVEL, len(test)),
            more_often(ends, ends["false"], MORE_MISSES * LEVEL / 2, len(ends)),
        ]
    )


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw the largest rate of false answers for each kind of weights."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    hue = colors()
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    size = table[table["question"] == "size"]
    ends = table[table["question"] == "interval"]
    models = table[table["question"] == "comparison"]
    panels = [
        ("Calibrated model rejected at .05", size, "method", LEVEL, ("blue", "red", "grey")),
        ("Truth beyond an end of a 95 % interval", ends, "method", LEVEL / 2, ("blue", "orange")),
        ("Two models as wrong, difference at .05", models, "measure", LEVEL, ("blue", "orange")),
    ]
    named = {"weights": "as weights", "nothing": "left out", "repeated rows": "as repeated rows"}
    named |= {"low": "below the low end", "high": "above the high end"}
    order = [each for each in WEIGHTS if each in set(table["weights"])]
    for ax, (title, part, by, level, hues) in zip(figure.subplots(1, 3), panels, strict=True):
        for name, color, marker in zip(part[by].unique(), hues, "o^s", strict=False):
            most = part[part[by] == name].groupby("weights")["rate"].max().reindex(order)
            ax.plot(range(len(order)), most, marker=marker, color=hue[color], label=named.get(name, name))
        ax.axhline(level, color="black", ls="--", lw=1)
        ax.set_xticks(
            range(len(order)),
            [each.replace("log-normal", "log-\nnormal").replace("one in 20 is", "1 in 20\nis") for each in order],
        )
        ax.set_title(title, fontsize="medium")
        ax.set_ylim(-0.005, max(0.1, 1.25 * float(part["rate"].max())))
        ax.legend(frameon=False, fontsize="small", loc="upper left")
    figure.axes[0].set_ylabel("largest share of data sets")
    return {"": figure}


study = Study(
    question="Do tests, intervals and comparisons of rows with weights keep their guarantees?",
    seed=SEED,
    runtime_hours=0.3,
    table=table,
    figures=figures,
    violations=violations,
)
