"""Honest intervals: low ends that respect the bias of a norm near zero, high ends from one fixed weighted sum.

The constructions and why the usual ones fail are on the docs page "Intervals". mu_n is the residual measure of the
data, G* = mu* - mu_n its centred bootstrap, T = ||mu_n|| the estimate.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat import resampling
from calibstat.data.sample import Sample
from calibstat.inference.calibration_test import LABELS_STAGE, p_value
from calibstat.measures.registry import (
    BinnedInterval,
    BoundMeasure,
    FixedPointInterval,
    MeanInterval,
    WitnessInterval,
    cell_sums,
)

ROWS_STAGE = 2  # the stream from which every interval draws rows
MANY_CELLS = 100  # of which more
ROWS_IN_A_CELL = 3  # need so many rows each, or the truth is above the interval of an L1 error far too often
FEW_ROWS = 30  # below it a bin's observed variance is not trusted alone


def honest_interval(
    bound: BoundMeasure, sample: Sample, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[float, float]:
    """Return the ends of the honest interval, by the recipe that the measure names."""
    recipe = bound.honest
    if isinstance(recipe, MeanInterval):
        return mean_interval(bound, sample, alpha)
    if isinstance(recipe, BinnedInterval):
        low, high = binned_interval(bound, sample, alpha, n_resamples, key, n_jobs)
    elif isinstance(recipe, WitnessInterval):
        low, high = witness_interval(bound, sample, recipe, alpha, n_resamples, key, n_jobs)
    elif isinstance(recipe, FixedPointInterval):
        from calibstat.inference.honest_smooth import fixed_point_interval

        low, high = fixed_point_interval(bound, sample, recipe, alpha, n_resamples, key, n_jobs)
    else:
        raise AssertionError(f"{bound} has no honest interval")
    if low <= 0:
        return 0.0, high
    # The gate: a low end above 0 denies calibration, so the exact test has to deny it too.
    null = resampling.resample(bound, sample, "labels", n_resamples, key, LABELS_STAGE, n_jobs)
    gated = p_value(bound.statistic(*sample.arrays), null, "greater") > alpha / 2
    return (0.0 if gated else low), high


def witness_interval(
    bound: BoundMeasure,
    sample: Sample,
    recipe: WitnessInterval,
    alpha: float,
    n_resamples: int,
    key: np.uint64,
    n_jobs: int,
) -> tuple[float, float]:
    """Return the ends for a seminorm: numerical delta method below, one fixed witness above.

    The high end would cover if the standard deviation were that of the witness at the truth. It is that of the witness
    on the data, which may be another one where two nearly attain the norm, and it is itself estimated: near 0 where no
    event is seen. Where T is small the largest standard deviation that any witness has is used.
    """
    from scipy.special import ndtri

    residual = sample.residual
    estimate = bound.seminorm(sample.value, residual)
    witness = bound.part("witness", sample)

    def statistic(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[float, float]:
        step = (positives - count * value) / count.sum() - residual
        moved = bound.seminorm(value, residual + recipe.kappa * step)
        return (moved - estimate) / recipe.kappa, float(step @ witness)

    drawn = resampling.draw(sample, "rows", statistic, n_resamples, key, ROWS_STAGE, n_jobs)
    largest = float(np.sqrt(_squared_residuals(sample).sum()) / sample.n)
    spread = largest if estimate < recipe.floor * largest else float(drawn[:, 1].std())
    return estimate - upper_quantile(drawn[:, 0], alpha / 2), estimate + float(ndtri(1 - alpha / 2)) * spread


def binned_interval(
    bound: BoundMeasure, sample: Sample, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[float, float]:
    """Return the ends for an L1 error over bins: bias band below, spread inversion above."""
    from scipy.special import ndtri

    cell = bound.cells(sample.value, sample.count)
    count, residual, _ = cell_sums(cell, *sample.arrays)
    full = count > 0
    size, n = count.size, sample.n
    need_rows_in_cells(bound, int(n), int(full.sum()))
    variance = (np.bincount(cell, _squared_residuals(sample), size) / n - residual**2) / n
    model = np.bincount(cell, sample.count * sample.value * (1 - sample.value), size) / n**2
    variance = np.where(count < FEW_ROWS, np.maximum(variance, model), variance)
    gap, spread = np.abs(residual[full]), np.sqrt(np.maximum(variance[full], 0.0))
    estimate = float(gap.sum())
    drawn = resampling.resample(bound, sample, "rows", n_resamples, key, ROWS_STAGE, n_jobs)
    low = estimate - (upper_quantile(drawn, alpha / 2) - float(drawn.mean())) - largest_bias(gap, spread)
    return low, spread_inversion(estimate, gap, spread, float(ndtri(1 - alpha / 2)))


def need_rows_in_cells(bound: BoundMeasure, n: int, cells: int) -> None:
    """Raise where a sum over many cells of few rows would be taken for a sum of folded normals.

    One row is as far from its prediction as it can be, whatever the error of its cell.
    """
    if cells > MANY_CELLS and n < ROWS_IN_A_CELL * cells:
        raise ValueError(
            f"no honest interval is known for {bound} where most rows are alone in their cell: expected at least "
            f"{ROWS_IN_A_CELL} rows a cell on average in more than {MANY_CELLS} cells, found {n} rows in {cells}"
        )


def largest_bias(gap: np.ndarray, spread: np.ndarray) -> float:
    """Return how much the sum of absolute gaps may overstate the truth, each gap taken one spread nearer to zero."""
    noisy = spread > 0
    return float((spread[noisy] * folded_bias(np.maximum(gap[noisy] / spread[noisy] - 1, 0))).sum())


def folded_bias(t: np.ndarray) -> np.ndarray:
    """Return E|Z + t| - t for a standard normal Z and t >= 0."""
    from scipy.special import ndtr

    return 2 * np.exp(-t * t / 2) / np.sqrt(2 * np.pi) + t * (2 * ndtr(t) - 1) - t


def spread_inversion(estimate: float, gap: np.ndarray, spread: np.ndarray, z: float) -> float:
    """Return the largest sum of true gaps under which the estimate is not surprisingly small.

    The mean of a folded normal is convex in its centre, so for a given sum of true gaps the smallest estimate comes
    from equal standardised ones, each capped by what its bin allows (two spreads beyond the gap seen).
    """
    certain, noisy = gap[spread == 0].sum(), spread > 0
    gap, spread = gap[noisy], spread[noisy]
    if gap.size == 0:
        return float(certain)
    cap = gap / spread + 2

    def smallest_likely(tau: float) -> float:
        t = np.minimum(cap, tau)
        mean = folded_bias(t) + t
        return float(certain + spread @ mean - z * np.sqrt((spread**2 * (1 + t * t - mean * mean)).sum()))

    tau = bisect(smallest_likely, estimate, 0.0, float(cap.max()))
    return float(certain + spread @ np.minimum(cap, tau))


def bisect(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return the largest argument in [low, high] at which a non-decreasing function is not above the target."""
    if function(high) <= target:
        return high
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) <= target else (low, middle)
    return low


def mean_interval(bound: BoundMeasure, sample: Sample, alpha: float) -> tuple[float, float]:
    """Return mean -+ t s / sqrt(n) for a mean of per-row losses."""
    from scipy.special import stdtrit

    n = sample.n
    if n < 2:
        raise ValueError(f"expected at least 2 rows for an interval of {bound}, found {n}")
    loss = bound.detail(sample)
    negatives = sample.count - sample.positives
    mean = bound.statistic(*sample.arrays)
    squares = 0.0
    for rows, losses in ((sample.positives, loss["loss_positive"]), (negatives, loss["loss_negative"])):
        present = rows > 0  # a certain prediction that did not fail has an infinite loss on the side nobody saw
        squares += float(rows[present] @ (losses[present] - mean) ** 2)
    reach = float(stdtrit(n - 1, 1 - alpha / 2)) * np.sqrt(squares / (n - 1) / n)
    return mean - reach, mean + reach


def upper_quantile(drawn: np.ndarray, tail: float) -> float:
    """Return the quantile that the next draw exceeds with probability `tail`."""
    return float(np.quantile(drawn, 1 - tail, method="weibull"))


def _squared_residuals(sample: Sample) -> np.ndarray:
    """Sum of (y - v)**2 over the rows of each distinct prediction."""
    return sample.positives * (1 - sample.value) ** 2 + (sample.count - sample.positives) * sample.value**2
