"""Confidence bands of the average outcome probabilities in bins: Clopper-Pearson for all, Wilson for each."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.mean_interval import interval_of_weighted_mean
from calibstat.bounds.number_of_events import smallest_mean
from calibstat.data.sample import WeightedRows
from calibstat.inference.bands.bands_of_clusters import bars_of_clusters
from calibstat.inference.bands.reliability_bands import Band, Bins
from calibstat.resampling import Draws


def simultaneous_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return limits that hold the average outcome probability of the rows of every bin at once.

    The bins are independent given the predictions, so each end may miss with probability (1 - level**(1/B)) / 2. Rows
    of a bin may have different probabilities: up to a miss of about a quarter the limits are the ones of Clopper and
    Pearson, except with a single event. Bins of rows in clusters are dependent, and may miss (1 - level) / (2 B).
    """
    if bins.clusters is not None:
        return bars_of_clusters(bins, bins.clusters, (1 - level) / (2 * bins.count.size))
    miss = (1 - level ** (1 / bins.count.size)) / 2
    if bins.sample.weighted is not None:
        return _of_weights(bins, bins.sample.weighted, miss)
    positives, rows = bins.positives, bins.count
    return Band(smallest_mean(positives, rows, miss), 1 - smallest_mean(rows - positives, rows, miss))


def pointwise_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return the interval of Wilson (1927) for the outcome probability of each bin."""
    if bins.clusters is not None:
        return bars_of_clusters(bins, bins.clusters, (1 - level) / 2)
    if bins.sample.weighted is not None:
        return _of_weights(bins, bins.sample.weighted, (1 - level) / 2)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(bins.positives, bins.count, alpha=1 - level, method="wilson")
    return Band(np.clip(low, 0, 1), np.clip(high, 0, 1))


def _of_weights(bins: Bins, sample: WeightedRows, miss: float) -> Band:
    """Return for each bin the score interval of its weighted share of outcome 1, each end of which may miss."""
    cell = bins.cell[sample.cell]
    rows = [slice(*np.searchsorted(cell, (b, b + 1))) for b in bins.full]
    ends = [interval_of_weighted_mean(sample.outcome[part], sample.weight[part], miss) for part in rows]
    low, high = np.clip(ends, 0, 1).T
    return Band(low, high)
