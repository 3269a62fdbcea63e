"""Checked arguments that hold several models, samples or sets of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import described, need_text, quoted, refuse_lazy, short
from calibstat.data.labels import OutcomeNames, check_row_names, column_names
from calibstat.data.predictions import Predictions, as_predictions
from calibstat.data.validation import sums_are_rounded

Predicted: TypeAlias = ArrayLike | Mapping[str, ArrayLike] | None  # of one model or of several, by their names
SUMS_TO_1 = 1e-4  # how far from 1 the sums of the rows of a frame of classes are, at most
FEWEST_DIGITS = 2  # of rounded classes: two models of which each says .5 or .6 are none


def named_models(y_prob: Any) -> dict[str, Any] | None:
    """Return the predictions of each model by its name, or None of anything that is the predictions of one.

    A frame is the classes of one model if most of its rows sum to 1, or all do but for the rounding of their numbers.
    """
    if type(y_prob) is np.ndarray:
        return None
    refuse_lazy("y_prob", y_prob)
    if isinstance(y_prob, Mapping):
        models = [(str(name), prob) for name, prob in y_prob.items()]
    elif hasattr(y_prob, "columns") and hasattr(y_prob, "dtypes") and len(y_prob.columns) > 1:
        columns = [y_prob[name] for name in y_prob.columns]
        if are_classes(columns):
            return None
        models = [(str(name), column) for name, column in zip(y_prob.columns, columns, strict=True)]
    else:
        return None
    if not models or len(dict(models)) < len(models):
        raise ValueError(
            f"expected different names of one or more models, found {quoted(name for name, _ in models) or 'none'}"
        )
    need_text("names of models", dict(models))
    orders = {tuple(names) for _, prob in models if (names := column_names(prob)) is not None}
    if len({tuple(sorted(map(str, names))) for names in orders}) < len(orders):
        found = " and ".join(f"({quoted(names)})" for names in list(orders)[:2])
        raise ValueError(f"expected the same order of classes in the columns of all models, found {found}")
    return dict(models)


def outcomes_of_models(y_true: object, models: Mapping[str, Any], beside: Mapping[str, object]) -> dict[str, Any]:
    """Return the outcomes of each model by its name: from a mapping, or one array for all models.

    Of a mapping, raise unless each model has an outcome in every row, the names are the names of the predictions, and
    nothing is given `beside` it.
    """
    if not isinstance(y_true, Mapping):
        return dict.fromkeys(models, y_true)
    for word, given in beside.items():
        if given is not None:
            raise ValueError(f"expected outcomes of each model without {word}=, which no study covers; found one")
    outcomes = {str(name): given for name, given in y_true.items()}
    if outcomes.keys() != models.keys():
        raise ValueError(
            f"expected outcomes and predictions of the same models, found outcomes of {quoted(outcomes)} and "
            f"predictions of {quoted(models)}"
        )
    for name, given in outcomes.items():
        if isinstance(given, tuple) or np.ndim(given) != 1:
            raise ValueError(
                f"expected the outcomes of {short(name)}, an array of shape (n,), found {described(given)}; give "
                "outcomes and predictions as two mappings, or samples of different rows as one"
            )
        missing = np.array([value is None or value != value for value in np.asarray(given, object)])
        if missing.any():
            raise ValueError(
                f"expected an outcome of {short(name)} in every row, found none in row {int(missing.argmax())}; rows "
                "that all models answered are chosen by who abstains, and a calibrated model may be wrong on them: "
                "give an abstention an outcome and a prediction, or say that the question is of these rows alone"
            )
        check_row_names(
            next(iter(outcomes.values())), given, (f"y_true[{next(iter(outcomes))!r}]", f"y_true[{name!r}]")
        )
    return {name: outcomes[name] for name in models}


def need_as_many_rows(rows: Mapping[str, int]) -> None:
    """Raise unless all models have as many rows."""
    first, *others = rows.items()
    for other in others:
        if other[1] != first[1]:
            raise ValueError(
                f"expected the same rows of all models, found {first[1]:,} of {short(first[0])} and {other[1]:,} of "
                f"{short(other[0])}"
            )


def are_classes(columns: Sequence[Any]) -> bool:
    """Whether columns are the classes of one model: their sums are 1. What is not a number is named elsewhere."""
    try:
        prob = np.column_stack([np.asarray(column, np.float64) for column in columns])
    except (TypeError, ValueError):
        return True
    most = np.mean(np.abs(prob.sum(axis=1) - 1) <= SUMS_TO_1) > 1 / 2
    return bool(most) or sums_are_rounded(prob, FEWEST_DIGITS)


def pairs_of_samples(samples: object) -> dict[str, Any]:
    """Return outcomes and predictions of two or more samples of different rows by their names."""
    if not isinstance(samples, Mapping):
        raise ValueError(f"expected samples, a mapping from name to (y_true, y_prob), found {described(samples)}")
    if len({str(name) for name in samples}) < max(len(samples), 2):
        raise ValueError(f"expected two or more different names, found {quoted(samples) or 'none'}")
    for name, pair in samples.items():
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise ValueError(f"expected (y_true, y_prob) of sample {short(name)}, found {described(pair)}")
    return {str(name): (pair[0], pair[1]) for name, pair in samples.items()}


def predictions_of_set(data: object, labels: OutcomeNames, name: str) -> Predictions:
    """Return the predictions of one set of rows, a pair (y_true, y_prob) or `Predictions`."""
    if isinstance(data, Predictions):
        return as_predictions(data, labels=labels)
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise ValueError(f"expected {name}, a pair (y_true, y_prob) or Predictions, found {described(data)}")
    return as_predictions(data[0], data[1], labels)
