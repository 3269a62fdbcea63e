"""Risk and coverage, of one model or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibstat.inference.answering.risk_coverage import RiskCoverage
from calibstat.plots.style import as_text, colors, named_legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_DRAWN = (
    20  # answers, below which the share of wrong ones leaps, so that the picture is not made as high as it gets
)


def plot_risk_coverage(curve: RiskCoverage, ax: Axes | None) -> Axes:
    """The error of one model over the share answered, if calibrated, and in perfect order."""
    return plot_risk_coverage_of_models([curve], ["model"], ax)


def plot_risk_coverage_of_models(models: Sequence[RiskCoverage], names: Sequence[str], ax: Axes | None) -> Axes:
    """The same of several models in their colors: dashed if calibrated, dotted in perfect order, a dot where shown."""
    ax, palette = new_axes(ax), colors()
    hues = [*palette.values()] * len(models)
    curves, labels = [], [as_text(name, 30) for name in names]
    for one, hue in zip(models, hues, strict=False):
        share = 100 * one.coverage
        points = "." if share.size <= LEAST_DRAWN else "None"  # a line through one point is not seen
        curves += ax.plot(share, 100 * one.error, marker=points, color=hue, linewidth=2)
        ax.plot(share, 100 * one.calibrated, color=hue, linestyle="--", linewidth=1.2)
        ax.plot(share, 100 * one.perfect, color=hue, linestyle=":", linewidth=1.2)
    for style, label in (("--", "if calibrated"), (":", "in perfect order")):
        curves += ax.plot([], [], color=".35", linestyle=style, linewidth=1.2)
        labels.append(label)
    if models[0].max_error is not None:
        curves.append(ax.axhline(100 * models[0].max_error, color=".35", linewidth=1))
        labels.append("largest error allowed")
        curves += ax.plot([], [], "o", color="white", markeredgecolor="black")
        labels.append("shown to be allowed")
    for one, hue in zip(models, hues, strict=False):
        if one.answered is not None and one.observed is not None:
            ax.plot(100 * one.answered, 100 * one.observed, "o", color=hue, markeredgecolor="black", clip_on=False)
    ax.set(xlabel="Answered, % of the rows", ylabel="Wrong, % of the answers", xlim=(0, 100))
    ax.set_ylim(0, 105 * max(max(map(_top, models)), models[0].max_error or 0))
    named_legend(ax, curves, labels, loc="best", fontsize="small", framealpha=0.9)
    return ax


def _top(one: RiskCoverage) -> float:
    some = one.coverage * one.n >= min(LEAST_DRAWN, one.n)
    return float(max(np.max(one.error[some]), np.max(one.calibrated[some]), 0.01))
