"""Mean replacement: one confidence for all rows."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, as_expression, case
from calibstat.recalibration.one_against_rest import columns_of
from calibstat.recalibration.recalibrator import Recalibrator


class MeanReplacement(Recalibrator):
    """Give the most likely class of every row the same probability, the accuracy on the calibration rows.

        >>> from calibstat.recalibration import MeanReplacement
        >>> p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8], [0.4, 0.5, 0.1]]
        >>> MeanReplacement().fit(p, [0, 1, 2, 0]).predict_proba(p[:2])
        array([[0.75 , 0.125, 0.125],
               [0.125, 0.75 , 0.125]])

    The other classes share the rest equally. A cautionary example: it has next to no top-label calibration error and
    keeps the accuracy, but loses all other information; proper scores such as `log_loss` show that.

    Attributes
    ----------
    confidence_ : float
        Share h of the calibration rows whose most likely class is observed.

    Notes
    -----
    Of equally likely classes the first counts as the most likely one; a prediction of .5 as class 0. The most likely
    class stays so as long as h > 1/K. Below, every other class of the row becomes more likely than it, and with two
    classes every prediction is reversed, as it should be if predictions are wrong more often than not. Cost:
    O(n K).

    References
    ----------
    Chidambaram, Ge 2024, Reassessing How to Compare and Improve the Calibration of Machine Learning Models,
    arXiv:2406.04068.
    """

    tried_from = None  # a cautionary example

    confidence_: float

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        self.confidence_ = float(np.average(prob.argmax(axis=1) == label, weights=weight))
        return None

    def _map(self, prob: np.ndarray) -> np.ndarray:
        out = np.full(prob.shape, (1 - self.confidence_) / (prob.shape[1] - 1))
        out[np.arange(len(prob)), prob.argmax(axis=1)] = self.confidence_
        return out

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        rest = as_expression((1 - self.confidence_) / (len(prob) - 1))
        found = []
        for k in columns_of(len(prob)):
            first = [f"{prob[k].text} {'>' if j < k else '>='} {other.text}" for j, other in enumerate(prob) if j != k]
            found.append(case([(" AND ".join(first), as_expression(self.confidence_))], rest))
        return found
