"""Confidence sequences for a running mean: intervals that are right at every look at once.

Observed are x_1, x_2, ... from -1 to 1, with means m_i given the past; S is the sum of the x_i, V the sum of their
squares, and theta the running mean (m_1 + ... + m_N) / N, which is free to drift. For 0 <= lambda < 1 and x >= -1

    exp(lambda x - psi(lambda) x^2) <= 1 + lambda x,    psi(lambda) = -log(1 - lambda) - lambda

(Fan, Grama, Liu 2015, doi:10.1214/EJP.v20-3496), and 1 + lambda m <= exp(lambda m). So exp(lambda (S - N theta) -
psi(lambda) V) begins at 1 and never grows in the mean: a supermartingale. A weighted mean over values of lambda, all
fixed beforehand, is one too, and by Ville's inequality it ever reaches 2 / alpha with probability of at most alpha / 2.
The same holds for -x, with the same V. Hence S - N theta stays within the radius on either side, at all N at once, with
probability of at least 1 - alpha. Where one end alone is stated, 1 / alpha takes the place of 2 / alpha.

Of the gap of one model x is the residual, outcome minus prediction v, and theta + the running mean of v is the mean of
the true probabilities. Of two models x is the difference of their Brier scores in a row. Both sums add up over shards.
"""

from __future__ import annotations

import math
from array import array

import numpy as np

# V from 1 to 2**30 has a value of lambda near the best for it; those for small V have more weight, as few rows need it
LAMBDA = 1 / (1 + np.sqrt(2.0 ** np.arange(31)))
LOG_WEIGHTS = -np.log(np.arange(31) + 5.0) - math.log(math.fsum(1 / (k + 5) for k in range(31)))
PSI = np.array([math.fsum(x**j / j for j in range(2, 64)) for x in LAMBDA.tolist()])  # no lambda is above 1/2
_NEWTON_STEPS = 60  # of Newton's method at most; a handful does


def radius(squares: np.ndarray, level: float, ends: int = 2) -> np.ndarray:
    """Return how far S may be from N theta on either side, of each sum of squares V, shape (T,).

    It solves sum_k w_k exp(lambda_k x - psi_k V) = ends / (1 - level), of 1 or 2 ends that are stated. Its logarithm is
    convex and rising in x. Newton's method from a point above the root comes down to it; what is returned is never
    below. Each root is found by itself, so that it has the same bits whatever is computed beside it.
    """
    squares = np.asarray(squares, dtype=np.float64)
    target = math.log(ends / (1 - level))
    loss = PSI * squares[..., None] - LOG_WEIGHTS
    x = ((target + loss) / LAMBDA).min(axis=-1)  # one term alone reaches the target there
    found = np.zeros(x.shape, dtype=bool)
    for _ in range(_NEWTON_STEPS):
        log_terms = LAMBDA * x[..., None] - loss
        highest = log_terms.max(axis=-1)
        terms = np.exp(log_terms - highest[..., None])
        total = terms.sum(axis=-1)
        excess = highest + np.log(total) - target
        step = np.where(found, 0.0, np.maximum(excess, 0) * total / (terms * LAMBDA).sum(axis=-1))
        x = x - step
        found |= step <= 1e-13 * x
        if found.all():
            break
    return x * (1 + 1e-12)


def running_mean(
    total: np.ndarray, squares: np.ndarray, n: np.ndarray, level: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return S / N and the ends of the confidence sequence for theta, after each period."""
    return _ends(total, radius(squares, level), n)


class ConfidenceSequence:
    """A confidence sequence that grows by a period at a time, which costs the same after any number of periods.

    Both ends are right at once with probability `level`, or with `stated` = 1 either of them by itself.
    """

    def __init__(self, level: float, stated: int = 2) -> None:
        self.level, self._stated = level, stated
        self._sums = (0, 0, 0)
        self._rows, self._total, self._squares = array("d"), array("d"), array("d")
        self._radius = np.zeros(0)

    def add(self, rows: int, total: int, squares: int) -> None:
        """Add a period: its rows, and the sums S and V of their x in whole units, which add up without rounding."""
        self._sums = (self._sums[0] + rows, self._sums[1] + total, self._sums[2] + squares)
        for held, each in zip((self._rows, self._total, self._squares), self._sums, strict=True):
            held.append(each)

    @property
    def n(self) -> int:
        """The number of rows so far."""
        return self._sums[0]

    @property
    def rows(self) -> np.ndarray:
        """The number of rows up to each period, shape (T,)."""
        return np.array(self._rows)

    def ends(self, units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return S / N and both ends after each period; so many units of the sums are 1."""
        known = self._radius.size
        if known < len(self._squares):
            self._radius = np.append(
                self._radius, radius(np.array(self._squares[known:]) / units, self.level, self._stated)
            )
        return _ends(np.array(self._total) / units, self._radius, self.rows)


def _ends(total: np.ndarray, reach: np.ndarray, n: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return S / N and what lies within the reach of it, at most 1 away from 0."""
    return total / n, np.maximum(total / n - reach / n, -1.0), np.minimum(total / n + reach / n, 1.0)
