"""Differences of a measure by their ends: upper bounds of A - B and of B - A."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from calibstat import resampling
from calibstat.bounds.mean_interval import MeanInterval, OfMean, RowLosses
from calibstat.inference.comparing.differences import ComparedModels, Differences, Pairs, differences_of
from calibstat.inference.comparing.mean_difference import MeansOfSamples, of_same_rows
from calibstat.inference.comparing.seminorm_difference import ResampledModel, resampled_together, upper_ends
from calibstat.inference.problems.problem import Problem, unseen_of
from calibstat.inference.words_on_clusters import SWAPPING, remark
from calibstat.measures.kinds.registry import measures_by_rows
from calibstat.resampling import Draws

LEAST_TAIL = 1e-12  # tail of a bound without draws


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


class ByEnds(ABC):
    """Differences whose intervals and p-values are made of upper ends both ways."""

    posed: Sequence[Posed]  # the models

    @property
    def tails(self) -> np.ndarray | None:
        """The tails for which ends that are made of draws are known apart; None of ends without draws."""
        return None

    @abstractmethod
    def upper(self, pairs: Pairs, tail: float) -> Sequence[UpperEnd]:
        """Return the upper ends of the first model of each pair less the second, which are asked near this tail."""

    def differences(self, pairs: Pairs, alpha: float) -> Differences:
        """Return the differences of these pairs, with intervals of level 1 - alpha."""
        estimates = np.array([model.estimate for model in self.posed])
        both_ways = [pair for a, b in pairs for pair in ((a, b), (b, a))]
        ends = self.upper(both_ways, alpha / 2)
        above, below = ends[::2], ends[1::2]
        return Differences(
            estimates,
            differences_of(estimates, pairs),
            low=np.array([-end.high(alpha / 2) for end in below]),
            high=np.array([end.high(alpha / 2) for end in above]),
            pvalue=np.array([p_value_of_ends(*each, self.tails) for each in zip(above, below, strict=True)]),
            n=tuple(model.n_rows for model in self.posed),
            remarks=tuple(self.remark(end, alpha / 2) for end in above),
        )

    def remark(self, end: UpperEnd, tail: float) -> str:
        """Return what is to be said of a pair beside its numbers."""
        return ""


@dataclass(frozen=True, eq=False)
class ByLosses(ByEnds):
    """Differences of mean losses: of the rows' differences, or of two samples."""

    compared: ComparedModels
    posed: Sequence[RowLosses]

    @classmethod
    def of(cls, compared: ComparedModels) -> Self:
        """Take the losses of the rows of each model in an order that all models on the same rows share."""
        losses: dict[int, RowLosses] = {}
        for _, group, order, unit in compared.orders():
            unseen = unseen_of(compared.problems[group[0]], compared.unit)
            losses |= {m: compared.problems[m].losses().take(order, unit, unseen) for m in group}
        return cls(compared, [losses[m] for m in range(len(losses))])

    def upper(self, pairs: Pairs, tail: float) -> Sequence[UpperEnd]:
        return [self._upper(a, b) for a, b in pairs]

    def remark(self, end: UpperEnd, tail: float) -> str:
        return remark_on_clusters(end, self.posed[0], tail, SWAPPING)

    def _upper(self, a: int, b: int) -> UpperEnd:
        one, other = self.posed[a], self.posed[b]
        if not self.compared.paired:
            first, second = one.interval, other.interval
            assert isinstance(first, MeanInterval)  # samples are of independent rows
            assert isinstance(second, MeanInterval)
            return MeansOfSamples(first, second)
        return of_same_rows(one, other, self.compared.same_outcomes)


@dataclass(frozen=True, eq=False)
class ByDraws(ByEnds):
    """Differences of norms, with the noise of both models from the same draws."""

    posed: Sequence[ResampledModel]
    draws: Draws

    @classmethod
    def of(cls, compared: ComparedModels) -> Self:
        """Draw models on the same rows together."""
        models: dict[int, ResampledModel] = {}
        for g, group, order, unit in compared.orders():
            intervals = [compared.problems[m].interval_of_rows(order, unit) for m in group]
            stream = resampling.Stream.COMPARE + g
            models.update(zip(group, resampled_together(intervals, compared.draws, stream), strict=True))
        return cls([models[m] for m in range(len(models))], compared.draws)

    @property
    def tails(self) -> np.ndarray:
        return np.arange(1, self.draws.n + 2) / (self.draws.n + 1)

    def upper(self, pairs: Pairs, tail: float) -> Sequence[UpperEnd]:
        return upper_ends([(self.posed[a], self.posed[b]) for a, b in pairs], tail)


def by_ends(compared: ComparedModels) -> ByEnds:
    """Return the way to compare a measure by the ends of its differences; raise if none is known for such rows."""
    _need_comparison(compared.first, compared.unit)
    return ByLosses.of(compared) if compared.first.is_mean else ByDraws.of(compared)


def remark_on_clusters(end: UpperEnd, rows: RowLosses, tail: float, further: str = "") -> str:
    """Return what is to be said of the difference of mean losses of rows in clusters; nothing of other rows."""
    if rows.unseen is None or not isinstance(end, OfMean):
        return ""
    return remark(end, rows.unseen.word, tail, further=further)


def _need_comparison(problem: Problem, unit: np.ndarray | None) -> None:
    """Raise if no honest comparison is known for such rows."""
    if not problem.compares:
        weighted = " of rows with weights" if problem.view.effective_n is not None else ""
        reason = "" if "honest" in problem.methods else problem.why_no_interval
        why = f", because {reason}" if reason else ""
        if not problem.is_one_number:
            why = ", because it is a number for each class; lens 'class_wise_mean' makes them one"
        raise ValueError(
            f"no honest comparison{weighted} is known for {problem.measure}, {problem.lens}{why}; of a binary "
            f"outcome it is for {', '.join(measures_by_rows())}; method 'swap' takes any binary measure"
        )
    if unit is not None and not problem.takes_clusters:
        raise ValueError(f"no honest comparison with clusters is known for {problem.measure}, {problem.lens}")


def p_value_of_ends(above: UpperEnd, below: UpperEnd, tails: np.ndarray | None) -> float:
    """Return the smallest alpha at which the interval of a difference excludes 0.

    `above` gives the high ends of the difference, and `below` the high ends of its negative. If the ends are made of
    draws, alpha / 2 is one of `tails`; if they are not, `tails` is None.
    """
    return min(1.0, 2 * min(_least_tail(above, tails), _least_tail(below, tails)))


def _least_tail(end: UpperEnd, tails: np.ndarray | None) -> float:
    """Return the smallest tail at which the end is below 0, one of `tails`, or any if None; 1 if it never is."""
    if not end.high(0.5) < 0:
        return 1.0
    if tails is None:
        low, high = np.log(LEAST_TAIL), np.log(0.5)
        while high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (low, middle) if end.high(float(np.exp(middle))) < 0 else (middle, high)
        return float(np.exp(high))
    first, last = 0, int(np.searchsorted(tails, 0.5, side="right"))  # of tails above a half two make 1
    while first < last:
        middle = (first + last) // 2
        first, last = (first, middle) if end.high(float(tails[middle])) < 0 else (middle + 1, last)
    return float(tails[first])
