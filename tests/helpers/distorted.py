"""Predictions distorted by a matrix, whose recalibration is known, and what the tests of the scalings share."""

import numpy as np

import calibstat as cs

DISTORTED = cs.generators.dirichlet((1, 1, 1), matrix=[[1.5, 0.5, 0], [0, 1.5, 0.5], [0.5, 0, 1.5]], shift=(0, 0, 1))
Y, P = DISTORTED.sample(400, rng=2)


def log_loss(y, q):
    """The mean log loss."""
    return -np.log(q[np.arange(len(y)), y]).mean()


def share(p, hits, n):
    """The prediction p for n rows, of which so many happened."""
    return np.full(n, p), (np.arange(n) < hits).astype(int)
