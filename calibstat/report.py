"""Findings in words, tables, pictures and JSON: what each measure says of one sample."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.inference.intervals import confidence_interval
from calibstat.inference.reliability import reliability
from calibstat.inference.testing import calibration_test
from calibstat.measures.registry import BoundMeasure, MeanInterval, find_measure
from calibstat.plots import plot
from calibstat.results import CalibrationTestResult, ConfidenceInterval, Reliability
from calibstat.sample import Sample

if TYPE_CHECKING:
    import pandas as pd

MEANING = "p is the probability of a value at least as extreme, were every prediction the true probability."
CAUTIONS = (
    "A large p-value is not evidence that the model is calibrated: it says that these outcomes could have been drawn "
    "from the predictions, as far as this measure can see.",
    "Use held-out rows: a model fitted, recalibrated or chosen on the same rows looks better than it is.",
    "Rows must be independent: repeated patients, customers or days make every p-value too small and every interval "
    "too short.",
)


@dataclass(frozen=True)
class Finding:
    """What one measure says of a sample.

    Attributes
    ----------
    bound : BoundMeasure
        The measure, its options fixed.
    estimate : float
        Its value.
    test : CalibrationTestResult
        The test of calibration by this measure.
    interval : ConfidenceInterval or None
        Its honest interval, or None where none is known.
    """

    bound: BoundMeasure
    estimate: float
    test: CalibrationTestResult
    interval: ConfidenceInterval | None

    @property
    def title(self) -> str:
        """The measure's name in prose."""
        return self.bound.measure.title

    def if_calibrated(self, *levels: float) -> list[float]:
        """Quantiles of the estimate, were every prediction the true probability."""
        quantiles = np.quantile(self.test.null_distribution, levels)
        return [self.bound.report(float(quantile)) for quantile in quantiles]


def assess(
    sample: Sample, measure: str, *, level: float = 0.95, n_resamples: int = 999, rng: Any = 0, interval: bool = True
) -> Finding:
    """Estimate a measure, test calibration by it and, if asked, give its honest interval where one is known."""
    bound = find_measure(measure, {})
    settings: dict[str, Any] = {"measure": measure, "n_resamples": n_resamples, "rng": rng, "n_jobs": -1}
    test, estimate = calibration_test(sample, **settings), bound.estimate(sample)
    known = interval and bound.honest is not None and math.isfinite(estimate)
    found = confidence_interval(sample, method="honest", confidence_level=level, **settings) if known else None
    return Finding(bound, estimate, test, found)


# --- in words --------------------------------------------------------------------------------------------------------


def number(x: float) -> str:
    """Write a measure: four decimals, or two digits where that would hide it."""
    return f"{x:.4f}" if abs(x) >= 0.0005 or x == 0 or not math.isfinite(x) else f"{x:.1e}"


def p_text(p: float) -> str:
    """Write a p-value: three decimals, or one digit below that."""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


def percent(share: float) -> str:
    """Write a share in per cent, without rounding to nothing or to everything."""
    return f"{100 * share:.0f} %" if 0.01 <= share <= 0.99 or share in (0, 1) else f"{100 * share:.4g} %"


def describe(sample: Sample) -> str:
    """Say what the data are."""
    m, positive = sample.value.size, float(sample.positives.sum())
    values = f"{m:,} distinct values, from {sample.value[0]:.3g} to {sample.value[-1]:.3g}" if m > 1 else "one value"
    return (
        f"{sample.n:,} rows, {positive:,.0f} of them positive ({percent(positive / sample.n)}). "
        f"The predictions average {float(sample.count @ sample.value) / sample.n:.3f} and take {values}."
    )


def usual(finding: Finding) -> tuple[str, str]:
    """Write the estimate to expect of a calibrated model, and where it would be 19 times in 20."""
    if finding.test.tail == "greater":
        typical, high = finding.if_calibrated(0.5, 0.95)
        return number(typical), f"below {number(high)}"
    typical, low, high = finding.if_calibrated(0.5, 0.025, 0.975)
    return number(typical), f"from {number(low)} to {number(high)}"


def say_test(finding: Finding) -> str:
    """Say what the test found."""
    typical, where = usual(finding)
    p = finding.test.pvalue
    return (
        f"{finding.title}: {number(finding.estimate)}. If every prediction were the true probability it would be "
        f"about {typical}, and 19 times in 20 {where}; p = {p_text(p)}. {verdict(p)}"
    )


def verdict(p: float) -> str:
    """Say what a p-value amounts to."""
    if p <= 0.01:
        return "That is strong evidence that the model is not calibrated."
    if p <= 0.05:
        return "That is evidence that the model is not calibrated."
    if p <= 0.10:
        return "That is a hint, no more, that the model is not calibrated."
    return "So the outcomes are compatible with the predictions, as far as this measure can see."


def together(findings: Sequence[Finding]) -> float:
    """Return the p-value of several measures together: the smallest times their number (Bonferroni)."""
    return min(1.0, len(findings) * min(finding.test.pvalue for finding in findings))


def say_together(findings: Sequence[Finding]) -> str:
    """Say what the smallest of several p-values is worth."""
    k, p = len(findings), together(findings)
    best = min(findings, key=lambda finding: finding.test.pvalue)
    return (
        f"{k} measures were asked the same question, so the smallest p-value flatters. Multiplied by {k} it is "
        f"{p_text(p)} ({best.title}). {verdict(p).replace('this measure', 'these measures')}"
    )


def say_interval(title: str, interval: ConfidenceInterval) -> str:
    """Say what the interval found."""
    where = f"between {number(interval.low)} and {number(interval.high)}"
    if interval.low <= 0:
        where = f"at most {number(interval.high)}, and may be 0"
    return (
        f"{title}: {number(interval.estimate)} on these rows; in the population they come from it is {where}, "
        f"with {percent(interval.confidence_level)} confidence ({interval.method} method)."
    )


def interval_text(interval: ConfidenceInterval | None) -> str:
    """Write an interval, or a dash where none is known."""
    return "–" if interval is None else f"{number(interval.low)} to {number(interval.high)}"


# --- on disk ---------------------------------------------------------------------------------------------------------


def table(findings: Iterable[Finding]) -> pd.DataFrame:
    """Return one row for each finding."""
    import pandas as pd

    return pd.DataFrame(
        {
            "measure": finding.bound.measure.name,
            "title": finding.title,
            "estimate": finding.estimate,
            "low": finding.interval.low if finding.interval else math.nan,
            "high": finding.interval.high if finding.interval else math.nan,
            "pvalue": finding.test.pvalue,
        }
        for finding in findings
    )


def strict(value: Any) -> Any:
    """Replace what JSON has no literal for, infinite and missing numbers, by null."""
    if isinstance(value, dict):
        return {key: strict(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [strict(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(sample: Sample, findings: Sequence[Finding], diagram: Reliability, about: dict[str, Any]) -> str:
    """Return everything that was found as strict JSON."""
    data = {"n": sample.n, "positives": float(sample.positives.sum()), "distinct_predictions": sample.value.size}
    found = [
        {
            "measure": finding.bound.measure.name,
            "title": finding.title,
            "options": finding.bound.options,
            "estimate": finding.estimate,
            "interval": finding.interval.to_dict() if finding.interval else None,
            "test": finding.test.to_dict(),
        }
        for finding in findings
    ]
    whole = {**about, "data": data, "findings": found, "reliability": diagram.to_dict(), "cautions": list(CAUTIONS)}
    return json.dumps(strict(whole), indent=1, allow_nan=False)


def save(
    sample: Sample, findings: Sequence[Finding], folder: Path, *, about: dict[str, Any], rng: Any = 0
) -> list[Path]:
    """Write JSON, table and pictures to a folder and return their paths."""
    diagram = reliability(sample, rng=rng)
    text, sheet = folder / "report.json", folder / "table.csv"
    text.write_text(as_json(sample, findings, diagram, about) + "\n", encoding="utf-8")
    table(findings).to_csv(sheet, index=False)
    saved = [text, sheet, picture(folder / "reliability.png", [diagram])]
    titles = [finding.title for finding in findings]
    saved.append(picture(folder / "null.png", [finding.test for finding in findings], titles))
    errors = error_intervals(findings)
    return [*saved, picture(folder / "intervals.png", [errors])] if errors else saved


def error_intervals(findings: Iterable[Finding]) -> dict[str, ConfidenceInterval]:
    """Return the intervals that share a scale with zero for a calibrated model: all but those of mean losses."""
    kept = (f for f in findings if f.interval is not None and not isinstance(f.bound.honest, MeanInterval))
    return {finding.title: finding.interval for finding in kept if finding.interval is not None}


def picture(path: Path, results: Sequence[Any], titles: Sequence[str] = (), columns: int = 3) -> Path:
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
