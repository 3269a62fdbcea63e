"""Probabilities of classes that were rounded for printing: the error names the remedy, and only for them."""

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.data.models import are_classes
from calibstat.data.validation import sums_are_rounded
from calibstat.recalibration import TemperatureScaling

ROUNDED = np.array([[0.333, 0.333, 0.333], [0.25, 0.62, 0.14], [0.2, 0.3, 0.5]])  # .999 and, of two digits, 1.01
REMEDY = r"if they were rounded, give y_prob / y_prob.sum\(axis=1, keepdims=True\), or of a data frame y_prob.div"


@pytest.mark.parametrize("digits", [1, 2, 3, 5])
@pytest.mark.parametrize("classes", [2, 3, 10])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rounding_to_any_digits_is_known(digits, classes, dtype):
    prob = np.random.default_rng(digits).dirichlet(np.ones(classes), 200).round(digits).astype(dtype)
    assert sums_are_rounded(prob)
    assert not sums_are_rounded(np.column_stack((prob, np.full(200, 1.5 * classes * 10.0**-digits).astype(dtype))))


@pytest.mark.parametrize(
    "prob",
    [
        [[0.5, 0.3]],  # off by .2, and a rounded number of one digit by at most .05
        [[1 / 3, 0.3, 0.3]],
        [[0.333, 0.333, 0.33], [0.33, 0.33, 0.33]],  # the first off by .004
        [[0.7, 0.8], [0.9, 0.1]],  # two models
        [[1.2, -0.2]],
        [[np.nan, 0.5]],
        [[0.0, 0.0, 0.0]],
        np.full((2, 300), 2 / 300, np.float16),
    ],
)
def test_other_rows_are_not(prob):
    assert not sums_are_rounded(np.asarray(prob))


@pytest.mark.parametrize(
    "ask",
    [
        lambda y, p: cs.estimate(y, p),
        lambda y, p: cs.compare(y, {"one": p, "other": p}),
        lambda y, p: cs.report(y, {"model": p}),
        lambda y, p: cs.Predictions.from_rows(y, p),
        lambda y, p: TemperatureScaling().fit(p, y),
    ],
)
def test_every_function_names_the_remedy_which_works(ask):
    y = np.array([0, 1, 2] * 10)
    for rows in (ROUNDED, ROUNDED[:1]):
        with pytest.raises(ValueError, match=f"found a sum of 0.999 at row 0; {REMEDY}"):
            ask(y, np.resize(rows, (30, 3)))
    with pytest.raises(ValueError, match=r"found a sum of 0.9 at row 0($| \(of )"):
        ask(y, np.resize([0.3333, 0.3333, 0.2334], (30, 3)))
    divided = ROUNDED / ROUNDED.sum(axis=1, keepdims=True)
    assert cs.Predictions.from_rows([0, 1, 2], divided).n == 3


def test_two_columns_of_which_one_is_the_event():
    with pytest.raises(ValueError, match=f"found 0.99 in sums of y_prob at row 1; several models .*{REMEDY}"):
        cs.estimate([0, 1], [[0.5, 0.5], [0.33, 0.66]])


def test_a_frame_of_rounded_classes_is_one_model():
    frame = pd.DataFrame(ROUNDED[[0, 0, 1]], columns=["cat", "dog", "hen"])
    with pytest.raises(ValueError, match=REMEDY):
        cs.estimate(["cat", "dog", "hen"], frame)
    assert cs.estimate(["cat", "dog", "hen"], frame.div(frame.sum(axis=1), axis=0)) > 0
    assert not are_classes([[0.5, 0.6], [0.6, 0.5]])  # two models, as their single digits leave it open
