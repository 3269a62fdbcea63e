"""Pictures of monitors: evidence and gap over time, and the difference of two models over time."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.monitoring.brier_status import BrierStatus
from calibstat.monitoring.monitor_status import ModelsStatus, MonitorStatus
from calibstat.monitoring.period_labels import Label, date_of
from calibstat.plots.style import DIAGONAL, SIZE, as_text, colors, legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 6  # names of periods on the axis, at most
TOP_EXPONENT = 690.0  # the logarithm of the largest evidence that is drawn as a number


def plot_monitor(status: MonitorStatus, ax: Axes | None) -> Axes:
    """The evidence in each period with the line of an alarm, and below it the gap; the evidence alone in given axes."""
    if not status.periods:
        raise ValueError("expected a monitor with at least one period, found none")
    if ax is not None:
        _evidence(status, ax)
        _periods(status.periods, ax)
        return ax
    import matplotlib.pyplot as plt

    size = (SIZE[0], 1.3 * SIZE[1])
    upper, lower = plt.subplots(2, sharex=True, figsize=size, height_ratios=(3, 2), layout="constrained")[1]
    _evidence(status, upper)
    upper.set_xlabel("")
    level = f"{100 * status.confidence_level:g}% confidence sequence"
    _sequence(status.periods, status.gaps, status.lows, status.highs, level, lower)
    lower.set_ylabel("Observed − predicted")
    return upper


def plot_monitors(status: ModelsStatus, ax: Axes | None) -> Axes:
    """The evidence against each model, one below the other; in given axes the evidence against the first alone."""
    first = next(iter(status.models.values()))
    if not first.periods:
        raise ValueError("expected a monitor with at least one period, found none")
    if ax is not None:
        return plot_monitor(first, ax)
    import matplotlib.pyplot as plt

    count = len(status.models)
    size = (SIZE[0], 0.75 * SIZE[1] * count)
    axes = plt.subplots(count, sharex=True, figsize=size, layout="constrained", squeeze=False)[1][:, 0]
    for (name, each), one in zip(status.models.items(), axes, strict=True):
        _evidence(each, one)
        one.set_ylabel(f"Evidence against {as_text(name, 20)}")
    _periods(first.periods, axes[-1])
    return axes[0]


def plot_brier(status: BrierStatus, ax: Axes | None) -> Axes:
    """The mean difference of the Brier scores so far, with its confidence sequence."""
    if not status.periods:
        raise ValueError("expected a monitor with at least one period, found none")
    ax = new_axes(ax)
    level = f"{settled(100 * status.level):.4g}% confidence sequence"
    _sequence(status.periods, status.differences, status.lows, status.highs, level, ax)
    ax.set_ylabel(f"Brier score: {status.names[0]} − {status.names[1]}")
    place = dict(zip(status.periods, _positions(status.periods), strict=True))
    for part, hue in zip(status.segments.values(), [*colors().values()][1:], strict=False):
        x = np.array([place[period] for period in part.periods])
        ax.plot(
            x, part.differences, color=hue, linewidth=1, linestyle=":", label=as_text(part.segment, 20), **_marker(x)
        )
    if status.segments:
        legend(ax, above=True)
    if status.decided_period is not None:
        x = _positions(status.periods)[status.periods.index(status.decided_period)]
        ax.axvline(x, color=colors()["red"], linewidth=1.4, label=f"0 left out from {status.decided_period}")
        legend(ax, above=True)
    return ax


def _evidence(status: MonitorStatus, ax: Axes) -> None:
    """Draw the evidence on a logarithmic scale, the alarm, and the likely start with its range."""
    color, x = colors(), _positions(status.periods)
    place = dict(zip(status.periods, x, strict=True))
    evidence = np.exp(np.minimum(status.log_evidence, TOP_EXPONENT))
    finite = status.log_evidence <= TOP_EXPONENT
    top = 10 * max(status.threshold, evidence[finite].max(initial=0.0))
    if status.onset is not None:
        low, high = place[status.onset.low], place[status.onset.high]
        start = f"likely start, {status.onset.start}"
        ax.axvspan(low, high, color=color["orange"], alpha=0.25, linewidth=0)
        ax.axvline(place[status.onset.start], color=color["orange"], linewidth=1.6, label=start)
    ax.plot(x, np.where(finite, evidence, np.nan), color=color["blue"], linewidth=1.5, **_marker(x))
    if not finite.all():
        beyond = "evidence without limit" if np.isinf(status.log_evidence).any() else "evidence above 1e299"
        ax.plot(x[~finite], np.full((~finite).sum(), top), "^", color=color["blue"], markersize=4, label=beyond)
    ax.axhline(status.threshold, **DIAGONAL, label=f"alarm at {status.threshold:g}")
    for i, period in enumerate(status.alarms):
        label = "_" if i else f"alarm, {period}" if len(status.alarms) == 1 else f"{len(status.alarms)} alarms"
        ax.axvline(place[period], color=color["red"], linewidth=1.4, label=label)
    ax.set(yscale="log", ylabel="Evidence against calibration")
    legend(ax, above=True)


def _sequence(
    periods: Sequence[Label], middle: np.ndarray, low: np.ndarray, high: np.ndarray, label: str, ax: Axes
) -> None:
    """Draw a running mean with its confidence sequence, and 0."""
    color, x = colors()["blue"], _positions(periods)
    ends = np.where(np.isnan(low), -1.0, low), np.where(np.isnan(high), 1.0, high)  # to the edge where there is no end
    ax.fill_between(x, *ends, color=color, alpha=0.2, linewidth=0, label=label)
    ax.plot(x, middle, color=color, linewidth=1.5, **_marker(x))
    ax.axhline(0, **DIAGONAL)
    low, high = (np.where(np.isnan(end), middle, end) for end in (low, high))
    bottom, top = min(0, np.quantile(low, 0.2)), max(0, np.quantile(high, 0.8))  # the first periods are much wider
    ax.set_ylim(bottom - 0.3 * (top - bottom), top + 0.3 * (top - bottom))
    _periods(periods, ax)
    legend(ax, above=True)


def _marker(x: np.ndarray) -> dict[str, Any]:
    """Points where there are few, of which one alone would not be seen as a line."""
    return {"marker": "o", "markersize": 4} if x.size <= 40 else {}


def _dates(periods: Sequence[Label]) -> list[datetime] | None:
    """Return the periods as dates if all of them are, in order."""
    try:
        dates = [date_of(period) for period in periods if isinstance(period, str)]
    except ValueError:
        return None
    if len(dates) < len(periods):
        return None
    return dates if all(a < b for a, b in pairwise(dates)) else None


def _positions(periods: Sequence[Label]) -> np.ndarray:
    """Return where periods are on their axis: dates and rising numbers as such, others at 1, 2, ..."""
    dates = _dates(periods)
    if dates is not None:
        from matplotlib.dates import date2num

        return np.asarray(date2num(dates))
    numbers = [period for period in periods if isinstance(period, int)]
    if len(numbers) == len(periods) and all(a < b for a, b in pairwise(numbers)):
        return np.array(numbers, float)
    return np.arange(1.0, len(periods) + 1)


def _periods(periods: Sequence[Label], ax: Axes) -> None:
    """Write the names of periods along the axis."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.set_xlabel("Period")
    if _dates(periods) is not None:
        locator = AutoDateLocator(maxticks=MOST_NAMES)
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator))
        return
    ax.xaxis.set_major_locator(MaxNLocator(MOST_NAMES, integer=True))
    if not all(isinstance(period, int) for period in periods):
        names = dict(enumerate(map(str, periods), 1))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: names.get(int(x), "") if x == int(x) else ""))
