"""Temperature scaling against closed forms and plain searches."""

import math
import warnings

import numpy as np
import pytest
from distorted import P, Y, share
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import log_softmax, logit

import calibstat as cs
from calibstat.recalibration import (
    TemperatureScaling,
)
from calibstat.recalibration.temperature_scaling import HOTTEST, TRIALS, scaled


@pytest.mark.parametrize("objective", ["log_loss", "ece", "brier", "ks", "smooth_ce"])
@pytest.mark.parametrize(("p", "hits"), [(0.8, 6), (0.6, 9), (0.3, 4), (0.01, 1)])
def test_temperature_of_one_prediction(objective, p, hits):
    # all of these are least where the prediction is the share of outcomes: logit(p) / T = logit(share)
    fitted = TemperatureScaling(objective=objective).fit(*share(p, hits, 10))
    tolerance = 1e-9 if objective == "log_loss" else 1e-5
    assert fitted.temperature_ == pytest.approx(logit(p) / logit(hits / 10), rel=tolerance)
    assert fitted.converged_
    assert fitted.predict_proba([p])[0] == pytest.approx(hits / 10, abs=1e-5)


def test_temperature_of_one_vector():
    # (.6, .2, .2), half of it class 0: the odds 3^(1/T) of class 0 against class 1 must be .5 / .25
    fitted = TemperatureScaling().fit([[0.6, 0.2, 0.2]] * 4, [0, 0, 1, 2])
    assert fitted.temperature_ == pytest.approx(math.log(3) / math.log(2), rel=1e-10)
    np.testing.assert_allclose(fitted.predict_proba([[0.6, 0.2, 0.2]]), [[0.5, 0.25, 0.25]], rtol=1e-10)


def test_temperature_against_a_search_for_the_least_log_loss():
    def loss(log_t):
        return -log_softmax(np.log(P) / math.exp(log_t), axis=1)[np.arange(Y.size), Y].mean()

    best = optimize.minimize_scalar(loss, bounds=(-2, 2), method="bounded", options={"xatol": 1e-9})
    assert math.log(TemperatureScaling().fit(P, Y).temperature_) == pytest.approx(best.x, abs=1e-6)


PROBABILITY = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 1e-300]), st.floats(0, 1))


@given(st.lists(PROBABILITY, min_size=1, max_size=10))
def test_temperature_1_changes_nothing(p):
    rows = np.column_stack((1 - np.array(p), p))
    np.testing.assert_allclose(scaled(rows, 1.0), rows, rtol=1e-14, atol=0)


@given(st.lists(PROBABILITY, min_size=1, max_size=10), st.floats(0.02, 50))
def test_temperature_keeps_the_order_and_what_is_certain(p, temperature):
    p = np.where(np.array(p) < 1e-12, 0, p)  # so that 1 - p is 1 only beside 0
    rows = np.column_stack((1 - p, p))
    out = scaled(rows, temperature)
    assert np.all((out[:, 1] >= out[:, 0])[rows[:, 1] > rows[:, 0]])
    np.testing.assert_array_equal(out[rows == 0], 0)
    np.testing.assert_array_equal(out[rows == 1], 1)


def test_powers_of_many_classes_do_not_all_vanish():
    # (1/5000)^100 is 1e-370, which rounds to 0
    np.testing.assert_allclose(scaled(np.full((1, 5000), 1 / 5000), 0.01), 1 / 5000)


def test_certain_rows_that_were_right_do_not_count():
    p, y = share(0.8, 6, 10)
    with_certain = TemperatureScaling().fit([*p, 0, 1, 1], [*y, 0, 1, 1])
    assert with_certain.temperature_ == pytest.approx(TemperatureScaling().fit(p, y).temperature_, rel=1e-12)


def test_an_impossible_class_that_happened_raises():
    with pytest.raises(ValueError, match="observed class, found 0 for class 1 at row 2; the log loss is infinite"):
        TemperatureScaling().fit([0.3, 0.4, 0.0], [0, 1, 1])
    p, y = share(0.7, 6, 10)
    fitted = TemperatureScaling(objective="ece").fit([*p, 0.0], [*y, 1])  # another objective need not mind
    assert fitted.predict_proba([0.0])[0] == 0


@pytest.mark.parametrize("p", [[0.5, 0.5], [[1 / 3, 1 / 3, 1 / 3]] * 2, [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]])
def test_where_no_temperature_does_anything_it_is_1(p):
    assert TemperatureScaling().fit(p, [0, 1]).temperature_ == 1
    assert TemperatureScaling(objective="brier", options={"lens": "canonical"}).fit(p, [0, 1]).temperature_ == 1


def test_rows_whose_observed_classes_are_all_impossible():
    """The Brier score of (s, 1 - s, 0) with the third class is 1 + s**2 + (1 - s)**2, least at 1/2: as hot as can be.

    No row says by how much the log loss grew, so that there is no warning of that.
    """
    with pytest.warns(RuntimeWarning, match="end of the range, temperature 100") as caught:
        fitted = TemperatureScaling(objective="brier").fit([[0.3, 0.7, 0.0], [0.4, 0.6, 0.0]], [2, 2])
    assert len(caught) == 1
    assert fitted.temperature_ == pytest.approx(HOTTEST)


@pytest.mark.parametrize(("y", "end"), [([0, 1, 1], 0.01), ([1, 0, 0], 100)])
@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_a_temperature_at_the_end_of_the_range_is_reported(y, end, objective):
    recalibrator = TemperatureScaling(objective=objective)
    with pytest.warns(RuntimeWarning, match="TemperatureScaling has not converged: .* end of the range") as caught:
        recalibrator.fit([0.45, 0.6, 0.51], y)
    assert caught[0].filename == __file__
    assert not recalibrator.converged_
    assert recalibrator.temperature_ == pytest.approx(end)


@pytest.mark.parametrize("options", [{}, {"n_bins": 7, "strategy": "quantile"}, {"lens": "class_wise_max"}])
def test_another_objective_is_as_small_as_anywhere_on_a_grid(options):
    fitted = TemperatureScaling(objective="ece", options=options).fit(P, Y)
    reached = cs.estimate(Y, fitted.predict_proba(P), **options)
    elsewhere = [cs.estimate(Y, scaled(P, t), **options) for t in np.append(np.geomspace(0.01, 100, 201), 1.0)]
    assert reached <= min(elsewhere) + 1e-12
    # the least log loss is elsewhere, and so no planted objective would do
    assert reached < cs.estimate(Y, TemperatureScaling().fit(P, Y).predict_proba(P), **options)


def test_unknown_objectives_and_options_raise():
    with pytest.raises(ValueError, match="expected a measure"):
        TemperatureScaling(objective="nothing").fit(P, Y)
    with pytest.raises(ValueError, match="n_bim"):
        TemperatureScaling(objective="ece", options={"n_bim": 3}).fit(P, Y)
    with pytest.raises(ValueError, match=r"expected no options with objective 'log_loss', found \{'n_bins': 3\}"):
        TemperatureScaling(options={"n_bins": 3}).fit(P, Y)


OUTCOME, CONFIDENT = cs.generators.dirichlet((0.1,) * 10, temperature=1.5).sample(1000, rng=1)
MEMBERS = [{}, {"class_conditional": False}, {"max_prob": True}, {"binning": "adaptive", "norm": "l2"}]


def fitted_by(search, options):
    return TemperatureScaling(objective="gce", options=options, search=search)


@pytest.mark.parametrize("options", MEMBERS)
def test_the_temperature_of_an_error_is_that_of_the_valley_of_1(options):
    """Many errors are smallest where all predictions are 1/10, which is calibrated and tells nothing."""
    found = fitted_by("local", options).fit(CONFIDENT, OUTCOME).temperature_
    assert 1.3 < found < 1.8  # the generator divides by 1.5

    def error(t):
        return cs.estimate(OUTCOME, scaled(CONFIDENT, t), measure="gce", **options)

    near = [error(t) for t in np.geomspace(found / 1.5, found * 1.5, 101)]
    assert error(found) <= 1.1 * min(near)
    assert error(found) < error(1)


@pytest.mark.parametrize("options", MEMBERS)
def test_the_global_search_is_the_smallest_on_the_whole_grid(options):
    def error(log_t):
        return cs.estimate(OUTCOME, scaled(CONFIDENT, math.exp(log_t)), measure="gce", **options)

    step = math.log(HOTTEST) / (TRIALS // 2)
    tried = {i * step: error(i * step) for i in range(-(TRIALS // 2), TRIALS // 2 + 1)}
    recalibrator = fitted_by("global", options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recalibrator.fit(CONFIDENT, OUTCOME)
    told = any("where the log loss of these rows is larger than before: 2." in str(each.message) for each in caught)
    assert told == (recalibrator.temperature_ > 90) == (options in MEMBERS[:2])
    assert {each.filename for each in caught} <= {__file__}
    assert error(math.log(recalibrator.temperature_)) <= min(tried.values())
    assert abs(math.log(recalibrator.temperature_) - min(tried, key=tried.get)) <= step * (1 + 1e-9)


def test_a_walk_ends_at_the_end_of_the_range_too():
    options = {"n_bins": 2}  # always right: the surer, the better
    with pytest.warns(RuntimeWarning, match="end of the range"):
        fitted = TemperatureScaling(objective="ece", options=options).fit([0.6, 0.4, 0.7], [1, 0, 1])
    assert fitted.temperature_ == pytest.approx(0.01)


def test_a_search_of_another_name_is_an_error():
    with pytest.raises(ValueError, match="expected search 'local' or 'global', found 'near'"):
        TemperatureScaling(objective="ece", search="near").fit(P, Y)
