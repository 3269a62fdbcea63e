"""Plain functions as generators: what is drawn from them, and which questions they answer."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import calibstat as cs
from calibstat.study.plain_function import PlainFunction

RUN = {"n": 50, "replicates": 40, "seed": 1, "n_resamples": 99}


def too_high(n, rng):
    p = rng.random(n)
    return rng.random(n) < p**3, p


def even(n, rng):
    return pd.Series(rng.integers(0, 2, n)), pd.Series(np.full(n, 0.5))


def three(n, rng):
    return np.zeros(n, int), rng.dirichlet([1, 1, 1], n)


def test_the_power_of_a_test():
    found = cs.study.run("power", {"high": too_high, "even": even}, measures=["ks"], **RUN).set_index("generator")
    assert found.loc["high", "rate"] > 0.9
    assert found.loc["even", "rejections"] <= stats.binom.isf(1e-4, 40, 0.05)


def test_the_mean_of_an_estimate_agrees_with_its_distribution():
    found = cs.study.run("bias", {"even": even}, measures=["ece"], **{**RUN, "replicates": 400}).iloc[0]
    heads = np.arange(51)
    mean = stats.binom.pmf(heads, 50, 0.5) @ abs(heads / 50 - 0.5)  # one distinct prediction: |share - 1/2|
    assert abs(found["mean"] - mean) < 4 * found["mean_se"]
    assert np.isnan(found["truth"])


def test_several_classes():
    found = cs.study.run("power", {"three": three}, measures={"scores": ("canonical_ce", {})}, **RUN)
    assert found["rate"].iloc[0] > 0.5
    assert PlainFunction(three).n_classes == 3
    assert PlainFunction(even).n_classes is None


def test_questions_that_need_the_truth_say_so():
    with pytest.raises(NotImplementedError, match="not known of the function even"):
        cs.study.run("coverage", {"even": even}, measures=["ece"], **RUN)
    with pytest.raises(ValueError, match="expected calibrated generators, found 'even'"):
        cs.study.run("size", {"even": even}, measures=["ece"], **RUN)


def both(n, rng):
    p = rng.random(n)
    return rng.random(n) < p, {"a": p, 2: np.column_stack([1 - p, p])[:, 1] ** 2}


def test_several_models_have_names_and_no_truth():
    assert list(PlainFunction(both).models) == ["a", "2"]
    assert PlainFunction(even).models is None
    assert PlainFunction(both).n_classes is None
    assert PlainFunction(lambda n, rng: (three(n, rng)[0], {"a": three(n, rng)[1]})).n_classes == 3
    found = cs.study.run("consistency", {"both": both}, [20, 40, 80], ["ks"], ["rmse", "sd"], replicates=40, seed=1)
    assert found["model"].tolist() == ["a", "a", "2", "2"]
    assert found["order"].isna().tolist() == [True, False] * 2  # without a note: the function is known to know none
    with pytest.raises(NotImplementedError, match="not known of the function both"):
        cs.study.run("comparison", {"both": both}, measures=["ece"], **RUN)


def test_a_store_needs_a_repr(tmp_path):
    with pytest.raises(ValueError, match="a repr that says all, which a store has to know; found the function"):
        cs.study.run("power", {"even": even}, measures=["ks"], store=tmp_path / "store", **RUN)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    ("function", "found"),
    [
        (lambda n, rng: rng.random(n), "expected outcomes and predictions from <lambda>"),
        (lambda n, rng: (rng.integers(0, 2, 5), rng.random(5)), "expected 20 rows from"),
        (lambda n, rng: (rng.integers(0, 2, n), {}), "expected predictions of at least one model from <lambda>"),
    ],
)
def test_what_else_is_returned_is_named(function, found):
    with pytest.raises(ValueError, match=found):
        cs.study.run("power", {"a": function}, measures=["ks"], **RUN)
