"""Isotonic regression: a non-decreasing map of the predictions of each class."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.data.sample import Sample
from calibstat.recalibration.recalibrator import Recalibrator, normalised


class IsotonicRegression(Recalibrator):
    """Map predictions by the non-decreasing function that is nearest to the outcomes in mean square.

    With more than two classes one function for each class against the rest; rows are then divided by their
    sums.

    Attributes
    ----------
    knots_ : list of (ndarray, ndarray)
        For each class, or for class 1 of two: the distinct predictions of the calibration rows and what they become.

    Notes
    -----
    Between two predictions of the calibration rows the map is linear, outside them constant. A row of which every class
    becomes 0 turns uniform. Divided by their sums, more than two classes need not keep their order, and the accuracy
    can change; probabilities of exactly 0 are common, so that the log loss of new rows is often infinite. Cost: a sort
    and one pass (pool adjacent violators) for each class.

    References
    ----------
    Zadrozny, Elkan 2002, Transforming classifier scores into accurate multiclass probability estimates,
    doi:10.1145/775047.775151.

    Examples
    --------
    >>> from calibstat.recalibration import IsotonicRegression
    >>> fitted = IsotonicRegression().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> fitted.predict_proba([0.0, 0.25, 0.5, 0.9])
    array([0.  , 0.25, 0.5 , 1.  ])
    """

    knots_: list[tuple[np.ndarray, np.ndarray]]

    def _fit(self, prob: np.ndarray, label: np.ndarray) -> str | None:
        classes = [1] if prob.shape[1] == 2 else range(prob.shape[1])
        samples = [Sample.from_rows(label == k, prob[:, k]) for k in classes]
        self.knots_ = [(sample.value, recalibrated(*sample.arrays)) for sample in samples]
        return None

    def _map(self, prob: np.ndarray) -> np.ndarray:
        if len(self.knots_) == 1 and prob.shape[1] == 2:
            event = np.interp(prob[:, 1], *self.knots_[0])
            return np.column_stack((1 - event, event))
        return normalised(np.stack([np.interp(prob[:, k], *knots) for k, knots in enumerate(self.knots_)], axis=1))
