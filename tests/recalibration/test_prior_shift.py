"""Prior shift in closed form, and with a prevalence estimated without outcomes."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows

import calibstat as cs
from calibstat.recalibration import PriorShift


def test_a_sampling_rate_divides_the_odds():
    # of class 0 a tenth was kept: odds of 1 in training are odds of 1/10
    fitted = PriorShift(sampling_rate=0.1).fit([0.5])
    np.testing.assert_allclose(fitted.predict_proba([0.5, 0.9, 0, 1]), [1 / 11, 0.9 / (0.9 + 1), 0, 1])
    np.testing.assert_allclose(PriorShift(sampling_rate=(0.1, 1)).fit([0.5]).predict_proba([0.5]), [1 / 11])
    assert fitted.new_prevalence_ is None


def test_prevalences_multiply_the_odds():
    # (.2 / .8) / (.5 / .5) = 1/4
    fitted = PriorShift(train_prevalence=0.5, new_prevalence=0.2).fit([0.5])
    np.testing.assert_allclose(fitted.predict_proba([0.5, 0.8]), [0.2, 0.5])
    three = PriorShift(train_prevalence=(0.2, 0.3, 0.5), new_prevalence=(0.4, 0.3, 0.3)).fit([[0.2, 0.3, 0.5]])
    np.testing.assert_allclose(three.predict_proba([[0.2, 0.3, 0.5]]), [[0.4, 0.3, 0.3]])


def test_sampling_is_undone_on_a_population():
    y, p = cs.generators.calibrated().sample(40_000, rng=1)
    kept = (y == 1) | (np.random.default_rng(2).random(y.size) < 0.25)
    sampled = p / (p + (1 - p) * 0.25)  # what a model of the rows that were kept would say
    assert cs.calibration_test(y[kept], sampled[kept], measure="ks", rng=1).pvalue > 0.01
    back = PriorShift(sampling_rate=0.25).fit(sampled[kept]).predict_proba(sampled)
    np.testing.assert_allclose(back, p, atol=1e-12)


def shifted(new, n, seed):
    """Predictions for prevalence .5, of rows whose prevalence is `new`."""
    y, p = cs.generators.calibrated().sample(4 * n, rng=seed)
    one, none = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    events = round(new * n)
    return p[np.concatenate((one[:events], none[: n - events]))]


@pytest.mark.parametrize("new", [0.05, 0.2, 0.5, 0.9])
def test_the_prevalence_is_found_without_outcomes(new):
    found = [PriorShift(train_prevalence=0.5).fit(shifted(new, 4000, seed)).new_prevalence_[1] for seed in range(20)]
    assert np.mean(found) == pytest.approx(new, abs=4 * np.std(found) / np.sqrt(20) + 1e-3)
    assert np.std(found) < 0.03


def test_a_shift_that_is_no_prior_shift_leads_astray():
    # the planted fault: predictions that are over-confident, at the prevalence of training
    y, p = cs.generators.temperature(3).sample(20_000, rng=1)
    found = PriorShift(train_prevalence=0.3).fit(p).new_prevalence_[1]
    assert abs(found - y.mean()) > 0.05


def test_weights_count_rows_in_the_estimate():
    p, times = shifted(0.2, 300, 1), np.random.default_rng(1).integers(0, 3, 300)
    once = PriorShift(train_prevalence=0.5).fit(p, sample_weight=times)
    again = PriorShift(train_prevalence=0.5).fit(np.repeat(p, times))
    np.testing.assert_allclose(once.new_prevalence_, again.new_prevalence_, atol=1e-9)


def test_outcomes_only_name_classes():
    p = shifted(0.2, 100, 1)
    alone = PriorShift(train_prevalence=0.5).fit(p)
    y = np.arange(100) % 2
    np.testing.assert_array_equal(PriorShift(train_prevalence=0.5).fit(p, y).predict_proba(p), alone.predict_proba(p))
    assert alone.classes_.tolist() == [0, 1]
    assert PriorShift(sampling_rate=0.5).fit(p, labels=["no", "yes"]).classes_.tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match="expected outcomes y with pos_label"):
        PriorShift(sampling_rate=0.5).fit(p, pos_label=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "sampling_rate or train_prevalence for PriorShift, found neither"),
        ({"sampling_rate": 0.1, "train_prevalence": 0.5}, "found both"),
        ({"sampling_rate": 0.1, "new_prevalence": 0.5}, "found it with sampling_rate"),
        ({"sampling_rate": 0}, "above 0 and at most 1, found 0"),
        ({"sampling_rate": (0.1, 1, 1)}, "each of 2 classes"),
        ({"train_prevalence": 1.0}, "expected train_prevalence of class 1 of two.*found 1.0"),
        ({"train_prevalence": 0.5, "new_prevalence": (0.5, 0.4)}, "expected new_prevalence .* with the sum 1"),
        ({"train_prevalence": float("nan")}, "found nan"),
    ],
)
def test_wrong_shares_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        PriorShift(**options).fit([0.5])


@given(rows())
def test_the_estimate_is_a_share_and_certain_predictions_stay(data):
    _, p = data
    fitted = PriorShift(train_prevalence=0.3)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*has not converged")
        fitted.fit(p)
    assert 0 <= fitted.new_prevalence_[1] <= 1
    new = np.concatenate((p, [0.0, 0.5, 1.0]))
    out = fitted.predict_proba(new)
    assert ((out >= 0) & (out <= 1)).all()
    if 1e-9 < fitted.new_prevalence_[1] < 1 - 1e-9:
        assert out[[-3, -1]].tolist() == [0, 1]
        assert out[: p.size].mean() == pytest.approx(fitted.new_prevalence_[1], abs=1e-6)


def test_scikit_learn_clones_it():
    base = pytest.importorskip("sklearn.base")
    assert base.clone(PriorShift(sampling_rate=0.1)).get_params()["sampling_rate"] == 0.1
