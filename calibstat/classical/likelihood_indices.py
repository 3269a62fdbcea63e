"""R² and the indices of discrimination and unreliability, which compare likelihoods of predictions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibstat.data.sample import Sample


@dataclass(frozen=True)
class LikelihoodIndices:
    """Gains of likelihood in n rows: of predictions over the mean outcome, and of Cox's line over predictions.

    Attributes
    ----------
    r2 : float
        Nagelkerke's R²: 0 for always predicting the mean outcome, 1 for perfect predictions, below 0 for worse ones.
    discrimination, unreliability : float
        (x - 1) / n and (x - k) / n, x twice the gain of log-likelihood in n rows: of the predictions over the mean
        outcome, and of Cox's line, of k coefficients, over the predictions.
    pvalue : float
        Of the likelihood-ratio test that the line is the diagonal.
    """

    r2: float
    discrimination: float
    unreliability: float
    pvalue: float

    @classmethod
    def of(cls, sample: Sample, intercept: float, slope: float) -> LikelihoodIndices:
        """Return the indices of predictions between 0 and 1 with Cox's intercept and slope, nan if there is no line.

        Predictions that are all equal tell no row from another: then R² is 0, D is -1 / n, and the line has an
        intercept alone. Where only one outcome was observed all are nan.
        """
        from scipy.special import chdtrc, logit, xlog1py, xlogy

        _, count, positives = sample.arrays
        n, events = float(count.sum()), float(positives.sum())
        if not 0 < events < n:
            return cls(math.nan, math.nan, math.nan, math.nan)
        at = logit(sample.value)

        def log_likelihood(eta: np.ndarray) -> float:
            return float(positives @ eta - count @ np.logaddexp(0, eta))

        of_mean = float(xlogy(events, events / n) + xlog1py(n - events, -events / n))
        of_predictions = log_likelihood(at)
        if at.size > 1:
            gained, coefficients = of_predictions - of_mean, 2
            of_line = math.nan if math.isnan(slope) else log_likelihood(intercept + slope * at)
        else:
            gained, coefficients, of_line = 0.0, 1, of_mean
        missed = float(np.maximum(2 * (of_line - of_predictions), 0.0))
        return cls(
            r2=float(np.expm1(-2 * gained / n) / np.expm1(2 * of_mean / n)),
            discrimination=(2 * gained - 1) / n,
            unreliability=(missed - coefficients) / n,
            pvalue=float(chdtrc(coefficients, missed)),
        )
