"""No recalibration: what others are compared with."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, shares
from calibstat.recalibration.recalibrator import Recalibrator, normalised


class Unchanged(Recalibrator):
    """Leave predictions as they are, which is best if they are calibrated, or if there are few rows.

        >>> from calibstat.recalibration import Unchanged
        >>> Unchanged().fit([0.2, 0.7], [0, 1]).predict_proba([0.5])
        array([0.5])

    Attributes
    ----------
    classes_ : ndarray, shape (K,)
        The classes; nothing else is fitted.

    Notes
    -----
    A vector comes back as it was given, rows of a matrix divided by their sums, which are off by rounding.
    Cost: O(n K).

    References
    ----------
    None: it is the map that changes nothing.
    """

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        return None

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return normalised(prob)

    def _event(self, prob: np.ndarray) -> np.ndarray:
        return prob[:, 1].copy()

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return prob[1:] if len(prob) == 2 else shares(prob)
