"""The test of calibration by predictions out of fold: of all rows, and of the rows of each fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.data.checked_rows import Data
from calibstat.data.null_hypothesis import Null
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.designs.folds.folded_problem import (
    FoldedProblem,
    folded_problems,
    need_error_with_folds,
    of_repeats,
    rows_with_folds,
)
from calibstat.inference.designs.folds.folds_with_tests import FoldsWithTests
from calibstat.inference.p_values import Compared, p_value
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws, Stream
from calibstat.result import read_only

OF_FOLDS = Null(
    "the models and their predictions",
    ("every outcome of a fold is 1", " with the probability that the model of its fold predicts"),
)
FOLDS_STUDIED = "studied; the p-value by theorem is exact or too large for rows of one law in folds dealt at random"
OF_CLUSTERS = "studied, and by theorem as far as the test of a fold is: its {clusters} have signs of their own"
STRATIFIED = (
    "All folds hold the same number of outcomes 1, up to one, as folds that are dealt by the outcomes do. Tests of "
    "such folds hardly find anything: deal folds at random."
)


@dataclass(frozen=True, eq=False)
class FoldPValues:
    """The p-values of one repeat of cross-validation.

    Statement and argument: docs/evidence/proofs/fold-tests.md.

    Attributes
    ----------
    statistic : float
        The measure of all rows.
    null : ndarray, shape (n_resamples,)
        The statistic of labels drawn for all rows.
    of_folds : ndarray, shape (K,)
        The p-value of the rows of each fold, by draws of their own.
    """

    statistic: float
    null: np.ndarray
    of_folds: np.ndarray

    @classmethod
    def of(cls, folded: FoldedProblem, draws: Draws) -> FoldPValues:
        """Test all rows, and the rows of each fold."""
        of_folds = []
        for k, (part, unit) in enumerate(folded.parts(), start=1):
            of_part = draws.part(k * draws.n, (k + 1) * draws.n, Stream.LABELS)
            of_folds.append(_compared(part, unit, of_part).pvalue)
        rows = _compared(folded.problem, folded.unit, draws)
        return cls(rows.statistic, rows.null, np.array(of_folds))

    @cached_property
    def of_rows(self) -> float:
        """The p-value of all rows."""
        return p_value(self.statistic, self.null, "greater")

    @property
    def by_theorem(self) -> float:
        """The number of folds times the smallest of their p-values."""
        return min(1.0, self.of_folds.size * float(self.of_folds.min()))

    @property
    def studied(self) -> float:
        """Twice the smaller of both."""
        return min(1.0, 2 * min(self.of_rows, self.by_theorem))

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of `studied`."""
        times, p = min((2.0, self.of_rows), (2.0 * self.of_folds.size, float(self.of_folds.min())), key=np.prod)
        return float(times * (p * (1 - p) / self.null.size) ** 0.5)


def _compared(problem: BinaryProblem, unit: np.ndarray | None, draws: Draws) -> Compared:
    """Return the measure beside draws of labels or, of rows in clusters, of the way with the largest p-value."""
    if unit is None:
        drawn = problem.in_order("calibration_test")
        return Compared(drawn.statistic(), drawn.drawer_of_labels()(draws))
    compared = problem.compared_in_clusters(unit, draws)
    assert compared is not None  # a norm of the residuals
    return max(compared.values(), key=lambda each: each.pvalue)


def p_values_of_repeats(folded: Sequence[FoldedProblem], draws: Draws) -> list[FoldPValues]:
    """Test each repeat, by draws of its own."""
    return [FoldPValues.of(*each) for each in zip(folded, of_repeats(draws, len(folded)), strict=True)]


def merged(pvalues: Sequence[float]) -> float:
    """Return twice the mean of p-values of repeats, which is a p-value however they depend on each other; one stays.

    Statement and argument: docs/evidence/proofs/fold-tests.md.
    """
    return float(pvalues[0]) if len(pvalues) == 1 else min(1.0, 2 * float(np.mean(pvalues)))


def _null_hypothesis(folded: FoldedProblem) -> Null:
    if folded.unit is None:
        return OF_FOLDS.approximately(FOLDS_STUDIED)
    return replace(OF_FOLDS, rows="in clusters").approximately(OF_CLUSTERS.format(clusters=folded.sampled))


def cross_validated_test(data: Data, measure: Measure, draws: Draws) -> CalibrationTestResult:
    """Return the test of predictions out of fold."""
    folded = folded_problems(data, measure)
    problem = folded[0].problem
    need_error_with_folds(problem, "test")
    found = p_values_of_repeats(folded, draws)
    times = 1.0 if len(found) == 1 else 2 / len(found)
    annotations = problem.view.annotations()
    notes = [annotations["note"], STRATIFIED if all(each.is_stratified for each in folded) else ""]
    annotations["note"] = "\n".join(note for note in notes if note)
    return CalibrationTestResult(
        statistic=float(np.mean([each.statistic for each in found])),
        pvalue=merged([each.studied for each in found]),
        pvalue_error=float(times * np.sqrt(sum(each.error**2 for each in found))),
        null_distribution=read_only(found[0].null),
        null_hypothesis=_null_hypothesis(folded[0]),
        measure=problem.measure.named,
        lens=problem.lens,
        tail="greater",
        resample="labels" if folded[0].unit is None else "sign_flip",
        n=int(problem.n),
        n_resamples=draws.n,
        stopped=False,
        why_stopped=WhyStopped(f"{draws.n} resamples of all rows and of each fold"),
        rows=FoldsWithTests(
            **rows_with_folds(folded),
            pvalue_by_theorem=merged([each.by_theorem for each in found]),
            pvalue_of_rows=read_only(np.array([each.of_rows for each in found])),
            pvalue_of_folds=read_only(np.array([each.of_folds for each in found])),
        ),
        **annotations,
    )
