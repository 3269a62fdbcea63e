"""The flexible curve beside rms::lrm and statsmodels, with fewer knots, and how often its band misses."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import norm
from val_prob_rows import FOLDER, NAMES, stored

import calibstat as cs
from calibstat.classical import local_regression
from calibstat.classical.flexible_curve import flexible_curve, splines


def found(y, p, level=0.95, weight=None):
    return flexible_curve(cs.Sample.from_rows(y, p, weight), level)


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_spline_of_rms(name):
    y, p = stored(name)
    of_r = pd.read_csv(FOLDER / "curves.csv", comment="#").query("rows == @name")
    numbers = pd.read_csv(FOLDER / "numbers.csv", comment="#").query("rows == @name").set_index("quantity").value
    curve, frequency = found(y, p)
    assert curve.knots == pytest.approx(numbers[[f"knot{k}" for k in range(1, 6)]].to_numpy(), abs=1e-9)
    drawn = curve.prediction[::10]
    assert drawn == pytest.approx(of_r.p.to_numpy())
    assert logit(curve.frequency[::10]) == pytest.approx(of_r.log_odds.to_numpy(), rel=1e-7)
    reach = norm.ppf(0.975) * of_r.error.to_numpy()
    assert logit(curve.low[::10]) == pytest.approx(of_r.log_odds.to_numpy() - reach, rel=1e-7)
    assert logit(curve.high[::10]) == pytest.approx(of_r.log_odds.to_numpy() + reach, rel=1e-7)
    sample = cs.Sample.from_rows(y, p)
    eci = 100 * np.average((frequency - sample.value) ** 2, weights=sample.count)
    assert eci == pytest.approx(numbers.ECI, abs=1e-9)


def test_splines_are_straight_beyond_the_outer_knots_and_smooth_at_all():
    knots = np.array([-2.0, -1.0, 0.5, 3.0])
    step = 1e-3

    def second(x):
        return (splines(x + step, knots) - 2 * splines(x, knots) + splines(x - step, knots)) / step**2

    assert second(np.array([-5.0, -2.1, 3.1, 6.0])) == pytest.approx(np.zeros((4, 4)), abs=1e-6)
    assert second(knots - 2e-3) == pytest.approx(second(knots + 2e-3), abs=0.02)
    assert np.abs(second(np.array([0.0]))[0, 2:]).min() > 0.05  # and no straight line within


def test_rows_with_weights_are_fitted_by_the_weighted_likelihood():
    random = np.random.default_rng(1)
    y, p = cs.generators.temperature(2.0).sample(400, rng=1)
    w = random.gamma(2, 1, 400)
    curve, frequency = found(y, p, None, w)
    assert curve.low is curve.high is None
    order = np.argsort(p)
    model = sm.GLM(y, splines(logit(p), curve.knots), family=sm.families.Binomial(), freq_weights=w)
    assert frequency == pytest.approx(model.fit(tol=1e-12).fittedvalues[order], abs=1e-6)
    tenfold, _ = found(y, p, None, 10 * w)
    assert tenfold.frequency == pytest.approx(curve.frequency)


@pytest.mark.parametrize(
    ("values", "knots"),
    [(np.linspace(0.1, 0.9, 9), 5), ([0.1, 0.3, 0.5, 0.7], 4), ([0.2, 0.5, 0.8], 3), ([0.2, 0.6], 0)],
)
def test_few_distinct_predictions_have_fewer_knots_and_a_saturated_curve_has_the_frequencies(values, knots):
    sample = cs.Sample.from_counts(values, np.full(len(values), 200.0), np.round(200 * np.sqrt(values)))
    curve, frequency = flexible_curve(sample, 0.95)
    assert curve.knots.size == knots
    if knots < 5:
        assert frequency == pytest.approx(sample.positives / sample.count, abs=1e-6)
        assert "because these rows have no fit with more" in str(curve)
    else:
        assert str(curve) == "restricted cubic spline of the log-odds, 5 knots"


def test_outcomes_that_a_spline_separates_have_fewer_knots():
    """Both outcomes in the middle alone: some spline through it is without a bound, Cox's line is not."""
    p = np.repeat([0.1, 0.2, 0.45, 0.5, 0.55, 0.8, 0.9], 20)
    y = np.where(p < 0.4, 0, np.where(p > 0.6, 1, np.arange(p.size) % 2))
    assert found(y, p)[0].knots.size < 5
    y[0], y[-1] = 1, 0
    assert found(y, p)[0].knots.size == 5


def test_certain_predictions_that_fail_leave_no_information_beside_the_others():
    """Without a look at rounding, Newton's method met a singular matrix here."""
    value = np.array([3e-12, 0.25, 0.5, 0.75, 1 - 3e-12])
    sample = cs.Sample.from_counts(value, [13, 17, 16, 12, 21], [0, 7, 3, 6, 4])
    curve, frequency = flexible_curve(sample, 0.95)
    assert curve.knots.size < 5
    assert sample.count @ frequency == pytest.approx(20, abs=1e-6)


def test_equal_predictions_have_a_constant():
    curve, frequency = found(np.repeat([1, 0], [30, 70]), np.full(100, 0.2))
    assert curve.prediction.tolist() == [0.2]
    assert (curve.frequency, frequency) == (pytest.approx([0.3]), pytest.approx([0.3]))
    error = np.sqrt(1 / 30 + 1 / 70)
    assert logit(curve.high) == pytest.approx(logit(0.3) + norm.ppf(0.975) * error)
    assert str(curve) == "a constant: all predictions are equal"


def test_the_frame_has_a_row_for_each_point():
    y, p = stored("small")
    curve, _ = found(y, p)
    frame = curve.to_frame()
    assert list(frame) == ["prediction", "frequency", "low", "high"]
    assert np.array_equal(frame["high"], curve.high)
    assert list(found(y, p, None)[0].to_frame()) == ["prediction", "frequency"]


def test_groups_of_neighbours_have_nearly_the_same_curve(monkeypatch):
    y, p = cs.generators.temperature(1.5).sample(30_000, rng=1)
    of_groups, _ = found(y, p)
    monkeypatch.setattr(local_regression, "MOST_VALUES", p.size)
    assert of_groups.frequency == pytest.approx(found(y, p)[0].frequency, abs=1e-5)
    monkeypatch.setattr(local_regression, "MOST_VALUES", 20)
    assert of_groups.frequency != pytest.approx(found(y, p)[0].frequency, abs=1e-5)  # the twin: groups too wide


@given(st.lists(st.tuples(st.sampled_from([0.001, 0.1, 0.3, 0.31, 0.5, 0.9]), st.booleans()), max_size=40))
def test_the_mean_of_the_curve_is_the_mean_outcome(rows):
    """A logistic regression with an intercept gives the number of events back, whatever the knots."""
    rows = [*rows, (0.2, True), (0.2, False), (0.7, True), (0.7, False)]  # no line separates these
    p, y = (np.array(column, float) for column in zip(*rows, strict=True))
    sample = cs.Sample.from_rows(y, p)
    curve, frequency = flexible_curve(sample, 0.9)
    assert sample.count @ frequency == pytest.approx(y.sum(), abs=1e-6)
    assert (curve.low <= curve.frequency).all()
    assert (curve.frequency <= curve.high).all()


def test_the_band_misses_in_about_5_percent():
    """At one prediction, 400 calibrated data sets of 400 rows; the twin takes half of the standard error."""
    random = np.random.default_rng(1)
    missed = {"band": 0, "half": 0}
    for _ in range(400):
        p = expit(random.normal(size=400))
        curve, _ = found((random.random(400) < p).astype(int), p)
        k = int(np.abs(curve.prediction - 0.6).argmin())
        low, middle, high = (logit(each[k]) for each in (curve.low, curve.frequency, curve.high))
        truth = logit(curve.prediction[k])
        missed["band"] += not low <= truth <= high
        missed["half"] += not (low + middle) / 2 <= truth <= (middle + high) / 2
    most = cs.study.most_rejections(0.07, 400, 1e-3)  # approximate: a nominal 5 % may be 7 %
    assert missed["band"] <= most < missed["half"]


def test_of_very_many_predictions_the_curve_is_read_by_straight_lines(monkeypatch):
    y, p = cs.generators.temperature(2.0).sample(50_000, rng=3)
    read = found(y, p)[1]
    monkeypatch.setattr("calibstat.classical.flexible_curve.MOST_VALUES", 50_000)
    assert read == pytest.approx(found(y, p)[1], abs=1e-6)
    monkeypatch.setattr("calibstat.classical.flexible_curve.MOST_VALUES", 50)  # the planted fault: too few lines
    assert np.abs(read - found(y, p)[1]).max() > 1e-5
