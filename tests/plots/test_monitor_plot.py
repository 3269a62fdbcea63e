"""Pictures of monitors show the numbers of their status, on axes of dates, numbers or names."""

from datetime import date, timedelta

import matplotlib as mpl
import matplotlib.dates
import numpy as np
import pytest
from plotted_results import lines, outside, overlapping

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")
NEW_YEAR = date(2026, 1, 1)


def fed(name, n=60, change=30, **settings):
    monitor = cs.Monitor(**settings)
    for t in range(n):
        monitor.update(*cs.generators.temperature(1 if t < change else 2).sample(40, rng=t), period=name(t))
    return monitor


def by_date(t):
    return NEW_YEAR + timedelta(t)


def test_evidence_alarm_and_gap_are_those_of_the_status():
    monitor = fed(by_date)
    found = monitor.status()
    upper = cs.plot(found)
    lower = upper.figure.axes[1]
    x = [mpl.dates.date2num(by_date(t)) for t in range(60)]
    np.testing.assert_array_equal(upper.lines[1].get_xdata(), x)
    np.testing.assert_allclose(upper.lines[1].get_ydata(), np.exp(found.log_evidence))
    named = lines(upper)
    assert named[f"alarm, {found.alarm_period}"][0][0] == x[found.periods.index(found.alarm_period)]
    assert named["alarm at 20"][0][1] == 20
    assert named[f"likely start, {found.onset.start}"][0][0] == x[found.periods.index(found.onset.start)]
    assert upper.get_yscale() == "log"
    np.testing.assert_array_equal(lower.lines[0].get_ydata(), found.gaps)
    corners = lower.collections[0].get_paths()[0].vertices
    assert {found.lows[-1], found.highs[-1]} <= set(corners[corners[:, 0] == x[-1], 1])
    assert cs.plot(monitor).lines[1].get_ydata().tolist() == upper.lines[1].get_ydata().tolist()


@pytest.mark.parametrize(
    "monitor",
    [
        lambda: fed(by_date),
        lambda: fed(lambda t: t + 1, 20, 99),
        lambda: fed(lambda t: f"week {t} of a long year", 30, 10, arl=50),
        lambda: fed(lambda t: 1, 1),
    ],
    ids=["dates", "numbers", "names", "one"],
)
def test_nothing_overlaps_or_is_cut_off(monitor):
    figure = cs.plot(monitor()).figure
    assert overlapping(figure) == []
    assert outside(figure) == []


def test_positions():
    months = cs.plot(fed(lambda t: f"2026-{t + 1:02}", 5)).lines[0].get_xdata()
    assert np.diff(months).tolist() == [31, 28, 31, 30]
    assert cs.plot(fed(lambda t: 3 * t, 5)).lines[0].get_xdata().tolist() == [0, 3, 6, 9, 12]
    assert cs.plot(fed(lambda t: -t, 5)).lines[0].get_xdata().tolist() == [1, 2, 3, 4, 5]
    ax = cs.plot(fed(lambda t: f"r{t}", 5))
    ax.figure.draw_without_rendering()
    assert {"r0", "r4"} <= {text.get_text() for text in ax.figure.axes[1].get_xticklabels()}


def test_evidence_without_limit_is_marked():
    monitor = fed(by_date, 10, 99)
    monitor.update([1], [0.0], period=by_date(10))
    assert lines(cs.plot(monitor))["evidence without limit"].shape == (1, 2)


def test_the_difference_of_two_models():
    monitor = cs.BrierMonitor(names=("old", "new"))
    for week in range(30):
        y, p = cs.generators.calibrated().sample(100, rng=week)
        monitor.update(y, p**3, p, period=week)
    found = monitor.status()
    for ax in (cs.plot(monitor), cs.plot(found)):
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), found.differences)
        assert lines(ax)[f"0 left out from {found.decided_period}"][0][0] == found.decided_period
        assert ax.get_ylabel() == "Brier score: old − new"
        assert overlapping(ax.figure) == outside(ax.figure) == []


def test_given_axes_have_the_evidence_alone_and_no_period_is_no_picture():
    _, ax = mpl.pyplot.subplots()
    assert cs.plot(fed(by_date, 3), ax) is ax
    assert len(ax.figure.axes) == 1
    for monitor in (cs.Monitor(), cs.BrierMonitor()):
        with pytest.raises(ValueError, match="expected a monitor with at least one period, found none"):
            cs.plot(monitor)


def several():
    monitor = cs.Monitor()
    for t in range(30):
        y, p = cs.generators.temperature(1 if t < 10 else 2).sample(40, rng=t)
        monitor.update(y, {"first": p, "second": p**2}, period=by_date(t))
    return monitor


def pair_in_segments():
    monitor = cs.BrierMonitor()
    for t in range(30):
        y, p = cs.generators.calibrated().sample(40, rng=t)
        monitor.update(y, p, p**2, by_date(t), np.array(["east", "west"])[np.arange(40) % 2])
    return monitor


def test_several_models_have_axes_of_their_own():
    monitor = several()
    figure = cs.plot(monitor).figure
    for axes, status in zip(figure.axes, monitor.status().models.values(), strict=True):
        drawn = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 30]
        np.testing.assert_allclose(drawn[0], np.exp(np.minimum(status.log_evidence, 690)))
    assert "second" in figure.axes[1].get_ylabel()
    given = mpl.pyplot.subplots()[1]
    assert cs.plot(monitor, ax=given) is given
    monitor.restart()
    with pytest.raises(ValueError, match="expected a monitor with at least one period"):
        cs.plot(monitor)


def test_segments_of_two_models_are_lines_of_their_own():
    monitor = pair_in_segments()
    found = lines(cs.plot(monitor))
    for name, part in monitor.status().segments.items():
        np.testing.assert_array_equal(found[name][:, 1], part.differences)


@pytest.mark.parametrize("monitor", [several, pair_in_segments])
def test_nothing_of_several_overlaps_or_is_cut_off(monitor):
    figure = cs.plot(monitor()).figure
    assert overlapping(figure) == []
    assert outside(figure) == []
