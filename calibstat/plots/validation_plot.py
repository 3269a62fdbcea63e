"""The picture of a clinical validation: both curves, the histogram of the predictions, and the numbers below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.classical.validation_result import Validation
from calibstat.digits import settled
from calibstat.plots.reliability_axes import (
    HEIGHT,
    MARGIN,
    SIDE,
    STRIP_BELOW,
    STRIP_WITHIN,
    scale_of_rows,
    strip_below,
    strip_within,
)
from calibstat.plots.style import DIAGONAL, TIGHT, colors, grid_of_axes, named_legend, pale

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TICK_STEPS = (0.2, 0.1, 0.05, 0.02)  # between ticks, of which at least four are drawn
NARROW = 0.5  # largest prediction up to which the axes end at the next tenth above it
# The names that rms::val.prob prints, in three columns. The numbers of the first have intervals.
COLUMNS = (
    {"ratio": "O/E", "intercept": "Intercept", "slope": "Slope", "brier": "Brier", "auc": "C (ROC)"},
    {"ici": "Eavg", "e90": "E90", "emax": "Emax", "eci": "ECI", "r2": "R²"},
    {"discrimination": "D", "unreliability": "U", "quality": "Q", "spiegelhalter_z": "S:z", "S:p": "S:p"},
)
PLACES = ((-0.08, 0.27), (0.6, 0.83), (0.91, 1.1))  # of names, and of the right ends of numbers, in widths of the axes
ROW_HEIGHT = 0.055  # between lines of the table, in heights of the axes
FIRST = STRIP_BELOW[1] - 0.19  # of the first line, below the strip with its label
LEGEND_WITHIN: dict[str, Any] = {"fontsize": "x-small", "framealpha": 0.7, "borderaxespad": 0.2}


def plot_validation(found: Validation, ax: Axes | None) -> Axes:
    """Both curves, the rows of bins of predictions, and in a figure of its own the numbers; three in given axes."""
    new = ax is None
    ax = grid_of_axes(1, 1, SIDE, SIDE)[0, 0] if ax is None else ax
    strip = strip_below(ax) if new else strip_within(ax)
    entries = [*_curves(found, ax), *_rows(found, strip)]
    end = _end(found)
    low = -MARGIN if new else 1 + MARGIN - (1 + 2 * MARGIN) * HEIGHT
    ax.set(xlim=(-MARGIN * end, (1 + MARGIN) * end), ylim=(low * end, (1 + MARGIN) * end), aspect="equal")
    step = next(step for step in TICK_STEPS if end / step > 2.9)
    ticks = step * np.arange(round(end / step) + 1)
    ax.set(xticks=ticks, yticks=ticks, ylabel="Observed frequency")
    rows = f"Predicted probability, n = {found.n:,}, {found.events:,} events"
    (strip if new else ax).set_xlabel(rows)
    if new:
        strip.set_ylabel("Rows" if found.effective_n is None else "Effective rows")
        _table(found, ax)
        place: dict[str, Any] = {"loc": "lower center", "bbox_to_anchor": (0.5, 1), "ncols": 2, **TIGHT}
    else:  # on the side of the diagonal where the curves are not
        numbers = {"O/E": found.ratio, "slope": found.slope, "C": found.auc}
        ax.set_title(", ".join(f"{name} {_short(number, 2)}" for name, number in numbers.items()), fontsize="medium")
        corner = ("lower right", (1, STRIP_WITHIN[3])) if found.ratio > 1 else ("upper left", (0, 1))
        place = {"loc": corner[0], "bbox_to_anchor": corner[1], **LEGEND_WITHIN}
    named_legend(ax, [handle for handle, _ in entries], [name for _, name in entries], **place)
    return ax


def _end(found: Validation) -> float:
    """Return where the axes end: at 1, or of small predictions at the next tenth above them."""
    largest = float(found.flexible.prediction[-1])
    return math.ceil(10 * largest) / 10 if largest <= NARROW else 1.0


def _curves(found: Validation, ax: Axes) -> list[tuple[Any, str]]:
    """Draw the diagonal, the flexible curve with its band, and lowess; return them with their names."""
    color, curve = colors(), found.flexible
    dot: dict[str, Any] = {"marker": "o"} if curve.prediction.size == 1 else {}  # where there is no line
    kind = f"{curve.knots.size} knots" if curve.knots.size else "no knots"
    dashes: dict[str, Any] = {"color": color["red"], "linestyle": (0, (4, 1.5)), "linewidth": 1.6}
    entries: list[tuple[Any, str]] = [
        (ax.plot([0, 1], [0, 1], **DIAGONAL)[0], "calibrated"),
        (ax.plot(*found.lowess, **dashes, **dot)[0], "lowess"),
    ]
    if np.isnan(curve.frequency).any():
        return entries
    line = ax.plot(curve.prediction, curve.frequency, color=color["blue"], linewidth=2, **dot)[0]
    entries.append((line, f"flexible curve, {kind}"))
    if curve.low is not None and curve.high is not None:
        level = f"{settled(100 * found.confidence_level):.4g}% band, pointwise"
        band: dict[str, Any] = {"color": pale(color["blue"], 0.25), "linewidth": 0, "zorder": 1}
        entries.append((ax.fill_between(curve.prediction, curve.low, curve.high, **band), level))
        if dot:
            ax.vlines(curve.prediction, curve.low, curve.high, color=band["color"], linewidth=6, zorder=1)
    return entries


def _rows(found: Validation, strip: Axes) -> list[tuple[Any, str]]:
    """Draw the rows in bins of predictions, with the outcome in front of all; return both with their names."""
    color = colors()
    total, events = found.histogram.sum(axis=0), found.histogram[1]
    width = 1 / total.size
    middle = (np.arange(total.size) + 0.5) * width
    bars: dict[str, Any] = {"edgecolor": "white", "linewidth": 0.4}
    every = strip.bar(middle, total, width, color=pale(color["grey"], 0.5), **bars)
    with_event = strip.bar(middle, events, width, color=color["blue"], **bars)
    scale_of_rows(strip, total.max())
    return [(every, "all rows"), (with_event, "rows with the event")]


def _table(found: Validation, ax: Axes) -> None:
    """Write the numbers below the strip: names and numbers, and the intervals of the first column."""
    numbers = {name: getattr(found, name) for column in COLUMNS for name in column if hasattr(found, name)}
    numbers["S:p"] = found.pvalues.get("spiegelhalter_z", math.nan)
    style: dict[str, Any] = {"transform": ax.transAxes, "fontsize": 8.5, "va": "top"}
    for column, (left, right) in zip(COLUMNS, PLACES, strict=True):
        for line, (name, title) in enumerate(column.items()):
            height = FIRST - ROW_HEIGHT * line
            ax.text(left, height, title, color=".35", **style)
            written = "< 0.001" if name == "S:p" and numbers[name] < 0.001 else _short(numbers[name], 3)
            ax.text(right, height, written, ha="right", **style)
            if name in found.intervals:
                low, high = (_short(end, 2) for end in found.intervals[name])
                ax.text(right + 0.02, height, f"({low} to {high})", color=".35", **style)


def _short(number: float, digits: int) -> str:
    """Write a number with a minus sign of its width, a dash if there is none."""
    return "–" if math.isnan(number) else f"{settled(number):.{digits}f}".replace("-", "−").replace("inf", "∞")
