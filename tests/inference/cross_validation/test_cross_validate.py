"""`cross_validate`: the answers of the verbs, the same numbers for rows of every kind, and what it refuses."""

import logging
import pickle
from functools import cache, partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import calibstat as cs

N = 240
X = np.random.default_rng(1).normal(size=(N, 3))
Y = (np.random.default_rng(2).random(N) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(int)
WORDS = np.array(["no", "yes"])[Y]
GROUPS = np.arange(N) // 4
LINE = make_pipeline(StandardScaler(), LogisticRegression())
ask = partial(cs.cross_validate, rng=1)


@cache
def first():
    """The answer that others are compared with."""
    return ask(LINE, X, Y)


def numbers(found):
    """All numbers of an answer."""
    return found.predictions.tolist(), found.interval.to_dict(), found.test.to_dict(), found.brier.to_dict()


def test_the_answers_are_of_the_verbs_with_these_folds():
    data, seed = (Y, first().predictions), {"folds": first().folds, "rng": first().seed}
    assert first().interval.to_dict() == cs.confidence_interval(*data, measure="kernel_ce", **seed).to_dict()
    assert first().brier.to_dict() == cs.confidence_interval(*data, measure="brier", **seed).to_dict()
    assert first().test.to_dict() == cs.calibration_test(*data, measure="kernel_ce", **seed).to_dict()
    assert first().folds.shape == first().predictions.shape == (N, 3)
    assert [len(models) for models in first().models] == [5, 5, 5]
    smooth = ask(LINE, X, Y, method="mirror")
    assert smooth.interval.low == first().interval.low
    assert smooth.interval.high < first().interval.high
    assert smooth.test.pvalue == first().test.pvalue


def test_other_measures_with_their_options():
    found = ask(LINE, X, Y, measure="ece", n_bins=7, repeats=1, confidence_level=0.8)
    expected = cs.confidence_interval(
        Y,
        found.predictions[:, 0],
        measure="ece",
        n_bins=7,
        folds=found.folds[:, 0],
        rng=found.seed,
        confidence_level=0.8,
    )
    assert found.interval.to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match="expected n_bins= of measure 'ece', found 'n_bin'"):
        ask(LINE, X, Y, measure="ece", n_bin=7)


ROWS = {
    "lists": lambda: ask(LINE, X.tolist(), Y.tolist()),
    "booleans": lambda: ask(LINE, X, Y == 1),
    "words": lambda: ask(LINE, X, WORDS),
    "words in a series": lambda: ask(LINE, X, pd.Series(WORDS, dtype="category")),
    "named": lambda: ask(LINE, X, WORDS, pos_label="yes"),
    "negative": lambda: ask(LINE, X, 2 * Y - 1),
    "threads": lambda: ask(LINE, X, Y, n_jobs=2),
    "folds": lambda: ask(LINE, X, Y, cv=first().folds),
    "again": lambda: ask(LINE, X, Y),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_numbers_are_the_same_however_rows_are_given(name):
    assert numbers(ROWS[name]()) == numbers(first())


FRAMES = {  # whose columns scikit-learn adds up in another order
    "pandas": lambda: ask(LINE, pd.DataFrame(X, columns=list("abc")), pd.Series(Y)),
    "pandas with an index": lambda: ask(LINE, pd.DataFrame(X, index=np.arange(N)[::-1]), Y),
    "polars": lambda: ask(LINE, pl.DataFrame(X), pl.Series(Y)),
    "sparse": lambda: ask(
        make_pipeline(StandardScaler(with_mean=False), LogisticRegression()), sparse.coo_matrix(X), Y
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_have_the_same_numbers_up_to_rounding(name):
    found = FRAMES[name]()
    exact = name != "sparse"  # which takes another way to the optimum
    assert found.folds.tolist() == first().folds.tolist()
    assert found.predictions == pytest.approx(first().predictions, abs=1e-12 if exact else 1e-3)
    assert found.interval.high == pytest.approx(first().interval.high, rel=1e-6 if exact else 0.02)
    assert (found.predictor.choose(X) == first().predictor.choose(X)).all()


def test_another_seed_has_other_folds_and_a_learner_that_draws_is_seeded_too():
    assert ask(LINE, X, Y, rng=2).folds.tolist() != first().folds.tolist()
    forest = partial(ask, RandomForestClassifier(5), X, Y, repeats=1)
    assert numbers(forest()) == numbers(forest(n_jobs=2))
    assert numbers(forest()) != numbers(forest(rng=2))
    assert first().refitted_alike
    assert not forest().refitted_alike


def test_the_other_outcome_has_the_other_probabilities():
    found = ask(LINE, X, WORDS, pos_label="no")
    assert found.predictions == pytest.approx(1 - first().predictions)
    assert found.interval.high == pytest.approx(first().interval.high, rel=0.1)
    assert "Probabilities are of the outcome no." in str(found)
    assert "Probabilities are of" not in str(first())


def test_all_rows_of_a_group_are_held_out_together_and_taken_as_one_cluster():
    found = ask(LINE, X, Y, groups=GROUPS)
    assert all(len(set(column[g == GROUPS])) == 1 for column in found.folds.T for g in range(60))
    assert "60 groups were held out together, and test and intervals take the groups, not their rows" in str(found)
    rows = {"folds": found.folds, "cluster": GROUPS, "rng": found.seed}
    expected = cs.confidence_interval(Y, found.predictions, **rows)
    assert (found.interval.low, found.interval.high) == (expected.low, expected.high)
    assert found.test.pvalue == cs.calibration_test(Y, found.predictions, **rows).pvalue
    score = cs.confidence_interval(Y, found.predictions, measure="brier", **rows)
    assert (found.brier.low, found.brier.high) == (score.low, score.high)
    assert ask(LINE, X, Y, groups=GROUPS.astype(str)).folds.tolist() == found.folds.tolist()
    split = ask(LINE, X, Y, groups=GROUPS, cv=GroupKFold(5))
    assert split.folds.shape == (N, 1)


def test_folds_by_outcomes_are_told():
    """The test of folds is blind where each fold has the same number of events."""
    with pytest.warns(UserWarning, match="deal folds at random"):
        found = ask(LINE, X, Y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    assert "deal folds at random" in str(found)
    assert "deal folds at random" not in str(ask(LINE, X, Y, cv=KFold(5, shuffle=True, random_state=0)))


def test_the_predictor_gives_each_row_the_probability_of_one_of_the_models():
    prob = first().predictor.predict_proba(X)[:, 1]
    of_models = np.array([model.predict_proba(X)[:, 1] for models in first().models for model in models])
    assert (prob == of_models[first().predictor.choose(X), np.arange(N)]).all()
    again = pickle.loads(pickle.dumps(first()))
    assert (again.predictor.predict_proba(X[::-1])[::-1, 1] == prob).all()
    assert list(cs.predict(ask(LINE, X, WORDS).predictor, X).columns) == ["no", "yes"]


def test_two_learners_with_the_same_seed_are_compared_on_the_same_folds():
    bayes = ask(GaussianNB(), X, Y)
    assert bayes.folds.tolist() == first().folds.tolist()


def test_long_fits_say_how_long_they_take(monkeypatch, caplog):
    monkeypatch.setattr("calibstat.progress.LONG_CALL", 0.0)
    monkeypatch.setattr("calibstat.progress.FORETOLD", 1e-9)
    with caplog.at_level(logging.WARNING, "calibstat"):
        ask(LINE, X, Y)
    assert "for 17 fits" in caplog.text


class Unasked(LogisticRegression):
    """A learner that must not be fitted."""

    def fit(self, X, y):
        raise AssertionError("fitted")


RARE = np.zeros(N, int)
RARE[7] = 1
FORWARD = np.arange(N)[::-1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"y": Y[1:]}, r"expected one outcome for each row of X, shape \(240,\), found ndarray of shape \(239,\)"),
        ({"y": np.where(np.arange(N) == 5, np.nan, Y)}, "expected no missing outcomes, found one in y at row 5"),
        ({"y": np.arange(N) % 3}, "expected two outcomes in y, found 3: 0, 1, 2"),
        (
            {"y": RARE},
            "expected at least 2 rows with each class of y, .* found 1 row with class 1; give more rows with it$",
        ),
        ({"pos_label": "yes"}, "expected pos_label to be one of 0, 1, found 'yes'"),
        ({"estimator": SVC()}, "expected an estimator with predict_proba, found SVC"),
        ({"groups": np.arange(5)}, r"expected one group a row, shape \(240,\)"),
        ({"groups": np.where(np.arange(N) == 5, np.nan, 1.0)}, "expected no missing groups, found one at row 5"),
        ({"method": "rough"}, "expected a method of rows with folds=, one of triangle, mirror; found 'rough'"),
        (
            {"learner": "rough"},
            "expected method='triangle' or method='mirror' for cross_validate, found learner='rough'",
        ),
        ({"confidence_level": 95}, "expected confidence_level between 0 and 1, found 95"),
        ({"measure": "brier"}, "no interval with folds is known for brier"),
        ({"measure": "mcb"}, "no interval with folds is known for"),
        ({"n_jobs": 0}, "expected n_jobs"),
        ({"cv": 200}, "expected at least 2 rows in each fold"),
        ({"rng": "one"}, "expected rng None, an int"),
        (
            {"y": pd.Series(Y, index=FORWARD), "X": pd.DataFrame(X, index=FORWARD[::-1])},
            "expected y with the index of X",
        ),
    ],
)
def test_wrong_input_is_refused_before_anything_is_fitted(given, said):
    given = dict(given)
    with pytest.raises(ValueError, match=said):
        cs.cross_validate(given.pop("estimator", Unasked()), **{"X": X, "y": Y} | given)


def test_small_folds_warn_once():
    with pytest.warns(UserWarning, match="12 rows a fold on average are few") as caught:
        ask(LINE, X, Y, cv=20, repeats=1)
    assert len(caught) == 1
