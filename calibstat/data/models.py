"""Checked arguments that hold several models, samples or sets of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from calibstat.data.checks import short
from calibstat.data.predictions import Predictions, as_predictions


def models_of_rows(y_true: Any, y_prob: Any) -> dict[str, tuple[Any, Any]]:
    """Return outcomes and predictions of two or more models on the same rows, or of samples if `y_prob` is None."""
    models = y_true if y_prob is None else y_prob
    if not isinstance(models, Mapping):
        kind = "y_true, a mapping from name to (y_true, y_prob)" if y_prob is None else "y_prob, a mapping from name"
        raise ValueError(f"expected {kind}, found {type(models).__name__}")
    if len({str(name) for name in models}) < max(len(models), 2):
        raise ValueError(f"expected two or more different names, found {short(list(models))}")
    if y_prob is not None:
        return {str(name): (y_true, p) for name, p in models.items()}
    for name, pair in models.items():
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"expected (y_true, y_prob) of sample {short(name)}, found {type(pair).__name__}")
    return {str(name): (pair[0], pair[1]) for name, pair in models.items()}


def predictions_of_models(y_true: Any, y_prob: Any, labels: Any) -> dict[str, Predictions]:
    """Return the predictions of one or more models for the same rows and classes."""
    if not isinstance(y_prob, Mapping) or not y_prob:
        raise ValueError(f"expected y_prob, a mapping from name to predictions, found {type(y_prob).__name__}")
    models = {str(name): as_predictions(y_true, p, labels) for name, p in y_prob.items()}
    classes = sorted({predictions.n_classes for predictions in models.values()})
    if len(classes) > 1:
        raise ValueError(f"expected predictions of the same classes from all models, found {classes} classes")
    return models


def predictions_of_set(data: Any, labels: Any, name: str) -> Predictions:
    """Return the predictions of one set of rows, a pair (y_true, y_prob) or `Predictions`."""
    if isinstance(data, Predictions):
        return as_predictions(data, labels=labels)
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise ValueError(f"expected {name}, a pair (y_true, y_prob) or Predictions, found {type(data).__name__}")
    return as_predictions(data[0], data[1], labels)
