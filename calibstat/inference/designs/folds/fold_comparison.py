"""Differences of mean losses of learners, by their predictions out of the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Self

import numpy as np

from calibstat.bounds.mean_interval import OfMean, RowLosses
from calibstat.data.clusters import clusters_in_words
from calibstat.inference.comparing.differences import ComparedModels, Pairs, Way
from calibstat.inference.comparing.ends import ByEnds, UpperEnd, remark_on_clusters
from calibstat.inference.comparing.mean_difference import row_differences
from calibstat.inference.designs.folds.fold_interval import variance_within
from calibstat.inference.designs.folds.folded_problem import FoldedProblem, folded_problems
from calibstat.inference.designs.several_models import HowToCompare, SeveralModels
from calibstat.inference.problems.problem import unseen_of
from calibstat.inference.rows_of_results import Folds, Rows

BY_FOLDS = "folds"
NOT_ALLOWED = (
    "The interval allows for outcomes that were not observed, not for new rows on which the learners may differ more "
    "than on any of these."
)
MOST_MISSED = 2.0  # the variance of a difference over that within folds is at most this


class CrossValidatedModels(SeveralModels):
    """Models that predicted the same rows out of the same folds of cross-validation."""

    default = MappingProxyType({"measure": "brier"})
    methods = (BY_FOLDS,)
    one_way = "expected folds= without method=, because no study covers both, found {}"

    @cached_property
    def folds(self) -> list[np.ndarray]:
        """The fold of each row, of each repeat."""
        return [each.fold for each in self.first.repeats if each.fold is not None]

    def way(self, compared: ComparedModels, method: str) -> Way:
        problem = compared.first
        if not problem.is_mean:
            raise ValueError(
                f"expected a mean of losses, such as brier, to compare with folds=, found {problem.title}: no study "
                "has differences of calibration errors with folds"
            )
        return ByFolds.of([folded_problems(each, problem.measure) for each in self.models.values()])

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        repeats = len(self.folds)
        words = Folds.words(self.folds[0], repeats, self.first.cluster)
        return Folds(n[0], folds=self.n_folds, repeats=repeats, in_words=words)

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.folds[0].max()) + 1

    def null(self, compared: ComparedModels, method: str, rows: Rows) -> str:
        of_clusters = "" if self.first.cluster is None else f", of {clusters_in_words(self.first.cluster)}"
        return (
            f"the mean loss of the {self.n_folds} models is the same for both learners in the population, if for each "
            f"new row one of the models is drawn at random{of_clusters}"
        )

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        """Say how the variance of a difference was found, and what the interval does not allow for."""
        said = (
            "Of one repeat the variance within folds is doubled, the most that it can be where training rows count one "
            "by one. Three repeats, folds and predictions of shape (n, 3), mostly give a shorter interval."
        )
        if len(self.folds) > 1:
            said = (
                f"The variance is that within folds, and {self.n_folds} times that between {len(self.folds)} repeats. "
                "Differences of Brier scores were studied."
            )
        return f"{said} {NOT_ALLOWED}"


@dataclass(frozen=True, eq=False)
class LossesOfRepeats:
    """The losses of the rows of a learner in each repeat of cross-validation."""

    losses: Sequence[RowLosses]

    @property
    def estimate(self) -> float:
        """The mean over rows and repeats."""
        return float(np.mean([each.estimate for each in self.losses]))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.losses[0].n_rows


@dataclass(frozen=True, eq=False)
class ByFolds(ByEnds):
    """Differences of mean losses, with their variances under folds; each model has the same folds in each repeat."""

    posed: Sequence[LossesOfRepeats]
    folds: Sequence[np.ndarray]

    @classmethod
    def of(cls, models: Sequence[Sequence[FoldedProblem]]) -> Self:
        """Take the losses of the problems of each repeat of each model."""
        unseen, every = unseen_of(models[0][0].problem, models[0][0].unit), slice(None)
        losses = [[each.problem.losses().take(every, each.unit, unseen) for each in model] for model in models]
        return cls([LossesOfRepeats(each) for each in losses], [each.fold for each in models[0]])

    def remark(self, end: UpperEnd, tail: float) -> str:
        return remark_on_clusters(end, self.posed[0].losses[0], tail)

    def upper(self, pairs: Pairs, tail: float) -> Sequence[OfMean]:
        return [_difference(self.posed[a].losses, self.posed[b].losses, self.folds) for a, b in pairs]


def _difference(one: Sequence[RowLosses], other: Sequence[RowLosses], folds: Sequence[np.ndarray]) -> OfMean:
    """Return the mean over rows and repeats of the difference of two losses, with its variance under folds."""
    rows = [row_differences(*pair, same_outcomes=True) for pair in zip(one, other, strict=True)]
    row, possible = np.stack([each.loss for each in rows]), np.stack([each.possible() for each in rows])
    mean = rows[0].of_differences(row.mean(axis=0), lambda: possible, rows[0].bounds).interval
    # the bounds of the loss would allow for rows on which learners have nothing alike
    mean = replace(mean, least=float(possible.min()), most=float(possible.max()))
    variance = row.shape[1] * variance_of_difference(row, folds, one[0].unit)
    return mean.with_moments(variance, float(np.mean([each.interval.third for each in rows])))


def variance_of_difference(row: np.ndarray, folds: Sequence[np.ndarray], unit: np.ndarray | None = None) -> float:
    """Return n times the squared standard error of a mean of numbers of rows, shape (R, n), of R repeats.

    It is the variance within folds and K (n - 1) / (n - K) times that between repeats, which is what training rows add;
    of one repeat twice the variance within folds, which is the most that it can be. Of rows in clusters, which `unit`
    numbers from 0, both are of the clusters' sums, and clusters are counted in place of the n rows.

    Statement and argument: docs/evidence/proofs/fold-differences.md.
    """
    within = float(np.mean([variance_within(*each, unit) for each in zip(row, folds, strict=True)]))
    repeats, n = row.shape
    if repeats == 1:
        return MOST_MISSED * within
    k = int(folds[0].max()) + 1
    of_units = row if unit is None else np.stack([np.bincount(unit, each) for each in row])
    units = of_units.shape[1]
    return within + k * (units - 1) / (units - k) * float(of_units.var(axis=0, ddof=1).mean()) * units / n
