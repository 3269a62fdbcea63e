"""The third moment that a bound of a sum takes, where kinds of rows hide each other's and where signs are not known.

A rare event skews the residuals of its prediction upwards, a rare non-event downwards. In a sum of both the third
moments cancel, though the mean of the sum may be off by one kind alone. And the sign of a sum that lies within its
noise says nothing of the sign of its mean. So here kinds of rows count apart, and an unsure sum takes the larger third
moment of both signs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibstat.in_order import RELATIVE, without_rounding

SURE = 2.0  # spreads, or z if larger: from so many on, and fully from one more on, the sign of a sum is taken for known
STEEP = 5.0  # a row at 1/2 counts half for each kind, and fully for one of them from .1 below or above on


def share_skewed_up(skew: np.ndarray | float) -> np.ndarray:
    """Return the share of a row that counts as skewed upwards, for 1 - 2 v at a prediction v, or what stands for it."""
    return np.asarray(np.clip(0.5 + STEEP / 2 * skew, 0, 1))


def cancelled(up: ArrayLike, rest: ArrayLike) -> Any:
    """Return what the third moments of two kinds of rows take from each other, if they have opposite signs."""
    return np.where(np.multiply(np.sign(up), np.sign(rest)) < 0, np.minimum(np.abs(up), np.abs(rest)), 0.0)


class Sums(NamedTuple):
    """Weighted sums with their moments, numbers or arrays of one shape: in rows, not over n.

    `third` is the third moment, and `cancelled` what rows that are skewed in opposite directions take from it.
    """

    total: Any
    variance: Any
    third: Any
    cancelled: Any = 0.0

    @property
    def up(self) -> Any:
        """The third moment that an upper bound takes."""
        return np.maximum(self.third, 0) + self.cancelled

    @property
    def most(self) -> Any:
        """The third moment that a bound takes where the sign is not known."""
        return np.abs(self.third) + self.cancelled

    @property
    def negative(self) -> Sums:
        """The sums with the other sign."""
        return Sums(-self.total, self.variance, -self.third, self.cancelled)

    def up_if_unsure(self, z: float) -> Any:
        """Return the same where signs were chosen by the data, so that totals are not negative: of unsure ones most.

        Statement and argument: docs/evidence/proofs/score-bound.md.
        """
        return unsure(self.most, self.up, self.total, self.variance, z)


def unsure(most: ArrayLike, own: ArrayLike, total: ArrayLike, variance: ArrayLike, z: float) -> Any:
    """Return `own` for sums that are further from 0 than noise, `most` for others, and between them what is between."""
    spread = np.sqrt(np.maximum(variance, 0))
    with np.errstate(divide="ignore", invalid="ignore"):
        beyond = np.where(spread > 0, np.abs(total) / spread - unsure_spreads(z), 1.0)
    return most + np.subtract(own, most) * np.clip(beyond, 0, 1)


def unsure_spreads(z: float) -> float:
    """Return how many spreads from 0 the sign of a sum is not known."""
    return max(SURE, z)


def signs(total: np.ndarray, n: float, covariance: Callable[[], np.ndarray] | None = None) -> np.ndarray:
    """Return 1 or -1 for each sum over n rows; one that is 0 up to rounding takes what adds more variance, or 1."""
    sign = np.sign(without_rounding(total, n))
    zero = np.flatnonzero(sign == 0)
    shared = covariance()[zero] if zero.size and covariance is not None else np.zeros((zero.size, total.size))
    for j, of_others in zip(zero, shared, strict=True):
        sign[j] = -1.0 if without_rounding(of_others @ sign, n) < 0 else 1.0
    return sign


def skewed_signs(
    sign: np.ndarray, total: np.ndarray, variance: np.ndarray, cube: np.ndarray, square: np.ndarray, z: float
) -> np.ndarray:
    """Return the signs with which the third moments of unsure sums are positive, and of others the signs they have.

    Sums are given with their variances, and with the sums of the cubes and squares of what rows add.
    """
    is_sure = np.abs(total) > (1 + RELATIVE) * unsure_spreads(z) * np.sqrt(np.maximum(variance, 0))
    skewed = np.sign(without_rounding(cube, square))
    return np.where(is_sure | (skewed == 0), sign, skewed)
