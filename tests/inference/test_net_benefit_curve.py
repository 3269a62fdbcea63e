"""Net benefit over thresholds."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.measures import NetBenefit

Y, P = cs.generators.temperature(2.0).sample(500, rng=1)


def test_each_threshold_is_the_measure_at_it():
    curve = cs.net_benefit(Y, P, [0.1, 0.6], confidence_level=0.8)
    for i, threshold in enumerate(curve.threshold):
        found = cs.confidence_interval(Y, P, measure=NetBenefit(threshold=threshold), confidence_level=0.8)
        of_measure = (found.estimate, found.low, found.high)
        assert (curve.model[i], curve.low[i], curve.high[i]) == pytest.approx(of_measure, rel=1e-12)


def test_acting_on_all_rows_is_the_model_that_is_always_sure():
    curve = cs.net_benefit(Y, np.ones(500))
    assert curve.threshold.size == 99
    assert curve.model == pytest.approx(curve.everyone, abs=1e-12)


@pytest.mark.parametrize("outcome", [0, 1])
def test_no_end_lies_beyond_what_acting_on_a_row_can_bring(outcome):
    curve = cs.net_benefit([outcome, 1, 0, 1, 0], [0.9, 0.95, 0.92, 0.1, 0.9], [0.1, 0.5, 0.9])
    least = -curve.threshold / (1 - curve.threshold)
    assert np.all((least <= curve.low) & (curve.low <= curve.model) & (curve.model <= curve.high) & (curve.high <= 1))


def test_never_acting_has_no_benefit():
    curve = cs.net_benefit(Y, np.zeros(500))
    assert not curve.model.any()
    assert "nowhere better than acting on all rows or on none" in str(curve)


def test_a_calibrated_population_never_does_worse_than_all_or_none():
    """Given v, acting is worth v - (1 - v) t / (1 - t), which is at least 0 from v = t on."""
    y, p = cs.generators.calibrated().sample(200_000, rng=2)
    curve = cs.net_benefit(y, p, np.arange(1, 10) / 10)
    assert np.all(curve.model > np.maximum(curve.everyone, 0) - 0.005)
    shifted = cs.net_benefit(y, p**0.2, np.arange(1, 10) / 10)  # the twin: predictions that are far too high
    assert np.any(shifted.model < np.maximum(shifted.everyone, 0) - 0.005)


def test_several_models_and_words():
    curves = cs.net_benefit(Y, {"a": P, "b": 1 - P}, [0.3])
    assert list(curves) == ["a", "b"]
    assert curves["a"].model > curves["b"].model
    assert "Acting by the model is better than acting on all rows and on none at the threshold 0.3." in str(curves["a"])
    assert "Acting by the model is not better than acting on all rows and on none at" in str(curves["b"])
    two = cs.net_benefit(Y, P, [0.3, 0.4])
    assert "thresholds, the lowest 0.3" in str(two)
    assert curves["a"].to_frame().shape == (1, 5)


def test_a_table_has_the_thresholds_that_were_asked_for_and_of_many_the_round_ones():
    found = cs.net_benefit(Y, P, [0.25, 0.4])
    first, second = (found.model[k] for k in (0, 1))
    assert str(found).splitlines()[1:4] == [
        "threshold  net benefit     95 % interval  acting on all",
        f"0.25       {first:11.4f}  {found.low[0]:.4f} to {found.high[0]:.4f}  {found.everyone[0]:13.4f}",
        f"0.4        {second:11.4f}  {found.low[1]:.4f} to {found.high[1]:.4f}  {found.everyone[1]:13.4f}",
    ]
    many = str(cs.net_benefit(Y, P)).splitlines()[2:-1]
    assert [line.split()[0] for line in many] == ["0.05", "0.1", "0.2", "0.3", "0.5"]
    assert len(str(cs.net_benefit(Y, P, np.linspace(0.11, 0.19, 20))).splitlines()) == 2


@pytest.mark.parametrize("thresholds", [[], [0.2, 0.1], [0.5, 0.5], [0.0, 0.5], [[0.5]], [np.nan]])
def test_wrong_thresholds_raise(thresholds):
    with pytest.raises(ValueError, match="expected ascending thresholds between 0 and 1"):
        cs.net_benefit(Y, P, thresholds)
