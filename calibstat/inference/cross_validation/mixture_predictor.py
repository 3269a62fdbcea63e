"""The model that cross-validation judges: one of the fitted models for each row, chosen by a hash of the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibstat.data.estimators import predict
from calibstat.in_words import InWords
from calibstat.inference.cross_validation.feature_rows import count_rows, row_hashes, rows_at


class MixturePredictor(InWords):
    """A classifier that asks one of several fitted models for each row, chosen by a hash of the row's features.

    Parameters
    ----------
    models : sequence of object
        Fitted classifiers of the same classes.
    key : int
        Other keys choose other models.

    Attributes
    ----------
    models : tuple of object
        The classifiers.
    classes_ : ndarray, shape (K,)
        The classes, as of the first model.

    Notes
    -----
    Equal rows are asked of the same model, in any order and at any time, since the hash depends on the values of the
    row alone. Where rows hardly repeat this is as good as a choice at random. Of features with a few distinct rows in
    all, it is one assignment of models to these.
    """

    def __init__(self, models: Sequence[Any], key: int) -> None:
        self.models, self._key = tuple(models), int(key)
        self.classes_ = np.asarray(self.models[0].classes_)

    def choose(self, X: object) -> np.ndarray:
        """Return the number of the model that is asked for each row, shape (n,)."""
        return (row_hashes(X, self._key) % np.uint64(len(self.models))).astype(np.int64)

    def predict_proba(self, X: object) -> np.ndarray:
        """Return the probabilities of the classes, shape (n, K).

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            The features, as the models take them.

        Returns
        -------
        ndarray, shape (n, K)
            The columns are in the order of `classes_`.
        """
        prob, chosen = np.empty((count_rows(X), self.classes_.size)), self.choose(X)
        for number in np.unique(chosen):
            rows = np.flatnonzero(chosen == number)
            prob[rows] = predict(self.models[number], rows_at(X, rows))[list(self.classes_)].to_numpy(np.float64)
        return prob

    def __str__(self) -> str:
        return f"one of {len(self.models)} models for each row, chosen by its hash"

    __repr__ = __str__
