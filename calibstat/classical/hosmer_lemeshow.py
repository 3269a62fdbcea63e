"""The Hosmer–Lemeshow test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.classical.asymptotic_result import ASYMPTOTIC_PVALUE, AsymptoticTestResult
from calibstat.classical.binary_input import binary_input, need_held_out
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_whole, is_whole
from calibstat.data.lenses import AnyLens
from calibstat.data.sample import Sample
from calibstat.inference.designs.question_of_rows import question
from calibstat.measures.bins import bin_cells
from calibstat.result import read_only

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True, eq=False)
class HosmerLemeshowResult(AsymptoticTestResult):
    """Result of `hosmer_lemeshow`: an `AsymptoticTestResult` with the table of groups.

    Attributes
    ----------
    low, high : ndarray, shape (groups,)
        The smallest and the largest prediction in each group.
    count, observed, expected, variance : ndarray, shape (groups,)
        Its rows, its positive outcomes, how many were predicted, and the variance of that number if calibrated.
    """

    low: np.ndarray
    high: np.ndarray
    count: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    variance: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each group."""
        import pandas as pd

        return pd.DataFrame(
            {name: getattr(self, name) for name in ("low", "high", "count", "observed", "expected", "variance")}
        )

    __str__ = AsymptoticTestResult.__str__


@question()
def hosmer_lemeshow(
    rows: Data,
    /,
    *,
    held_out: bool | None = None,
    fitted_params: int | None = None,
    n_groups: int = 10,
    strategy: str = "quantile",
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> HosmerLemeshowResult:
    """Test calibration by the Hosmer–Lemeshow chi-square over groups of similar predictions.

    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(1.5).sample(1000, rng=1)  # over-confident
    >>> result = cs.classical.hosmer_lemeshow(y, p, held_out=True)
    >>> result.df, result.pvalue < 0.01
    (10, True)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    held_out : bool
        Whether the model was fitted on other rows than these. There is no default: the degrees of freedom depend on it.
    fitted_params : int
        Required with ``held_out=False``, and only then: how many parameters, intercept included, the logistic
        regression has that was fitted to these rows by maximum likelihood.
    n_groups : int
        Number of groups, at least 1.
    strategy : {"quantile", "uniform"}
        Groups of as near equal numbers of rows as ties allow, or of equal width.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    HosmerLemeshowResult
        With the table of groups. `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If `held_out` is not given, `fitted_params` does not fit it, there are too few groups for that many
        parameters, a group has predictions of 0 and 1 alone, the data are not as described (the first offending row is
        named), have real-valued weights, or the lens has no binary outcome.

    Notes
    -----
    Null hypothesis: given the predictions v, every outcome is 1 independently with its predicted probability. The
    statistic is the sum over the g groups that hold rows of (observed - expected)² / Σ v (1 - v).

    On held-out rows its limit is chi-square with g degrees of freedom: nothing was fitted, so nothing is subtracted.
    The g - 2 of the textbooks is for the rows that a logistic regression was fitted to, if g is above the number of
    parameters (Hosmer, Lemeshow 1980); with an intercept alone it is g - 1.

    The limit needs an expected number of about five of either outcome in each group. Opposite errors inside a group
    cancel. ``calibration_test(..., measure="ece", norm="l2")`` is exact. The page "Classical tests" says how often the
    test rejects calibrated predictions. Cost: one sort of the rows, then one pass.

    References
    ----------
    Hosmer, Lemeshow 1980, Goodness of fit tests for the multiple logistic regression model,
    doi:10.1080/03610928008827941; Hosmer, Lemeshow, Sturdivant 2013, Applied Logistic Regression, section 5.2.2,
    doi:10.1002/9781118548387.
    """
    from scipy.special import chdtrc

    fitted = _fitted(held_out, fitted_params)
    check_whole("n_groups", n_groups)
    seen, sample = binary_input(rows, "the Hosmer–Lemeshow test")
    groups = _groups(sample, int(n_groups), strategy)
    found = groups["count"].size
    if found <= fitted:
        raise ValueError(f"expected more groups than the {fitted} fitted parameters, found {found} groups")
    with np.errstate(over="ignore"):  # of an event that all but cannot be: infinite, and the p-value 0
        statistic = float(((groups["observed"] - groups["expected"]) ** 2 / groups["variance"]).sum())
    df = found - min(fitted, 2)
    return HosmerLemeshowResult(
        statistic=statistic,
        pvalue=float(chdtrc(df, statistic)),
        method="Hosmer–Lemeshow",
        null_hypothesis=seen.null.approximately(ASYMPTOTIC_PVALUE),
        measure="chi-square",
        lens=seen.lens,
        n=int(sample.n),
        limit="chi-square limit",
        df=df,
        **groups,
    )


def _fitted(held_out: bool | None, fitted_params: int | None) -> int:
    """Return how many parameters were fitted to these rows; raise unless that is stated."""
    need_held_out(held_out, "the Hosmer–Lemeshow test", "its degrees of freedom depend on it")
    if held_out and fitted_params is not None:
        raise ValueError(f"expected no fitted_params with held_out=True, found {fitted_params!r}")
    if not held_out and not is_whole(fitted_params, 1):
        raise ValueError(
            "expected fitted_params, the number of parameters fitted to these rows, with held_out=False; "
            f"found {fitted_params!r}"
        )
    return 0 if fitted_params is None else int(fitted_params)


def _groups(sample: Sample, n_groups: int, strategy: str) -> dict[str, Any]:
    """Return the columns of the table of groups."""
    value, count, positives = sample.arrays
    first = np.flatnonzero(np.diff(bin_cells(value, count, n_bins=n_groups, strategy=strategy), prepend=-1))
    variance = np.add.reduceat(count * value * (1 - value), first)
    if (variance == 0).any():
        certain = value[first[np.argmin(variance)]]
        raise ValueError(f"expected a prediction between 0 and 1 in every group, found {certain:g} alone in one")
    columns = {
        "low": value[first],
        "high": value[np.append(first[1:], value.size) - 1],
        "count": np.add.reduceat(count, first),
        "observed": np.add.reduceat(positives, first),
        "expected": np.add.reduceat(count * value, first),
        "variance": variance,
    }
    return {name: read_only(column) for name, column in columns.items()}
