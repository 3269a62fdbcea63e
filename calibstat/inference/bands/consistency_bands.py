"""Consistency bands: where the frequencies of all bins, and the CORP curve, of a calibrated model lie."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from calibstat import resampling
from calibstat.bounds.isotonic_interval import pooled
from calibstat.inference.bands.bands_of_clusters import bins_of_few_events, curves_of_clusters, in_bins
from calibstat.inference.bands.reliability_bands import Band, Bins, Steps
from calibstat.resampling import Consistency, Draws, Stream, in_cells
from calibstat.resampling.poisson_binomial import pmf_of_many_positives

PLACES = 50  # distinct predictions that all have a place in the band of the CORP curve; of more, twice as many have
FEWEST = 99  # resamples of the CORP curve, however many the rows
FIT_BUDGET = 2e7  # predictions in all isotonic regressions: of more, fewer resamples
TIE = 1e-9  # tails whose relative difference is smaller, such as tails of mirrored bins, differ by rounding alone


def simultaneous_consistency(bins: Bins, level: float, draws: Draws) -> Band:
    """Return the bands that all frequencies, and all of the CORP curve, keep to with this probability if calibrated.

    Of rows in clusters each is the widest of the bands by independent labels, by signs of clusters and, in bins of few
    events, by labels that clusters share: calibration does not say how the outcomes of a cluster depend on each other.
    """
    with_weights = bins.sample.weighted is not None
    low, high = _frequencies_by_draws(bins, level, draws) if with_weights else _frequencies_if_calibrated(bins, level)
    few = None if bins.clusters is None else bins_of_few_events(bins, bins.clusters)
    if few is not None:
        low, high = _widened_by_clusters(bins, few, level, draws, low, high)
    steps, drawn = _corp_if_calibrated(bins, few, level, draws)
    return Band(low, high, steps, drawn)


def _widened_by_clusters(
    bins: Bins, few: np.ndarray, level: float, draws: Draws, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Widen the band of the frequencies of independent rows to the ones of rows in clusters."""
    assert bins.clusters is not None
    need_draws(level, draws)
    scale = bins.sample.count.sum() / bins.count

    def frequencies(theta: np.ndarray) -> np.ndarray:
        return np.asarray(bins.mean + theta[..., bins.full] * scale)

    drawn = curves_of_clusters(in_bins(bins, bins.clusters), frequencies, few, draws)
    low, high = _widest(low, high, drawn, bins.frequency, level, bins.sample.n)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _widest(
    low: np.ndarray,
    high: np.ndarray,
    curves: Iterable[tuple[np.ndarray, np.ndarray]],
    observed: np.ndarray,
    level: float,
    n: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return a band that also holds the band of each way to draw curves, where that way counts."""
    for drawn, where in curves:
        below, above = _envelope(drawn, observed, level, n)  # of all places, or these would miss as often as all
        low, high = np.where(where, np.minimum(low, below), low), np.where(where, np.maximum(high, above), high)
    return low, high


def need_draws(level: float, draws: Draws) -> int:
    """Return the least number of resamples of which the largest distance is rare enough; raise if there are fewer."""
    fewest = int(np.ceil(1 / (1 - level) - 1e-9)) - 1
    if draws.n < fewest:
        raise ValueError(f"expected n_resamples of at least {fewest} for a band of {level:g}, found {draws.n}")
    return fewest


def _frequencies_if_calibrated(bins: Bins, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the frequencies of each bin that are not in a tail, for the largest tails that keep the level.

    Given the predictions, the numbers of positives of the bins are independent and of known (Poisson-binomial)
    distributions, so the probability that none is in its tails is a product and the largest common tail is exact.
    """
    cell, chance, rows = bins.null_outcomes()
    ends = np.append(np.searchsorted(cell, bins.full), cell.size)
    pmfs = [pmf_of_many_positives(chance[i:j], rows[i:j]) for i, j in pairwise(ends)]
    pmf = np.concatenate([mass for _, mass in pmfs])
    tail = np.concatenate([np.minimum(mass.cumsum(), mass[::-1].cumsum()[::-1]) for _, mass in pmfs])
    positives = np.concatenate([least + np.arange(mass.size) for least, mass in pmfs])
    size = np.array([mass.size for _, mass in pmfs])
    start = size.cumsum() - size

    def in_tails(largest: float) -> np.ndarray:
        return tail <= largest * (1 + TIE)

    def keeps(largest: float) -> bool:
        outside = np.add.reduceat(np.where(in_tails(largest), pmf, 0.0), start)
        return bool(np.prod(1 - outside) >= level)

    possible = np.append(0.0, np.unique(tail[tail <= 1 - level]))
    good, bad = 0, possible.size
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if keeps(possible[middle]) else (good, middle)
    out = in_tails(possible[good])
    low = np.minimum.reduceat(np.where(out, np.inf, positives), start)
    high = np.maximum.reduceat(np.where(out, -np.inf, positives), start)
    return low / bins.count, high / bins.count


def _frequencies_by_draws(bins: Bins, level: float, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Return the band that all frequencies of rows with weights keep to, whose distributions are not known."""
    need_draws(level, draws)

    def frequencies(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.asarray((residual + value)[..., bins.full] * bins.sample.n / bins.count)

    drawn = resampling.draw(in_cells(bins.sample, bins.cell), bins.outcomes, frequencies, draws, Stream.BARS)
    low, high = _envelope(drawn, bins.frequency, level, bins.sample.n)
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


def _envelope(drawn: np.ndarray, observed: np.ndarray, level: float, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the band around the middle of curves, shape (B, places), that one more leaves with probability 1 - level.

    Outcomes drawn from the predictions are exchangeable with a calibrated model's outcomes, so the rank of the data
    among the draws, by the largest distance from the middle of all curves, is uniform for any number of draws.
    """
    tail = (1 - level) / 2
    low, middle, high = np.quantile(np.vstack((drawn, observed)), (tail, 0.5, 1 - tail), axis=0)
    above, below = high - middle + 1 / n, middle - low + 1 / n
    distance = np.where(drawn >= middle, (drawn - middle) / above, (middle - drawn) / below).max(axis=1)
    distance.sort()
    reach = distance[int(np.ceil(level * (len(drawn) + 1) - 1e-9)) - 1]
    return middle - reach * below, middle + reach * above


def _corp_if_calibrated(bins: Bins, few: np.ndarray | None, level: float, draws: Draws) -> tuple[Steps, int]:
    """Return the band that the whole CORP curve keeps to with this probability if calibrated, and its resamples.

    Of rows in clusters, `few` tells of each bin whether it has few events.
    """
    sample, value = bins.sample, bins.sample.value
    affordable = max(FEWEST, need_draws(level, draws), int(FIT_BUDGET / value.size))
    draws = replace(draws, n=min(draws.n, affordable))
    index = np.arange(value.size)
    if value.size > PLACES:
        of_rank = np.linspace(0, value.size - 1, PLACES + 1).round().astype(np.int64)
        of_range = np.searchsorted(value, np.linspace(value[0], value[-1], PLACES))
        index = np.union1d(of_rank, of_range)

    def curve(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
        mean, stop = pooled(count, positives)  # every prediction has rows
        return mean[stop.searchsorted(index, "right")]

    drawn = resampling.draw(sample, bins.outcomes, curve, draws, Stream.BARS)
    observed = curve(*sample.arrays)
    low, high = _envelope(drawn, observed, level, sample.n)
    if bins.clusters is not None and few is not None:

        def of_sums(theta: np.ndarray) -> np.ndarray:
            positives = (value + theta * (sample.count.sum() / sample.count)) * sample.count
            curves = [curve(value, sample.count, one) for one in np.atleast_2d(positives)]
            return np.array(curves if theta.ndim > 1 else curves[0])

        at = few[np.searchsorted(bins.full, bins.cell[index])]
        low, high = _widest(low, high, curves_of_clusters(bins.clusters, of_sums, at, draws), observed, level, sample.n)
    # a curve that does not decrease and keeps to both lines at all places keeps to these too
    lower = np.maximum.accumulate(np.clip(low, 0, 1))
    upper = np.minimum.accumulate(np.clip(high, 0, 1)[::-1])[::-1]
    return Steps(value[index], lower, upper), draws.n


def pointwise_consistency(bins: Bins, level: float, draws: Draws) -> Band:
    """Return percentiles of frequency minus mean prediction in each bin if calibrated, put around the observed mean."""
    fewest = max(20, int(np.ceil(2 / (1 - level) - 1e-9)))
    if draws.n < fewest:
        raise ValueError(f"expected n_resamples of at least {fewest} for bars of {level:g}, found {draws.n}")

    def deviations(count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        count, residual = count[..., bins.full], residual[..., bins.full]
        deviation = np.full(count.shape, np.nan)
        np.divide(residual * bins.sample.n, count, out=deviation, where=count > 0)
        return deviation

    source = in_cells(bins.sample, bins.cell)
    deviation = resampling.draw(source, Consistency(), deviations, draws, Stream.BARS)
    deviation.sort(axis=0)  # not-a-numbers, the empty bins, go last
    used = np.count_nonzero(np.isfinite(deviation), axis=0)

    def percentile(q: float) -> np.ndarray:
        rank = np.maximum(np.ceil(q * used - 1e-9).astype(int), 1)
        return deviation[rank - 1, np.arange(used.size)]

    tail = (1 - level) / 2
    low, high = (np.clip(bins.mean + percentile(q), 0, 1) for q in (tail, 1 - tail))
    return Band(low, high, n_resamples=draws.n)


def binomial_bars(bins: Bins, level: float, draws: Draws) -> Band:
    """Return for each bin the quantiles of a binomial share whose chance is the mean one of the rows.

    Rows of a bin with different chances make the share less variable, so the bars are if anything too wide (Hoeffding
    1956).
    """
    if bins.sample.weighted is not None:
        raise ValueError("expected rows without sample_weight for band='binomial', found rows with weights")
    from scipy.stats import binom

    tail, expected = (1 - level) / 2, bins.expected
    low, high = binom.ppf(tail, bins.count, expected), binom.isf(tail, bins.count, expected)
    return Band(np.maximum(low, 0) / bins.count, np.maximum(high, 0) / bins.count)
