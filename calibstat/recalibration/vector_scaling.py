"""Vector scaling: a weight and an intercept for the logarithm of each class."""

from __future__ import annotations

import numpy as np

from calibstat.data.clipping import clipped
from calibstat.recalibration.formula import Expression, log, softmax_of
from calibstat.recalibration.least_log_loss import best_temperature
from calibstat.recalibration.many_weights import likeliest_weights
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator, counted, finite_logs
from calibstat.recalibration.softmax_regression import MOST_CURVED, likeliest

WIDEST_FACTOR = 10.0  # with many classes the search starts at one weight for all, from its inverse to it


class VectorScaling(Recalibrator):
    """Map the logits, the logarithms of the predictions, to w_k log p_k + b_k for each class k, then softmax.

        >>> import calibstat as cs
        >>> from calibstat.recalibration import VectorScaling
        >>> y, p = cs.generators.dirichlet((1, 1, 1), scale=(2, 2, 2), shift=(0, 1, 0)).sample(20000, rng=1)
        >>> fitted = VectorScaling().fit(p, y)
        >>> fitted.weight_.round(1)
        array([0.5, 0.5, 0.5])

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    weight_, intercept_ : ndarray, shape (K,)
        w and b. A number added to all of b changes nothing.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0 and there is no `clip`.

    Notes
    -----
    Not converged: there is no finite optimum. Maximum likelihood. Logits from before a softmax lose a number of each
    row in it, and vector scaling of them is not quite the same. With two classes it is beta calibration (Kull, Silva
    Filho, Flach 2017, doi:10.1214/17-EJS1338SI). The most likely class can change. Cost: some ten passes over the rows,
    each O(n K²) for up to 500 classes; for more, where second derivatives between classes are not used, some thirty of
    O(n K).

    References
    ----------
    Guo, Pleiss, Sun, Weinberger 2017, arXiv:1706.04599.
    """

    tried_from = 3  # with two classes it is beta calibration without conditions

    weight_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        logs, times = finite_logs(prob, self.clip, self), counted(weight, label.size)
        if 2 * prob.shape[1] > MOST_CURVED:
            slope = 1 / best_temperature(clipped(prob, self.clip), label, WIDEST_FACTOR, times)
            coefficients, still = likeliest_weights(logs, label, slope, times)
        else:
            features = np.stack((logs, np.ones(logs.shape)), axis=2)
            start = np.column_stack((np.ones(prob.shape[1]), np.zeros(prob.shape[1])))
            coefficients, still = likeliest(features, label, times, start)
        self.weight_, self.intercept_ = coefficients.T.copy()
        return None if still else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import softmax

        return softmax(finite_logs(prob, self.clip, self) * self.weight_ + self.intercept_, axis=1)

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return softmax_of(
            [
                float(w) * log(p, self.clip) + float(b)
                for p, w, b in zip(prob, self.weight_, self.intercept_, strict=True)
            ]
        )
