"""A classifier of scikit-learn with a calibration map behind it, fitted to predictions of held-out rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import is_among, short, unknown_name
from calibstat.data.clipping import default_clip
from calibstat.data.estimators import Classifier, predict
from calibstat.data.logits import from_logits
from calibstat.data.numbered_labels import known_outcomes
from calibstat.data.weighted_sample import as_weights
from calibstat.data.words.names_elsewhere import MEMBERS_OF_MODELS
from calibstat.inference.cross_validation.feature_rows import rows_at
from calibstat.inference.cross_validation.fitted_folds import Estimator, check_estimator
from calibstat.inference.cross_validation.given_folds import folds_asked
from calibstat.recalibration import RECALIBRATORS, MapChoice, Recalibrator, choose
from calibstat.recalibration.parameters import Parametrised, need_fitted
from calibstat.resampling import key_of
from calibstat.resampling.rng import Rng

CHOOSE = "choose"
PROBABILITIES, SCORES = "predict_proba", "decision_function"
TOP_SCORE = 16.0  # the largest score: the sigmoid of a score twice as large still differs from 1


class CalibratedModel(Parametrised):
    """A classifier whose probabilities are recalibrated by a map that is fitted to predictions of held-out rows.

        >>> import calibstat as cs
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = cs.CalibratedModel(GaussianNB(), map="PlattScaling", random_state=1).fit(X[:400], y[:400])
        >>> model.map_
        PlattScaling(clip=6e-08)
        >>> raw = cs.predict(GaussianNB().fit(X[:400], y[:400]), X[400:])
        >>> after = cs.predict(model, X[400:])
        >>> cs.estimate(y[400:], after, measure="log_loss") < cs.estimate(y[400:], raw, measure="log_loss", clip=1e-9)
        True

    Parameters
    ----------
    estimator : object
        A classifier or pipeline of scikit-learn with `predict_proba` or `decision_function`, not fitted; it is cloned.
    map : str or Recalibrator
        "choose", the default: the map of `calibstat.recalibration` with the smallest Brier score on held-out rows, as
        `calibstat.recalibration.choose` finds it. Or a map, or its name, such as "PlattScaling".
    cv : int, splitter or iterable
        Number of folds, at least 2, dealt at random, no class to one alone; or a splitter or pairs of row numbers to
        fit to and to hold out, as in scikit-learn, that hold out every row once.
    random_state : None, int or Generator
        Of the folds. Seeds of the estimator are its own.

    Attributes
    ----------
    estimator_ : object
        The estimator, fitted to all rows.
    map_ : Recalibrator
        The map, fitted to the predictions of held-out rows.
    choice_ : MapChoice or None
        How the map was chosen; None if it was given.
    classes_ : ndarray, shape (K,)
        The classes, in the order of the columns of probabilities.
    scale_ : float or None
        What scores of `decision_function` are multiplied by, before they are taken as logits; None of probabilities.
    n_features_in_, feature_names_in_
        As of `estimator_`, if it has them.

    Notes
    -----
    The estimator is fitted cv + 1 times: without each fold, for the predictions that the map is fitted to, and on all
    rows, for new ones. Nothing is promised of the error of this model: judge it on other rows, or as a learner by
    ``calibstat.cross_validate(CalibratedModel(...), X, y)``. `sample_weight` counts in both fits. An estimator without
    `predict_proba`, such as a support vector machine, is asked for its `decision_function`, and the map gets the
    sigmoid of its scores, or the softmax of several; so Platt scaling of two classes is the logistic regression on the
    scores. Where the largest of the held-out scores is above 16 or below 1/16 all are first multiplied by a power of 2,
    `scale_`. Where probabilities are exactly 0 or 1, maps by default and by name move them by half the distance of the
    nearest other one.
    """

    _estimator_type: ClassVar[str] = "classifier"
    _names_elsewhere: ClassVar[Mapping[str, tuple[str, ...]]] = MEMBERS_OF_MODELS

    estimator_: Any
    map_: Recalibrator
    choice_: MapChoice | None
    classes_: np.ndarray
    scale_: float | None

    def __init__(
        self, estimator: Estimator, *, map: str | Recalibrator = CHOOSE, cv: object = 5, random_state: Rng = None
    ) -> None:
        self.estimator = estimator
        self.map = map
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the estimator and the map.

        Parameters
        ----------
        X : array_like, shape (n, n_features)
            Features, as the estimator takes them.
        y : array_like, shape (n,)
            Classes, numbers or text.
        sample_weight : array_like, shape (n,), optional
            Non-negative weights of the rows, for an estimator whose `fit` takes them.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If an argument is not as described, there are fewer than two rows a fold or of a class, or the rows outside
            of a fold that was given lack a class; or as the estimator and the map do.
        """
        check_estimator(self.estimator, "CalibratedModel", (PROBABILITIES, SCORES))
        given = _map_of(self.map)
        classes, label, weight = _checked(X, y, sample_weight)
        X = X if hasattr(X, "shape") or isinstance(X, list | tuple) else np.asarray(X)
        fold = self._folds(X, label, classes)
        held_out = np.empty((label.size, classes.size))
        for k in range(int(fold.max()) + 1):
            own = fold == k
            model = self._fitted(X, classes[label], weight, np.flatnonzero(~own))
            held_out[own] = _answers(model, rows_at(X, np.flatnonzero(own)), classes)
        scale = None if hasattr(model, PROBABILITIES) else _scale_of(held_out)
        held_out = held_out if scale is None else from_logits(held_out * scale)
        chosen, clip = None, default_clip(held_out)
        if given is None:
            rng = int(key_of(self.random_state))
            chosen = choose(label, held_out, sample_weight=weight, clip=clip, rng=rng, labels=range(classes.size))
            given = chosen.recalibrator
        elif isinstance(self.map, str) and "clip" in given.get_params():
            given.set_params(clip=clip)
        fitted = given.fit(held_out, label, weight, labels=range(classes.size))
        self.estimator_ = self._fitted(X, classes[label], weight, np.arange(label.size))
        self.map_, self.choice_, self.classes_, self.scale_ = fitted, chosen, classes, scale
        return self

    def predict_proba(self, X: object) -> np.ndarray:
        """Return the recalibrated probabilities of the classes, shape (n, K)."""
        need_fitted(self, "classes_")
        answers = _answers(self.estimator_, X, self.classes_)
        return self.map_.predict_proba(answers if self.scale_ is None else from_logits(answers * self.scale_))

    def predict(self, X: object) -> np.ndarray:
        """Return the most likely class of each row, of equally likely ones the first, shape (n,)."""
        prob = self.predict_proba(X)
        return self.classes_[prob.argmax(axis=1)]

    def score(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose most likely class was observed, as classifiers of scikit-learn do."""
        weight = None if sample_weight is None else np.asarray(sample_weight, np.float64)
        return float(np.average(self.predict(X) == known_outcomes(y), weights=weight))

    @property
    def n_features_in_(self) -> int:
        """Number of features of the fitted estimator."""
        need_fitted(self, "classes_")
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> np.ndarray:
        """Names of the features of the fitted estimator."""
        need_fitted(self, "classes_")
        return np.asarray(self.estimator_.feature_names_in_)

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether `fit` has been called."""
        return hasattr(self, "classes_")

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that this is a classifier of what its estimator takes."""
        from sklearn.utils import ClassifierTags, Tags, TargetTags, get_tags

        taken = get_tags(self.estimator)
        return Tags(
            "classifier", TargetTags(required=True), input_tags=taken.input_tags, classifier_tags=ClassifierTags()
        )

    def _folds(self, X: object, label: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Return the fold of each row; raise if the rows outside of one lack a class."""
        from sklearn.model_selection import check_cv

        if isinstance(self.cv, str):
            raise ValueError(
                f"expected cv, a number of folds or a splitter, found {short(self.cv)}; a fitted model stays as it is "
                "in CalibratedModel(FrozenEstimator(model)), with FrozenEstimator of scikit-learn, or give its "
                "predictions p of other rows to a map, as calibstat.recalibration.PlattScaling().fit(p, y)"
            )
        key = key_of(self.random_state)
        if isinstance(self.cv, int | np.integer):
            if label.size < 2 * self.cv:
                raise ValueError(f"expected at least 2 rows in each of {self.cv} folds, found n_samples = {label.size}")
            return folds_asked(self.cv, 1, key, X, classes[label], None, None)[:, 0]
        fold = folds_asked(check_cv(self.cv), None, key, X, label, None, None)[:, 0]
        for k in range(int(fold.max()) + 1):
            there = np.bincount(label[fold != k], minlength=classes.size)
            if there.min() == 0:
                raise ValueError(
                    f"expected every class among the rows outside of each fold, found none of class "
                    f"{short(classes.tolist()[int(there.argmin())])} outside of fold {k}; a number of folds as cv, or "
                    "StratifiedKFold of scikit-learn, deals the rows of a class to several folds"
                )
        return fold

    def _fitted(self, X: object, y: np.ndarray, weight: np.ndarray | None, rows: np.ndarray) -> Any:
        """Return a clone of the estimator that is fitted to some rows."""
        from sklearn.base import clone

        given = {} if weight is None else {"sample_weight": weight[rows]}
        everything = rows.size == y.size
        return clone(self.estimator).fit(X if everything else rows_at(X, rows), y[rows], **given)


def _map_of(map: str | Recalibrator) -> Recalibrator | None:
    """Return a map that is not fitted, None if it is to be chosen."""
    if isinstance(map, Recalibrator):
        return type(map)(**map.get_params(deep=False))
    if map == CHOOSE:
        return None
    if not is_among(map, RECALIBRATORS):
        raise unknown_name("a map", map, [CHOOSE, *RECALIBRATORS])
    return RECALIBRATORS[map]()


def _checked(
    X: object, y: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the classes, the number of the class of each row, and the weights."""
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_consistent_length, column_or_1d

    if y is None:
        raise ValueError("expected y, the classes; this estimator requires y to be passed, but the target y is None")
    answers = column_or_1d(known_outcomes(y), warn=True)
    check_classification_targets(answers)
    check_consistent_length(X, answers)
    classes, label = np.unique(answers, return_inverse=True)
    if classes.size < 2:
        found = f"1 class, {short(classes.tolist()[0])}" if classes.size else "no row"
        raise ValueError(f"expected at least 2 classes in y, found {found}")
    if sample_weight is None:
        return classes, label, None
    as_weights(sample_weight, label.size)  # raises; the estimator gets weights as they were given, not scaled
    return classes, label, np.asarray(sample_weight, np.float64)


def _answers(model: Classifier, X: object, classes: np.ndarray) -> np.ndarray:
    """Return the probabilities of a fitted model, or its scores, in the order of the classes, shape (n, K)."""
    if hasattr(model, PROBABILITIES):
        prob = predict(model, X)
        order = [list(prob.columns).index(each) for each in classes.tolist()]
        return prob.to_numpy(np.float64)[:, order]
    score = np.asarray(getattr(model, SCORES)(X), np.float64)
    if score.ndim == 1 and classes.size == 2:
        return np.column_stack((np.zeros(score.size), score))
    if score.ndim != 2 or score.shape[1] != classes.size:
        raise ValueError(
            f"expected a score of each of {classes.size} classes from {SCORES}, found shape {score.shape} of "
            f"{type(model).__name__}"
        )
    return score


def _scale_of(score: np.ndarray) -> float:
    """Return the power of 2 that brings the largest score up or down to `TOP_SCORE` at most, 1 of usual scores."""
    largest = float(np.abs(score).max())
    usual = largest == 0 or 1 / TOP_SCORE <= largest <= TOP_SCORE
    return 1.0 if usual else 2.0 ** float(np.floor(np.log2(TOP_SCORE / largest)))
