"""The largest gain by acting at another threshold as a norm of sums, which are the shares of rows by outcome.

A row adds 1 / n in the cell of its prediction and outcome. The gain of one move is a weighted sum over these cells, y -
t on the rows of an interval, so that the largest gain is the largest sum with weights that do not depend on the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat import resampling
from calibstat.bounds.decision_bounds import bound_by_slopes, bound_of_pairs, bound_of_units
from calibstat.bounds.decision_gains import Move, largest_signed_gain
from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.norms import Norm
from calibstat.bounds.residual_tables import LabelledRows, OfTheta, RowTable, SummaryTable, Table
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.sample import Sample
from calibstat.resampling import Draws, Pairs, Stream

OUTCOME_CELLS = 2  # cells of each prediction
ALL_PAIRS = 2000  # predictions, up to which all pairs of ends are looked at
PAIR_BUDGET = 2e8  # pairs of predictions times clusters, up to which they are: a second or less


def cells_of_outcomes(place: np.ndarray, outcome: np.ndarray) -> np.ndarray:
    """Return the cell of each row, given the place of its prediction and its outcome."""
    return OUTCOME_CELLS * place + outcome.astype(np.int64)


def sums_by_outcome(count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the sums in cells, given sums over all rows, and over rows with outcome 1, at each prediction."""
    return np.stack([count - positives, positives], axis=-1).reshape(*count.shape[:-1], -1)


@dataclass(frozen=True, eq=False)
class OutcomeTable(RowTable):
    """Of rows one by one, each of which adds its weight, or 1, in the cell of its prediction and outcome."""

    @cached_property
    def contribution(self) -> np.ndarray:
        return np.ones(self.n_rows) if self.sample_weight is None else self.sample_weight

    @cached_property
    def moments(self) -> Moments:
        if self.unit is None:
            return SeparableMoments.of_rows(self.cell, np.ones(self.n_rows), self.cells, self.sample_weight)
        return super().moments

    @cached_property
    def residuals(self) -> RowTable:
        return RowTable(
            cell=self.cell // OUTCOME_CELLS,
            residual=self.residual,
            prediction=self.prediction,
            cells=self.cells // OUTCOME_CELLS,
            sample_weight=self.sample_weight,
            unit=self.unit,
        )

    def of_residuals(self, theta: np.ndarray) -> np.ndarray:
        at, cells = self.residuals.cell, self.residuals.cells
        count = np.bincount(at, self.contribution, cells) / self.n
        expected = np.bincount(at, self.contribution * self.prediction, cells) / self.n
        return sums_by_outcome(np.broadcast_to(count, theta.shape), theta + expected)


class OutcomeSummary(SummaryTable):
    """Of a summary, whose rows add in the cell of their prediction and outcome."""

    moved = Table.moved

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        n = self._sample.n
        return resampling.draw(
            self._sample, Pairs(), lambda _, *counts: of(sums_by_outcome(*counts) / n), draws, stream
        )


def summary_by_outcome(sample: Sample) -> OutcomeSummary:
    """Return the table of a summary, of rows with weights too."""
    kept = sample.weighted
    if kept is None:
        kinds = sums_by_outcome(sample.count, sample.positives)
        moments = SeparableMoments.of_powers(kinds, kinds, kinds, float(sample.n))
    else:
        cell, cells = cells_of_outcomes(kept.cell, kept.outcome), OUTCOME_CELLS * sample.value.size
        moments = SeparableMoments.of_rows(cell, np.ones(cell.size), cells, kept.weight)
    return OutcomeSummary(moments.total / moments.n, moments, sample=sample)


@dataclass(frozen=True, eq=False)
class DecisionNorm(Norm):
    """The largest gain, of shares of rows at each prediction with outcome 0, and then with outcome 1."""

    prediction: np.ndarray
    step = 3.0
    of_outcomes = True

    def table_of_rows(self, rows: LabelledRows, sample: Sample, unit: np.ndarray | None) -> RowTable:
        return OutcomeTable(
            cell=cells_of_outcomes(np.searchsorted(sample.value, rows.prediction), rows.outcome),
            residual=rows.outcome - rows.prediction,
            prediction=rows.prediction,
            cells=OUTCOME_CELLS * sample.value.size,
            sample_weight=rows.sample_weight,
            unit=unit,
        )

    def sums_of(
        self, place: np.ndarray, places: int, outcome: np.ndarray, prediction: np.ndarray, weight: np.ndarray | None
    ) -> np.ndarray:
        weight = np.ones(place.size) if weight is None else weight
        return np.bincount(cells_of_outcomes(place, outcome), weight, OUTCOME_CELLS * places) / weight.sum()

    def move(self, theta: np.ndarray) -> Move:
        """Return the move with the largest gain."""
        negatives, positives = theta.reshape(-1, 2).T.copy()
        return largest_signed_gain(self.prediction, negatives, positives)

    def value(self, theta: np.ndarray) -> np.ndarray:
        gains = np.array([self.move(one).gain for one in theta.reshape(-1, theta.shape[-1])])
        return gains.reshape(theta.shape[:-1])

    def witness(self, theta: np.ndarray) -> np.ndarray:
        """Return what a row adds to the largest gain, in each cell."""
        move = self.move(theta)
        weights = np.zeros((self.prediction.size, 2))
        weights[move.first : move.last] = move.weights
        return weights.ravel()

    def upper_bound(self, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound of the gain of any fixed move.

        Statement and argument: docs/evidence/proofs/decision-loss.md.
        """
        separable = moments.separable
        if separable is not None and self.prediction.size <= ALL_PAIRS:
            return bound_of_pairs(self.prediction, separable, tail_bound)
        if separable is None and self.prediction.size**2 * moments.numbers_per_sum <= PAIR_BUDGET:
            return bound_of_units(self.prediction, moments, tail_bound)
        return bound_by_slopes(self.prediction, moments, tail_bound)
