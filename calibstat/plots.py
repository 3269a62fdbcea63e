"""Draws results, never data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.results import CalibrationTestResult, ConfidenceInterval, MeasureDetail, Reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (6.0, 5.0)
ROOM = 1.36  # how far below zero an axis goes if it goes to 1 above, so that a strip along its lower edge hides nothing
STYLE = {"axes.grid": True, "grid.color": ".92", "axes.spines.top": False, "axes.spines.right": False}


DIAGONAL: dict[str, Any] = {"color": ".4", "linestyle": "--", "linewidth": 1.2}
POINT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 6.5, "markeredgecolor": "white", "zorder": 3}


def plot(result: Any, ax: Axes | None = None) -> Axes:
    """Draw a result.

    Parameters
    ----------
    result : Reliability, CalibrationTestResult, ConfidenceInterval or MeasureDetail
        What `reliability`, `calibration_test`, `confidence_interval` or `detail` returned; or a sequence of intervals
        or a mapping from name to interval, drawn below each other.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure. A reliability diagram in a new figure has the rows of each bin in a
        strip below, in given axes along their lower edge.

    Returns
    -------
    matplotlib Axes
        The axes drawn in; ``.figure`` is their figure.

    Raises
    ------
    TypeError
        If the result is none of these.

    Notes
    -----
    Nothing is computed from data and nothing is drawn at random, so a plot shows exactly the numbers of its result.
    The colours stay apart for colour-blind readers. Global settings of matplotlib do not change.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [50, 50], [20, 35])
    >>> ax = cs.plot(cs.reliability(sample, rng=1))
    >>> ax.get_ylabel()
    'Observed frequency'
    """
    import seaborn as sns

    draw = _drawer(result)
    with sns.axes_style("ticks", STYLE), sns.plotting_context("notebook", font_scale=0.9):
        return draw(result, ax)


def _drawer(result: Any) -> Any:
    """Return the function that draws this result."""
    if isinstance(result, Reliability):
        return _reliability
    if isinstance(result, CalibrationTestResult):
        return _test
    if isinstance(result, ConfidenceInterval):
        return lambda interval, ax: _intervals([interval], [""], ax)
    if isinstance(result, MeasureDetail):
        return _detail
    many = isinstance(result, Mapping | Sequence) and not isinstance(result, str) and len(result) > 0
    entries = list(result.values() if isinstance(result, Mapping) else result) if many else []
    if entries and all(isinstance(entry, ConfidenceInterval) for entry in entries):
        names = [str(name) for name in result] if isinstance(result, Mapping) else [e.measure for e in entries]
        return lambda _, ax: _intervals(entries, names, ax)
    raise TypeError(
        "expected a Reliability, CalibrationTestResult, ConfidenceInterval or MeasureDetail, or a sequence or mapping "
        f"of ConfidenceInterval; found {type(result).__name__}"
    )


def _colors() -> dict[str, Any]:
    """Colours by role, from a palette that stays apart for colour-blind readers."""
    import seaborn as sns

    palette = sns.color_palette("colorblind")
    return dict(zip(("blue", "orange", "green", "red", "purple", "brown", "pink", "grey"), palette, strict=False))


def _axes(ax: Axes | None, height: float = SIZE[1]) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(SIZE[0], height), layout="constrained")[1]


def _legend(ax: Axes, above: bool = False) -> None:
    """Put the legend above the axes, where it hides nothing, or where it hides least."""
    if above:
        columns = (len(ax.get_legend_handles_labels()[0]) + 1) // 2
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=columns, fontsize="small", frameon=False)
    else:
        many = any(np.size(line.get_xdata()) > 200_000 for line in ax.lines)  # searching the best place would take long
        ax.legend(loc="upper right" if many else "best", fontsize="small", framealpha=0.9)


def _reliability(found: Reliability, ax: Axes | None) -> Axes:
    """Observed frequency against mean prediction, with bars, CORP curve and rows of each bin; or the difference."""
    import matplotlib.pyplot as plt

    color = _colors()
    new = ax is None
    if ax is None:
        figure, (ax, strip) = plt.subplots(2, 1, figsize=SIZE, height_ratios=(5, 1), sharex=True, layout="constrained")
        ax.tick_params(bottom=False)
        strip.set(xlabel="Predicted probability", ylabel="Rows" if isinstance(found.n, int) else "Weight")
        figure.align_ylabels()
    else:
        ax.set_xlabel("Predicted probability")
    x = found.mean_prediction
    base = x if found.deviation else np.zeros_like(x)
    ax.plot([0, 1], [0, 0 if found.deviation else 1], **DIAGONAL, label="calibrated")
    if not found.deviation:
        ax.plot(found.corp_value, found.corp_frequency, color=color["green"], linewidth=1.4, label="CORP curve")
    consistency = found.band == "consistency"
    if found.low is not None and found.high is not None and found.band_level is not None:
        label = f"{100 * found.band_level:.3g}% {found.band} bars"
        alpha, width = (0.3, 7) if consistency else (1, 1.6)
        ends = found.low - base, found.high - base
        ax.vlines(x, *ends, color=color["blue"], alpha=alpha, linewidth=width, label=label)
    outside = ~found.inside if consistency and found.inside is not None else np.zeros(x.size, bool)
    for these, marker, hue, where in ((~outside, "o", "blue", ", inside bar"), (outside, "D", "red", ", outside bar")):
        if these.any():
            label = f"observed{where if consistency else ''}"
            style = {**POINT, "marker": marker, "color": color[hue]}
            ax.plot(x[these], (found.frequency - base)[these], label=label, **style)
    ax.set_xlim(-0.02, 1.02)
    if found.deviation:
        shown = [end - base for end in (found.frequency, found.low, found.high) if end is not None]
        reach = max(0.01, 1.15 * np.abs(shown).max())
        ax.set(ylim=(-reach if new else -ROOM * reach, reach), ylabel="Observed frequency − prediction")
    else:
        ax.set(ylim=(-0.02 if new else -0.21, 1.02), yticks=np.linspace(0, 1, 6), ylabel="Observed frequency")
    _rows(found, strip if new else _strip(ax, "rows of each bin"), labelled=new)
    _legend(ax, above=new)
    return ax


def _strip(ax: Axes, label: str) -> Axes:
    """Axes along the lower edge of others, for how many predictions there are."""
    strip = ax.inset_axes((0, 0, 1, 0.15), sharex=ax)
    strip.axis("off")
    ax.fill_between([], [], color=_colors()["grey"], alpha=0.5, linewidth=0, label=label)
    return strip


def _rows(found: Reliability, strip: Axes, labelled: bool) -> None:
    """Rows of each bin, with the numbers where there is room for them."""
    width = np.maximum(found.right - found.left, 0.006)  # a bin of one prediction still shows
    middle = (found.left + found.right) / 2
    strip.bar(middle, found.count, width, color=_colors()["grey"], alpha=0.5, edgecolor="white", linewidth=0.6)
    strip.set_ylim(0, found.count.max() * (1.45 if labelled else 1))
    if not labelled:
        return
    strip.grid(visible=False)
    strip.locator_params(axis="y", nbins=2)
    last = -1.0
    for x, rows in zip(middle, found.count, strict=True):
        if x - last >= 0.055:
            strip.annotate(_short(rows), (x, rows), (0, 1), textcoords="offset points", ha="center", fontsize=7.5)
            last = x


def _short(rows: float) -> str:
    """Write a number of rows in at most three characters and a unit."""
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rows >= size:
            return f"{rows / size:.1f}{unit}" if rows < 9.95 * size else f"{rows / size:.0f}{unit}"
    return f"{rows:.3g}"


def _test(found: CalibrationTestResult, ax: Axes | None) -> Axes:
    """The null distribution, the part of it that is at least as extreme as the data, and the data."""
    ax, color = _axes(ax), _colors()
    null, observed = found.null_distribution, found.statistic
    counts, edges = np.histogram(null, bins=40)
    ax.stairs(counts, edges, fill=True, color=color["blue"], alpha=0.45, label=f"{null.size} resamples if calibrated")
    ax.axvline(observed, color=color["red"], linewidth=2, label=f"observed, {observed:.3g}")
    ax.set_ylim(0, 1.3 * counts.max())  # room for the legend
    ax.set(xlabel=found.measure, ylabel="Resamples", title=f"p = {found.pvalue:.2g}, n = {found.n}")
    _legend(ax)
    return ax


def _intervals(found: Sequence[ConfidenceInterval], names: Sequence[str], ax: Axes | None) -> Axes:
    """Estimates with their bars below each other, the numbers to the right."""
    ax, color = _axes(ax, height=1.4 + 0.5 * len(found)), _colors()
    place = np.arange(len(found))
    low, high = np.array([e.low for e in found]), np.array([e.high for e in found])
    levels, methods = {e.confidence_level for e in found}, {e.method for e in found}
    level = f"{100 * levels.pop():.4g}% " if len(levels) == 1 else ""
    method = f" ({methods.pop()})" if len(methods) == 1 else ""
    label = f"{level}confidence interval{method}"
    ax.hlines(place, low, high, color=color["blue"], linewidth=3, alpha=0.6, label=label)
    ax.plot([e.estimate for e in found], place, color=color["red"], label="estimate", **POINT)
    right = ax.get_yaxis_transform()
    for y, e in enumerate(found):
        numbers = f"{e.estimate:.3g} [{e.low:.3g}, {e.high:.3g}]"
        ax.text(1.02, y, numbers, transform=right, va="center", fontsize="small")
    ax.set_yticks(place, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(found) - 0.3, -0.7)
    ax.grid(visible=False, axis="y")
    if low.min() >= 0:
        ax.set_xlim(left=0)
    measures = {e.measure for e in found}
    ax.set_xlabel(measures.pop() if len(measures) == 1 else "Estimate")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize="small", frameon=False)
    return ax


def _detail(found: MeasureDetail, ax: Axes | None) -> Axes:
    """What a measure knows: the first of its fields that says how to draw it."""
    for field, draw in DETAILS.items():
        if field in found.fields:
            ax = _axes(ax)
            ax.set(xlabel="Predicted probability", title=f"{found.measure} = {found.estimate:.3g}, n = {found.n:.10g}")
            draw(found, ax, _colors())
            ax.set_xlim(-0.02, 1.02)
            _legend(ax)
            return ax
    raise TypeError(f"expected a MeasureDetail with one of the fields {', '.join(DETAILS)}; found {found}")


def _cumulative(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The running sum of the residuals and its two ends that are furthest apart: the measure is their distance."""
    x, curve = np.append(0, found["value"]), np.append(0, found["cumulative"])
    ax.step(x, curve, where="post", color=color["blue"], label="sum of residuals / n")
    support = np.flatnonzero(found["witness"])
    ends = np.array([support[0], support[-1] + 1]) if support.size else np.zeros(2, int)
    label = f"worst interval, {found.estimate:.3g} apart"
    ax.fill_between(x[ends], *curve[ends], color=color["orange"], alpha=0.2, linewidth=0, label=label)
    ax.axhline(0, **DIAGONAL)
    ax.plot(x[ends], curve[ends], label="extremes", **{**POINT, "marker": "D", "color": color["red"]})
    ax.set_ylabel("Cumulative residual")


def _denoised(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The running sum of the residuals, what it is denoised to, and below them the witness, with its scale right."""
    x, curve, denoised = (np.append(0, found[name]) for name in ("value", "cumulative", "denoised"))
    value, witness = found["value"], found["witness"]
    ax.axhline(0, **DIAGONAL)
    area = f"area + |end| = {found.estimate:.3g}"
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


def _smooth(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The mean residual near each prediction, with the density of the predictions along the lower edge."""
    grid, residual, density = found["grid"], found["residual"], found["density"]
    ax.axhline(0, **DIAGONAL, label="calibrated")
    label = f"smoothed residual, bandwidth {found['bandwidth']:.3g}"
    ax.plot(grid, residual, color=color["blue"], linewidth=2, label=label)
    ax.fill_between(grid, residual, color=color["blue"], alpha=0.15, linewidth=0)
    reach = 1.15 * max(np.abs(residual).max(), 0.01)
    ax.set(ylim=(-ROOM * reach, reach), ylabel="Observed frequency − prediction")
    strip = _strip(ax, "density of the predictions")
    strip.fill_between(grid, density, color=color["grey"], alpha=0.5, linewidth=0)
    strip.set_ylim(0, density.max())


def _joined(value: np.ndarray) -> dict[str, Any]:
    """A line, with a dot at each prediction as long as they stay apart."""
    return {"linewidth": 2, "marker": "." if value.size <= 100 else ""}


def _witness(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The weight function that the residuals agree with most."""
    ax.axhline(0, **DIAGONAL)
    label = "above 0: more outcomes than predicted"
    ax.plot(found["value"], found["witness"], color=color["blue"], label=label, **_joined(found["value"]))
    ax.set_ylabel("Witness function")


def _recalibrated(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The isotonic recalibration and the decomposition of the score."""
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="calibrated")
    ax.plot(found["value"], found["recalibrated"], color=color["green"], linewidth=2, label="CORP recalibration")
    parts = "score {score:.4f} = MCB {mcb:.4f} − DSC {dsc:.4f} + UNC {unc:.4f}".format(**found.fields)
    ax.set(ylim=(-0.02, 1.02), ylabel="Recalibrated probability", title=parts)


def _updated(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The best small update of the predictions."""
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="no update")
    ax.plot(found["value"], found["kappa"], color=color["blue"], label="best update", **_joined(found["value"]))
    ax.set(ylim=(-0.02, 1.02), ylabel="Updated probability")


def _gaps(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The gap between frequency and mean prediction in each bin."""
    x, y = found["mean_prediction"], found["frequency"]
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="calibrated")
    ax.vlines(x, x, y, color=color["red"], alpha=0.45, linewidth=6, label="gap")
    ax.plot(x, y, color=color["blue"], label="observed", **POINT)
    ax.set(ylim=(-0.02, 1.02), ylabel="Observed frequency")


def _partition(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """What the best intervals add up to from the left, residuals and widths, with their rows along the lower edge."""
    low, high, rows = found["low"], found["high"], found["count"]
    x = np.column_stack((low, high)).ravel()

    def ramps(part: np.ndarray) -> np.ndarray:
        """Grow by this much within each interval."""
        return np.column_stack((np.cumsum(part) - part, np.cumsum(part))).ravel()

    gaps, total = ramps(np.abs(found["residual"])), ramps(found["cost"])
    ax.fill_between(x, gaps, color=color["red"], alpha=0.35, linewidth=0, label="their residuals")
    ax.fill_between(x, gaps, total, color=color["blue"], alpha=0.35, linewidth=0, label="their widths, times rows / n")
    ax.plot(x, total, color=color["blue"], linewidth=2, label=f"sum over {rows.size} interval{'s' * (rows.size > 1)}")
    reach = max(found.estimate, 0.01)
    ax.set(ylim=(-0.22 * reach, 1.05 * reach), ylabel="Cost of the intervals up to here")
    strip = _strip(ax, "rows of each interval")
    up_and_down = np.outer(rows, (0, 1, 1, 0)).ravel()
    strip.fill_between(np.repeat(x, 2), up_and_down, color=color["grey"], alpha=0.5, linewidth=0.6)
    strip.set_ylim(0, rows.max())


def _loss(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The loss of each prediction under either outcome."""
    x, style = found["value"], _joined(found["value"])
    ax.plot(x, found["loss_positive"], color=color["blue"], label="if the outcome is 1", **style)
    ax.plot(x, found["loss_negative"], color=color["orange"], linestyle="--", label="if the outcome is 0", **style)
    ax.set_ylabel("Loss")


def _weights(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The two weights, one for each outcome, whose mean over the rows is the value."""
    low, high = found["range"]
    ax.axhline(0, **DIAGONAL)
    style = _joined(found["value"])
    ax.plot(found["value"], found["weight_positive"], color=color["blue"], label="weight if the outcome is 1", **style)
    style["linestyle"] = "--"
    ax.plot(found["value"], found["weight_negative"], color=color["orange"], label="if the outcome is 0", **style)
    ax.set(ylabel="Weight", title=f"{ax.get_title()}: certainly {low:.3g} to {high:.3g}")


def _merged(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """Where each prediction goes."""
    value, merged = found["value"], found["merged"]
    ax.plot([0, 1], [0, 1], **DIAGONAL, label="stays")
    ax.vlines(value, value, merged, color=color["red"], alpha=0.45, linewidth=6, label="how far it moves")
    ax.plot(value, merged, color=color["blue"], label="mean outcome of its cell", **POINT)
    ax.set(ylim=(-0.02, 1.02), ylabel="Calibrated prediction")


def _bracket(found: MeasureDetail, ax: Axes, color: Mapping[str, Any]) -> None:
    """The two ends between which the value is."""
    low, high = found["bracket"]
    ax.axvspan(low, high, color=color["blue"], alpha=0.3, linewidth=0, label=f"between {low:.3g} and {high:.3g}")
    ax.set(xlabel=found.measure, ylabel="From lower distance to interval error", yticks=[])
    ax.set_title(f"too many predictions for a value, n = {found.n:.10g}")


DETAILS = {
    "denoised": _denoised,
    "cumulative": _cumulative,
    "grid": _smooth,
    "witness": _witness,
    "recalibrated": _recalibrated,
    "kappa": _updated,
    "cost": _partition,
    "frequency": _gaps,
    "loss_positive": _loss,
    "weight_positive": _weights,
    "merged": _merged,
    "bracket": _bracket,
}
