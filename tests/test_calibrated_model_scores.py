"""Classifiers that give scores and no probabilities are calibrated from their scores; models fitted before."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import calibstat as cs
from calibstat.recalibration import PlattScaling

X, Y = make_classification(240, 4, random_state=1)
FOLD = np.arange(240) % 3
PAIRS = [(np.flatnonzero(k != FOLD), np.flatnonzero(k == FOLD)) for k in range(3)]


class Scores(ClassifierMixin, BaseEstimator):
    """Scores that are a multiple of the first feature."""

    def __init__(self, times=1.0):
        self.times = times

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return self.times * X[:, 0]

    def predict(self, X):
        return self.classes_[(X[:, 0] > 0).astype(int)]


@pytest.mark.parametrize("estimator", [LinearSVC(dual=False), make_pipeline(StandardScaler(), RidgeClassifier())])
def test_platt_scaling_is_the_logistic_regression_on_scores_of_held_out_rows(estimator):
    score = np.empty(240)
    for train, test in PAIRS:
        score[test] = estimator.fit(X[train], Y[train]).decision_function(X[test])
    line = sm.GLM(Y, sm.add_constant(score), family=sm.families.Binomial()).fit()
    model = cs.CalibratedModel(estimator, map="PlattScaling", cv=PAIRS).fit(X, Y)
    expected = expit(line.params[0] + line.params[1] * estimator.fit(X, Y).decision_function(X))
    assert model.predict_proba(X)[:, 1] == pytest.approx(expected, abs=1e-6)
    assert model.scale_ == 1.0
    assert model.map_.clip is None


@pytest.mark.parametrize("times", [1e-300, 1e-9, 1.0, 3.0, 1e4, 1e200])
@pytest.mark.parametrize("name", ["PlattScaling", "TemperatureScaling", "IsotonicRegression"])
def test_the_unit_of_scores_does_not_matter(times, name):
    """The sigmoid of a score of 40 is 1: without a scale large scores were all the same."""
    y = (np.random.default_rng(1).random(240) < expit(X[:, 0])).astype(int)
    model = cs.CalibratedModel(Scores(times), map=name, cv=PAIRS).fit(X, y)
    expected = cs.CalibratedModel(Scores(), map=name, cv=PAIRS).fit(X, y).predict_proba(X)
    assert model.predict_proba(X) == pytest.approx(expected, abs=1e-5)


def test_scores_of_several_classes_and_words():
    x, kind = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[kind]
    model = cs.CalibratedModel(SVC(), map="TemperatureScaling", random_state=1).fit(x, names)
    prob = model.predict_proba(x)
    assert prob.sum(axis=1) == pytest.approx(np.ones(150))
    assert np.mean(model.predict(x) == names) > 0.95
    score = model.estimator_.decision_function(x) * model.scale_
    expected = model.map_.predict_proba(cs.from_logits(score))
    assert prob == pytest.approx(expected)


def test_scores_of_pairs_of_classes_are_refused():
    x, kind = make_classification(120, 8, n_informative=5, n_classes=4, random_state=1)
    with pytest.raises(ValueError, match=r"a score of each of 4 classes from decision_function, found shape \(24, 6\)"):
        cs.CalibratedModel(SVC(decision_function_shape="ovo"), random_state=1).fit(x, kind)


def test_what_gives_neither_is_refused():
    with pytest.raises(ValueError, match="an estimator with predict_proba or decision_function, found StandardScaler"):
        cs.CalibratedModel(StandardScaler()).fit(X, Y)


def test_a_fitted_model_is_told_where_it_belongs():
    model = LogisticRegression().fit(X[:120], Y[:120])
    with pytest.raises(
        ValueError, match=r"found 'prefit'; .*FrozenEstimator.*recalibration.PlattScaling\(\).fit\(p, y"
    ):
        cs.CalibratedModel(model, cv="prefit").fit(X[120:], Y[120:])
    frozen = cs.CalibratedModel(FrozenEstimator(model), map="PlattScaling", random_state=1).fit(X[120:], Y[120:])
    p = cs.predict(model, X[120:]).to_numpy()
    assert frozen.map_.slope_ == pytest.approx(PlattScaling().fit(p, Y[120:]).slope_)
