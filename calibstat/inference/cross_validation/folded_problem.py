"""A measure and rows that were predicted out of fold, of each repeat of cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat import resampling
from calibstat.data.checked_rows import Data
from calibstat.data.checks import short
from calibstat.data.folds_of_rows import are_stratified
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import MEASURES, measures_by_rows
from calibstat.resampling import Draws

DEFAULT = "kernel_ce"  # of tests and intervals with folds


@dataclass(frozen=True, eq=False)
class FoldedProblem:
    """A problem of one event whose rows have folds.

    Attributes
    ----------
    problem : BinaryProblem
        The measure and the rows.
    fold : ndarray of int64, shape (n,)
        The number of the fold of each row, from 0.
    """

    problem: BinaryProblem
    fold: np.ndarray

    @cached_property
    def order(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the rows by what they hold, and the folds in this order, numbered by what their rows hold."""
        order, fold = resampling.canonical_order(self.problem.sort_columns(), self.fold)
        assert fold is not None
        return order, fold

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @property
    def is_stratified(self) -> bool:
        """Whether all folds hold the same number of events, up to one."""
        return are_stratified(self.fold, self.problem.data.float_rows()[0])

    def parts(self) -> Iterator[BinaryProblem]:
        """Yield the problem of the rows of each fold."""
        order, fold = self.order
        outcome, prediction = (column[order] for column in self.problem.data.float_rows())
        for k in range(self.n_folds):
            rows = outcome[fold == k], prediction[fold == k]
            yield replace(self.problem, data=replace(self.problem.data, rows=rows, summary=None))


def need_defaults_with_folds(given: Mapping[str, tuple[object, object]]) -> None:
    """Raise if an argument, with its value and its default by its name, was given that folds do not take."""
    for name, (value, default) in given.items():
        if value != default:
            raise ValueError(f"expected folds= without {name}=, which no study has with folds, found {short(value)}")


def folded_problems(data: Data, asked: Measure) -> list[FoldedProblem]:
    """Pose the problem of each repeat."""
    return [_folded(each, asked) for each in data.repeats]


def _folded(data: Data, asked: Measure) -> FoldedProblem:
    problem = problem_of(data, asked)
    assert isinstance(problem, BinaryProblem)  # data with folds are of one event
    assert data.fold is not None
    return FoldedProblem(problem, data.fold)


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
