"""The study of unequal biases: its models and signs, and its promise."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

STUDY = study_file("unequal_biases")


def test_the_narrow_model_is_calibrated_and_the_spread_one_is_the_chance():
    """Chances are uniform: their means in five groups are .1, .3, .5, .7 and .9."""
    y, p = STUDY.TwoModels(5).sample(20_000, 1)
    assert np.unique(p["narrow"]) == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])
    for value in (0.1, 0.5, 0.9):
        assert y[p["narrow"] == value].mean() == pytest.approx(value, abs=0.04)  # 5 standard errors of 4000 rows
    assert STUDY.TwoModels(1, narrow=0.03).sample(10, 1)[1]["narrow"] == pytest.approx(0.53)


@pytest.mark.parametrize(("model", "sign"), [(STUDY.TwoModels(5, spread=4.0), 1), (STUDY.TwoModels(1, narrow=0.3), -1)])
def test_the_sign_says_which_model_is_worse(model, sign):
    found = dict(zip(STUDY.NAMES, STUDY.Asks(99)(model.sample(3000, 1), np.random.SeedSequence(1)), strict=True))
    assert found["found"] == 1
    assert found["worse"] == sign
    assert np.sign(found["spread"] - found["narrow"]) == sign
    assert (found["p_spread"] < 0.05) == (sign == 1)


def test_the_promise_can_be_broken():
    rows = pd.DataFrame({"truth": [0, 0, 1], "replicates": 500, "differences": [30, 60, 400]})
    assert STUDY.violations(rows).index.tolist() == [1]
