"""How often what is said of rows of several classes, in clusters and with weights, is false."""

import warnings

import numpy as np
from simulation_files import study_part

import calibstat as cs

rows = study_part("rows_of_classes")
Rows, tilted, truth = rows.Rows, rows.tilted, rows.truth
RESAMPLES = 99
LEVEL = 0.05
MEAN, MAX = ({"lens": f"class_wise_{how}"} for how in ("mean", "max"))
JOINT = {"lens": "canonical"}
GRID = {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 4, **JOINT}


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


def _asked(case, replicates, seed, ask):
    answers = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that there are few clusters
        for r in range(replicates):
            y, p, rows = case.sample([seed, r])
            answers.append(ask(y, p, rows, r))
    return np.array(answers)
