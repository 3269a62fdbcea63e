"""A measure of one event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import ComparableInterval, Interval, SeminormInterval
from calibstat.bounds.mean_interval import RowLosses
from calibstat.bounds.residual_tables import LabelledRows, Order, RowTable, TableOfRows
from calibstat.data.views import BinaryView
from calibstat.data.weighted_sample import WeightedSample, sample_of_ordered_rows
from calibstat.inference.deviation import Deviation, describe
from calibstat.inference.p_values import Compared
from calibstat.inference.problems.calibrated_clusters import INDEPENDENT, null_draws
from calibstat.inference.problems.clustered_deviations import ClusteredDeviations
from calibstat.inference.problems.clustered_rows import ClusteredRows
from calibstat.inference.problems.problem import Problem
from calibstat.inference.problems.resample import Resampler, resampler
from calibstat.inference.smaller_than_chance import smaller_than_chance
from calibstat.measures.kinds.binary_kinds import Bracket, OfResiduals, Statistic
from calibstat.resampling import Draws, GivenPredictions, Labels, RowLabels
from calibstat.resampling.schemes import OfRows


@dataclass(frozen=True)
class BinaryProblem(Problem):
    """A measure of binary data."""

    measure: Statistic
    view: BinaryView

    @property
    def n(self) -> int | float:
        rows = self.view.rows
        return self.view.sample.n_rows if rows is None or self.view.is_weighted else rows[0].size

    @property
    def weight(self) -> np.ndarray | None:
        return self.view.weight

    @property
    def _is_honest(self) -> bool:
        by_rows = self.compares or self.measure.has_interval_by_rows
        return by_rows if self.view.is_weighted else self.measure.has_form

    @property
    def methods(self) -> tuple[str, ...]:
        if self.view.is_weighted:
            return super().methods
        bracket = ("bracket",) * (type(self.measure).bracket is not Statistic.bracket)
        proven = ("proven",) * (self.measure.honest == "proven")
        return *("honest",) * self._is_honest, *proven, *bracket, "percentile", "basic", "bca"

    @property
    def laplace_bandwidth(self) -> float | None:
        return self.measure.laplace_bandwidth

    @property
    def is_coarse(self) -> bool:
        return self.measure.is_coarse

    def bracket(self) -> Bracket:
        return self.measure.bracket(self.n)

    def estimate(self) -> float:
        if self.view.rows is None or self.view.weight is not None:
            return self.measure.estimate(self.view.sample)
        return self.measure.estimate_rows(*self.view.rows)

    def statistic(self) -> float:
        sample = self.view.sample
        return self.measure.estimate(sample) if self.measure.has_value(sample.value) else np.nan

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        sample = self.view.sample
        fields = self.measure.detail(*sample.arrays)
        return self.statistic(), self.n, fields and {"value": sample.value.copy(), **fields}

    def holds_cells(self, always: bool) -> bool:
        return self.measure.has_cells_of_data

    def in_order(self, function: str) -> BinaryProblem:
        return replace(self, view=replace(self.view, rows=None, summary=self.view.counted(function)))

    def with_chances(self, chance: np.ndarray) -> tuple[BinaryProblem, GivenPredictions]:
        summarised = self.in_order("calibration_test")
        if chance.ndim == 1:
            return summarised, Labels(chance)
        p = self.view.float_rows()[1]
        order = resampling.canonical_order((p, chance[:, 1]), None, self.weight)[0]
        weight = None if self.weight is None else self.weight[order]
        return summarised, RowLabels(np.searchsorted(summarised.view.sample.value, p[order]), chance[order], weight)

    def with_unit(self, unit: np.ndarray) -> BinaryProblem:
        rows, unit = sample_in_clusters(self.view, unit)
        return replace(self, view=replace(self.view, rows=None, summary=rows), unit=unit)

    def resampler(self, scheme: OfRows, stream: int) -> Resampler:
        return resampler(self.measure, self.view.sample, scheme, stream)

    @property
    def _measure(self) -> Statistic:
        """The measure over the cells of these rows."""
        sample = self.view.sample
        return self.measure.with_fixed_cells(sample.value, sample.count)

    def honest(self) -> Interval:
        sample, measure = self.view.sample, self._measure
        kept = sample.weighted
        if kept is None:
            return measure.interval(sample)
        rows = LabelledRows(kept.outcome, kept.prediction, kept.weight)
        if self.is_mean:
            return measure.losses_of(rows).interval
        if self.measure.has_interval_by_rows:
            return measure.interval_by_rows(sample, RowTable.of_rows(rows, sample, None))
        return self._on_rows(rows, None)[0]

    def _on_rows(self, rows: LabelledRows, unit: np.ndarray | None) -> tuple[SeminormInterval, RowTable]:
        """Return the interval of the measure on a table of these rows."""
        sample, measure = self.view.sample, self._measure
        norm = measure.norm_on(sample.value, sample.count)
        table = replace(norm.table_of_rows(rows, sample, unit), unseen=self.unseen)
        interval = measure.interval_on(table, norm)
        interval.check()
        return interval, table

    def honest_in_clusters(self, unit: np.ndarray) -> ClusteredRows | None:
        if not self.measure.has_interval_by_rows:
            return self.in_clusters(unit)
        of = self.measure.of_residuals(self.view.sample)[1]
        order, unit_in_order = resampling.canonical_order(self.sort_columns(), unit, self.weight)
        table = RowTable.of_rows(self._rows.take(order), self.view.sample, None, unit_in_order)
        table = replace(table, unseen=self.unseen)
        interval = self.measure.interval_by_rows(self.view.sample, table)
        return ClusteredRows(interval.estimate, interval, table, of)

    def deviation(self, draws: Draws | None) -> Deviation | None:
        is_confidence = 1 in self.view.confidences
        return describe(self.measure, self.view.sample, self.lens.subject, draws, is_confidence=is_confidence)

    def is_smaller_than_chance(self, statistic: float, null: np.ndarray, draws: Draws) -> bool:
        return smaller_than_chance(self.measure, self.view.sample, statistic, null, draws)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return self.measure.evaluate(value, count, positives)

    def sort_columns(self) -> tuple[np.ndarray, ...]:
        return self.view.float_rows()

    def losses(self) -> RowLosses:
        return self._measure.losses_of(self._rows)

    def interval_of_rows(self, order: Order, unit: np.ndarray | None = None) -> tuple[ComparableInterval, TableOfRows]:
        return self.interval_on_rows(order, unit)

    def interval_on_rows(self, order: Order, unit: np.ndarray | None) -> tuple[SeminormInterval, RowTable]:
        """Return `interval_of_rows` of one event."""
        return self._on_rows(self._rows.take(order), unit)

    def of_residuals(self, order: Order, unit: np.ndarray | None) -> tuple[OfResiduals, RowTable]:
        """Return the measure as a function of the residuals of a table, and the table."""
        cell, of = self._measure.of_residuals(self.view.sample)
        return of, RowTable.of_rows(self._rows.take(order), self.view.sample, cell, unit)

    @property
    def _rows(self) -> LabelledRows:
        return LabelledRows(*self.view.float_rows(), self.weight)

    def compared_in_clusters(self, unit: np.ndarray, draws: Draws) -> dict[str, Compared] | None:
        diagnosed = self.measure.diagnose(self.view.sample)
        if diagnosed is None:
            norm = super().compared_in_clusters(unit, draws)
            return self._by_residuals(unit, draws) if norm is None else norm
        of_rows = Compared(self.statistic(), self.in_order("calibration_test").drawer_of_labels()(draws))
        cell, diagnostics = diagnosed
        if diagnostics.components is None:  # no outcome is uncertain
            return {INDEPENDENT: of_rows}
        order, unit_in_order = resampling.canonical_order(self.sort_columns(), unit, self.weight)
        table = RowTable.of_rows(self._rows.take(order), self.view.sample, None, unit_in_order)
        return ClusteredDeviations.of(table, cell, diagnostics).compared(of_rows, draws)

    def _by_residuals(self, unit: np.ndarray, draws: Draws) -> dict[str, Compared]:
        """Return the same of a measure that is not a norm but a function of the residuals."""
        order, unit_in_order = resampling.canonical_order(self.sort_columns(), unit, self.weight)
        of, table = self.of_residuals(order, unit_in_order)
        null, tail = null_draws(table, of, draws), self.measure.info.tail
        return {way: Compared(self.statistic(), values, tail) for way, values in null.items()}

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        sample = self.view.sample
        measure = self.measure.with_fixed_cells(sample.value, sample.count)
        weights, left_out = [], []
        for outcome, rows in ((1.0, sample.positives), (0.0, sample.count - sample.positives)):
            for j in np.flatnonzero(rows):
                count, positives = sample.count.copy(), sample.positives.copy()
                count[j] -= 1
                positives[j] -= outcome
                weights.append(rows[j])
                left_out.append(measure.evaluate(sample.value, count, positives) if sample.n > 1 else 0.0)
        return np.array(weights), np.array(left_out)


def sample_in_clusters(view: BinaryView, unit: np.ndarray) -> tuple[WeightedSample, np.ndarray]:
    """Return the sample of rows in an order that draws of clusters do not depend on, and the cluster of each row."""
    y, p = view.float_rows()
    order, in_order = resampling.canonical_order((y, p), unit, view.weight)
    assert in_order is not None
    y, p, weight = LabelledRows(y, p, view.weight).take(order)
    ascending = np.argsort(p, kind="stable")
    weight = np.ones(p.size) if weight is None else weight
    rows = sample_of_ordered_rows(y[ascending], p[ascending] + 0.0, weight[ascending])  # 0.0 for -0.0
    return rows, in_order[ascending]
