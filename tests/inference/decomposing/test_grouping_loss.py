"""The bound of the grouping loss: by hand, beside its known truth, and how often its end is above the truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibstat as cs
from calibstat.study import most_rejections

HALF = np.arange(20) % 2


class Known:
    """Predicts a column of the features, whatever it was fitted to."""

    classes_ = np.array([0, 1])

    def __init__(self, column=0):
        self.column = column

    def __repr__(self):
        return "Known()"

    def get_params(self, deep=True):
        return {"column": self.column}

    def set_params(self, **params):
        self.column = params.get("column", self.column)
        return self

    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        q = np.asarray(X)[:, self.column]
        return np.column_stack([1 - q, q])


def test_parts_by_hand():
    """Of rows 1, 0, 0, 1 predicted .4, .4, .6, .6 the best fit is 1/2 and its loss 1/4; the model that knows says .9,
    .1, .1, .9: loss .01. The predictions lose (.36 + .16) / 2 = .26."""
    y, p = np.array([1, 0, 0, 1]), np.array([0.4, 0.4, 0.6, 0.6])
    found = cs.grouping_loss(Known(), np.where(y == 1, 0.9, 0.1)[:, None], y, p, cv=2, rng=1)
    assert (found.score, found.rest) == (pytest.approx(0.26), pytest.approx(0.01))
    assert (found.mcb, found.estimate) == (pytest.approx(0.01), pytest.approx(0.24))
    assert found.score == pytest.approx(found.mcb + found.estimate + found.rest, abs=1e-15)
    assert found.low == 0  # of four rows nothing is shown
    assert "It is not shown that the features know more" in str(found)


def test_the_estimator_is_given_the_prediction_too():
    random = np.random.default_rng(1)
    p = random.random(200)
    y = (random.random(200) < p).astype(int)
    own = cs.grouping_loss(Known(1), np.zeros((200, 1)), y, p, rng=1)
    assert own.rest == pytest.approx(own.score)
    frame = cs.grouping_loss(Known(1), pd.DataFrame({"a": np.zeros(200)}), y, p, rng=1)
    assert frame.to_dict() == own.to_dict()


def least_loss(y, p):
    """The least mean squared error of nondecreasing fits, as squares of steps from -.5, by a general optimiser."""
    value, at = np.unique(p, return_inverse=True)
    found = minimize(lambda step: np.mean((y - np.cumsum(step)[at]) ** 2), np.full(value.size, 0.1), method="SLSQP",
                     bounds=[(0, 1)] * value.size, options={"ftol": 1e-14, "maxiter": 500})  # fmt: skip
    return found.fun


@pytest.mark.parametrize("seed", range(3))
def test_the_best_recalibration_by_a_general_optimiser(seed):
    random = np.random.default_rng(seed)
    p = random.integers(1, 7, 60) / 8
    y = (random.random(60) < 0.2 + 0.5 * p).astype(int)
    q = np.clip(p + 0.05, 0, 1)
    found = cs.grouping_loss(Known(), q[:, None], y, p, cv=2, rng=1)
    assert found.estimate == pytest.approx(least_loss(y, p) - np.mean((y - q) ** 2), abs=1e-7)
    free = cs.grouping_loss(Known(), q[:, None], y, p, cv=2, shape=None, rng=1)
    each = np.array([y[p == v].mean() for v in p])
    assert free.estimate == pytest.approx(np.mean((y - each) ** 2) - np.mean((y - q) ** 2), abs=1e-14)
    assert free.estimate <= found.estimate + 1e-12


@pytest.mark.parametrize("bins", [1, 2])
@pytest.mark.parametrize("score", ["brier", "log_loss"])
def test_it_tends_to_the_grouping_loss_of_coarse_predictions(bins, score):
    """X uniform, Q = X, predicted the middle of its bin: by the Brier score 1 / (12 bins²), and the predictions' score
    is 1/6 more. By the log loss the entropy of the middles less 1/2, the mean entropy of X."""
    random = np.random.default_rng(5)
    x = random.random(100_000)
    y = (random.random(x.size) < x).astype(int)
    middle = (np.floor(x * bins) + 0.5) / bins
    found = cs.grouping_loss(Known(), x[:, None], y, middle, cv=2, score=score, rng=1)
    c = (np.arange(bins) + 0.5) / bins
    truth = {"brier": 1 / (12 * bins**2), "log_loss": -np.mean(c * np.log(c) + (1 - c) * np.log(1 - c)) - 0.5}[score]
    assert found.estimate == pytest.approx(truth, abs=0.006)
    assert found.low < truth
    if score == "brier":
        assert cs.generators.calibrated(c).truth("brier") == pytest.approx(1 / 6 + truth, abs=1e-12)


def misses(n, grouping, repeats, seed):
    """How often the low end is above a stated grouping loss, where the truth is .15² and the model knows it."""
    random, count = np.random.default_rng(seed), 0
    for _ in range(repeats):
        x = random.integers(0, 2, n)
        y = (random.random(n) < 0.35 + 0.3 * x).astype(int)
        found = cs.grouping_loss(Known(), 0.35 + 0.3 * x[:, None], y, np.full(n, 0.5), cv=2, rng=1)
        count += found.low > grouping
    return count


def test_the_low_end_is_rarely_above_the_truth():
    """The sharpest case: one prediction, and a model that is right. A stated loss of half as much is refuted."""
    assert misses(300, 0.15**2, 300, 1) <= most_rejections(0.05, 300, 1e-4)
    assert misses(300, 0.15**2 / 4, 300, 1) > most_rejections(0.05, 300, 1e-4)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"X": np.zeros((19, 1))}, "expected a row of X for each outcome, found 19 rows and 20 outcomes"),
        ({"X": np.zeros(20)}, "expected X of shape"),
        ({"y": np.zeros(20)}, "expected outcomes 0 and 1, found 0 alone"),
        ({"p": np.full(20, 1.5)}, "1.5"),
        ({"shape": "unimodal"}, "expected shape 'nondecreasing' or None, found 'unimodal'"),
        ({"cv": 1}, "cv"),
        ({"score": "crps"}, "score"),
        ({"confidence_level": 1.0}, "confidence_level"),
        ({"score": "log_loss"}, "clip"),
    ],
)
def test_wrong_arguments(changed, message):
    given = {"X": np.zeros((20, 1)), "y": HALF, "p": np.full(20, 0.5)} | changed
    with pytest.raises(ValueError, match=message):
        cs.grouping_loss(Known(), **given)


def test_a_fit_for_each_fold_and_no_other():
    fits = []

    class Counted(Known):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    p = np.linspace(0.2, 0.8, 20)
    cs.grouping_loss(Counted(), p[:, None], HALF, p, cv=4, rng=1)
    assert sorted(fits) == [15, 15, 15, 15]


def test_learners_and_words():
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 2))
    y = (random.random(400) < 1 / (1 + np.exp(-2 * X[:, 1]))).astype(int)
    found = cs.grouping_loss(LogisticRegression(), X, y, np.full(400, 0.5), rng=1)
    again = cs.grouping_loss(LogisticRegression(), X, y, np.full(400, 0.5), rng=1, n_jobs=2)
    assert found.to_dict() == again.to_dict()
    assert found.low > 0.02
    assert str(found).startswith("The features know more than the predictions: the grouping loss (brier) is at least")
    assert cs.grouping_loss(GaussianNB(), X[:, :1], y, np.full(400, 0.5), rng=1).low == 0
