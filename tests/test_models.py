"""Arguments that hold several models, samples or sets of rows: what is found and what is refused."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.data.models import models_of_rows, predictions_of_models, predictions_of_set

Y, P = [0, 1], [0.25, 0.75]


def test_models_of_the_same_rows_share_the_outcomes():
    assert models_of_rows(Y, {"a": P, 2: P}) == {"a": (Y, P), "2": (Y, P)}


def test_samples_hold_their_own_outcomes():
    assert models_of_rows({"a": (Y, P), "b": [P, Y]}, None) == {"a": (Y, P), "b": (P, Y)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Y, P), "expected y_prob, a mapping from name, found list"),
        ((Y, None), r"expected y_true, a mapping from name to \(y_true, y_prob\), found list"),
        ((Y, {"a": P}), "expected two or more different names"),
        ((Y, {1: P, "1": P}), "expected two or more different names"),
        (({"a": (Y, P), "b": 3}, None), r"expected \(y_true, y_prob\) of sample 'b', found int"),
        (({"a": (Y, P), "b": (Y, P, P)}, None), r"expected \(y_true, y_prob\) of sample 'b', found tuple"),
    ],
)
def test_what_holds_no_models_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        models_of_rows(*arguments)


def test_predictions_of_models_are_checked():
    found = predictions_of_models(Y, {"a": P, "b": [[0.75, 0.25], [0.25, 0.75]]}, None)
    assert [each.prob.tolist() for each in found.values()] == [[[0.75, 0.25], [0.25, 0.75]]] * 2
    with pytest.raises(ValueError, match=r"of the same classes from all models, found \[2, 3\] classes"):
        predictions_of_models(Y, {"a": P, "b": np.full((2, 3), 1 / 3)}, None)
    for bad in ({}, P):
        with pytest.raises(ValueError, match="expected y_prob, a mapping from name to predictions"):
            predictions_of_models(Y, bad, None)


def test_one_set_of_rows_is_a_pair_or_predictions():
    pair = predictions_of_set((Y, P), None, "train")
    assert predictions_of_set(cs.Predictions.from_rows(Y, P), None, "train").prob.tolist() == pair.prob.tolist()
    with pytest.raises(ValueError, match=r"expected train, a pair \(y_true, y_prob\) or Predictions, found list"):
        predictions_of_set([1, 2, 3], None, "train")
