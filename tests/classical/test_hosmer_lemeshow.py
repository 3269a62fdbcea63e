"""The Hosmer–Lemeshow test by hand, row by row, and its size with the right and the wrong degrees of freedom."""

import math
from functools import partial

import numpy as np
import pytest
from oracles import bin_number
from scipy import special, stats
from sizes import calibrated, compatible, rejected, statistics

import calibstat as cs
from calibstat.classical.hosmer_lemeshow import hosmer_lemeshow

SAMPLE = cs.Sample.from_counts([0.2, 0.7], [100, 100], [28, 70])
ON_HELD_OUT = partial(hosmer_lemeshow, held_out=True)


def chi_square(y, p, groups):
    """The statistic of equal-width groups, row by row."""
    cell = bin_number(p, groups)
    return sum(
        (y[cell == b].sum() - p[cell == b].sum()) ** 2 / (p[cell == b] * (1 - p[cell == b])).sum()
        for b in np.unique(cell)
    )


def test_hosmer_lemeshow_by_hand():
    found = hosmer_lemeshow(SAMPLE, held_out=True)  # 8² / (100 * .2 * .8) + 0
    assert found.statistic == pytest.approx(4, rel=1e-13)
    assert (found.df, found.n) == (2, 200)
    assert found.pvalue == pytest.approx(math.exp(-2), rel=1e-13)  # chi-square with 2 degrees of freedom
    assert found.to_frame().to_dict("list") == {
        "low": [0.2, 0.7],
        "high": [0.2, 0.7],
        "count": [100, 100],
        "observed": [28, 70],
        "expected": pytest.approx([20, 70]),
        "variance": pytest.approx([16, 21]),
    }


@pytest.mark.parametrize("groups", [1, 3, 10])
def test_hosmer_lemeshow_against_rows(groups):
    y, p = calibrated(np.random.default_rng(groups), 300)
    found = hosmer_lemeshow(y, p, held_out=True, n_groups=groups, strategy="uniform")
    assert found.statistic == pytest.approx(chi_square(y, p, groups), rel=1e-11)
    assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, groups), rel=1e-11)


def test_quantile_groups_are_of_equal_size():
    y, p = calibrated(np.random.default_rng(1), 1000)
    found = hosmer_lemeshow(y, p, held_out=True)
    assert found.count.tolist() == [100] * 10
    order = np.argsort(p)
    terms = [
        (y[i].sum() - p[i].sum()) ** 2 / (p[i] * (1 - p[i])).sum() for i in order.reshape(10, 100)
    ]  # fmt: skip
    assert found.statistic == pytest.approx(sum(terms), rel=1e-11)


@pytest.mark.parametrize(("fitted", "df"), [(1, 9), (2, 8), (5, 8)])
def test_degrees_of_freedom_on_fitted_rows(fitted, df):
    y, p = calibrated(np.random.default_rng(2), 400)
    assert hosmer_lemeshow(y, p, held_out=False, fitted_params=fitted).df == df


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected held_out=True .* or held_out=False for the Hosmer.* state it"),
        ({"held_out": "yes"}, "found 'yes'"),
        ({"held_out": False}, "expected fitted_params.*found None"),
        ({"held_out": False, "fitted_params": 0}, "expected fitted_params.*found 0"),
        ({"held_out": True, "fitted_params": 2}, "expected no fitted_params with held_out=True, found 2"),
        ({"held_out": False, "fitted_params": 2}, "more groups than the 2 fitted parameters, found 2 groups"),
        ({"held_out": True, "n_groups": 0}, "n_groups .*found 0"),
        ({"held_out": True, "strategy": "mass"}, "'mass'"),
    ],
)
def test_hosmer_lemeshow_wants_to_know(options, message):
    with pytest.raises(ValueError, match=message):
        hosmer_lemeshow(SAMPLE, **options)


def test_a_certain_group_has_no_variance():
    with pytest.raises(ValueError, match="between 0 and 1 in every group, found 1 alone"):
        hosmer_lemeshow([0, 1, 1, 1], [0.2, 0.2, 1, 1], held_out=True, n_groups=2)


def test_hosmer_lemeshow_has_its_size_on_held_out_rows_and_g_minus_2_has_11_per_cent():
    found = statistics(ON_HELD_OUT, 3000, 1000, 10)
    assert compatible(rejected(found), 3000, 0.045, 0.055)
    planted = sum(stats.chi2.sf(test.statistic, test.df - 2) <= 0.05 for test in found)
    assert not compatible(planted, 3000, 0.045, 0.055)
    in_the_limit = stats.chi2.sf(stats.chi2.ppf(0.95, 8), 10)
    assert in_the_limit == pytest.approx(0.115, abs=5e-4)
    assert compatible(planted, 3000, in_the_limit - 0.005, in_the_limit + 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (0.5, 0.5), (1, 5)])
def test_size_where_outcomes_are_rare(shape):
    found = statistics(ON_HELD_OUT, 1500, 300, 14, a=shape[0], b=shape[1])
    assert compatible(rejected(found), 1500, 0.045, 0.08)


@pytest.mark.slow
def test_hosmer_lemeshow_on_the_rows_of_the_fit():
    rng = np.random.default_rng(15)
    held_out, fitted = [], []
    for _ in range(8000):
        x = np.column_stack([np.ones(500), rng.normal(size=(500, 2))])
        y = (rng.random(500) < special.expit(x @ [-0.5, 0.7, -0.7])).astype(float)
        beta = np.zeros(3)
        for _ in range(8):
            v = special.expit(x @ beta)
            beta += np.linalg.solve(x.T * (v * (1 - v)) @ x, x.T @ (y - v))
        v = special.expit(x @ beta)
        fitted.append(hosmer_lemeshow(y, v, held_out=False, fitted_params=3))
        held_out.append(hosmer_lemeshow(y, v, held_out=True))  # the planted fault
    assert compatible(rejected(fitted), 8000, 0.035, 0.06)
    assert not compatible(rejected(held_out), 8000, 0.035, 0.06)


def test_an_event_that_all_but_cannot_be():
    found = cs.classical.hosmer_lemeshow([1, 0], [5e-324, 0.5], held_out=True)
    assert (found.statistic, found.pvalue) == (math.inf, 0.0)
