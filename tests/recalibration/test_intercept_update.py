"""Intercept update against statsmodels and closed forms."""

import numpy as np
import pytest
from hypothesis import given
from row_strategies import weighted_rows
from scipy.special import expit, logit

import calibstat as cs
from calibstat.recalibration import InterceptUpdate


def test_equal_predictions_become_the_share():
    # logit(.2) + c = logit(1/2): c = log 4
    fitted = InterceptUpdate().fit([0.2] * 4, [0, 1, 1, 0])
    assert fitted.intercept_[0] == pytest.approx(np.log(4), rel=1e-12)
    np.testing.assert_allclose(fitted.predict_proba([0.2, 0.5]), [0.5, 0.8])


def test_against_statsmodels():
    from statsmodels.api import GLM, families

    y, p = cs.generators.shift(0.7).sample(500, rng=3)
    other = GLM(y, np.ones((500, 1)), family=families.Binomial(), offset=logit(p)).fit()
    assert InterceptUpdate().fit(p, y).intercept_[0] == pytest.approx(other.params[0], abs=1e-8)


def test_it_is_the_intercept_of_calibration_in_the_large():
    y, p = cs.generators.shift(0.7).sample(500, rng=3)
    assert InterceptUpdate().fit(p, y).intercept_[0] == pytest.approx(
        cs.classical.cox(y, p, held_out=True).in_the_large, rel=1e-8
    )


@given(weighted_rows())
def test_the_mean_becomes_the_share_and_certain_predictions_stay(data):
    y, p, w = data
    possible = np.where(y == 1, p, 1 - p) > 0
    if not (w * possible).any():
        return
    y, p, w = y[possible], p[possible], w[possible]
    inside = (p > 0) & (p < 1) & (w > 0)
    if inside.any() and np.unique(y[inside]).size < 2:
        with pytest.warns(RuntimeWarning, match="InterceptUpdate has not converged"):
            InterceptUpdate().fit(p, y, sample_weight=w)
        return
    fitted = InterceptUpdate().fit(p, y, sample_weight=w)
    out = fitted.predict_proba(p)
    assert np.average(out, weights=w) == pytest.approx(np.average(y, weights=w), abs=1e-8)
    np.testing.assert_array_equal(fitted.predict_proba([0.0, 1.0]), [0, 1])
    moved = (p > 1e-6) & (p < 1 - 1e-6)
    np.testing.assert_allclose(out[moved], expit(logit(p[moved]) + fitted.intercept_[0]), rtol=1e-7)


def test_three_classes_become_their_shares():
    y, p = cs.generators.dirichlet((1, 1, 1), scale=(1, 1, 1), shift=(0, 1, 0)).sample(2000, rng=1)
    fitted = InterceptUpdate().fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba(p).mean(axis=0), np.bincount(y) / 2000, atol=1e-10)
    np.testing.assert_allclose(fitted.intercept_ - fitted.intercept_[0], [0, -1, 0], atol=0.2)
    assert fitted.intercept_.mean() == pytest.approx(0, abs=1e-12)


def test_an_impossible_outcome_raises_without_clip():
    with pytest.raises(ValueError, match="found 0 for class 1 at row 1; the log loss is infinite whatever is fitted"):
        InterceptUpdate().fit([0.5, 0.0], [1, 1])
    assert InterceptUpdate(clip=0.1).fit([0.5, 0.0, 0.4], [1, 1, 0]).converged_
