"""What `cross_validate` prints, and what its result is as a dictionary."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import calibstat as cs

X = np.random.default_rng(1).normal(size=(240, 3))
Y = (np.random.default_rng(2).random(240) < 1 / (1 + np.exp(-X.sum(axis=1)))).astype(int)


@pytest.fixture(scope="module")
def result():
    return cs.cross_validate(LogisticRegression(), X, Y, rng=1)


def test_the_answer_says_what_the_test_cannot_and_of_which_models_the_interval_is(result):
    said = str(result)
    assert said.startswith("LogisticRegression(): 15 models of 240 rows in 5 folds, dealt 3 times.\n")
    assert "There is no evidence that the fits of this learner are miscalibrated each time (p = " in said
    assert "the interval allows for them." in said
    assert f"for each new row one of them at random, is at most {result.interval.high:.4f}." in said
    assert "The model refitted on all rows has the same error to first order, without a guarantee." in said
    assert "groups" not in said


def test_evidence_and_a_low_end_above_zero_are_said():
    bayes = cs.cross_validate(GaussianNB(), np.repeat(X, 6, axis=1), Y, rng=1)
    assert "There is evidence that not all of the 15 models are calibrated (p = " in str(bayes)
    assert f"is between {bayes.interval.low:.4f} and {bayes.interval.high:.4f}." in str(bayes)


def test_nothing_is_said_of_a_refitted_model_that_draws():
    forest = cs.cross_validate(RandomForestClassifier(5), X, Y, repeats=1, rng=1)
    assert not forest.refitted_alike
    assert "refitted on all rows" not in str(forest)


def test_the_outcome_is_named_unless_it_is_one(result):
    assert "Probabilities are of the outcome yes." in str(replace(result, outcome="yes"))
    assert "Probabilities are of" not in str(replace(result, outcome="True"))


def test_dictionaries_have_the_models_in_words(result):
    found = result.to_dict()
    assert found["out_of_fold"] == "15 models of 240 rows in 5 folds, dealt 3 times"
    assert found["interval.high"] == result.interval.high
    assert result.to_frame()["refitted_alike"].item()
    assert "1 fold" not in str(replace(result.out_of_fold, folds=result.folds[:, :1], models=result.models[:1]))
