"""Recalibrated predictions of rows that the map was not fitted to: each fold from a map fitted to the others."""

from __future__ import annotations

import warnings

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.recalibration.recalibrator import Recalibrator


def held_out_predictions(
    data: Predictions, fold: np.ndarray, recalibrator: Recalibrator, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return recalibrated probabilities, shape (n, K): each fold from a map that was fitted on the other folds."""
    if data.n < 2:
        raise ValueError("expected at least 2 rows, of which each is recalibrated by a map of others, found 1")
    out = np.empty((data.n, data.n_classes))
    for k in range(int(fold.max()) + 1):
        fitted, kept = type(recalibrator)(**recalibrator.get_params(deep=False)), fold != k
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # no optimum: the map that was reached is judged as it is
            own = None if weight is None else weight[kept]
            fitted.fit(data.prob[kept], data.label[kept], own, labels=range(data.n_classes))
        if not kept.all():
            out[~kept] = fitted.predict_proba(data.prob[~kept])
    return out
