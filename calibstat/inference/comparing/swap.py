"""Permutation tests of two models on the same rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from calibstat import resampling
from calibstat.data.clipping import advice
from calibstat.inference.comparing.differences import (
    ComparedModels,
    Differences,
    Pairs,
    by_name,
    differences_of,
    sort_columns,
    zero_if_rounding,
)
from calibstat.inference.p_values import p_value
from calibstat.resampling import ModelPair, Swap


@dataclass(frozen=True, eq=False)
class BySwap:
    """Differences with permutation tests: the predictions of two models are exchanged in random rows."""

    compared: ComparedModels

    @cached_property
    def rows(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Outcomes and predictions of each model."""
        return [problem.view.one_event("method 'swap'").float_rows() for problem in self.compared.problems]

    def differences(self, pairs: Pairs, alpha: float) -> Differences:
        """Return the differences of these pairs, without intervals."""
        rows, estimates = self.rows, self._estimates()
        difference = differences_of(estimates, pairs)
        pvalue = np.array([self._p_value(a, b, float(np.abs(estimates[[a, b]]).max())) for a, b in pairs])
        none = np.full(len(pairs), np.nan)
        return Differences(estimates, difference, none, none.copy(), pvalue, tuple(y.size for y, _ in rows))

    def _estimates(self) -> np.ndarray:
        """Return the measure of each model; raise unless all are finite."""
        problems = self.compared.problems
        estimates = np.array([problem.statistic() for problem in problems])
        if not np.isfinite(estimates).all():
            where = problems[int(np.argmin(np.isfinite(estimates)))].view.impossible()
            because = f": {where}; {advice(np.concatenate([p for _, p in self.rows]))}" if where else ""
            raise ValueError(f"expected a finite {problems[0].measure}, found {estimates.tolist()}{because}")
        return estimates

    def _p_value(self, a: int, b: int, scale: float) -> float:
        """Return the p-value of two models, whose measures are of this size at most."""
        first, rows = self.compared.first, self.rows
        columns = sort_columns([rows[m] for m in by_name(self.compared.names, (a, b))])
        order, unit = resampling.canonical_order(columns, self.compared.unit, first.weight)
        value, cell = np.unique([rows[a][1][order], rows[b][1][order]], return_inverse=True)
        cell = np.ascontiguousarray(cell.reshape(2, -1).T.astype(np.int64))
        label = np.column_stack((rows[a][0][order], rows[b][0][order]))
        both = ModelPair(cell, label, value.size, None if first.weight is None else first.weight[order])
        statistic = partial(first.evaluate, value)
        drawn = resampling.draw(both, Swap(unit), statistic, self.compared.draws, resampling.Stream.COMPARE)
        observed = _swapped_by_none(both, statistic)
        return p_value(abs(zero_if_rounding(observed, scale)), np.abs(zero_if_rounding(drawn, scale)), "greater")


def _swapped_by_none(both: ModelPair, statistic: Callable[[np.ndarray, np.ndarray], float]) -> float:
    """Return the difference on the data, over the cells of the permutations."""
    weight = np.ones(len(both.cell)) if both.weight is None else both.weight
    count = [np.bincount(both.cell[:, m], weight, both.size) for m in range(2)]
    positives = [np.bincount(both.cell[:, m], weight * both.label[:, m], both.size) for m in range(2)]
    return statistic(count[0], positives[0]) - statistic(count[1], positives[1])
