"""Poses the problem of a question: the only place that distinguishes the kinds of data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calibstat.data.checked_rows import Data
from calibstat.data.checks import short
from calibstat.data.observations import (
    BinaryData,
    ClassWiseData,
    MulticlassData,
)
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.class_problems import ClassWiseProblem, MulticlassProblem
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure, MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import find_measure

REDUCTIONS = ("mean", "max")


def pose(
    y_true: Any,
    y_prob: Any,
    measure: str | Measure | type[Measure],
    options: Mapping[str, Any],
    *,
    reduce: str | None = None,
    **rows: Any,
) -> Problem:
    """Check measure and data, and pose the problem of their kind."""
    asked = find_measure(measure, options)
    return problem_of(Data(y_true, y_prob, **rows), asked, reduce)


def problem_of(data: Data, asked: Measure, reduce: str | None = None) -> Problem:
    """Pose the problem of a measure and of the kind of data that the lens shows."""
    if reduce is not None and not (isinstance(reduce, str) and reduce in REDUCTIONS):
        raise ValueError(f"expected reduce None, 'mean' or 'max', found {short(reduce)}")
    seen = data.seen(canonical=isinstance(asked, MulticlassMeasure))

    def binary(data: BinaryData | ClassWiseData) -> Statistic:
        if not isinstance(asked, Statistic):
            raise ValueError(f"expected a lens that shows whole vectors for measure {asked.name!r}, found {data.lens}")
        return asked

    def of_event(data: BinaryData) -> Problem:
        if reduce is not None:
            raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found {data.lens}")
        known = binary(data)
        known.check_probabilities(data.prob)
        return BinaryProblem(known, data)

    def of_classes(data: ClassWiseData) -> Problem:
        known = binary(data)
        known.check_probabilities(data.predictions.prob)
        return ClassWiseProblem(known, data, reduce)

    def of_vectors(data: MulticlassData) -> Problem:
        if reduce is not None:
            raise ValueError(f"expected lens 'class_wise' with reduce={reduce!r}, found {data.lens}")
        form = asked.multiclass()
        if form is None:
            raise ValueError(
                f"expected a lens that shows one event for measure {asked.name!r}, such as top_label, class_wise or "
                f"one_class(k); found {data.lens}, which shows {data.predictions.n_classes} classes"
            )
        if form.why_no_weights:
            data.need_no_weights(str(form), form.why_no_weights)
        return MulticlassProblem(form, data)

    return seen.choose(of_event, of_vectors, of_classes)
