"""The honest interval of the gain by the best monotone recalibration.

The gain of a recalibration k is the mean of f = (y - v)**2 - (y - k(v))**2, and miscalibration is the largest gain. The
recalibration that is best in the population is a fixed one, and the estimate is at least its gain in the sample: the
largest bound of the gain of any recalibration holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import Interval, smallest, upper_quantile
from calibstat.bounds.isotonic_gain import largest_gain
from calibstat.bounds.residual_tables import RowTable
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.compiled import first_calls, jit
from calibstat.data.sample import Sample
from calibstat.inner_product import inner
from calibstat.resampling import Draws, Stream

_FINEST_GRID = 256  # intervals of the grid of recalibrated probabilities
GROWTH = 1.5  # of the largest part that a row may have, from one bound to the next
_GRID_HALVINGS = 8
_LOW_TOLERANCE = 1e-8  # tolerance of the low end, over the estimate: less than one event of 100,000,000 rows


@dataclass(frozen=True, eq=False)
class IsotonicInterval(Interval):
    """The largest gain of a recalibration, with bounds from what noise may add and what it may hide.

    Let G be the noise of the residuals / n, w the moves k(v) - v and w_0 those that are best in the population. Because
    the gain 2 <residual, w> - |w|**2 is largest at w_0, the estimate exceeds the true value by at most

        2 <G, w_0> + max over w of 2 <G, w - w_0> - |w - w_0|**2,

    where the maximum is what isotonic regression makes of the noise around k_0. It is the larger the more evenly k_0
    rises: it is taken around the predictions and around a rise from 0 to 1 that is the same for all rows.

    Resamples do not know of events that were not observed. The estimate exceeds the true value by at most what the
    gain of the sample's best recalibration exceeds its own mean, a sum to which `Allowance` adds what resamples lack.
    """

    estimate: float
    sample: Sample
    table: RowTable | None = None  # of rows with weights or in clusters

    @cached_property
    def share(self) -> np.ndarray:
        """The share of the rows at each prediction."""
        return self.sample.count / self.sample.n

    @cached_property
    def centres(self) -> tuple[np.ndarray, ...]:
        """Recalibrations around which noise is fitted."""
        return self.sample.value, np.cumsum(self.share) - self.share / 2

    @cached_property
    def best(self) -> np.ndarray:
        """The moves of the best recalibration of the sample."""
        return recalibrated(*self.sample.arrays) - self.sample.value

    @cached_property
    def residual(self) -> np.ndarray:
        """The residuals of the sample."""
        return self.sample.residual

    @cached_property
    def outcomes(self) -> tuple[np.ndarray, ...]:
        """The outcomes / n without noise at each prediction, where a centre is the best recalibration.

        Of each centre beyond the first they are given less the ones of the centre before.
        """
        outcomes = [self.share * centre for centre in self.centres]
        return outcomes[0], *(one - before for before, one in pairwise(outcomes))

    def directional(self, theta: np.ndarray) -> np.ndarray:
        """Return what noise adds at the best recalibration, and what isotonic regression makes of it."""
        if theta.ndim > 1:
            return np.array([self.directional(one) for one in theta])
        noise = theta - self.residual
        along = 2 * inner(self.best, noise)
        fitted = -np.inf
        for centre, more in zip(self.centres, self.outcomes, strict=True):
            noise += more  # in place: it is as long as the data
            fitted = max(fitted, largest_gain(centre, self.share, noise))
        return np.array([along, fitted])

    def resampled(self, draws: Draws) -> np.ndarray:
        if self.table is not None:
            return self.table.resampled(self.directional, draws)
        zeros = np.zeros(self.sample.value.size)  # no table is made, whose moments are as long as the data
        return resampling.residuals_of_pairs(self.sample, zeros, 1.0, self.directional, draws, Stream.ROWS)

    def below(self, tail: float) -> Allowance:
        """Return how far the gain of the sample's best recalibration may lie above its mean, given the predictions.

        Statement and argument: docs/evidence/proofs/mcb.md.
        """
        mean = self.sample.value + self.best  # of the outcomes
        deviation = 2 * self.best * np.array([-mean, 1 - mean])  # of the gain from its mean, if the outcome is 0, and 1
        tail_bound = self.tail_bound(tail).times(-deviation.min())
        if self.table is None:
            rows = np.array([self.sample.count - self.sample.positives, self.sample.positives])
            variance, third = (float((rows * deviation**power).sum()) for power in (2, 3))
        else:
            at = np.round(self.table.residual + self.table.prediction).astype(np.int64), self.table.cell
            weight = np.ones(self.table.n_rows) if self.table.sample_weight is None else self.table.sample_weight
            by_unit = np.bincount(self.table.units, weight * deviation[at])
            variance, third = (float((by_unit**power).sum()) for power in (2, 3))
        return Allowance.of(tail_bound, variance, third, self.sample.n)

    def tail_bound(self, tail: float) -> TailBound:
        """Return the bound of a sum over the rows, or over their clusters."""
        return TailBound.of_rows(tail) if self.table is None else TailBound.of_units(self.table.size, tail)

    def low(self, tail: float, draws: Draws) -> float:
        """Return the smallest t that the estimate exceeds by no more than noise: |w_0|**2 is at most the true value.

        Statement and argument: docs/evidence/proofs/mcb.md.
        """
        if self.estimate <= 0:
            return 0.0
        along, fitted = self.resampled(draws).T
        below = self.below(tail)

        def explained(t: float) -> bool:
            reach = upper_quantile(math.sqrt(t / self.estimate) * along + fitted, tail)
            return self.estimate - below.extend(reach) <= t

        return 0.0 if explained(0.0) else smallest(explained, 0.0, self.estimate, _LOW_TOLERANCE * self.estimate)

    def high(self, tail: float) -> float:
        """Return the largest bound of the gain of any recalibration.

        The square of what a cluster adds is at most its weight times the sum of weight times square over its rows
        (Cauchy and Schwarz): equal if all of its rows gain the same, and of a row by itself.

        Statement and argument: docs/evidence/proofs/mcb.md.
        """
        if self.table is None:
            return gain_bound(*self.sample.arrays, self.tail_bound(tail)) / self.sample.n
        table, cells = self.table, self.sample.value.size
        weight = np.ones(table.n_rows) if table.sample_weight is None else table.sample_weight
        square = weight * table.size[table.units]
        outcome = table.residual + table.prediction > 0.5
        of_1, of_0 = (np.bincount(table.cell[of], square[of], cells) for of in (outcome, ~outcome))
        return gain_bound(*self.sample.arrays, self.tail_bound(tail), (of_1, of_0)) / self.sample.n


def recalibrated(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the isotonic regression of the outcomes on the predictions, NaN at predictions that have no rows."""
    mean, stop = pooled(count, positives)
    stop[1:] -= stop[:-1].copy()  # sizes of blocks: np.diff with a first number takes longer than the regression
    fitted = np.repeat(mean, stop)
    fitted[count == 0] = np.nan
    return fitted


def pooled(count: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of isotonic regression, ascending, and at which prediction each stops; the last at the end."""
    mean, weight = np.empty((2, count.size))
    stop = np.empty(count.size, np.int64)
    blocks = _pool(count, positives, mean, weight, stop)
    return mean[:blocks], stop[:blocks]


def _pooled_in_arrays(
    count: np.ndarray, positives: np.ndarray, mean: np.ndarray, weight: np.ndarray, stop: np.ndarray
) -> int:
    from scipy.optimize import isotonic_regression

    held = np.flatnonzero(count)
    found = isotonic_regression(positives[held] / count[held], weights=count[held])
    blocks = int(found.weights.size)
    last = found.blocks[1:] - 1
    after = np.append(held[1:], count.size)  # what pools takes the predictions without rows that follow
    mean[:blocks], weight[:blocks] = found.x[last], found.weights
    stop[:blocks] = np.where(np.diff(found.blocks) > 1, after[last], held[last] + 1)
    stop[blocks - 1] = count.size
    return blocks


@first_calls(lambda count, *_: 1e-5 + 1e-8 * count.size, _pooled_in_arrays)
@jit
def _pool(count: np.ndarray, positives: np.ndarray, mean: np.ndarray, weight: np.ndarray, stop: np.ndarray) -> int:
    """Fill in mean, rows and end of each block, and return how many there are.

    Blocks are pooled in the order of scipy.optimize.isotonic_regression, so that all digits are the same.
    """
    m = count.size
    last = -1
    j = 0
    while j < m:
        if count[j] > 0.0:
            here, rows = positives[j] / count[j], count[j]
            if last >= 0 and mean[last] >= here:
                total = weight[last] * mean[last] + rows * here
                rows += weight[last]
                here = total / rows
                last -= 1
                while j < m - 1 and not (count[j + 1] > 0.0 and here < positives[j + 1] / count[j + 1]):
                    j += 1
                    if count[j] > 0.0:
                        total += count[j] * (positives[j] / count[j])
                        rows += count[j]
                        here = total / rows
                while last >= 0 and mean[last] >= here:
                    total += weight[last] * mean[last]
                    rows += weight[last]
                    here = total / rows
                    last -= 1
            last += 1
            mean[last], weight[last], stop[last] = here, rows, j + 1
        j += 1
    stop[last] = m
    return last + 1


def gain_bound(
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    tail_bound: TailBound,
    squares: tuple[np.ndarray, np.ndarray] | None = None,
) -> float:
    """Return the largest upper bound of the sum of f for any fixed recalibration.

    Recalibrations are rounded to a grid: the best one in the population loses at most the mean square of the rounding,
    because outcomes deviate from its values by 0 on average wherever it has one value. `squares` are what the square of
    f counts for outcomes 1 and 0 at each prediction, in the variance of the sum: by default the numbers of rows.

    Statement and argument: docs/evidence/proofs/mcb.md.
    """
    n = count.sum()
    intervals = int(min(max(4 * math.sqrt(n), 32), _FINEST_GRID))
    levels = np.minimum(GROWTH ** np.arange(math.ceil(math.log(intervals) / math.log(GROWTH)) + 1) / intervals, 1.0)
    negatives = count - positives
    of_1, of_0 = (positives, negatives) if squares is None else squares
    k = tail_bound.k * tail_bound.cap
    best = _highest(value, positives, negatives, of_1, of_0, intervals, levels, tail_bound.z, k)
    return max(best, 0.0) + n / (4.0 * intervals**2)


@jit
def _highest(
    value: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    square_positives: np.ndarray,
    square_negatives: np.ndarray,
    intervals: int,
    levels: np.ndarray,
    z: float,
    k: float,
) -> float:
    """Return the largest bound S + M k / 2 + sqrt(z**2 V + M**2 k**2 / 4) of any recalibration.

    S is the sum of f, V the sum of its squares, and M the largest positive f of any prediction and outcome; k is for a
    part of the largest weight. The root is
    at most slope * x + 1 / (4 slope) for every slope; the best slope is found by bisection.
    """
    most = square_positives.sum() + square_negatives.sum()
    grid = np.arange(intervals + 1) / intervals
    skew = (levels * k / (2.0 * z)) ** 2
    low = 1.0 / (2.0 * np.sqrt(most + skew))
    high = 1.0 / (2.0 * np.sqrt(skew))
    bound = np.full(levels.size, np.inf)
    halvings = np.zeros(levels.size, np.int64)
    i = 0
    while halvings[i] < _GRID_HALVINGS:  # of the level with the highest bound so far: most others stay below it
        slope = math.sqrt(low[i] * high[i])
        at_least = levels[i - 1] if i > 0 else -1.0
        counts = (positives, negatives, square_positives, square_negatives)
        total, squares = _best(value, *counts, grid, at_least, levels[i], z * slope)
        bound[i] = min(bound[i], total + levels[i] * k / 2.0 + z * slope * skew[i] + z / (4.0 * slope))
        halvings[i] += 1
        if squares + skew[i] > 1.0 / (4.0 * slope**2):
            high[i] = slope
        else:
            low[i] = slope
        i = int(np.argmax(bound))
    return float(bound[i])


@jit
def _best_of(total: np.ndarray, squares: np.ndarray, first: int, end: int) -> tuple[float, float]:
    """Return the largest total from `first` up to `end`, and its sum of squares; minus infinity and 0 if none is."""
    best, best_squares = -np.inf, 0.0
    for g in range(first, end):
        if total[g] > best:
            best, best_squares = total[g], squares[g]
    return best, best_squares


@jit
def _best(
    value: np.ndarray,
    positives: np.ndarray,
    negatives: np.ndarray,
    square_positives: np.ndarray,
    square_negatives: np.ndarray,
    grid: np.ndarray,
    at_least: float,
    at_most: float,
    slope: float,
) -> tuple[float, float]:
    """Return the largest sum of f + slope f**2 of a recalibration on the grid, and its sum of squares.

    Its largest possible f of any prediction and outcome is above `at_least` and not above `at_most`. Dynamic programme
    over the predictions: the best so far for each value of the last, without and with an f above `at_least`. Values
    with an f above `at_most` are below `first` or above `last`, which rise with the predictions.
    """
    below, above = np.full(grid.size, -np.inf), np.full(grid.size, -np.inf)
    below_squares, above_squares = np.zeros(grid.size), np.zeros(grid.size)
    below[0] = 0.0
    above[0] = 0.0 if at_least < 0.0 else -np.inf
    largest, squares, total = np.empty(grid.size), np.empty(grid.size), np.empty(grid.size)
    first = last = 0
    for j in range(value.size):
        v, no, yes = value[j], negatives[j], positives[j]
        square_no, square_yes = square_negatives[j], square_positives[j]
        before = first
        while (v - grid[first]) * (v + grid[first]) > at_most:
            first += 1
        a, a_squares = _best_of(below, below_squares, before, first)  # the best up to this value of the last
        b, b_squares = _best_of(above, above_squares, before, first)
        while last + 1 < grid.size and (v - grid[last + 1]) * (v + grid[last + 1] - 2.0) <= at_most:
            last += 1
        for g in range(first, last + 1):  # becomes vector code
            gain_0 = (v - grid[g]) * (v + grid[g])
            gain_1 = (v - grid[g]) * (v + grid[g] - 2.0)
            largest[g] = max(gain_0, gain_1)
            squares[g] = square_no * gain_0 * gain_0 + square_yes * gain_1 * gain_1
            total[g] = no * gain_0 + yes * gain_1 + slope * squares[g]
        for g in range(first, last + 1):  # without jumps: which value is better is hard to foresee
            x, x_squares = below[g], below_squares[g]
            better = x > a
            a = x if better else a
            a_squares = x_squares if better else a_squares
            x, x_squares = above[g], above_squares[g]
            better = x > b
            b = x if better else b
            b_squares = x_squares if better else b_squares
            outside = largest[g] > at_least
            from_a = outside and a > b
            below[g] = -np.inf if outside else a + total[g]
            below_squares[g] = a_squares + squares[g]
            above[g] = (a if from_a else b) + total[g]
            above_squares[g] = (a_squares if from_a else b_squares) + squares[g]
    best = first + int(np.argmax(above[first : last + 1]))
    return above[best], above_squares[best]
