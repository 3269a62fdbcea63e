"""Kolmogorov–Smirnov and Kuiper tests: cumulative residuals and the limits of Brownian motion."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np

from calibstat.classical.asymptotic_result import ASYMPTOTIC_PVALUE, AsymptoticTestResult
from calibstat.classical.binary_input import binary_input
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.lenses import AnyLens
from calibstat.data.sample import Sample
from calibstat.data.views import BinaryView
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.cumulative import KS, Kuiper

ALL_BELOW = 0.05  # a Brownian motion exceeds this in absolute value with a probability that rounds to 1


@question()
def kolmogorov_smirnov(
    rows: Data,
    /,
    *,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> AsymptoticTestResult:
    """Test calibration by the largest cumulative residual and the limit distribution of Brownian motion.

        >>> import calibstat as cs
        >>> y, p = cs.generators.shift(0.5).sample(1000, rng=1)
        >>> cs.classical.kolmogorov_smirnov(y, p).pvalue < 0.001
        True

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    AsymptoticTestResult
        Its statistic is the measure "ks" divided by sigma.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), have real-valued weights, the lens has
        no binary outcome, or every prediction is 0 or 1, where sigma is 0.

    Notes
    -----
    Null hypothesis: given the predictions v, every outcome is 1 independently with its predicted probability. Then the
    cumulative residuals, divided by n sigma = sqrt(Σ v (1 - v)), tend to a Brownian motion on [0, 1], and the statistic
    to the largest absolute value of that. The mean of the limit is sqrt(π / 2).

    Sums are taken at distinct predictions, so the test is mostly conservative if there are few, and for small n; but
    with 10 rows at a prevalence of .01 it rejects calibrated predictions 9 % of the time at 5 % (study
    `approximate_tests`). ``calibration_test(..., measure="ks")`` is exact. Held-out rows only.
    Cost: one sort of the rows, then one pass.

    References
    ----------
    Arrieta-Ibarra et al. 2022, Metrics of calibration for probabilistic predictions, arXiv:2205.09680; Billingsley
    1999, Convergence of Probability Measures, section 9, doi:10.1002/9780470316962.
    """
    seen, sample = binary_input(rows, "the Kolmogorov–Smirnov test")
    return _cumulative(seen, sample, KS().norm(sample.value, sample.residual), "Kolmogorov–Smirnov", "ks / sigma")


@question()
def kuiper(
    rows: Data,
    /,
    *,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> AsymptoticTestResult:
    """Test calibration by the range of the cumulative residuals and the limit distribution of Brownian motion.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(1.5).sample(2000, rng=1)
        >>> cs.classical.kuiper(y, p).pvalue < 0.001
        True

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    AsymptoticTestResult
        Its statistic is the measure "kuiper" divided by sigma.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), have real-valued weights, the lens has
        no binary outcome, or every prediction is 0 or 1, where sigma is 0.

    Notes
    -----
    Null hypothesis: given the predictions v, every outcome is 1 independently with its predicted probability. Then the
    cumulative residuals, divided by n sigma = sqrt(Σ v (1 - v)), tend to a Brownian motion on [0, 1], and the statistic
    to the range of that, its largest value minus its smallest. The mean of the limit is sqrt(8 / π).

    Sums are taken at distinct predictions, so the test is mostly conservative if there are few, and for small n; but
    with 10 rows at a prevalence of .01 it rejects calibrated predictions 9 % of the time at 5 % (study
    `approximate_tests`). ``calibration_test(..., measure="kuiper")`` is exact. Held-out rows only.
    Cost: one sort of the rows, then one pass.

    References
    ----------
    Arrieta-Ibarra et al. 2022, Metrics of calibration for probabilistic predictions, arXiv:2205.09680; Feller 1951, The
    asymptotic distribution of the range of sums of independent random variables, doi:10.1214/aoms/1177729589.
    """
    seen, sample = binary_input(rows, "the Kuiper test")
    return _cumulative(seen, sample, Kuiper().norm(sample.value, sample.residual), "Kuiper", "kuiper / sigma")


def _cumulative(seen: BinaryView, sample: Sample, error: float, method: str, measure: str) -> AsymptoticTestResult:
    """Compare a functional of the cumulative residuals with the same functional of Brownian motion."""
    variance = float(sample.count @ (sample.value * (1 - sample.value)))
    if variance == 0:
        raise ValueError(f"expected a prediction between 0 and 1 for the {method} test, found none: sigma is 0")
    statistic = error * sample.n / math.sqrt(variance)
    return AsymptoticTestResult(
        statistic=statistic,
        pvalue=brownian_range(statistic) if method == "Kuiper" else brownian_maximum(statistic),
        method=method,
        null_hypothesis=seen.null.approximately(ASYMPTOTIC_PVALUE),
        measure=measure,
        lens=seen.lens,
        n=int(sample.n),
        limit="limit of Brownian motion",
    )


# Each distribution has two series (Jacobi's transform of one into the other): one is quick above 1 and one below.


def brownian_maximum(x: float) -> float:
    """Return the probability that a Brownian motion on [0, 1] exceeds x in absolute value somewhere."""
    from scipy.special import ndtr

    if x >= 1:
        k = np.arange(20)
        return float(4 * ((-1.0) ** k @ ndtr(-(2 * k + 1) * x)))
    if x < ALL_BELOW:
        return 1.0
    odd = 2 * np.arange(10) + 1
    return float(1 - 4 / math.pi * ((-1.0) ** np.arange(10) / odd @ np.exp(-((math.pi * odd / x) ** 2) / 8)))


def brownian_range(x: float) -> float:
    """Return the probability that the range of a Brownian motion on [0, 1] is above x."""
    from scipy.special import ndtr

    if x >= 1:
        k = np.arange(1, 41)
        return float(8 * ((-1.0) ** (k - 1) * k @ ndtr(-k * x)))
    if x < ALL_BELOW:
        return 1.0
    omega = math.pi * (2 * np.arange(10) + 1)
    return float(1 - 8 * ((1 / x**2 + 1 / omega**2) @ np.exp(-((omega / x) ** 2) / 2)))
