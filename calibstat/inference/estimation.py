"""How far from calibrated: one number, or all that a measure knows."""

from __future__ import annotations

from typing import Any

from calibstat.measures.registry import find_measure
from calibstat.results import MeasureDetail
from calibstat.sample import as_sample


def estimate(
    y_true: Any,
    y_prob: Any = None,
    *,
    measure: str = "ece",
    sample_weight: Any = None,
    labels: Any = None,
    **options: Any,
) -> float:
    """Return a measure of calibration.

    Parameters
    ----------
    y_true : array_like, shape (n,), or Sample
        Outcomes, 0 or 1; or a `Sample`, and then no `y_prob`.
    y_prob : array_like, shape (n,) or (n, 2)
        Predicted probability of outcome 1, in [0, 1].
    measure : str
        A name in `calibstat.MEASURES`.
    sample_weight : array_like, shape (n,), optional
        Non-negative weights; whole numbers mean repeated rows.
    labels : sequence of two, optional
        The values in `y_true` that mean outcome 0 and outcome 1.
    **options
        Options of the measure, such as ``n_bins=15`` of `ece`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), or the measure or an option is unknown.

    Notes
    -----
    Cost: one sort and the measure's own, which its page gives.

    Examples
    --------
    >>> import calibstat as cs
    >>> cs.estimate([1, 0], [0.95, 1.0], measure="ece", n_bins=10)
    0.475
    """
    return find_measure(measure, options).estimate(as_sample(y_true, y_prob, sample_weight, labels))


def detail(
    y_true: Any,
    y_prob: Any = None,
    *,
    measure: str = "ece",
    sample_weight: Any = None,
    labels: Any = None,
    **options: Any,
) -> MeasureDetail:
    """Return what a measure knows beyond its value: a witness function, a bandwidth, a table of bins, a curve.

    Parameters
    ----------
    y_true, y_prob, measure, sample_weight, labels, **options
        As for `estimate`.

    Returns
    -------
    MeasureDetail

    Raises
    ------
    ValueError
        As for `estimate`.

    Notes
    -----
    Costs a few times as much as the estimate. `calibstat.plot` draws it.

    Examples
    --------
    >>> import calibstat as cs
    >>> found = cs.detail([1, 0, 1], [0.2, 0.6, 0.7], measure="ece", n_bins=2)
    >>> found["count"]
    array([1., 2.])
    """
    sample = as_sample(y_true, y_prob, sample_weight, labels)
    bound = find_measure(measure, options)
    return MeasureDetail(str(bound), bound.estimate(sample), sample.n, bound.detail(sample))
