"""SmoothECE: the calibration error of residuals smoothed by a reflected Gaussian kernel."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.registry import FixedPointInterval, HonestRecipe, measure

REFERENCE = "Błasiok, Nakkiran 2023, Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing, arXiv:2309.12236"

STEPS = 1024  # own bandwidths are multiples of 1 / STEPS
NARROWEST = 2  # in steps: the smallest multiple above 0.001
ROUNDING = 1e-9  # in steps: a value this much above the bandwidth is equal to it
FIRST_GUESS = 20  # in steps: a few thousand rows of a calibrated model
# Rows are split once onto a grid of FINE intervals and from there onto the grid of each bandwidth. Splitting twice is
# splitting once where the grids nest, as for every bandwidth above 0.01; below, the value moves by less than 1e-6.
FINE = 16_000

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]  # where it is evaluated; smoothed residuals; smoothed rows


@jit
def _split(value, residual, count, intervals):  # type: ignore[no-untyped-def]
    """Share residual and count of each value between the two nearest points of a grid on [0, 1], so that means stay."""
    out = np.zeros((2, intervals + 1))
    for j in range(value.size):
        x = value[j] * intervals
        i = min(int(x), intervals - 1)
        upper = x - i
        out[0, i] += (1.0 - upper) * residual[j]
        out[0, i + 1] += upper * residual[j]
        out[1, i] += (1.0 - upper) * count[j]
        out[1, i + 1] += upper * count[j]
    return out


def _intervals(bandwidth: float) -> int:
    """Ten intervals a bandwidth, at least a thousand."""
    return max(2000, round(20 / bandwidth)) // 2


def _spectrum(grid: np.ndarray) -> np.ndarray:
    """Cosine transform on the circle of twice the length that reflection at 0 and 1 makes of the grid."""
    return np.fft.rfft(np.concatenate((grid, grid[..., -2:0:-1]), axis=-1)).real


@lru_cache(maxsize=64)
def _mesh(points: int) -> np.ndarray:
    """Return equally spaced points from 0 to 1; never written to."""
    return np.linspace(0, 1, points)


@lru_cache(maxsize=64)
def _kernel_spectrum(bandwidth: float, intervals: int) -> np.ndarray:
    """Cosine transform of the Gaussian density, cut off at distance 1/2."""
    distance = _mesh(intervals + 1)
    kernel = np.exp(-0.5 * (distance / bandwidth) ** 2) * (distance <= 0.5)
    return _spectrum(kernel / (np.sqrt(2 * np.pi) * bandwidth * intervals))


def _smooth(spectrum: np.ndarray, bandwidth: float) -> Curve:
    """Smooth the two grids of this spectrum and read them off a mesh of ten points a bandwidth, at least 200."""
    intervals = spectrum.shape[1] - 1
    smoothed = np.fft.irfft(spectrum * _kernel_spectrum(bandwidth, intervals), 2 * intervals)
    mesh = _mesh(max(round(10 / bandwidth), 200))
    residual, density = (np.interp(mesh, _mesh(intervals + 1), row[: intervals + 1]) for row in smoothed)
    return mesh, residual, density


def _norm(curve: Curve) -> float:
    """The integral of the absolute smoothed residual measure, over that of the smoothed rows."""
    return min(float(np.abs(curve[1]).sum() / curve[2].sum()), 1.0)  # above 1 by rounding only


def grid_intervals(bandwidth: float) -> int:
    """Return how many intervals the grid of a bandwidth has, at most the finest."""
    return min(_intervals(bandwidth), FINE)


def share_out(
    value: np.ndarray, residual: np.ndarray, count: np.ndarray, intervals: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return residuals and rows shared out to a grid."""
    shared = _split(value, residual, count, intervals)
    return shared[0], shared[1]


def smoothed(grid: np.ndarray, bandwidth: float) -> np.ndarray:
    """Smooth what is on a grid, over the last axis."""
    intervals = grid.shape[-1] - 1
    found = np.fft.irfft(_spectrum(grid) * _kernel_spectrum(bandwidth, intervals), 2 * intervals)
    return found[..., : intervals + 1]


def _at(bandwidth: float, value: np.ndarray, residual: np.ndarray, count: np.ndarray) -> tuple[float, Curve]:
    """Return the bandwidth and the curve there."""
    if not 1e-4 <= bandwidth <= 1:
        raise ValueError(f"expected bandwidth None or a number from 0.0001 to 1, found {bandwidth!r}")
    return bandwidth, _smooth(_spectrum(_split(value, residual, count, _intervals(bandwidth))), bandwidth)


def _at_fixed_point(value: np.ndarray, residual: np.ndarray, count: np.ndarray) -> tuple[float, Curve]:
    """Return the smallest bandwidth, in steps, that is at least the value there, and the curve there.

    The value does not increase with the bandwidth, so that the two cross once, where a bracket of too narrow and wide
    enough bandwidths closes. Guesses follow the secant through the last two points on logarithmic scales; halving
    takes over if they do not close it.
    """
    grid = _split(value, residual, count, FINE)
    spectra: dict[int, np.ndarray] = {}

    def curve_at(step: int) -> Curve:
        intervals = _intervals(step / STEPS)
        if intervals not in spectra:
            spectra[intervals] = _spectrum(_split(_mesh(FINE + 1), grid[0], grid[1], intervals))
        return _smooth(spectra[intervals], step / STEPS)

    narrow, wide, found = NARROWEST - 1, STEPS, None  # a bandwidth of 1 is always wide enough
    guess, slope, trials = FIRST_GUESS, -1 / 3, 0
    at = before = (0.0, 0.0)
    while wide - narrow > 1:
        curve = curve_at(guess)
        steps = max(_norm(curve) * STEPS, 1.0)
        if steps <= guess + ROUNDING:
            wide, found = guess, curve
        else:
            narrow = guess
        at, before, trials = (math.log(guess), math.log(steps)), at, trials + 1
        if trials > 1:
            slope = min((at[1] - before[1]) / (at[0] - before[0]), 0.0)
        guess = math.ceil(math.exp((at[1] - slope * at[0]) / (1 - slope))) if trials < 8 else (narrow + wide) // 2
        guess = min(max(guess, narrow + 1), wide - 1)
    return wide / STEPS, curve_at(wide) if found is None else found


def _solve(value: np.ndarray, count: np.ndarray, positives: np.ndarray, bandwidth: float | None) -> tuple[float, Curve]:
    residual = positives - count * value
    if bandwidth is None:
        return _at_fixed_point(value, residual, count)
    return _at(float(bandwidth), value, residual, count)


def smooth_ece_detail(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, bandwidth: float | None = None
) -> dict[str, Any]:
    """Return the bandwidth and, on a grid, the smoothed mean residual and the smoothed density of the predictions."""
    used, (mesh, residual, density) = _solve(value, count, positives, bandwidth)
    mean = np.divide(residual, density, out=np.zeros_like(residual), where=density > 0)
    return {"bandwidth": used, "grid": mesh.copy(), "residual": mean, "density": density / density.mean()}


def _honest_fixed_point(*, bandwidth: float | None = None) -> HonestRecipe | None:
    return FixedPointInterval(floor=4.0) if bandwidth is None else None


@measure(
    "smooth_ece",
    title="SmoothECE",
    formula=r"\int_0^1 \Bigl|\frac1n \sum_i (y_i - v_i)\,\tilde K_\sigma(t, v_i)\Bigr|\,dt,"
    r"\quad \sigma \text{ the smallest with this} \le \sigma",
    reference=REFERENCE,
    bounds=(0, 1),
    detail=smooth_ece_detail,
    honest=_honest_fixed_point,
    continuous=True,
    resolution=1 / STEPS,
    costly_above=100_000,
)
def smooth_ece(value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, bandwidth: float | None = None) -> float:
    """Return the L1 norm of the residuals smoothed by a Gaussian kernel that is reflected at 0 and 1.

    Option: `bandwidth`, None for the fixed point, the smallest multiple of 1/1024 above 0.001 that is at least the
    value at that bandwidth; or a number from 0.0001 to 1.

    Computed on a grid of ten intervals a bandwidth, at least 1000, as in the authors' package relplot, and equal to it
    to 1e-6, except where that grid has an odd number of intervals (at own bandwidths 3/1024 and 7/1024), because
    relplot's kernel then sits half an interval off centre. As in relplot, rows at exactly 0 and 1 weigh half, because a
    grid point that is its own reflection is counted once: many certain predictions make it differ from the formula.
    Cost: one sort of the rows, one pass, and a few Fourier
    transforms of the grid, which do not depend on the number of rows.
    """
    return _norm(_solve(value, count, positives, bandwidth)[1])
