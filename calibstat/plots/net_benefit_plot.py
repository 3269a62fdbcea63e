"""Net benefit over thresholds, of one model or of several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from calibstat.inference.net_benefit_curve import NetBenefitCurve
from calibstat.plots.style import as_text, colors, named_legend, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

UNDER_ZERO = 0.15  # how far below zero the picture goes, of the largest net benefit: curves fall without end


def plot_net_benefit(curve: NetBenefitCurve, ax: Axes | None) -> Axes:
    """The curve of one model with its intervals."""
    return plot_net_benefit_of_models([curve], ["model"], ax)


def plot_net_benefit_of_models(models: Sequence[NetBenefitCurve], names: Sequence[str], ax: Axes | None) -> Axes:
    """The curves with intervals at each threshold, and the curves of acting on all rows and on none."""
    ax, palette = new_axes(ax), colors()
    curves = ax.plot(
        models[0].threshold, models[0].everyone, color=".35", linestyle="--", linewidth=1.2, label="act on all rows"
    )
    curves.append(ax.axhline(0, color="black", linewidth=1, label="act on none"))
    for one, name, hue in zip(models, names, [*palette.values()] * len(models), strict=False):
        ax.fill_between(one.threshold, one.low, one.high, color=hue, alpha=0.2, linewidth=0)
        curves += ax.plot(one.threshold, one.model, color=hue, linewidth=2, label=name)
    top = max(float(max(one.high.max(), one.everyone.max())) for one in models)
    ax.set(xlabel="Threshold probability", ylabel="Net benefit, true positives per row", xlim=(0, 1))
    ax.set_ylim(-UNDER_ZERO * top, 1.05 * top)
    labels = ["act on all rows", "act on none", *(as_text(name, 30) for name in names)]
    named_legend(ax, curves, labels, loc="best", fontsize="small", framealpha=0.9)
    return ax
