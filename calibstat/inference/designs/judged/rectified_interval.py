"""Intervals of calibration errors from few labelled rows and a judge's answers for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np

from calibstat.data.clusters import clusters_in_words
from calibstat.digits import settled
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.judged.design_check import design_note, design_p_value
from calibstat.inference.designs.judged.judged_in_order import (
    JudgedRows,
    equivalent_labels,
    noise_in_words,
    rows_with_judge,
)
from calibstat.inference.designs.judged.rectified_means import RectifiedLosses
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows, need_norm
from calibstat.inference.honest_ends import FEW_EVENTS
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.rows_of_results import LabelledRows
from calibstat.measures.kinds.base import AT_LEAST_THIS, Measure, in_prose
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.output.wording import number, p_text
from calibstat.resampling import Draws

BY_JUDGE = "rectified"


@dataclass(frozen=True, eq=False)
class RectifiedLabels(LabelledRows):
    """The rows of an interval whose estimate is of rectified residuals, or the mean of rectified losses.

    Attributes
    ----------
    share : float
        The share of the squared residuals of labelled rows that guesses from prediction and judge leave; of a mean of
        losses of the variance of the losses.
    equivalent_labels : float
        The labels without a judge that would say as much about one fixed sum, to first order.
    slopes : tuple of float, length 4
        By how much a guess rises from an answer 0 to an answer 1, in four groups of ascending predictions: 1 for a
        perfect judge, 0 if it is not used.
    is_judge_used : bool
        Whether there were 10 labelled rows (or clusters) of either outcome, seen and expected.
    labels_only : ConfidenceInterval
        The interval from the labelled rows alone.
    worth : str
        What the judge is worth, in words.
    """

    share: float
    equivalent_labels: float
    slopes: tuple[float, ...]
    is_judge_used: bool
    labels_only: ConfidenceInterval
    worth: str

    def scope(self, method: str) -> str:
        only = self.labels_only
        return (
            f"This rests on {self.labelled:,} labelled rows among {self.n:,}, with a judge. {self.worth} Labels alone: "
            f"{number(only.low)} to {number(only.high)}. The check that labelled rows are like the others: "
            f"p = {p_text(self.design_pvalue)}."
        )

    @property
    def beside(self) -> str:
        only = self.labels_only
        return f": {self}. Labels alone: [{settled(only.low):.4g}, {settled(only.high):.4g}].\n{self.worth}\n"


def rectified_interval(
    rows: JudgedRows, measure: Measure, labels_only: ConfidenceInterval, confidence_level: float, draws: Draws
) -> ConfidenceInterval:
    """Return the interval of a norm of residuals or a mean of losses, beside the interval of the labels alone."""
    problem = judged_problem(rows, measure)
    posed = rectified(problem, rows)
    low, high, if_calibrated = posed.ends(1 - confidence_level, draws)
    smallest, largest = problem.measure.bounds
    rarest = problem.view.rarest(rows.data.cluster)
    design = design_p_value(rows, draws.key, draws.n_jobs)
    annotations = problem.view.annotations()
    notes = [design_note(design), rows.odd, annotations["note"]]
    annotations["note"] = "\n".join(note for note in notes if note)
    return ConfidenceInterval(
        low=float(np.clip(low, smallest, largest)),
        high=float(np.clip(high, smallest, largest)),
        estimate=posed.estimate,
        confidence_level=confidence_level,
        method=BY_JUDGE,
        estimand=_estimand(problem, rows),
        measure=problem.measure.named,
        lens=problem.lens,
        n=rows.n,
        n_resamples=draws.n,
        few_events=str(rarest) if rarest.count < FEW_EVENTS else "",
        if_calibrated=if_calibrated,
        rows=RectifiedLabels(
            **rows_with_judge(rows, design),
            share=posed.noise_left,
            equivalent_labels=equivalent_labels(rows.labels, rows.n, posed.noise_left),
            slopes=tuple(map(float, rows.guess.slopes)),
            is_judge_used=rows.guess.is_used,
            labels_only=labels_only,
            worth=noise_in_words(rows, posed.noise_left),
        ),
        **annotations,
    )


def judged_problem(rows: JudgedRows, measure: Measure) -> BinaryProblem:
    """Pose the problem of a norm of residuals, or a mean of losses, for the labelled rows alone."""
    problem = cast("BinaryProblem", problem_of(rows.data, measure))  # of one event
    if not problem.is_mean:
        need_norm(problem, ", or a mean of losses such as brier")
    return problem


def norm_problem(rows: JudgedRows, measure: Measure) -> BinaryProblem:
    """Pose the problem of a norm of residuals for the labelled rows alone."""
    problem = cast("BinaryProblem", problem_of(rows.data, measure))
    need_norm(problem)
    return problem


def rectified(problem: BinaryProblem, rows: JudgedRows) -> RectifiedRows | RectifiedLosses:
    """Return the rectified residuals that a norm of residuals is of, or the losses that a mean is of."""
    if problem.is_mean:
        return RectifiedLosses.of(cast("MeanLoss", problem.measure), rows)
    return RectifiedRows.of(problem, rows)


def _estimand(problem: BinaryProblem, rows: JudgedRows) -> str:
    """Say in one sentence what the interval is for, and on what it rests."""
    sampled = "rows" if rows.unit is None else clusters_in_words(rows.unit)
    beyond = ", over the cells that these rows make" if problem.holds_cells(always=True) else ""
    if problem.is_mean and not np.isfinite(problem.measure.bounds).all():
        beyond += ", if none of it is predicted more extremely than these rows are"
    beyond += AT_LEAST_THIS if problem.is_coarse else ""
    how = "a random subset" if rows.chance is None else "drawn with the given chances"
    return (
        f"{in_prose(problem.measure)} for the labels, not the judge's answers, in the population these {sampled} are "
        f"an independent sample of{beyond}. Labelled rows have to be {how}; the judge may be anything that never saw "
        "their outcomes."
    )
