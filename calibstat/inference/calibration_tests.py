"""Tests of calibration by resampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from calibstat.data.lenses import ClassWise, Lens
from calibstat.inference.p_values import holm, p_value
from calibstat.inference.problem import Problem, pose
from calibstat.measures.base import Measure
from calibstat.resampling import Consistency, Draws, Labels, Stage
from calibstat.resampling.schemes import OfRows
from calibstat.result import Result, read_only

if TYPE_CHECKING:
    import pandas as pd


MANY = 20  # classes, above which only the smallest p-values are printed
SMALLEST = 10


@dataclass(frozen=True)
class CalibrationTestResult(Result):
    """Result of `calibration_test`.

    Attributes
    ----------
    statistic : float
        The measure on the data.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as extreme. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic of every resample, read-only.
    null_hypothesis : str
        The null hypothesis, in one sentence.
    measure, lens : str
        The measure with its options, and the outcome whose probability was predicted.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both"}
        What was drawn.
    n, n_resamples : int
        Rows and resamples.
    why_infinite : str
        The row that makes the statistic infinite; empty if it is finite.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    null_distribution: np.ndarray
    null_hypothesis: str
    measure: str
    lens: str
    tail: str
    resample: str
    n: int
    n_resamples: int
    why_infinite: str = ""

    def __str__(self) -> str:
        infinite = f"Infinite: {self.why_infinite}.\n" if self.why_infinite else ""
        approximate = "" if self.resample == "labels" else " (approximate)"
        return (
            f"Test of calibration by {self.measure} = {self.statistic:.4g}, {self.lens}, n = {self.n}: "
            f"p = {self.pvalue:.3g}{approximate}, {self.n_resamples} resamples.\n"
            f"{infinite}Null hypothesis: {self.null_hypothesis}"
        )


@dataclass(frozen=True)
class ClassWiseTestResult(Result):
    """Result of `calibration_test` for every class: one test of each, and one of all together.

    Attributes
    ----------
    names : tuple, length K
        The classes.
    statistic : ndarray, shape (K,)
        The measure of each class.
    pvalue : ndarray, shape (K,)
        Probability, if the predictions of this class are calibrated, of a statistic at least as extreme. Never 0.
    pvalue_holm : ndarray, shape (K,)
        The p-values with Holm's adjustment for K tests: the probability that any calibrated class has one of at most
        a is at most a.
    pvalue_error : ndarray, shape (K,)
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples, K)
        The statistic of each class in every resample, read-only.
    null_hypothesis : str
        The null hypothesis for each class, in one sentence.
    overall : CalibrationTestResult
        The test by the mean over all classes; its null hypothesis is stronger than those of the classes.
    measure, lens : str
        The measure with its options, and the lens.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both"}
        What was drawn.
    n, n_resamples : int
        Rows and resamples.
    """

    names: tuple[Any, ...]
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_holm: np.ndarray
    pvalue_error: np.ndarray
    null_distribution: np.ndarray
    null_hypothesis: str
    overall: CalibrationTestResult
    measure: str
    lens: str
    tail: str
    resample: str
    n: int
    n_resamples: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        import pandas as pd

        columns = ("statistic", "pvalue", "pvalue_holm", "pvalue_error")
        return pd.DataFrame({"class": [*self.names], **{name: getattr(self, name) for name in columns}})

    def __str__(self) -> str:
        approximate = "" if self.resample == "labels" else " (approximate)"
        many = len(self.names) > MANY
        shown = np.argsort(self.pvalue, kind="stable")[:SMALLEST] if many else np.arange(len(self.names))
        width = max(5, *(len(str(self.names[k])) for k in shown))
        lines = [
            f"Test of calibration of each class by {self.measure}{approximate}, {self.lens}, n = {self.n}, "
            f"{self.n_resamples} resamples{f', the {SMALLEST} with the smallest p' if many else ''}:",
            f"{'class':{width}}  {'value':>8}  {'p':>6}  {'p (Holm)':>8}",
        ]
        for k in shown:
            name, holm = f"{self.names[k]!s:{width}}", f"{self.pvalue_holm[k]:8.3g}"
            lines.append(f"{name}  {self.statistic[k]:8.4g}  {self.pvalue[k]:6.3g}  {holm}")
        if many:
            lines.append(f"and {len(self.names) - SMALLEST} more, each with p of at least {self.pvalue[shown[-1]]:.3g}")
        lines.append(f"Null hypothesis for each class: {self.null_hypothesis}")
        lines.append(f"All classes together: {str(self.overall)[0].lower()}{str(self.overall)[1:]}")
        return "\n".join(lines)


SCHEMES: dict[str, OfRows] = {"labels": Labels(), "both": Consistency()}
ONE_CLASS = "given its probability alone, in every row independently, the class is observed with this probability."


@overload
def calibration_test(
    y_true: Any, y_prob: Any = None, *, lens: Literal["class_wise"] | ClassWise, reduce: None = None, **options: Any
) -> ClassWiseTestResult: ...
@overload
def calibration_test(
    y_true: Any, y_prob: Any = None, *, lens: Literal["top_label", "canonical"] | Lens | None = None, **options: Any
) -> CalibrationTestResult: ...
@overload
def calibration_test(
    y_true: Any, y_prob: Any = None, *, lens: Any, reduce: str, **options: Any
) -> CalibrationTestResult: ...
@overload
def calibration_test(
    y_true: Any, y_prob: Any = None, *, lens: Any, **options: Any
) -> CalibrationTestResult | ClassWiseTestResult: ...
def calibration_test(
    y_true: Any,
    y_prob: Any = None,
    *,
    measure: str | Measure | type[Measure] = "ece",
    lens: Any = None,
    reduce: str | None = None,
    resample: str = "labels",
    n_resamples: int | None = None,
    rng: Any = None,
    n_jobs: int = 1,
    labels: Any = None,
    **options: Any,
) -> CalibrationTestResult | ClassWiseTestResult:
    """Test that the predictions are perfectly calibrated.

    Parameters
    ----------
    y_true, y_prob, lens, labels, **options
        As for `estimate`.
    measure : str or Measure
        The statistic: a name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``.
    reduce : {None, "mean", "max"}
        For lens "class_wise". None: a test of each class with Holm's adjustment, and one of all classes by the mean.
        "mean" or "max": one test, by the mean or the maximum over the classes.
    resample : {"labels", "both"}
        "labels" keeps the predictions and draws outcomes from them: exact for every n, statistic and set of
        predictions. "both" also draws rows with replacement, the consistency resampling of the literature: only
        approximate, and too liberal where bins hold few rows.
    n_resamples : int, optional
        Number of resamples, at least 1. Default: 999, or 99 for a measure whose test takes long (its page says so).
    rng : None, int, SeedSequence or Generator
        Seed or generator; the same int gives the same numbers for any number of threads.
    n_jobs : int
        Number of threads; -1 for one per core.

    Returns
    -------
    CalibrationTestResult or ClassWiseTestResult
        The latter for lens "class_wise" without `reduce`.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), have real-valued weights, or an argument
        is unknown.

    Notes
    -----
    Null hypothesis: given the predictions, every outcome is 1 independently with its predicted probability; through a
    lens, the same given only the predictions of the reduced problem (such as the probability of the most likely class),
    as its `null` says. That is weaker than canonical calibration, where every class has its predicted probability given
    the predicted vector; the test is exact for it if rows are independent. One statistic over all classes tests
    canonical calibration; the p-value of each class tests the calibration of that class alone.
    The p-value is (1 + number of resamples at least as extreme) / (1 + n_resamples), ties counted against the null
    up to rounding; so P(p <= a) <= a for every a under "labels". Two-sided measures double the smaller tail.
    A large p-value means that this statistic finds no evidence against calibration; it is not evidence that the model
    is calibrated. Predictions fitted or chosen on the same rows make it too large; repeated measurements of one subject
    violate the assumption of independent rows. There is no `cluster` here, because calibration does not determine the
    dependence of labels within a cluster; `confidence_interval` and `compare` resample entire clusters.
    Cost: one sort and `n_resamples` evaluations of the measure; for a binned measure under "labels" the exact
    distribution of each bin instead, O(n**1.5), and one draw from it for each resample and bin, wherever that is
    cheaper.

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
    if resample not in SCHEMES:
        raise ValueError(f"expected resample 'labels' or 'both', found {resample!r}")
    problem = pose(y_true, y_prob, measure, options, lens=lens, reduce=reduce, labels=labels)
    draws = Draws.of(rng, problem.measure.draws(n_resamples), n_jobs)
    drawn = problem.drawn_from("calibration_test")  # messages name rows of the problem as it was posed
    statistic, null = drawn.statistic(), drawn.draw(SCHEMES[resample], draws, Stage.LABELS)
    if problem.is_one_number:
        return _result(problem, statistic, null, problem.lens, resample, int(drawn.n))
    return _class_wise(problem, statistic, null, resample, int(drawn.n))


def _result(
    problem: Problem, statistic: float, null: np.ndarray, lens: str, resample: str, n: int
) -> CalibrationTestResult:
    tail = problem.measure.info.tail
    pvalue = p_value(statistic, null, tail)
    return CalibrationTestResult(
        statistic=statistic,
        pvalue=pvalue,
        pvalue_error=float(np.sqrt(pvalue * (1 - pvalue) / null.size)),
        null_distribution=read_only(null),
        null_hypothesis=_hypothesis(problem.data.null, resample),
        measure=str(problem.measure),
        lens=lens,
        tail=tail,
        resample=resample,
        n=n,
        n_resamples=null.size,
        why_infinite=problem.data.impossible() if np.isinf(statistic) else "",
    )


def _class_wise(
    problem: Problem, statistic: np.ndarray, null: np.ndarray, resample: str, n: int
) -> ClassWiseTestResult:
    """Test each class by itself and all by their mean."""
    tail, names = problem.measure.info.tail, problem.data.class_names
    pvalue = np.array([p_value(t, null[:, k], tail) for k, t in enumerate(statistic)])
    together = f"{problem.lens}, mean over {len(names)} classes"
    return ClassWiseTestResult(
        names=names,
        statistic=read_only(statistic),
        pvalue=read_only(pvalue),
        pvalue_holm=read_only(holm(pvalue)),
        pvalue_error=read_only(np.sqrt(pvalue * (1 - pvalue) / len(null))),
        null_distribution=read_only(null),
        null_hypothesis=_hypothesis(ONE_CLASS, resample),
        overall=_result(problem, float(statistic.mean()), null.mean(axis=1), together, resample, n),
        measure=str(problem.measure),
        lens=problem.lens,
        tail=tail,
        resample=resample,
        n=n,
        n_resamples=len(null),
    )


def _hypothesis(null: str, resample: str) -> str:
    """Say what is tested, and whether the test is exact."""
    if resample == "labels":
        return f"{null.removesuffix('.')} (exact)."
    return (
        f"predictions are an independent sample and, {null.removesuffix('.')} "
        "(approximate: too small a p-value is likely where bins hold few rows)."
    )
