"""Rows predicted neither 0 nor 1 beside all rows of a monitor: as a monitor that is fed with them alone."""

import math
from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.monitoring.monitor_status import OtherRows


def fed(bad_days=(), change=99, days=12, **settings):
    """Two monitors: of all rows, with an impossible one on bad days, and of those predicted neither 0 nor 1."""
    monitor, alone = cs.Monitor(**settings), cs.Monitor(**settings)
    for day in range(1, days + 1):
        y, p = cs.generators.temperature(1 if day <= change else 2.5).sample(100, rng=day)
        monitor.update(np.append(y, [int(day in bad_days), 1]), np.append(p, [0.0, 1.0]), period=day)
        alone.update(y, p, period=day)
    return monitor, alone


@pytest.mark.parametrize("settings", [{}, {"arl": 200}, {"alpha": 0.4}])
@pytest.mark.parametrize("change", [99, 1, 5])
def test_it_says_what_a_monitor_of_these_rows_says(settings, change):
    monitor, alone = fed((3, 7), change, **settings)
    status, expected = monitor.status(), alone.status()
    assert status.impossible == 2
    assert status.others.first_impossible == 3
    assert status.others.log_evidence == expected.log_evidence[-1]
    assert status.others.pvalue == expected.pvalue
    assert status.others.alarm_period == expected.alarm_period


def test_segments():
    monitor, alone = cs.Monitor(), cs.Monitor()
    for day in range(1, 9):
        y, p = cs.generators.temperature(2).sample(100, rng=day)
        half = np.where(np.arange(100) < 50, "a", "b")
        monitor.update(np.append(y, day == 2), np.append(p, 0.0), segment=np.append(half, "b"))
        alone.update(y, p, segment=half)
    assert monitor.status().others.log_evidence == alone.status().log_evidence[-1]


def test_the_alarm_stays_as_it_is():
    monitor, _ = fed((3,))
    status = monitor.status()
    assert (status.alarm_period, status.evidence, status.pvalue) == (3, math.inf, 0.0)
    assert fed()[0].status().others is None


def test_it_is_said_once_after_the_finding():
    text = str(fed((3, 7))[0].status())
    said = "2 rows were predicted to be impossible and happened (the first in period 3); without rows predicted 0 or 1 "
    assert text.count(f"{said}there is no alarm (evidence ") == 1
    assert text.index("Alarm in period 3") < text.index(said)
    found = OtherRows("b", 3.0, 0.01, "c")
    assert str(found) == "without rows predicted 0 or 1 the alarm is in period c (evidence 20.1, p = 0.01)"
    assert str(replace(found, pvalue=None)).endswith("(evidence 20.1)")


@pytest.mark.parametrize("settings", [{}, {"arl": 50}])
def test_a_saved_state_has_it(tmp_path, settings):
    monitor, _ = fed((3, 7), 5, **settings)
    monitor.save(tmp_path / "state.json")
    loaded = cs.Monitor.load(tmp_path / "state.json")
    assert loaded.status().to_dict() == monitor.status().to_dict()
    assert loaded.status().others is not None


def test_a_restart_forgets_it():
    monitor, _ = fed((3,))
    monitor.restart()
    assert monitor.update([0, 1], [0.0, 0.5], period="new").others is None


def test_several_models_have_their_own():
    y, p = [1, 0, 1], np.array([0.0, 0.5, 0.5])
    status = cs.Monitor().update(y, {"bad": p, "good": p + 0.1})
    assert status.models["bad"].others.first_impossible == 1
    assert status.models["good"].others is None


@pytest.mark.parametrize(("y", "p"), [([1], [0.0]), ([0, 1, 1], [1.0, 1.0, 0.0]), ([0, 0], [1.0, 0.0])])
def test_all_rows_at_0_and_1(y, p):
    status = cs.Monitor().update(y, p)
    assert status.others.pvalue == 1.0
    assert status.others.log_evidence == pytest.approx(0.0, abs=1e-12)


def alarms(of, n_sets=200):
    """In how many runs of a calibrated model, each with an impossible row, there ever is an alarm at alpha = 0.2."""
    found = 0
    for seed in range(n_sets):
        monitor, rng = cs.Monitor(alpha=0.2), np.random.default_rng(seed)
        for day in range(8):
            p = rng.beta(1, 1, 30)
            y = rng.random(30) < p
            status = monitor.update(np.append(y, day == 0), np.append(p, 0.0))
        found += of(status) is not None
    return found


def test_alarms_by_other_rows_are_rare_and_those_by_all_rows_are_not():
    limit = cs.study.most_rejections(0.2, 200, 1e-3)
    assert alarms(lambda status: status.others.alarm_period) <= limit
    assert alarms(lambda status: status.alarm_period) == 200  # the planted fault: the impossible row counts
