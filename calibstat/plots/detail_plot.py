"""Details of measures: witness functions, curves, bins, moves of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.digits import settled, writer
from calibstat.inference.estimate import MeasureDetail
from calibstat.plots.style import DIAGONAL, POINT, ROOM, Color, colors, legend, new_axes, strip_along

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_measure_detail(detail: MeasureDetail, ax: Axes | None, *, deviation: bool = False) -> Axes:
    """The details of a measure, drawn by the first of its fields that is in `PLOT_BY_FIELD`."""
    for field, draw in (DEVIATION_BY_FIELD if deviation else PLOT_BY_FIELD).items():
        if field in detail.fields:
            ax = new_axes(ax)
            ax.set(
                xlabel="Predicted probability",
                title=f"{detail.measure} = {settled(detail.estimate):.3g}, n = {settled(detail.n):.10g}",
            )
            draw(detail, ax, colors())
            ax.set_xlim(-0.02, 1.02)
            legend(ax)
            return ax
    if deviation:
        raise ValueError(
            f"expected a reliability diagram with deviation=True, found the detail of {detail.measure}, no curve"
        )
    raise TypeError(f"expected a MeasureDetail with one of the fields {', '.join(PLOT_BY_FIELD)}; found {detail}")


def _plot_cumulative_residuals(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The running sum of the residuals and its two ends that are furthest apart: the measure is their distance."""
    x, curve = np.append(0, detail["value"]), np.append(0, detail["cumulative"])
    ax.step(x, curve, where="post", color=color["blue"], label="sum of residuals / n")
    support = np.flatnonzero(detail["witness"])
    ends = np.array([support[0], support[-1] + 1]) if support.size else np.zeros(2, int)
    label = f"worst interval, {settled(detail.estimate):.3g} apart"
    ax.fill_between(x[ends], *curve[ends], color=color["orange"], alpha=0.2, linewidth=0, label=label)
    ax.axhline(0, **DIAGONAL)
    ax.plot(x[ends], curve[ends], label="extremes", **{**POINT, "marker": "D", "color": color["red"]})
    ax.set_ylabel("Cumulative residual")


def _plot_denoised_residuals(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The running sum of the residuals, what it is denoised to, and below them the witness, with its scale right."""
    x, curve, denoised = (np.append(0, detail[name]) for name in ("value", "cumulative", "denoised"))
    value, witness = detail["value"], detail["witness"]
    ax.axhline(0, **DIAGONAL)
    area = f"area + |end| = {settled(detail.estimate):.3g}"
    ax.fill_between(x, curve, denoised, step="post", color=color["blue"], alpha=0.15, linewidth=0, label=area)
    ax.step(x, curve, where="post", color=color["blue"], label="sum of residuals / n")
    ax.step(x, denoised, where="post", color=color["orange"], linewidth=2, label="denoised")
    ends = (-1, 0) if witness.min() < 0 else (0, 1)
    unit = 0.3 * max(np.ptp(curve), 0.01)
    zero = curve.min() - (ends[1] + 0.5) * unit
    ax.plot(value, zero + unit * witness, color=color["green"], label="witness (right scale)", **_joined(value))
    scale = ax.secondary_yaxis("right", functions=(lambda y: (y - zero) / unit, lambda w: zero + unit * w))
    scale.set_yticks(ends)
    scale.tick_params(colors=color["green"])
    ax.set(ylim=(zero + unit * (ends[0] - 0.2), None), ylabel="Cumulative residual")


def _plot_smoothed_residuals(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The mean residual near each prediction, with the density of the predictions along the lower edge."""
    grid, residual, density = detail["grid"], detail["residual"], detail["density"]
    ax.axhline(0, **DIAGONAL, label="calibrated")
    label = f"smoothed residual, bandwidth {settled(detail['bandwidth']):.3g}"
    ax.plot(grid, residual, color=color["blue"], linewidth=2, label=label)
    ax.fill_between(grid, residual, color=color["blue"], alpha=0.15, linewidth=0)
    reach = 1.15 * max(np.abs(residual).max(), 0.01)
    ax.set(ylim=(-ROOM * reach, reach), ylabel="Observed frequency − prediction")
    strip = strip_along(ax, "density of the predictions")
    strip.fill_between(grid, density, color=color["grey"], alpha=0.5, linewidth=0)
    strip.set_ylim(0, density.max())


def _plot_smoothed_curve(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The smoothed frequency over the prediction, as thick as the predictions are dense (Błasiok, Nakkiran 2023).

    It is not drawn where less than a row is within a bandwidth.
    """
    density = detail["density"]
    seen = density * detail["bandwidth"] * detail.n >= LEAST_ROWS
    grid = np.where(seen, detail["grid"], np.nan)
    curve, half = grid + detail["residual"], THICKEST * density / density.max() / 2
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="calibrated")
    band: dict[str, Any] = {"color": color["blue"], "alpha": 0.35, "linewidth": 0}
    ax.fill_between(grid, curve - half, curve + half, label="thickness: density of the predictions", **band)
    label = f"smoothed frequency, bandwidth {settled(detail['bandwidth']):.3g}"
    ax.plot(grid, curve, color=color["blue"], linewidth=1.5, label=label)
    ax.set(ylim=(-0.05, 1.05), ylabel="Observed frequency")


def _joined(value: np.ndarray) -> dict[str, Any]:
    """A line, with a dot at each prediction as long as they stay apart."""
    return {"linewidth": 2, "marker": "." if value.size <= 100 else ""}


def _plot_witness_function(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The witness: the weight function with the largest sum of weighted residuals."""
    ax.axhline(0, **DIAGONAL)
    label = "above 0: more outcomes than predicted"
    ax.plot(detail["value"], detail["witness"], color=color["blue"], label=label, **_joined(detail["value"]))
    ax.set_ylabel("Witness function")


def _plot_isotonic_recalibration(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The isotonic recalibration and the decomposition of the score."""
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="calibrated")
    ax.plot(detail["value"], detail["recalibrated"], color=color["green"], linewidth=2, label="CORP recalibration")
    score, mcb, dsc, unc = (writer(".4f")(detail[name]) for name in ("score", "mcb", "dsc", "unc"))
    parts = f"score {score} = MCB {mcb} − DSC {dsc} + UNC {unc}"
    ax.set(ylim=(-0.02, 1.02), ylabel="Recalibrated probability", title=parts)


def _plot_best_update(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The best small update of the predictions."""
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="no update")
    ax.plot(detail["value"], detail["kappa"], color=color["blue"], label="best update", **_joined(detail["value"]))
    ax.set(ylim=(-0.02, 1.02), ylabel="Updated probability")


def _plot_gaps_of_bins(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The gap between frequency and mean prediction in each bin."""
    x, y = detail["mean_prediction"], detail["frequency"]
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="calibrated")
    ax.vlines(x, x, y, color=color["red"], alpha=0.45, linewidth=6, label="gap")
    ax.plot(x, y, color=color["blue"], label="observed", **POINT)
    ax.set(ylim=(-0.02, 1.02), ylabel="Observed frequency")


def _plot_best_intervals(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """Running sums of the best intervals from the left, residuals and widths, with their rows along the lower edge."""
    low, high, rows = detail["low"], detail["high"], detail["count"]
    x = np.column_stack((low, high)).ravel()

    def ramps(part: np.ndarray) -> np.ndarray:
        """Grow by this much within each interval."""
        return np.column_stack((np.cumsum(part) - part, np.cumsum(part))).ravel()

    gaps, total = ramps(np.abs(detail["residual"])), ramps(detail["cost"])
    ax.fill_between(x, gaps, color=color["red"], alpha=0.35, linewidth=0, label="their residuals")
    ax.fill_between(x, gaps, total, color=color["blue"], alpha=0.35, linewidth=0, label="their widths, times rows / n")
    ax.plot(x, total, color=color["blue"], linewidth=2, label=f"sum over {rows.size} interval{'s' * (rows.size > 1)}")
    reach = max(detail.estimate, 0.01)
    ax.set(ylim=(-0.22 * reach, 1.05 * reach), ylabel="Cost of the intervals up to here")
    strip = strip_along(ax, "rows of each interval")
    up_and_down = np.outer(rows, (0, 1, 1, 0)).ravel()
    strip.fill_between(np.repeat(x, 2), up_and_down, color=color["grey"], alpha=0.5, linewidth=0.6)
    strip.set_ylim(0, rows.max())


def _plot_loss_of_each_outcome(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The loss of each prediction under either outcome."""
    x, style = detail["value"], _joined(detail["value"])
    ax.plot(x, detail["loss_positive"], color=color["blue"], label="if the outcome is 1", **style)
    ax.plot(x, detail["loss_negative"], color=color["orange"], linestyle="--", label="if the outcome is 0", **style)
    ax.set_ylabel("Loss")


def _plot_weight_of_each_outcome(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The two weights, one for each outcome, whose mean over the rows is the value."""
    low, high = detail["range"]
    ax.axhline(0, **DIAGONAL)
    style = _joined(detail["value"])
    ax.plot(
        detail["value"], detail["weight_positive"], color=color["blue"], label="weight if the outcome is 1", **style
    )
    style["linestyle"] = "--"
    ax.plot(detail["value"], detail["weight_negative"], color=color["orange"], label="if the outcome is 0", **style)
    ax.set(ylabel="Weight", title=f"{ax.get_title()}: certainly {settled(low):.3g} to {settled(high):.3g}")


def _plot_merged_predictions(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The new value of each prediction."""
    value, merged = detail["value"], detail["merged"]
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="stays")
    ax.vlines(value, value, merged, color=color["red"], alpha=0.45, linewidth=6, label="how far it moves")
    ax.plot(value, merged, color=color["blue"], label="mean outcome of its cell", **POINT)
    ax.set(ylim=(-0.02, 1.02), ylabel="Calibrated prediction")


def _plot_bracket_of_value(detail: MeasureDetail, ax: Axes, color: Mapping[str, Color]) -> None:
    """The two ends between which the value is."""
    low, high = detail["bracket"]
    ax.axvspan(
        low,
        high,
        color=color["blue"],
        alpha=0.3,
        linewidth=0,
        label=f"between {settled(low):.3g} and {settled(high):.3g}",
    )
    ax.set(xlabel=str(detail.measure), ylabel="From lower distance to interval error", yticks=[])
    ax.set_title(f"too many predictions for a value, n = {settled(detail.n):.10g}")


LEAST_ROWS = 1.0  # within a bandwidth: a curve of fewer rows is not drawn
THICKEST = 0.12  # of a curve, where predictions are densest
DEVIATION_BY_FIELD = {"grid": _plot_smoothed_residuals}
# Which field of a detail says how it is drawn; of several the first. A new drawing is a function and its line here.
PLOT_BY_FIELD = {
    "denoised": _plot_denoised_residuals,
    "cumulative": _plot_cumulative_residuals,
    "grid": _plot_smoothed_curve,
    "witness": _plot_witness_function,
    "recalibrated": _plot_isotonic_recalibration,
    "kappa": _plot_best_update,
    "cost": _plot_best_intervals,
    "frequency": _plot_gaps_of_bins,
    "loss_positive": _plot_loss_of_each_outcome,
    "weight_positive": _plot_weight_of_each_outcome,
    "merged": _plot_merged_predictions,
    "bracket": _plot_bracket_of_value,
}
