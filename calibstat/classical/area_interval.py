"""DeLong's interval of the area under the ROC curve."""

from __future__ import annotations

import math

import numpy as np


def area_interval(
    count: np.ndarray, positives: np.ndarray, area: float, confidence_level: float
) -> tuple[float, float] | None:
    """Return the ends of the interval of the area, within 0 and 1; None where its variance is not known.

    `count` rows, `positives` of them events, are at ascending predictions. The variance of the area is estimated by
    the variances, over the events and over the other rows, of the share of rows of the other outcome that are on the
    right side of one. It is unknown with fewer than two of either, and where no row differs from the others of its
    outcome.
    """
    from scipy.special import ndtri

    negatives = count - positives
    events, others = float(positives.sum()), float(negatives.sum())
    if min(events, others) < 2:
        return None
    below = (np.cumsum(negatives) - negatives / 2) / others
    above = 1 - (np.cumsum(positives) - positives / 2) / events
    variance = float(positives @ (below - area) ** 2) / (events - 1) / events
    variance += float(negatives @ (above - area) ** 2) / (others - 1) / others
    if variance == 0:
        return None
    reach = float(ndtri((1 + confidence_level) / 2)) * math.sqrt(variance)
    return max(area - reach, 0.0), min(area + reach, 1.0)
