"""Confidence band of an outcome probability that does not decrease with the prediction."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.curves.monotone_limits import monotone_limits
from calibstat.inference.bands.reliability_bands import Band, Bins, Steps
from calibstat.resampling import Draws


def monotone_confidence(bins: Bins, level: float, draws: Draws) -> Band:
    """Return the band that holds all of the curve P(Y = 1 | v), if it does not decrease, with this probability.

    The positives among n rows with predictions from u to v are stochastically between Binomial(n, P(Y = 1 | u)) and
    Binomial(n, P(Y = 1 | v)). So the lower Clopper-Pearson limit of any such interval of predictions holds for the
    curve from v on, and its upper limit up to u. The band is the best of the limits of a family of intervals chosen
    from the predictions alone, whose probabilities of a miss sum to 1 - level.
    """
    if bins.sample.weighted is not None:
        raise ValueError("expected rows without sample_weight for band='monotone', found rows with weights")
    limits = monotone_limits(bins.sample, 1 - level)
    first, last, cells = limits.first_value, limits.last_value, limits.low.size
    below = Steps(last, np.maximum.accumulate(limits.low), np.ones(cells))
    above = Steps(first, np.zeros(cells), np.minimum.accumulate(limits.high[::-1])[::-1])
    corner = np.unique(np.concatenate((first, last)))
    return Band(steps=Steps(corner, below.at(corner)[0], above.at(corner)[1]))
