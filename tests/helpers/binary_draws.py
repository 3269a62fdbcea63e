"""Small binary samples to draw from, and the distribution of their sums."""

import numpy as np

import calibstat as cs
from calibstat.resampling import (
    Consistency,
    Labels,
    Pairs,
    key_of,
)

KEY = key_of(20240611)
FALSE_ALARM = 1e-5  # of every single check of draws; fewer than a hundred are made
SCHEMES = (Labels(), Consistency(), Pairs())


def names(scheme):
    return type(scheme).__name__


def poisson_binomial(probabilities):
    """The distribution of a sum of independent Bernoulli variables, one full convolution a row."""
    pmf = np.ones(1)
    for p in probabilities:
        pmf = np.convolve(pmf, [1 - p, p])
    return pmf


SMALL = cs.Sample.from_counts([0.0, 0.1, 0.35, 0.36, 0.8, 1.0], [2, 1, 3, 1, 2, 1], [0, 1, 1, 0, 2, 1])
TIED = cs.Sample.from_counts([0.2, 0.7], [60, 40], [15, 30])  # so many rows a value that cells are drawn, not rows
