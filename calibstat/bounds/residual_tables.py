"""Tables of residuals: which unit adds how much in which cell, their sums, how these vary, and resamples of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from calibstat import resampling
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.square_bound import SquareBound
from calibstat.bounds.tail_bound import TailBound, share_of_whole_cluster
from calibstat.bounds.unit_sums import ClassSums, ClusterSums
from calibstat.data.cell_sums import cell_sums
from calibstat.data.clusters import ROWS_ALONE, WHOLE
from calibstat.data.sample import Sample
from calibstat.inner_product import inner
from calibstat.resampling import CellSums, Column, Draws, OnePass, Pairs, Stream, UnitCounts

FEW_ROWS = 30  # below it a cell's observed variance is not trusted alone
ROW_BLOCK = 4096  # so that no array of all rows and classes is made

SUM_BYTES = 2**20  # of the sums of some resamples, which stay in the second-level cache
FEW_COLUMNS, COLUMN_BYTES = 4, 2**23  # columns, or bytes, up to which columns are kept; else they are made again

Order = np.ndarray | slice  # in which rows are put before they are summed
OfTheta = Callable[[np.ndarray], Any]  # of sums over the last axis


class LabelledRows(NamedTuple):
    """Outcomes 0 and 1 and predictions of rows, and their weights if they have any, each of shape (n,)."""

    outcome: np.ndarray
    prediction: np.ndarray
    sample_weight: np.ndarray | None = None

    def take(self, order: Order) -> LabelledRows:
        """Return the rows in this order."""
        weight = None if self.sample_weight is None else self.sample_weight[order]
        return LabelledRows(self.outcome[order], self.prediction[order], weight)


class Table:
    """Contributions of units in cells.

    Attributes
    ----------
    n : float
        The number of rows, or the sum of their weights.
    theta : ndarray, shape (cells,)
        The sums of the contributions in cells, divided by n.
    moments : Moments
        The moments of weighted sums of the cells.
    units_are_rows : bool
        Whether each unit is one row, and not a cluster.
    is_summary : bool
        Whether the sums are of counts. Of these the bias of absolute sums that draws miss may be negative; of rows it
        counts as at least 0.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def n(self) -> float: ...
        @property
        def theta(self) -> np.ndarray: ...
        @property
        def moments(self) -> Moments: ...
        @property
        def units_are_rows(self) -> bool: ...

    is_summary: bool = False

    @property
    def spread(self) -> np.ndarray:
        """The standard error of theta of each cell, for the bias of absolute sums, shape (cells,)."""
        raise NotImplementedError

    @property
    def full_cells(self) -> int:
        """The number of cells that hold rows."""
        raise NotImplementedError

    def tail_bound(self, tail: float, largest_unit: Callable[[], float] | None = None) -> TailBound:
        """Return the upper bound of a sum with weights in [-1, 1] that is exceeded with probability `tail`.

        ``largest_unit()`` is the most that an observed cluster adds to such a sum, if it is known.
        """
        return self.moments.tail_bound(tail)

    def square_bound(self, value: np.ndarray, bandwidth: float) -> Callable[[], SquareBound] | None:
        """Return a function that returns the bound of the squared Laplace norm at these predictions, if one is known.

        Of rows without weights it is made of their counts; of rows with weights and clusters none is used.
        """
        return None

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        """Return ``of(theta)`` of every resample of the units, drawn with replacement, along the first axis."""
        raise NotImplementedError

    def moved(
        self, norm: OfTheta, one_pass: OnePass | None, origin: np.ndarray, step: float, draws: Draws
    ) -> np.ndarray:
        """Return the norm of origin + step * (theta - origin) of every resample; `one_pass` is the same norm."""
        return self.resampled(lambda theta: norm(origin + step * (theta - origin)), draws)

    def in_one_pass(self, statistic: OnePass, draws: Draws) -> np.ndarray:
        """Return a statistic in one pass over the sums at distinct predictions, of every resample."""
        return self.resampled(statistic.of, draws)


@dataclass(frozen=True, eq=False)
class SummaryTable(Table):
    """Of rows without weights, from their counts.

    Attributes
    ----------
    theta : ndarray, shape (cells,)
        The sums of the residuals divided by n.
    moments : SeparableMoments
        Their moments.
    count, model : ndarray, shape (cells,), or None
        The rows of cells, and the variances of their sums if calibrated; None where distinct predictions are cells.
    sample : Sample or None
        The summary, whose rows are drawn; None where others draw them.
    cell : ndarray, shape (predictions,), or None
        The cell of each distinct prediction; None if each is one.
    """

    is_summary = True
    units_are_rows = True
    theta: np.ndarray
    moments: SeparableMoments
    count: np.ndarray | None = None
    model: np.ndarray | None = None
    sample: Sample | None = None
    cell: np.ndarray | None = None

    @classmethod
    def of_sample(cls, sample: Sample, cell: np.ndarray | None = None) -> Self:
        """Return the table of a summary; `cell` holds the cell of each distinct prediction, None if each is one."""
        moments = SeparableMoments.of_sample(sample, cell)
        if cell is None:
            return cls(sample.residual, moments, sample=sample)
        count, residual, _ = cell_sums(cell, *sample.arrays)
        model = np.bincount(cell, sample.count * sample.value * (1 - sample.value), count.size)
        return cls(residual, moments, count, model, sample, cell)

    def without_sample(self) -> Self:
        """Return the table without what it draws rows from."""
        return replace(self, sample=None)

    @cached_property
    def n(self) -> float:
        return self.moments.n

    @cached_property
    def spread(self) -> np.ndarray:
        assert self.count is not None
        assert self.model is not None
        observed = self.moments.variances()
        variance = np.where(self.count < FEW_ROWS, np.maximum(observed, self.model), observed)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) / self.n)

    @property
    def full_cells(self) -> int:
        assert self.count is not None
        return int(np.count_nonzero(self.count))

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        if self.cell is not None:
            cells = CellSums(self._sample, self.cell)
            return resampling.draw(cells, Pairs(), lambda _, residual, __: of(residual), draws, stream)
        return resampling.residuals_of_pairs(self._sample, self._zeros, 1.0, of, draws, stream)

    def moved(
        self, norm: OfTheta, one_pass: OnePass | None, origin: np.ndarray, step: float, draws: Draws
    ) -> np.ndarray:
        if self.cell is not None:
            return super().moved(norm, one_pass, origin, step, draws)
        start = (1 - step) * origin
        if one_pass is not None:
            return resampling.pairs_in_one_pass(self._sample, start, step, one_pass, draws, Stream.ROWS)
        return resampling.residuals_of_pairs(self._sample, start, step, norm, draws, Stream.ROWS)

    def in_one_pass(self, statistic: OnePass, draws: Draws) -> np.ndarray:
        return resampling.pairs_in_one_pass(self._sample, self._zeros, 1.0, statistic, draws, Stream.ROWS)

    @property
    def _sample(self) -> Sample:
        assert self.sample is not None
        return self.sample

    @property
    def _zeros(self) -> np.ndarray:
        return np.zeros(self._sample.value.size)


class TableOfRows(Table, ABC):
    """Of rows one by one, which are drawn one by one or, if they have a `unit`, in whole clusters.

    A kind of rows defines `n_rows`, `cells`, `columns` and `column`; where units are drawn otherwise than row by row,
    also `unit`. Its moments treat each unit as adding in several cells.

    Attributes
    ----------
    cells : int
        Number of cells.
    sample_weight : ndarray, shape (n_rows,), or None
        The weights of the rows, which their contributions have been multiplied by.
    unit : ndarray, shape (n_rows,), or None
        The number of the cluster of each row from 0; None if each row is a cluster by itself.
    """

    if TYPE_CHECKING:  # each is a field or a property of subclasses

        @property
        def cells(self) -> int: ...
        @property
        def sample_weight(self) -> np.ndarray | None: ...
        @property
        def unit(self) -> np.ndarray | None: ...

    else:
        sample_weight = unit = None
        units_are_rows = False

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def columns(self) -> int:
        """In how many cells a row adds."""

    @abstractmethod
    def column(self, k: int) -> Column:
        """Return the k-th cell of each row, and what the row adds there, both of shape (n_rows,)."""

    def prediction_of(self, k: int) -> np.ndarray:
        """Return the prediction of each row for its k-th cell, shape (n_rows,); 0 if rows are of one kind."""
        return np.zeros(self.n_rows)

    @cached_property
    def units(self) -> np.ndarray:
        """The number of the cluster of each row, or of the row, shape (n_rows,)."""
        return np.arange(self.n_rows) if self.unit is None else self.unit

    @cached_property
    def size(self) -> np.ndarray:
        """The number of rows of each unit, or the sum of their weights, shape (units,)."""
        return np.bincount(self.units, self.sample_weight).astype(np.float64)

    @cached_property
    def n(self) -> float:
        return float(self.size.sum())

    @cached_property
    def moments(self) -> Moments:
        cell, contribution = (np.concatenate(part) for part in zip(*map(self.column, range(self.columns)), strict=True))
        weight = np.ones(self.n_rows) if self.sample_weight is None else self.sample_weight
        shared = np.tile(weight / self.columns, self.columns)  # so that a row counts once, however many cells it has
        unit, prediction = (
            np.tile(self.units, self.columns),
            np.concatenate([self.prediction_of(k) for k in range(self.columns)]),
        )
        return JointMoments(ClusterSums(cell, contribution, unit, self.cells, shared, prediction))

    @cached_property
    def theta(self) -> np.ndarray:
        return self.moments.total / self.n

    def by_row(self, weights: np.ndarray) -> np.ndarray:
        """Return what each row adds to the sum with these weights of the cells, shape (n_rows,)."""
        total = np.zeros(self.n_rows)
        for cell, contribution in map(self.column, range(self.columns)):
            total += weights[cell] * contribution
        return total

    def by_unit(self, weights: np.ndarray) -> np.ndarray:
        """Return what each unit adds to the sum with these weights, less what its number of rows lets expect."""
        return np.bincount(self.units, self.by_row(weights)) - self.size * inner(self.theta, weights)

    def at_cells(self, share: np.ndarray) -> np.ndarray:
        """Return the cells' mean products of the contributions with numbers of the units, centred likewise."""
        return (self.summed(share[self.units]) - self.theta * inner(self.size, share)) / self.n

    def summed(self, times: np.ndarray) -> np.ndarray:
        """Return the sums in cells of contributions times a number of each row, shape (cells,)."""
        total = np.zeros(self.cells)
        for cell, contribution in map(self.column, range(self.columns)):
            total += np.bincount(cell, contribution * times, self.cells)
        return total

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        return of_same_draws([self], [of], UnitCounts(self.size.size, draws, stream))[1][0]

    def signed(self, of: OfTheta, draws: Draws) -> np.ndarray:
        """Return ``of(theta)`` where what a unit adds keeps or changes its sign, all of it together.

        If calibrated, the residuals of every cluster have mean zero given the predictions. Where few clusters share a
        cell this says more of their spread than drawing clusters does.
        """
        columns = [self.column(k) for k in range(self.columns)]
        return resampling.sums_of_signs(
            columns, self.theta.size, self.units, lambda total: of(total / self.n), draws, Stream.SIGNS
        )

    def sizes(self, counts: np.ndarray) -> np.ndarray:
        """Return the number of rows of resamples, or the sum of their weights, from counts of their units."""
        if self.unit is None and self.sample_weight is None:
            return np.full(len(counts), self.n)
        return resampling.products_of_counts(counts, self.size[None])[:, 0]

    def kept_columns(self) -> Callable[[], Iterable[Column]]:
        """Return a function that returns all columns, made again each time if they are too many to be kept."""
        if self.columns > FEW_COLUMNS and 16 * self.columns * self.n_rows > COLUMN_BYTES:
            return lambda: map(self.column, range(self.columns))
        kept = [self.column(k) for k in range(self.columns)]
        return lambda: kept

    def thetas(
        self, columns: Callable[[], Iterable[Column]], counts: np.ndarray, size: np.ndarray
    ) -> Iterator[np.ndarray]:
        """Yield theta of some resamples after the other, of shape (resamples, cells), from counts of their units."""
        some = max(SUM_BYTES // (8 * self.theta.size), 1)
        for first in range(0, len(counts), some):
            part = slice(first, first + some)
            times = counts[part] if self.unit is None else counts[part, self.unit]
            yield resampling.sums_of_counts(times, columns(), self.theta.size) / size[part, None]


def of_same_draws(
    tables: Sequence[TableOfRows], of: Sequence[OfTheta], counts: UnitCounts
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the size of each resample, and of each table its function of its sums, of all resamples.

    The tables have the same units and weights. A size is the number of the drawn rows, or the sum of their weights.
    """
    parts = [(table, table.kept_columns(), function) for table, function in zip(tables, of, strict=True)]

    def of_block(counts: np.ndarray) -> list[np.ndarray]:
        size = tables[0].sizes(counts)
        values = ([f(theta) for theta in table.thetas(columns, counts, size)] for table, columns, f in parts)
        return [size, *map(np.concatenate, values)]

    size, *values = (np.concatenate(part) for part in zip(*counts.in_blocks(of_block), strict=True))
    return size, values


@dataclass(frozen=True, eq=False)
class RowTable(TableOfRows):
    """Of rows one by one, with weights, or in clusters.

    Row i adds residual[i], times its weight if rows have weights, at cell[i]. `unit` numbers the cluster of each row
    from 0; None if each row is a cluster by itself. `prediction` holds the prediction of each row. Of rows without
    weights whose cells are their distinct predictions, `summary` has the counts. `unseen` is what is supposed of
    clusters that were not observed.
    """

    cell: np.ndarray
    residual: np.ndarray
    prediction: np.ndarray
    cells: int
    sample_weight: np.ndarray | None = None
    unit: np.ndarray | None = None
    summary: Sample | None = None
    unseen: str = WHOLE

    @classmethod
    def of_rows(
        cls, rows: LabelledRows, sample: Sample, cell: np.ndarray | None, unit: np.ndarray | None = None
    ) -> Self:
        """Return the table of rows of which this is the summary, `cell` as there."""
        at, weight = np.searchsorted(sample.value, rows.prediction), rows.sample_weight
        cells = sample.value.size if cell is None else int(cell[-1]) + 1
        return cls(
            cell=at if cell is None else cell[at],
            residual=rows.outcome - rows.prediction,
            prediction=rows.prediction,
            cells=cells,
            sample_weight=weight,
            unit=unit,
            summary=sample if cell is None and weight is None else None,
        )

    @cached_property
    def units_are_rows(self) -> bool:
        return self.unit is None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.cell.size

    @cached_property
    def n(self) -> float:
        return float(self.n_rows) if self.sample_weight is None else float(self.sample_weight.sum())

    @cached_property
    def contribution(self) -> np.ndarray:
        """The contribution of each row to its cell."""
        return self.residual if self.sample_weight is None else self.residual * self.sample_weight

    @cached_property
    def theta(self) -> np.ndarray:
        return np.bincount(self.cell, self.contribution, self.cells) / self.n

    @cached_property
    def moments(self) -> Moments:
        if self.summary is not None and self.unit is None:
            return SeparableMoments.of_sample(self.summary)
        if self.unit is None:
            return SeparableMoments.of_rows(self.cell, self.residual, self.cells, self.sample_weight, self.prediction)
        return super().moments

    def tail_bound(self, tail: float, largest_unit: Callable[[], float] | None = None) -> TailBound:
        """Return the bound for whole clusters, or for such as `unseen` supposes to be absent.

        Statement and argument: docs/evidence/proofs/observed-clusters.md.
        """
        whole = super().tail_bound(tail, largest_unit)
        if self.unit is None or self.unseen == WHOLE:
            return whole
        if self.unseen == ROWS_ALONE:
            weight = np.ones(self.n_rows) if self.sample_weight is None else self.sample_weight
            return TailBound.of_units(self.size, tail, weight)
        if largest_unit is None:
            return whole
        outcome = self.residual + self.prediction > 0.5
        showing = min(np.unique(self.unit[rows]).size for rows in (outcome, ~outcome))
        part = share_of_whole_cluster(showing, self.size.size)
        largest, cap = (max(largest_unit(), part * of_whole) for of_whole in (whole.largest, whole.cap))
        return replace(whole, largest=min(largest, whole.largest), cap=min(cap, whole.cap))

    @cached_property
    def spread(self) -> np.ndarray:
        weight = np.ones(self.n_rows) if self.sample_weight is None else self.sample_weight
        square, p = weight**2, self.prediction
        squares = np.bincount(self.cell, square, self.cells)
        totals = np.bincount(self.cell, weight, self.cells) ** 2
        effective_rows = np.divide(totals, squares, out=np.zeros_like(squares), where=squares > 0)
        model = np.bincount(self.cell, square * p * (1 - p), self.cells)
        model = np.where(effective_rows < FEW_ROWS, model, 0.0)
        return np.asarray(np.sqrt(np.maximum(np.maximum(self.moments.variances(), model), 0.0)) / self.n)

    @property
    def full_cells(self) -> int:
        return int(np.unique(self.cell).size)

    @property
    def columns(self) -> int:
        return 1

    def column(self, k: int) -> Column:
        return self.cell, self.contribution

    def prediction_of(self, k: int) -> np.ndarray:
        return self.prediction

    @property
    def events(self) -> Sequence[RowTable]:
        """The table of each event whose residuals are added up."""
        return [self]

    def relabelled(
        self, cell: np.ndarray, cells: int, unit: np.ndarray, of: OfTheta, draws: Draws, stream: int
    ) -> np.ndarray:
        """Return ``of(theta)`` of labels that are drawn from the predictions, as alike in a unit as they can be.

        `cell` has the cell of each row, from 0 to `cells` - 1; of several events all rows of the first come first.
        """
        return resampling.sums_of_row_labels(cell, self.prediction, cells, unit, self.sample_weight, of, draws, stream)

    @property
    def residuals(self) -> RowTable:
        """The residuals of the same rows, which calibrated labels and signs of clusters change."""
        return self

    def of_residuals(self, theta: np.ndarray) -> np.ndarray:
        """Return the sums in cells, given the sums of any residuals and the predictions, over the last axis."""
        return theta


@dataclass(frozen=True, eq=False)
class ClassTable(TableOfRows):
    """Of rows each of which adds a residual for every class.

    Attributes
    ----------
    sums : ClassSums
        The predictions and the cells of rows and classes.
    theta : ndarray, shape (cells,)
        The sums of the residuals divided by n, as the measure adds them up.
    one_class : bool
        Whether norms weigh the cells of one class alone, in which each row adds in one cell.
    """

    sums: ClassSums
    theta: np.ndarray
    one_class: bool = False
    units_are_rows = True
    unit = None

    @property
    def sample_weight(self) -> np.ndarray | None:
        return self.sums.sample_weight

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.sums.predictions.n

    @property
    def cells(self) -> int:
        return self.theta.size

    @cached_property
    def n(self) -> float:
        return float(self.n_rows) if self.sample_weight is None else float(self.sample_weight.sum())

    @cached_property
    def moments(self) -> Moments:
        if not self.one_class:
            return JointMoments(self.sums)
        if self.sample_weight is None:
            total, square, cube = self.sums.powers
            return SeparableMoments.of_powers(total, square, cube, self.n, self.sums.low)
        columns = ((*self.column(k), self.prediction_of(k)) for k in range(self.columns))
        largest = np.asarray(self.sums.largest_square)
        return SeparableMoments.of_weighted_columns(columns, self.cells, self.sample_weight, largest)

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        if self.sample_weight is not None:
            return super().resampled(of, draws, stream)
        return resampling.pairs_of_vectors(self.sums.places, of, draws, stream)

    def of_one_class(self) -> Self:
        """Return the table for norms that weigh the cells of one class alone."""
        return replace(self, one_class=True)

    @property
    def columns(self) -> int:
        return self.sums.predictions.n_classes

    def column(self, k: int) -> Column:
        return self.sums.column(k)

    def prediction_of(self, k: int) -> np.ndarray:
        return self.sums.predictions.prob[:, k].astype(np.float64)

    def by_row(self, weights: np.ndarray) -> np.ndarray:
        blocks = (slice(i, i + ROW_BLOCK) for i in range(0, self.n_rows, ROW_BLOCK))
        return np.concatenate(
            [(weights[cell] * residual).sum(axis=1) for cell, residual in map(self.sums.rows, blocks)]
        )
