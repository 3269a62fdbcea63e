"""Point estimates of calibration measures, and diagnostics such as bins and witness functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, Unpack, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers
from calibstat.data.checked_rows import AboutRows, Data, Models, OneModel
from calibstat.data.lenses import AnyLens, EachClass, OneLens
from calibstat.digits import settled
from calibstat.inference.designs.question_of_rows import Question, question
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.binned import ECE
from calibstat.measures.bins import Strategy
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import RowsAndOptions
from calibstat.result import Result

AnyMeasure: TypeAlias = str | Measure | type[Measure]


@dataclass(frozen=True, eq=False)
class MeasureDetail(Result):
    """Result of `detail`: the value of a measure and its diagnostics.

    Attributes
    ----------
    measure : NamedMeasure
        The measure with its options.
    estimate : float
        Its value; nan if it cannot be computed for so many distinct predictions.
    n : int or float
        Rows, or total weight of a `Sample` with real-valued weights.
    fields : dict
        The diagnostics by name, described on the page of each measure. Also readable as ``detail["name"]``.
    """

    measure: NamedMeasure
    estimate: float
    n: int | float
    fields: dict[str, Any]

    @property
    def headline(self) -> tuple[str, ...]:
        """The estimate."""
        return ("estimate",)

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __str__(self) -> str:
        return (
            f"{self.measure} = {settled(self.estimate):.4g}, n = {self.n}; fields: {', '.join(self.fields) or 'none'}"
        )


class Estimate(Protocol):
    """The function `estimate`: a number, through lens "class_wise" one for each class; of models `Answers`."""

    __name__: str

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        y_true: OneModel,
        y_prob: ArrayLike | None = None,
        *,
        lens: EachClass,
        measure: AnyMeasure = "ece",
        **options: Unpack[RowsAndOptions],
    ) -> np.ndarray: ...
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        y_true: OneModel,
        y_prob: ArrayLike | None = None,
        *,
        lens: OneLens = None,
        measure: AnyMeasure = "ece",
        **options: Unpack[RowsAndOptions],
    ) -> float: ...
    @overload
    def __call__(
        self,
        y_true: Models | ArrayLike | Mapping[str, ArrayLike],
        y_prob: Mapping[str, Any] | None = None,
        *,
        lens: EachClass,
        measure: AnyMeasure = "ece",
        **options: Unpack[RowsAndOptions],
    ) -> Answers[np.ndarray]: ...
    @overload
    def __call__(
        self,
        y_true: Models | ArrayLike | Mapping[str, ArrayLike],
        y_prob: Mapping[str, Any] | None = None,
        *,
        lens: OneLens = None,
        measure: AnyMeasure = "ece",
        **options: Unpack[RowsAndOptions],
    ) -> Answers[float]: ...


def _of_one_number_or_more(function: Question[..., Any]) -> Estimate:
    return cast("Estimate", function)


@_of_one_number_or_more
@question("sample_weight", "cluster")
def estimate(
    rows: Data, /, *, measure: AnyMeasure = "ece", lens: AnyLens = None, **options: Unpack[RowsAndOptions]
) -> float | np.ndarray:
    """Estimate a measure of calibration.

        >>> import calibstat as cs
        >>> y, p = [1, 0], [0.95, 1.0]
        >>> cs.estimate(y, p, measure="ece", n_bins=10)
        0.475
        >>> cs.estimate([0, 1], [[0.5, 0.25, 0.25], [0.5, 0.5, 0]], measure="ece", lens="class_wise")
        array([0.   , 0.375, 0.125])

    Parameters
    ----------
    y_true : array_like, shape (n,), or Sample, or Predictions
        Outcomes, 0 or 1, or classes from 0 to K - 1; or a `Sample` or `Predictions`, and then no `y_prob`.
    y_prob : array_like, shape (n,) or (n, K)
        Predicted probability of outcome 1, or of each class, in [0, 1]. Several models are a mapping from name to
        these, or a data frame with a column of probabilities of outcome 1 for each. (A frame whose rows mostly sum to 1
        is the classes of one model.) Fitted models of scikit-learn give theirs by ``calibstat.predict(models, X)``.
    measure : str or Measure
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``.
    lens : str or Lens, optional
        The reduction of a K-class problem, a name in `calibstat.LENSES` or made by `calibstat.lenses`. Default: outcome
        1 of two classes; "top_label" of more, or "canonical" for a multiclass measure. "class_wise" gives a value for
        each class, "class_wise_mean" and "class_wise_max" their mean and maximum.
    labels, pos_label, sample_weight
        Words about rows, as of `Data`, which every function takes: `labels` are the values in `y_true` that mean
        outcome 0 and outcome 1, or the names of the K classes in the order of the columns; `pos_label` means outcome 1.
    **options
        Options of the measure, such as ``n_bins=15`` of `ece`.

    Returns
    -------
    float, or ndarray of shape (K,)
        The latter for lens "class_wise". `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), the measure, the lens or an option is
        unknown, or the lens does not fit the measure.

    Notes
    -----
    Cost: the measure's, given on its page, and one sort; for equal-width bins one pass over the rows instead,
    also with the lenses "top_label" and "class_wise".
    """
    return problem_of(rows, find_measure(measure, options)).estimate()


@question("sample_weight", "cluster")
def detail(
    rows: Data, /, *, measure: AnyMeasure = "ece", lens: AnyLens = None, **options: Unpack[RowsAndOptions]
) -> MeasureDetail:
    """Return the diagnostics of a measure: a witness function, a bandwidth, a table of bins, a curve.

        >>> import calibstat as cs
        >>> y, p = [1, 0, 1], [0.2, 0.6, 0.7]
        >>> result = cs.detail(y, p, measure="ece", n_bins=2)
        >>> result["count"]
        array([1., 2.])

    Parameters
    ----------
    y_true, y_prob, measure, lens, **options
        As for `estimate`.

    Returns
    -------
    MeasureDetail

    Raises
    ------
    ValueError
        As for `estimate`; or if the lens is "class_wise": use `lenses.one_class` for the details of one class.

    Notes
    -----
    Costs a few times as much as the estimate. `calibstat.plot` draws it. The field "value" holds the distinct
    predictions that belong to arrays such as a witness. If a measure cannot be computed for so many distinct
    predictions (`upper_distance`), the estimate is nan and the fields hold its bounds.
    """
    problem = problem_of(rows, find_measure(measure, options))
    return MeasureDetail(problem.measure.named, *problem.detail())


@question("sample_weight")
def expected_calibration_error(
    rows: Data,
    /,
    *,
    n_bins: int | str | None = 15,
    strategy: Strategy = "uniform",
    norm: str | float = "l1",
    **about: Unpack[AboutRows],
) -> float:
    """Return the expected calibration error, as ``estimate(..., measure="ece")`` does; for use as a scorer.

        >>> import calibstat as cs
        >>> y, p = [0, 1, 1], [0.2, 0.6, 0.9]
        >>> round(cs.expected_calibration_error(y, p, n_bins=5), 3)
        0.233

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    n_bins : int, "cube_root", "100 rows" or None
        Number of bins, or the smallest whose cube is at least n, or n / 100, rounded down (or any other number of
        rows); None, or "unbinned", makes one bin of each distinct prediction.
    strategy : {"uniform", "quantile", "tree"} or sequence of float
        Bins of equal width, of as near equal numbers of rows as ties allow, or between ascending cuts.
    norm : {"l1", "l2", "max"} or float
        The mean over rows of the gap, the root mean square gap, the largest gap, or any p of at least 1.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        As for `estimate`.

    Notes
    -----
    Biased upwards in finite samples: a calibrated model does not have 0. Cost: O(n) with uniform bins, else one sort.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599.
    """
    return problem_of(rows, ECE(n_bins=n_bins, strategy=strategy, norm=norm)).estimate()
