"""Differences of a measure between models or samples, with intervals, by the bootstrap."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data.clusters import as_clusters
from calibstat.inference.differences import Differences, by_name, columns, settled
from calibstat.inference.p_values import p_value
from calibstat.inference.problem import Problem
from calibstat.measures.linear_form import RowForm, upper_quantile
from calibstat.resampling import Clusters, Draws, Pairs, RowSums


def by_bootstrap(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    cluster: Any,
    paired: bool,
    alpha: float,
    draws: Draws,
) -> Differences:
    """Compare by a pairs bootstrap, with the same rows for all models unless they are separate samples."""
    contents = problems[0].contents()
    if not contents:
        raise ValueError(
            f"no honest comparison is known for {problems[0].measure}, {problems[0].lens}; use kernel_ce, ece (L1), "
            "ks, kuiper, smooth_ce, brier or log_loss of one event, or method 'swap'"
        )
    unit = None if cluster is None else as_clusters(cluster, contents[0].size)
    del contents  # copies of all rows
    forms: dict[int, RowForm] = {}
    drawn = np.empty((draws.n, len(problems), 3))
    for g, group in enumerate([by_name(names, range(len(names)))] if paired else [[m] for m in range(len(names))]):
        order, unit = resampling.canonical_order(columns([problems[m].contents() for m in group]), unit)
        part = [problems[m].row_form(order).for_comparison(unit) for m in group]
        del order
        forms.update(zip(group, part, strict=True))
        drawn[:, group] = _draw_moves(part, unit, draws, resampling.Stage.COMPARE + g)
    for m, form in forms.items():
        drawn[:, m, 0] += form.missing_bias(drawn[:, m, 0])
    estimates = np.array([forms[m].estimate for m in range(len(names))])
    low, high, pvalue = (np.empty(len(pairs)) for _ in range(3))
    for k, (a, b) in enumerate(pairs):
        low[k], high[k], pvalue[k] = _difference(forms[a], forms[b], drawn[:, a], drawn[:, b], alpha)
    difference = np.array([settled(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max()) for a, b in pairs])
    return Differences(estimates, difference, low, high, pvalue, tuple(forms[m].n for m in range(len(names))))


def _draw_moves(forms: list[RowForm], unit: np.ndarray | None, draws: Draws, stage: int) -> np.ndarray:
    """Return the directional bootstrap, the linear one and the measure of every resample and model, (B, M, 3)."""
    begin = np.cumsum([0, *(form.theta.size for form in forms)])
    cell = np.column_stack([form.cell + b for form, b in zip(forms, begin[:-1], strict=True)]).astype(np.int64)
    sums = RowSums(np.ascontiguousarray(cell), np.ascontiguousarray(np.column_stack([f.residual for f in forms])))

    def moves(total: np.ndarray, rows: np.ndarray) -> np.ndarray:
        found = np.empty((rows.size, len(forms), 3))
        for m, form in enumerate(forms):
            theta = total[:, begin[m] : begin[m + 1]] / rows[:, None]
            step = theta - form.theta
            found[:, m, 0] = form.directional(step)
            found[:, m, 1] = form.linear(step)
            found[:, m, 2] = form.norm(theta)
        return found

    return resampling.draw(sums, Pairs() if unit is None else Clusters(unit), moves, draws, stage)


def _difference(
    a: RowForm, b: RowForm, drawn_a: np.ndarray, drawn_b: np.ndarray, alpha: float
) -> tuple[float, float, float]:
    """Return the ends of the interval for the measure of a minus that of b, and the p-value of no difference."""
    scale = max(abs(a.estimate), abs(b.estimate))
    difference = settled(a.estimate - b.estimate, scale)
    above = settled(drawn_a[:, 0] - drawn_b[:, 1], scale)
    below = settled(drawn_b[:, 0] - drawn_a[:, 1], scale)
    if (
        a.is_mean
    ):  # nothing is biased, and percentiles get the skewness of losses right, which their reflection does not
        above, below = below, above
    low = difference - upper_quantile(above, alpha / 2)
    high = difference + upper_quantile(below, alpha / 2)
    if a.hilbert:
        squares = settled(drawn_a[:, 2] ** 2 - drawn_b[:, 2] ** 2, scale)
        centred = squares - squares.mean()
        # the square is biased by E||G*||^2, which the bootstrap adds once more: its mean less the value
        d = settled(2 * (a.estimate**2 - b.estimate**2), scale) - squares.mean()
        return low, high, _two_sided(d, centred, -d, -centred)
    return low, high, _two_sided(difference, above, -difference, below)


def _two_sided(value: float, drawn: np.ndarray, other: float, other_drawn: np.ndarray) -> float:
    """Return twice the smaller of two one-sided p-values, in which ties count as extreme."""
    return min(1.0, 2 * min(p_value(value, drawn, "greater"), p_value(other, other_drawn, "greater")))
