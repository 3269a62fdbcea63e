"""A norm of rectified residuals: its interval, its resamples, and its draws if calibrated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import Interval, SeminormInterval
from calibstat.bounds.norms import Norm
from calibstat.bounds.rectified_table import RectifiedTable, blocks
from calibstat.bounds.residual_tables import RowTable
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.sample import sample_of_rows
from calibstat.inference.designs.judged.guess import FEWEST_EVENTS, fewest_events
from calibstat.inference.designs.judged.judged_in_order import JudgedRows
from calibstat.inference.honest_ends import HonestEnds, exceeds
from calibstat.inference.problems.binary_problem import BinaryProblem
from calibstat.inference.problems.calibrated_clusters import INDEPENDENT, SHARED, SIGNS
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.registry import MEASURES, measures_by_rows
from calibstat.resampling import Draws, Stream


@dataclass(frozen=True, eq=False)
class RectifiedRows:
    """A norm on the sums of rectified residuals in cells.

    Attributes
    ----------
    rows : JudgedRows
        The rows.
    interval : SeminormInterval
        The honest interval.
    table : RectifiedTable
        Its table.
    cell : ndarray, shape (n,)
        The cell of each row.
    """

    rows: JudgedRows
    interval: SeminormInterval
    table: RectifiedTable
    cell: np.ndarray

    @classmethod
    def of(cls, problem: BinaryProblem, rows: JudgedRows) -> Self:
        """Pose the question of a measure, over the distinct predictions of all rows or its cells."""
        fixed, norm, cell, cells = norm_over_all_rows(problem, rows)
        table = rectified_table(rows, cell, cells)
        interval = fixed.interval_on(table, norm)
        interval.check()
        return cls(rows, interval, table, cell)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.rows.n

    @property
    def estimate(self) -> float:
        """The norm."""
        return self.interval.estimate

    @property
    def noise_left(self) -> float:
        """The share of the squared residuals of labelled rows that the guesses leave."""
        return self.rows.noise_left

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self.table.cells

    def statistic(self) -> float:
        """Return the norm."""
        return self.estimate

    def ends(self, alpha: float, draws: Draws) -> tuple[float, float, float | None]:
        """Return the honest ends, and the median of a calibrated model where it says something of them."""
        ends = HonestEnds.of(self, draws)
        low, high = ends.low(alpha), ends.high(alpha)
        return low, high, ends.noise_floor if ends.known == high or exceeds(self.estimate, high) else None

    def honest(self) -> Interval:
        """Return the honest interval."""
        return self.interval

    def draw_labels(self, draws: Draws) -> np.ndarray:
        """Return the norm of every resample if calibrated, with labels drawn row by row.

        Outcomes of labelled rows are drawn given prediction and judge, and what the judge adds in all rows is noise
        with the variance that it has if the guesses have the right mean given the predictions.

        Statement and argument: docs/evidence/proofs/few-label-tests.md.
        """
        return self._relabelled(draws, self.rows.guess.calibrated, np.arange(self.rows.labels), Stream.LABELS)

    def drawer_of_labels(self) -> Callable[[Draws], np.ndarray]:
        """Return what draws them."""
        return self.draw_labels

    def null_draws(self, draws: Draws, labels: np.ndarray | None = None) -> dict[str, np.ndarray]:
        """Return the norm if calibrated by each way to draw it: of clusters the largest p-value counts."""
        independent = self.draw_labels(draws) if labels is None else labels
        unit = self.rows.unit
        if unit is None:
            return {INDEPENDENT: independent}
        (whole,) = self.table.samples
        null = {SIGNS: whole.signed(self._norms, draws), INDEPENDENT: independent}
        rows = self.rows
        if fewest_events(rows.outcome, rows.prediction, rows.labelled, unit) < FEWEST_EVENTS:
            shared = np.unique(unit[rows.labelled], return_inverse=True)[1]
            null[SHARED] = self._relabelled(draws, rows.prediction, shared, Stream.SHARED)
        return null

    def draw_pairs(self, draws: Draws) -> np.ndarray:
        """Return the norm of every resample of rows or clusters."""
        return self.table.resampled(self._norms, draws)

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        """Raise, as no interval of rectified residuals leaves out rows."""
        raise NotImplementedError("no statistics without one row are known")

    def _norms(self, theta: np.ndarray) -> np.ndarray:
        norm = self.interval.norm
        return np.asarray(norm.value(theta) if norm.one_pass is None else norm.one_pass.of(theta))

    def _relabelled(self, draws: Draws, chance: np.ndarray, unit: np.ndarray, stream: int) -> np.ndarray:
        """Draw labels of labelled rows with these chances, alike in a unit, and signs of what the judge adds."""
        rows, chosen = self.rows, self.rows.labelled
        added, weight = rows.rho * (chance - rows.prediction), rows.scale[chosen]
        columns = [(self.cell, added)] if added.any() else []

        def of_block(first: int, last: int) -> np.ndarray:
            part = partial(draws.part, first, last)
            labels = resampling.sums_of_row_labels(
                self.cell[chosen], chance[chosen], self.cells, unit, weight, lambda theta: theta, part(stream), stream
            )
            theta = labels * (weight.sum() / rows.labels)
            if columns:
                theta += self._signs(columns, part(Stream.GUESSES)) / rows.labels
            return self._norms(theta)

        return np.concatenate([of_block(*block) for block in blocks(draws.n, self.cells)])

    def _signs(self, columns: list[tuple[np.ndarray, np.ndarray]], draws: Draws) -> np.ndarray:
        units = self.rows.units
        return resampling.sums_of_signs(columns, self.cells, units, lambda sums: sums, draws, Stream.GUESSES)


def norm_over_all_rows(problem: BinaryProblem, rows: JudgedRows) -> tuple[Statistic, Norm, np.ndarray, int]:
    """Return the measure over fixed cells, its norm, and the cells of all rows with their number."""
    sample = sample_of_rows(rows.outcome, rows.prediction)
    fixed = problem.measure.with_fixed_cells(sample.value, sample.count)
    norm: Norm = fixed.norm_on(sample.value, sample.count)
    at = np.searchsorted(sample.value, rows.prediction)
    if norm.cell is None:
        return fixed, norm, at, sample.value.size
    return fixed, norm, norm.cell[at], int(norm.cell[-1]) + 1


def rectified_table(rows: JudgedRows, cell: np.ndarray, cells: int) -> RectifiedTable:
    """Return the table of the rectified residuals of rows in these cells."""
    x, rho, labels = rows.contribution, rows.rho, rows.labels
    null, chosen = rows.guess.calibrated, rows.labelled
    model = np.bincount(cell, chosen * rows.scale**2 * null * (1 - null), cells)
    model += np.bincount(cell, (rho * (null - rows.prediction)) ** 2, cells)
    of_cells: dict[str, Any] = {
        "labelled": np.bincount(cell[chosen], minlength=cells),
        "model": model,
        "n": float(labels),
    }
    if rows.unit is None and rows.chance is None:
        parts = (RowTable(cell[part], x[part], rows.prediction[part], cells) for part in (chosen, ~chosen))
        return RectifiedTable(tuple(parts), bound=TailBound.of_rows, **of_cells)
    weight = np.full(rows.n, rho)  # so that a cluster is expected to hold its share of all rows
    whole = RowTable(cell, x / rho, rows.prediction, cells, weight, rows.unit)
    if rows.unit is None:
        largest = np.maximum(rows.scale, rho)

        def of_chances(tail: float) -> TailBound:
            return TailBound.of_units(rows.scale[chosen], tail, hides=rows.scale)

        return RectifiedTable((whole,), bound=of_chances, largest=largest, **of_cells)
    most = np.bincount(rows.unit, np.where(chosen, 1.0, rho))[np.unique(rows.unit[chosen])]
    return RectifiedTable((whole,), bound=lambda tail: TailBound.of_units(most, tail), **of_cells)


def need_norm(problem: BinaryProblem, others: str = "") -> None:
    """Raise unless a measure is a norm of the sums of residuals, which rectified ones take the place of.

    `others` names what else is taken, for the message.
    """
    if not is_norm_of_residuals(problem.measure):
        known = [name for name in measures_by_rows() if is_norm_of_residuals(MEASURES[name]())]
        raise ValueError(
            f"expected a norm of residuals with judge=, one of {', '.join(known)}{others}; found {problem.title}, "
            "which rectified residuals do not estimate"
        )


def is_norm_of_residuals(measure: Measure) -> bool:
    """Whether a measure is a norm of the sums of residuals of one event."""
    if not isinstance(measure, Statistic) or measure.honest != "norm":
        return False
    return not measure.norm_on(np.array([0.25, 0.75]), np.ones(2)).of_outcomes
