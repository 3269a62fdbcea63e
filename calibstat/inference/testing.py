"""Is it calibrated: tests of perfect calibration by resampling."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.measures.registry import find_measure
from calibstat.results import CalibrationTestResult, read_only
from calibstat.sample import as_sample, need_counts

LENS = "event: outcome 1"
NULL = {
    "labels": "given the predictions, every outcome is 1 independently with its predicted probability (exact).",
    "both": "predictions are an independent sample and every outcome is 1 with its predicted probability "
    "(approximate: too small a p-value is likely where bins hold few rows).",
}


def calibration_test(
    y_true: Any,
    y_prob: Any = None,
    *,
    measure: str = "ece",
    resample: str = "labels",
    n_resamples: int = 999,
    rng: Any = None,
    n_jobs: int = 1,
    labels: Any = None,
    **options: Any,
) -> CalibrationTestResult:
    """Test that the predictions are perfectly calibrated.

    Parameters
    ----------
    y_true : array_like, shape (n,), or Sample
        Outcomes, 0 or 1; or a `Sample`, and then no `y_prob`.
    y_prob : array_like, shape (n,) or (n, 2)
        Predicted probability of outcome 1, in [0, 1].
    measure : str
        The statistic, a name in `calibstat.MEASURES`.
    resample : {"labels", "both"}
        "labels" keeps the predictions and draws outcomes from them: exact for every n, statistic and set of
        predictions. "both" also draws rows with replacement, the consistency resampling of the literature: only
        approximate, and too liberal where bins hold few rows.
    n_resamples : int
        Number of resamples, at least 1.
    rng : None, int, SeedSequence or Generator
        Where randomness comes from; the same int gives the same numbers on any number of threads.
    n_jobs : int
        Threads; -1 for one a core.
    labels : sequence of two, optional
        The values in `y_true` that mean outcome 0 and outcome 1.
    **options
        Options of the measure.

    Returns
    -------
    CalibrationTestResult

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), have real-valued weights, or an argument
        is unknown.

    Notes
    -----
    Null hypothesis: given the predictions, every outcome is 1 independently with its predicted probability.
    The p-value is (1 + number of resamples at least as extreme) / (1 + n_resamples), ties counted against the null
    up to rounding; so P(p <= a) <= a for every a under "labels". Two-sided measures double the smaller tail.
    A large p-value says that these outcomes are compatible with the predictions as far as this statistic can see. It
    is not evidence that the model is calibrated. Predictions fitted or chosen on the same rows make it too large;
    repeated measurements of one subject break the independence it rests on.
    Cost: one sort and `n_resamples` evaluations of the measure; for a binned measure under "labels" the exact law of
    each bin instead, O(n**1.5), and one draw from it for each resample and bin.

    References
    ----------
    Bröcker, Smith 2007, doi:10.1175/WAF993.1; Vaicenavicius et al. 2019, arXiv:1902.06977.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [500, 500], [130, 340])
    >>> found = cs.calibration_test(sample, rng=1)
    >>> round(found.statistic, 3), found.pvalue < 0.01
    (0.04, False)
    """
    bound = find_measure(measure, options)
    if resample not in NULL:
        raise ValueError(f"expected resample 'labels' or 'both', found {resample!r}")
    resampling.check_resamples(n_resamples, n_jobs)
    sample = as_sample(y_true, y_prob, labels=labels)
    need_counts(sample, "calibration_test")
    statistic = bound.statistic(*sample.arrays)
    null = resampling.resample(bound, sample, resample, n_resamples, resampling.key_of(rng), LABELS_STAGE, n_jobs)
    pvalue = p_value(statistic, null, bound.measure.tail)
    return CalibrationTestResult(
        statistic=statistic,
        pvalue=pvalue,
        pvalue_error=float(np.sqrt(pvalue * (1 - pvalue) / n_resamples)),
        null_distribution=read_only(null),
        null_hypothesis=NULL[resample],
        measure=str(bound),
        lens=LENS,
        tail=bound.measure.tail,
        resample=resample,
        n=int(sample.n),
        n_resamples=n_resamples,
    )


LABELS_STAGE = 1  # streams of the test; intervals draw rows at stage 2


def p_value(statistic: float, null: np.ndarray, tail: str) -> float:
    """Return (1 + #{T* >= T}) / (1 + B), with ties up to rounding; two-sided, twice the smaller of the two tails."""
    tolerance = 100 * np.finfo(float).eps * max(1.0, abs(statistic)) if np.isfinite(statistic) else 0.0
    above = (1 + int(np.count_nonzero(null >= statistic - tolerance))) / (1 + null.size)
    if tail == "greater":
        return above
    below = (1 + int(np.count_nonzero(null <= statistic + tolerance))) / (1 + null.size)
    return min(1.0, 2 * min(above, below))
