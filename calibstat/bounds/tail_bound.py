"""Upper bounds of sums that allow for their skewness and for events that were not observed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from calibstat.bounds.skewness import Sums
from calibstat.inner_product import inner

UNSEEN = 2.0  # events of the largest possible size that are added to what was observed
MANY_SHOW_IT = 30  # clusters with the rarer outcome, from which on no whole cluster of it is allowed for
_SPREAD_INTERVALS = 2000  # intervals of standard deviations in each of which the reach is bounded
ROOT_SLOPES = 2.0 ** (np.arange(16) / 2)  # of lines above the square root, over the tangent at its largest value
_LINE_SLOPES = 2.0 ** (np.arange(17) / 4)  # of lines, as multiples of the tangent's slope at the largest variance


@dataclass(frozen=True)
class TailBound:
    """The bound of a sum of independent parts, from its variance and its third moment: a score interval.

    The variance may grow by `rate` for every unit by which the true sum lies above the observed one. Without an event
    the rate is the size of an event, and the bound is Wilson's.

    Attributes
    ----------
    z : float
        The quantile of the standard normal distribution, or of Student's.
    largest : float
        The largest possible size of a part; of clusters, of all parts that may hide together.
    cap : float
        The largest rate.
    """

    z: float
    largest: float = 1.0
    cap: float = 1.0

    @classmethod
    def of_rows(cls, tail: float) -> Self:
        """Return the bound that is exceeded with probability `tail`, for rows whose parts are at most 1."""
        from scipy.special import ndtri

        return cls(float(ndtri(1 - tail)))

    @classmethod
    def of_units(cls, size: np.ndarray, tail: float, hides: np.ndarray | None = None) -> Self:
        """Return the bound for clusters of these sizes, whose rows may have an event together, or for rows of weights.

        The units that may hide have these sizes too, or the sizes `hides`.

        Statement and argument: docs/evidence/proofs/clusters.md.
        """
        z = _quantile_of_units(size, tail)
        k = events_at(z)
        hides = size if hides is None else hides
        return cls(z, hidden_together(hides, k) / k, float(hides.max()))

    @classmethod
    def like_observed(cls, size: np.ndarray, tail: float, largest: float = 1.0) -> Self:
        """Return the bound for clusters of these sizes, if one that was not observed adds at most `largest`.

        Statement and argument: docs/evidence/proofs/observed-clusters.md.
        """
        return cls(_quantile_of_units(size, tail), largest, largest)

    @property
    def k(self) -> float:
        """The expected number of events above which not to see one is too unlikely, about -log(tail)."""
        return events_at(self.z)

    def times(self, size: float) -> Self:
        """Return the bound for parts that are `size` times as large."""
        return replace(self, largest=self.largest * size, cap=self.cap * size)

    def rate(self, variance: Any, third: Any) -> Any:
        """Return the growth of the variance, given the variance and the third moment of sums, of any shape.

        Statement and argument: docs/evidence/proofs/score-bound.md.
        """
        squares, cubes = UNSEEN * self.largest**2, UNSEEN * self.largest**3
        if squares == 0:
            return np.zeros_like(variance)
        return np.minimum((np.maximum(third, 0) + cubes) / (variance + squares), self.cap)

    def spreads(self, variance: float, third: float) -> float:
        """Return how many standard deviations the reach is, with an event that was not observed in the variance too."""
        squares = variance + self.largest**2
        return float(self.widen(self.z, self.rate(variance, third) / np.sqrt(squares))) if squares > 0 else self.z

    def widen(self, excess: Any, rate: Any) -> Any:
        """Return how far the bound lies above the sum, where it would lie `excess` above it without skewness."""
        added = rate * self.k / 2
        return added + np.sqrt(excess**2 + added**2)

    def reach(self, variance: Any, third: Any) -> Any:
        """Return how far the bound lies above the sum, given its variance and third moment.

        Statement and argument: docs/evidence/proofs/score-bound.md.
        """
        variance = np.maximum(variance, 0)  # below 0 by rounding
        return self.widen(self.z * np.sqrt(variance), self.rate(variance, third))

    def of_either_sign(self, sums: Sums) -> float:
        """Return the larger one of the bounds of a sum and of the sum with the other sign."""
        return max(float(each.total + self.reach(each.variance, each.up)) for each in (sums, sums.negative))

    def lines(self, most: float, third: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the slopes and the heights of lines above the reach, as a function of the variance.

        Where a sum has a variance of at most v <= `most` and a third moment of at most `third`, its reach is at most
        height + slope * v for each of the lines. The reach increases with the rate, and the rate does not increase with
        the variance: on each short interval its two ends are used.

        Statement and argument: docs/evidence/proofs/smooth-ce.md.
        """
        spread = np.sqrt(max(most, 0.0)) * np.linspace(0, 1, _SPREAD_INTERVALS + 1)
        square = spread**2
        reach = np.maximum.accumulate(self.widen(self.z * spread[1:], self.rate(square[:-1], third)))
        slope = np.append(0.0, self.z / (2 * max(spread[-1], 1.0)) * _LINE_SLOPES)
        return slope, (reach - slope[:, None] * square[:-1]).max(axis=1)

    def skewness(self, variance: Any, third: Any) -> Any:
        """Return how much further the bound reaches than a normal sum's."""
        variance = np.maximum(variance, 0)
        return self.reach(variance, third) - self.z * np.sqrt(variance)


@dataclass(frozen=True)
class Allowance:
    """Lower allowance: how far a mean may lie below an estimate, the normal part and what skewness adds.

    Resamples do not know of rows that were not observed: where all of a group have the event, each resample has it too.
    And they reflect the skewness: of one rare event a resample may lose that one, but the next sample may hold four.
    """

    normal: float
    skewness: float

    @classmethod
    def of(cls, tail_bound: TailBound, variance: float, third: float, n: float) -> Self:
        """Return it for a sum over n rows with this variance and third moment."""
        normal = tail_bound.z * float(np.sqrt(max(variance, 0.0)))
        return cls(normal / n, float(tail_bound.skewness(variance, -third)) / n)

    @classmethod
    def of_rows(cls, row: np.ndarray, largest: float, tail: float) -> Self:
        """Return it for the sum of what rows add, each at most `largest`."""
        centred = row - row.mean()
        tail_bound = TailBound.of_rows(tail).times(largest)
        return cls.of(tail_bound, float((centred**2).sum()), float((centred**3).sum()), row.size)

    def extend(self, reach: float) -> float:
        """Return how far the low end lies below the estimate, where resamples say `reach`."""
        return max(reach, self.normal) + self.skewness


def events_at(z: Any) -> Any:
    """Return (2 z**2 + 4) / 3: exact Poisson limits behave as x + z sqrt(x) + (z**2 + 2) / 3 in the count x."""
    return (2 * z * z + 4) / 3


def share_of_whole_cluster(showing: int, clusters: int) -> float:
    """Return the part of a whole cluster of the rarer outcome that is allowed for, where few clusters show it."""
    return max(0.0, 1 - showing / MANY_SHOW_IT) * (1 - showing / clusters)


def _quantile_of_units(size: np.ndarray, tail: float) -> float:
    """Return Student's quantile for units of these sizes: with the degrees of freedom of a sum of their squares."""
    from scipy.special import stdtrit

    square = (size / size.max()) ** 2  # Satterthwaite 1946
    return float(stdtrit(max(square.sum() ** 2 / inner(square, square) - 1, 1.0), 1 - tail))


def hidden_together(size: np.ndarray, k: float) -> float:
    """Return the most rows that units of these sizes have on average which show no event with probability exp(-k).

    Each has a chance q of its own: the sum of q * size, subject to prod(1 - q) = exp(-k), is largest where
    size * (1 - q) is one number.

    Statement and argument: docs/evidence/proofs/clusters.md.
    """
    largest_first = -np.sort(-size)
    logs = np.cumsum(np.log(largest_first))
    below = np.exp((logs - k) / np.arange(1, logs.size + 1))  # the common number if so many clusters take part
    taking_part = int(np.count_nonzero(largest_first > below))
    return float((largest_first[:taking_part] - below[taking_part - 1]).sum())
