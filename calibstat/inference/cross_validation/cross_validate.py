"""The function `cross_validate`: fit an estimator on folds, and judge its models by the rows that each did not see."""

from __future__ import annotations

import warnings
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import Data
from calibstat.data.checks import check_jobs, check_level, cut, described, options_of, quoted, short
from calibstat.data.labels import check_row_names, distinct
from calibstat.data.numbered_labels import known_outcomes, numbered
from calibstat.data.retired_words import refuse_retired
from calibstat.inference.cross_validation.cross_validation_result import CrossValidation, OutOfFold
from calibstat.inference.cross_validation.feature_rows import count_rows
from calibstat.inference.cross_validation.fitted_folds import Estimator, check_estimator, fit_folds
from calibstat.inference.cross_validation.given_folds import Splitter, folds_asked
from calibstat.inference.cross_validation.mixture_predictor import MixturePredictor
from calibstat.inference.designs.cross_validated import CrossValidated
from calibstat.inference.designs.folds.fold_interval import FOLD_METHODS, cross_validated_interval
from calibstat.inference.designs.folds.fold_test import STRATIFIED, cross_validated_test
from calibstat.inference.designs.folds.folded_problem import folded_problems, need_error_with_folds
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.resampling import Draws, key_of
from calibstat.resampling.rng import Rng
from calibstat.result import read_only


def cross_validate(
    estimator: Estimator,
    /,
    X: object,
    y: ArrayLike,
    *,
    cv: int | ArrayLike | Splitter = 5,
    repeats: int | None = None,
    measure: str | Measure | type[Measure] = CrossValidated.interval_measure,
    method: str = FOLD_METHODS[0],
    groups: ArrayLike | None = None,
    pos_label: object = None,
    confidence_level: float = 0.95,
    rng: Rng = None,
    n_jobs: int = 1,
    **options: Unpack[MeasureOptions],
) -> CrossValidation:
    """Fit an estimator by cross-validation, and say how well calibrated its models are: for one data set and no other.

    >>> import calibstat as cs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = cs.cross_validate(GaussianNB(), X, y, repeats=1, rng=1)
    >>> found.test.pvalue < 0.01, 0 < found.interval.low < found.interval.high < 0.1
    (True, True)

    Parameters
    ----------
    estimator : object
        A classifier or pipeline of scikit-learn, or anything else with `get_params`, `fit` and `predict_proba`. Clones
        of it are fitted; it stays as it is.
    X : array_like, shape (n, n_features), data frame, sparse matrix or list of n
        The features, as the estimator takes them.
    y : array_like, shape (n,)
        The outcomes: two numbers or names.
    cv : int, array_like of shape (n,) or (n, R), or splitter
        The number of folds, dealt at random; or the fold of each row, of each of R repeats; or anything with
        ``split(X, y, groups)`` that holds out every row once, or once in each repeat.
    repeats : int, optional
        How many times folds are dealt, 3 by default; with a number of folds only.
    measure, **options
        The calibration error and its options, as for `confidence_interval` with `folds`.
    method : {"triangle", "mirror"}
        The high end for every learner, or a shorter one for learners that correct at most fully.
    groups : array_like, shape (n,), optional
        The group of each row (a patient, a site): its rows are held out together, and groups are independent, not rows.
    pos_label : object, optional
        The outcome whose probability is judged; by default the second one in order, as in scikit-learn.
    confidence_level : float
        Between 0 and 1; of each interval.
    rng, n_jobs
        As for `calibration_test`; folds and seeds of the estimator that are None come from `rng` too.

    Returns
    -------
    CrossValidation
        It holds a number for each row, and the models. `print` gives the answer in words.

    Raises
    ------
    ValueError
        If data, folds or the estimator are not as described; all but what models return is checked first.
    ImportError
        If scikit-learn is not installed; ``pip install calibstat[sklearn]`` brings it.

    Notes
    -----
    The interval is of the error of predicting each new row by one of the fitted models, drawn at random, as
    ``result.predictor`` does. The null hypothesis of the test is that all models are calibrated: it asks whether the
    learner is wrong each time it is fitted. Rows must be independent and of one law. The page "I have one data set" has
    the steps, and what is not promised. Cost: R K + 2 fits, and about a second at 10,000 rows.

    References
    ----------
    Bayle, Bayle, Janson, Mackey 2020, Cross-validation confidence intervals for test error, arXiv:2007.12671.
    """
    refuse_retired("cross_validate", options, ())
    check_estimator(estimator, "cross_validate")
    check_level("confidence_level", confidence_level)
    check_jobs(n_jobs)
    with options_of(cross_validate, options):
        asked = find_measure(measure, options)
    for name, given in (("y", y), ("groups", groups)):
        check_row_names(X, given, ("X", name))
    answers, positive = _outcomes(y, count_rows(X), pos_label)
    event = (answers == positive).astype(np.int64)
    unit = None if groups is None else numbered("group", groups, event.size)
    key = key_of(rng)
    seed = int(key)
    fold = folds_asked(cv, repeats, key, X, answers, unit, groups)
    # raises or warns before anything is fitted
    nothing_known = Data(event, np.full(fold.shape, 0.5), folds=fold, cluster=unit)
    method = CrossValidated(nothing_known).interval_method(method, confidence_level)
    folded = folded_problems(nothing_known, asked)
    need_error_with_folds(folded[0].problem, "interval")
    if isinstance(cv, Splitter) and all(each.is_stratified for each in folded):
        warnings.warn(STRATIFIED, UserWarning, stacklevel=2)
    fitted = fit_folds(estimator, X, answers, positive, fold, key, n_jobs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # said above
        data = Data(event, fitted.predictions, folds=fold, cluster=unit)
    draws, brier = Draws.of(seed, asked.draws(None), n_jobs), find_measure("brier", {})
    every_model = [model for models in fitted.models for model in models]
    predictor = MixturePredictor(every_model, seed)
    return CrossValidation(
        estimator=cut(" ".join(repr(estimator).split()), 200),
        outcome=str(positive),
        interval=cross_validated_interval(data, asked, method, confidence_level, draws),
        test=cross_validated_test(data, asked, draws),
        brier=cross_validated_interval(data, brier, FOLD_METHODS[0], confidence_level, draws),
        refitted_alike=fitted.refitted_alike,
        n_groups=0 if unit is None else int(unit.max()) + 1,
        seed=seed,
        out_of_fold=OutOfFold(read_only(fold), read_only(fitted.predictions), fitted.models, predictor),
    )


def _outcomes(y: ArrayLike, n: int, pos_label: object) -> tuple[np.ndarray, Any]:
    """Return the outcomes as an array, and the one whose probability is asked for: by default the larger one."""
    answers = known_outcomes(y)
    if answers.shape != (n,):
        raise ValueError(f"expected one outcome for each row of X, shape ({n},), found {described(y)}")
    outcomes = sorted(distinct(answers))
    if len(outcomes) != 2:
        raise ValueError(f"expected two outcomes in y, found {len(outcomes)}: {quoted(outcomes)}")
    if pos_label is None:
        return answers, outcomes[1]
    if pos_label not in outcomes:
        raise ValueError(f"expected pos_label to be one of {quoted(outcomes)}, found {short(pos_label)}")
    return answers, outcomes[outcomes.index(pos_label)]
