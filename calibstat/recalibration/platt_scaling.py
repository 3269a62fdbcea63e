"""Platt scaling: a logistic regression of the outcomes on the logit of each prediction."""

from __future__ import annotations

import numpy as np

from calibstat.classical.logistic import LogitPolynomial
from calibstat.recalibration.formula import Expression, logistic, shares
from calibstat.recalibration.one_against_rest import columns_of, log_formulas, rows_of, two_logs
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator, counted

CONVERGED = 1e-20  # squared standard errors from the optimum, before the last step
FLAT = 1e-7  # ratio of singular values below which predictions differ by rounding alone


class PlattScaling(Recalibrator):
    """Map the logit x of each prediction to a x + b, a logistic regression of the outcomes on it.

        >>> import calibstat as cs
        >>> from calibstat.recalibration import PlattScaling
        >>> y, p = cs.generators.temperature(2).sample(10000, rng=1)  # logits twice as large as they should be
        >>> fitted = PlattScaling().fit(p, y)
        >>> fitted.slope_.round(1)
        array([0.5])
        >>> fitted.predict_proba([0.5, 0.9]).round(1)
        array([0.5, 0.8])

    With more than two classes one regression for each class against the rest; rows are then divided by their
    sums.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    slope_, intercept_ : ndarray, shape (K,), or (1,) for two classes
        a and b of each class, or of class 1 of two.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0, or 1 in a vector, and there is no `clip`.

    Notes
    -----
    Not converged: some class has no finite optimum. Maximum likelihood, with outcomes 0 and 1 as they are and not moved
    towards each other as Platt did: the logistic regression of `calibstat.classical.cox`. If predictions separate the
    outcomes without an exception, the slope has no finite optimum. If all are equal, every line through one point is as
    good; the one nearest to slope 1 and intercept 0 is taken. With more than two classes the most likely class, and so
    the accuracy, can change. Cost: one sort and some ten passes over the distinct predictions for each class.

    References
    ----------
    Platt 1999, Probabilistic outputs for support vector machines and comparisons to regularized likelihood methods;
    Niculescu-Mizil, Caruana 2005, Predicting good probabilities with supervised learning, doi:10.1145/1102351.1102430.
    """

    interval_method = "mirror"
    slope_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        logits = _logits(prob, self.clip, self)
        classes = columns_of(prob.shape[1])
        coefficients, still = np.empty((len(classes), 2)), True
        for j, k in enumerate(classes):
            coefficients[j], here = _logistic(logits[:, j], label == k, weight)
            still = still and here
        self.slope_, self.intercept_ = coefficients.T.copy()
        return None if still else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return rows_of(expit(_logits(prob, self.clip, self) * self.slope_ + self.intercept_))

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        lines = zip(*log_formulas(prob, self.clip), self.slope_, self.intercept_, strict=True)
        return shares([logistic(float(a) * (own - others) + float(b)) for own, others, a, b in lines])


def _logits(prob: np.ndarray, clip: float | None, who: Recalibrator) -> np.ndarray:
    """Return the logit of class 1 of two, or of each class against all others together."""
    own, others = two_logs(prob, clip, who)
    return own - others


def _logistic(x: np.ndarray, observed: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, bool]:
    """Return slope and intercept of Cox's logistic regression of the outcomes on x, and whether it converged."""
    value, index = np.unique(x, return_inverse=True)
    part = counted(weight, x.size)
    ends = np.column_stack((value[[0, -1]], np.ones(2)))
    degree = int(np.linalg.matrix_rank(ends, rtol=FLAT)) - 1  # 0 if the predictions are equal, up to rounding
    count, events = (np.bincount(index, each) for each in (part, part * observed))
    model = LogitPolynomial(value, count, events, degree, "Platt scaling")
    fit, converged = model.climb(degree, CONVERGED)
    moved = model.at(ends[:, 0]) @ fit.coefficient
    # of all lines through one point that which moves slope and intercept least
    return np.array([1.0, 0.0]) + np.linalg.lstsq(ends, moved, rcond=FLAT)[0], converged
