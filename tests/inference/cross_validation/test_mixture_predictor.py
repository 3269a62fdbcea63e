"""The predictor asks one model for each row, the same one wherever the row stands."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from calibstat.inference.cross_validation.mixture_predictor import MixturePredictor


class Constant:
    """A classifier that gives every row the same probability."""

    def __init__(self, p, classes=("no", "yes")):
        self.p, self.classes_ = p, np.array(classes)

    def predict_proba(self, X):
        return np.tile([1 - self.p, self.p], (len(X), 1))


MODELS = [Constant(p) for p in (0.1, 0.2, 0.3)]
X = np.random.default_rng(0).normal(size=(3000, 2))


def test_each_row_has_the_probability_of_its_model():
    predictor = MixturePredictor(MODELS, 1)
    chosen, prob = predictor.choose(X), predictor.predict_proba(X)
    assert prob[:, 1] == pytest.approx(np.array([0.1, 0.2, 0.3])[chosen])
    assert prob.sum(axis=1) == pytest.approx(1)
    assert predictor.classes_.tolist() == ["no", "yes"]
    assert stats.chisquare(np.bincount(chosen, minlength=3)).pvalue > 1e-3


def test_a_row_keeps_its_model_alone_in_another_order_and_in_a_frame():
    predictor = MixturePredictor(MODELS, 1)
    chosen = predictor.choose(X)
    assert predictor.choose(X[::-1]).tolist() == chosen[::-1].tolist()
    assert predictor.choose(X[7:8])[0] == chosen[7]
    assert predictor.choose(pd.DataFrame(X)).tolist() == chosen.tolist()
    assert MixturePredictor(MODELS, 2).choose(X).tolist() != chosen.tolist()


def test_classes_in_another_order_are_put_in_the_order_of_the_first_model():
    other = Constant(0.9, ("yes", "no"))  # .1 for yes
    assert MixturePredictor([MODELS[0], other], 1).predict_proba(X)[:, 1] == pytest.approx(0.1)


def test_no_rows_have_no_probabilities():
    assert MixturePredictor(MODELS, 1).predict_proba(np.empty((0, 2))).shape == (0, 2)
    assert str(MixturePredictor(MODELS, 1)) == "one of 3 models for each row, chosen by its hash"
