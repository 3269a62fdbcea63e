"""Sums of absolute sums of residuals: a bound on their bias, and upper bounds of the sum of absolute means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibstat.bounds.skewness import unsure_spreads
from calibstat.bounds.tail_bound import TailBound
from calibstat.in_order import RELATIVE

# at least, for the absolute value to be nearly a folded normal; less rounding, because 4 rows at 1/2 have exactly 1
FOLDED_VARIANCE, FOLDED_SQUARES = 1.0 - RELATIVE, 0.5 - RELATIVE
MANY_SUMS = 2000  # above it no matrix of their covariances is made
SUM_BUDGET = 2e7  # numbers that the sums of all clusters in all cells may hold
_ZERO_DENSITY = 40.0  # standard deviations from which on a normal density is 0 in double precision
POINTS, ZOOMS = 33, 7  # of the search for a root: to 2**-35 of the range


def largest_bias(gap: np.ndarray, spread: np.ndarray) -> float:
    """Return a bound on the bias of the sum of absolute gaps: its bias if each gap is one spread nearer to zero.

    Statement and argument: docs/evidence/proofs/low-end.md.
    """
    noisy = spread > 0
    return float((spread[noisy] * folded_bias(np.maximum(gap[noisy] / spread[noisy] - 1, 0))).sum())


def folded_bias(t: np.ndarray) -> np.ndarray:
    """Return E|Z + t| - t for a standard normal Z and t >= 0."""
    from scipy.special import ndtr

    return 2 * _density(t) + t * (2 * ndtr(t) - 1) - t


def _density(t: np.ndarray) -> np.ndarray:
    return np.exp(-(np.minimum(np.abs(t), _ZERO_DENSITY) ** 2) / 2) / np.sqrt(2 * np.pi)


# --- the high end: independent rows ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class AbsoluteSums:
    """Sums of residuals whose absolute values are added up.

    Attributes
    ----------
    first, variance : ndarray, shape (D,)
        The sums and their variances.
    folded : ndarray of bool, shape (D,)
        Which sums are taken for normal variables, whose absolute value is folded; others keep their sign.
    covariance : ndarray, shape (D, D), or None
        Their covariances; the diagonal is not looked at. None if they are 0 or less, for sums of the same sign.
    sign : ndarray, shape (D,)
        Their signs, 1 or -1, where covariances are given.
    most : float
        The largest variance of the sum of absolute values.
    """

    first: np.ndarray
    variance: np.ndarray
    folded: np.ndarray
    covariance: np.ndarray | None = None
    sign: np.ndarray | float = 1.0
    most: float = np.inf

    def high(self, tail_bound: TailBound, rate: float) -> float:
        """Return the largest sum of absolute means for which the observed one is not too small.

        The mean of a folded normal is convex in its centre, so for a given sum of absolute means the mean of the
        observed one is least if all standardised means are equal, but for those at their caps.

        Statement and argument: docs/evidence/proofs/binned-l1.md.
        """
        total, fixed = float(np.abs(self.first).sum()), float(np.abs(self.first[~self.folded]).sum())
        spread = self._spread
        cap = np.abs(self.first[self.folded]) / spread + unsure_spreads(tail_bound.z)

        def least(tau: np.ndarray) -> np.ndarray:
            t = np.minimum(cap, tau[:, None])
            mean, variance = self._moments(t)
            return fixed + mean @ spread - tail_bound.widen(tail_bound.z * np.sqrt(variance), rate)

        end = cap.max(initial=0.0)
        t = np.minimum(cap, last_below(least, total, end))
        beyond = max(total - float(least(np.array([end]))[0]), 0.0)  # all are at their caps, which do not bind the end
        return fixed + float(t @ spread) + beyond

    @property
    def _spread(self) -> np.ndarray:
        return np.sqrt(self.variance[self.folded])

    def _moments(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of the folded normals with centres `t`, shape (m, folded), and the variance of the sum."""
        mean = folded_bias(t) + t
        variance = self.variance[~self.folded].sum() + (1 + t * t - mean * mean) @ self.variance[self.folded]
        if self.covariance is not None:
            variance = variance + self._twice_covariances(t)
        return mean, np.clip(variance, 0, self.most)

    def _twice_covariances(self, t: np.ndarray) -> np.ndarray:
        """Return the sum of the covariances of absolute values, by the first two terms of their Hermite series."""
        from scipy.special import ndtr

        assert self.covariance is not None
        slope = np.broadcast_to(self.sign, (t.shape[0], self.first.size)).copy()
        slope[:, self.folded] *= 2 * ndtr(t) - 1
        curved = _density(t) / self._spread
        covariance = self.covariance - np.diag(np.diag(self.covariance))
        squared = covariance[np.ix_(self.folded, self.folded)] ** 2
        return ((slope @ covariance) * slope).sum(axis=1) + 2 * ((curved @ squared) * curved).sum(axis=1)


def are_folded(variance: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Whether sums of residuals have events enough for absolute values of nearly normal variables."""
    return (variance >= FOLDED_VARIANCE) & (squares >= FOLDED_SQUARES)


def last_below(function: Callable[[np.ndarray], np.ndarray], target: float, end: float) -> float:
    """Return the largest argument in [0, end] at which a function of arrays is not above the target, or 0.

    It may decrease before it increases. Loading the root finders of SciPy would take longer than the first interval.
    """
    low, high = 0.0, end
    for _ in range(ZOOMS):
        point = np.linspace(low, high, POINTS)
        below = np.flatnonzero(function(point) <= target)
        if below.size == 0:
            return low
        if below[-1] == POINTS - 1:
            return high
        low, high = point[below[-1]], point[below[-1] + 1]
    return float(low)


# --- the high end: clusters ------------------------------------------------------------------------------------------


def largest_excess(first: np.ndarray, sign: np.ndarray, covariance: np.ndarray, z: float) -> float:
    """Return a bound on w @ first + z sqrt(w @ covariance @ w) less the sum of absolute values, over all signs w.

    `sign` holds the signs of the sums. For every l, the root of a variance q is at most l q + 1 / (4 l), and to change
    the sign of a cell adds at most a number of its own to l q, so that each cell decides for itself.

    Statement and argument: docs/evidence/proofs/binned-l1.md.
    """
    along = covariance @ sign
    absolute = np.abs(covariance).sum(axis=1)
    worst = np.sqrt(absolute.sum())
    if worst == 0:
        return 0.0
    lam = 1 / (2 * worst * 2.0 ** (-np.arange(9) / 2))
    flips = 2 * z * lam[:, None] * (absolute - sign * along) - np.abs(first)
    bounds = z * lam * (sign @ along) + z / (4 * lam) + 2 * np.maximum(flips, 0).sum(axis=1)
    return float(min(bounds.min(), z * worst))
