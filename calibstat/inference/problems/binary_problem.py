"""A measure of one event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.linear_form import Form, Order, RowForm, Rows
from calibstat.data.observations import BinaryData
from calibstat.data.weighted_sample import WeightedSample
from calibstat.inference.deviation import Deviation, describe
from calibstat.inference.problems.clustered_problem import drawn_rows
from calibstat.inference.problems.problem import Problem
from calibstat.inference.smaller_than_chance import smaller_than_chance
from calibstat.measures.kinds.binary_kinds import Bracket, Statistic
from calibstat.resampling import CellSums, Draws, Pairs, Resampler, Stage
from calibstat.resampling.schemes import OfRows


@dataclass(frozen=True)
class BinaryProblem(Problem):
    """A measure of binary data."""

    measure: Statistic
    data: BinaryData

    @property
    def bootstraps(self) -> tuple[str, ...]:  # type: ignore[override]
        return ("percentile", "basic") if self.data.is_weighted else ("percentile", "basic", "bca")

    @property
    def n(self) -> int | float:
        rows = self.data.rows
        return self.data.sample.n_rows if rows is None or self.data.is_weighted else rows[0].size

    @property
    def weight(self) -> np.ndarray | None:
        return self.data.weight

    @property
    def is_honest(self) -> bool:
        return self.measure.has_row_form if self.data.is_weighted else self.measure.has_form

    @property
    def laplace_bandwidth(self) -> float | None:
        return self.measure.laplace_bandwidth

    @property
    def is_coarse(self) -> bool:
        return self.measure.is_coarse

    @property
    def has_bracket(self) -> bool:
        return self.measure.has_bracket and not self.data.is_weighted

    def bracket(self) -> Bracket:
        return self.measure.bracket(self.n)

    def estimate(self) -> float:
        if self.data.rows is None or self.data.is_weighted:
            return self.measure.estimate(self.data.sample)
        return self.measure.estimate_rows(*self.data.rows)

    def statistic(self) -> float:
        sample = self.data.sample
        return self.measure.estimate(sample) if self.measure.has_value(sample.value) else np.nan

    def detail(self) -> tuple[float, int | float, dict[str, Any]]:
        sample = self.data.sample
        fields = self.measure.detail(*sample.arrays)
        return self.statistic(), self.n, fields and {"value": sample.value, **fields}

    def holds_cells(self, always: bool) -> bool:
        return self.measure.makes_cells

    def drawn_from(self, what: str) -> BinaryProblem:
        return replace(self, data=replace(self.data, rows=None, summary=self.data.counted(what)))

    def resampler(self, scheme: OfRows, stage: Stage) -> Resampler:
        return resampling.resampler(self.measure, self.data.sample, scheme, stage)

    def linear_form(self) -> Form:
        sample = self.data.sample
        measure = self.measure.held(sample.value, sample.count)
        if isinstance(sample, WeightedSample):
            return measure.row_form(Rows(sample.outcome, sample.prediction, sample.weight), sample, slice(None))
        return measure.linear_form(sample)

    def draw_form(self, form: Any, draws: Draws) -> np.ndarray:
        if isinstance(form, RowForm):
            return drawn_rows(form, form.moves, draws)
        sample = self.data.sample
        if form.cell is not None:
            cells = CellSums(sample, form.cell)
            return resampling.draw(cells, Pairs(), lambda _, residual, __: form.moves(residual), draws, Stage.ROWS)

        def moves(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
            return form.moves((positives - count * value) / count.sum())

        return resampling.draw(sample, Pairs(), moves, draws, Stage.ROWS)

    def deviation(self, draws: Draws) -> Deviation | None:
        is_confidence = 1 in self.data.confidences
        return describe(self.measure, self.data.sample, self.lens.subject, draws, is_confidence=is_confidence)

    def is_smaller_than_chance(self, statistic: float, null: np.ndarray, draws: Draws) -> bool:
        return smaller_than_chance(self.measure, self.data.sample, statistic, null, draws)

    def check_rows(self) -> None:
        self.data.check_rows()

    def float_rows(self) -> tuple[np.ndarray, np.ndarray]:
        return self.data.float_rows()

    def statistic_of(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return self.measure.evaluate(value, count, positives)

    def contents(self) -> tuple[np.ndarray, ...]:
        return self.float_rows() if self.measure.has_row_form else ()

    def row_form(self, order: Order = slice(None)) -> RowForm:
        sample = self.data.sample
        return self.measure.held(sample.value, sample.count).row_form(
            Rows(*self.float_rows(), self.weight), sample, order
        )

    def jackknife(self) -> tuple[np.ndarray, np.ndarray]:
        sample = self.data.sample
        measure = self.measure.held(sample.value, sample.count)
        weights, left_out = [], []
        for outcome, rows in ((1.0, sample.positives), (0.0, sample.count - sample.positives)):
            for j in np.flatnonzero(rows):
                count, positives = sample.count.copy(), sample.positives.copy()
                count[j] -= 1
                positives[j] -= outcome
                weights.append(rows[j])
                left_out.append(measure.evaluate(sample.value, count, positives) if sample.n > 1 else 0.0)
        return np.array(weights), np.array(left_out)
