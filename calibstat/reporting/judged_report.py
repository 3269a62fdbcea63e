"""Reports on few labelled rows beside a judge's answers for all: of the labelled rows, with intervals by the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.inference.compare import compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, cannot_be_seen, judged_models
from calibstat.reporting.report_fields import ModelReport
from calibstat.reporting.report_measures import COMPARED, ERRORS, of_interval
from calibstat.reporting.report_results import Report

WITH_JUDGE = ERRORS[0], *COMPARED  # whose intervals the judge may make shorter; the first is the primary one


def judged_report(
    report: Callable[..., Report],
    y_true: ArrayLike,
    models: Mapping[str, ArrayLike],
    proxy: ArrayLike,
    rows: dict[str, Any],
    settings: dict[str, Any],
    title: str | None,
) -> Report:
    """Return the report of the labelled rows alone, with the intervals and the comparison that a judge allows.

    The tests, the diagram and the other measures are of the labelled rows alone.
    """
    judged = judged_models(y_true, models, proxy, **rows)
    first = next(iter(judged.values()))
    alone = report(
        first.data.rows.y_true,
        {name: _labelled(each) for name, each in judged.items()},
        title=f"Calibration of {', '.join(models)}" if title is None else title,
        **settings,
    )
    about: dict[str, Any] = {"proxy": proxy, **rows, **settings}
    found, notes = {}, list(alone.notes)
    for name, model in alone.models.items():
        intervals = {of: confidence_interval(y_true, models[name], measure=of, **about) for of in WITH_JUDGE}
        found[name] = _with_intervals(model, intervals)
        notes += [line for line in intervals[WITH_JUDGE[0]].note.splitlines() if line not in notes]
    comparisons = dict(alone.comparisons)
    if len(models) > 1:
        comparisons[COMPARED[1]] = compare(y_true, models, measure=COMPARED[1], **about)
    described = (
        f"{first.n:,} rows with a judge's answers, {first.labels:,} of them labelled. Intervals of "
        f"{', '.join(WITH_JUDGE[:-1])} and {WITH_JUDGE[-1]} take the judge; all else is of the labelled rows alone: "
        f"{alone.data}"
    )
    return replace(
        alone,
        models=found,
        comparisons=comparisons,
        data=described,
        n=first.n,
        command=alone.command.replace("y_prob", "y_prob, proxy=proxy", 1),
        notes=(*dict.fromkeys(notes), cannot_be_seen()),
    )


def _labelled(rows: JudgedRows) -> np.ndarray:
    return rows.prediction[rows.labelled]


def _with_intervals(model: ModelReport, intervals: Mapping[str, ConfidenceInterval]) -> ModelReport:
    """Return the part of the report on a model, with these intervals in place of the intervals from labels alone."""
    measured = {name: of_interval(name, each) for name, each in intervals.items() if name in model.measures}
    ece, diagram = intervals[WITH_JUDGE[0]], model.diagram
    if diagram is not None and diagram.interval is not None:  # which its picture states
        diagram = replace(diagram, interval=ece)
    return replace(model, ece=ece, diagram=diagram, measures=model.measures | measured)
