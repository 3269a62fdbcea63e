"""Independent rows, with weights or without, or counted in a summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.checks import is_among, short
from calibstat.data.named_lens import EVENT, NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.inference.bootstrap_ends import bootstrap_interval, bracket_interval
from calibstat.inference.calibration_test_results import GIVEN_PREDICTIONS, CalibrationTestResult, ClassTests
from calibstat.inference.confidence_interval_results import BOOTSTRAPS, ConfidenceInterval
from calibstat.inference.designs.design import Design, HowToTest
from calibstat.inference.designs.sections import Sections
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.inference.honest_ends import (
    FEW_EVENTS,
    HonestEnds,
    NoInterval,
    exceeds,
    first_if_calibrated,
    need_events,
)
from calibstat.inference.p_values import holm
from calibstat.inference.problems.impossible_rows import impossible_rows
from calibstat.inference.problems.pose import SCHEMES, NullModel, null_model, problem_of
from calibstat.inference.problems.problem import Posed, Problem
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.sequential_draws import PValue, check_stop, draw_until, judge, stopping_point
from calibstat.inference.size_of_error import FEW_ROWS, SizeOfError
from calibstat.inference.smaller_than_chance import NOTE
from calibstat.measures.binned import ECE
from calibstat.measures.cumulative import KS
from calibstat.measures.kinds.base import AT_LEAST_THIS, Measure, MulticlassMeasure, in_prose
from calibstat.measures.losses import Brier
from calibstat.resampling import Draws, Stream
from calibstat.resampling.binary_cells import MANY_PREDICTIONS, with_few_predictions
from calibstat.resampling.quantiles import quantiles
from calibstat.resampling.sources import CellSums
from calibstat.result import read_only

ONE_CLASS = Null("its probability alone", ("in every row", ", the class is observed with this probability"))
HONEST = ("honest", "proven")
SIZE_LEVEL = 0.95  # of the interval that a test states
PARTS_OF_A_BIN = 4  # in which very many rows are counted for it
REPORT_NEEDS_A_LENS = "a report takes them with a lens that shows one event, such as 'top_label'"
NO_CONDITION: Mapping[str, Any] = MappingProxyType(
    {"if_calibrated": None, "condition": "", "void": "", "high_of_calibrated": None}
)


class Independent(Design):
    """Rows that do not depend on each other, with weights or without, or counted in a summary."""

    one_sided_measure = "omnibus"
    interval_methods = (*HONEST, "bracket", *BOOTSTRAPS)
    sections = Sections(
        refuses={
            "sample_weight": {
                "by": "an audit counts rows",
                "recalibrate": "maps are compared by rows that count equally",
                "shape": "the error without bins is of rows that count equally",
                "lens": REPORT_NEEDS_A_LENS,
            }
        }
    )

    def need_equal_rows(
        self, what: str, message: str = "expected independent rows of equal weight with {}, found {}"
    ) -> None:
        """Raise if rows are in clusters or have weights, for what takes neither."""
        found = "clusters" if self.unit is not None else "weights" if "sample_weight" in self.data.words else ""
        if found:
            raise ValueError(message.format(what, found))

    def need_no_clusters(self, message: str) -> None:
        """Raise if rows are in clusters; these are not."""

    def posed(self, problem: Problem, method: str) -> Posed:
        """Return what resamples of an interval are drawn from."""
        return problem.in_order("confidence_interval")

    def sampled(self, problem: Problem) -> str:
        """Return what is independent, in words."""
        return "rows"

    def test(self, measure: Measure, method: str, how: HowToTest, draws: Draws) -> CalibrationTestResult:
        if not is_among(how.resample, SCHEMES):
            raise ValueError(f"expected resample 'labels' or 'both', found {short(how.resample)}")
        model = null_model(how.null, self.data, measure, how.resample, how.side)
        problem = problem_of(self.data, measure)
        check_stop(how.stop_after, draws.n)
        posed, scheme = model.in_order(problem)  # messages name rows of the problem as it was posed
        statistic, resampler = posed.statistic(), posed.resampler(scheme, Stream.LABELS)
        if how.stop_after is None:
            values = resampler(draws)
        else:
            stops = partial(_stops, statistic, model.tail(problem.measure), how.stop_after)
            values = draw_until(stops, resampler, draws, Stream.LABELS, 2 * how.stop_after)
        del resampler  # it may hold the cell of each row
        told = OneTest(problem, model, self.described(int(posed.n)), how.stop_after)
        return told.result(posed, statistic, values, draws)

    def beside_impossible_rows(
        self, result: CalibrationTestResult, measure: Measure, method: str, how: HowToTest, draws: Draws
    ) -> CalibrationTestResult:
        view = self.data.view(jointly=isinstance(measure, MulticlassMeasure))
        # what else a class from outside holds has no part
        if self.data.design is not None or not view.impossible(how.side):
            return result
        apart = draws.with_own_key(Stream.UNCERTAIN)
        rows = impossible_rows(
            self.data,
            view,
            lambda others: type(self)(others).test(measure, method, how, apart).pvalue,
            result.resample not in GIVEN_PREDICTIONS,
            how.side,
        )
        if rows is None:
            return result
        # a deviation is of the rows predicted neither 0 nor 1, and drove the test if these reject
        if rows.pvalue is not None and rows.pvalue <= CLAIM_LEVEL:
            return replace(result, impossible=rows)
        events = None if result.events is None else replace(result.events, where=None)
        return replace(result, impossible=rows, deviation=None, events=events)

    def interval(self, measure: Measure, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        problem = problem_of(self.data, measure)
        need_method(problem, method)
        return self.interval_of(problem, method, confidence_level, draws)

    def size_of_error(self, margin: float | None, draws: Draws) -> SizeOfError | None:
        """Return the size by ECE, of several classes that of the most likely one.

        Its draws are of streams of their own, those of `confidence_interval`: a test with a seed states the interval of
        this seed.
        """
        is_of_event = self.data.kind == "binary"
        shown = self.data if is_of_event else self.data.through("top_label")
        of_all = not is_of_event or (self.data.lens is None and self.data.rows.n_classes > 2)
        scored = problem_of(self.data.through("canonical") if of_all else self.data, Brier())
        brier = scored.in_order("calibration_test").statistic()
        design = type(self)(self._counted(shown))
        try:
            size = SizeOfError.of(design.interval_by(ECE(), draws), mean_outcome(shown), margin, brier)
            if self.data.n < FEW_ROWS and size.says_little:
                size = replace(size, running=design.interval_by(KS(), draws).high)
        except NoInterval:
            return None
        return size

    def _counted(self, data: Data) -> Data:
        """Return very many rows counted in 4 parts of each bin, at their mean predictions: it moves no digit shown."""
        if self.unit is not None:  # sums of each cluster are taken anyway
            return data
        sample = data.view().one_event().sample
        cells = ECE().cells(sample.value, sample.count)
        if sample.weighted is not None or sample.value.size <= MANY_PREDICTIONS * int(cells[-1] + 1):
            return data
        return Data(with_few_predictions(CellSums(sample, cells), PARTS_OF_A_BIN).sample)

    def interval_by(self, measure: Measure, draws: Draws) -> ConfidenceInterval:
        """Return the 95 % interval by this measure."""
        return self.interval(measure, self.interval_methods[0], SIZE_LEVEL, draws)

    def honest_ends(self, problem: Problem, draws: Draws) -> HonestEnds:
        """Return the honest ends of a problem that these rows pose, at any level."""
        need_method(problem, "honest")
        return HonestEnds.of(self.posed(problem, "honest"), draws)

    def interval_of(self, problem: Problem, method: str, confidence_level: float, draws: Draws) -> ConfidenceInterval:
        """Return the interval of a problem that these rows pose, by a method that it has."""
        posed: Posed = problem.in_order("confidence_interval")
        estimate, unit, ends = posed.statistic(), self.unit, Ends(np.inf, np.inf)
        if problem.is_mean and np.isinf(estimate):
            unit = None  # what was observed once occurs in the population too: its mean is infinite
        else:
            posed = posed if unit is None else self.posed(problem, method)
            estimate = posed.statistic()
            ends = Ends.of(problem, posed, method, 1 - confidence_level, draws, unit)
        smallest, largest = problem.measure.bounds
        rarest = problem.view.rarest(unit)
        return ConfidenceInterval(
            low=float(np.clip(ends.low, smallest, largest)),
            high=float(np.clip(ends.high, smallest, largest)),
            estimate=estimate,
            confidence_level=confidence_level,
            method=method,
            estimand=_estimand(problem, method, ends.is_extrapolated, self.sampled(problem)),
            measure=problem.measure.named,
            lens=problem.lens,
            n=int(posed.n),
            n_resamples=draws.n,
            rows=self.described(int(posed.n), problem.weight),
            why_infinite=(problem.view.impossible() or problem.view.certain()) if np.isinf(ends.high) else "",
            few_events=str(rarest) if rarest.count < FEW_EVENTS else "",
            **ends.said,
            **problem.view.annotations(),
        )


class Ends(NamedTuple):
    """The ends of an interval, whether they are of what lies beyond these rows too, and what else is said of them."""

    low: float
    high: float
    is_extrapolated: bool = True
    said: Mapping[str, Any] = NO_CONDITION

    @classmethod
    def of(
        cls, problem: Problem, posed: Posed, method: str, alpha: float, draws: Draws, unit: np.ndarray | None
    ) -> Ends:
        """Return the ends by a method."""
        if method == "bracket":
            return cls(*bracket_interval(problem, alpha, draws))
        if method in BOOTSTRAPS:
            low, high = bootstrap_interval(posed, posed.statistic(), method, alpha, draws)
            return cls(low, high, said=only_noise(problem, posed, draws, unit))
        ends = HonestEnds.of(posed, draws)
        ends = replace(ends, interval=ends.interval.proven) if method == "proven" else ends
        interval = ends.interval
        if not interval.is_bounded:
            need_events(problem.view.rarest(unit), problem.title)
        low, high = ends.low(alpha), ends.high(alpha)
        shows = unit is None or ends.known == high or exceeds(posed.statistic(), high)
        said = {
            "if_calibrated": ends.noise_floor if shows else None,
            "condition": interval.condition,
            "void": interval.void,
            "high_of_calibrated": interval.high_of_calibrated(alpha / 2),
        }
        return cls(low, high, interval.is_bounded, said)


def only_noise(problem: Problem, posed: Posed, draws: Draws, unit: np.ndarray | None) -> Mapping[str, Any]:
    """Return what is said of a bootstrap interval: what a calibrated model would show."""
    if problem.is_mean or unit is not None:
        return NO_CONDITION
    first = first_if_calibrated(posed.drawer_of_labels(), draws)
    return {**NO_CONDITION, "if_calibrated": float(quantiles(first, 0.5))}


def mean_outcome(data: Data) -> float:
    """Return the mean outcome of rows of one event."""
    sample = data.view().one_event().sample
    return float(sample.positives.sum() / sample.count.sum())


def need_method(problem: Problem, method: str) -> None:
    """Raise unless a problem has an interval by this method."""
    if not problem.is_one_number:
        raise ValueError(
            "expected lens 'class_wise_mean' or 'class_wise_max' for an interval, or one_class(k), found 'class_wise'"
        )
    if method not in problem.methods:
        why = problem.why_no_interval if method == "honest" else ""
        why = f", because {why}" if why else ""
        weighted = " of rows with weights" if problem.view.effective_n is not None else ""
        raise NoInterval(
            f"no {method} interval{weighted} is known for {problem.title}{why}; "
            f"it has the methods {', '.join(problem.methods)}"
        )


def _estimand(problem: Problem, method: str, is_extrapolated: bool, sampled: str) -> str:
    """Say in one sentence what an interval is for; `sampled` are the units that are independent."""
    measure = problem.measure
    title = in_prose(measure) + (f", {problem.lens}," if problem.lens != EVENT else "")
    beyond = ", over the cells that these rows make" if problem.holds_cells(method == "honest") else ""
    beyond += measure.condition if method in ("honest", "proven") else ""
    beyond += ", in which rows count by their weights" if problem.view.effective_n is not None else ""
    beyond += AT_LEAST_THIS if problem.is_coarse else ""
    beyond += "" if is_extrapolated else ", if none of it is predicted more extremely than these rows are"
    bracket = "a bracket, which holds this with at least the nominal probability and does not shrink to it: "
    return (
        f"{bracket * (method == 'bracket')}{title} in the population these {sampled} are an independent sample of"
        f"{beyond}."
    )


def _watched(statistic: float | np.ndarray, null: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return every statistic with its resamples: one, or one for each class and their mean."""
    if isinstance(statistic, np.ndarray):
        return [*zip(statistic, null.T, strict=True), (float(statistic.mean()), null.mean(axis=1))]
    return [(statistic, null)]


def _stops(statistic: float | np.ndarray, tail: str, most: int, values: np.ndarray) -> list[int | None]:
    """Return for every statistic the draw at which it may stop, None if there is none yet."""
    return [stopping_point(*each, tail, most) for each in _watched(statistic, values)]


@dataclass(frozen=True, eq=False)
class OneTest:
    """A problem that was tested, as results say it."""

    problem: Problem
    model: NullModel
    rows: Rows
    stop_after: int | None

    def result(
        self, posed: Problem, statistic: float | np.ndarray, null: np.ndarray, draws: Draws
    ) -> CalibrationTestResult:
        """Return the result, with what drove it and what is to be noted."""
        problem, annotations = self.problem, self.problem.view.annotations()
        if isinstance(statistic, np.ndarray):
            *_, mean = _watched(statistic, null)
            lens = problem.lens.of_all("mean", len(problem.view.class_names))
            classes = self._classes(posed, statistic, null)
            return self._of(self._judged(*mean), *mean, lens, classes=classes, **annotations)
        judged, driver = self._judged(statistic, null), None
        if not self.model.calibration_map:
            # what drives an error, and which are too small, is said of calibration alone
            driver = posed.deviation(draws) if judged.pvalue <= CLAIM_LEVEL else None
            tail, both_sides = self.model.tail(problem.measure), self.model.side is None
            is_exact = self.model.resample == "labels" and annotations["effective_n"] is None
            has_note = is_exact and tail == "greater" and both_sides
            if has_note and not judged.stopped and posed.is_smaller_than_chance(statistic, null, draws):
                annotations["note"] = "\n".join(part for part in (annotations["note"], NOTE) if part)
        events = None if self.model.side is None else self.model.events(problem, judged.pvalue)
        return self._of(judged, statistic, null, problem.lens, deviation=driver, events=events, **annotations)

    def _judged(self, statistic: float, null: np.ndarray) -> PValue:
        return judge(statistic, null, self.model.tail(self.problem.measure), self.stop_after)

    def _of(
        self, judged: PValue, statistic: float, null: np.ndarray, lens: NamedLens, **more: Any
    ) -> CalibrationTestResult:
        problem = self.problem
        return CalibrationTestResult(
            statistic=statistic,
            pvalue=judged.pvalue,
            pvalue_error=judged.error,
            null_distribution=read_only(null[: judged.n_resamples]),
            null_hypothesis=self.model.hypothesis(problem.view.null_given_weights(problem.view.null)),
            measure=problem.measure.named,
            lens=lens,
            tail=self.model.tail(problem.measure),
            resample=self.model.resample,
            side=self.model.side,
            n=self.rows.n,
            n_resamples=judged.n_resamples,
            stopped=judged.stopped,
            why_stopped=judged.why_stopped,
            rows=self.rows,
            why_infinite=problem.view.impossible(self.model.side) if np.isinf(statistic) else "",
            calibration_map=self.model.calibration_map,
            **more,
        )

    def _classes(self, posed: Problem, statistic: np.ndarray, null: np.ndarray) -> ClassTests:
        """Test each class by itself."""
        problem, tail = self.problem, self.model.tail(self.problem.measure)
        judged = [judge(*each, tail, self.stop_after) for each in _watched(statistic, null)[:-1]]
        pvalue = np.array([each.pvalue for each in judged])
        adjusted = holm(pvalue)
        low = np.flatnonzero((adjusted <= CLAIM_LEVEL) & (not self.model.calibration_map))
        return ClassTests(
            names=problem.view.class_names,
            statistic=read_only(statistic),
            pvalue=read_only(pvalue),
            pvalue_holm=read_only(adjusted),
            pvalue_error=read_only(np.array([each.error for each in judged])),
            null_distribution=read_only(null),
            null_hypothesis=self.model.hypothesis(problem.view.null_given_weights(ONE_CLASS)),
            lens=problem.lens,
            n_resamples=len(null),
            resamples_used=read_only(np.array([each.n_resamples for each in judged])),
            why_stopped=tuple(each.why_stopped for each in judged),
            deviations=tuple(posed.deviations(low)),
        )
