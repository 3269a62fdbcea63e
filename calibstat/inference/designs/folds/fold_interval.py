"""Intervals of the error of the models of cross-validation, by their predictions out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import Interval, upper_quantile
from calibstat.bounds.mean_interval import OfMean
from calibstat.bounds.residual_tables import OfTheta, RowTable
from calibstat.data.checked_rows import Data
from calibstat.digits import settled
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.folds.fold_test import merged, p_values_of_repeats
from calibstat.inference.designs.folds.folded_problem import (
    FoldedProblem,
    folded_problems,
    need_error_with_folds,
    of_repeats,
    rows_with_folds,
)
from calibstat.inference.honest_ends import FEW_EVENTS, HonestEnds, need_events
from calibstat.inference.rows_of_results import Folds
from calibstat.measures.kinds.base import AT_LEAST_THIS, Measure, in_prose
from calibstat.output.wording import level_text
from calibstat.resampling import Draws, centring

TRIANGLE, MIRROR, OF_MEAN = "triangle", "mirror", "variance within folds"
FOLD_METHODS = (TRIANGLE, MIRROR)  # of an error
COVERED = {  # the learners that a high end covers
    TRIANGLE: "The triangle covers any learner whose predictions hardly depend on a single training row.",
    MIRROR: (
        "The mirror is studied for learners that correct at most fully: logistic regression, ridge, other efficient or "
        "penalised fits, Platt, isotonic and histogram maps. For others, such as those that select, round or sharpen, "
        "take method='triangle'."
    ),
    OF_MEAN: "",
}
REFITTED = "There is no guarantee for the model refitted on all rows."


@dataclass(frozen=True, eq=False)
class ModelsOfFolds(Folds):
    """The folds of an interval, which is of their models."""

    def scope(self, method: str) -> str:
        each = f", the mean over {self.repeats} repeats" if self.repeats > 1 else ""
        what = _what(method)
        models = f"This is the {what} of the {self.folds} models on new rows, each predicted by one at random{each}."
        return " ".join(sentence for sentence in (models, COVERED[method], REFITTED) if sentence)

    def bound(self, low: float, high: float, confidence_level: float, method: str) -> str:
        end = f"{settled(high):.4g}"
        bound = f"at most {end}" if low <= 0 else f"between {settled(low):.4g} and {end}"
        return f"With {level_text(confidence_level)} confidence the {_what(method)} is {bound}. {self.scope(method)}\n"


def _what(method: str) -> str:
    return "mean loss" if method == OF_MEAN else "error"


@dataclass(frozen=True, eq=False)
class FoldEnds:
    """The ends of the interval of an error by one repeat, before the gate of the low end.

    Attributes
    ----------
    estimate : float
        The measure of all rows.
    low, high : float
        The ends of the honest interval as if rows were fresh; `low` is 0 of errors in cells of several predictions.
    noise : float
        The quantile of the norm of the noise within folds.
    shifted : float
        The quantile of the norm of the sums with this noise added.
    """

    estimate: float
    low: float
    high: float
    noise: float
    shifted: float

    @classmethod
    def of(cls, folded: FoldedProblem, alpha: float, draws: Draws) -> FoldEnds:
        """Return the ends at a level of 1 - alpha.

        Statement and argument: docs/evidence/proofs/fold-ends.md.
        """
        ends = HonestEnds.of(folded.posed(), draws)
        order, fold, unit = folded.order
        interval, table = folded.problem.interval_on_rows(order, unit)
        of = interval.norm.value if interval.norm.one_pass is None else interval.norm.one_pass.of

        def norms(noise: np.ndarray) -> Any:
            return np.stack([of(noise), of(table.theta + noise)], axis=-1)

        noise, shifted = (upper_quantile(each, alpha / 2) for each in noise_within_folds(table, fold, norms, draws).T)
        # predictions that jump between cells with the rows left out add to the error of all rows, not to a model's
        low = ends.low(alpha) if interval.norm.cell is None else 0.0
        return cls(ends.interval.estimate, low, ends.high(alpha), noise, shifted)

    @property
    def triangle(self) -> float:
        """The high end for any learner; it is never below the mirror."""
        return max(self.high, self.estimate + self.noise)

    @property
    def mirror(self) -> float:
        """The high end for learners that correct at most fully."""
        return max(self.high, self.noise, self.shifted)


def noise_within_folds(table: RowTable, fold: np.ndarray, of: OfTheta, draws: Draws) -> np.ndarray:
    """Return ``of(G*)`` of all resamples, along the first axis: the sums of signed residuals, divided by n.

    Signs are of rows or clusters, and what they add is centred within each fold, numbered from 0; all rows of a cluster
    have the same.

    Statement and argument: docs/evidence/proofs/fold-ends.md.
    """
    column = table.cell, table.contribution / table.n
    return resampling.sums_of_fold_signs(column, table.cells, fold, table.units, of, draws)


def cross_validated_interval(
    data: Data, measure: Measure, method: str, confidence_level: float, draws: Draws
) -> ConfidenceInterval:
    """Return the interval of a measure of the models of cross-validation: the mean of the ends of all repeats."""
    folded = folded_problems(data, measure)
    problem, alpha = folded[0].problem, 1 - confidence_level
    if problem.is_mean:
        method = OF_MEAN
        estimate, low, high = _ends_of_mean(folded, alpha, draws)
    else:
        need_error_with_folds(problem, "interval")
        estimate, low, high = _ends_of_error(folded, method, alpha, draws)
    rarest, (smallest, largest) = problem.view.rarest(folded[0].unit), problem.measure.bounds
    return ConfidenceInterval(
        low=float(np.clip(low, smallest, largest)),
        high=float(np.clip(high, smallest, largest)),
        estimate=estimate,
        confidence_level=confidence_level,
        method=method,
        estimand=_estimand(folded),
        measure=problem.measure.named,
        lens=problem.lens,
        n=int(problem.n),
        n_resamples=draws.n,
        why_infinite=(problem.view.impossible() or problem.view.certain()) if np.isinf(high) else "",
        few_events=str(rarest) if rarest.count < FEW_EVENTS else "",
        rows=ModelsOfFolds(**rows_with_folds(folded)),
        **problem.view.annotations(),
    )


def _ends_of_error(
    folded: Sequence[FoldedProblem], method: str, alpha: float, draws: Draws
) -> tuple[float, float, float]:
    """Return the means over all repeats; the low end is 0 unless the test with folds rejects at half of alpha."""
    ends = [FoldEnds.of(each, alpha, of) for each, of in zip(folded, of_repeats(draws, len(folded)), strict=True)]
    estimate, low = (float(np.mean([getattr(each, name) for each in ends])) for name in ("estimate", "low"))
    high = float(np.mean([each.triangle if method == TRIANGLE else each.mirror for each in ends]))
    if low > 0 and merged([each.studied for each in p_values_of_repeats(folded, draws)]) > alpha / 2:
        low = 0.0
    return estimate, low, high


def _ends_of_mean(folded: Sequence[FoldedProblem], alpha: float, draws: Draws) -> tuple[float, float, float]:
    """Return the means over all repeats of score bounds by the variance within folds."""
    ends = []
    for each in folded:
        problem = each.problem
        if np.isinf(estimate := problem.in_order("confidence_interval").statistic()):
            return (np.inf,) * 3
        interval: Interval = each.posed().honest()
        if not interval.is_bounded:
            need_events(problem.view.rarest(each.unit), problem.title)
        assert isinstance(interval, OfMean)
        variance = variance_within(problem.losses().loss, each.fold, each.unit) * interval.n
        interval = interval.with_moments(variance, interval.third)
        ends.append((estimate, interval.low(alpha / 2), interval.high(alpha / 2)))
    return tuple(map(float, np.mean(ends, axis=0)))  # type: ignore[return-value]


def variance_within(number: np.ndarray, fold: np.ndarray, unit: np.ndarray | None = None) -> float:
    """Return n times the variance of the mean of a number of each row, by the variance of units within folds.

    `unit` numbers the cluster of each row from 0; None if rows are units, for which it is the mean over rows of the
    unbiased variance in the fold of each row.
    """
    unit = np.arange(number.size) if unit is None else unit
    rows, factor = centring(fold, unit)
    centred = np.bincount(unit, number - (np.bincount(fold, number) / rows)[fold])
    of_unit = fold[np.unique(unit, return_index=True)[1]]
    return float((np.bincount(of_unit, centred**2) * factor).sum() / number.size)


def _estimand(folded: Sequence[FoldedProblem]) -> str:
    """Say in one sentence what the interval is for."""
    problem, repeats = folded[0].problem, len(folded)
    each = f", the mean over {repeats} repeats," if repeats > 1 else ""
    beyond = AT_LEAST_THIS if problem.is_coarse else ""
    return (
        f"{in_prose(problem.measure)}{each} where a model drawn at random from the {folded[0].n_folds} of "
        f"cross-validation predicts each new row, in the population these {folded[0].sampled} are an independent "
        f"sample of{problem.measure.condition}{beyond}."
    )
