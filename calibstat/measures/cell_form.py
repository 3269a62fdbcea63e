"""Linear forms of sums of absolute residuals over cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from calibstat.data.sample import Sample
from calibstat.measures.absolute_sums import AbsoluteSums, are_folded, high_over_signs, largest_bias
from calibstat.measures.cell_sums import cell_sums
from calibstat.measures.linear_form import LinearForm, RowForm, Rows, noise_of_rows
from calibstat.measures.noise import Noise, RowNoise
from calibstat.measures.score_bound import Score

MANY_CELLS = 100  # with more cells than this
ROWS_IN_A_CELL = 3  # so many rows a cell are needed, or the interval of an L1 error says next to nothing
FEW_ROWS = 30  # below it a bin's observed variance is not trusted alone


class TooFewRowsInCells(ValueError):
    """An L1 error over many cells of few rows, of which no honest interval is known."""


def _absolute_sum(theta: np.ndarray) -> np.ndarray:
    return np.abs(theta).sum(axis=-1)


@dataclass(frozen=True, eq=False, kw_only=True)
class CellForm(LinearForm):
    """A sum of absolute residuals over cells: low end by a bound on the bias, high end by inversion of the spread.

    `gap_spread` holds the standard error of the residual of each cell, and `title` names the measure.
    """

    gap_spread: np.ndarray
    full_cells: int
    title: str

    def missing_bias(self, directional: np.ndarray) -> float:
        return largest_bias(np.abs(self.theta), self.gap_spread) - float(directional.mean())

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        need_rows_in_cells(self.title, int(self.noise.n), self.full_cells)
        return super().low(draw, tail)


def of_cells(title: str, cell: np.ndarray, sample: Sample) -> CellForm:
    """Return the form over these cells of the distinct predictions."""
    count, residual, _ = cell_sums(cell, *sample.arrays)
    noise, n = RowNoise.of_sample(sample, cell), sample.n
    model = np.bincount(cell, sample.count * sample.value * (1 - sample.value), count.size)
    variance = np.where(count < FEW_ROWS, np.maximum(noise.variances(), model), noise.variances())
    return CellForm(
        estimate=float(_absolute_sum(residual)),
        theta=residual,
        norm=_absolute_sum,
        witness=np.sign,
        step=1.0,
        noise=noise,
        highest=highest_of_cells,
        cell=cell,
        gap_spread=np.sqrt(np.maximum(variance, 0.0)) / n,
        full_cells=int(np.count_nonzero(count)),
        title=title,
    )


def highest_of_cells(noise: Noise, score: Score) -> float:
    """Return the largest sum of absolute means that the observed sum allows.

    The sums of cells are not correlated, but for their sum.
    """
    assert isinstance(noise, RowNoise)
    variance = noise.variances()  # a larger one, as of a calibrated model, would take more of the estimate for bias
    folded = are_folded(variance / noise.largest_square, noise.second / noise.largest_square)
    _, along, third = noise.moments(np.sign(noise.first))
    sums = AbsoluteSums(noise.first, np.where(folded, variance, noise.second), folded)
    return sums.high(score, float(score.rate(max(along, 0.0), third)))


@dataclass(frozen=True, eq=False, kw_only=True)
class CellRowForm(RowForm):
    """The same row by row. `model` is the variance of the sums if calibrated, 0 in cells of many rows."""

    model: np.ndarray

    def in_units(self, unit: np.ndarray) -> Self:
        return replace(super().in_units(unit), highest=high_over_signs)  # few clusters are not nearly normal

    def missing_bias(self, directional: np.ndarray) -> float:
        """Return the bias of absolute values that resamples miss: the more cells, the more."""
        spread = np.sqrt(np.maximum(np.maximum(self.noise.variances(), self.model), 0.0)) / self.n
        return max(largest_bias(np.abs(self.theta), spread) - float(directional.mean()), 0.0)


def rows_of_cells(title: str, cell: np.ndarray, rows: Rows) -> CellRowForm:
    """Return the form row by row: each row adds its residual in its cell."""
    p, residual = rows.prediction, rows.outcome - rows.prediction
    weight = np.ones(p.size) if rows.weight is None else rows.weight
    square = np.bincount(cell, weight**2)
    effective = np.divide(np.bincount(cell, weight) ** 2, square, out=np.zeros_like(square), where=square > 0)
    need_rows_in_cells(title, int(weight.sum()), np.unique(cell).size)
    noise = noise_of_rows(cell, residual, rows.weight, square.size)
    theta = noise.first / noise.n
    model = np.where(effective < FEW_ROWS, np.bincount(cell, weight**2 * p * (1 - p)), 0.0)
    return CellRowForm(
        estimate=float(_absolute_sum(theta)),
        theta=theta,
        norm=_absolute_sum,
        witness=lambda theta: np.sign(theta.round(12)),
        step=1.0,
        noise=noise,
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
