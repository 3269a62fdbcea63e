"""Cox's calibration intercept and slope: estimates, intervals and likelihood-ratio tests."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from calibstat.classical.asymptotic_result import ASYMPTOTIC_PVALUE, AsymptoticTestResult
from calibstat.classical.binary_input import between, binary_input, need_held_out
from calibstat.classical.logistic import Fit, LogitPolynomial, NoEnd, NoMaximum, null_of_logit
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import check_level
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import question
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

Numbers = dict[str, tuple[float, tuple[float, float]]]  # an estimate and its interval, by name


@dataclass(frozen=True, eq=False)
class CoxResult(Result):
    """Result of `cox`: logit of the outcome's probability = intercept + slope * logit of the prediction.

    Attributes
    ----------
    intercept, slope : float
        The maximum likelihood estimates; 0 and 1 if calibrated.
    intercept_error, slope_error : float
        Their standard errors, from the observed information.
    intercept_interval, slope_interval : tuple of two floats
        Profile-likelihood intervals.
    in_the_large : float
        The intercept if the slope is held at 1; above 0 where outcomes are more frequent than predicted.
    in_the_large_error : float
        Its standard error.
    in_the_large_interval : tuple of two floats
        Its profile-likelihood interval.
    confidence_level : float
        The confidence level of the intervals.
    in_the_large_test : AsymptoticTestResult
        Likelihood-ratio test that the intercept is 0, given that the slope is 1.
    slope_test : AsymptoticTestResult
        Likelihood-ratio test that the slope is 1, whatever the intercept.
    joint_test : AsymptoticTestResult
        Likelihood-ratio test that the intercept is 0 and the slope is 1; its statistic is the sum of the other two.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int
        Rows.
    """

    intercept: float
    slope: float
    intercept_error: float
    slope_error: float
    intercept_interval: tuple[float, float]
    slope_interval: tuple[float, float]
    in_the_large: float
    in_the_large_error: float
    in_the_large_interval: tuple[float, float]
    confidence_level: float
    in_the_large_test: AsymptoticTestResult
    slope_test: AsymptoticTestResult
    joint_test: AsymptoticTestResult
    lens: NamedLens
    n: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each null hypothesis; the joint one has no estimate."""
        import pandas as pd

        nothing = (np.nan, np.nan, (np.nan, np.nan))
        large = (self.in_the_large, self.in_the_large_error, self.in_the_large_interval)
        slope = (self.slope, self.slope_error, self.slope_interval)
        rows = []
        for (estimate, error, (low, high)), test in (
            (large, self.in_the_large_test),
            (slope, self.slope_test),
            (nothing, self.joint_test),
        ):
            row = {"null": test.measure, "estimate": estimate, "error": error, "low": low, "high": high}
            rows.append({**row, "statistic": test.statistic, "df": test.df, "pvalue": test.pvalue})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        def estimate(value: float, interval: tuple[float, float]) -> str:
            return f"{settled(value):.3g} (from {settled(interval[0]):.3g} to {settled(interval[1]):.3g})"

        level = f"{settled(100 * self.confidence_level):.4g} %"
        return (
            f"Cox calibration, {self.lens}, n = {self.n}, with {level} profile-likelihood intervals:\n"
            f"intercept if the slope is 1 = {estimate(self.in_the_large, self.in_the_large_interval)}, "
            f"0 if calibrated: p = {settled(self.in_the_large_test.pvalue):.3g};\n"
            f"slope = {estimate(self.slope, self.slope_interval)}, "
            f"1 if calibrated: p = {settled(self.slope_test.pvalue):.3g};\n"
            f"both together, likelihood ratio {settled(self.joint_test.statistic):.4g} with 2 degrees of freedom: "
            f"p = {settled(self.joint_test.pvalue):.3g} (all approximate).\n"
            f"Null hypothesis: {self.joint_test.null_hypothesis}"
        )


@question()
def cox(
    rows: Data,
    /,
    *,
    held_out: bool | None = None,
    confidence_level: float = 0.95,
    clip: float | None = None,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> CoxResult:
    """Estimate Cox's calibration intercept and slope and test that they are 0 and 1.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(2.0).sample(5000, rng=1)  # every logit twice too large
        >>> result = cs.classical.cox(y, p, held_out=True)
        >>> round(result.slope, 1), result.slope_test.pvalue < 1e-6
        (0.5, True)

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    held_out : bool
        Whether the model was fitted on other rows than these; it must be given, and be True.
    confidence_level : float
        Of the intervals, between 0 and 1.
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before their logits are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    CoxResult

    Raises
    ------
    ValueError
        If `held_out` is not given or is False, a prediction is 0 or 1 and there is no `clip`, fewer than two are
        distinct, the logit of the prediction separates the outcomes (there is no maximum likelihood estimate then), the
        confidence level is not between 0 and 1, the data are not as described (the first offending row is named), have
        real-valued weights, or the lens has no binary outcome.

    Notes
    -----
    The model: logit P(y = 1) = intercept + slope * logit(v), rows independent given the predictions v. A slope below 1
    means predictions that are too extreme. Three null hypotheses are tested by likelihood ratios, chi-square in the
    limit of many rows: intercept 0 given slope 1 (calibration in the large, 1 degree of freedom), slope 1 whatever the
    intercept (1), and both (2). The intervals invert the first two (profile likelihood); the interval of the intercept
    is the profile over all slopes.

    A logistic regression has intercept 0 and slope 1 on the rows that it was fitted to, however good it is, so these
    tests make no sense there. A curve that bends can still have intercept 0 and slope 1: `calibration_belt`. Cost: one
    sort, and a few dozen passes over the distinct predictions, or over about 1000 points that stand for them.

    References
    ----------
    Cox 1958, Two further applications of a model for binary regression, doi:10.1093/biomet/45.3-4.562; Miller, Hui,
    Tierney 1991, Validation techniques for logistic regression models, doi:10.1002/sim.4780100805; Venzon, Moolgavkar
    1988, A method for computing profile-likelihood-based confidence intervals, doi:10.2307/2347496.
    """
    need_held_out(
        held_out, "Cox's test", "a logistic regression has intercept 0 and slope 1 on the rows it was fitted to"
    )
    if not held_out:
        raise ValueError(
            "expected held-out rows for Cox's test, found held_out=False: a logistic regression has intercept 0 and "
            "slope 1 on the rows that it was fitted to, whatever its merits"
        )
    check_level("confidence_level", confidence_level)
    seen, sample = binary_input(rows, "Cox's test")
    model = LogitPolynomial.of(between(seen, sample, clip, "Cox's test"), 1, "Cox's test")
    fits, n = (model.fit(0), model.fit(1)), int(sample.n)
    numbers: dict[str, Any] = {}
    for name, (degree, direction, null) in _parameters(model).items():
        fit = fits[degree]
        numbers[name] = float(null + direction @ fit.coefficient)
        numbers[f"{name}_error"] = fit.error(direction)
        numbers[f"{name}_interval"] = profile_interval(model, fit, direction, null, confidence_level)
    tests = _ratios(model, *fits, seen.lens, n)
    return CoxResult(**numbers, **tests, confidence_level=confidence_level, lens=seen.lens, n=n)


def _parameters(model: LogitPolynomial) -> dict[str, tuple[int, np.ndarray, float]]:
    """Return the parameters: of a degree, a linear function of its coefficients, and the value where they are 0."""
    at_0, at_1 = model.at(np.array([0.0, 1.0]))
    return {"intercept": (1, at_0, 0.0), "slope": (1, at_1 - at_0, 1.0), "in_the_large": (0, at_0[:1], 0.0)}


def _ratios(model: LogitPolynomial, large: Fit, both: Fit, lens: NamedLens, n: int) -> dict[str, Any]:
    """Return the three likelihood-ratio tests."""
    from scipy.special import chdtrc

    def ratio(top: float, below: float, df: int, measure: str, null: str) -> AsymptoticTestResult:
        statistic = max(2 * (top - below), 0.0)  # a difference of rounding errors may be below 0
        return AsymptoticTestResult(
            statistic=statistic,
            pvalue=float(chdtrc(df, statistic)),
            method="likelihood-ratio",
            null_hypothesis=null_of_logit(null).approximately(ASYMPTOTIC_PVALUE),
            measure=measure,
            lens=lens,
            n=n,
            limit="chi-square limit",
            df=df,
        )

    calibrated = model.derivatives(np.zeros(2))[0]
    line = "a constant plus a slope times the logit of the prediction"
    return {
        "in_the_large_test": ratio(large.log_likelihood, calibrated, 1, "intercept 0 given slope 1",
                                   "the logit of the prediction plus a constant, and the constant is 0"),
        "slope_test": ratio(both.log_likelihood, large.log_likelihood, 1, "slope 1", f"{line}, and the slope is 1"),
        "joint_test": ratio(both.log_likelihood, calibrated, 2, "intercept 0 and slope 1",
                            f"{line}, the constant is 0 and the slope is 1"),
    }  # fmt: skip


def line_numbers(
    sample: Sample, what: str, interval: Callable[[LogitPolynomial, Fit, np.ndarray, float], tuple[float, float]]
) -> Numbers:
    """Return `in_the_large`, and if predictions differ `intercept` and `slope`, without those that have no maximum.

    `interval` gets the model, the fit, the parameter as a linear function of the coefficients, and its value if all of
    them are 0.
    """
    model = LogitPolynomial.of(sample, min(1, sample.value.size - 1), what)
    fits = []
    with suppress(NoMaximum):
        for degree in range(model.degree + 1):
            fits.append(model.fit(degree))
    return {
        name: (float(null + direction @ fits[degree].coefficient), interval(model, fits[degree], direction, null))
        for name, (degree, direction, null) in _parameters(model).items()
        if degree < len(fits)
    }


def profile_interval(
    model: LogitPolynomial, fit: Fit, direction: np.ndarray, null: float, confidence_level: float
) -> tuple[float, float]:
    """Return the profile-likelihood interval of a parameter, whose null value belongs to all coefficients 0."""
    from scipy.special import chdtri

    drop = float(chdtri(1, 1 - confidence_level))
    low, high = (direction @ model.farthest(fit, sign * direction, drop) for sign in (-1, 1))
    return float(null + low), float(null + high)


def profile_ends(
    model: LogitPolynomial, fit: Fit, direction: np.ndarray, null: float, confidence_level: float
) -> tuple[float, float]:
    """Return this interval, from minus infinity to infinity where it has an end beyond double precision."""
    try:
        return profile_interval(model, fit, direction, null, confidence_level)
    except NoEnd:
        return -np.inf, np.inf
