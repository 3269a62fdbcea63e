"""Confidence sequences for a running mean: intervals that are right at every look at once.

Observed are x_1, x_2, ... from -1 to 1, with means m_i given the past; S is the sum of the x_i, V the sum of their
squares, and theta the running mean (m_1 + ... + m_N) / N, which is free to drift. For 0 <= lambda < 1 and x >= -1

    exp(lambda x - psi(lambda) x^2) <= 1 + lambda x,    psi(lambda) = -log(1 - lambda) - lambda

(Fan, Grama, Liu 2015, doi:10.1214/EJP.v20-3496), and 1 + lambda m <= exp(lambda m). So exp(lambda (S - N theta) -
psi(lambda) V) begins at 1 and never grows in the mean: a supermartingale. A weighted mean over values of lambda, all
fixed beforehand, is one too, and by Ville's inequality it ever reaches 2 / alpha with probability of at most alpha / 2.
The same holds for -x, with the same V. Hence S - N theta stays within the radius on either side, at all N at once, with
probability of at least 1 - alpha.

Of the gap of one model x is the residual, outcome minus prediction v, and theta + the running mean of v is the mean of
the true probabilities. Of two models x is the difference of their Brier scores in a row. Both sums add up over shards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

# V from 1 to 2**30 has a value of lambda near the best for it; those for small V have more weight, as few rows need it
LAMBDA = 1 / (1 + np.sqrt(2.0 ** np.arange(31)))
LOG_WEIGHTS = -np.log(np.arange(31) + 5.0) - math.log(math.fsum(1 / (k + 5) for k in range(31)))
PSI = np.array([math.fsum(x**j / j for j in range(2, 64)) for x in LAMBDA.tolist()])  # no lambda is above 1/2
_NEWTON_STEPS = 60  # of Newton's method at most; a handful does


def radius(squares: np.ndarray, level: float) -> np.ndarray:
    """Return how far S may be from N theta on either side, of each sum of squares V, shape (T,).

    It solves sum_k w_k exp(lambda_k x - psi_k V) = 2 / (1 - level), whose logarithm is convex and rising in x. Newton's
    method from a point above the root comes down to it; what is returned is never below.
    """
    squares = np.asarray(squares, dtype=np.float64)
    target = math.log(2 / (1 - level))
    loss = PSI * squares[..., None] - LOG_WEIGHTS
    x = ((target + loss) / LAMBDA).min(axis=-1)  # one term alone reaches the target there
    for _ in range(_NEWTON_STEPS):
        log_terms = LAMBDA * x[..., None] - loss
        highest = log_terms.max(axis=-1)
        terms = np.exp(log_terms - highest[..., None])
        total = terms.sum(axis=-1)
        excess = highest + np.log(total) - target
        step = np.maximum(excess, 0) * total / (terms @ LAMBDA)
        x = x - step
        if np.all(step <= 1e-13 * x):
            break
    return x * (1 + 1e-12)


def running_sum(whole: Sequence[int], unit: float) -> np.ndarray:
    """Return the running sums of whole numbers, exact before they are multiplied by their unit."""
    return np.array(list(accumulate(whole)), dtype=np.float64) * unit


def running_mean(
    total: np.ndarray, squares: np.ndarray, n: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return S / N and the ends of the confidence sequence for theta, after each period."""
    reach = radius(squares, level) / n
    return total / n, np.maximum(total / n - reach, -1.0), np.minimum(total / n + reach, 1.0)
