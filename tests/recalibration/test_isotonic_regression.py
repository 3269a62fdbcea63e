"""Isotonic regression by hand, against scikit-learn, and that it is monotone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs
from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.recalibration import HistogramBinning, IsotonicRegression

Y, P = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(300, rng=7)
EIGHTHS = np.round(P * 8) + 1e-9  # with many ties; no row of zeros
TIED = EIGHTHS / EIGHTHS.sum(axis=1, keepdims=True)


def test_isotonic_by_hand():
    # outcomes 0, 1, 0, 1: the middle two are pooled to 1/2; linear in between, constant outside
    fitted = IsotonicRegression().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    np.testing.assert_allclose(
        fitted.predict_proba([0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.8, 1]), [0, 0, 0.25, 0.5, 0.5, 0.5, 0.625, 1, 1]
    )


def test_isotonic_of_three_classes_by_hand():
    p = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    fitted = IsotonicRegression().fit(p, [0, 1, 2])  # every class separates: its largest prediction becomes 1
    assert fitted.predict_proba(p).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    # class 0: .35 is halfway from .2 to .5; class 1: .4 halfway from .3 to .5; class 2: .25 is still 0
    np.testing.assert_allclose(fitted.predict_proba([[0.35, 0.4, 0.25]]), [[0.5, 0.5, 0]])
    # nothing happened at .4 or below: a row without any larger prediction has no score left
    fitted = IsotonicRegression().fit([[0.4, 0, 0.6], [0.6, 0.4, 0], [0, 0.6, 0.4]], [2, 0, 1])
    np.testing.assert_allclose(fitted.predict_proba([[0.4, 0.3, 0.3], [0.6, 0.2, 0.2]]), [[1 / 3] * 3, [1, 0, 0]])


@pytest.mark.parametrize("p", [P, TIED])
def test_isotonic_against_scikit_learn(p):
    other = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    new = cs.generators.dirichlet((1, 1, 1)).sample(50, rng=8)[1]
    scores = np.stack([other.fit(p[:, k], np.eye(3)[Y, k]).predict(new[:, k]) for k in range(3)], axis=1)
    total = scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(IsotonicRegression().fit(p, Y).predict_proba(new), scores / total, atol=1e-12)
    event = other.fit(p[:, 1], Y == 1).predict(new[:, 1])
    np.testing.assert_allclose(IsotonicRegression().fit(p[:, 1], Y == 1).predict_proba(new[:, 1]), event, atol=1e-12)


@given(rows(), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_map_is_interpolated_between_all_predictions_of_the_fit(data, new):
    y, p = data
    fitted = IsotonicRegression().fit(p, y)
    sample = cs.Sample.from_rows(y, p)
    new = np.concatenate((new, p, np.nextafter(p, 0), np.nextafter(p, 1).clip(0, 1)))
    level = recalibrated(*sample.arrays)
    above = level[np.searchsorted(sample.value, new).clip(max=level.size - 1)]
    with np.errstate(over="ignore"):  # of slopes between tiny predictions
        expected = np.minimum(np.interp(new, sample.value, level), above)
    np.testing.assert_array_equal(fitted.predict_proba(new), expected)


def test_knots_are_the_ends_of_constant_pieces():
    # outcomes 0, 0, 0, then 1, 0, 1, 0 pooled to 1/2: only the ends of the two pieces are kept
    knot, level = IsotonicRegression().fit(np.arange(1, 8) / 8, [0, 0, 0, 1, 0, 1, 0]).knots_[0]
    assert (knot * 8).tolist() == [1, 3, 4, 7]
    assert level.tolist() == [0, 0, 0.5, 0.5]


def decreases(out):
    return bool(np.any(np.diff(out) < 0))


@given(rows(), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_isotonic_is_monotone(data, new):
    y, p = data
    fitted = IsotonicRegression().fit(p, y)
    assert not decreases(fitted.predict_proba(np.sort(new)))
    # the mean over the calibration rows is that of the outcomes, and no monotone map has a smaller squared error
    out = fitted.predict_proba(p)
    assert out.mean() == pytest.approx(y.mean(), abs=1e-12)
    assert ((out - y) ** 2).sum() <= min(((p - y) ** 2).sum(), ((y.mean() - y) ** 2).sum()) + 1e-12


def test_a_histogram_is_not_monotone():
    # the planted fault: binning instead
    assert decreases(HistogramBinning(n_bins=2).fit([0.2, 0.8], [1, 0]).predict_proba([0.2, 0.8]))
