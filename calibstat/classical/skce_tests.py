"""Asymptotic tests of canonical calibration by the squared kernel calibration error."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from calibstat import resampling
from calibstat.classical.asymptotic_result import AsymptoticTestResult
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import is_among
from calibstat.data.lenses import canonical
from calibstat.data.predictions import Predictions
from calibstat.digits import settled
from calibstat.inference.designs.question import question
from calibstat.inference.p_values import p_value
from calibstat.measures.skce import SKCE, block_values, kernel_arguments, rows_of_block, signed_sums
from calibstat.resampling import Draws, Stage
from calibstat.resampling.rng import Rng

_LIMIT_OF_METHOD = {
    "asymptotic": "the p-value comes from the limit for many rows, taken from random signs",
    "block": "the p-value comes from the normal limit for many blocks of rows",
    "linear": "the p-value comes from the normal limit for many pairs of rows",
}
STATISTIC = {"asymptotic": "U", "block": "block", "linear": "linear"}


@question()
def kernel_calibration_test(
    rows: Data,
    /,
    *,
    method: str = "asymptotic",
    kernel: str = "laplace",
    distance: str = "total_variation",
    bandwidth: float = 1.0,
    block_size: int | str = "square_root",
    n_resamples: int = 999,
    rng: Rng = None,
    **about: Unpack[AboutRows],
) -> AsymptoticTestResult:
    """Test that predicted vectors are calibrated by the kernel calibration error and its asymptotic distribution.

    Parameters
    ----------
    y_true : array_like, shape (n,), or Predictions
        The observed class, from 0 to K - 1, or its name in `labels`; or `Predictions`, and then no `y_prob`.
    y_prob : array_like, shape (n, K)
        Predicted probabilities, one column for each class; a vector is the probability of class 1 of two.
    method : {"asymptotic", "block", "linear"}
        "asymptotic": the mean over all pairs of rows; its limit is simulated by random signs. "block": the mean over
        the pairs within consecutive blocks of rows, divided by its standard error; the limit is normal. "linear": the
        same with blocks of two rows.
    kernel : {"laplace", "gaussian"}
        exp(-u) or exp(-u²/2), u = d / bandwidth.
    distance : {"total_variation", "euclidean"}
        The distance d of predicted vectors: half the sum of absolute differences, or the Euclidean one, which the
        Gaussian kernel needs.
    bandwidth : float
        Above 0, in units of the distance.
    block_size : int or "square_root"
        Rows of a block for "block", at least 2; or the square root of n, rounded down.
    n_resamples : int
        Number of sets of random signs for "asymptotic", at least 1.
    rng : None, int, SeedSequence or Generator
        Where the signs come from.
    labels : sequence of K, optional
        The names of the classes, in the order of the columns.

    Returns
    -------
    AsymptoticTestResult

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), an argument is unknown, there are fewer
        than two rows or, for "block" and "linear", fewer than two complete blocks, or the blocks all have the same
        value, which has no standard error.

    Notes
    -----
    Null hypothesis: given its predicted vector, every label is each class with its predicted probability, and rows are
    independent. The p-values are approximate: correct in the limit of many rows only, whereas
    ``calibration_test(..., measure="skce")`` draws labels and is exact for every n.

    The statistic U is the mean of h_ij = k(p_i, p_j) (e_{y_i} - p_i)ᵀ (e_{y_j} - p_j) over i ≠ j. Under the null
    hypothesis a residual has mean zero given the prediction, so h_ij has mean zero given row i: U is degenerate, and
    n U tends to a weighted sum of centred chi-square variables. So does n U*, where U* is the mean of e_i e_j h_ij over
    i ≠ j with independent random signs e, given the data. The bootstrap of rows would have to centre h first; signs
    need not, because h is degenerate as it is, with no mean to estimate. Off the null hypothesis n U* stays bounded
    while n U grows. The p-value, (1 + number of U* at least as large as U) / (1 + n_resamples), is never 0.

    The means of blocks of a fixed size are independent with mean zero, so that their mean over its standard error
    tends to a standard normal variable; large values are evidence against calibration. They are skewed, and the fewer
    blocks the rougher the limit. Rows after the last complete block do not count, and the order of rows matters.

    On calibrated predictions spread evenly over the simplex, K = 3 and 10, n = 100 and 1000, tests at 5 % were measured
    to reject 4.3 to 5.9 % of the time ("asymptotic"), 3.0 to 3.9 % ("block") and 2.5 to 4.8 % ("linear"). Where
    outcomes are rare it is far from its level, because random signs ignore the skewness of the residuals: at a
    prevalence of .01 "asymptotic" and "block" reject calibrated predictions 38 % of the time with 100 rows, 90 and 63 %
    with 10 (study `approximate_tests`). ``calibration_test(measure="skce")`` is exact there.

    Cost: "asymptotic" n² / 2 evaluations of the kernel and as many additions for each set of signs, or, for two classes
    and a Laplace kernel, one sort and n additions for each set; memory in proportion to n (K + n_resamples). "block"
    n `block_size` / 2 evaluations; "linear" n / 2.

    References
    ----------
    Widmann, Lindsten, Zachariah 2019, arXiv:1910.11385; 2021, arXiv:2210.13355. Dehling, Mikosch 1994, Random quadratic
    forms and the bootstrap for U-statistics, doi:10.1006/jmva.1994.1069.

    Examples
    --------
    >>> import numpy as np
    >>> import calibstat as cs
    >>> rng = np.random.default_rng(0)
    >>> prob = rng.dirichlet([1, 1, 1], 500)
    >>> label = (prob.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
    >>> result = cs.kernel_calibration_test(label, prob, rng=1)
    >>> abs(result.statistic) < 0.002, result.pvalue > 0.05
    (True, True)
    >>> cs.kernel_calibration_test((label + 1) % 3, prob, rng=1).pvalue
    0.001
    """
    if not is_among(method, STATISTIC):
        raise ValueError(f"expected method 'asymptotic', 'block' or 'linear', found {method!r}")
    kind = STATISTIC[method]
    measure = SKCE(kernel=kernel, distance=distance, bandwidth=bandwidth, block_size=block_size, statistic=kind)
    arguments = kernel_arguments(kernel, distance, bandwidth)
    resampling.check_resamples(n_resamples)
    predictions = rows.predictions
    size = rows_of_block(predictions.n, kind, block_size)
    if method == "asymptotic":
        statistic, pvalue = _by_signs(resampling.in_order(predictions), arguments, Draws.of(rng, n_resamples))
    else:
        statistic, pvalue = _by_normal_limit(block_values(predictions.prob, predictions.label, size, arguments), size)
    return AsymptoticTestResult(
        statistic=statistic,
        pvalue=pvalue,
        method=method,
        null_hypothesis=canonical.hypothesis.approximately(_LIMIT_OF_METHOD[method]),
        measure=str(measure),
        lens=canonical.named,
        n=predictions.n,
        n_resamples=n_resamples if method == "asymptotic" else 0,
    )


def _by_signs(predictions: Predictions, arguments: tuple[bool, bool, float], draws: Draws) -> tuple[float, float]:
    """Return the U-statistic and its p-value by random signs."""
    n = predictions.n
    drawn = resampling.random_signs(n, np.packbits, draws, Stage.ROW_SIGNS)
    drawn = np.vstack((0 * drawn[:1], drawn))  # the first are all equal, and so leave the data as they are
    estimates = signed_sums(predictions, drawn, arguments) / (n * (n - 1) / 2)
    return float(estimates[0]), p_value(float(estimates[0]), estimates[1:], "greater")


def _by_normal_limit(value: np.ndarray, size: int) -> tuple[float, float]:
    """Return the mean of independent values and the p-value of its studentised form, one-sided."""
    from scipy.special import ndtr

    if value.size < 2:
        raise ValueError(f"expected at least 2 blocks of {size} rows, found {value.size}")
    if np.ptp(value) <= 100 * np.finfo(float).eps:  # a spread of rounding errors is none
        raise ValueError(f"expected blocks of different values, found {settled(value[0]):.6g} in all {value.size}")
    mean = float(value.mean())
    return mean, float(ndtr(-mean / (value.std(ddof=1) / np.sqrt(value.size))))
