"""Periods in turn: a saved and loaded monitor goes on to the last bit; each period is fed once; runs begin anew."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs

MAKE = {
    "alpha": lambda: cs.Monitor(alpha=0.1),
    "arl": lambda: cs.Monitor(arl=20),
    "segments": lambda: cs.Monitor(segments=["1", "2", "3"]),
    "brier": lambda: cs.BrierMonitor(0.9, names=["old", "new"]),
}


def feed(monitor, kind, day):
    y, p = cs.generators.temperature(1 if day < 8 else 3).sample(30, rng=day)
    extra = {"brier": [p**2], "segments": []}.get(kind, [])
    named = {"segment": np.arange(30) % (1 + day % 3) + 1} if kind == "segments" else {}
    monitor.update(y, p, *extra, period=f"day {day}", **named)


@pytest.mark.parametrize("kind", MAKE)
def test_a_stopped_and_loaded_monitor_goes_on_to_the_last_bit(kind, tmp_path):
    whole, parts = MAKE[kind](), MAKE[kind]()
    for day in range(16):
        feed(whole, kind, day)
        feed(parts, kind, day)
        parts.save(tmp_path / "state.json")
        parts = type(parts).load(tmp_path / "state.json")
        if day == 11:
            whole.restart()
            parts.restart()
        assert repr(parts.status()) == repr(whole.status())
    np.testing.assert_array_equal(parts.to_frame(), whole.to_frame())
    whole.save(tmp_path / "whole.json")
    assert (tmp_path / "whole.json").read_text() == (tmp_path / "state.json").read_text()


def test_restarts_are_kept_even_without_periods_between(tmp_path):
    monitor = cs.Monitor()
    monitor.restart()
    feed(monitor, "alpha", 1)
    monitor.restart()
    monitor.restart()
    monitor.save(tmp_path / "s.json")
    again = cs.Monitor.load(tmp_path / "s.json")
    again.save(tmp_path / "t.json")
    assert (tmp_path / "s.json").read_text() == (tmp_path / "t.json").read_text()
    assert (again.evidence, again.status().periods, again.periods) == (1.0, (), ("day 1",))


def test_the_segments_of_the_first_period_are_kept(tmp_path):
    monitor = cs.Monitor()
    monitor.save(tmp_path / "s.json")
    assert cs.Monitor.load(tmp_path / "s.json").segments is None
    monitor.update([1, 0], [0.5, 0.5], segment=["b", "a"])
    monitor.save(tmp_path / "s.json")
    assert cs.Monitor.load(tmp_path / "s.json").segments == ("a", "b")
    without = cs.Monitor()
    without.update([1, 0], [0.5, 0.5])
    without.save(tmp_path / "s.json")
    assert cs.Monitor.load(tmp_path / "s.json").segments == ()


@settings(max_examples=15)
@given(st.lists(rows(max_size=6), min_size=1, max_size=6))
def test_any_rows_survive_the_way_through_a_file(tmp_path_factory, periods):
    monitor = cs.Monitor()
    for y, p in periods:
        monitor.update(y, p)
    path = tmp_path_factory.mktemp("state") / "s.json"
    monitor.save(path)
    assert repr(cs.Monitor.load(path).status()) == repr(monitor.status())
    assert (monitor.status().gap_low <= monitor.status().gap) & (monitor.status().gap <= monitor.status().gap_high)


def test_a_period_is_fed_once():
    monitor = cs.Monitor()
    monitor.update([1], [0.5], period="a")
    with pytest.raises(ValueError, match="expected a new period, found 'a' again"):
        monitor.update([1], [0.5], period="a")
    monitor.restart()
    with pytest.raises(ValueError, match="expected a new period, found 'a' again"):
        monitor.update([1], [0.5], period="a")
    assert monitor.summary("a").total.rows == 1
    with pytest.raises(ValueError, match="expected a period that was fed, found 'b'"):
        monitor.summary("b")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"starts": [1]}, "expected the numbers of periods before each run, found"),
        ({"starts": [0, 2]}, "expected the numbers of periods before each run, found"),
        ({"periods": [["a"]]}, "expected a period and its summary, found"),
        ({"periods": [["a", {}]]}, "expected the sums of each segment"),
        ({"more": 1}, "expected alpha, arl and segments, found"),
        ({"alpha": 2}, "expected alpha between 0 and 1"),
    ],
)
def test_a_broken_state_is_refused(change, message, tmp_path):
    monitor = cs.Monitor()
    monitor.update([1], [0.5])
    monitor.save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps(state | change))
    with pytest.raises(ValueError, match=message):
        cs.Monitor.load(tmp_path / "s.json")
