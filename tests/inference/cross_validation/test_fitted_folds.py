"""Clones fitted without each fold: what each learns from, seeds, threads, and what is refused before a fit."""

import sys

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from calibstat.inference.cross_validation.fitted_folds import check_estimator, fit_folds, seeded
from calibstat.resampling import key_of, repeated_folds

KEY = key_of(1)
X = np.random.default_rng(1).normal(size=(80, 2))
Y = (X[:, 0] + np.random.default_rng(2).normal(size=80) > 0).astype(int)
FOLD = repeated_folds(KEY, np.zeros(80), 4, 2)
FOREST = RandomForestClassifier(5)


def fitted(estimator, n_jobs=1, y=Y, positive=1):
    return fit_folds(estimator, X, y, positive, FOLD, KEY, n_jobs)


def test_a_row_is_predicted_by_a_model_that_has_not_seen_its_fold():
    found = fitted(LogisticRegression())
    assert [len(models) for models in found.models] == [4, 4]
    for r in range(2):
        for k in range(4):
            own = FOLD[:, r] == k
            by_hand = LogisticRegression().fit(X[~own], Y[~own])
            assert found.predictions[own, r] == pytest.approx(by_hand.predict_proba(X[own])[:, 1])
            assert found.models[r][k].coef_ == pytest.approx(by_hand.coef_)


def test_an_outcome_does_not_reach_its_own_prediction():
    changed = Y.copy()
    changed[17] = 1 - Y[17]
    before, after = fitted(FOREST).predictions, fitted(FOREST, y=changed).predictions
    assert before[17].tolist() == after[17].tolist()
    assert (before != after).any()


def test_threads_do_not_matter_and_seeds_differ_between_fits():
    one, other = fitted(FOREST), fitted(FOREST, n_jobs=2)
    assert one.predictions.tolist() == other.predictions.tolist()
    seeds = {model.random_state for models in one.models for model in models}
    assert len(seeds) == 8
    assert FOREST.random_state is None  # the estimator that was given stays as it is


def test_two_fits_on_all_rows_tell_learners_that_draw():
    assert fitted(make_pipeline(StandardScaler(), LogisticRegression())).refitted_alike
    assert not fitted(RandomForestClassifier(5, random_state=3)).refitted_alike


def test_seeds_that_were_given_stay_in_folds_also_within_pipelines():
    given = make_pipeline(StandardScaler(), RandomForestClassifier(random_state=3))
    assert seeded(given, KEY, 0, False).get_params()["randomforestclassifier__random_state"] == 3
    assert seeded(given, KEY, 0, True).get_params()["randomforestclassifier__random_state"] != 3


class Backwards(BaseEstimator):
    """A learner of words whose columns are in the other order."""

    def fit(self, X, y):
        self.classes_ = np.array(["yes", "no"])
        return self

    def predict_proba(self, X):
        return np.tile([0.7, 0.3], (len(X), 1))


def test_the_column_of_the_positive_outcome_is_found_by_its_name():
    words = np.array(["no", "yes"])[Y]
    assert (fitted(Backwards(), y=words, positive="yes").predictions == 0.7).all()
    with pytest.raises(ValueError, match=r"expected classes_ with 1, found \['yes', 'no'\] of Backwards"):
        fitted(Backwards())


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (
            LinearSVC(),
            "with predict_proba, found LinearSVC; fit it within CalibratedClassifierCV",
        ),
        (LogisticRegression, r"found the class LogisticRegression; make one, LogisticRegression\(\)"),
        (3, "as in scikit-learn, found int 3 without get_params and fit and predict_proba"),
    ],
)
def test_what_gives_no_probabilities_is_refused(estimator, said):
    with pytest.raises(ValueError, match=said):
        check_estimator(estimator, "cross_validate")


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(ImportError, match=r"pip install calibstat\[sklearn\] brings it"):
        check_estimator(LogisticRegression(), "cross_validate")
