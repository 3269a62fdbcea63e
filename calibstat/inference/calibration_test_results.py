"""Results of tests of calibration, and what they print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.data.words.side import Side
from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.deviation import Deviation
from calibstat.inference.one_side import Events
from calibstat.inference.one_side import next_step as next_step_of_side
from calibstat.inference.problems.impossible_rows import ImpossibleRows
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.inference.size_of_error import LOW, SizeOfError, next_step, verdict
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.resampling.quantiles import quantiles
from calibstat.result import NotedResult, Result

if TYPE_CHECKING:
    import pandas as pd

GIVEN_PREDICTIONS = ("labels", "none")  # what a test draws that is exact
_MANY_CLASSES = 20  # classes, above which only the smallest p-values are printed
_SHOWN = 10


def verdict_on_map(p: float, calibration_map: str) -> str:
    """Interpret a p-value of a calibration map."""
    for level, strength in ((0.01, "strong evidence"), (0.05, "evidence"), (0.10, "weak evidence")):
        if p <= level:
            return f"{strength} that {calibration_map} does not explain the outcomes"
    return f"no evidence against {calibration_map} in this test"


@dataclass(frozen=True, eq=False)
class CalibrationTestResult(NotedResult):
    """Result of `calibration_test`.

    Attributes
    ----------
    statistic : float
        The measure on the data.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as extreme. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic of every resample, read-only.
    null_hypothesis : Null
        The null hypothesis; as text one sentence.
    measure : NamedMeasure
        The measure with its options.
    lens : NamedLens
        The outcome whose probability was predicted.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both", "sign_flip", "none"}
        What was drawn; "sign_flip" of rows in clusters, and "none" of one side of them.
    n, n_resamples : int
        Rows, and resamples that were drawn and kept: with `stop_after` those up to the last that was needed.
    stopped : bool
        Whether drawing stopped before all resamples that were allowed.
    why_stopped : WhyStopped
        As text why there are so many resamples, such as "stopped after 20 resamples at least as extreme, at draw 54".
    why_infinite : str
        The row that makes the statistic infinite; empty if it is finite.
    impossible : ImpossibleRows or None
        Rows that were predicted to be impossible and happened, with the p-value of the rows predicted neither 0 nor 1;
        None if there are none, and of rows with folds or a judge, whose tests are not given the predictions.
    deviation : Deviation or None
        What drove a test with a p-value of at most .05, if its measure says so, as the omnibus statistic does, and if
        the rows predicted neither 0 nor 1 have one of at most .05.
    rows : Rows
        How the rows came about, in words, with what only such rows have: `ClustersOfRows`, `FoldsWithTests`,
        `GuidedRows`.
    calibration_map : str
        The calibration map of the null hypothesis, in words; empty if the predictions themselves are tested.
    side : str or None
        "over" if only predictions too high are looked for, "under" if too low; None if both are.
    events : Events or None
        Of a test of one side the events beside the expected ones, and where they differ most.
    size : SizeOfError or None
        With the default measure how large the error is, with its interval; None with another one, and where no interval
        is known.
    classes : ClassTests or None
        Through lens "class_wise" the test of each class; the fields above are then of the mean over all classes, whose
        null hypothesis is stronger.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    null_distribution: np.ndarray
    null_hypothesis: Null
    measure: NamedMeasure
    lens: NamedLens
    tail: str
    resample: str
    n: int
    n_resamples: int
    stopped: bool
    why_stopped: WhyStopped
    rows: Rows
    why_infinite: str = ""
    impossible: ImpossibleRows | None = None
    deviation: Deviation | None = None
    calibration_map: str = ""
    classes: ClassTests | None = None
    size: SizeOfError | None = None
    side: Side | None = None
    events: Events | None = None

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame of one row; of each class one, through lens "class_wise"."""
        return super().to_frame() if self.classes is None else self.classes.to_frame()

    @property
    def headline(self) -> tuple[str, ...]:
        """The size of the error, the p-value and the Brier score; of one side the events."""
        if self.side is not None:
            return "side", "events.expected", "events.observed", "pvalue"
        return "size.estimate", "size.low", "size.high", "pvalue", "size.brier"

    @property
    def answer(self) -> str:
        """The verdict of the p-value on calibration and, if the measure knows it, the deviation that drove it."""
        return self._answer if self.classes is None else self.classes.answer(self.calibration_map)

    @property
    def _answer(self) -> str:
        if own := self.rows.answer(self.pvalue):
            return own
        approximate = "" if self.resample in GIVEN_PREDICTIONS else ", approximate"
        p = f"p = {settled(self.pvalue):.3g}{approximate}"
        if self.side is not None and self.events is not None:
            sentences = self.events.answer(self.side, self.pvalue)
        elif self.calibration_map:
            sentences = [f"There is {verdict_on_map(self.pvalue, self.calibration_map)}: {p}."]
        else:
            sentences = verdict(p, self.pvalue, self.size, "" if self.classes else self._found)
        if self.rows.remark:
            sentences.append(self.rows.remark)
        if self.impossible:
            sentences.append(str(self.impossible))
        if self.deviation:
            told = str(self.deviation)
            sentences.append(f"Apart from that, {told[0].lower()}{told[1:]}" if self.impossible else told)
        return "\n".join(sentences)

    @property
    def _found(self) -> str:
        """The measure, and what a calibrated model would show; nothing of an infinite one."""
        if not np.isfinite(self.statistic):
            return ""
        found = f"{self.measure.name} is {settled(self.statistic):.3g}"
        if self.stopped or self.null_distribution.size == 0:
            return found
        return f"{found}, and a calibrated model would show {settled(quantiles(self.null_distribution, 0.5)):.3g}"

    @property
    def next_step(self) -> str:
        """The advice what to do; nothing of a calibration map, whose error has no size."""
        if self.side is not None:
            return next_step_of_side(self.side, self.pvalue, self.rows.collected)
        if self.size is not None:
            return next_step(self.pvalue, self.size, self.rows.collected)
        if self.calibration_map:
            return ""
        named = f", {self.measure.as_argument}" if self.measure.has_interval else ""
        return f"Ask how large the error may be: calibstat.confidence_interval(y, p{named})."

    @property
    def details(self) -> str:
        """The method of the test, and the null hypothesis."""
        error = f", p accurate to {settled(self.pvalue_error):.2g}" if self.pvalue_error else ""
        return (
            f"Test: {self.measure} = {settled(self.statistic):.4g}, {self.rows.how}{self.lens}, {self.rows.counted}; "
            f"{self.why_stopped}{error}.{self.rows.premises}\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )

    def __str__(self) -> str:
        own = self._of_all()
        if self.classes is None:
            return own
        return f"{self.classes.lines(self)}\nAll classes together: {own[0].lower()}{own[1:]}"

    def _of_all(self) -> str:
        # clusters depend in ways that calibration does not determine, and alternatives are deviations from calibration
        by_rows = self.resample != "sign_flip" and not self.calibration_map and type(self.rows) is Rows
        by_rows = by_rows and self.side is None
        asked = "What such rows can show: print(calibstat.detectable_effect(y, p)), with the arguments of this test."
        more = f"\n{asked}" if self.pvalue > LOW and by_rows else ""
        unseen = f"\n{self.rows.unseen}" if self.rows.unseen else ""
        step = f"\nNext: {self.next_step}" if self.next_step else ""
        return f"{self._answer}{step}\n{self.details}{unseen}{more}"


@dataclass(frozen=True, eq=False)
class ClassTests(Result):
    """The test of each class against the rest, beside one of all classes.

    Attributes
    ----------
    names : tuple, length K
        The classes.
    statistic : ndarray, shape (K,)
        The measure of each class.
    pvalue : ndarray, shape (K,)
        Probability, if the predictions of this class are calibrated, of a statistic at least as extreme. Never 0.
    pvalue_holm : ndarray, shape (K,)
        The p-values with Holm's adjustment for K tests: the probability that any calibrated class has one of at most
        a is at most a.
    pvalue_error : ndarray, shape (K,)
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples, K)
        The statistic of each class in every resample, read-only.
    null_hypothesis : Null
        The null hypothesis for each class; as text one sentence.
    lens : NamedLens
        The lens.
    n_resamples : int
        Resamples that were drawn and kept: with `stop_after` those that the last class, or all classes
        together, needed.
    resamples_used : ndarray, shape (K,)
        The resamples that the p-value of each class rests on: the first of those that were drawn.
    why_stopped : tuple of WhyStopped, length K
        Why there are so many.
    deviations : tuple of Deviation
        What drove the tests of the classes with an adjusted p-value of at most .05, if the measure says so.
    """

    names: tuple[Any, ...]
    statistic: np.ndarray
    pvalue: np.ndarray
    pvalue_holm: np.ndarray
    pvalue_error: np.ndarray
    null_distribution: np.ndarray
    null_hypothesis: Null
    lens: NamedLens
    n_resamples: int
    resamples_used: np.ndarray
    why_stopped: tuple[WhyStopped, ...]
    deviations: tuple[Deviation, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        import pandas as pd

        columns = ("statistic", "pvalue", "pvalue_holm", "pvalue_error", "resamples_used")
        values = {name: getattr(self, name) for name in columns}
        return pd.DataFrame({"class": [*self.names], **values, "why_stopped": [*map(str, self.why_stopped)]})

    def answer(self, calibration_map: str) -> str:
        """For which classes the adjusted p-value is at most .05, in words."""
        holm, k = self.pvalue_holm, len(self.names)
        low = [str(self.names[i]) for i in smallest_first(holm) if holm[i] <= LOW]
        tested = f"There is evidence against {calibration_map}" if calibration_map else "Miscalibration is shown"
        if not low:
            none = (
                f"There is no evidence against {calibration_map}" if calibration_map else "No miscalibration is shown"
            )
            return f"{none} in any of {k:,} classes."
        if len(low) == k:
            return f"{tested} in each of {k:,} classes."
        more = f" and {len(low) - _SHOWN:,} more" if len(low) > _SHOWN else ""
        which = f"{len(low):,} of {k:,} classes: {', '.join(low[:_SHOWN])}{more}"
        return f"{tested} in {which}."

    @property
    def drivers(self) -> list[str]:
        """The deviations that drove the tests of the first of these classes, in words."""
        if not self.deviations:
            return []
        start = "Class by class (directions are descriptions, not tests):"
        return [start, *(each.short for each in self.deviations[:_SHOWN])]

    @property
    def shown(self) -> np.ndarray:
        """The numbers of the classes that are printed: of more than 20 those with the smallest p-values."""
        many = len(self.names) > _MANY_CLASSES
        return smallest_first(self.pvalue)[:_SHOWN] if many else np.arange(len(self.names))

    def lines(self, of_all: CalibrationTestResult) -> str:
        """Return the verdict, the table of the classes and their null hypothesis, beside the test of all."""
        approximate = "" if of_all.resample in GIVEN_PREDICTIONS else " (approximate)"
        some = f", the {_SHOWN} with the smallest p" if self.shown.size < len(self.names) else ""
        return (
            f"{self.answer(of_all.calibration_map)}\n"
            f"Each class by {of_all.measure}{approximate}, {self.lens}, n = {of_all.n}{some}:\n{self}"
        )

    def __str__(self) -> str:
        shown = self.shown
        width = max(5, *(len(str(self.names[k])) for k in shown))
        lines = [f"{'class':{width}}  {'value':>8}  {'p':>6}  {'error':>6}  {'p (Holm)':>8}  draws"]
        for k in shown:
            name, p, error = (
                f"{self.names[k]!s:{width}}",
                f"{settled(self.pvalue[k]):6.3g}",
                f"{settled(self.pvalue_error[k]):6.2g}",
            )
            drawn = f"{settled(self.pvalue_holm[k]):8.3g}  {self.resamples_used[k]:5}"
            lines.append(f"{name}  {settled(self.statistic[k]):8.4g}  {p}  {error}  {drawn}")
        if more := len(self.names) - shown.size:
            lines.append(f"and {more} more, each with p of at least {settled(self.pvalue[shown[-1]]):.3g}")
        reasons = dict.fromkeys(why.reason for why in self.why_stopped)
        lines.append(f"Error: how accurate p is. Draws: {' or '.join(reasons)}.")
        lines += self.drivers
        lines.append(f"Null hypothesis for each class: {self.null_hypothesis}")
        return "\n".join(lines)
