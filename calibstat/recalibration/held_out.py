"""Recalibrated predictions of rows that the map was not fitted to: each fold from a map fitted to the others."""

from __future__ import annotations

import warnings

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.progress import announced
from calibstat.recalibration.recalibrator import Recalibrator


def held_out_predictions(
    data: Predictions, fold: np.ndarray, recalibrator: Recalibrator, weight: np.ndarray | None = None
) -> np.ndarray:
    """Return recalibrated probabilities, shape (n, K): each fold from a map that was fitted on the other folds."""
    if data.n < 2:
        raise ValueError("expected at least 2 rows, of which each is recalibrated by a map of others, found 1")
    out = np.empty((data.n, data.n_classes))
    folds = range(int(fold.max()) + 1)
    for k in announced(folds, [1] * len(folds), f"{len(folds)} fits of {recalibrator!r}"):
        kept = fold != k
        fitted = _fitted(data, kept, recalibrator, weight)
        if not kept.all():
            out[~kept] = fitted.predict_proba(data.prob[~kept])
    return out


def fitted_predictions(data: Predictions, recalibrator: Recalibrator, weight: np.ndarray | None = None) -> np.ndarray:
    """Return recalibrated probabilities, shape (n, K), by a map that was fitted to all of these rows."""
    fitted = _fitted(data, np.ones(data.n, bool), recalibrator, weight)
    return np.asarray(fitted.predict_proba(data.prob))


def _fitted(data: Predictions, kept: np.ndarray, recalibrator: Recalibrator, weight: np.ndarray | None) -> Recalibrator:
    """Return a map of the same options, fitted to the rows that are kept."""
    fitted = type(recalibrator)(**recalibrator.get_params(deep=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # no optimum: the map that was reached is judged as it is
        own = None if weight is None else weight[kept]
        return fitted.fit(data.prob[kept], data.label[kept], own, labels=range(data.n_classes))
