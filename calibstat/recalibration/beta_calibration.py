"""Beta calibration: a logistic regression of the outcomes on the logarithms of the prediction and of its complement."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, logistic, shares
from calibstat.recalibration.logistic_features import likeliest_within
from calibstat.recalibration.one_against_rest import columns_of, log_formulas, rows_of, two_logs
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator

FACES = tuple(np.eye(3)[:, free] for free in ([1, 2], [0, 2], [2]))  # a = 0, b = 0, both
CONDITIONS = np.eye(3)[:2]


class BetaCalibration(Recalibrator):
    """Map each prediction p so that its logit becomes a log p - b log(1 - p) + c, with a and b of at least 0.

        >>> import numpy as np
        >>> from calibstat.recalibration import BetaCalibration
        >>> random = np.random.default_rng(1)
        >>> y = np.repeat([0, 1], 20000)
        >>> p = random.beta(np.where(y == 1, 3, 1), np.where(y == 1, 1, 1.5))  # log-odds: 2 log p - log(1 - p) / 2 + c
        >>> fitted = BetaCalibration().fit(p, y)
        >>> fitted.a_.round(1), fitted.b_.round(1)
        (array([2.]), array([0.5]))

    With more than two classes one regression for each class against the rest; rows are then divided by their
    sums.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    a_, b_, intercept_ : ndarray, shape (K,), or (1,) for two classes
        a, b and c of each class, or of class 1 of two.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0, or 1 in a vector, and there is no `clip`.

    Notes
    -----
    Not converged: some class has no finite optimum. Maximum likelihood with a, b >= 0, so that the map never decreases;
    where the best a or b is negative the authors' package leaves it out, which is the optimum unless the other one
    becomes negative then. a = b = 1 and c = 0 leave predictions as they are, a = b is Platt scaling. It is right if the
    predictions of either class have a beta distribution. Of fewer than three distinct predictions several maps are as
    good, and one of them is taken. With more than two classes the most likely class, and so the accuracy, can
    change. Cost: some ten passes over the rows for each class.

    References
    ----------
    Kull, Silva Filho, Flach 2017, Beyond sigmoids: How to obtain well-calibrated probabilities from binary classifiers
    with beta calibration, doi:10.1214/17-EJS1338SI.
    """

    a_: np.ndarray
    b_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        own, others = two_logs(prob, self.clip, self)
        found = [
            likeliest_within(
                own[:, j] - others[:, j], label == k, weight, _features, np.array([1.0, 1.0, 0.0]), CONDITIONS, FACES
            )
            for j, k in enumerate(columns_of(prob.shape[1]))
        ]
        self.a_, self.b_, self.intercept_ = np.array([coefficient for coefficient, _ in found]).T.copy()
        return None if all(still for _, still in found) else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        own, others = two_logs(prob, self.clip, self)
        return rows_of(expit(self.a_ * own - self.b_ * others + self.intercept_))

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        parts = zip(*log_formulas(prob, self.clip), self.a_, self.b_, self.intercept_, strict=True)
        return shares([logistic(float(a) * own - float(b) * others + float(c)) for own, others, a, b, c in parts])


def _features(x: np.ndarray) -> np.ndarray:
    """Return log p, -log(1 - p) and 1 for predictions p with logits x."""
    return np.column_stack((-np.logaddexp(0, -x), np.logaddexp(0, x), np.ones(x.size)))
