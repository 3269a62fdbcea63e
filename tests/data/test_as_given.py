"""Rows come back in the container in which they were given, so that rows in another order are noticed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import calibstat as cs
from calibstat.recalibration import PlattScaling

ROWS = list("abcd")
Z = pd.DataFrame({"no": [-3.0, 3, -1, 1], "yes": [3.0, -3, 1, -1]}, index=ROWS)
Y = pd.Series(["yes", "no", "yes", "no"], index=ROWS)
FITTED = PlattScaling().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])


def test_probabilities_of_logits_keep_the_names_of_rows():
    prob = cs.from_logits(Z)
    assert prob.index.tolist() == ROWS
    assert prob.columns.tolist() == ["no", "yes"]
    assert cs.estimate(Y, prob) == cs.estimate(Y, cs.from_logits(Z.to_numpy()), labels=["no", "yes"])
    one = cs.from_logits(Z["yes"])
    assert isinstance(one, pd.Series)
    assert one.index.tolist() == ROWS
    assert one.name == "yes"


@pytest.mark.parametrize("make", [
    lambda z: cs.from_logits(z), lambda z: cs.from_logits(z["yes"]), lambda z: cs.from_logits({"a": z["yes"]}),
    lambda z: FITTED.predict_proba(cs.from_logits(z)), lambda z: FITTED.predict_proba(cs.from_logits(z["yes"])),
    lambda z: FITTED.predict_proba(cs.from_logits(z[["yes"]])),
])  # fmt: skip
def test_rows_in_another_order_are_noticed(make):
    names = {"pos_label": "yes"}
    cs.estimate(Y, make(Z), **names)
    with pytest.raises(ValueError, match="found the same labels in another order"):
        cs.estimate(Y, make(Z.sort_values("yes")), **names)


def test_polars_comes_back_as_polars():
    frame = pl.DataFrame({"no": [-3.0, 3], "yes": [3.0, -3]})
    prob = cs.from_logits(frame)
    assert isinstance(prob, pl.DataFrame)
    assert prob.columns == ["no", "yes"]
    assert np.array_equal(prob.to_numpy(), cs.from_logits(frame.to_numpy()))
    one = cs.from_logits(frame["yes"])
    assert isinstance(one, pl.Series)
    assert one.name == "yes"
    for given in (prob, one.rename("p")):
        out = FITTED.predict_proba(given)
        assert type(out) is type(given)
        assert np.array_equal(out.to_numpy(), FITTED.predict_proba(given.to_numpy()))


def test_arrays_and_lists_stay_arrays():
    for given in ([0.5, -1.0], np.array([[0.5], [1.0]]), [[0.5, 1.0], [1.0, 2.0]]):
        assert type(cs.from_logits(given)) is np.ndarray


def test_frames_have_columns_by_place_too():
    prob = cs.from_logits(Z)
    out = FITTED.predict_proba(prob)
    assert out.columns.tolist() == ["no", "yes"]
    assert out[:, 1].tolist() == out["yes"].tolist() == FITTED.predict_proba(prob.to_numpy())[:, 1].tolist()
    assert out[1:, :].index.tolist() == ROWS[1:]
    assert FITTED.predict(prob).tolist() == FITTED.predict(prob.to_numpy()).tolist()
