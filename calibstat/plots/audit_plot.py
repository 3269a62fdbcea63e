"""Audits of groups: errors with their intervals below each other, the significant groups first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled
from calibstat.in_order import smallest_first, without_rounding
from calibstat.inference.auditing.audit_results import Audit
from calibstat.output.visible_text import visible
from calibstat.plots.style import POINT, Color, colors, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.5
GROUP_LINES = 40  # groups in one figure
LETTERS, MOST_LETTERS = 32, 44  # of a name in one line, and of each line of a longer one
ROWS_AT, P_AT = 44, 50  # points to the right of the axes at which the numbers of rows end, and the first p begins
HUES = ("blue", "orange", "green", "purple", "brown", "pink", "grey")  # of models


def plot_audit(audit: Audit, ax: Axes | None) -> Axes:
    """The error of each group, all rows at the top; significant ones in red."""
    hue = colors()
    return _plot([audit], [""], [(hue["blue"], hue["red"])], ax)


def plot_audits_of_models(audits: Sequence[Audit], names: Sequence[str], ax: Axes | None) -> Axes:
    """The errors of several models in each group, in their colours below each other."""
    if any(each.names != audits[0].names for each in audits):
        raise ValueError("expected audits of the same groups, found different ones")
    hue = [colors()[HUES[k % len(HUES)]] for k in range(len(audits))]
    return _plot(audits, names, [(each, each) for each in hue], ax)


def _plot(audits: Sequence[Audit], models: Sequence[str], hues: Sequence[tuple[Color, Color]], ax: Axes | None) -> Axes:
    """Draw audits, each in a colour of groups that are not significant and one of significant groups."""
    first, shown = audits[0], _shown(audits)
    names = [_in_lines(visible(first.names[g])) for g in shown]
    tall = 0.08 + 0.145 * max(len(audits), *(1 + name.count("\n") for name in names), 1)
    ax = new_axes(ax, height=1.7 + 0.2 * len(audits) + tall * shown.size, width=WIDTH)
    rare = all(each.is_rare for each in audits)
    ax.axvline(1 if rare else 0, color="black", linewidth=1, zorder=1)
    if shown.size > 1:
        ax.axhline(0.5, color=".6", linewidth=0.8)
    for k, (each, model, hue) in enumerate(zip(audits, models, hues, strict=True)):
        place = np.arange(shown.size) + 0.7 * ((k + 0.5) / len(audits) - 0.5)
        _draw_errors(each, model, hue, ax, shown, place, size=6.0 if len(audits) == 1 else 4.5, rare=rare)
        for g, y in zip(shown, place, strict=True):
            p = f"{settled(each.pvalue_adjusted[g]):.2g}"
            _beside(ax, P_AT, float(y), p, hue[0] if len(audits) > 1 else None, "left")
    for y, g in enumerate(shown):
        _beside(ax, ROWS_AT, y, f"{first.rows[g]:,}", None, "right")
    _beside(ax, ROWS_AT, -0.75, "rows", None, "right")
    _beside(ax, P_AT, -0.75, "adjusted p", None, "left")
    limits = "intervals" if first.side is None else "limits"
    intervals = f"{settled(100 * first.confidence_level):.4g}% {limits}, all at once"
    ax.plot([], [], color=".5", linewidth=2.5, alpha=0.6, label=intervals)
    ax.set_yticks(np.arange(shown.size), names, fontsize="small", parse_math=False)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(shown.size - 0.4, -0.6)
    ax.grid(visible=False, axis="y")
    groups = f"{len(first.names):,} group{'s' * (len(first.names) > 1)}"
    which = groups if shown.size == len(first.names) else f"{shown.size} of {groups}"
    what = "Observed / predicted (O/E)\nabove 1" if rare else "Observed − predicted, percentage points\nabove 0"
    ax.set_xlabel(f"{what}: predictions too low; {which}, n = {first.n:,}")
    if rare:
        _logarithmic(ax)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=1, fontsize="small", frameon=False)
    return ax


def _draw_errors(
    audit: Audit,
    model: str,
    hue: tuple[Color, Color],
    ax: Axes,
    shown: np.ndarray,
    place: np.ndarray,
    *,
    size: float,
    rare: bool,
) -> None:
    """Draw the error of each group with its interval, significant groups by another mark."""
    at, low, high = _ratios(audit) if rare else [100 * ends for ends in (audit.error, *audit.drawn)]
    far = audit.pvalue_adjusted[shown] <= audit.level
    for these, marker, color, sign in ((~far, "o", hue[0], ">"), (far, "D", hue[1], "≤")):
        g, y = shown[these], place[these]
        ax.hlines(y, low[g], high[g], color=color, linewidth=2.5, alpha=0.45)
        label = f"{model}, adjusted p {sign} {audit.level:g}".removeprefix(", ")
        if g.size:
            ax.plot(at[g], y, label=label, **{**POINT, "marker": marker, "markersize": size, "color": color})


def _ratios(audit: Audit) -> list[np.ndarray]:
    """Return O/E and its ends, none below a tenth of the smallest that is above 0, as a logarithmic axis needs."""
    drawn = [audit.ratio, *map(audit.relative, audit.drawn)]
    least = 0.1 * float(audit.ratio[audit.ratio > 0].min(initial=1.0))
    return [np.maximum(ends, least) for ends in drawn]


def _logarithmic(ax: Axes) -> None:
    """Give ratios an axis on which 1/2 is as far from 1 as 2."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 1.5, 2.0, 3.0, 5.0, 7.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _shown(audits: Sequence[Audit]) -> np.ndarray:
    """Return all rows and then the groups with the smallest p-values of any model."""
    least = np.min([each.pvalue_adjusted for each in audits], axis=0)
    strongest = np.max([each.statistic for each in audits], axis=0)
    order = smallest_first(least, -without_rounding(strongest))
    return np.append(0, order[order != 0])[:GROUP_LINES]


def _in_lines(name: str) -> str:
    """Give each condition of a long name a line of its own, and cut those that are very long."""
    parts = [name] if len(name) <= LETTERS else name.split(" and ")
    return "\nand ".join(part if len(part) <= MOST_LETTERS else f"{part[: MOST_LETTERS - 1]}…" for part in parts)


def _beside(ax: Axes, at: float, y: float, text: str, color: Color | None, align: str) -> None:
    """Write to the right of the axes, so many points away."""
    where: dict[str, Any] = {"xycoords": ax.get_yaxis_transform(), "xytext": (at, 0), "textcoords": "offset points"}
    ax.annotate(text, (1, y), ha=align, va="center", fontsize="small", color=color or "black", **where)
