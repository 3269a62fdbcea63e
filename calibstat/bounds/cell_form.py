"""Linear forms of sums of absolute residuals over cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from calibstat.bounds.folded_bounds import AbsoluteSums, are_folded, high_over_signs, largest_bias
from calibstat.bounds.linear_form import LinearForm, RowForm, Rows, upper_quantile
from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.score_bound import ScoreBound
from calibstat.data.cell_sums import cell_sums
from calibstat.data.sample import Sample

MANY_CELLS = 100  # with more cells than this
ROWS_IN_A_CELL = 3  # so many rows a cell are needed, or the interval of an L1 error says next to nothing
FEW_ROWS = 30  # below it a bin's observed variance is not trusted alone
NEAR = 4.0  # standard errors up to which the error of a cell may be 0; larger, the wider low ends are for nothing
STRICTER = 5.0  # so many times less likely than the tail is it that cells without error are taken for cells with one


class TooFewRowsInCells(ValueError):
    """An L1 error over many cells of few rows, of which no honest interval is known."""


def _absolute_sum(theta: np.ndarray) -> np.ndarray:
    return np.abs(theta).sum(axis=-1)


class AbsoluteForm(LinearForm):
    """A sum of absolute residuals over cells, whose low end has a bound on the bias.

    The bound is short where many cells have no error, because half of them look as if they had one. If all cells are
    like that, the exact test of calibration makes the low end 0. If others are clearly off, and most of the noise is in
    cells that may have no error, then what these add to the estimate is taken for noise, unless it is too much for it.
    """

    gap_spread: np.ndarray  # the standard error of the residual / n of each cell, shape (n_cells,)

    @cached_property
    def near(self) -> np.ndarray:
        """Mask of the cells that may have no error, beside others; none if all may, or their noise is the smaller.

        Statement and argument: docs/proofs.md, section 4.
        """
        near = np.abs(self.theta) < NEAR * self.gap_spread
        noise = self.gap_spread**2
        beside = self.theta[~near].round(12).any() and noise[near].sum() >= noise[~near].sum()
        return near & beside

    def moves(self, theta: np.ndarray) -> Any:
        """Return the directional bootstrap, that of the cells that are not near 0, and the norm of G* in the others."""
        step, far = theta - self.theta, ~self.near
        moved = (
            _absolute_sum(self.theta[far] + self.step * step[..., far]) - _absolute_sum(self.theta[far])
        ) / self.step
        return np.stack([self.directional(step), moved, _absolute_sum(step[..., self.near])], axis=-1)

    def reach(self, drawn: np.ndarray, tail: float) -> float:
        directional, moved, noise = drawn.T
        found = upper_quantile(directional + self.missing_bias(directional), tail)
        observed = _absolute_sum(self.theta[self.near])
        if not self.near.any() or observed > upper_quantile(noise, tail / STRICTER):
            return found
        return max(found, upper_quantile(noise + moved + self.missing_bias(moved, ~self.near), tail))

    def missing_bias(self, directional: np.ndarray, cells: Any = slice(None)) -> float:
        bias = largest_bias(np.abs(self.theta[cells]), self.gap_spread[cells])
        return bias - float(directional.mean())


@dataclass(frozen=True, eq=False, kw_only=True)
class CellForm(AbsoluteForm):
    """The same over cells of a sample; its high end inverts the spread, and `title` names the measure."""

    gap_spread: np.ndarray
    full_cells: int
    title: str

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        need_rows_in_cells(self.title, int(self.moments.n), self.full_cells)
        return super().low(draw, tail)


def of_cells(title: str, cell: np.ndarray, sample: Sample) -> CellForm:
    """Return the form over these cells of the distinct predictions."""
    count, residual, _ = cell_sums(cell, *sample.arrays)
    moments, n = SeparableMoments.of_sample(sample, cell), sample.n
    model = np.bincount(cell, sample.count * sample.value * (1 - sample.value), count.size)
    variance = np.where(count < FEW_ROWS, np.maximum(moments.variances(), model), moments.variances())
    return CellForm(
        estimate=float(_absolute_sum(residual)),
        theta=residual,
        norm=_absolute_sum,
        witness=np.sign,
        step=1.0,
        moments=moments,
        highest=highest_of_cells,
        cell=cell,
        gap_spread=np.sqrt(np.maximum(variance, 0.0)) / n,
        full_cells=int(np.count_nonzero(count)),
        title=title,
    )


def highest_of_cells(moments: Moments, score: ScoreBound) -> float:
    """Return the largest sum of absolute means that the observed sum allows.

    The sums of cells are not correlated, but for their sum.
    """
    assert isinstance(moments, SeparableMoments)
    variance = moments.variances()  # a larger one, as of a calibrated model, would take more of the estimate for bias
    folded = are_folded(variance / moments.largest_square, moments.square / moments.largest_square)
    _, along, third = moments.of(np.sign(moments.total))
    sums = AbsoluteSums(moments.total, np.where(folded, variance, moments.square), folded)
    return sums.high(score, float(score.rate(max(along, 0.0), third)))


@dataclass(frozen=True, eq=False, kw_only=True)
class CellRowForm(AbsoluteForm, RowForm):
    """The same row by row. `model` is the variance of the sums if calibrated, 0 in cells of many rows."""

    model: np.ndarray

    def in_units(self, unit: np.ndarray) -> Self:
        return replace(super().in_units(unit), highest=high_over_signs)  # few clusters are not nearly normal

    @cached_property
    def gap_spread(self) -> np.ndarray:  # type: ignore[override]
        return np.sqrt(np.maximum(np.maximum(self.moments.variances(), self.model), 0.0)) / self.n

    def missing_bias(self, directional: np.ndarray, cells: Any = slice(None)) -> float:
        """Return the bias of absolute values that resamples miss: the more cells, the more."""
        return max(super().missing_bias(directional, cells), 0.0)


def rows_of_cells(title: str, cell: np.ndarray, rows: Rows) -> CellRowForm:
    """Return the form row by row: each row adds its residual in its cell."""
    p, residual = rows.prediction, rows.outcome - rows.prediction
    weight = np.ones(p.size) if rows.weight is None else rows.weight
    square = np.bincount(cell, weight**2)
    effective = np.divide(np.bincount(cell, weight) ** 2, square, out=np.zeros_like(square), where=square > 0)
    need_rows_in_cells(title, int(weight.sum()), np.unique(cell).size)
    moments = SeparableMoments.of_rows(cell, residual, square.size, rows.weight)
    theta = moments.total / moments.n
    model = np.where(effective < FEW_ROWS, np.bincount(cell, weight**2 * p * (1 - p)), 0.0)
    return CellRowForm(
        estimate=float(_absolute_sum(theta)),
        theta=theta,
        norm=_absolute_sum,
        witness=lambda theta: np.sign(theta.round(12)),
        step=1.0,
        moments=moments,
        highest=highest_of_cells,
        cell=cell,
        residual=residual,
        prediction=p,
        weight=rows.weight,
        model=model,
    )


def need_rows_in_cells(title: str, n: int, cells: int) -> None:
    """Raise if there are many cells of few rows, whose absolute residuals are not nearly folded normal.

    The gap of a cell of one row is |y - v|, however small the error of the cell is.
    """
    if cells > MANY_CELLS and n < ROWS_IN_A_CELL * cells:
        raise TooFewRowsInCells(
            f"no honest interval is known for {title} where most rows are alone in their cell: expected at least "
            f"{ROWS_IN_A_CELL} rows a cell on average in more than {MANY_CELLS} cells, found {n} rows in {cells}"
        )
