"""Quadratic scaling: a logistic regression of the outcomes on the logit of each prediction and its square."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, as_expression, case, logistic, shares
from calibstat.recalibration.logistic_features import likeliest_within
from calibstat.recalibration.one_against_rest import columns_of, log_formulas, rows_of, two_logs
from calibstat.recalibration.recalibrator import NO_OPTIMUM, Recalibrator


class QuadraticScaling(Recalibrator):
    """Map the logit x of each prediction to a x² + b x + c, which does not decrease over the calibration rows.

        >>> import numpy as np
        >>> from calibstat.recalibration import QuadraticScaling
        >>> random = np.random.default_rng(1)
        >>> x = random.normal(0, 1, 20000)
        >>> y = random.random(20000) < 1 / (1 + np.exp(-(0.1 * x**2 + x)))
        >>> fitted = QuadraticScaling().fit(1 / (1 + np.exp(-x)), y)
        >>> fitted.square_.round(1), fitted.slope_.round(1)
        (array([0.1]), array([1.]))

    With more than two classes one regression for each class against the rest; rows are then divided by their
    sums.

    Parameters
    ----------
    clip : float, optional
        Predictions are moved into [clip, 1 - clip], `clip` below 1/2, before logarithms are taken. By default none is
        moved, and one of exactly 0 or 1 raises; the message gives a value.

    Attributes
    ----------
    square_, slope_, intercept_ : ndarray, shape (K,), or (1,) for two classes
        a, b and c of each class, or of class 1 of two.

    Raises
    ------
    ValueError
        By `fit` and `predict_proba`, if a probability is exactly 0, or 1 in a vector, and there is no `clip`.

    Notes
    -----
    Not converged: some class has no finite optimum. Maximum likelihood among parabolas that do not decrease from the
    least to the largest prediction of the calibration rows. New predictions beyond the vertex of the parabola, which is
    outside that range or at an end of it, become what the vertex becomes: the map never decreases. If outcomes fall
    with the predictions it is constant, where `PlattScaling` has a negative slope. Of fewer than three distinct
    predictions several maps are as good, and one of them is taken. With more than two classes the most likely class,
    and so the accuracy, can change. Cost: some ten passes over the rows for each class.

    References
    ----------
    Cox 1958, Two further applications of a model for binary regression, doi:10.1093/biomet/45.3-4.562, with a square as
    in the calibration belt of Nattino, Finazzi, Bertolini 2014, doi:10.1002/sim.6100.
    """

    square_: np.ndarray
    slope_: np.ndarray
    intercept_: np.ndarray

    def __init__(self, *, clip: float | None = None) -> None:
        self.clip = clip

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        own, others = two_logs(prob, self.clip, self)
        found = [
            _parabola(own[:, j] - others[:, j], label == k, weight) for j, k in enumerate(columns_of(prob.shape[1]))
        ]
        self.square_, self.slope_, self.intercept_ = np.array([coefficient for coefficient, _ in found]).T.copy()
        return None if all(still for _, still in found) else NO_OPTIMUM

    def _map(self, prob: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        own, others = two_logs(prob, self.clip, self)
        turn = self._turn()
        x = np.where(self.square_ < 0, np.minimum(own - others, turn), np.maximum(own - others, turn))
        return rows_of(expit((self.square_ * x + self.slope_) * x + self.intercept_))

    def _turn(self) -> np.ndarray:
        """Return the logit at the vertex of each parabola, or minus infinity of a line."""
        return np.divide(
            -self.slope_, 2 * self.square_, out=np.full(self.slope_.size, -np.inf), where=self.square_ != 0
        )

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        from scipy.special import expit

        found = []
        parts = zip(
            *log_formulas(prob, self.clip), self.square_, self.slope_, self.intercept_, self._turn(), strict=True
        )
        for own, others, *numbers in parts:
            a, b, c, turn = map(float, numbers)
            x = own - others
            if np.isfinite(turn):
                beyond = as_expression(float(expit((a * turn + b) * turn + c)))
                curve = logistic((a * x + b) * x + c)
                found.append(case([(f"{x.text} {'>' if a < 0 else '<'} {as_expression(turn).text}", beyond)], curve))
            else:
                found.append(logistic(b * x + c))
        return shares(found)


def _parabola(x: np.ndarray, observed: np.ndarray, weight: np.ndarray | None) -> tuple[np.ndarray, bool]:
    """Return the likeliest a, b and c with which a x² + b x + c does not decrease over the rows, and if converged."""
    ends = x.min(), x.max()
    slopes = np.array([[2 * end, 1, 0] for end in ends])
    flat_at = [np.array([[1, 0], [-2 * end, 0], [0, 1]]) for end in ends]
    faces = (*flat_at, np.eye(3)[:, 2:])
    return likeliest_within(x, observed, weight, _features, np.array([0.0, 1.0, 0.0]), slopes, faces)


def _features(x: np.ndarray) -> np.ndarray:
    """Return the square of logits, these and 1."""
    return np.column_stack((x**2, x, np.ones(x.size)))
