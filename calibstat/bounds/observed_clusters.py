"""Intervals of means over clusters, if clusters that were not observed are about as extreme as those that were.

A cluster that was not observed adds at most as much to the sum as the most extreme one that was, and the gap between
the two most extreme; where few clusters show the rarer outcome, partly a whole cluster of it.

Statement and argument: docs/evidence/proofs/observed-clusters.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.bounds.tail_bound import events_at, hidden_together, share_of_whole_cluster
from calibstat.inner_product import inner
from calibstat.resampling import Draws

FULL_GAP = 30  # clusters from which on the whole gap between the two most extreme is added
FARTHEST = 1e9  # from where on an end is infinite
ROUNDING = 1e-14  # of the length of an interval
Reach = Callable[[float, float], float]  # of a variance and a third moment
FARTHEST_FACTOR = 1e4  # beyond which it is not asked how extreme unseen clusters would have to be


@dataclass(frozen=True, eq=False, kw_only=True)
class UnseenClusters:
    """The reach of a sum over clusters from its mean, if those that lack are about as extreme as those observed.

    Attributes
    ----------
    part : ndarray, shape (G,)
        What each cluster adds to the sum, at the estimate: these add up to 0.
    share : ndarray, shape (G,)
        The share of each in what the estimate is divided by.
    rows : ndarray, shape (G,)
        The number of rows of each, or the sum of their weights.
    showing : int
        Clusters that show the rarer outcome.
    room : tuple of float
        The most that a row that was not observed may add downwards, and upwards.
    factor : float
        How many times as extreme as the most extreme observed one a cluster that was not observed may be.
    """

    part: np.ndarray
    share: np.ndarray
    rows: np.ndarray
    showing: int
    room: tuple[float, float]
    factor: float = 1.0

    @cached_property
    def variance(self) -> float:
        """The variance of the sum at the estimate."""
        return self.unbiased * float((self.part**2).sum())

    @property
    def unbiased(self) -> float:
        """The factor that makes sums of squares of what clusters add unbiased for the variance."""
        return self.part.size / (self.part.size - 1)

    @cached_property
    def _fourth(self) -> float:
        """By how much the third moment grows for every standard deviation that the sum moves: its fourth cumulant."""
        if self.variance == 0:
            return 0.0
        square = self.part**2
        fourth = float((square**2).sum()) - 3 * float(square.sum()) ** 2 / self.part.size
        return max(fourth, 0.0) / math.sqrt(self.variance)

    @cached_property
    def left_out(self) -> np.ndarray:
        """By how much the sum would move without each cluster."""
        others = 1 - self.share
        return np.divide(self.part, others, out=np.zeros_like(self.part), where=others > 0)

    def most_extreme(self, sign: int) -> float:
        """Return the most that a cluster that was not observed adds, upwards (1) or downwards (-1)."""
        second, first = np.sort(sign * self.left_out)[-2:].tolist()
        gap = min(1.0, self.part.size / FULL_GAP) * (first - second)
        return self.factor * max(float(np.abs(self.left_out).max()), first + gap)

    @property
    def whole(self) -> float:
        """The part of a whole cluster of the rarer outcome that is allowed for, from 0 to 1."""
        return share_of_whole_cluster(self.showing, self.part.size)

    def reach(self, sign: int, tail: float) -> Reach:
        """Return a function of variance and third moment: how far the sum may lie above (1) or below (-1) its mean."""
        from scipy.special import stdtrit

        z = float(stdtrit(self.part.size - 1, 1 - tail))
        k = float(events_at(z))
        largest = cap = self.most_extreme(sign)
        if self.whole > 0:
            a_row = self.whole * self.room[sign > 0]
            largest = max(largest, a_row * hidden_together(self.rows, k) / k)
            cap = max(cap, a_row * float(self.rows.max()))
        plain, skewed = z * math.sqrt(self.variance), z * self._fourth

        def of(variance: float, third: float) -> float:
            squares = variance + largest**2
            rate = min((max(third + skewed, 0.0) + largest**3) / squares, cap) if squares > 0 else 0.0
            added = rate * k / 2
            return max(added + math.sqrt(z * z * max(variance, 0.0) + added * added), plain)

        return of


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterMean(Interval):
    """A mean over rows in clusters, or a ratio of two sums over clusters.

    A value is kept unless the sum of what clusters add beyond it is too large: the null hypothesis is imposed, so that
    clusters of very different sizes do not shorten the interval.

    Attributes
    ----------
    title : str
        What it is a mean of.
    total, size : ndarray, shape (G,)
        What each cluster adds to the numerator and to the denominator.
    least, most : float
        Between these lies the mean.
    unseen : UnseenClusters
        How far the sum may lie from its mean.
    stretch : float
        How many times as large the standard error is as that of independent clusters, such as under folds.
    """

    is_mean: ClassVar[bool] = True
    title: str
    total: np.ndarray
    size: np.ndarray
    least: float
    most: float
    is_bounded: bool
    unseen: UnseenClusters
    stretch: float = 1.0

    @classmethod
    def of(
        cls,
        title: str,
        total: np.ndarray,
        size: np.ndarray,
        showing: int,
        ends: tuple[float, float],
        is_bounded: bool = True,
    ) -> Self:
        """Return the mean of rows: what they add by cluster, their number or weight, and what a row may add."""
        mean = float(total.sum()) / float(size.sum())
        room = mean - ends[0], ends[1] - mean
        return cls._at(title, total, size, size, showing, room, ends, is_bounded)

    @classmethod
    def of_ratio(
        cls, title: str, total: np.ndarray, size: np.ndarray, rows: np.ndarray, showing: int, room: tuple[float, float]
    ) -> Self:
        """Return the ratio of two sums, added up by cluster with the rows of each.

        `room` is the most that a row that was not observed may add downwards, and upwards.
        """
        return cls._at(title, total, size, rows, showing, room, (0.0, np.inf), True)

    @classmethod
    def _at(
        cls,
        title: str,
        total: np.ndarray,
        size: np.ndarray,
        rows: np.ndarray,
        showing: int,
        room: tuple[float, float],
        ends: tuple[float, float],
        is_bounded: bool,
    ) -> Self:
        n = float(size.sum())
        part = total - size * (float(total.sum()) / n)
        unseen = UnseenClusters(part=part, share=size / n, rows=rows, showing=showing, room=room)
        return cls(
            title=title,
            total=total,
            size=size,
            least=ends[0],
            most=ends[1],
            is_bounded=is_bounded,
            unseen=unseen,
        )

    @cached_property
    def n(self) -> float:
        """The number of rows, or the sum of their weights, which the sum is divided by."""
        return float(self.size.sum())

    @cached_property
    def estimate(self) -> float:
        return float(self.total.sum()) / self.n

    @property
    def units(self) -> int:
        """The number of clusters."""
        return self.size.size

    @property
    def third(self) -> float:
        """The third moment of the sum at the estimate."""
        return self._moves[3]

    def high(self, tail: float) -> float:
        return self._end(1, self.most, tail)

    def low(self, tail: float, draws: Draws | None = None) -> float:
        return self._end(-1, self.least, tail)

    def plain(self, tail: float) -> tuple[float, float]:
        """Return the ends of Student's interval of clusters, without skewness and clusters that were not observed."""
        from scipy.special import stdtrit

        error = float(stdtrit(self.size.size - 1, 1 - tail)) * math.sqrt(self.unseen.variance) * self.stretch / self.n
        return self.estimate - error, self.estimate + error

    def with_moments(self, variance: float, third: float) -> Self:
        """Return the mean where the variance of the sum is another one, if larger; clusters stay as skewed."""
        known = self.unseen.variance
        return replace(self, stretch=math.sqrt(max(variance / known, 1.0)) if known > 0 else 1.0)

    def tipping_factor(self, tail: float, value: float = 0.0) -> float | None:
        """Return how many times as extreme as observed unseen clusters must be for an end to reach a value.

        None if the interval holds it anyway.
        """

        def leaves_out(factor: float) -> bool:
            other = replace(self, unseen=replace(self.unseen, factor=factor))
            return other.high(tail) < value if self.estimate < value else other.low(tail) > value

        if not leaves_out(1.0):
            return None
        low, high = 1.0, 2.0
        while high < FARTHEST_FACTOR and leaves_out(high):
            low, high = high, 2 * high
        for _ in range(20):  # a number of three digits is said
            middle = math.sqrt(low * high)
            low, high = (middle, high) if leaves_out(middle) else (low, middle)
        return low

    @cached_property
    def _moves(self) -> tuple[float, float, float, float, float, float, float]:
        """The sums of powers that variance and third moment follow from where the mean is another one."""
        x, m = self.unseen.part, self.size - self.n / self.size.size
        xx, mm = x * x, m * m
        return (
            inner(x, x),
            inner(x, m),
            inner(m, m),
            inner(xx, x),
            inner(xx, m),
            inner(x, mm),
            inner(mm, m),
        )

    def _end(self, sign: int, far: float, tail: float) -> float:
        """Return the end upwards (1) or downwards (-1), not beyond `far`: the last value that is kept."""
        if not np.isfinite(self.estimate) or (np.isinf(far) and not self.is_bounded):
            return far
        if self.size.size < 2:
            return far if self.is_bounded else sign * np.inf
        xx, xm, mm, xxx, xxm, xmm, mmm = self._moves
        reach, unbiased, middle = self.unseen.reach(sign, tail), self.unseen.unbiased, self.estimate

        def keeps(value: float) -> bool:
            d = middle - value
            variance = unbiased * (xx + d * (2 * xm + d * mm))
            third = sign * (xxx + d * (3 * xxm + d * (3 * xmm + d * mmm)))
            return self.n * abs(d) <= self.stretch * reach(variance, third)

        return last_kept(keeps, middle, far)


def last_kept(keeps: Callable[[float], bool], start: float, far: float, farthest: float = FARTHEST) -> float:
    """Return the last value on the way to `far` for which a condition holds, as it does at the start; `far` if there.

    An infinite end is one that is kept `farthest` away from 0.
    """
    inside, outside = start, far if math.isfinite(far) else math.copysign(farthest, far)
    if keeps(outside):  # asked first, because values in between may be left out, of a cluster with most of the rows
        return far
    while abs(outside - inside) > ROUNDING * abs(outside - start):
        middle = (inside + outside) / 2
        if middle in (inside, outside):
            break
        inside, outside = (middle, outside) if keeps(middle) else (inside, middle)
    return inside
