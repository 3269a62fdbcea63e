"""Measures as scorers of scikit-learn, for `cross_val_score` and searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from calibstat.data.checks import is_among, options_of
from calibstat.data.estimators import Classifier, predict
from calibstat.data.lenses import AnyLens
from calibstat.inference.estimate import estimate
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure


@dataclass(frozen=True)
class Scorer:
    """A measure as scikit-learn's searches ask for it: larger is better.

    Attributes
    ----------
    measure : Measure
        The measure.
    lens, reduce, pos_label
        As for `estimate`.
    """

    measure: Measure
    lens: AnyLens = None
    reduce: str | None = None
    pos_label: object = None

    def __call__(self, estimator: Classifier, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the measure of a fitted classifier on these rows, with the sign with which larger is better."""
        asked: dict[str, Any] = {"lens": self.lens, "reduce": self.reduce, "pos_label": self.pos_label}
        value = estimate(y, predict(estimator, X), measure=self.measure, sample_weight=sample_weight, **asked)
        return float(value) if self.measure.info.larger_is_better else -float(value)


def scorer(
    measure: str | Measure | type[Measure] = "brier",
    *,
    lens: AnyLens = None,
    reduce: str | None = None,
    pos_label: object = None,
    **options: Any,
) -> Scorer:
    """Return a measure as a scorer of scikit-learn, of which larger values are better.

    Parameters
    ----------
    measure, lens, reduce, pos_label, **options
        As for `estimate`; one number of each model, so that lens "class_wise" needs `reduce`.

    Returns
    -------
    Scorer
        A function of a fitted classifier, features and classes, for ``scoring=`` of `cross_val_score` and of searches.
        Its value is minus the measure, except of `measures.NetBenefit`. It can be pickled.

    Raises
    ------
    ValueError
        If the measure or an option is unknown, or lens is "class_wise" without `reduce`. When it is called: as
        `predict` and `estimate` do.

    Notes
    -----
    Select by a proper score, "brier" or "log_loss", and look at the calibration of what was selected afterwards, on
    other rows. A search by a calibration error prefers a model that predicts the prevalence for every row, which is
    calibrated and tells nothing apart.

    Examples
    --------
    >>> import calibstat as cs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(GaussianNB(), X, y, scoring=cs.scorer("ece", n_bins=10), cv=3).round(3)
    array([-0.084, -0.05 , -0.048])
    """
    if is_among(lens, ("class_wise",)) and reduce is None:
        raise ValueError("expected reduce 'mean' or 'max' with lens 'class_wise', found None: a scorer is one number")
    with options_of(scorer, options):
        return Scorer(find_measure(measure, options), lens, reduce, pos_label)
