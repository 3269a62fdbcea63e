"""Two models over time: sums by hand, coverage at all looks, and the model named that is better."""

import json

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs
from calibstat.monitoring.confidence_sequence import radius

MANY = [0, 1] * 20


def test_sums_by_hand():
    monitor = cs.BrierMonitor()
    # Brier scores 1/16 and 1/4 of the first row, 1/16 and 0 of the second
    monitor.update([1, 0], [0.75, 0.25], [0.5, 0.0], period="a")
    found = monitor.status()
    assert found.difference == pytest.approx((-3 / 16 + 1 / 16) / 2)
    reach = radius(np.array(9 / 256 + 1 / 256), 0.95) / 2
    assert found.low == pytest.approx(max(-1, found.difference - reach))
    assert found.high == pytest.approx(min(1, found.difference + reach))
    assert (found.better, found.decided_period, found.rows) == (None, None, 2)
    assert str(found).startswith(
        "Neither model is shown to be better.\nBrier score of A minus Brier score of B: -0.0625 "
    )


def test_shards_add_up_in_any_order():
    monitor = cs.BrierMonitor()
    y, p = cs.generators.calibrated().sample(60, rng=1)
    parts = [monitor.summarize(y[i::3], p[i::3], p[i::3] ** 2) for i in range(3)]
    assert parts[0] + parts[1] + parts[2] == parts[2] + (parts[1] + parts[0])
    whole, merged = monitor.summarize(y, p, p**2).total, (parts[0] + parts[1] + parts[2]).total
    assert abs(whole.brier_a - merged.brier_a) <= 2
    assert 0 <= merged.squares - whole.squares <= 3
    monitor.update(parts[0] + parts[1] + parts[2])
    with pytest.raises(ValueError, match="expected a summary alone"):
        monitor.update(parts[0], p)
    for one in (merged, parts[0]):
        with pytest.raises(TypeError):
            _ = one + 1


def ever_missed(reach, streams=150, looks=60, rows=10):
    """How many streams leave out the true running mean difference after any look."""
    generator = np.random.default_rng(2)
    truth = generator.random((streams, looks, rows))
    a, b = truth**1.5, np.clip(truth + 0.1 * np.cos(np.arange(looks))[:, None], 0, 1)
    y = generator.random(truth.shape) < truth
    d = (a - y) ** 2 - (b - y) ** 2
    expected = truth * ((a - 1) ** 2 - (b - 1) ** 2) + (1 - truth) * (a**2 - b**2)
    total, mean, squares = (np.cumsum(x.sum(axis=2), axis=1) for x in (d, expected, d**2))
    return int((np.abs(total - mean) > reach(squares)).any(axis=1).sum())


def test_all_looks_are_covered_at_once_and_intervals_for_one_look_found_out():
    limit = binom.ppf(1 - 1e-4, 150, 0.2)
    assert ever_missed(lambda v: radius(v, 0.8)) <= limit
    assert ever_missed(lambda v: 0.8 * np.sqrt(v)) > limit


def test_the_better_model_is_named():
    monitor = cs.BrierMonitor(names=("cubed", "plain"))
    for week in range(40):
        y, p = cs.generators.calibrated().sample(100, rng=week)
        monitor.update(y, p**3, p, period=f"week {week}")
    found = monitor.status()
    assert (found.better, found.decided_period in monitor.periods) == ("plain", True)
    assert 0 < found.low < found.difference < found.high
    frame = monitor.to_frame()
    first = frame.loc[(frame["low"] > 0) | (frame["high"] < 0), "period"].iloc[0]
    assert found.decided_period == first
    assert (
        f"Over all rows so far plain is shown to be better on average. The sequence first excluded 0 in period {first}"
        in str(found)
    )


def test_models_are_rows_that_were_checked():
    y, p = cs.generators.calibrated().sample(50, rng=1)
    text = np.where(y == 1, "yes", "no")
    models = cs.Models(text, {"new": p**3, "old": p}, labels=["no", "yes"])
    monitor, by_rows = cs.BrierMonitor(names=("old", "new")), cs.BrierMonitor(names=("old", "new"))
    monitor.update(models, period="x")
    by_rows.update(y, p, p**3, period="x")
    assert repr(monitor.status()) == repr(by_rows.status())


@pytest.mark.parametrize(
    ("models", "further", "message"),
    [
        (cs.Models([0, 1], {"A": [0.2, 0.8], "B": [0.1, 0.8]}), {"prob_b": [0.1, 0.8]}, "found prob_b= beside it"),
        (cs.Models([0, 1], {"A": [0.2, 0.8], "B": [0.1, 0.8]}), {"labels": [0, 1]}, "found labels= beside it"),
        (cs.Models([0, 1], {"A": [0.2, 0.8], "C": [0.1, 0.8]}), {}, "expected the models 'A', 'B', found Models"),
        (
            cs.Models(MANY, {"A": MANY, "B": MANY}, cluster=range(40)),
            {},
            "expected rows without cluster= .* is not an e-value; found one",
        ),
        (cs.Data([0, 1], [0.2, 0.8]), {}, "expected y_prob, a mapping from name"),
    ],
)
def test_nothing_is_given_beside_models(models, further, message):
    monitor = cs.BrierMonitor()
    with pytest.raises(ValueError, match=message):
        monitor.update(models, period=1, **further)
    assert monitor.periods == ()


def test_before_the_first_period_and_bad_arguments():
    assert str(cs.BrierMonitor().status()) == "No period so far."
    assert repr(cs.BrierMonitor()) == "BrierMonitor(0 periods, A and B)"
    with pytest.raises(ValueError, match="expected the names of two different models"):
        cs.BrierMonitor(names=("a", "a"))
    with pytest.raises(ValueError, match="expected confidence_level between 0 and 1"):
        cs.BrierMonitor(1.5)
    with pytest.raises(ValueError, match="expected one prediction for each outcome"):
        cs.BrierMonitor().update([1, 0], [0.5, 0.5], [0.5])


def test_a_saved_state_of_other_settings_is_refused(tmp_path):
    cs.BrierMonitor().save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps(state | {"arl": 3}))
    with pytest.raises(ValueError, match=r"expected confidence_level, names and segments, found \[.*'arl'"):
        cs.BrierMonitor.load(tmp_path / "s.json")
