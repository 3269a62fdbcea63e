"""Venn-Abers prediction against isotonic regressions that are fitted anew for each new row, and another package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from peer_maps import stored
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.recalibration import IsotonicRegression, VennAbers

PEERS = stored()


def anew(y, p, w, new):
    """p0 and p1: what isotonic regression makes of a further row of weight 1, fitted once for each."""
    fits = [
        IsotonicRegression()
        .fit(np.append(p, new), np.append(y, outcome), sample_weight=np.append(w, 1.0))
        .predict_proba([new])[0]
        for outcome in (0, 1)
    ]
    return fits[0], fits[1]


def test_venn_abers_by_hand():
    # outcomes 0, 1 at .2, .8 and a row at .5: 0, 0, 1 is monotone, p0 = 0; 0, 1, 1 too, p1 = 1
    fitted = VennAbers().fit([0.2, 0.8], [0, 1])
    assert [each.tolist() for each in fitted.predict_pair([0.1, 0.5, 0.9])] == [[0, 0, 0.5], [0.5, 1, 1]]
    # at .1: 0, 0, 1 gives 0, and 1, 0, 1 gives 1/2: merged 1/2 / (1 - 0 + 1/2) = 1/3
    np.testing.assert_allclose(fitted.predict_proba([0.1, 0.5, 0.9]), [1 / 3, 1 / 2, 2 / 3])


@given(weighted_rows(), st.lists(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]), min_size=1, max_size=4))
def test_venn_abers_against_refits(data, new):
    y, p, w = data
    w = w * 0.7  # weights that are no counts
    if_not, if_so = VennAbers().fit(p, y, sample_weight=w).predict_pair(np.append(new, p[:3]))
    expected = np.array([anew(y[w > 0], p[w > 0], w[w > 0], each) for each in np.append(new, p[:3])])
    np.testing.assert_allclose(if_not, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(if_so, expected[:, 1], atol=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1e6, 1e12])
def test_weights_of_any_size_against_refits(scale):
    y, p = cs.generators.temperature(2).sample(40, rng=1)
    w = scale * np.random.default_rng(0).gamma(2, 1, 40)
    if_not, if_so = VennAbers().fit(p, y, sample_weight=w).predict_pair(p[:8])
    expected = np.array([anew(y, p, w, each) for each in p[:8]])
    np.testing.assert_allclose(if_not, expected[:, 0], atol=1e-12)
    np.testing.assert_allclose(if_so, expected[:, 1], atol=1e-12)


@pytest.mark.parametrize("scale", [1e16, 1e300])
def test_beside_heavy_rows_a_new_row_changes_nothing(scale):
    y, p = cs.generators.temperature(2).sample(40, rng=1)
    w = np.random.default_rng(0).gamma(2, 1, 40)
    isotonic = IsotonicRegression().fit(p, y, sample_weight=w).predict_proba(p)
    for end in VennAbers().fit(p, y, sample_weight=scale * w).predict_pair(p):
        np.testing.assert_allclose(end, isotonic, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-16, 1e-300])
def test_beside_light_rows_a_new_row_is_all(scale):
    y, p = cs.generators.temperature(2).sample(40, rng=1)
    if_not, if_so = VennAbers().fit(p, y, sample_weight=np.full(40, scale)).predict_pair(p)
    np.testing.assert_allclose(if_not, 0, atol=1e-12)
    np.testing.assert_allclose(if_so, 1, atol=1e-12)


@given(rows())
def test_the_merged_probability_is_between_and_never_certain(data):
    y, p = data
    fitted = VennAbers().fit(p, y)
    if_not, if_so = fitted.predict_pair(p)
    merged = fitted.predict_proba(p)
    assert (if_not <= if_so).all()
    assert (merged >= if_not - 1e-15).all()
    assert (merged <= if_so + 1e-15).all()
    assert ((merged > 0) & (merged < 1)).all()
    assert not (np.diff(fitted.predict_proba(np.sort(p))) < -1e-15).any()


@pytest.mark.parametrize("name", PEERS)
def test_venn_abers_is_as_in_another_package(name):
    data = PEERS[name]
    fitted = VennAbers().fit(data["p"], data["y"])
    if_not, if_so = fitted.predict_pair(data["p"])
    np.testing.assert_allclose(if_not, data["venn_abers_0"], atol=1e-11)
    np.testing.assert_allclose(if_so, data["venn_abers_1"], atol=1e-11)
    np.testing.assert_allclose(fitted.predict_proba(data["p"]), data["venn_abers"], atol=1e-11)


def validity(n_sets, pick):
    """The rejections of calibration on single new rows, one a data set, of one of p0 and p1 for each."""
    prob, outcome = [], []
    for seed in range(n_sets):
        y, p = cs.generators.temperature(3).sample(31, rng=seed)
        if_not, if_so = VennAbers().fit(p[1:], y[1:]).predict_pair(p[:1])
        prob.append(pick(if_not[0], if_so[0], y[0]))
        outcome.append(y[0])
    return cs.calibration_test(outcome, prob, measure="ks", n_resamples=999, rng=1).pvalue


def test_the_one_of_the_outcome_that_comes_is_calibrated():
    # one test at 1e-3, whose seed is fixed: exact if the theorem holds
    assert validity(1500, lambda if_not, if_so, y: if_so if y else if_not) > 1e-3


def test_the_other_one_is_not():
    # the planted fault
    assert validity(1500, lambda if_not, if_so, y: if_not if y else if_so) <= 1e-3


def test_rows_of_two_columns_name_both_classes():
    y, p = cs.generators.temperature(1.5).sample(50, rng=1)
    fitted = VennAbers().fit(p, y)
    if_not, if_so = fitted.predict_pair(p)
    both_not, both_so = fitted.predict_pair(np.column_stack((1 - p, p)))
    np.testing.assert_array_equal(both_not, np.column_stack((1 - if_so, if_not)))
    np.testing.assert_array_equal(both_so, np.column_stack((1 - if_not, if_so)))


def test_three_classes_are_one_map_each():
    y, p = cs.generators.dirichlet((1, 1, 1), temperature=1.5).sample(100, rng=1)
    if_not, if_so = VennAbers().fit(p, y).predict_pair(p)
    for k in range(3):
        one = VennAbers().fit(p[:, k], y == k).predict_pair(p[:, k])
        np.testing.assert_allclose([if_not[:, k], if_so[:, k]], one, atol=1e-15)


def test_a_new_row_has_weight_one():
    # ten rows of weight 1/10 weigh as much as the new one: (0 + 1) / (1 + 1)
    fitted = VennAbers().fit([0.5] * 10, [0] * 10, sample_weight=[0.1] * 10)
    np.testing.assert_allclose(fitted.predict_pair([0.5])[1], [0.5])
