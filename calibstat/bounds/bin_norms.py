"""Honest intervals for Lp and maximum errors over bins, given the predictions of the rows.

The sum S of the residuals in a bin of n rows, whose mean prediction is v and whose expected gap is g, has mean n g and
at most the variance n q (1 - q) of n equal outcomes of probability q = v + g. So every possible gap brings its own
variance: none is estimated, and a bin without an event has one. docs/evidence/proofs has the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.bounds.absolute_norms import need_rows_in_cells
from calibstat.bounds.intervals import Interval, SeminormInterval
from calibstat.bounds.moments import Moments
from calibstat.bounds.norms import Norm
from calibstat.bounds.residual_tables import SummaryTable
from calibstat.bounds.tail_bound import TailBound, events_at
from calibstat.compiled import jit, without_numba
from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample
from calibstat.resampling import Draws

_COARSE_CHANCES = np.sin(np.linspace(0, np.pi / 2, 97)) ** 2  # probabilities that a bin may have, closer near 0 and 1
_FINE_CHANCES = np.linspace(0, 1, 128)  # and more of them around its prediction and its frequency
_STEEPNESS = 1.7 ** np.arange(14)  # of lines above the square root
_EVENT_SIZES = 1.4 ** -np.arange(40.0)[::-1]  # sizes of events, over the largest one
MULTIPLIERS = (1.0, 1.4, 2.0)  # the first is best for many events, the last for none
NO_SPREAD = 1e-300
CONDITION = ", given the predictions of these rows"


@dataclass(frozen=True, eq=False)
class FullBins:
    """Bins that hold rows: their numbers of rows, sums of residuals and mean predictions."""

    rows: np.ndarray
    total: np.ndarray
    prediction: np.ndarray

    @cached_property
    def chance(self) -> np.ndarray:
        """The probabilities that bins may have, shape (bins, points), ascending."""
        frequency = np.clip(self.prediction + self.total / self.rows, 0, 1)
        around = 4 * np.sqrt(frequency * (1 - frequency) / self.rows + 1 / self.rows**2)
        low = np.maximum(np.minimum(self.prediction, frequency) - around, 0)
        high = np.minimum(np.maximum(self.prediction, frequency) + around, 1)
        fine = low[:, None] + (high - low)[:, None] * _FINE_CHANCES
        return np.sort(np.concatenate([fine, np.tile(_COARSE_CHANCES, (self.rows.size, 1))], axis=1), axis=1)

    @cached_property
    def gap(self) -> np.ndarray:
        """The gaps that bins may have, of the same shape."""
        return self.chance - self.prediction[:, None]

    @cached_property
    def variance(self) -> np.ndarray:
        """The variances of the sums of residuals, of the same shape."""
        return self.rows[:, None] * self.chance * (1 - self.chance)

    def events(self, z: float) -> np.ndarray:
        """Return what events that a normal distribution leaves out add to the reach, of the same shape.

        Where outcomes that are rarer than their opposites make the gap smaller, an exact Poisson limit is above the
        mean by up to z sqrt(mean) + (z**2 + 2) / 6; where they make it larger, Wilson's limit holds from a level of .95
        on.
        """
        rare_against = (self.gap > 0) == (self.chance > 0.5)
        return np.where(rare_against, events_at(z) / 4, max(events_at(z) - z * z, 0.0))


def full_bins(title: str, cell: np.ndarray, sample: Sample) -> FullBins:
    """Return the cells of the predictions that hold rows; raise if most rows are alone in theirs."""
    count, residual, value = cell_sums(cell, *sample.arrays)
    full, n = count > 0, sample.n
    need_rows_in_cells(title, int(n), int(np.count_nonzero(full)))
    return FullBins(count[full], n * residual[full], n * value[full] / count[full])


def largest_gap(title: str, cell: np.ndarray, sample: Sample) -> LargestGapInterval:
    """Return the interval of the largest gap over cells of the predictions."""
    bins = full_bins(title, cell, sample)
    return LargestGapInterval(float(np.abs(bins.total / bins.rows).max()), bins)


def of_power(title: str, cell: np.ndarray, sample: Sample, power: float) -> SeminormInterval:
    """Return the interval of the Lp error over cells of the predictions."""
    bins, table = full_bins(title, cell, sample), SummaryTable.of_sample(sample, cell)
    count, residual = np.bincount(cell, sample.count), table.moments.total / table.moments.n
    share = np.where(count > 0, count / table.moments.n, 1.0)  # a cell without rows has none in resamples either
    return PowerInterval(PowerNorm(power, share, bins, residual, cell), table)


@dataclass(frozen=True, eq=False)
class PowerNorm(Norm):
    """The Lp error over cells with these shares of the rows; `residual` holds the sums of the data over n."""

    power: float
    share: np.ndarray
    bins: FullBins
    residual: np.ndarray
    cell: np.ndarray | None
    step = 3.0

    @cached_property
    def largest_weight(self) -> float:
        return max(float(np.abs(self.witness(self.residual)).max()), 1.0)

    def value(self, theta: np.ndarray) -> Any:
        return (self.share * np.abs(theta / self.share) ** self.power).sum(axis=-1) ** (1 / self.power)

    def witness(self, theta: np.ndarray) -> np.ndarray:
        value, gap = self.value(theta), theta / self.share
        if not value > 0:
            return np.zeros(gap.size)
        return np.sign(gap) * (np.abs(gap) / value) ** (self.power - 1)

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        return moments.n * (power_bound(self.bins, self.power, tail_bound.z) / moments.n) ** (1 / self.power)


class PowerInterval(SeminormInterval):
    """The interval of an Lp error. It takes the sums of residuals from the moments, not from the table."""

    norm: PowerNorm

    @property
    def theta(self) -> np.ndarray:
        return self.norm.residual


def power_bound(bins: FullBins, power: float, z: float) -> float:
    """Return an upper bound of T, the sum over bins of rows times abs(gap)**power.

    By convexity the observed sum is at least any tangent, power * abs(g)**(power - 1) * (S - n g) + n g**power.
    At the true gaps this is a sum with fixed weights, and T is at most its bound U. So T is at most the largest T(g) of
    all gaps g with T(g) <= U(g), and that at most the largest T(g) + m (U(g) - T(g)), for every multiplier m.

    Statement and argument: docs/evidence/proofs/binned-lp.md.
    """
    rows, total, size = bins.rows[:, None], bins.total[:, None], np.abs(bins.gap)
    weight, loss = power * size ** (power - 1), size**power
    excess = np.sign(bins.gap) * weight * total - power * rows * loss
    # the shares of the bins vary as well as the outcomes
    variance = weight**2 * bins.variance + rows * loss**2
    event = weight * bins.events(z)
    levels = _EVENT_SIZES * max(float(event.max()), NO_SPREAD)
    level = np.searchsorted(levels[:-1], event)
    steepness = _STEEPNESS / (2 * np.sqrt(max(float(variance.max(axis=1).sum()), NO_SPREAD)))
    room = np.full(levels.size, np.inf), np.empty((len(loss), levels.size)), np.empty(len(loss))
    return max(_highest(rows * loss, excess, variance, level, levels, steepness, z, *room), 0.0)


def _highest_in_arrays(
    loss: np.ndarray,
    excess: np.ndarray,
    variance: np.ndarray,
    level: np.ndarray,
    levels: np.ndarray,
    steepness: np.ndarray,
    z: float,
    value: np.ndarray,
    at: np.ndarray,
    best: np.ndarray,
) -> float:
    bin_of = np.arange(len(loss))[:, None]
    for multiplier in MULTIPLIERS:
        for slope in steepness:
            at[:] = -np.inf
            at[:, 0] = 0.0  # no gap
            np.maximum.at(at, (bin_of, level), loss + multiplier * (excess + z * slope * variance))
            upto = np.maximum.accumulate(at, axis=1)
            lost = (upto - at).min(axis=0)
            np.minimum(value, upto.sum(axis=0) - lost + multiplier * (z / (4 * slope) + levels), out=value)
            best[:] = upto[:, -1]
    return float(value.max())


@without_numba(_highest_in_arrays)
@jit
def _highest(
    loss: np.ndarray,
    excess: np.ndarray,
    variance: np.ndarray,
    level: np.ndarray,
    levels: np.ndarray,
    steepness: np.ndarray,
    z: float,
    value: np.ndarray,
    at: np.ndarray,
    best: np.ndarray,
) -> float:
    """Return the largest sum over bins of losses, plus a multiple of how far U is above it.

    U exceeds the sum of losses by the sum of `excess`, z times the root of the variance and the largest size of an
    event. The root is at most slope * variance + 1 / (4 slope) for every slope, so that each bin is best by itself. If
    the largest size belongs to a level, then some bin is at that level, and no bin is above it. `value`, of each level
    and infinite before, `at` and `best` are room for what is computed.
    """
    bins, points = loss.shape
    for multiplier in MULTIPLIERS:
        for slope in steepness:
            for b in range(bins):
                best[b] = -np.inf
                for i in range(levels.size):
                    at[b, i] = -np.inf
                at[b, 0] = 0.0  # no gap
                for j in range(points):
                    bound = loss[b, j] + multiplier * (excess[b, j] + z * slope * variance[b, j])
                    at[b, level[b, j]] = max(at[b, level[b, j]], bound)
            for i in range(levels.size):
                total = 0.0
                lost = np.inf
                for b in range(bins):
                    best[b] = max(best[b], at[b, i])
                    total += best[b]
                    lost = min(lost, best[b] - at[b, i])
                value[i] = min(value[i], total - lost + multiplier * (z / (4 * slope) + levels[i]))
    largest = value[0]
    for i in range(1, levels.size):
        largest = max(largest, value[i])
    return largest


@dataclass(frozen=True, eq=False)
class LargestGapInterval(Interval):
    """The largest absolute gap of a bin: the largest bound of any bin above, bounds that hold for all bins below."""

    estimate: float
    bins: FullBins

    def high(self, tail: float) -> float:
        """Return the largest gap of any bin that its sum does not fall short of: the worst bin is a fixed one.

        Statement and argument: docs/evidence/proofs/binned-lp.md.
        """
        z = _quantile(tail)
        short = np.sign(self.bins.gap) * -self._excess - self.bins.events(z)
        low, high = self._ends(short <= z * self._spread)
        return float(np.maximum(np.abs(low), np.abs(high)).max())

    def low(self, tail: float, draws: Draws | None = None) -> float:
        """Return the largest of the smallest gaps that sums do not exceed in either direction, at a level for all.

        Statement and argument: docs/evidence/proofs/binned-lp.md.
        """
        z = _quantile(tail / (2 * self.bins.rows.size))
        low, high = self._ends(np.abs(self._excess) - events_at(z) / 4 <= z * self._spread)
        return float(np.maximum(np.maximum(low, -high), 0).max())

    @cached_property
    def _excess(self) -> np.ndarray:
        return self.bins.total[:, None] - self.bins.rows[:, None] * self.bins.gap

    @cached_property
    def _spread(self) -> np.ndarray:
        return np.sqrt(self.bins.variance)

    def _ends(self, possible: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the range of possible gaps of each bin, rounded outwards to the grid."""
        nearest = np.argmin(np.abs(self._excess), axis=1)
        bins, last = np.arange(nearest.size), self.bins.chance.shape[1] - 1
        first = np.minimum(possible.argmax(axis=1), nearest)
        end = np.maximum(last - possible[:, ::-1].argmax(axis=1), nearest)
        none = ~possible.any(axis=1)  # only of so many rows that the range lies between two points
        first, end = np.where(none, nearest, first), np.where(none, nearest, end)
        return self.bins.gap[bins, np.maximum(first - 1, 0)], self.bins.gap[bins, np.minimum(end + 1, last)]


def _quantile(tail: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(1 - tail))
