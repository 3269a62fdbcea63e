"""Periods in turn: a saved and loaded monitor goes on to the last bit; each period is fed once; runs begin anew."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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
    "models": lambda: cs.Monitor(alpha=0.1),
}
SUMS = dict(enumerate([1, 1, 0, 500_000_000, 250_000_000] + [0] * 34))  # of one row, by their places in the state


def feed(monitor, kind, day):
    """Feed 30 rows and return what `update` returns."""
    y, p = cs.generators.temperature(1 if day < 8 else 3).sample(30, rng=day)
    extra = {"brier": [p**2], "segments": []}.get(kind, [])
    if kind == "models":
        p = {"old": p, "new": p**2}
    named = {"segment": np.arange(30) % (1 + day % 3) + 1} if kind == "segments" else {}
    return monitor.update(y, p, *extra, period=f"day {day}", **named)


@pytest.mark.parametrize("kind", MAKE)
def test_an_update_returns_the_status_after_it(kind):
    """Each status stays as it was, whatever is fed later."""
    monitor = MAKE[kind]()
    found = []
    for day in range(16):
        found.append(feed(monitor, kind, day))
        assert type(found[-1]) is type(monitor.status())
        assert repr(found[-1].to_dict()) == repr(monitor.status().to_dict())
        np.testing.assert_array_equal(found[-1].to_frame(), monitor.to_frame())
    assert [status.to_frame()["period"].nunique() for status in found] == list(range(1, 17))
    monitor.restart()
    assert set(feed(monitor, kind, 16).to_frame()["period"]) == {"day 16"}


@pytest.fixture
def threads_in_turn_quickly():
    """Let threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def of_threads(tasks):
    """Run tasks in 8 threads that begin together, and return what they return."""
    with ThreadPoolExecutor(8) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]


@pytest.mark.parametrize("kind", MAKE)
def test_threads_may_feed_and_read_a_monitor_at_once(kind, threads_in_turn_quickly):
    """Every update returns its own period as the last one, and the state is as if fed by one thread in this order."""
    monitor, days = MAKE[kind](), range(12)
    readers = [monitor.status, monitor.to_state, monitor.to_frame, lambda: repr(monitor), lambda: str(monitor)]
    readers += [lambda: pickle.loads(pickle.dumps(monitor)).status(), lambda: copy.deepcopy(monitor).status()]
    if kind != "brier":
        readers += [lambda: monitor.alarms]
    found = of_threads([task for day in days for task in (partial(feed, monitor, kind, day), *readers)])
    reached = [status.to_frame()["period"].iloc[-1] for status in found[:: 1 + len(readers)]]
    assert reached == [f"day {day}" for day in days]
    again = MAKE[kind]()
    for period in monitor.periods:
        feed(again, kind, int(period.removeprefix("day ")))
    assert again.to_state() == monitor.to_state()
    assert repr(again.status().to_dict()) == repr(monitor.status().to_dict())


@pytest.mark.parametrize("kind", MAKE)
def test_threads_may_restart_and_save_a_monitor_while_it_is_fed(kind, threads_in_turn_quickly, tmp_path):
    monitor, path = MAKE[kind](), tmp_path / "state.json"
    others = [monitor.restart, partial(monitor.save, path), monitor.status]
    of_threads([task for day in range(8) for task in (partial(feed, monitor, kind, day), *others)])
    monitor.save(path)
    loaded = type(monitor).load(path)
    assert loaded.to_state() == monitor.to_state()
    assert repr(loaded.status().to_dict()) == repr(monitor.status().to_dict())


@pytest.mark.parametrize("kind", MAKE)
def test_a_period_that_threads_feed_twice_counts_once(kind, threads_in_turn_quickly):
    monitor = MAKE[kind]()

    def attempt():
        try:
            feed(monitor, kind, 1)
        except ValueError as error:
            return str(error)

    refused = [error for error in of_threads([attempt] * 8) if error is not None]
    assert len(refused) == 7
    assert all("expected a new period, found 'day 1' again" in error for error in refused)
    assert monitor.periods == ("day 1",)
    feed(monitor, kind, 2)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
@pytest.mark.parametrize("kind", MAKE)
def test_a_copy_of_a_monitor_has_a_state_of_its_own(kind, duplicate):
    monitor = MAKE[kind]()
    feed(monitor, kind, 0)
    other = duplicate(monitor)
    feed(monitor, kind, 1)
    assert other.periods == ("day 0",)
    feed(other, kind, 1)
    assert other.to_state() == monitor.to_state()


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
        ({"more": 1}, "expected alpha, arl, segments and side, found"),
        ({"alpha": 2}, "expected alpha between 0 and 1"),
        ({"alpha": 1e-17}, "expected alpha so large that 1 - alpha is less than 1, found 1e-17"),
        ({"arl": 10**400}, "expected arl to be a number of periods above 1, found 1000"),
        ({"version": 1.0}, r"expected version 1 of a saved monitor, found 1\.0"),
        ({"version": True}, "expected version 1 of a saved monitor, found True"),
        ({"periods": [["a", {"": SUMS | {5: 2**63}}]]}, r"expected sums below 2\*\*62, found 9223"),
        ({"periods": [["a", {"": SUMS | {0: 10**300}}]]}, r"expected sums below 2\*\*62, found 1000"),
        ({"periods": [["a", {"": SUMS | {3: 10**300}}]]}, "expected sums of predictions and squares from 0 to 1 a row"),
        ({"periods": [["a", {"": SUMS | {4: 10**10}}]]}, "expected sums of predictions and squares from 0 to 1 a row"),
        ({"periods": [["a", {"": SUMS | {1: 2}}]]}, "expected at least 1 row, and no more positive ones than rows"),
        (
            {"periods": [["20260101", {"": SUMS}], ["2026-01-01", {"": SUMS}]]},
            "found '20260101' and '2026-01-01', the periods 1",
        ),
        (
            {"periods": [["2026-01-01", {"": SUMS}], ["2026-01", {"": SUMS}]]},
            "found '2026-01-01' and '2026-01', the periods 1 and 2",
        ),
    ],
)
def test_a_broken_state_is_refused(change, message, tmp_path):
    monitor = cs.Monitor()
    monitor.update([1], [0.5])
    monitor.save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text()) | change
    for _, segments in (entry for entry in state["periods"] if len(entry) == 2):
        for name, sums in segments.items():
            segments[name] = [*sums.values()] if isinstance(sums, dict) else sums
    (tmp_path / "s.json").write_text(json.dumps(state))
    with pytest.raises(ValueError, match=message):
        cs.Monitor.load(tmp_path / "s.json")


@pytest.mark.parametrize("kind", MAKE)
def test_a_day_that_two_spellings_name_is_mended_as_the_error_says(kind, tmp_path):
    """Version 0.1 took them for two periods, which both count once one of them has another name."""
    monitor, path = MAKE[kind](), tmp_path / "s.json"
    for day in range(3):
        feed(monitor, kind, day)
    monitor.save(path)
    before = path.read_text()
    path.write_text(before.replace('"day 0"', '"2024-01-01"').replace('"day 2"', '"2024-01-01T00:00:00"'))
    with pytest.raises(ValueError, match="'2024-01-01' and '2024-01-01T00:00:00', the periods 1 and 3") as error:
        type(monitor).load(path)
    assert repr(str(path)) in str(error.value)
    assert 'as in "2024-01-01 (again)", and both count' in str(error.value)
    path.write_text(path.read_text().replace("2024-01-01T00:00:00", "2024-01-01 (again)"))
    loaded = type(monitor).load(path)
    assert loaded.periods == ("2024-01-01", "day 1", "2024-01-01 (again)")
    assert repr(loaded.status()).replace("2024-01-01 (again)", "day 2").replace("2024-01-01", "day 0") == repr(
        monitor.status()
    )


def load_and_feed(monitor, path, kind):
    """Load a state and feed rows of two models, whatever the monitor is of."""
    loaded = monitor.load(path)
    loaded.update([1, 0], [0.5, 0.5], segment="1") if kind == "segments" else loaded.update(
        cs.Models([1, 0], {"a": [0.5, 0.5], "old": [0.5, 0.5]})
    )


@pytest.mark.parametrize("kind", ["segments", "models", "brier"])
def test_names_in_errors_of_a_loaded_state_command_no_terminal(kind, tmp_path):
    monitor, path, control = MAKE[kind](), tmp_path / "s.json", "\x1b[31m\u202e\u200b"
    feed(monitor, kind, 1)
    monitor.save(path)
    for name in ("old", "1"):  # of a model, of a segment: the settings have another one than the periods
        path.write_text(path.read_text().replace(f'"{name}"', json.dumps(control), 1))
    with pytest.raises(ValueError, match=r"x1b.*u202e.*u200b") as error:
        load_and_feed(type(monitor), path, kind)
    assert str(error.value).isprintable()


@pytest.mark.parametrize("kind", MAKE)
def test_monitors_and_summaries_can_be_pickled_and_copied(kind):
    monitor = MAKE[kind]()
    for day in range(10):
        feed(monitor, kind, day)
    for way in (lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy):
        summary = monitor.summary("day 9")
        again = way(monitor)
        assert way(summary) == again.summary("day 9") == summary
        assert way(summary) + way(summary) == summary + summary
        if way is not copy.copy:
            feed(again, kind, 10)
            assert again.periods == (*monitor.periods, "day 10")
    with pytest.raises(TypeError, match="does not support item assignment"):
        copy.deepcopy(cs.Monitor().summarize([1], [0.5])).segments["a"] = None


@pytest.mark.parametrize("change", [{"names": 5}, {"names": {"a": 1, "b": 2}}, {"names": ["a"]}])
def test_names_of_models_in_a_broken_state(change, tmp_path):
    cs.BrierMonitor().save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text())
    (tmp_path / "s.json").write_text(json.dumps(state | change))
    with pytest.raises(ValueError, match="expected the names of two different models, found"):
        cs.BrierMonitor.load(tmp_path / "s.json")


@pytest.mark.parametrize(
    "value", [2**62, 2**63, pytest.param(10**400, id="huge"), 10**10, -1, None, 1.5, "1", [], True]
)
@pytest.mark.parametrize("place", range(4))
def test_any_sum_of_a_pair_that_cannot_be(value, place, tmp_path):
    monitor = cs.BrierMonitor()
    monitor.update([1], [0.5], [0.6])
    monitor.save(tmp_path / "s.json")
    state = json.loads((tmp_path / "s.json").read_text())
    state["periods"][0][1][place] = value
    (tmp_path / "s.json").write_text(json.dumps(state))
    if (place, value) == (0, 10**10):  # so many rows there may be
        return
    with pytest.raises(ValueError, match=r"^expected (rows and three sums|sums below|at least 1 row)"):
        cs.BrierMonitor.load(tmp_path / "s.json")


@pytest.mark.parametrize("depth", [500, 900, 960, 100_000])
@pytest.mark.parametrize("head", ["", '{"kind": "monitor", "version": 1, "periods": ', '{"kind": '])
def test_states_of_any_depth(depth, head, tmp_path):
    (tmp_path / "s.json").write_text(head + "[" * depth + "]" * depth + "}" * bool(head))
    with pytest.raises(ValueError, match="expected the"):
        cs.Monitor.load(tmp_path / "s.json")


def test_evidence_that_64_bits_do_not_hold_is_refused():
    """The largest log-likelihood ratio of this row is -477,954 units, and 2**43 of them are some 2**61.9."""
    one = cs.Monitor().summarize([1], [0.5])
    for _ in range(43):
        one = one + one
    assert one.total.rows == 2**43
    assert one.total.ratios.min() == -477_954 * 2**43
    with pytest.raises(ValueError, match="expected sums below"):
        one + one


def test_what_another_writer_has_saved_is_not_lost(tmp_path):
    first = cs.Monitor()
    feed(first, "alpha", 1)
    first.save(tmp_path / "s.json")
    second = cs.Monitor.load(tmp_path / "s.json")
    for monitor, day in ((first, 2), (second, 3)):
        feed(monitor, "alpha", day)
    first.save(tmp_path / "s.json")
    first.save(tmp_path / "s.json")
    with pytest.raises(
        ValueError, match=r"expected the state in .*s\.json' as this monitor knows it, found that it was"
    ):
        second.save(tmp_path / "s.json")
    (tmp_path / "link").symlink_to(tmp_path / "s.json")
    with pytest.raises(ValueError, match="as this monitor knows it"):
        second.save(tmp_path / "link")
    second.save(tmp_path / "other.json")
    assert cs.Monitor.load(tmp_path / "s.json").periods == ("day 1", "day 2")
    again = cs.Monitor.load(tmp_path / "s.json")
    feed(again, "alpha", 3)
    again.save(tmp_path / "s.json")
    assert cs.Monitor.load(tmp_path / "link").periods == ("day 1", "day 2", "day 3")


KILLED = """
import os, signal, sys
from pathlib import Path
import calibstat as cs

monitor = cs.Monitor.load(sys.argv[1])
monitor.update([1], [0.5])
rename = Path.replace, os.replace
Path.replace = os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
monitor.save(sys.argv[1])
"""


def test_a_kill_between_writing_and_renaming_leaves_the_old_state_and_no_litter_for_ever(tmp_path):
    pytest.importorskip("fcntl")
    monitor = cs.Monitor()
    feed(monitor, "alpha", 1)
    monitor.save(tmp_path / "s.json")
    before = (tmp_path / "s.json").read_bytes()
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path / "s.json"], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / "s.json").read_bytes() == before
    assert len(os.listdir(tmp_path)) == 3  # the state, the lock and the draft of the dead
    feed(monitor, "alpha", 2)
    monitor.save(tmp_path / "s.json")
    assert os.listdir(tmp_path) == ["s.json"]
    assert cs.Monitor.load(tmp_path / "s.json").periods == ("day 1", "day 2")
