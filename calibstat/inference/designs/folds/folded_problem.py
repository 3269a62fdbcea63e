"""A measure and rows that were predicted out of fold, of each repeat of cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data.checked_rows import Data
from calibstat.data.clusters import clusters_in_words
from calibstat.data.folds_of_rows import are_stratified
from calibstat.inference.honest_ends import NoInterval
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Posed
from calibstat.inference.rows_of_results import Folds
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import MEASURES, measures_by_rows
from calibstat.resampling import Draws


@dataclass(frozen=True, eq=False)
class FoldedProblem:
    """A problem of one event whose rows have folds, and may be in clusters that are whole within folds.

    Attributes
    ----------
    problem : BinaryProblem
        The measure and the rows.
    fold : ndarray of int64, shape (n,)
        The number of the fold of each row, from 0.
    unit : ndarray of int64, shape (n,), or None
        The number of the cluster of each row, from 0; None if rows are independent.
    """

    problem: BinaryProblem
    fold: np.ndarray
    unit: np.ndarray | None = None

    @cached_property
    def order(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The order of the rows by what they hold, and folds and clusters in it, numbered by what their rows hold."""
        columns = self.problem.sort_columns()
        order, fold = resampling.canonical_order(columns, self.fold)
        assert fold is not None
        if self.unit is None:
            return order, fold, None
        numbered = np.empty_like(fold)
        numbered[order] = fold
        order, unit = resampling.canonical_order((*columns, numbered), self.unit)
        return order, numbered[order], unit

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @property
    def is_stratified(self) -> bool:
        """Whether all folds hold the same number of events, up to one."""
        return are_stratified(self.fold, self.problem.view.float_rows()[0])

    def parts(self) -> Iterator[tuple[BinaryProblem, np.ndarray | None]]:
        """Yield the problem of the rows of each fold, and their clusters, numbered from 0."""
        order, fold, unit = self.order
        outcome, prediction = (column[order] for column in self.problem.view.float_rows())
        for k in range(self.n_folds):
            rows = outcome[fold == k], prediction[fold == k]
            part = None if unit is None else np.unique(unit[fold == k], return_inverse=True)[1]
            yield replace(self.problem, view=replace(self.problem.view, rows=rows, summary=None)), part

    def posed(self) -> Posed:
        """Return the problem in canonical order, or its rows in clusters, of which an honest interval is known."""
        if self.unit is None:
            return self.problem.in_order("confidence_interval")
        in_clusters = self.problem.honest_in_clusters(self.unit)
        if in_clusters is None:
            raise NoInterval(f"no honest interval with clusters is known for {self.problem.title}")
        return in_clusters

    @property
    def sampled(self) -> str:
        """The units that are independent, in words: rows, or how many clusters."""
        return "rows" if self.unit is None else clusters_in_words(self.unit)


def rows_with_folds(folded: Sequence[FoldedProblem]) -> dict[str, Any]:
    """Return the fields by which results say how rows with folds came about."""
    first, repeats = folded[0], len(folded)
    words = Folds.words(first.fold, repeats, first.unit)
    return {"n": int(first.problem.n), "folds": first.n_folds, "repeats": repeats, "in_words": words}


def folded_problems(data: Data, measure: Measure) -> list[FoldedProblem]:
    """Pose the problem of each repeat."""
    return [_folded(each, measure) for each in data.repeats]


def _folded(data: Data, measure: Measure) -> FoldedProblem:
    problem = problem_of(data, measure)
    if not isinstance(problem, BinaryProblem):  # data with folds are of one event
        raise ValueError(
            f"expected a measure of one event with folds=, found {measure}, which is of all classes jointly"
        )
    assert data.fold is not None
    return FoldedProblem(problem, data.fold, data.cluster)


def of_repeats(draws: Draws, repeats: int) -> Iterator[Draws]:
    """Yield draws of each repeat, by keys of their own; the first has the key of a single one."""
    for r in range(repeats):
        yield replace(draws, key=resampling.repeat_key(draws.key, r))


def need_error_with_folds(problem: BinaryProblem, what: str) -> None:
    """Raise unless a measure is an error that is a norm of the residuals, in cells that do not depend on the data."""
    if problem.compares and not problem.is_mean and not problem.holds_cells(always=True):
        return
    why = ", because its cells depend on the data, and no study has such cells" * problem.holds_cells(always=True)
    known = [name for name in measures_by_rows() if MEASURES[name]().honest == "norm"]
    raise ValueError(f"no {what} with folds is known for {problem.title}{why}; there is one for {', '.join(known)}")
