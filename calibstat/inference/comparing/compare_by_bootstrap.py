"""Differences of a measure between models or samples, with the intervals of upper bounds both ways."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from calibstat import resampling
from calibstat.bounds.linear_form import RowForm
from calibstat.bounds.mean_form import RowMeanForm
from calibstat.inference.comparing.differences import Differences, by_name, columns, settled
from calibstat.inference.comparing.differences_of_means import MeansOfSamples, of_same_rows
from calibstat.inference.comparing.differences_of_seminorms import DrawnModel, DrawnRows, SeminormDifference
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.registry import measures_with_row_forms
from calibstat.resampling import Draws

LEAST = 1e-12  # tail of a bound without draws


class UpperEnd(Protocol):
    """The upper end of the difference of one model and another."""

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most."""
        ...


def by_bootstrap(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    unit: np.ndarray | None,
    paired: bool,
    alpha: float,
    draws: Draws,
) -> Differences:
    """Compare on the same rows for all models, unless they are separate samples."""
    contents = problems[0].contents()
    if not contents:
        weighted = " of rows with weights" if problems[0].data.effective_n is not None else ""
        raise ValueError(
            f"no honest comparison{weighted} is known for {problems[0].measure}, {problems[0].lens}; of a binary "
            f"outcome it is for {', '.join(measures_with_row_forms())}; method 'swap' takes any binary measure"
        )
    if unit is not None and not problems[0].takes_clusters:
        raise ValueError(f"no honest comparison with clusters is known for {problems[0].measure}, {problems[0].lens}")
    del contents  # copies of all rows
    weight = problems[0].weight  # of the same rows: samples of different rows have none
    forms: dict[int, RowForm] = {}
    models: dict[int, DrawnModel] = {}
    for g, group in enumerate([by_name(names, range(len(names)))] if paired else [[m] for m in range(len(names))]):
        order, unit = resampling.canonical_order(columns([problems[m].contents() for m in group]), unit, weight)
        part = [problems[m].row_form(order) for m in group]
        part = part if unit is None else [form.in_units(unit) for form in part]
        forms.update(zip(group, part, strict=True))
        if not problems[0].is_mean:
            rows = DrawnRows(part[0].n_rows, unit, part[0].weight, draws, resampling.Stage.COMPARE + g)
            models.update(zip(group, rows.draw(part), strict=True))

    def upper(a: int, b: int) -> UpperEnd:
        one, other = forms[a], forms[b]
        if not isinstance(one, RowMeanForm) or not isinstance(other, RowMeanForm):
            return SeminormDifference.of(models[a], models[b], alpha / 2)
        if not paired:
            return MeansOfSamples(one.mean, other.mean)
        return of_same_rows(one, other, _same_outcomes(problems[a], problems[b]))

    estimates = np.array([forms[m].estimate for m in range(len(names))])
    difference = np.array([settled(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max()) for a, b in pairs])
    tails = None if problems[0].is_mean else np.arange(1, draws.n + 2) / (draws.n + 1)
    low, high, pvalue = (np.empty(len(pairs)) for _ in range(3))
    for k, (a, b) in enumerate(pairs):
        above, below = upper(a, b), upper(b, a)
        low[k], high[k] = -below.high(alpha / 2), above.high(alpha / 2)
        pvalue[k] = p_value_of_ends(above, below, tails)
    return Differences(estimates, difference, low, high, pvalue, tuple(forms[m].n_rows for m in range(len(names))))


def p_value_of_ends(above: UpperEnd, below: UpperEnd, tails: np.ndarray | None) -> float:
    """Return the smallest alpha at which the interval of a difference excludes 0.

    `above` gives the high ends of the difference, and `below` the high ends of its negative. If the ends are made of
    draws, alpha / 2 is one of `tails`; if they are not, `tails` is None.
    """
    return min(1.0, 2 * min(_least_tail(above, tails), _least_tail(below, tails)))


def _same_outcomes(one: Problem, other: Problem) -> bool:
    """Whether the outcomes of both are those of the rows, and not hits of the predictions."""
    parts = one.contents(), other.contents()
    return len(parts[0]) == 1 or np.array_equal(parts[0][0], parts[1][0])  # one part: losses of the same labels


def _least_tail(end: UpperEnd, tails: np.ndarray | None) -> float:
    """Return the smallest tail at which the end is below 0, one of `tails`, or any if None; 1 if it never is."""
    if not end.high(0.5) < 0:
        return 1.0
    if tails is None:
        low, high = np.log(LEAST), np.log(0.5)
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (low, middle) if end.high(float(np.exp(middle))) < 0 else (middle, high)
        return float(np.exp(high))
    first, last = 0, int(np.searchsorted(tails, 0.5, side="right"))  # of tails above a half two make 1
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if end.high(float(tails[middle])) < 0 else (middle + 1, last)
    return float(tails[first])
