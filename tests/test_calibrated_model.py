"""A model with a map behind it: the habits of scikit-learn, and the same numbers as by hand."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import calibstat as cs
from calibstat.recalibration import IsotonicRegression, PlattScaling, Unchanged

X, Y = make_classification(600, 6, n_informative=3, n_redundant=3, random_state=1)
WORDS = np.array(["no", "yes"])[Y]


def platt(estimator=None, **options):
    return cs.CalibratedModel(estimator or GaussianNB(), **{"map": "PlattScaling", "random_state": 1, **options})


@pytest.mark.filterwarnings("ignore")  # of what is not inherited from scikit-learn, and of fits without an optimum
def test_scikit_learn_accepts_it_without_an_exception():
    check_estimator(platt(LogisticRegression(), cv=2))


def test_it_is_the_map_of_held_out_predictions_by_hand():
    """Folds of scikit-learn, whose models are fitted here."""
    folds = KFold(4, shuffle=True, random_state=3)
    held_out = np.empty((600, 2))
    for train, test in folds.split(X):
        held_out[test] = GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])
    by_hand = PlattScaling().fit(held_out, Y)
    model = platt(map=PlattScaling(), cv=folds).fit(X, Y)
    prob = model.predict_proba(X[:50])
    assert prob == pytest.approx(by_hand.predict_proba(GaussianNB().fit(X, Y).predict_proba(X[:50])), abs=1e-12)
    assert (model.predict(X[:50]) == (prob[:, 1] > 0.5)).all()
    assert model.score(X, Y) == (model.predict(X) == Y).mean()
    pairs = platt(map=PlattScaling(), cv=list(folds.split(X))).fit(X, Y)
    assert (pairs.predict_proba(X[:50]) == prob).all()


def test_it_calibrates_naive_bayes_with_repeated_features():
    """Three of the six features repeat others, so naive Bayes is over-confident."""
    before = cs.predict(GaussianNB().fit(X[:400], Y[:400]), X[400:])
    after = cs.predict(platt().fit(X[:400], Y[:400]), X[400:])
    assert cs.estimate(Y[400:], after, measure="log_loss") < cs.estimate(Y[400:], before, measure="log_loss", clip=1e-9)
    twin = cs.predict(platt(map=Unchanged()).fit(X[:400], Y[:400]), X[400:])
    assert twin.to_numpy() == pytest.approx(before.to_numpy())


def test_a_map_is_chosen_by_held_out_rows():
    model = cs.CalibratedModel(GaussianNB(), random_state=1).fit(X, Y)
    assert model.choice_.recalibrator is model.map_
    assert {"PlattScaling", "IsotonicRegression", "Unchanged"} <= {name.split("(")[0] for name in model.choice_.names}
    again = clone(model).fit(X, Y)
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert pickle.loads(pickle.dumps(model)).predict_proba(X[:5]).tolist() == model.predict_proba(X[:5]).tolist()
    assert platt().fit(X, Y).choice_ is None


def test_words_frames_pipelines_and_searches():
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = platt(make_pipeline(StandardScaler(), LogisticRegression())).fit(frame, WORDS)
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.n_features_in_ == 6
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert set(model.predict(frame)) == {"no", "yes"}
    assert list(cs.predict(model, frame).columns) == ["no", "yes"]
    assert is_classifier(model)
    of_truth = platt().fit(frame, Y == 1)
    assert of_truth.classes_.tolist() == [False, True]
    assert of_truth.predict_proba(frame).tolist() == platt().fit(frame, WORDS).predict_proba(frame).tolist()
    grid = {"map": ["PlattScaling", "IsotonicRegression"], "estimator__logisticregression__C": [0.1, 1.0]}
    search = GridSearchCV(model, grid, scoring=cs.scorer(), cv=2)
    assert isinstance(search.fit(frame, WORDS).best_estimator_, cs.CalibratedModel)
    assert cross_val_score(model, frame, WORDS, cv=2).mean() > 0.8
    assert str(cs.cross_validate(model, frame, WORDS, repeats=1, rng=1)).startswith(
        "CalibratedModel(estimator=Pipeline("
    )


def test_more_classes():
    features, species = load_iris(return_X_y=True)
    model = platt(map="TemperatureScaling").fit(features, species)
    assert model.predict_proba(features).sum(axis=1) == pytest.approx(np.ones(150))
    assert model.score(features, species) > 0.9


class ByWeight(ClassifierMixin, BaseEstimator):
    """Predicts the weighted share of outcome 1 of the rows that it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, self.share_ = np.unique(y), np.average(y, weights=sample_weight)
        return self

    def predict_proba(self, X):
        return np.tile([1 - self.share_, self.share_], (len(X), 1))


def test_weights_count_in_both_fits():
    """A weight of 2 is a second row: with folds that keep both together the numbers are the same."""
    weight, fold = np.where(X[:, 0] > 0, 1, 2), np.arange(600) % 5
    twice = np.repeat(np.arange(600), weight)
    pairs = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    of_rows = [(np.flatnonzero(fold[twice] != k), np.flatnonzero(fold[twice] == k)) for k in range(5)]
    for estimator in (ByWeight(), LogisticRegression(C=1e6, tol=1e-10)):
        weighted = platt(estimator, cv=pairs, map="InterceptUpdate").fit(X, Y, sample_weight=weight)
        repeated = platt(estimator, cv=of_rows, map="InterceptUpdate").fit(X[twice], Y[twice])
        assert weighted.predict_proba(X) == pytest.approx(repeated.predict_proba(X), abs=1e-6)
    unweighted = platt(ByWeight(), cv=pairs, map="InterceptUpdate").fit(X, Y)
    assert abs(unweighted.estimator_.share_ - np.average(Y, weights=weight)) > 1e-4


def test_chosen_with_weights():
    weight = np.random.default_rng(1).gamma(2.0, 1.0, 600)
    found = cs.CalibratedModel(GaussianNB(), random_state=1).fit(X, Y, sample_weight=weight)
    assert found.choice_.mean[0] <= found.choice_.mean[1]
    assert found.map_.converged_


@pytest.mark.parametrize(
    ("options", "rows", "found"),
    [
        ({"map": "Plat"}, (X, Y), "a map"),
        ({"cv": 1}, (X, Y), "expected cv to be a whole number of at least 2, found 1"),
        ({"cv": 400}, (X, Y), "at least 2 rows in each of 400 folds"),
        ({"estimator": GaussianNB}, (X, Y), "expected an estimator, found the class GaussianNB"),
        ({}, (X, np.zeros(600)), "expected at least 2 classes in y, found 1 class"),
        ({}, (X[:20], np.append(np.zeros(19), 1)), "at least 2 rows with each class .* found 1 row with class 1.0"),
        ({"cv": KFold(2)}, (X[:20], np.repeat([0, 1], 10)), "none of class 0 outside of fold 0; a number of folds"),
        ({}, (X, Y[:-1]), "inconsistent numbers of samples"),
        ({}, (X, Y, np.ones(3)), "expected one weight a row"),
        ({"cv": KFold(2).split(X[:300])}, (X, Y), "held out"),
    ],
)
def test_what_is_wrong_is_named(options, rows, found):
    with pytest.raises(ValueError, match=found):
        cs.CalibratedModel(**{"estimator": GaussianNB(), **options}).fit(*rows)


def test_two_rows_of_a_class_are_enough_whatever_the_seed():
    classes = np.repeat(["a", "b", "c"], (30, 28, 2))
    for seed in (
        5,
        14,
        18,
    ):  # dealt without regard to classes both rows of "c" are in one fold, of these seeds below 20
        model = cs.CalibratedModel(GaussianNB(), map="TemperatureScaling", random_state=seed).fit(X[:60], classes)
        assert model.classes_.tolist() == ["a", "b", "c"]


def test_it_has_to_be_fitted():
    for ask in ("predict", "predict_proba"):
        with pytest.raises(NotFittedError, match="expected a fitted CalibratedModel"):
            getattr(platt(), ask)(X)
    with pytest.raises(NotFittedError):
        _ = platt().n_features_in_


def test_maps_have_the_habits_of_scikit_learn():
    p = np.random.default_rng(1).random(100)
    y = (p > 0.4).astype(int)
    with pytest.raises(NotFittedError, match="expected a fitted IsotonicRegression"):
        IsotonicRegression().predict_proba(p)
    fitted = clone(PlattScaling(clip=0.1)).fit(p, (p + 0.1 * np.sin(50 * p) > 0.45).astype(int))
    assert fitted.clip == 0.1
    assert fitted.score(p, y) == (fitted.predict(p) == y).mean()
    weight = np.arange(100.0)
    assert fitted.score(p, y, weight) == pytest.approx(weight[fitted.predict(p) == y].sum() / weight.sum())


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1.0] * 599, "expected one weight a row, found 599 weights for 600 rows"),
        ([1.0] * 599 + [-1.0], "expected a finite weight of at least 0"),
        ([1.0] * 599 + [np.nan], "sample_weight"),
    ],
)
def test_bad_weights_are_refused_before_anything_is_fitted(weight, message):
    with pytest.raises(ValueError, match=message):
        platt(ByWeight()).fit(X, Y, sample_weight=weight)
