"""The interval of the calibration error itself: binned at the low end, over all curves of a shape at the high end."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from calibstat.bounds.curves.curve_shapes import Shape
from calibstat.bounds.curves.least_bound import expected_sum, least
from calibstat.bounds.curves.noise_in_cells import Grid
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.bounds.curves.separate_cells import Cells
from calibstat.bounds.intervals import Interval
from calibstat.data.sample import Sample
from calibstat.resampling import Draws

COARSE_SEARCH, FINE_SEARCH = "coarse", "fine"
# levels of a curve per standard error of the rate of a run, at least and at most so many: to search, and to state
SEARCH_LEVELS = {COARSE_SEARCH: (4.0, 24, 130), FINE_SEARCH: (8.0, 48, 400)}


@dataclass(frozen=True, eq=False)
class CurveBound:
    """Upper bounds of the mean of |c(v) - v| ** power over all calibration curves c of a shape.

    Attributes
    ----------
    sample : Sample
        The rows.
    runs : Runs
        The runs in which residuals are summed.
    shape : Shape
        What is said of the curve.
    power : int
        1 or 2.
    """

    sample: Sample
    runs: Runs
    shape: Shape
    power: int
    known: dict[tuple[str, float, float], float] = field(default_factory=dict, repr=False)

    @cached_property
    def total(self) -> float:
        """The sum over the runs of the distances |S|, or S**2 / n."""
        sums = self.runs.sums(self.sample.positives - self.sample.count * self.sample.value)
        distance = np.abs(sums) if self.power == 1 else sums**2 / self.runs.rows
        return float(distance.sum())

    @cached_property
    def expected(self) -> float:
        """The mean of this sum of a calibrated model."""
        return expected_sum(self.runs, self.power)

    @cached_property
    def _cells(self) -> dict[str, Cells]:
        """The programme on both grids."""
        rows = float(np.median(self.runs.rows))
        grids = {name: Grid.of(rows, *levels) for name, levels in SEARCH_LEVELS.items()}
        return {name: self.shape.cells(self.runs, self.power, grid) for name, grid in grids.items()}

    def _largest(self, levels: str, theta: float, eta: float) -> float:
        key = levels, theta, eta
        if key not in self.known:
            self.known[key] = self._cells[levels].largest(theta, eta)
        return self.known[key]

    def end(self, exponent: float, total: float | None = None) -> float:
        """Return the least bound, where P(sum of distances) is at most exp(-exponent) by Chernoff's bound.

        A sum below its mean if calibrated counts as this mean. `total` stands for the sum of these rows.

        Statement and argument: docs/evidence/proofs/curve.md.
        """
        at_least = max(self.total if total is None else total, self.expected)

        def bound(levels: str) -> Callable[[float, float], float]:
            def of(theta: float, eta: float) -> float:
                hidden = theta * at_least + self._largest(levels, theta, eta) + exponent
                return hidden / -math.expm1(-eta) / self.sample.n

            return of

        variance = self.runs.rows * self.runs.mean * (1 - self.runs.mean)
        deviation = math.sqrt(max(float(variance.mean()), 1e-3))
        unit = deviation if self.power == 1 else max(float((self.runs.mean * (1 - self.runs.mean)).mean()), 1e-4)
        rates = least(bound(COARSE_SEARCH), unit, self.sample.n)
        found = min(bound(FINE_SEARCH)(*rates), 1.0)
        return found ** (1 / self.power)


@dataclass(frozen=True, eq=False)
class CurveInterval(Interval):
    """The low end of the error over the runs of the rows, and a high end of the error itself.

    Attributes
    ----------
    binned : Interval
        The interval of the error over the runs, which is never above the error itself.
    bound : CurveBound
        The bounds of the error itself.
    exponent : callable
        Of the runs, the power and the probability of a miss: the exponent of Chernoff's bound that counts.
    """

    binned: Interval
    bound: CurveBound
    exponent: Callable[[Runs, int, float], float]
    has_own_floor = True

    @cached_property
    def estimate(self) -> float:
        return self.binned.estimate

    @property
    def condition(self) -> str:
        return self.bound.shape.condition

    @cached_property
    def void(self) -> str:
        return self.bound.shape.rejection(self.bound.sample)

    @cached_property
    def proven(self) -> CurveInterval:
        return replace(self, exponent=proven_exponent)

    def high(self, tail: float) -> float:
        """Return the high end: 1 if the rows contradict the shape."""
        return 1.0 if self.void else self.bound.end(self._exponent(tail))

    def high_of_calibrated(self, tail: float) -> float:
        return self.bound.end(self._exponent(tail), self.bound.expected)

    def low(self, tail: float, draws: Draws) -> float:
        return self.binned.low(tail, draws)

    def _exponent(self, tail: float) -> float:
        return self.exponent(self.bound.runs, self.bound.power, tail)


def proven_exponent(runs: Runs, power: int, tail: float) -> float:
    """Return the exponent for which Chernoff's bound of a miss is `tail`.

    Statement and argument: docs/evidence/proofs/curve.md.
    """
    return -math.log(tail)


def studied_exponent(runs: Runs, power: int, tail: float) -> float:
    """Return the exponent of Chernoff's bound at the lower quantile `tail` of a gamma variable.

    Its shape is the number of runs, of squares half of it, where runs with less noise count less. The sum of distances
    is less skewed. Of many runs the exponent is half the square of the normal quantile.

    Statement and argument: docs/evidence/proofs/curve.md.
    """
    from scipy.special import gammaincinv

    variance = runs.mean * (1 - runs.mean)
    noise = np.sqrt(runs.rows * variance) if power == 1 else variance
    squares = float((noise**2).sum())
    shape = max(float(noise.sum()) ** 2 / squares if squares > 0 else 1.0, 1.0) / power
    quantile = float(gammaincinv(shape, tail))
    return min(quantile - shape + shape * math.log(shape / quantile), -math.log(tail))
