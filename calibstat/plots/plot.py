"""The function `plot`, which draws any result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from calibstat.classical.by_cluster_result import ByCluster
from calibstat.classical.calibration_belt import CalibrationBelt
from calibstat.classical.validation_result import Validation
from calibstat.data.checks import as_numbers, described
from calibstat.inference.answering.risk_coverage import RiskCoverage
from calibstat.inference.auditing.audit_results import Audit
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability, Reliability, SimplexReliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.decision_loss_curve import DecisionLossCurve
from calibstat.inference.estimate import MeasureDetail
from calibstat.inference.net_benefit_curve import NetBenefitCurve
from calibstat.inference.sharpness import CalibrationSharpness
from calibstat.monitoring.brier_monitor import BrierMonitor
from calibstat.monitoring.brier_status import BrierStatus
from calibstat.monitoring.monitor import Monitor
from calibstat.monitoring.monitor_status import ModelsStatus, MonitorStatus
from calibstat.planning.power import PowerCurve
from calibstat.planning.precision import PrecisionSize
from calibstat.planning.sample_size import SampleSize
from calibstat.plots.audit_plot import plot_audit, plot_audits_of_models
from calibstat.plots.belt_plot import plot_calibration_belt
from calibstat.plots.beside_plot import plot_beside
from calibstat.plots.by_cluster_plot import plot_by_cluster
from calibstat.plots.class_wise_plot import (
    plot_class_wise_diagrams,
    plot_class_wise_of_models,
    plot_class_wise_test,
)
from calibstat.plots.comparison_plot import plot_differences
from calibstat.plots.decision_loss_plot import plot_decision_loss, plot_decision_loss_of_models
from calibstat.plots.detail_plot import plot_measure_detail
from calibstat.plots.given_axes import are_alone, arrange, make_room
from calibstat.plots.interval_plot import plot_intervals
from calibstat.plots.monitor_plot import plot_brier, plot_monitor, plot_monitors
from calibstat.plots.net_benefit_plot import plot_net_benefit, plot_net_benefit_of_models
from calibstat.plots.null_distribution_plot import plot_null_distribution
from calibstat.plots.power_plot import plot_power_curve, plot_sample_size, plot_widths
from calibstat.plots.reliability_plot import plot_reliability_diagram
from calibstat.plots.risk_coverage_plot import plot_risk_coverage, plot_risk_coverage_of_models
from calibstat.plots.settings import load_backend, settings
from calibstat.plots.sharpness_plot import plot_sharpness, plot_sharpness_of_models
from calibstat.plots.simplex_plot import plot_simplex_diagram
from calibstat.plots.small_diagrams import plot_models_beside
from calibstat.plots.studies.table_plot import is_table, plot_table
from calibstat.plots.style import RESULT_STYLE, entitle, fit_figure
from calibstat.plots.validation_plot import plot_validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PLOTS: dict[type, Callable[..., Axes]] = {
    Reliability: plot_reliability_diagram,
    CalibrationTestResult: lambda test, ax: (plot_class_wise_test if test.classes else plot_null_distribution)(
        test, ax
    ),
    ConfidenceInterval: lambda interval, ax: plot_intervals([interval], [""], ax),
    MeasureDetail: plot_measure_detail,
    SimplexReliability: plot_simplex_diagram,
    ClassWiseReliability: plot_class_wise_diagrams,
    Comparison: plot_differences,
    CalibrationBelt: plot_calibration_belt,
    CalibrationSharpness: plot_sharpness,
    PowerCurve: plot_power_curve,
    SampleSize: plot_sample_size,
    PrecisionSize: plot_widths,
    NetBenefitCurve: plot_net_benefit,
    Validation: plot_validation,
    ByCluster: plot_by_cluster,
    DecisionLossCurve: plot_decision_loss,
    RiskCoverage: plot_risk_coverage,
    Audit: plot_audit,
    MonitorStatus: plot_monitor,
    ModelsStatus: plot_monitors,
    Monitor: lambda monitor, ax: (plot_monitors if monitor.models else plot_monitor)(monitor.status(), ax),
    BrierStatus: plot_brier,
    BrierMonitor: lambda monitor, ax: plot_brier(monitor.status(), ax),
}
SEVERAL: dict[type, Callable[..., Axes]] = {
    Reliability: plot_models_beside,
    ClassWiseReliability: plot_class_wise_of_models,
    ConfidenceInterval: plot_intervals,
    CalibrationSharpness: plot_sharpness_of_models,
    NetBenefitCurve: plot_net_benefit_of_models,
    DecisionLossCurve: plot_decision_loss_of_models,
    RiskCoverage: plot_risk_coverage_of_models,
    Audit: plot_audits_of_models,
}
DEVIATIONS = (
    plot_reliability_diagram,
    plot_models_beside,
    plot_class_wise_diagrams,
    plot_class_wise_of_models,
    plot_measure_detail,
)


def plot(
    result: object, ax: Axes | None = None, *, deviation: bool = False, title: str | None = None, legend: bool = True
) -> Axes:
    """Draw a result.

        >>> import calibstat as cs
        >>> y, p = cs.generators.temperature(2).sample(500, rng=1)
        >>> ax = cs.plot(cs.reliability(y, p, rng=1))
        >>> ax.get_ylabel()
        'Observed frequency'
        >>> cs.plot(cs.reliability(y, p, rng=1), deviation=True).get_ylabel()
        'Observed frequency − prediction'

    Parameters
    ----------
    result : Result
        What `reliability`, `calibration_test`, `confidence_interval`, `compare`, `detail`, `calibration_belt`,
        `sharpness`, `validate`, `risk_coverage`, `audit`, `sample_size` or, for several numbers of rows, `power`
        returned; the table `by_cluster` of a validation; a `Monitor`, a `BrierMonitor` or the status of one; or the
        table of a study of one question, which `study.run` returned, also if it was read back from a file. Or a mapping
        from name to any of these but tables, of one kind or several: drawn beside each other. Intervals, also a
        sequence of them, and audits are drawn below each other in one picture, and `net_benefit`, `decision_loss` and
        `risk_coverage` in the same axes.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure. Four classes need axes with ``projection="3d"``. Several reliability
        diagrams of binary outcomes share given axes, without their bands; most other mappings take none.
    deviation : bool
        For a binary or class-wise reliability diagram, or the detail of `smooth_ece`: draw frequency minus mean
        prediction, which shows small differences better.
    title : str, optional
        A title, shown as it is: no part of it is read as a formula.
    legend : bool
        Whether to draw the legend; without it several axes can share one.

    Returns
    -------
    matplotlib Axes
        The axes drawn in, of several diagrams the first one's; ``.figure`` is their figure.

    Raises
    ------
    TypeError
        If the result is none of these.
    ValueError
        If there is no picture of this result with these arguments, such as one of five classes on the simplex, in
        given axes of several diagrams, with `deviation` of another result, or of a monitor without a period.

    Notes
    -----
    Nothing is computed from data and nothing is drawn at random, so a plot shows exactly the numbers of its result.
    The colours stay apart for colour-blind readers. Global settings of matplotlib do not change.
    """
    draw, what = _plot_of(result)
    if deviation and draw not in DEVIATIONS:
        raise ValueError(f"expected a reliability diagram with deviation=True, found {type(result).__name__}")
    options = {"deviation": True} if deviation else {}
    if ax is None:
        load_backend()
    alone = ax is not None and are_alone(ax)
    with settings(RESULT_STYLE):
        drawn = draw(*what, ax, **options)
        own = drawn.get_legend()
        if own is not None and not legend:
            own.remove()
        below = make_room(drawn) if alone else 0.0
        if title is not None:
            entitle(drawn, title, new=ax is None)
        if alone:
            arrange(drawn, below)
    for shared in drawn.figure.legends if ax is None and not legend else ():
        shared.remove()
    if ax is None and drawn.figure.get_layout_engine() is None:
        fit_figure(cast("Figure", drawn.figure))
    return drawn


def _plot_of(result: object) -> tuple[Callable[..., Axes], tuple[Any, ...]]:
    """Return the function that draws this result, and what it is given: the result, or several with their names."""
    for kind, draw in PLOTS.items():
        if isinstance(result, kind):
            return draw, (result,)
    if is_table(result):
        return plot_table, (result,)
    entries, names = _entries(result)
    for kind, draw_several in SEVERAL.items():
        if entries and all(isinstance(entry, kind) for entry in entries):
            return draw_several, (entries, names)
    if entries and all(isinstance(entry, tuple(PLOTS)) for entry in entries):
        return partial(plot_beside, draw=_draw_one), (entries, names)
    if as_numbers(result).size > 1:  # outcomes or predictions, in place of what is made of them
        found = described(result)
        raise TypeError(f"expected a result to draw, found {found}; write calibstat.plot(calibstat.reliability(y, p))")
    *kinds, last = (kind.__name__ for kind in PLOTS)
    raise TypeError(
        f"expected a {', '.join(kinds)} or {last}, a mapping from name to one of these, a sequence of "
        f"ConfidenceInterval, or the table of a study; found {type(result).__name__}"
    )


def _draw_one(result: object, ax: Axes) -> Axes:
    """Draw one result in these axes."""
    draw, what = _plot_of(result)
    return draw(*what, ax)


def _entries(result: object) -> tuple[list[object], list[str]]:
    """Return the results of a mapping or of a sequence, with their names; none of anything else."""
    if isinstance(result, Mapping):
        each = [part for name, one in result.items() for part in _apart(str(name), one)]
        return [one for _, one in each], [name for name, _ in each]
    if isinstance(result, Sequence) and all(isinstance(entry, ConfidenceInterval) for entry in result):
        return [*result], [str(entry.measure) for entry in result]
    return [], []


def _apart(name: str, result: object) -> list[tuple[str, object]]:
    """Return a result with its name, or the status of each model of a monitor, which has a picture of its own."""
    status = result.status() if isinstance(result, Monitor) and result.models else result
    if isinstance(status, ModelsStatus):
        return [(f"{name}, {model}", each) for model, each in status.models.items()]
    return [(name, result)]
