"""Findings: estimate, test and interval of each measure, in words, as a data frame and in pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.cli.wording import number, p_text, percent
from calibstat.data.observations import EVENT
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.inference.calibration_test_results import CalibrationTestResult, verdict
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.confidence_interval import ConfidenceInterval, TooFewEvents, confidence_interval
from calibstat.inference.deviation import Deviation
from calibstat.inference.pose import pose
from calibstat.inference.reliability_diagrams import Reliability
from calibstat.measures import Measure
from calibstat.plots import plot
from calibstat.resampling.quantiles import quantiles

if TYPE_CHECKING:
    import pandas as pd

ENOUGH = 20  # resamples at least as extreme, after which a test stops whose distribution nothing shows


@dataclass(frozen=True)
class Finding:
    """Estimate, test and interval of one measure.

    Attributes
    ----------
    bound : Measure
        The measure, its options fixed.
    estimate : float
        Its value.
    test : CalibrationTestResult
        The test of calibration by this measure.
    interval : ConfidenceInterval or None
        Its honest interval, or None where none is known.
    """

    bound: Measure
    estimate: float
    test: CalibrationTestResult
    interval: ConfidenceInterval | None

    @property
    def title(self) -> str:
        """The measure's name in prose."""
        return self.bound.info.title

    def if_calibrated(self, *levels: float) -> list[float]:
        """Quantiles of the estimate, were every prediction the true probability."""
        return [float(quantile) for quantile in quantiles(self.test.null_distribution, levels)]


def assess(
    data: Sample | Predictions,
    measure: str,
    *,
    lens: Any = None,
    reduce: str | None = None,
    level: float = 0.95,
    n_resamples: int | None = None,
    stop_after: int | None = None,
    rng: int = 0,
    interval: bool = True,
) -> Finding:
    """Estimate a measure, test calibration by it and, if wanted, compute its honest interval where there is one.

    With `stop_after` the test draws only as many resamples as its p-value needs: too few to say, or to plot, what the
    estimate would be if calibrated.
    """
    problem = pose(data, None, measure, {}, lens=lens, reduce=reduce)
    settings: dict[str, Any] = {"measure": measure, "lens": lens, "reduce": reduce}
    settings |= {"n_resamples": n_resamples, "rng": rng, "n_jobs": -1}
    test = calibration_test(data, **settings, stop_after=stop_after)
    known = interval and problem.is_honest
    found = None
    if known:
        with suppress(TooFewEvents):  # shown without an interval
            found = confidence_interval(data, method="honest", confidence_level=level, **settings)
    return Finding(problem.measure, test.statistic, test, found)


# --- in words --------------------------------------------------------------------------------------------------------


def usual(finding: Finding) -> tuple[str, str]:
    """Write the estimate to expect of a calibrated model, and where it would be 19 times in 20; dashes if stopped."""
    if finding.test.stopped:
        return "–", "–"
    if finding.test.tail == "greater":
        typical, high = finding.if_calibrated(0.5, 0.95)
        return number(typical), f"below {number(high)}"
    typical, low, high = finding.if_calibrated(0.5, 0.025, 0.975)
    return number(typical), f"from {number(low)} to {number(high)}"


def say_test(finding: Finding) -> str:
    """Report a test."""
    typical, where = usual(finding)
    test = finding.test
    why = f", because {test.why_infinite}" if test.why_infinite else ""
    compared = (
        f"p = {p_text(test.pvalue)}, give or take {test.pvalue_error:.2g}, {test.why_stopped}"
        if test.stopped
        else f"If every prediction were the true probability it would be about {typical}, and 19 times in 20 {where}; "
        f"p = {p_text(test.pvalue)}"
    )
    return f"{finding.title}: {number(finding.estimate)}{why}. {compared}: {verdict(test.pvalue)}."


def say_whole(test: CalibrationTestResult) -> list[str]:
    """Report a test whose statistic is a number for tests only: the answer, what it could detect, how it was made."""
    return [test.answer, str(test.detectable_effect(n_jobs=-1)), test.details]


def say_nulls(findings: Sequence[Finding]) -> list[str]:
    """State the null hypotheses and lenses, once if they are the same for all."""
    nulls: dict[str, list[str]] = {}
    for finding in findings:
        lens = f" ({finding.test.lens})" if finding.test.lens != EVENT else ""
        nulls.setdefault(f"{lens}: {finding.test.null_hypothesis}", []).append(finding.title)
    if len(nulls) == 1:
        return [f"Null hypothesis{null}" for null in nulls]
    return [f"Null hypothesis of {', '.join(titles)}{null}" for null, titles in nulls.items()]


def say_together(findings: Sequence[Finding]) -> str:
    """Report the smallest p-value of several measures, times their number (Bonferroni)."""
    k = len(findings)
    best = min(findings, key=lambda finding: finding.test.pvalue)
    p = min(1.0, k * best.test.pvalue)
    same = " of the same null hypothesis" if len({finding.test.null_hypothesis for finding in findings}) == 1 else ""
    return (
        f"{k} tests{same}: the smallest p-value times {k} (Bonferroni) is {p_text(p)} ({best.title}): {verdict(p)}. "
        "The test without --measure is a single one, and needs no such factor."
    )


def say_left_out(measures: Sequence[str], rows: float) -> list[str]:
    """Say which measures were left out because they are costly on so many rows."""
    if not measures:
        return []
    return [
        f"Left out, because they are costly on {rows:,.0f} rows: {', '.join(measures)}. Run one by itself with "
        f"calibstat test --measure {measures[0]}, or use a random part of the rows."
    ]


def say_interval(title: str, interval: ConfidenceInterval) -> str:
    """Report an interval."""
    if math.isinf(interval.estimate):
        return f"{title}: infinite on these rows and in the population they come from, because {interval.why_infinite}."
    where = f"between {number(interval.low)} and {number(interval.high)}"
    if interval.low <= 0:
        where = f"at most {number(interval.high)}, and may be 0"
    if math.isinf(interval.high):
        where = f"at least {number(interval.low)}, and may be infinite, because {interval.why_infinite}"
    few = f" {_capital(interval.few_events)}: this rests on what was not observed." if interval.few_events else ""
    return (
        f"{title}: {number(interval.estimate)} on these rows; in the population they come from it is {where}, "
        f"with {percent(interval.confidence_level)} confidence ({interval.method} method).{few}"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def interval_text(interval: ConfidenceInterval | None) -> str:
    """Write an interval, or a dash where none is known."""
    return "–" if interval is None else f"{number(interval.low)} to {number(interval.high)}"


# --- in tables and pictures -------------------------------------------------------------------------------------------


def findings_frame(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return one row for each finding."""
    import pandas as pd

    return pd.DataFrame(
        {
            "measure": finding.bound.name,
            "title": finding.title,
            "estimate": finding.estimate,
            "low": finding.interval.low if finding.interval else math.nan,
            "high": finding.interval.high if finding.interval else math.nan,
            "pvalue": finding.test.pvalue,
        }
        for finding in findings
    )


DRIVERS = ("kind", "bias", "slope", "low", "high", "rows", "predicted", "observed")


def driver_columns(deviation: Deviation | None) -> dict[str, Any]:
    """Return what drove a test by the names of columns; empty if nothing is known to have."""
    return {f"drove_{name}": getattr(deviation, name, None) for name in DRIVERS}


def verdict_frame(test: CalibrationTestResult) -> pd.DataFrame:
    """Return one row: the test, what drove it, the directions that are claimed, and what it could detect."""
    import pandas as pd

    names = ("measure", "lens", "n", "pvalue", "pvalue_error", "n_resamples")
    row = {name: getattr(test, name) for name in names} | driver_columns(test.deviation)
    row["claims"] = "; ".join((test.deviation and test.deviation.claims) or ())
    effect = test.detectable_effect(n_jobs=-1)
    for family, size, ece in zip(effect.family, effect.effect, effect.ece, strict=True):
        row |= {f"detectable_{family}": size, f"detectable_{family}_ece": ece}
    return pd.DataFrame([row])


def error_intervals(findings: Iterable[Finding]) -> dict[str, ConfidenceInterval]:
    """Return the intervals that share a scale with zero for a calibrated model: all but those of mean losses."""
    kept = (f for f in findings if f.interval is not None and not f.bound.is_mean)
    return {finding.title: finding.interval for finding in kept if finding.interval is not None}


def save_side_by_side(path: Path, results: Sequence[object], titles: Sequence[str] = (), columns: int = 3) -> Path:
    """Draw results side by side into one PNG and return its path."""
    from matplotlib.figure import Figure  # not pyplot: no window, nothing to close

    columns = min(columns, len(results))
    rows = math.ceil(len(results) / columns)
    size = (4.8 * columns, 4.2 * rows) if columns > 1 else (6.0, 5.0)
    if isinstance(results[0], dict):  # intervals below each other, their names to the left, numbers to the right
        size = (9.0, 1.2 + 0.55 * len(results[0]))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, result in zip(axes, results, strict=False):
        plot(result, ax)
        ax.locator_params(axis="x", nbins=6)
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title("\n".join(filter(None, (title, ax.get_title()))))
    for ax in axes[len(results) :]:
        ax.remove()
    if len(results) > 1 and isinstance(results[0], Reliability):  # one legend below, where it hides no bin
        entries = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        for ax in axes:
            ax.get_legend().remove()
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=100)
    return path
