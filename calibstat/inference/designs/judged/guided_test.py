"""Tests of calibration from few labelled rows, with a judge that says where to look or takes away noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from calibstat import resampling
from calibstat.data.checks import short
from calibstat.data.null_hypothesis import EVENT_NULL, Null
from calibstat.digits import settled
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.designs.judged.design_check import design_note, design_p_value
from calibstat.inference.designs.judged.guess import GROUPS, groups_of
from calibstat.inference.designs.judged.judged_in_order import JudgedRows, noise_in_words, rows_with_judge
from calibstat.inference.designs.judged.rectified_interval import norm_problem
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows
from calibstat.inference.p_values import largest_p_value, p_value
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.rows_of_results import LabelledRows
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws, Stream
from calibstat.result import read_only

DIRECTION, NOISE = "direction", "noise"
STUDIED = "studied, for labels chosen at random and a judge that never saw them"
PREMISES = (
    "Exact if the judge never saw an outcome of the labelled rows, as you say, and if outcomes of labelled rows are "
    "independent of the other rows given their predictions: no copies or relatives among these, unless cluster= names "
    "them."
)


@dataclass(frozen=True, eq=False)
class GuidedRows(LabelledRows):
    """The rows of a test with a judge, whose statistic is of the labelled rows; by noise, of rectified residuals.

    By "direction" the p-value is of the smaller of the ranks of the measure and of the sum in the judge's direction,
    both of the labelled rows, among drawn labels: exact under `rests_on`. By "noise" it is of the measure of rectified
    residuals: studied.

    Attributes
    ----------
    use : {"direction", "noise"}
        What the judge is used for: to say where to look, or to take away noise.
    pvalue_labels_only : float
        The p-value of the measure of the labelled rows alone, which the judge does not change; exact without clusters.
    pvalue_direction : float
        The p-value of the sum in the judge's direction alone; nan by noise.
    left_out : int
        Rows without an outcome that were left out because they share a cluster with a labelled row.
    rests_on : str
        On what the p-value rests.
    """

    use: str
    pvalue_labels_only: float
    pvalue_direction: float
    left_out: int
    rests_on: str

    @property
    def how(self) -> str:
        return "guided by a judge, " if self.use == DIRECTION else "with a judge's answers against noise, "

    @property
    def premises(self) -> str:
        return f" Labels alone: p = {settled(self.pvalue_labels_only):.3g}.\n{self.rests_on}"


def need_premise(use: str, rows: JudgedRows) -> None:
    """Raise unless the user says that the judge never saw outcomes of labelled rows, and the use fits their choice."""
    if use == DIRECTION and rows.chance is not None:
        raise ValueError(
            "expected method='noise' with inclusion= of a judge; by direction the test is exact for any choice of rows"
        )
    if rows.blind is not True:
        found = "none" if rows.blind is None else short(rows.blind)
        why = "a judge that saw them, as examples, by training or tuning, makes the p-value wrong, up to always"
        raise ValueError(
            "expected judge=cs.Judge(answers, blind=True), if the judge never saw an outcome of the labelled rows; "
            f"found blind={found}: {why}. Without judge= the test needs none"
        )


def guided_test(rows: JudgedRows, measure: Measure, use: str, draws: Draws) -> CalibrationTestResult:
    """Return the test of the labelled rows that looks where the judge points to, or the one of rectified residuals."""
    need_premise(use, rows)
    problem = norm_problem(rows, measure)
    design = design_p_value(rows, draws.key, draws.n_jobs)
    annotations = problem.view.annotations()
    notes = [design_note(design), rows.odd, annotations["note"]]
    annotations["note"] = "\n".join(note for note in notes if note)
    found = by_direction(rows, problem, draws) if use == DIRECTION else _by_noise(rows, problem, draws)
    return CalibrationTestResult(
        statistic=found.statistic,
        pvalue=found.pvalue,
        pvalue_error=float(np.sqrt(found.pvalue * (1 - found.pvalue) / draws.n)),
        null_distribution=read_only(found.null),
        null_hypothesis=found.hypothesis,
        measure=problem.measure.named,
        lens=problem.lens,
        tail="greater",
        resample="labels" if rows.unit is None or use == DIRECTION else "sign_flip",
        n=rows.n,
        n_resamples=draws.n,
        stopped=False,
        why_stopped=WhyStopped(f"{draws.n} resamples"),
        rows=GuidedRows(
            **rows_with_judge(rows, design),
            use=use,
            pvalue_labels_only=found.labels_only,
            pvalue_direction=found.direction,
            left_out=int(np.count_nonzero(relatives(rows))),
            rests_on=PREMISES if use == DIRECTION else noise_in_words(rows, rows.noise_left),
        ),
        **annotations,
    )


@dataclass(frozen=True, eq=False)
class Found:
    """The outcome of a test: its statistic with draws, p-values, and the null hypothesis with how exact it is."""

    statistic: float
    null: np.ndarray
    pvalue: float
    labels_only: float
    direction: float
    hypothesis: Null


def by_direction(rows: JudgedRows, problem: BinaryProblem, draws: Draws) -> Found:
    """Compare the smaller of two ranks among drawn labels, one of them of the sum in the judge's direction.

    Statement and argument: docs/evidence/proofs/few-label-tests.md.
    """
    if rows.data.cluster is not None and np.bincount(rows.data.cluster).max() > 1:
        raise ValueError(
            "expected at most one labelled row in a cluster with method='direction', whose test is exact for "
            "independent outcomes, found several; method='noise' takes clusters"
        )
    y, p = (each[rows.labelled] for each in (rows.outcome, rows.prediction))
    sample = problem.view.sample
    norm = problem.measure.with_fixed_cells(sample.value, sample.count).norm_on(sample.value, sample.count)
    at = np.searchsorted(sample.value, p)
    along = np.empty(sample.value.size)
    along[at] = direction_of(rows)[rows.labelled]  # the same for equal predictions

    def statistics(theta: np.ndarray) -> np.ndarray:
        in_cells = theta if norm.cell is None else np.bincount(norm.cell, theta)
        return np.stack([norm.value(in_cells), abs(float(along @ theta))])

    observed = statistics(np.bincount(at, y - p) / y.size)
    unit, stream = np.arange(p.size), Stream.LABELS
    null = resampling.sums_of_row_labels(at, p, sample.value.size, unit, None, statistics, draws, stream)
    pvalue, single = smaller_rank(observed, null)
    hypothesis = replace(EVENT_NULL, exact=True)
    return Found(float(observed[0]), null[:, 0].copy(), pvalue, single[0], single[1], hypothesis)


def smaller_rank(observed: np.ndarray, null: np.ndarray) -> tuple[float, tuple[float, float]]:
    """Return the p-value of the smaller of the ranks of two statistics, and the p-value of each.

    Data and draws are ranked together, ties up to rounding as the more extreme, so that they stay exchangeable.
    """
    both = np.vstack([observed, null])
    both = np.round(both / np.maximum(np.abs(both).max(axis=0), 1e-300), 12)
    ordered = np.sort(both, axis=0)
    rank = np.stack([len(both) - np.searchsorted(ordered[:, k], both[:, k], "left") for k in range(2)], axis=1)
    least = rank.min(axis=1)
    single = tuple(float(each) / len(both) for each in rank[0])
    return float(np.count_nonzero(least <= least[0])) / len(both), single  # type: ignore[return-value]


def direction_of(rows: JudgedRows) -> np.ndarray:
    """Return the mean of answer minus prediction in groups of predictions, of rows that labels do not depend on."""
    group, used = groups_of(rows.prediction, GROUPS), ~rows.labelled & ~relatives(rows)
    count = np.bincount(group[used], minlength=GROUPS)
    gap = np.bincount(group[used], (rows.proxy - rows.prediction)[used], GROUPS)
    return np.asarray((gap / np.maximum(count, 1))[group])


def relatives(rows: JudgedRows) -> np.ndarray:
    """Return which rows without an outcome share a cluster with a labelled row."""
    if rows.unit is None:
        return np.zeros(rows.n, bool)
    held = np.bincount(rows.unit, rows.labelled) > 0
    return np.asarray(held[rows.unit] & ~rows.labelled)


def _by_noise(rows: JudgedRows, problem: BinaryProblem, draws: Draws) -> Found:
    """Compare the measure of rectified residuals with its draws if calibrated."""
    rectified = RectifiedRows.of(problem, rows)
    nulls, statistic = rectified.null_draws(draws), rectified.statistic()
    pvalue, way = largest_p_value(statistic, nulls)
    drawn = problem.in_order("calibration_test")
    alone = p_value(drawn.statistic(), drawn.drawer_of_labels()(draws), "greater")
    if rows.data.cluster is not None:
        compared = problem.compared_in_clusters(rows.data.cluster, draws)
        assert compared is not None
        alone = max(each.pvalue for each in compared.values())
    hypothesis = EVENT_NULL if rows.unit is None else replace(EVENT_NULL, rows="in clusters")
    return Found(statistic, nulls[way], pvalue, alone, np.nan, hypothesis.approximately(STUDIED))
