"""Rows of several classes in clusters and with weights, and how often what is said of them is false."""

import warnings
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import calibstat as cs
from calibstat.generators.row_weights import find_weights

ROWS = 360
RESAMPLES = 99
LEVEL = 0.05
MEAN, MAX = ({"lens": "class_wise", "reduce": each} for each in ("mean", "max"))
JOINT = {"lens": "canonical"}
GRID = {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 4, **JOINT}


@dataclass(frozen=True)
class Rows:
    """Rows of a Dirichlet distribution of classes, in clusters and with weights if it has any."""

    concentration: tuple = (1.0, 1.0, 1.0)
    temperature: float = 1.0
    clusters: int | None = None
    size: str = "equal"
    share: float = 0.0
    alike: float = 0.0
    weights: str | None = None
    n: int = ROWS

    @property
    def family(self):
        """The distribution of rows without weights."""
        return cs.generators.dirichlet(self.concentration, temperature=self.temperature)

    def sample(self, rng):
        """Return classes, predictions, and what is known of the rows by name."""
        grouped = {} if self.clusters is None else {"size": self.size, "share": self.share, "alike": self.alike}
        y, p, *rows = self.family.sample(self.n, rng, clusters=self.clusters, weights=self.weights, **grouped)
        named = zip(("cluster", "sample_weight"), rows, strict=True)
        return y, p, {name: part for name, part in named if part is not None}


@cache
def truth(case, asked):
    """Return a measure of the population in which rows count by their weights; `asked` are items of arguments."""
    family = case.family
    if case.weights is not None:
        family = cs.generators.reweighted_classes(family, find_weights(case.weights, family.n_classes))
    return float(family.truth(**dict(asked)))


def tilted(p, k, odds):
    """Return predictions with so many times the odds of class k."""
    p = p.copy()
    p[:, k] *= odds
    return p / p.sum(axis=1, keepdims=True)


def p_values(case, measures, replicates, seed=1):
    """Return the p-values of tests, shape (replicates, measures)."""
    return _asked(case, replicates, seed, lambda y, p, rows, r: [
        cs.calibration_test(y, p, **each, **rows, n_resamples=RESAMPLES, rng=r).pvalue for each in measures
    ])  # fmt: skip


def ends(case, measures, replicates, seed=1):
    """Return the low and the high ends of intervals, shape (replicates, measures, 2)."""

    def ask(y, p, rows, r):
        found = [cs.confidence_interval(y, p, **each, **rows, n_resamples=RESAMPLES, rng=r) for each in measures]
        return [(each.low, each.high) for each in found]

    return _asked(case, replicates, seed, ask)


def p_values_of_differences(case, measures, replicates, odds=(1.5, 1.5), seed=1):
    """Return the p-values of comparisons of two models, of which each tilts the odds of another class."""

    def ask(y, p, rows, r):
        models = {"first": tilted(p, 0, odds[0]), "last": tilted(p, p.shape[1] - 1, odds[1])}
        found = [cs.compare(y, models, **each, **rows, n_resamples=RESAMPLES, rng=r) for each in measures]
        return [each.pvalue.item() for each in found]

    return _asked(case, replicates, seed, ask)


def misses(case, measures, replicates, seed=1):
    """Return how often the low end is above the truth and the high end below, and the mean width: (measures, 3)."""
    low, high = np.moveaxis(ends(case, measures, replicates, seed), 2, 0)
    true = np.array([truth(case, tuple(sorted(each.items()))) for each in measures])
    return np.stack([(low > true).sum(axis=0), (high < true).sum(axis=0), (high - low).mean(axis=0)], axis=1)


def drawn(number, seed):
    """Return populations that are drawn at random, whose rows are calibrated."""
    random, found = np.random.default_rng(seed), []
    for _ in range(number):
        classes = int(random.integers(2, 6))
        case = Rows(tuple(random.choice([0.1, 0.3, 1.0, 3.0], classes).tolist()))
        found.append(replace(
            case,
            clusters=int(random.choice([30, 60, 120])),
            size=str(random.choice(["equal", "geometric", "one_giant"])),
            share=float(random.choice([0.0, 0.5, 1.0])),
            alike=float(random.choice([0.0, 0.0, 1.0])),
            weights=str(random.choice(["", "independent"])) or None,
        ))  # fmt: skip
    return found


def _asked(case, replicates, seed, ask):
    answers = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there are few clusters
        for r in range(replicates):
            y, p, rows = case.sample([seed, r])
            answers.append(ask(y, p, rows, r))
    return np.array(answers)
