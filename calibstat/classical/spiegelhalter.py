"""Spiegelhalter's z test."""

from __future__ import annotations

import math
from typing import Unpack

from calibstat.classical.asymptotic_result import ASYMPTOTIC_PVALUE, AsymptoticTestResult
from calibstat.classical.binary_input import binary_input
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.lenses import AnyLens
from calibstat.data.sample import Sample
from calibstat.inference.designs.question_of_rows import question


@question()
def spiegelhalter(
    rows: Data,
    /,
    *,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> AsymptoticTestResult:
    """Test calibration by Spiegelhalter's z: whether the Brier score is the one expected from the predictions.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(1.5).sample(1000, rng=1)  # over-confident
        >>> result = cs.classical.spiegelhalter(y, p)
        >>> result.statistic > 3, result.pvalue < 0.01
        (True, True)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    AsymptoticTestResult
        Its statistic is z, above 0 if the Brier score is larger than expected.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), have real-valued weights, the lens has
        no binary outcome, or every prediction is 0, 1/2 or 1, where z is not defined.

    Notes
    -----
    Null hypothesis: given the predictions v, every outcome y is 1 independently with its predicted probability. Then z
    = Σ (y - v) (1 - 2v) / sqrt(Σ (1 - 2v)² v (1 - v)) is standard normal in the limit of many rows; the p-value is
    two-sided. Held-out rows only.

    It has power in one direction only: the weight 1 - 2v changes sign at 1/2, so that predictions that are all too high
    or all too low by the same amount leave z near 0 if they lie evenly about 1/2. `cox` finds such a shift. A
    prediction of 1/2 does not count at all, nor does the variance of one of 0 or 1. `calibration_test` has an exact
    p-value, for a statistic that sees more. Cost: one sort of the rows, then one pass.

    References
    ----------
    Spiegelhalter 1986, Probabilistic prediction in patient management and clinical trials, doi:10.1002/sim.4780050506.
    """
    seen, sample = binary_input(rows, "Spiegelhalter's test")
    z, pvalue = spiegelhalter_z(sample)
    if math.isnan(z):
        raise ValueError(
            "expected a prediction other than 0, 1/2 and 1 for Spiegelhalter's test, found none: z is 0 / 0"
        )
    return AsymptoticTestResult(
        statistic=z,
        pvalue=pvalue,
        method="Spiegelhalter's",
        null_hypothesis=seen.null.approximately(ASYMPTOTIC_PVALUE),
        measure="z",
        lens=seen.lens,
        n=int(sample.n),
    )


def spiegelhalter_z(sample: Sample) -> tuple[float, float]:
    """Return z and its p-value for counted rows, both nan if every prediction is 0, 1/2 or 1."""
    from scipy.special import ndtr

    value, count, positives = sample.arrays
    variance = float(count @ ((1 - 2 * value) ** 2 * value * (1 - value)))
    if variance == 0:
        return math.nan, math.nan
    z = float((positives - count * value) @ (1 - 2 * value)) / math.sqrt(variance)
    return z, float(2 * ndtr(-abs(z)))
