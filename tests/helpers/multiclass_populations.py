"""Finite multiclass populations, their samples, and the share of intervals that miss what is true."""

import numpy as np
from scipy import stats

import calibstat as cs

FALSE_ALARM = 1e-4
PROB = np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0]])
WEIGHT = np.array([0.3, 0.3, 0.2, 0.2])
OVER = PROB.copy()
OVER[0], OVER[1] = [0.45, 0.35, 0.2], [0.25, 0.45, 0.3]
RARE = PROB.copy()
RARE[3] = [0.99, 0.01, 0.0]
RIVALS = PROB.copy()
RIVALS[0], RIVALS[1] = [0.6, 0.2, 0.2], [0.1, 0.7, 0.2]
POPULATIONS = {"calibrated": PROB, "over-confident": OVER, "rare": RARE, "rivals": RIVALS}


def drawn(chance, n, rng):
    """Rows of a population: atoms, and labels with these chances."""
    atom = rng.choice(WEIGHT.size, n, p=WEIGHT)
    label = (chance[atom].cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)
    return PROB[atom], np.minimum(label, 2)


def misses(chance, truth, runs, n, method="honest", **settings):
    """How many intervals do not hold the truth."""
    found = 0
    for seed in range(runs):
        prob, label = drawn(chance, n, np.random.default_rng(seed))
        interval = cs.confidence_interval(label, prob, method=method, n_resamples=99, rng=seed, **settings)
        found += not interval.low - 1e-12 <= truth <= interval.high + 1e-12
    return found


def most_misses(runs):
    """More misses than this are too many for an interval that misses in 6 of 100 samples."""
    return stats.binom.ppf(1 - FALSE_ALARM, runs, 0.06)
