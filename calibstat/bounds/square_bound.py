"""Bounds of squared kernel errors of one model, and of the difference of two, in closed form.

The mean over pairs of different rows of r_i r_j k(v_i, v_j) estimates the square of a kernel error without bias, for
every number of rows. docs/squares.md has the statements, the proofs and what is only asymptotic, in the same symbols.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.bounds.laplace import laplace_smoothed, laplace_square, sum_over_pairs
from calibstat.bounds.score_bound import ScoreBound
from calibstat.compiled import jit
from calibstat.data.inner_product import inner
from calibstat.data.sample import Sample

UNSEEN_PAIRS = 4.0  # what rows of a kind that was not observed add by themselves, in units of their squares over n
USUAL = 1.96  # standard errors up to which V3 counts twice; further out its directions move the variance of each other
ROUNDING = 1e-12  # share of the terms of what a row adds that is rounding


@dataclass(frozen=True, eq=False)
class SquareBound:
    """An unbiased estimate of a squared kernel error, or of a difference of two, and what its bounds are made of.

    All in units of the estimate, and of n**2, n**3 where they are moments.

    Attributes
    ----------
    estimate : float
        U.
    linear, quadratic : float
        V1, the squares of what rows add, and V3, the squares of what pairs of rows add.
    third : float
        K, the cubes of what rows add.
    curvature : float
        d, how much the estimate bends along its noise.
    most, least : float
        The most that a row of any prediction and outcome adds to the estimate, and takes from it.
    alone : float
        What a row of a kind of its own adds in a pair with another such row.
    weight : ndarray, shape (n,), or None
        The weights of the rows.
    """

    estimate: float
    linear: float
    quadratic: float
    third: float
    curvature: float
    most: float
    least: float
    alone: float
    weight: np.ndarray | None = None

    def high(self, tail: float) -> float:
        """Return the end, below the value in the population with probability `tail`."""
        score = ScoreBound.of_rows(tail) if self.weight is None else ScoreBound.of_units(self.weight, tail)
        pairs = max(UNSEEN_PAIRS, math.log(tail) ** 2 / score.k)
        largest = self.most + pairs * score.largest * self.alone
        variance = self.linear + (1 + max(score.z / USUAL, 1.0) ** 3) * self.quadratic
        reach = float(score.times(largest).reach(variance, self.third))
        return self.estimate + reach + score.z**2 * max(self.curvature, 0.0)

    def low(self, tail: float) -> float:
        """Return the end, above the value in the population with probability `tail`."""
        return -(-self).high(tail)

    def __neg__(self) -> SquareBound:
        return replace(
            self,
            estimate=-self.estimate,
            third=-self.third,
            curvature=-self.curvature,
            most=self.least,
            least=self.most,
        )

    def minus(self, other: SquareBound) -> SquareBound:
        """Return the bound of this value minus the value of an independent sample."""
        linear = self.linear + other.linear
        return SquareBound(
            estimate=self.estimate - other.estimate,
            linear=linear,
            quadratic=self.quadratic + other.quadratic,
            third=self.third - other.third,
            # the noise goes along both samples in proportion to their shares of the variance
            curvature=(self.linear * self.curvature - other.linear * other.curvature) / linear if linear > 0 else 0.0,
            most=max(self.most, other.least),
            least=max(self.least, other.most),
            alone=max(self.alone, other.alone),
        )


@dataclass(frozen=True, eq=False)
class Side:
    """One model on rows: what `sign` times its squared error is made of.

    Attributes
    ----------
    value, residual : ndarray, shape (n,)
        The predictions and the residuals r of the rows, multiplied by their weights.
    bandwidth, sign : float
        Of its kernel; 1, or -1 of a model whose squared error is subtracted.
    """

    value: np.ndarray
    residual: np.ndarray
    bandwidth: float
    sign: float = 1.0

    @cached_property
    def order(self) -> np.ndarray:
        """The order of the rows by their predictions."""
        return np.argsort(self.value, kind="stable")

    def smoothed(self, part: np.ndarray) -> np.ndarray:
        """Return sum_j part_j k(v_i, v_j) for every row i."""
        smooth = np.empty(part.size)
        smooth[self.order] = laplace_smoothed(self.value[self.order], part[self.order], self.bandwidth)
        return smooth

    def square(self, part: np.ndarray, bandwidth: float) -> float:
        """Return sum_ij part_i part_j k(v_i, v_j) at another bandwidth."""
        return laplace_square(self.value[self.order], part[self.order], bandwidth)

    def unseen(self, smoothed: np.ndarray) -> tuple[float, float]:
        """Return the most that r f(v) and -r f(v) may be for a row of any prediction v and outcome, f = `smoothed`.

        Between neighbouring predictions f'' = f / h**2, so that abs(f) is largest at one of them; beyond all of them it
        decays. There r lies between minus the larger prediction and 1 less the smaller one.
        """
        up, down = _largest_products(self.value, smoothed, self.order)
        return (up, down) if self.sign > 0 else (down, up)


@jit
def _largest_products(value: np.ndarray, f: np.ndarray, order: np.ndarray) -> tuple[float, float]:
    """Return the largest r f and -r f of `Side.unseen`, gap by gap between neighbouring predictions, 0 and 1."""
    n = order.size
    up = down = 0.0
    for gap in range(n + 1):
        before, after = order[max(gap - 1, 0)], order[min(gap, n - 1)]
        low = 0.0 if gap == 0 else value[before]
        high = 1.0 if gap == n else value[after]
        above = max(f[before], f[after], 0.0)
        below = max(-f[before], -f[after], 0.0)
        up = max(up, (1.0 - low) * above, high * below)
        down = max(down, high * above, (1.0 - low) * below)
    return up, down


def bound_of(sides: Sequence[Side], count: np.ndarray, weight: np.ndarray | None = None) -> SquareBound:
    """Return the bound of the sum of the signed squared errors of models on the same rows.

    There are count[i] rows of kind i, whose predictions and residuals are entry i of the sides; rows with weights are
    each of a kind of its own. Of fewer than two rows nothing is known.
    """
    w = np.ones(count.size) if weight is None else weight
    n = inner(count, w)
    pairs = n * n - inner(count, w**2)
    if count.sum() < 2:
        return SquareBound(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    added = np.zeros(count.size)  # by a row, in its pairs with all others
    same = np.zeros(count.size)  # what a row would add in a pair with itself
    size = np.zeros(count.size)  # of the terms of which what a row adds is the sum
    most = least = 0.0
    for side in sides:
        smoothed = side.smoothed(count * side.residual)
        up, down = side.unseen(smoothed)
        most, least = most + up, least + down
        added += side.sign * side.residual * (smoothed - side.residual)
        same += side.sign * side.residual**2
        size += np.abs(side.residual * smoothed) + side.residual**2
    estimate = inner(count, added) / pairs
    c = n / pairs * (added - estimate * w * (n - w))
    squares = 4 * inner(count, c**2)
    curvature = 0.0
    if squares > 4 * (n / pairs * ROUNDING) ** 2 * inner(count, size**2):
        along = sum(side.sign * side.square(count * c * side.residual, side.bandwidth) for side in sides)
        curvature = 4 * along / (n * squares)
    quadratic = 2 / pairs * max(_squares_of_pairs(sides, count) - inner(count, same**2), 0.0)
    return SquareBound(
        estimate=estimate,
        linear=squares / n**2,
        quadratic=quadratic / n**2,
        third=8 * inner(count, c**3) / n**3,
        curvature=curvature / n,
        most=2 * most / n**2,
        least=2 * least / n**2,
        alone=1 / n**2,
        weight=weight,
    )


def bound_of_sample(sample: Sample, bandwidth: float) -> SquareBound:
    """Return the bound of the squared error of one model, whose rows are of a kind for each prediction and outcome."""
    value, count, positives = sample.arrays
    number = np.stack((positives, count - positives)).ravel()
    seen = number > 0
    side = Side(np.tile(value, 2)[seen], np.concatenate((1 - value, -value))[seen], bandwidth)
    return bound_of([side], number[seen])


def _squares_of_pairs(sides: Sequence[Side], count: np.ndarray) -> float:
    """Return the sum over all pairs of the square of what they add, a row with itself included."""
    total = 0.0
    for i, one in enumerate(sides):
        total += one.square(count * one.residual**2, one.bandwidth / 2)  # the square of the kernel is one of half h
        for other in sides[:i]:
            order = one.order
            product = (count * one.residual * other.residual)[order]
            both = sum_over_pairs(product, one.value[order], other.value[order], one.bandwidth)
            total += 2 * one.sign * other.sign * both
    return total
