"""Bounds of squared kernel errors of one model, and of the difference of two, in closed form.

The mean over pairs of different rows of r_i r_j k(v_i, v_j) estimates the square of a kernel error without bias, for
every number of rows. docs/evidence/squares.md has the statements, the proofs and what is only asymptotic, in the same
symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from calibstat.bounds.laplace import laplace_smoothed, laplace_smoothed_within, laplace_square, sum_over_pairs
from calibstat.bounds.skewness import Sums, cancelled, share_skewed_up, unsure
from calibstat.bounds.tail_bound import TailBound
from calibstat.compiled import first_calls, jit
from calibstat.data.clusters import OBSERVED, ROWS_ALONE, WHOLE
from calibstat.data.sample import Sample
from calibstat.inner_product import inner

UNSEEN_PAIRS = 4.0  # what rows of a kind that was not observed add by themselves, in units of their squares over n
USUAL = 1.96  # standard errors up to which V3 counts twice; further out its directions move the variance of each other
ROUNDING = 1e-12  # share of the terms of what a row adds that is rounding
DIRECT = 8  # a unit is large if it has more pairs of its own rows than there are rows over this and the sides


@dataclass(frozen=True, eq=False)
class SquareBound:
    """An unbiased estimate of a squared kernel error, or of a difference of two, and what its bounds are made of.

    All in units of the estimate, and of n**2, n**3 where they are moments.

    Attributes
    ----------
    estimate : float
        U.
    linear, quadratic : float
        V1, the squares of what units add, and V3, the squares of what pairs of units add.
    third, cancelled : float
        K, the cubes of what units add, and what units that are skewed in opposite directions take from it.
    curvature : float
        d, how much the estimate bends along its noise.
    most, least : float
        The most that a row of any prediction and outcome adds to the estimate, and takes from it.
    alone : float
        What a row of a kind of its own adds in a pair with another such row.
    plain : tuple of Sums
        The sums of the residuals of each side, with their moments.
    units : callable
        ``units(tail)``, the bound of a sum over the independent units, in rows; of clusters like those observed in
        clusters.
    residual : float
        The largest sum of residuals of a row, or of a cluster like those observed.
    """

    estimate: float
    linear: float
    quadratic: float
    third: float
    curvature: float
    most: float
    least: float
    alone: float
    cancelled: float = 0.0
    plain: tuple[Sums, ...] = ()
    units: Callable[[float], TailBound] = TailBound.of_rows
    residual: float = 1.0

    def high(self, tail: float) -> float:
        """Return the end, below the value in the population with probability `tail`."""
        tail_bound = self.units(tail)
        pairs = max(UNSEEN_PAIRS, math.log(tail) ** 2 / tail_bound.k)
        largest = self.most + pairs * tail_bound.largest * self.alone
        variance = self.linear + (1 + max(tail_bound.z / USUAL, 1.0) ** 3) * self.quadratic
        bound = tail_bound.times(largest)
        # pairs have no part in the third moment, and do not make the rate of what was seen smaller
        third = max(self.third, 0.0) + self.cancelled
        seen = float(bound.rate(self.linear, third) - bound.rate(self.linear, 0.0))
        rate = min(float(bound.rate(variance, 0.0)) + seen, bound.cap)
        reach = float(bound.widen(tail_bound.z * math.sqrt(max(variance, 0.0)), rate))
        plain = tail_bound.times(self.residual)
        spreads = max([plain.spreads(sums.variance, sums.most) for sums in self.plain], default=tail_bound.z)
        along, steepest = max(self.curvature, 0.0), math.sqrt(max(self.quadratic, 0.0) / 2)
        # near 0 what units add says little of the direction of the noise
        unknown = unsure(max(along, steepest), along, math.sqrt(self.linear), 4 * steepest**2, tail_bound.z)
        return self.estimate + reach + tail_bound.z**2 * along + (spreads**2 - tail_bound.z**2) * float(unknown)

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

    def over(self, number: float) -> SquareBound:
        """Return the bound of this value divided by a number."""
        return replace(
            self,
            estimate=self.estimate / number,
            linear=self.linear / number**2,
            quadratic=self.quadratic / number**2,
            third=self.third / number**3,
            curvature=self.curvature / number,
            most=self.most / number,
            least=self.least / number,
            alone=self.alone / number,
            cancelled=self.cancelled / number**3,
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
            cancelled=self.cancelled + other.cancelled,
            plain=self.plain + other.plain,
        )


@dataclass(frozen=True, eq=False)
class Side:
    """One event of one model on rows: what `sign` times its squared error is made of.

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

    def smoothed_within(self, unit: np.ndarray) -> np.ndarray:
        """Return sum_j r_j k(v_i, v_j) for every row i, over the rows j of its own unit."""
        order = np.lexsort((self.value, unit))
        smooth = np.empty(self.value.size)
        smooth[order] = laplace_smoothed_within(unit[order], self.value[order], self.residual[order], self.bandwidth)
        return smooth

    def square(self, part: np.ndarray, bandwidth: float) -> float:
        """Return sum_ij part_i part_j k(v_i, v_j) at another bandwidth."""
        return laplace_square(self.value[self.order], part[self.order], bandwidth)

    def unseen(self, smoothed: np.ndarray) -> tuple[float, float]:
        """Return the most that r f(v) and -r f(v) may be for a row of any prediction v and outcome, f = `smoothed`.

        Between neighbouring predictions f'' = f / h**2, so that abs(f) is largest at one of them; beyond all of them it
        decays. There r lies between minus the larger prediction and 1 less the smaller one.
        """
        value = np.ascontiguousarray(self.value)  # for a column the kernel would be compiled anew
        up, down = _largest_products(value, smoothed, self.order)
        return (up, down) if self.sign > 0 else (down, up)


@first_calls(1e-6)
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


def bound_of(
    sides: Sequence[Side],
    count: np.ndarray,
    weight: np.ndarray | None = None,
    unit: np.ndarray | None = None,
    *,
    unseen: str = WHOLE,
) -> SquareBound:
    """Return the bound of the sum of the signed squared errors of models on the same rows.

    There are count[i] rows of kind i, whose predictions and residuals are entry i of the sides; rows with weights are
    each of a kind of its own, and so are rows in clusters, which `unit` numbers from 0. A model of several classes has
    a side for each. `unseen` says what is supposed of clusters that were not observed. Of fewer than two independent
    units nothing is known.
    """
    row_weight = np.ones(count.size) if weight is None else weight
    by_unit = partial(_by_unit, unit)
    w, number = by_unit(row_weight), count if unit is None else np.ones(unit.max(initial=-1) + 1)
    n = inner(number, w)
    pairs = n * n - inner(number, w**2)
    if number.sum() < 2:
        return SquareBound(0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0)
    plain = tuple(_sum_of_residuals(side, number, by_unit, row_weight) for side in sides)
    rows, hidden = _Added(count.size), (_Unseen(), _Unseen())
    for side in sides:
        hidden[side.sign < 0].add(side, rows.add(side, count, row_weight, unit))
    added, same, size = by_unit(rows.added), by_unit(rows.same), by_unit(rows.size)
    up = share_skewed_up(_ratio(by_unit(rows.skew), by_unit(rows.noise)))
    del rows  # as long as the data, several times
    estimate = inner(number, added) / pairs
    c = n / pairs * (added - estimate * w * (n - w))
    squares = 4 * inner(number, c**2)
    third, third_up = 8 * inner(number, c**3), 8 * inner(number, up * c**3)
    del up
    curvature = 0.0
    if squares > 4 * (n / pairs * ROUNDING) ** 2 * inner(number, size**2):
        curvature = 4 * _square_along(sides, count * (c if unit is None else c[unit])) / (n * squares)
    quadratic = _quadratic(sides, count, unit, same, inner(number, same**2)) * 2 / pairs
    if unit is not None:  # of units of one size this factor is 1
        quadratic *= n * n / pairs * (1 - 1 / number.size)
    if unit is not None and unseen == OBSERVED:
        lacking = _Lacking.like(sides, unit, c, n, w)
    else:
        hides = row_weight if unseen == ROWS_ALONE else w
        lacking = _Lacking.of(*hidden, n, None if weight is None and unit is None else (w, hides))
    return SquareBound(
        estimate=estimate,
        linear=squares / n**2,
        quadratic=quadratic / n**2,
        third=third / n**3,
        cancelled=float(cancelled(third_up, third - third_up)) / n**3,
        curvature=curvature / n,
        plain=plain,
        **lacking._asdict(),
    )


def _quadratic(
    sides: Sequence[Side], count: np.ndarray, unit: np.ndarray | None, same: np.ndarray, own: float
) -> float:
    """Return the sum of the squares of what pairs of different units add; `own` is that of units with themselves."""
    all_pairs = _squares_of_pairs(sides, count) if unit is None else _squares_of_units(sides, unit, same)
    return max(all_pairs - own, 0.0)


def _by_unit(unit: np.ndarray | None, part: np.ndarray) -> np.ndarray:
    """Return the sum of each unit, or of rows without units what each has."""
    return part if unit is None else np.bincount(unit, part)


def _sum_of_residuals(
    side: Side, number: np.ndarray, by_unit: Callable[[np.ndarray], np.ndarray], weight: np.ndarray
) -> Sums:
    """Return the sum of the residuals of a model with its moments; of units the rows count by their weights."""
    x, size, skew = by_unit(side.residual), by_unit(weight), by_unit(weight * (1 - 2 * side.value))
    third, third_up = inner(number, x**3), inner(number, share_skewed_up(_ratio(skew, size)) * x**3)
    return Sums(inner(number, x), inner(number, x**2), third, float(cancelled(third_up, third - third_up)))


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, 0 where both are 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


class _Added:
    """The terms that each row adds to the sum of the signed squared errors.

    `added` is what it adds in its pairs with all rows of other units, `same` what it would add with its own unit, and
    `size` the sum of their terms without sign. `skew` and `noise` are of what it adds, by its predictions.
    """

    def __init__(self, rows: int) -> None:
        self.added, self.same, self.size, self.skew, self.noise = (np.zeros(rows) for _ in range(5))

    def add(self, side: Side, count: np.ndarray, weight: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
        """Add what one side adds; return its residuals, smoothed over all rows."""
        smoothed = side.smoothed(count * side.residual)
        own = side.residual if unit is None else side.smoothed_within(unit)
        self.added += side.sign * side.residual * (smoothed - own)
        self.same += side.sign * (side.residual * own)
        self.size += np.abs(side.residual * smoothed) + np.abs(side.residual * own)
        along = side.sign * weight * smoothed * np.maximum(side.value * (1 - side.value), np.finfo(float).tiny)
        self.skew += along * (1 - 2 * side.value)
        self.noise += np.abs(along, out=along)
        return smoothed


class _Unseen:
    """The most that a row of any predictions and outcome adds by one model, up and down, over its classes.

    Each class is bounded by itself. Of several classes, of which one occurs, the residuals times f_k add up to f of the
    class that occurs less a mean of all f_k by the predictions: at most the largest f less the smallest.
    """

    def __init__(self) -> None:
        self.events, self._up, self._down, self._highest, self._lowest = 0, 0.0, 0.0, 0.0, 0.0

    def add(self, side: Side, smoothed: np.ndarray) -> None:
        up, down = side.unseen(smoothed)
        self.events, self._up, self._down = self.events + 1, self._up + up, self._down + down
        self._highest = max(self._highest, float(smoothed.max(initial=0.0)))
        self._lowest = min(self._lowest, float(smoothed.min(initial=0.0)))

    @property
    def up(self) -> float:
        return self._up if self.events < 2 else min(self._up, self._highest - self._lowest)

    @property
    def down(self) -> float:
        return self._down if self.events < 2 else min(self._down, self._highest - self._lowest)


class _Lacking(NamedTuple):
    """The fields of `SquareBound` that say what may be lacking from the sample."""

    most: float
    least: float
    alone: float
    units: Callable[[float], TailBound]
    residual: float = 1.0

    @classmethod
    def of(cls, one: _Unseen, other: _Unseen, n: float, sizes: tuple[np.ndarray, np.ndarray] | None) -> _Lacking:
        """Return it for rows of any kind, in units of the first of these sizes, of which such of the second lack."""
        return cls(
            most=2 * (one.up + other.up) / n**2,
            least=2 * (one.down + other.down) / n**2,
            alone=min(max(one.events, other.events), 2) / n**2,
            units=TailBound.of_rows if sizes is None else lambda tail: TailBound.of_units(sizes[0], tail, sizes[1]),
        )

    @classmethod
    def like(cls, sides: Sequence[Side], unit: np.ndarray, added: np.ndarray, n: float, size: np.ndarray) -> _Lacking:
        """Return it for clusters that add as much as the most extreme one, which adds up to `added`, either way."""
        own, residual = np.zeros((2, size.size)), 0.0
        for side in sides:
            own[int(side.sign < 0)] += np.bincount(unit, side.residual * side.smoothed_within(unit))
            residual = max(residual, float(np.abs(np.bincount(unit, side.residual)).max()))
        most = 2 * float(np.abs(added).max()) / n
        alone = max(float(own.max()), 0.0) / n**2
        return cls(most, most, alone, lambda tail: TailBound.like_observed(size, tail), residual)


def bound_of_sample(sample: Sample, bandwidth: float) -> SquareBound:
    """Return the bound of the squared error of one model, whose rows are of a kind for each prediction and outcome."""
    value, count, positives = sample.arrays
    number = np.stack((positives, count - positives)).ravel()
    seen = number > 0
    side = Side(np.tile(value, 2)[seen], np.concatenate((1 - value, -value))[seen], bandwidth)
    return bound_of([side], number[seen])


def _square_along(sides: Sequence[Side], part: np.ndarray) -> float:
    """Return the sum of the signed squared errors if each residual counts this many times."""
    return sum(side.sign * side.square(part * side.residual, side.bandwidth) for side in sides)


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


def _squares_of_units(sides: Sequence[Side], unit: np.ndarray, same: np.ndarray) -> float:
    """Return the sum over all pairs of units of the square of what they add; `same` is what each adds by itself.

    What units c and d add is sum r_i r_j k(v_i, v_j) over the rows i of c and j of d. Its square is a sum over pairs
    (i, i') of rows of c and (j, j') of d of (r_i r_i') (r_j r_j') k(v_i, v_j) k(v_i', v_j'): a sum over pairs of points
    (v_i, v_i') in the plane. A unit with many pairs of rows is smoothed over all rows instead.
    """
    rows = np.bincount(unit)
    large = rows.astype(np.float64) ** 2 * len(sides) * DIRECT > unit.size
    total = 0.0
    for c in np.flatnonzero(large):
        added = np.zeros(rows.size)
        for side in sides:
            smoothed = side.smoothed(np.where(unit == c, side.residual, 0.0))
            added += side.sign * np.bincount(unit, side.residual * smoothed, rows.size)
        added[c] = same[c]
        total += float((added**2 * np.where(large, 1.0, 2.0)).sum())
    first, second = _pairs_within(unit, ~large)
    if not first.size:
        return total
    for i, one in enumerate(sides):
        order = first[by_first := np.argsort(one.value[first], kind="stable")]
        partner = second[by_first]
        for j, other in enumerate(sides[: i + 1]):
            product = one.residual[order] * other.residual[partner]
            both = sum_over_pairs(product, one.value[order], other.value[partner], one.bandwidth)
            total += (1 if j == i else 2) * one.sign * other.sign * both
    return total


def _pairs_within(unit: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return all ordered pairs of rows of the same chosen unit, a row with itself included."""
    order = np.argsort(unit, kind="stable")
    rows = np.bincount(unit)
    begin = np.concatenate(([0], np.cumsum(rows)[:-1]))
    own = order[chosen[unit[order]]]
    partners = rows[unit[own]]
    place = np.arange(partners.sum()) - np.repeat(np.cumsum(partners) - partners, partners)
    return np.repeat(own, partners), order[np.repeat(begin[unit[own]], partners) + place]
