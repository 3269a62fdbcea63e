"""Several models on the same rows, which were counted: compared by squares or by mean losses, without draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, RowLosses, of_counted_losses
from calibstat.bounds.square_bound import SquareBound, bound_of_sample
from calibstat.data.checked_rows import Models, named
from calibstat.data.engines.counted_rows import CountedRows
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.inference.comparing.differences import ComparedModels, Pairs, Way
from calibstat.inference.comparing.ends import ByEnds
from calibstat.inference.comparing.mean_difference import row_differences
from calibstat.inference.comparing.squares import BySquares
from calibstat.inference.designs.several_models import HowToCompare, SeveralModels, in_same_order, posed
from calibstat.inference.rows_of_results import Rows
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws

QUADRATIC = "brier"  # the loss of which it is known how little cells change it
FROM_CELLS = ("kernel_ce_squared", QUADRATIC)
INSTEAD = "give the rows themselves, or a random part of them"


@dataclass(frozen=True, eq=False)
class Counted(SeveralModels):
    """Models on the same rows, which were counted: rows of a kind have the same outcome and predictions."""

    counted: CountedRows
    one_way = "expected method 'bootstrap' for counted rows, found {}, which draws rows; " + INSTEAD

    def pose(self, measure: Measure, draws: Draws) -> ComparedModels:
        kinds = Models(self.counted.label, self.counted.value)
        return ComparedModels(self.names, [*named(lambda data: posed(data, measure), kinds).values()], draws)

    def way(self, compared: ComparedModels, method: str) -> Way:
        first, n_cells = compared.first, self.counted.n_cells
        if n_cells and first.is_mean and first.measure.name != QUADRATIC:
            raise ValueError(
                f"expected {QUADRATIC} or the default measure for rows counted in {n_cells:,} cells, found "
                f"{first.measure}, which may change much where predictions near 0 or 1 move a little; round "
                f"predictions, so that fewer are different, or {INSTEAD}"
            )
        if first.is_mean:
            return ByCountedLosses.of(compared, self.counted.count)
        if first.laplace_bandwidth is None or first.compares:
            raise ValueError(
                f"expected the default measure, brier or log_loss for counted rows, found {first.measure}, whose "
                f"comparison draws rows; {INSTEAD}"
            )
        squares = BySquares.of(compared, count=self.counted.count)
        return SquaresOfCells(compared, squares.kinds, samples=self.counted.samples) if n_cells else squares

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        return Rows(n[0])

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        if not self.counted.n_cells:
            return ""
        off = _off_by_losses if compared.first.is_mean else _off_by_squares
        return _note(self.counted, off(compared, how.pairs, self.counted))

    def same_order(self, compared: ComparedModels, a: int, b: int) -> bool:
        return not self.counted.n_cells and in_same_order(compared, a, b)


@dataclass(frozen=True, eq=False)
class SquaresOfCells(BySquares):
    """Differences of squared errors: how they vary is known from the kinds, the errors from the cells of each model."""

    samples: Mapping[str, Sample] = field(kw_only=True)

    def alone(self) -> list[SquareBound]:
        return [bound_of_sample(self.samples[name], self.bandwidth) for name in self.compared.names]

    def between(self, a: int, b: int, alone: Sequence[SquareBound]) -> SquareBound:
        return replace(super().between(a, b, alone), estimate=alone[a].estimate - alone[b].estimate)


@dataclass(frozen=True, eq=False)
class CountedLosses:
    """The losses of kinds of rows of a model."""

    losses: RowLosses
    count: np.ndarray

    @property
    def estimate(self) -> float:
        """The mean over the rows."""
        return float(self.losses.loss @ self.count / self.n_rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.count.sum())


@dataclass(frozen=True, eq=False)
class ByCountedLosses(ByEnds):
    """Differences of mean losses, each as the mean of the differences of the rows."""

    posed: Sequence[CountedLosses]

    @classmethod
    def of(cls, compared: ComparedModels, count: np.ndarray) -> Self:
        """Take the losses of the kinds of each model, of which there are so many rows."""
        return cls([CountedLosses(problem.losses(), count) for problem in compared.problems])

    def upper(self, pairs: Pairs, tail: float) -> Sequence[MeanInterval]:
        return [self._upper(self.posed[a], self.posed[b]) for a, b in pairs]

    def _upper(self, one: CountedLosses, other: CountedLosses) -> MeanInterval:
        each = row_differences(one.losses, other.losses, same_outcomes=True)
        return of_counted_losses(each.title, each.loss, one.count, each.possible, each.bounds)


# --- what cells change -----------------------------------------------------------------------------------------------


def _off_by_squares(compared: ComparedModels, pairs: Pairs, counted: CountedRows) -> float:
    """Return the most by which a difference of squared errors is off.

    If predictions move by at most d, the mean over pairs of r r' k changes by at most 2 d R (1 + R / h), where R bounds
    the mean absolute residual on the way: the derivative of r f is -f + r f', and |f| <= R and |f'| <= R / h.
    """
    bandwidth = compared.first.laplace_bandwidth
    assert bandwidth is not None
    change = [_moved_square(counted.samples[name], bandwidth) for name in compared.names]
    return max(change[a] + change[b] for a, b in pairs)


def _moved_square(sample: Sample, bandwidth: float) -> float:
    value, count, positives = sample.arrays
    n = count.sum()
    residual = (positives @ (1 - value) + (count - positives) @ value) / n + sample.moved
    return float(2 * sample.moved * residual * (1 + residual / bandwidth) * n / (n - 1))


def _off_by_losses(compared: ComparedModels, pairs: Pairs, counted: CountedRows) -> float:
    """Return the most by which a difference of Brier scores is off: the squares of rows of a kind about their mean."""
    return max(counted.spread[compared.names[m]] for pair in pairs for m in pair)


def _note(counted: CountedRows, off: float) -> str:
    return (
        f"Rows were counted in {counted.count.size:,} kinds, by the outcome and the cell of each prediction, of width "
        f"1/{counted.n_cells:,}. The difference is off by at most {settled(off):.1e}. How much it varies, from "
        "which the ends "
        "of the interval and p are computed, is approximate: for it predictions moved by at most "
        f"{settled(counted.moved):.1e}."
    )
