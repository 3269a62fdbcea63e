"""Measures as scorers of scikit-learn, for `cross_val_score` and searches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from calibstat.data.checks import is_among, options_of
from calibstat.data.estimators import Classifier, predict
from calibstat.data.lenses import AnyLens, class_wise
from calibstat.data.retired_words import refuse_retired
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
    lens, pos_label
        As for `estimate`.
    """

    measure: Measure
    lens: AnyLens = None
    pos_label: object = None

    def __call__(self, estimator: Classifier, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the measure of a fitted classifier on these rows, with the sign with which larger is better."""
        asked: dict[str, Any] = {"lens": self.lens, "pos_label": self.pos_label}
        value = estimate(y, predict(estimator, X), measure=self.measure, sample_weight=sample_weight, **asked)
        return float(value) if self.measure.info.larger_is_better else -float(value)


def scorer(
    measure: str | Measure | type[Measure] = "brier",
    *,
    lens: AnyLens = None,
    pos_label: object = None,
    **options: Any,
) -> Scorer:
    """Return a measure as a scorer of scikit-learn, of which larger values are better.

        >>> import calibstat as cs
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.model_selection import cross_val_score
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> cross_val_score(GaussianNB(), X, y, scoring=cs.scorer("ece", n_bins=10), cv=3).round(3)
        array([-0.084, -0.05 , -0.048])

    Parameters
    ----------
    measure, lens, pos_label, **options
        As for `estimate`; one number of each model, so "class_wise_mean" or "class_wise_max", and not "class_wise".

    Returns
    -------
    Scorer
        A function of a fitted classifier, features and classes, for ``scoring=`` of `cross_val_score` and of searches.
        Its value is minus the measure, except of `measures.NetBenefit`. It can be pickled.

    Raises
    ------
    ValueError
        If the measure or an option is unknown, or lens is "class_wise". When it is called: as
        `predict` and `estimate` do.

    Notes
    -----
    Select by a proper score, "brier" or "log_loss", and look at the calibration of what was selected afterwards, on
    other rows. A search by a calibration error prefers a model that predicts the prevalence for every row, which is
    calibrated and tells nothing apart.
    """
    refuse_retired("scorer", options, ())
    if is_among(lens, ("class_wise", class_wise)):
        raise ValueError("expected lens 'class_wise_mean' or 'class_wise_max' of a scorer, which is one number")
    with options_of(scorer, options):
        return Scorer(find_measure(measure, options), lens, pos_label)
