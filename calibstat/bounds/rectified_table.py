"""Tables of rectified residuals: of few labelled rows, and of many more whose outcomes a judge guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from calibstat.bounds.moments import Moments, SeparableMoments
from calibstat.bounds.moments_of_samples import MomentsOfSamples
from calibstat.bounds.residual_tables import FEW_ROWS, OfTheta, RowTable, Table
from calibstat.bounds.square_bound import Side, SquareBound, bound_of
from calibstat.bounds.tail_bound import TailBound
from calibstat.resampling import Draws, OnePass, Stream

HELD = 2**21  # sums in cells of the resamples that are held together


@dataclass(frozen=True, eq=False)
class RectifiedRowTable(RowTable):
    """Of rectified residuals as one sample of rows, which draws of the same rows for several models need.

    A row adds its rectified residual divided by the share of labelled rows. Rows drawn one by one, some of them
    labelled, spread at least as much as labelled and other rows that are drawn by themselves.

    Statement and argument: docs/evidence/proofs/few-labels.md.

    Attributes
    ----------
    largest : float
        The most that a row may add: the rows over the labelled ones.
    standard_error : ndarray, shape (cells,)
        The standard error of theta of each cell.
    """

    largest: float = 1.0
    standard_error: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def spread(self) -> np.ndarray:
        return self.standard_error

    def tail_bound(self, tail: float, largest_unit: Callable[[], float] | None = None) -> TailBound:
        return self.moments.tail_bound(tail).times(self.largest)


@dataclass(frozen=True, eq=False)
class RectifiedTable(Table):
    """Of rectified residuals x = rho (g - p) + R s (y - g), whose sums in cells divided by n have the right means.

    rho is the share of labelled rows, R is 1 for them, s is 1 or, of rows with chances c of being labelled, rho / c,
    and g is any guess of the outcome that does not depend on it.

    Statement and argument: docs/evidence/proofs/few-labels.md.

    Attributes
    ----------
    samples : sequence of RowTable
        Independent samples, in the same cells: labelled and other rows if a given number of rows was labelled, or all
        rows, or all clusters, as one sample.
    n : float
        The number of labelled rows.
    labelled : ndarray, shape (cells,)
        The labelled rows of each cell.
    model : ndarray, shape (cells,)
        The variances of the sums if calibrated.
    bound : callable
        ``bound(tail)`` is the score bound of a sum with weights in [-1, 1].
    largest : ndarray, shape (rows,), or None
        The most that a row may add, where rows have different chances of being labelled.
    """

    samples: Sequence[RowTable]
    n: float
    labelled: np.ndarray
    model: np.ndarray
    bound: Callable[[float], TailBound]
    largest: np.ndarray | None = None

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.labelled.size

    @cached_property
    def units_are_rows(self) -> bool:
        return all(each.unit is None for each in self.samples)

    @cached_property
    def theta(self) -> np.ndarray:
        return np.asarray(sum(each.theta * (each.n / self.n) for each in self.samples))

    @cached_property
    def moments(self) -> Moments:
        return MomentsOfSamples([self._moments(each) for each in self.samples], self.n, self.bound)

    def _moments(self, sample: RowTable) -> Moments:
        """Return the moments of a sample; rows with different chances may add more than their weights say."""
        if self.largest is None:
            return sample.moments
        assert sample.sample_weight is not None
        most = np.full(self.cells, self.largest.min())
        np.maximum.at(most, sample.cell, self.largest)
        columns = [(sample.cell, sample.contribution, sample.prediction)]
        return SeparableMoments.of_weighted_columns(columns, self.cells, sample.sample_weight, most**2)

    @cached_property
    def spread(self) -> np.ndarray:
        observed = self.moments.variances()
        variance = np.where(self.labelled < FEW_ROWS, np.maximum(observed, self.model), observed)
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)) / self.n)

    @cached_property
    def full_cells(self) -> int:
        return int(np.unique(np.concatenate([each.cell for each in self.samples])).size)

    def resampled(self, of: OfTheta, draws: Draws, stream: int = Stream.ROWS) -> np.ndarray:
        """Return ``of(theta)`` of every resample, of samples that are drawn by themselves, each with replacement."""
        samples = list(zip(self.samples, (stream, Stream.UNLABELLED), strict=False))

        def sums(first: int, last: int) -> np.ndarray:
            parts = (
                sample.resampled(lambda theta: theta, draws.part(first, last, stream), stream) * (sample.n / self.n)
                for sample, stream in samples
            )
            return np.asarray(sum(parts))

        return np.concatenate([of(sums(*block)) for block in blocks(draws.n, self.cells)])

    def moved(
        self, norm: OfTheta, one_pass: OnePass | None, origin: np.ndarray, step: float, draws: Draws
    ) -> np.ndarray:
        norms = norm if one_pass is None else one_pass.of
        return super().moved(norms, one_pass, origin, step, draws)

    def square_bound(self, value: np.ndarray, bandwidth: float) -> Callable[[], SquareBound] | None:
        if len(self.samples) == 1:
            return None
        return lambda: self._square_bound(value, bandwidth)

    def _square_bound(self, value: np.ndarray, bandwidth: float) -> SquareBound:
        """Return the bound of rows as one sample, in which a row adds up to the rows over the labelled ones.

        Pairs of labelled rows are fewer in a subset of a given size than if each were labelled by itself.
        """
        cell, x = (np.concatenate([getattr(each, name) for each in self.samples]) for name in ("cell", "residual"))
        rows, labels = cell.size, self.n
        bound = bound_of([Side(value[cell], x * rows / labels, bandwidth)], np.ones(rows))
        most, least, alone = (part * rows / labels for part in (bound.most, bound.least, bound.alone * rows / labels))
        return replace(bound, most=most, least=least, alone=alone).over((labels - 1) / labels * rows / (rows - 1))


def blocks(n: int, cells: int) -> list[tuple[int, int]]:
    """Return the first and the last of the resamples whose sums in cells are held together."""
    some = max(HELD // cells, 1)
    return [(first, min(first + some, n)) for first in range(0, n, some)]
