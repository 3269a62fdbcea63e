"""Decision loss over thresholds, of one model or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from calibstat.inference.decision_loss_curve import DecisionLossCurve
from calibstat.output.wording import level_text
from calibstat.plots.style import as_text, colors, named_legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_decision_loss(curve: DecisionLossCurve, ax: Axes | None) -> Axes:
    """The loss of one model at each threshold, its upper bound, and the bound of all thresholds together."""
    return plot_decision_loss_of_models([curve], ["loss"], ax)


def plot_decision_loss_of_models(models: Sequence[DecisionLossCurve], names: Sequence[str], ax: Axes | None) -> Axes:
    """The losses with the area up to their upper bounds, and of each model the bound of all thresholds together."""
    ax, palette = new_axes(ax), colors()
    curves = []
    for one, hue in zip(models, [*palette.values()] * len(models), strict=False):
        ax.fill_between(one.threshold, one.loss, one.high, color=hue, alpha=0.2, linewidth=0)
        curves += ax.plot(one.threshold, one.loss, color=hue, linewidth=2)
        ax.axhline(one.largest_high, color=hue, linestyle="--", linewidth=1.2)
    if not np.isnan(models[0].own):
        ax.axvline(models[0].own, color=".35", linestyle=":", linewidth=1.2)
    confidence = level_text(models[0].confidence_level)
    ax.set(
        xlabel="Threshold probability",
        ylabel="Gain per case by the best other threshold",
        xlim=(0, 1),
        ylim=(0, 1.05 * max(one.largest_high for one in models)),
        title=f"areas: up to the {confidence} bound of a threshold; dashed: of all",
    )
    named_legend(ax, curves, [as_text(name, 30) for name in names], loc="best", fontsize="small", framealpha=0.9)
    return ax
