"""Clones of an estimator fitted without each fold, and what they predict for the rows of that fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import joblib
import numpy as np

from calibstat.data.checks import described, short
from calibstat.data.estimators import Classifier, advice_of_model, predict
from calibstat.inference.cross_validation.feature_rows import rows_at
from calibstat.progress import announced
from calibstat.resampling import fit_seeds


class Estimator(Protocol):
    """A classifier that can be cloned and fitted; type checkers cannot tell whether a pipeline has `predict_proba`."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, and if `deep` the parameters of estimators within it."""

    def set_params(self, **params: object) -> Any:
        """Change parameters."""

    def fit(self, X: object, y: np.ndarray, /) -> Any:
        """Fit to features and outcomes."""


REFITS = 2  # of the estimator on all rows, with different seeds
ROUNDING = 1e-9  # between predictions of two refitted models that are the same
MODEL_SEED = "random_state"


@dataclass(frozen=True)
class Fitted:
    """Fitted models and their predictions for rows that they have not seen.

    Attributes
    ----------
    models : tuple of tuple of object
        The models of each repeat, in the order of their folds.
    predictions : ndarray, shape (n, R)
        The probability of the positive outcome, for each row by the model of the repeat that was fitted without it.
    refitted_alike : bool
        Whether models that are fitted on all rows with different seeds predict the same for all rows.
    """

    models: tuple[tuple[Any, ...], ...]
    predictions: np.ndarray
    refitted_alike: bool


@dataclass(frozen=True)
class _Learning:
    """An estimator with the rows that it may learn from; `answers` are the outcomes as they were given."""

    estimator: Estimator
    X: object
    answers: np.ndarray
    positive: object
    key: np.uint64

    def fit(self, number: int, train: np.ndarray, judged: np.ndarray, replace: bool) -> tuple[Any, np.ndarray]:
        """Fit a clone on some rows, and return it with its probabilities of the positive outcome for others."""
        from sklearn.base import clone

        model: Any = seeded(clone(self.estimator), self.key, number, replace)
        model.fit(rows_at(self.X, train), self.answers[train])
        return model, self.probability(model, rows_at(self.X, judged))

    def probability(self, model: Classifier, X: object) -> np.ndarray:
        """Return the probability of the positive outcome."""
        prob = predict(model, X)
        if self.positive not in list(prob.columns):
            raise ValueError(
                f"expected classes_ with {short(self.positive)}, found {short(list(prob.columns))} of "
                f"{type(model).__name__}"
            )
        return prob[self.positive].to_numpy(np.float64)


def fit_folds(
    estimator: Estimator,
    X: object,
    answers: np.ndarray,
    positive: object,
    fold: np.ndarray,
    key: np.uint64,
    n_jobs: int,
    refits: int = REFITS,
) -> Fitted:
    """Fit an estimator once for each fold and `refits` times on all rows; say on standard error how long it takes."""
    everything = np.arange(len(answers))
    parts = [(r, np.flatnonzero(column == k)) for r, column in enumerate(fold.T) for k in range(int(column.max()) + 1)]
    jobs = [(np.delete(everything, held_out), held_out, False) for _, held_out in parts]
    jobs += [(everything, everything, True)] * refits
    found = _fit(_Learning(estimator, X, answers, positive, key), jobs, n_jobs)
    predictions = np.empty(fold.shape)
    models: list[list[Any]] = [[] for _ in fold.T]
    for (r, held_out), (model, prob) in zip(parts, found, strict=False):
        predictions[held_out, r] = prob
        models[r].append(model)
    refitted = [prob for _, prob in found[len(parts) :]]
    alike = all(np.abs(one - other).max() <= ROUNDING for one, other in pairwise(refitted))
    return Fitted(tuple(map(tuple, models)), predictions, alike)


def fit_forward(
    estimator: Estimator,
    X: object,
    answers: np.ndarray,
    positive: object,
    fold: np.ndarray,
    key: np.uint64,
    n_jobs: int,
) -> np.ndarray:
    """Return the probability of the positive outcome for each row by a clone that was fitted to earlier folds alone.

    Not a number in the first fold, and as long as all earlier folds have one outcome alone.
    """
    jobs = []
    for k in range(1, n_folds := int(fold.max()) + 1):
        train = np.flatnonzero(fold < k)
        if np.unique(answers[train]).size > 1:
            jobs.append((train, np.flatnonzero(fold == k), False))
    predictions = np.full(fold.size, np.nan)
    found = _fit(_Learning(estimator, X, answers, positive, key), jobs, n_jobs, n_folds)
    for (_, judged, _), (_, prob) in zip(jobs, found, strict=True):
        predictions[judged] = prob
    return predictions


def _fit(
    learning: _Learning, jobs: list[tuple[np.ndarray, np.ndarray, bool]], n_jobs: int, first: int = 0
) -> list[tuple[Any, np.ndarray]]:
    """Fit each job and return its model and its probabilities. Fits are numbered from `first` on, for their seeds."""
    calls = (joblib.delayed(learning.fit)(number, *job) for number, job in enumerate(jobs, first))
    fits: Iterator[tuple[Any, np.ndarray]] = joblib.Parallel(n_jobs, prefer="threads", return_as="generator")(calls)
    return list(announced(fits, [train.size for train, _, _ in jobs], f"{len(jobs)} fits"))


def seeded(model: Estimator, key: np.uint64, number: int, replace: bool) -> Estimator:
    """Return an estimator with the seeds of a fit in place of seeds that are None, or of all; also within pipelines."""
    found = model.get_params(deep=True)
    names = sorted(name for name in found if name.split("__")[-1] == MODEL_SEED and (replace or found[name] is None))
    seeds = fit_seeds(key, number, len(names))
    return model.set_params(**dict(zip(names, seeds, strict=True))) if names else model


def check_sklearn(what: str) -> None:
    """Raise unless scikit-learn is installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise ImportError(
            f"expected scikit-learn for {what}, found none; pip install calibstat[sklearn] brings it"
        ) from None


def check_estimator(estimator: object, what: str, answers: Sequence[str] = ("predict_proba",)) -> None:
    """Raise unless scikit-learn is installed, and an estimator can be cloned, fitted and asked by one of `answers`."""
    check_sklearn(what)
    if isinstance(estimator, type):
        name = estimator.__name__
        raise ValueError(f"expected an estimator, found the class {name}; make one, {name}()")
    missing = [name for name in ("get_params", "fit") if not hasattr(estimator, name)]
    if not any(hasattr(estimator, name) for name in answers):
        missing.append(" or ".join(answers))
    if missing == [" or ".join(answers)]:
        raise ValueError(
            f"expected an estimator with {missing[0]}, found {described(estimator)}; {advice_of_model(estimator)}"
        )
    if missing:
        raise ValueError(
            f"expected an estimator as in scikit-learn, found {described(estimator)} without {' and '.join(missing)}"
        )
