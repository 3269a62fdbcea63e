"""Measures as scorers: sign, order of classes, weights, searches, and what is refused."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import calibstat as cs

RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(200, 3))
Y = np.where(RANDOM.random(200) < 1 / (1 + np.exp(-2 * X[:, 0])), "yes", "a no")
LINE = LogisticRegression().fit(X, Y)


def test_sign_and_order_of_classes_are_those_of_scikit_learn():
    assert cs.scorer("brier")(LINE, X, Y) == pytest.approx(
        -brier_score_loss(Y == "yes", LINE.predict_proba(X)[:, 1]), rel=1e-12
    )
    found = cross_val_score(LogisticRegression(), X, Y, scoring=cs.scorer("brier"), cv=4)
    binary = cross_val_score(LogisticRegression(), X, Y == "yes", scoring="neg_brier_score", cv=4)
    np.testing.assert_allclose(found, binary, rtol=1e-12)


def test_a_net_benefit_keeps_its_sign():
    act = cs.measures.NetBenefit(threshold=0.3)
    assert cs.scorer(act)(LINE, X, Y) == cs.estimate(Y, cs.predict(LINE, X), measure=act) > 0


def test_the_class_whose_probability_is_looked_at():
    ones = cs.scorer("ks", pos_label="a no")(LINE, X, Y)
    assert ones == -cs.estimate(Y, cs.predict(LINE, X), measure="ks", pos_label="a no")


def test_weights_lenses_and_options():
    weight = RANDOM.gamma(2, size=200)
    assert cs.scorer("ece", n_bins=5)(LINE, X, Y, sample_weight=weight) == -cs.estimate(
        Y, cs.predict(LINE, X), measure="ece", n_bins=5, sample_weight=weight
    )
    features, kind = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(features, kind)
    each = cs.scorer("ece", lens="class_wise_max")(model, features, kind)
    assert each == -cs.estimate(kind, cs.predict(model, features), lens="class_wise_max")


def test_a_search_by_a_proper_score_in_several_processes():
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": [1e-6, 1.0]},
        scoring=cs.scorer("log_loss"),
        cv=3,
        n_jobs=2,
    ).fit(X, Y)
    assert search.best_params_ == {"logisticregression__C": 1.0}
    assert search.best_score_ < 0


def test_it_can_be_pickled_and_says_what_it_is():
    again = pickle.loads(pickle.dumps(cs.scorer("ece", n_bins=4)))
    assert again == cs.scorer("ece", n_bins=4)
    assert "n_bins=4" in repr(again)


def test_what_is_refused():
    with pytest.raises(ValueError, match="expected lens 'class_wise_mean' or 'class_wise_max' of a scorer"):
        cs.scorer("ece", lens="class_wise")
    with pytest.raises(ValueError, match="did you mean 'brier'"):
        cs.scorer("briar")
    with pytest.raises(ValueError, match=r"expected n_bins= of measure .ece., found .n_bin."):
        cs.scorer("ece", n_bin=4)
    with pytest.raises(ValueError, match="expected a fitted classifier with predict_proba"):
        cs.scorer("ece")(object(), X, Y)
