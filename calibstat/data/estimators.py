"""Predicted probabilities of fitted classifiers, as frames whose columns are named by the classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from calibstat.data.checks import described, short

if TYPE_CHECKING:
    import pandas as pd


class Classifier(Protocol):
    """A fitted classifier, of scikit-learn or like one."""

    def predict_proba(self, X: Any, /) -> Any:
        """Return the probabilities of the classes."""


def predict(model: Classifier | Mapping[str, Classifier], X: object) -> Any:  # to be given on, as frame or mapping
    """Return the predicted probabilities of fitted classifiers, to be given as `y_prob`.

        >>> import calibstat as cs
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = [[0], [1], [2], [3]], ["no", "no", "yes", "yes"]
        >>> models = {"line": LogisticRegression().fit(X, y), "bayes": GaussianNB().fit(X, y)}
        >>> list(cs.predict(models["line"], X).columns)
        ['no', 'yes']
        >>> result = cs.estimate(y, cs.predict(models, X), measure="ece")
        >>> list(result), result["bayes"] < 0.1 < result["line"]
        (['line', 'bayes'], True)

    Parameters
    ----------
    model : object, or mapping from name to object
        A fitted classifier or pipeline of scikit-learn, or anything else with `predict_proba` and `classes_`; or
        several by their names.
    X : array_like, shape (n, n_features)
        The features, as the models take them.

    Returns
    -------
    DataFrame of shape (n, K), or dict of them by name
        A column for each class, in the order of ``model.classes_`` and called by its name, so that outcomes may be
        those names. Without `classes_` the columns are numbers from 0. The rows are called as in a pandas frame `X`.

    Raises
    ------
    ValueError
        If a model has no `predict_proba`, or gives no probabilities of two classes or more.
    """
    if isinstance(model, Mapping):
        return {str(name): _of_one(each, X, f" (of {short(name)})") for name, each in model.items()}
    return _of_one(model, X, "")


def advice_of_model(model: object) -> str:
    """Say how the probabilities of a model are had that has no `predict_proba`."""
    if hasattr(model, "decision_function"):
        return (
            "fit it within CalibratedClassifierCV of scikit-learn, or give its probabilities as y_prob, from logits by "
            "calibstat.from_logits(logits)"
        )
    if _is_regressor(model):
        return "a regression predicts no probabilities: give those of a classifier of the outcome"
    if hasattr(model, "predict") and not hasattr(model, "get_params"):
        return (
            "give what its predict returns as y_prob, if these are probabilities, as of boosters and networks, or "
            "calibstat.from_logits of it, if these are logits or raw margins"
        )
    return "give its probabilities as y_prob, from logits by calibstat.from_logits(logits)"


def _is_regressor(model: object) -> bool:
    """Whether scikit-learn, if it is there, calls a model a regression."""
    try:
        from sklearn.base import is_regressor

        return bool(is_regressor(model))
    except (ImportError, AttributeError, TypeError):
        return False


def _of_one(model: Classifier, X: object, of: str) -> pd.DataFrame:
    """Return the predicted probabilities of one model; `of` names it in messages."""
    import pandas as pd

    try:
        predict_proba = model.predict_proba
    except AttributeError:
        raise ValueError(
            f"expected a fitted classifier with predict_proba, found {described(model)}{of}; {advice_of_model(model)}"
        ) from None
    prob = predict_proba(X)
    shape: tuple[int, ...] = np.shape(prob) if not isinstance(prob, list) else ()
    if len(shape) != 2 or shape[1] < 2:
        raise ValueError(
            f"expected probabilities of shape (n, K) with K of at least 2 from predict_proba, found {described(prob)} "
            f"of {type(model).__name__}{of}"
        )
    names = getattr(model, "classes_", range(shape[1]))
    rows = X.index if isinstance(X, pd.DataFrame) else None
    return pd.DataFrame(np.asarray(prob), index=rows, columns=list(getattr(names, "tolist", lambda: names)()))
