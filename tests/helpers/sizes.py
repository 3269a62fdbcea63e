"""How often tests reject calibrated predictions, against exact binomial limits."""

import numpy as np
from scipy import stats


def calibrated(rng, n, a=1.0, b=1.0):
    """Outcomes of calibrated predictions, whose distribution is Beta(a, b)."""
    v = rng.beta(a, b, n)
    return (rng.random(n) < v).astype(int), v


def compatible(rejections, runs, low, high):
    """Whether so many rejections are likely of some probability from low to high: false alarm below 1e-5."""
    return stats.binom.ppf(5e-6, runs, low) <= rejections <= stats.binom.ppf(1 - 5e-6, runs, high)


def statistics(test, runs, n, seed, **shape):
    """Results of a test on calibrated data sets."""
    rng = np.random.default_rng(seed)
    return [test(*calibrated(rng, n, **shape)) for _ in range(runs)]


def rejected(found):
    """How many of these tests reject at 5 %."""
    return sum(test.pvalue <= 0.05 for test in found)
