"""The problem of a question: the only place that distinguishes the kinds of data. And the null model of a test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.checked_rows import Data
from calibstat.data.checks import short
from calibstat.data.null_hypothesis import Null
from calibstat.data.views import (
    BinaryView,
    ClassWiseView,
    MulticlassView,
)
from calibstat.data.words.side import Side
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.inference.one_side import Events
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.class_problems import ClassWiseProblem, MulticlassProblem
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure, MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.one_sided import one_side_of
from calibstat.resampling import Consistency, Labels
from calibstat.resampling.schemes import OfRows

SCHEMES: Mapping[str, OfRows] = MappingProxyType({"labels": Labels(), "both": Consistency()})
FEW_ROWS = "too small a p-value is likely where bins hold few rows"
NO_MAP = "expected no {} with null=, found one: {}"


def problem_of(data: Data, measure: Measure) -> Problem:
    """Pose the problem of a measure and of the kind of data that the lens shows."""
    view = data.view(jointly=isinstance(measure, MulticlassMeasure))

    def binary(view: BinaryView | ClassWiseView) -> Statistic:
        if not isinstance(measure, Statistic):
            raise ValueError(
                f"expected a lens that shows whole vectors for measure {measure.name!r}, found {view.lens}"
            )
        return measure

    def of_event(view: BinaryView) -> Problem:
        known = binary(view)
        known.check_probabilities(view.prob)
        return BinaryProblem(known, view)

    def of_classes(view: ClassWiseView) -> Problem:
        known = binary(view)
        known.check_probabilities(view.predictions.prob)
        return ClassWiseProblem(known, view, view.reduce)

    def of_vectors(view: MulticlassView) -> Problem:
        form = measure.multiclass()
        if form is None:
            raise ValueError(
                f"expected a lens that shows one event for measure {measure.name!r}, such as top_label, class_wise or "
                f"one_class(k); found {view.lens}, which shows {view.predictions.n_classes} classes"
            )
        if form.why_no_weights:
            view.need_no_weights(str(form), form.why_no_weights)
        form.check_probabilities(view.predictions.prob)
        return MulticlassProblem(form, view)

    problem = view.choose(of_event, of_vectors, of_classes)
    return problem if problem.unseen == data.unseen else replace(problem, unseen=data.unseen)


class NullModel(ABC):
    """The source of the outcomes under the null hypothesis of a test of independent rows."""

    resample: str
    side: Side | None = None

    @property
    def calibration_map(self) -> str:
        """The calibration map in words; empty if the predictions themselves are tested."""
        return ""

    @abstractmethod
    def in_order(self, problem: Problem) -> tuple[Problem, OfRows]:
        """Return the problem as it is drawn from, and the scheme that draws under the null hypothesis."""

    @abstractmethod
    def tail(self, measure: Measure) -> str:
        """Return which values of a measure count as extreme."""

    @abstractmethod
    def hypothesis(self, null: Null) -> Null:
        """Return what is tested, and whether the test is exact, given the null hypothesis of calibration."""

    def events(self, problem: Problem, pvalue: float) -> Events | None:
        """Return the events that a test of one side says beside its p-value; None of both sides."""
        return None


@dataclass(frozen=True)
class Calibrated(NullModel):
    """Outcomes come from the predictions; `resample` "both" draws the predictions too."""

    resample: str

    def in_order(self, problem: Problem) -> tuple[Problem, OfRows]:
        return problem.in_order("calibration_test"), SCHEMES[self.resample]

    def tail(self, measure: Measure) -> str:
        return measure.info.tail

    def hypothesis(self, null: Null) -> Null:
        if self.resample == "labels":
            return replace(null, exact=True)
        return replace(null, rows="sampled").approximately(FEW_ROWS)


@dataclass(frozen=True)
class OfOneSide(NullModel):
    """Outcomes come from probabilities at least as large as the predictions, or at most as large.

    Drawn from the predictions themselves, they are the most extreme of these. Statement and proof: the page "One side",
    theorem 1.
    """

    side: Side
    resample = "labels"

    def in_order(self, problem: Problem) -> tuple[BinaryProblem, OfRows]:
        view = problem.view.one_event("a test of one side")
        return BinaryProblem(one_side_of(problem.measure, self.side), view).in_order("calibration_test"), Labels()

    def tail(self, measure: Measure) -> str:
        return "greater"

    def hypothesis(self, null: Null) -> Null:
        return replace(null.of_side(self.side), exact=True)

    def events(self, problem: Problem, pvalue: float) -> Events:
        sample = problem.view.one_event().sample
        return Events.of(sample, one_side_of(problem.measure, self.side), found=pvalue <= CLAIM_LEVEL)


@dataclass(frozen=True, eq=False)
class OfMap(NullModel):
    """Outcomes come from a calibration map of the predictions, with these chances of `Data.chances`.

    The measure of the predictions may then be too large, or too small: nearer to calibration than the map says.
    """

    map: CalibrationMap
    chance: np.ndarray
    resample = "labels"

    @property
    def calibration_map(self) -> str:
        return self.map.name

    def in_order(self, problem: Problem) -> tuple[Problem, OfRows]:
        return problem.with_chances(self.chance)

    def tail(self, measure: Measure) -> str:
        return "two-sided"

    def hypothesis(self, null: Null) -> Null:
        return replace(self.map.of_rows(null), exact=True)


def need_predictions_alone(null: object, resample: str, side: Side) -> None:
    """Raise if a test of one side is asked for a map, or with predictions that are drawn too."""
    if null is not None:
        raise ValueError(NO_MAP.format(f"side={side!r}", "no study covers both; test the mapped predictions"))
    if resample != "labels":
        raise ValueError(
            f"expected resample='labels' beside side={side!r}, whose proof is given the predictions; found "
            f"{short(resample)}"
        )


def null_model(null: object, data: Data, measure: Measure, resample: str, side: Side | None) -> NullModel:
    """Return the null model of an argument `null`: None for calibration, or one side of it, else a calibration map."""
    if side is not None:
        need_predictions_alone(null, resample, side)
        one_side_of(measure, side)  # raises if it has none, before its problem is posed
        return OfOneSide(side)
    if null is None:
        return Calibrated(resample)
    if resample != "labels":
        raise ValueError(NO_MAP.format(f"resample={resample!r}", "outcomes alone are drawn from the map"))
    known = CalibrationMap.of(null)
    return OfMap(known, data.chances(known, jointly=isinstance(measure, MulticlassMeasure)))
