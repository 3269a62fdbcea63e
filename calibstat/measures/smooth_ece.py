"""SmoothECE: the L1 norm of residuals smoothed by a reflected Gaussian kernel."""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.bounds.intervals import Interval, smallest, upper_quantile
from calibstat.bounds.moments import Majorant, Moments
from calibstat.bounds.residual_tables import RowTable, SummaryTable, Table
from calibstat.bounds.skewness import Sums, signs
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.compiled import first_calls, jit, without_numba
from calibstat.data.checks import is_number
from calibstat.data.sample import Sample
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import measure
from calibstat.resampling import Draws
from calibstat.resampling.one_pass import OnePass, share

REFERENCE = "Błasiok, Nakkiran 2023, Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing, arXiv:2309.12236"

LEAST_WIDTH = 1e-3  # the least bandwidth at the fixed point
NEAR_POINT = 1e-9  # tolerance of the fixed point
CLOSE_END = 1e-5  # tolerance of the ends of an interval
FIRST_GUESS = 0.02  # typical for a few thousand rows of a calibrated model
# A Gaussian kernel that is reflected at 0 and 1 is the sum over m of the waves cos(pi m t) cos(pi m v), damped by
# exp(-(pi m bandwidth)**2 / 2), which is below 1e-13 beyond WAVES / bandwidth.
WAVES = 2.5
SPLIT_GRID = 8  # intervals of the grid onto which rows are split, for each of the narrowest bandwidths
FINELY = 64  # the same for a single given bandwidth
POINTS = 10  # points in a bandwidth at which the smoothed residuals are evaluated, at least
FEWEST = 2**10  # intervals of any grid
SMOOTHED = 64  # resamples that are smoothed together
SPARSE = 1e-9  # a density of predictions below which the mean residual would be rounding noise


def _split(value: np.ndarray, mass: np.ndarray, intervals: int) -> np.ndarray:
    """Share each mass between the two nearest points of a grid on [0, 1] and reflect it onto a circle of length 2."""
    circle = np.zeros(2 * intervals)
    _share_out(value, mass, circle)
    return circle


@first_calls(1e-6)
@jit
def _share_out(value: np.ndarray, mass: np.ndarray, out: np.ndarray) -> None:
    """Add to the points of the circle, which are 0 before."""
    intervals = out.size // 2
    for j in range(value.size):
        x = value[j] * intervals
        i = min(int(x), intervals - 1)
        upper = (x - i) * mass[j]
        out[i] += mass[j] - upper
        out[i + 1] += upper
    out[0] *= 2.0  # a mass at an end and its reflection are at one point
    out[intervals] *= 2.0
    for i in range(1, intervals):
        out[2 * intervals - i] = out[i]


def _power_of_two(least: float) -> int:
    return int(2 ** math.ceil(math.log2(least)))


def cosines(value: np.ndarray, mass: np.ndarray, narrowest: float, shared: int = SPLIT_GRID) -> np.ndarray:
    """Return sum_j mass_j cos(pi m v_j) for all waves m that matter at bandwidths of at least `narrowest`.

    Splitting masses onto a grid damps a wave by a known factor, which is undone.
    """
    return _waves(_split(value, mass, _intervals(narrowest, shared)), narrowest)


def _intervals(narrowest: float, shared: int) -> int:
    """Return the intervals of the grid onto which masses are split."""
    return _power_of_two(max(shared / narrowest, FEWEST))


def _waves(circle: np.ndarray, narrowest: float) -> np.ndarray:
    """Return the waves of masses on circles, along the last axis."""
    waves = math.ceil(WAVES / narrowest)
    coefficients = np.fft.rfft(circle).real[..., :waves]
    return np.asarray(coefficients / (2 * np.sinc(np.arange(waves) / circle.shape[-1]) ** 2))


def _points(bandwidth: float) -> int:
    """Return the intervals between the points at which smoothed residuals are evaluated."""
    return max(FEWEST, _power_of_two(POINTS / bandwidth))


def curve(cosines: np.ndarray, bandwidth: float | np.ndarray) -> np.ndarray:
    """Return the sum of the smoothed waves at equally spaced points from 0 to 1, along the last axis.

    There may be a bandwidth for each row of waves, all of as many points.
    """
    narrowest = float(np.min(bandwidth))
    points = _points(narrowest)
    wave = np.arange(min(math.ceil(WAVES / narrowest), cosines.shape[-1]))
    each = np.asarray(bandwidth)[..., None]
    damping = np.exp(-0.5 * (math.pi * each * wave) ** 2) * (wave < np.ceil(WAVES / each))
    return np.fft.irfft(cosines[..., : wave.size] * damping, 2 * points)[..., : points + 1] * (2 * points)


def _smoothed(circle: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return what is on the circle, smoothed, at its points from 0 to 1: of a constant function, the constant."""
    points = circle.size // 2
    damping = np.exp(-0.5 * (math.pi * bandwidth * np.arange(points + 1)) ** 2)
    return np.fft.irfft(np.fft.rfft(circle) * damping, circle.size)[: points + 1]


def _reflected(half: np.ndarray) -> np.ndarray:
    """Return the circle of which this is the half from 0 to 1, along the last axis."""
    return np.concatenate([half, half[..., -2:0:-1]], axis=-1)


def _integral_in_arrays(curve: np.ndarray) -> float:
    size, last = np.abs(curve), curve.size - 1
    cross = np.flatnonzero((curve[:-1] < 0.0) != (curve[1:] < 0.0))
    a, b = size[cross], size[cross + 1]
    kinks = (a + b) / 6.0 - a * b / (a + b)
    return float(0.5 * (size[0] + size[last]) + size[1:last].sum() + kinks.sum()) / last


@first_calls(5e-7)
@without_numba(_integral_in_arrays)
@jit
def integral(curve: np.ndarray) -> float:
    """Return the integral of the absolute curve over [0, 1].

    The trapezoidal rule, which is all but exact for a smooth curve that is flat at 0 and 1, with the term of Euler and
    Maclaurin for the kink of the absolute value where the curve crosses 0, by a line between two points.
    """
    last = curve.size - 1
    total = 0.5 * (abs(curve[0]) + abs(curve[last]))
    for i in range(1, last):
        total += abs(curve[i])
    for i in range(last):
        if (curve[i] < 0.0) != (curve[i + 1] < 0.0):
            a = abs(curve[i])
            b = abs(curve[i + 1])
            total += (a + b) / 6.0 - a * b / (a + b)
    return total / last


def _norm(curve: np.ndarray) -> float:
    return min(float(integral(curve)), 1.0)  # above 1 by rounding only


def _integrals(waves: np.ndarray, bandwidth: float | np.ndarray) -> np.ndarray:
    """Return the integral for each row of waves, at a bandwidth or at its own, as in `curve`."""
    return np.array([integral(smoothed) for smoothed in curve(waves, bandwidth)])


def _search() -> Generator[float, float]:
    """Give bandwidths to try, get the norm at each, and at last, at the bandwidth equal to the norm, give a nan.

    If the norm at the narrowest bandwidth is below it, that is the last one. The norm does not increase with the
    bandwidth, so that the two cross once. Guesses follow the secant through the last two points on logarithmic scales,
    within the bracket found so far; bisection takes over if they do not converge.
    """
    narrow, wide = 0.0, 2.0
    guess, slope, trials = FIRST_GUESS, -1 / 3, 0
    at = before = (0.0, 0.0)
    norm = yield guess
    while not (abs(norm - guess) <= NEAR_POINT or guess == LEAST_WIDTH > norm or wide - narrow <= NEAR_POINT):
        narrow, wide = (guess, wide) if norm > guess else (narrow, guess)
        at, before, trials = (math.log(guess), math.log(max(norm, NEAR_POINT))), at, trials + 1
        if trials > 1:
            slope = min((at[1] - before[1]) / (at[0] - before[0]), 0.0)
        guess = min(math.exp((at[1] - slope * at[0]) / (1 - slope)), 1.0)
        if trials > 12 or not narrow < guess < wide:
            guess = (narrow + wide) / 2
        guess = max(guess, LEAST_WIDTH)
        norm = yield guess
    yield math.nan


def _fixed_point(waves: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the bandwidth equal to the norm there, or the narrowest if the norm there is below it, and the curve."""
    search = _search()
    guess = next(search)
    while not math.isnan(guess):
        bandwidth, smoothed = guess, curve(waves, guess)
        guess = search.send(_norm(smoothed))
    return bandwidth, smoothed


def _fixed_points(waves: np.ndarray) -> np.ndarray:
    """Return the norm at the fixed point of each row of waves.

    Transforms of one length are made together, because a call takes as long as a short transform.
    """
    searches, norm = [_search() for _ in waves], np.empty(len(waves))
    guess = np.array([next(search) for search in searches])
    while (left := np.flatnonzero(~np.isnan(guess))).size:
        points = np.array([_points(each) for each in guess[left]])
        for rows in (left[points == alike] for alike in np.unique(points)):  # whose transforms have one length
            norm[rows] = np.minimum(_integrals(waves[rows], guess[rows]), 1.0)  # above 1 by rounding only
        guess[left] = [searches[b].send(float(norm[b])) for b in left]
    return norm


def _solve(value: np.ndarray, residual: np.ndarray, bandwidth: float | None) -> tuple[float, np.ndarray]:
    """Return the bandwidth and the curve there."""
    if bandwidth is None:
        return _fixed_point(cosines(value, residual, LEAST_WIDTH))
    return float(bandwidth), curve(cosines(value, residual, bandwidth, FINELY), bandwidth)


@dataclass(frozen=True, eq=False)
class WavesInOnePass(OnePass):
    """The waves of residuals at these predictions."""

    value: np.ndarray
    narrowest: float

    @property
    def size(self) -> int:
        return _intervals(self.narrowest, SPLIT_GRID) + 1

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        share(state, self.value[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        half = state.T.copy()
        half[:, [0, -1]] *= 2.0
        return _waves(_reflected(half), self.narrowest)


@dataclass(frozen=True, eq=False)
class SmoothInOnePass(WavesInOnePass):
    """The norm at the fixed point of residuals at these predictions.

    The state is long, but rows of ascending predictions touch a few neighbouring numbers of it at a time.
    """

    def result(self, state: np.ndarray) -> np.ndarray:
        return _fixed_points(super().result(state))


@dataclass(frozen=True, eq=False)
class SmoothInterval(Interval):
    """The norm at the bandwidth equal to it, with an interval by inversion.

    The norm at bandwidth t does not increase with t, so the value is at most t if and only if the norm at t is. So
    intervals for the norm at every t give one for the value.

    Attributes
    ----------
    estimate : float
        The measure.
    value : ndarray, shape (m,)
        The distinct predictions, ascending.
    table : Table
        What rows, or clusters, add at each prediction.
    """

    estimate: float
    value: np.ndarray
    table: Table

    @property
    def moments(self) -> Moments:
        """The moments of weighted sums of these."""
        return self.table.moments

    @property
    def narrowest(self) -> float:
        """The narrowest bandwidth at which norms are evaluated."""
        return max(self.estimate / 4, LEAST_WIDTH)

    def directional(self, theta: np.ndarray) -> np.ndarray:
        return cosines(self.value, theta, self.narrowest)

    def resampled(self, draws: Draws) -> np.ndarray:
        return self.table.in_one_pass(WavesInOnePass(self.value, self.narrowest), draws)

    @cached_property
    def majorant(self) -> Majorant:
        """Moments at each prediction that bound the moments of every sum, as if rows of a cluster were alike."""
        return self.moments.majorant()

    def high(self, tail: float) -> float:
        """Return the smallest bandwidth t found at which no bound is above t.

        The weights of wider bandwidths are among the weights of t, so that no bound is above t there either.
        """
        tail_bound, at = self.moments.tail_bound(tail), max(self.estimate, LEAST_WIDTH)
        return smallest(lambda t: self.upper_bound(t, tail_bound) / self.moments.n < t, at, 1.0, CLOSE_END)

    @cached_property
    def _waves(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """The waves of the sums of residuals, and of the third moments of each kind of rows."""
        return self.directional(self.majorant.total), [self.directional(third) for third in self.majorant.thirds]

    def upper_bound(self, bandwidth: float, tail_bound: TailBound) -> float:
        """Return a bound of the largest bound of the smoothed residuals' sum over signs in [-1, 1] at every point.

        Signs s make the weights w = smoothed s. The signs of the smoothed residuals h have the largest sum. To change
        them by a share d in [0, 2] takes d * |h| from the sum, and adds no more than 2 d (M 1 - s M s) to the sum of
        squares s' M s, where M smooths, multiplies by the squares and smooths again: M is nowhere negative. So each
        point decides for itself. The cube of a smoothed function up to 1 is one smoothed by the bandwidth over sqrt(3).

        Statement and argument: docs/evidence/proofs/smooth-ce.md.
        """
        first, thirds = self._waves
        h = curve(first, bandwidth)
        largest_third = sum(float(integral(curve(third, bandwidth / math.sqrt(3)))) for third in thirds)
        points = h.size - 1
        squares = _split(self.value, self.majorant.variance, points)
        sign = signs(h, self.moments.n)
        weight = _reflected(_smoothed(_reflected(sign), bandwidth))
        gain = points * (_smoothed(squares, bandwidth) - sign * _smoothed(squares * weight, bandwidth))
        slope, height = tail_bound.lines(float(self.majorant.variance.sum()), largest_third)
        at_signs = slope * float(squares @ weight**2) / 2 + height
        changed = 2 * np.maximum(2 * slope[:, None] * gain - np.abs(h), 0)
        return float(integral(h) + (at_signs + np.trapezoid(changed, dx=1 / points)).min())

    def low(self, tail: float, draws: Draws) -> float:
        """Return the smallest t that the norm at bandwidth t exceeds by no more than noise does."""
        at = max(self.estimate, LEAST_WIDTH)
        residual = self.directional(self.table.theta)
        noise, sums = self.resampled(draws) - residual, self.moments_at(at)
        central = self.moments.central_third(sums)
        below = Allowance.of(self.moments.tail_bound(tail), sums.variance, central, self.moments.n)

        def norm(bandwidth: float) -> float:
            return float(integral(curve(residual, bandwidth)))

        def explained(t: float) -> bool:
            bandwidth = max(t, self.narrowest)  # below it the norm there stands in, which is at most that at t
            parts = (noise[i : i + SMOOTHED] for i in range(0, len(noise), SMOOTHED))
            norms = np.concatenate([_integrals(part, bandwidth) for part in parts])
            return norm(bandwidth) - below.extend(upper_quantile(norms, tail)) <= t

        return 0.0 if explained(LEAST_WIDTH) else smallest(explained, LEAST_WIDTH, at, CLOSE_END)

    def moments_at(self, bandwidth: float) -> Sums:
        """Return the moments of the sum with the weights of the data."""
        h = curve(self._waves[0], bandwidth)
        weight = _smoothed(_reflected(signs(h, self.moments.n)), bandwidth)
        return self.moments.of(np.interp(self.value, np.linspace(0, 1, h.size), weight))


@measure(
    "smooth_ece",
    title="SmoothECE",
    formula=r"\int_0^1 \Bigl|\frac1n \sum_i (y_i - v_i)\,\tilde K_\sigma(t, v_i)\Bigr|\,dt,"
    r"\quad \sigma \text{ equal to this}",
    reference=REFERENCE,
    bounds=(0, 1),
    continuous=True,
    slow_above=100_000,
)
class SmoothECE(Statistic):
    """The L1 norm of the residuals smoothed by a Gaussian kernel that is reflected at 0 and 1.

    Option: `bandwidth`, None for the fixed point, the bandwidth of at least 0.001 that equals the value there, or 0.001
    where the value is less; or a number from 0.0001 to 1. The kernel is exp(-u²/2) over its integral, u =
    distance / bandwidth, summed over all reflections.

    The numerical error is below 1e-6 at the fixed point, and below 2e-4 of the value at a given bandwidth.
    The authors' package relplot gives too little weight to predictions within a bandwidth of 0 or 1: .034 instead of
    .050 if half of the rows are at 1 and wrong by .1; elsewhere the two agree to relplot's step of 1/1024. Cost: one
    sort of the rows, one pass, and a few Fourier transforms, which do not depend on the number of rows.
    """

    plugs_in = True

    bandwidth: float | None = None

    def check(self) -> None:
        if self.bandwidth is not None and not (is_number(self.bandwidth) and 1e-4 <= self.bandwidth <= 1):
            raise ValueError(f"expected bandwidth None or a number from 0.0001 to 1, found {self.bandwidth!r}")

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return _norm(_solve(value, (positives - count * value) / count.sum(), self.bandwidth)[1])

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass | None:
        return SmoothInOnePass(value, LEAST_WIDTH) if self.bandwidth is None else None

    @property
    def honest(self) -> Honest:
        return "own" if self.bandwidth is None else ""

    def interval(self, sample: Sample) -> Interval:
        return SmoothInterval(self.estimate(sample), sample.value, SummaryTable.of_sample(sample))

    def interval_by_rows(self, sample: Sample, table: RowTable) -> Interval:
        return SmoothInterval(self.estimate(sample), sample.value, table)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the bandwidth and, on a grid, the smoothed mean residual and the smoothed density of predictions."""
        n = count.sum()
        used, residual = _solve(value, (positives - count * value) / n, self.bandwidth)
        density = np.maximum(curve(cosines(value, count / n, used, FINELY), used), 0.0)  # below 0 by rounding only
        mean = np.divide(residual, density, out=np.zeros_like(residual), where=density > SPARSE)
        return {"bandwidth": used, "grid": np.linspace(0, 1, mean.size), "residual": mean, "density": density}
