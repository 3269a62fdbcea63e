"""Permutation tests of two models on the same rows."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data.clipping import advice
from calibstat.inference.comparing.differences import Differences, by_name, sort_columns, zero_if_rounding
from calibstat.inference.p_values import p_value
from calibstat.inference.problems.problem import Problem
from calibstat.resampling import Draws, ModelPair, Swap


def by_permutation(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    clusters: np.ndarray | None,
    draws: Draws,
) -> Differences:
    """Compare by exchanging the predictions of two models in random rows."""
    rows = [problem.data.one_event("method 'swap'").float_rows() for problem in problems]
    weight = problems[0].weight
    estimates = np.array([problem.statistic() for problem in problems])
    if not np.isfinite(estimates).all():
        where = problems[int(np.argmin(np.isfinite(estimates)))].data.impossible()
        because = f": {where}; {advice(np.concatenate([p for _, p in rows]))}" if where else ""
        raise ValueError(f"expected a finite {problems[0].measure}, found {estimates.tolist()}{because}")
    pvalue, difference = np.empty(len(pairs)), np.empty(len(pairs))
    for k, (a, b) in enumerate(pairs):
        order, unit = resampling.canonical_order(
            sort_columns([rows[m] for m in by_name(names, (a, b))]), clusters, weight
        )
        value, cell = np.unique([rows[a][1][order], rows[b][1][order]], return_inverse=True)
        cell = np.ascontiguousarray(cell.reshape(2, -1).T.astype(np.int64))
        label = np.column_stack((rows[a][0][order], rows[b][0][order]))

        weight_in_order = None if weight is None else weight[order]
        statistic = partial(problems[0].evaluate, value)
        both = ModelPair(cell, label, value.size, weight_in_order)
        drawn = resampling.draw(both, Swap(unit), statistic, draws, resampling.Stage.COMPARE)
        observed = _swapped_by_none(both, statistic)
        scale = float(np.abs(estimates[[a, b]]).max())
        pvalue[k] = p_value(abs(zero_if_rounding(observed, scale)), np.abs(zero_if_rounding(drawn, scale)), "greater")
        difference[k] = zero_if_rounding(estimates[a] - estimates[b], scale)
    none = np.full(len(pairs), np.nan)
    return Differences(estimates, difference, none, none.copy(), pvalue, tuple(y.size for y, _ in rows))


def _swapped_by_none(both: ModelPair, statistic: Any) -> float:
    """Return the difference on the data, over the cells of the permutations."""
    weight = np.ones(len(both.cell)) if both.weight is None else both.weight
    count = [np.bincount(both.cell[:, m], weight, both.size) for m in range(2)]
    positives = [np.bincount(both.cell[:, m], weight * both.label[:, m], both.size) for m in range(2)]
    return statistic(count[0], positives[0]) - statistic(count[1], positives[1])
