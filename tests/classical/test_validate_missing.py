"""Validations of rows that lack some of the numbers: one outcome alone, or predictions that separate the outcomes."""

import numpy as np
import pytest
from scipy.stats import beta

import calibstat as cs
from calibstat.classical.validation_result import TITLES

P = np.linspace(0.05, 0.95, 40)
LINE = ["in_the_large", "intercept", "slope"]
BOTH, APART = "needs both outcomes", "needs predictions that do not separate the outcomes"
ONCE = "needs rows that are independent and count once"
WITHOUT = [*LINE, "eci", "scaled_brier", "auc", "r2", "discrimination", "unreliability", "quality"]


@pytest.mark.parametrize("outcome", [0, 1])
@pytest.mark.parametrize("p", [P, np.full(40, 0.3), np.repeat([0.2, 0.6], 20)])
def test_one_outcome_alone_has_the_numbers_that_need_no_other(outcome, p):
    found = cs.validate(np.full(40, outcome), p)
    assert found.missing == dict.fromkeys(sorted(WITHOUT, key=[*TITLES].index), BOTH)
    assert all(np.isnan(getattr(found, name)) == (name in found.missing) for name in TITLES)
    end = beta.ppf(0.975, 1, 40)  # of 0 events in 40 rows, by Clopper and Pearson
    assert found.intervals["observed"] == pytest.approx((0, end) if outcome == 0 else (1 - end, 1))
    assert found.ratio == pytest.approx(outcome / p.mean())
    assert found.brier == pytest.approx(np.mean((p - outcome) ** 2))
    assert found.ici == pytest.approx(np.abs(p - outcome).mean())
    assert set(found.pvalues) == {"spiegelhalter_z"}
    assert np.isnan(found.flexible.frequency).all()
    assert f"AUC                            nan  {BOTH}\n" in str(found)
    assert str(found).endswith("ECI is of the flexible curve: none, because no curve is the most likely one.")
    assert found.to_dict()["missing.slope"] == BOTH


@pytest.mark.parametrize("is_reversed", [False, True])
def test_predictions_that_separate_the_outcomes_have_no_slope_and_an_auc(is_reversed):
    y = (P > 0.5).astype(int)
    y = 1 - y if is_reversed else y
    found = cs.validate(y, P)
    assert set(found.missing) == {"intercept", "slope", "eci", "unreliability", "quality"}
    assert set(found.missing.values()) == {APART}
    assert found.auc == 1 - is_reversed
    gained = np.log(np.where(y == 1, P, 1 - P)).sum() - 40 * np.log(0.5)
    assert found.discrimination == pytest.approx((2 * gained - 1) / 40)
    assert found.in_the_large == pytest.approx(0, abs=1e-9)  # as many events as predicted
    assert f"slope                          nan  {APART}\n" in str(found)


def test_weights_and_clusters_have_their_own_reason():
    y = np.zeros(60, int)
    for given in ({"sample_weight": np.linspace(1, 2, 60)}, {"cluster": np.arange(60) // 2}):
        found = cs.validate(y, np.linspace(0.05, 0.4, 60), **given)
        assert {name for name, why in found.missing.items() if why == BOTH} == {*WITHOUT[:7]}
        assert {name for name, why in found.missing.items() if why == ONCE} == {*WITHOUT[7:], "spiegelhalter_z"}
        assert found.intervals["observed"][0] == 0
        assert found.flexible.low is None


def test_several_models_of_which_one_separates_the_outcomes():
    y = np.arange(40) % 2
    found = cs.validate(y, {"apart": np.where(y == 1, 0.8, 0.3), "apart but once": np.r_[0.9, 0.9, P[2:]]})
    assert found["apart"].missing.keys() >= {"slope"}
    assert "slope" not in found["apart but once"].missing


def test_an_interval_that_ends_beyond_double_precision_is_infinite():
    """No failure among 35 predictions of nearly 1: as steep a line as can be explains them as well as the best."""
    y, p = [0] + [1] * 49, [0.9] * 15 + [1 - 1e-12] * 35
    found = cs.validate(y, p)
    assert found.missing == {}
    assert found.intervals["slope"] == (-np.inf, np.inf)
    assert np.isfinite(found.auc)
    assert "(-inf to inf)  1 if calibrated" in str(found)
