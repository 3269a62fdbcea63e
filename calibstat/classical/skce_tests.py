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
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.p_values import p_value
from calibstat.measures.skce import SKCE, block_values, kernel_arguments, rows_of_block, signed_sums
from calibstat.resampling import Draws, Stream
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

    >>> import calibstat as cs
    >>> y, p = cs.generators.dirichlet((1, 1, 1)).sample(500, rng=1)
    >>> result = cs.classical.kernel_calibration_test(y, p, rng=1)
    >>> abs(result.statistic) < 0.002, result.pvalue > 0.05
    (True, True)
    >>> cs.classical.kernel_calibration_test((y + 1) % 3, p, rng=1).pvalue
    0.001

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`, with all classes; a vector is the probability of class 1 of two.
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

    Returns
    -------
    AsymptoticTestResult
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), there are fewer than two rows or, for
        "block" and "linear", fewer than two complete blocks, or all blocks have the same value, so no standard error.

    Notes
    -----
    Null hypothesis: given its predicted vector, every label is each class with its predicted probability, and rows are
    independent. The p-values are approximate, for many rows, and far too small where outcomes are rare, whereas
    ``calibration_test(..., measure="skce")`` draws labels and is exact for every n. For "block" and "linear" large
    values are evidence against calibration, rows after the last complete block do not count, and the order of rows
    matters. The page "Many classes" says how the limits are made, and how often the tests reject a calibrated model.
    Cost: "asymptotic" n² / 2 evaluations of the kernel and as many additions for each set of signs, or, for two classes
    and a Laplace kernel, one sort and n additions for each set; "block" n `block_size` / 2 evaluations; "linear" n / 2.

    References
    ----------
    Widmann, Lindsten, Zachariah 2019, arXiv:1910.11385; 2021, arXiv:2210.13355. Dehling, Mikosch 1994, Random quadratic
    forms and the bootstrap for U-statistics, doi:10.1006/jmva.1994.1069.
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
    drawn = resampling.random_signs(n, np.packbits, draws, Stream.ROW_SIGNS)
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
