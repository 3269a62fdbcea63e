"""Findings: the test of each measure, in words, and results side by side in pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from calibstat.data.checked_rows import OneModel
from calibstat.digits import settled
from calibstat.in_order import first_smallest
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.calibration_tests import calibration_test
from calibstat.inference.one_side import verdict as verdict_of_side
from calibstat.inference.power.detectable_effect import DetectableEffect
from calibstat.inference.size_of_error import LOW, verdict
from calibstat.measures import MEASURES, Measure
from calibstat.output.wording import number, p_text
from calibstat.plots import plot
from calibstat.resampling.quantiles import quantiles

if TYPE_CHECKING:
    from calibstat.cli.answers import Detail


@dataclass(frozen=True)
class Finding:
    """A measure and the test of calibration by it.

    Attributes
    ----------
    bound : Measure
        The measure, its options fixed.
    test : CalibrationTestResult
        The test.
    """

    bound: Measure
    test: CalibrationTestResult

    @property
    def estimate(self) -> float:
        """The value of the measure."""
        return self.test.statistic

    @property
    def title(self) -> str:
        """The measure's name in prose."""
        return self.bound.info.title

    def if_calibrated(self, *levels: float) -> list[float]:
        """Quantiles of the estimate, were every prediction the true probability."""
        return [float(quantile) for quantile in quantiles(self.test.null_distribution, levels)]


def assess(y_true: OneModel, measure: str, y_prob: ArrayLike | None = None, **settings: Any) -> Finding:
    """Test calibration by a measure, with these arguments of `calibration_test`.

    With `stop_after` it draws only as many resamples as its p-value needs: too few to say, or to plot, what the
    estimate would be if calibrated.
    """
    test = calibration_test(y_true, y_prob, measure=measure, n_jobs=-1, **settings)
    return Finding(MEASURES[measure](), test)


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
    """Report a test, the answer first."""
    typical, where = usual(finding)
    test = finding.test
    impossible = f"{test.impossible}\n" if test.impossible else ""
    give_or_take = f", give or take {settled(test.pvalue_error):.2g}, {test.why_stopped}" if test.stopped else ""
    usually = f". If every prediction were the true probability it would be about {typical}, and 19 times in 20 {where}"
    approximate = "" if test.resample == "labels" else " (approximate)"
    return (
        f"{verdict(f'p = {p_text(test.pvalue)}{approximate}{give_or_take}', test.pvalue, None)[0]}\n"
        f"{impossible}{finding.title}: {number(finding.estimate)}{'' if test.stopped else usually}."
    )


def say_folds(finding: Finding) -> str:
    """Report a test of predictions out of fold, the answer first."""
    return f"{finding.test.answer}\n{finding.title}: {number(finding.estimate)}."


def say_whole(
    test: CalibrationTestResult, effect: Callable[[], DetectableEffect] | None
) -> tuple[list[str], list[Detail]]:
    """Report a test whose statistic is a number for tests only, and what it could have found; also the details.

    What it could have found is None if it is not known. It takes longer than the test, and if the test found something
    it is a detail, which is computed only where it is shown.
    """
    if effect is None:
        return [test.answer], [test.details]
    if test.pvalue > LOW:
        return [test.answer, str(effect())], [test.details]
    return [test.answer], [lambda: str(effect()), test.details]


def say_nulls(findings: Sequence[Finding]) -> list[str]:
    """State the null hypotheses and lenses, once if they are the same for all."""
    nulls: dict[str, list[str]] = {}
    for finding in findings:
        lens = finding.test.lens.in_brackets
        nulls.setdefault(f"{lens}: {finding.test.null_hypothesis}", []).append(finding.title)
    if len(nulls) == 1:
        return [f"Null hypothesis{null}" for null in nulls]
    return [f"Null hypothesis of {', '.join(titles)}{null}" for null, titles in nulls.items()]


def say_together(findings: Sequence[Finding]) -> str:
    """Report the smallest p-value of several measures, times their number (Bonferroni)."""
    k = len(findings)
    best = findings[first_smallest([finding.test.pvalue for finding in findings])]
    p = min(1.0, k * best.test.pvalue)
    same = " of the same null hypothesis" if len({finding.test.null_hypothesis for finding in findings}) == 1 else ""
    how = f"p = {p_text(p)}, the smallest p-value of {k} tests{same} ({best.title}) times {k}, Bonferroni"
    side = best.test.side
    return verdict(how, p, None)[0] if side is None else verdict_of_side(side, how, p)


# --- in pictures -------------------------------------------------------------------------------------------


def save_side_by_side(path: Path, results: Sequence[object], titles: Sequence[str] = (), columns: int = 3) -> Path:
    """Draw results side by side into one PNG and return its path."""
    from matplotlib.figure import Figure  # not pyplot: no window, nothing to close

    columns = min(columns, len(results))
    rows = math.ceil(len(results) / columns)
    size = (3.8 * columns, 4.2 * rows) if columns > 1 else (6.0, 5.0)
    if isinstance(results[0], Mapping):  # intervals below each other, their names to the left, numbers to the right
        size = (9.0, 1.2 + 0.55 * len(results[0]))
    shared = isinstance(results[0], Reliability)  # one legend below, where it hides no bin
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, result, title in zip_longest(axes[: len(results)], results, titles):
        plot(result, ax, title=title, legend=not shared)
        ax.locator_params(axis="x", nbins=6)
    for ax in axes[len(results) :]:
        ax.remove()
    if shared:
        entries = {label: handle for ax in axes for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(entries.values(), entries.keys(), loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=100)
    return path
