"""Differences of a measure between models or samples, with the intervals of upper bounds both ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np

from calibstat import resampling
from calibstat.bounds.mean_interval import RowLosses
from calibstat.inference.comparing.differences import Differences, by_name, sort_columns, zero_if_rounding
from calibstat.inference.comparing.mean_difference import MeansOfSamples, of_same_rows
from calibstat.inference.comparing.seminorm_difference import DrawnModel, drawn_together, upper_ends
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.registry import measures_by_rows
from calibstat.resampling import Draws

LEAST = 1e-12  # tail of a bound without draws


class UpperEnd(Protocol):
    """The upper end of the difference of one model and another."""

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most."""
        ...


class Posed(Protocol):
    """A model, ready to be compared."""

    @property
    def estimate(self) -> float:
        """The measure."""
        ...

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...


Upper = Callable[[int, int], UpperEnd]  # of the differences of two models


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
    _need_comparison(problems[0], unit)
    groups = [by_name(names, range(len(names)))] if paired else [[m] for m in range(len(names))]
    of_losses = problems[0].is_mean
    models: Sequence[Posed]
    if of_losses:
        models, upper = _by_losses(problems, groups, unit, paired)
    else:
        models, upper = _by_draws(problems, groups, unit, pairs, draws, alpha)
    return differences_of_ends(models, upper, pairs, alpha, None if of_losses else draws)


def differences_of_ends(
    models: Sequence[Posed], upper: Upper, pairs: list[tuple[int, int]], alpha: float, draws: Draws | None
) -> Differences:
    """Return the differences of models, of which `upper` has the ends both ways, by draws or without."""
    estimates = np.array([model.estimate for model in models])
    difference = np.array(
        [zero_if_rounding(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max()) for a, b in pairs]
    )
    tails = None if draws is None else np.arange(1, draws.n + 2) / (draws.n + 1)
    low, high, pvalue = (np.empty(len(pairs)) for _ in range(3))
    for k, (a, b) in enumerate(pairs):
        above, below = upper(a, b), upper(b, a)
        low[k], high[k] = -below.high(alpha / 2), above.high(alpha / 2)
        pvalue[k] = p_value_of_ends(above, below, tails)
    return Differences(estimates, difference, low, high, pvalue, tuple(model.n_rows for model in models))


def _need_comparison(problem: Problem, unit: np.ndarray | None) -> None:
    """Raise if no honest comparison is known for such rows."""
    if not problem.compares:
        weighted = " of rows with weights" if problem.data.effective_n is not None else ""
        reason = "" if "honest" in problem.methods else problem.why_no_interval
        why = f", because {reason}" if reason else ""
        if not problem.is_one_number:
            why = ", because it is a number for each class; reduce='mean' makes them one"
        raise ValueError(
            f"no honest comparison{weighted} is known for {problem.measure}, {problem.lens}{why}; of a binary "
            f"outcome it is for {', '.join(measures_by_rows())}; method 'swap' takes any binary measure"
        )
    if unit is not None and not problem.takes_clusters:
        raise ValueError(f"no honest comparison with clusters is known for {problem.measure}, {problem.lens}")


def _orders(
    problems: Sequence[Problem], groups: Sequence[Sequence[int]], unit: np.ndarray | None
) -> Iterator[tuple[int, Sequence[int], np.ndarray, np.ndarray | None]]:
    """Yield for each group of models on the same rows its number, the models, and the order of the rows."""
    for g, group in enumerate(groups):
        weight = problems[group[0]].weight  # of the same rows: samples of different rows have none
        columns = sort_columns([problems[m].sort_columns() for m in group])
        yield g, group, *resampling.canonical_order(columns, unit, weight)


def _by_losses(
    problems: Sequence[Problem], groups: Sequence[Sequence[int]], unit: np.ndarray | None, paired: bool
) -> tuple[Sequence[RowLosses], Upper]:
    """Return the losses of the rows of each model, in an order that all models on the same rows share."""
    posed: dict[int, RowLosses] = {}
    for _, group, order, in_order in _orders(problems, groups, unit):
        posed |= {m: problems[m].losses().take(order, in_order) for m in group}

    def upper(a: int, b: int) -> UpperEnd:
        if not paired:
            return MeansOfSamples(posed[a].interval, posed[b].interval)
        return of_same_rows(posed[a], posed[b], _same_outcomes(problems[a], problems[b]))

    return [posed[m] for m in range(len(problems))], upper


def _by_draws(
    problems: Sequence[Problem],
    groups: Sequence[Sequence[int]],
    unit: np.ndarray | None,
    pairs: list[tuple[int, int]],
    draws: Draws,
    alpha: float,
) -> tuple[Sequence[DrawnModel], Upper]:
    """Return the models with the draws that all models on the same rows share, and the ends of these pairs."""
    posed: dict[int, DrawnModel] = {}
    for g, group, order, in_order in _orders(problems, groups, unit):
        models = [problems[m].interval_of_rows(order, in_order) for m in group]
        posed.update(zip(group, drawn_together(models, draws, resampling.Stage.COMPARE + g), strict=True))
    both_ways = [pair for a, b in pairs for pair in ((a, b), (b, a))]
    ends = upper_ends([(posed[a], posed[b]) for a, b in both_ways], alpha / 2)
    end_of = dict(zip(both_ways, ends, strict=True))
    return [posed[m] for m in range(len(problems))], lambda a, b: end_of[a, b]


def p_value_of_ends(above: UpperEnd, below: UpperEnd, tails: np.ndarray | None) -> float:
    """Return the smallest alpha at which the interval of a difference excludes 0.

    `above` gives the high ends of the difference, and `below` the high ends of its negative. If the ends are made of
    draws, alpha / 2 is one of `tails`; if they are not, `tails` is None.
    """
    return min(1.0, 2 * min(_least_tail(above, tails), _least_tail(below, tails)))


def _same_outcomes(one: Problem, other: Problem) -> bool:
    """Whether the outcomes of both come from the rows, and are not hits of the predictions."""
    if one.data.kind != "binary":
        return True  # losses of the same labels
    (y, _), (x, _) = (each.data.one_event().float_rows() for each in (one, other))
    return np.array_equal(y, x)


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
