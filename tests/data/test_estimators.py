"""Fitted classifiers: their classes keep their names and order, one model or several."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import calibstat as cs

RNG = np.random.default_rng(1)
X = RNG.normal(size=(120, 2))
NAMES = np.array(["hen", "cat", "dog"])  # scikit-learn sorts them
Y = NAMES[np.digitize(X[:, 0] + RNG.normal(size=120), [-0.5, 0.5])]
TWO = np.where(Y == "cat", "no", "yes")
LINE = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)


def test_the_order_of_the_classes_is_kept():
    frame = cs.predict(LINE, X)
    assert list(frame.columns) == list(LINE.classes_) == ["cat", "dog", "hen"]
    assert np.array_equal(frame.to_numpy(), LINE.predict_proba(X))
    found = cs.Predictions.from_estimator(LINE, X, Y)
    assert found.names == ("cat", "dog", "hen")
    assert [found.names[k] for k in found.label] == Y.tolist()
    assert cs.estimate(Y, frame) == cs.estimate(found)
    assert cs.estimate(found) == cs.estimate(Y, LINE.predict_proba(X), labels=LINE.classes_)


def test_rows_are_called_as_in_the_frame():
    frame = pd.DataFrame(X).sample(frac=1, random_state=0)
    found = cs.predict(make_pipeline(LINE), frame)
    assert found.index.equals(frame.index)
    assert np.array_equal(found.sort_index().to_numpy(), LINE.predict_proba(X))


def test_two_classes_and_the_positive_one():
    model = GaussianNB().fit(X, TWO)
    prob = model.predict_proba(X)
    expected = cs.estimate(TWO == "yes", prob[:, 1]), cs.estimate(TWO == "no", prob[:, 0])
    assert cs.estimate(cs.Predictions.from_estimator(model, X, TWO)) == expected[0]
    assert cs.estimate(cs.Predictions.from_estimator(model, X, TWO, pos_label="yes")) == expected[0]
    assert cs.estimate(cs.Predictions.from_estimator(model, X, TWO, pos_label="no")) == expected[1]
    assert cs.estimate(TWO, cs.predict(model, X)) == expected[0]
    assert cs.estimate(TWO, cs.predict(model, X), pos_label="no") == expected[1]


@pytest.mark.parametrize("classes", [[0, 1], [-1, 1], [1, 2], [False, True]])
def test_numbered_classes(classes):
    y = np.array(classes)[(TWO == "yes").astype(int)]
    model = GaussianNB().fit(X, y)
    assert cs.estimate(y, cs.predict(model, X)) == cs.estimate(TWO == "yes", model.predict_proba(X)[:, 1])


def test_several_models_are_named():
    models = {"line": LINE, "bayes": GaussianNB().fit(X, Y)}
    frames = cs.predict(models, X)
    assert list(frames) == ["line", "bayes"]
    assert cs.estimate(Y, frames)["bayes"] == cs.estimate(Y, cs.predict(models["bayes"], X))
    assert cs.compare(Y, frames, measure="brier").names == ("line", "bayes")


class NoClasses:
    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


class OneColumn:
    def predict_proba(self, X):
        return np.ones((len(X), 1))


class ManyOutcomes:
    def predict_proba(self, X):
        return [np.full((len(X), 2), 0.5)] * 3


def test_models_without_names_of_classes():
    assert list(cs.predict(NoClasses(), X).columns) == [0, 1]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearSVC().fit(X, TWO), r"with predict_proba, found LinearSVC; .*CalibratedClassifierCV.*from_logits"),
        ({"svm": LinearSVC().fit(X, TWO)}, r"found LinearSVC \(of 'svm'\)"),
        (X, "with predict_proba, found ndarray of shape"),
        (OneColumn(), r"K of at least 2 from predict_proba, found ndarray of shape \(120, 1\) of OneColumn"),
        (ManyOutcomes(), "found list of length 3 of ManyOutcomes"),
    ],
)
def test_what_gives_no_probabilities_is_refused(model, message):
    with pytest.raises(ValueError, match=message):
        cs.predict(model, X)


def test_an_outcome_that_the_model_does_not_know_is_named():
    with pytest.raises(ValueError, match="expected one of the 3 labels, found 'cow' in y_true at row 1"):
        cs.Predictions.from_estimator(LINE, X[:2], ["cat", "cow"])
    with pytest.raises(ValueError, match="found 'cow' in y_true at row 1"):
        cs.estimate(["cat", "cow"], cs.predict(LINE, X[:2]))


def test_a_model_in_place_of_its_predictions_is_pointed_out():
    with pytest.raises(ValueError, match=r"found a fitted Pipeline; .* calibstat.predict\(model, X\)"):
        cs.estimate(Y, LINE)


def test_a_recalibration_takes_the_frames():
    model = GaussianNB().fit(X, TWO)
    frame = cs.predict(model, X)
    fitted = cs.recalibration.PlattScaling(clip=1e-6).fit(frame, TWO)
    assert fitted.classes_.tolist() == ["no", "yes"]
    same = cs.recalibration.PlattScaling(clip=1e-6).fit(frame["yes"], TWO == "yes")
    assert np.allclose(fitted.predict_proba(frame)[:, 1], same.predict_proba(frame["yes"]), atol=1e-12)
    assert isinstance(frame, pd.DataFrame)
