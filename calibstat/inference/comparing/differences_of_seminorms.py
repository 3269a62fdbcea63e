"""Upper bounds of the difference of two seminorms: the largest bound for any fixed weights of the first one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.bounds.linear_form import RowForm
from calibstat.resampling import Clusters, Draws, Pairs, RowSums

STEPS = 4  # at most, from each start
STARTS = 8  # resamples from whose best weights the steps begin, beside those of the data
CLIMB = 1e-4  # the least share by which a step has to raise the bound


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows, perhaps with weights, or clusters `unit` of them, drawn together for the models that predict them."""

    n: int
    unit: np.ndarray | None
    weight: np.ndarray | None
    draws: Draws
    stage: int

    @cached_property
    def units(self) -> np.ndarray:
        """The number of the cluster of each row."""
        return np.arange(self.n) if self.unit is None else self.unit

    @cached_property
    def size(self) -> np.ndarray:
        """The number of rows of each cluster, or the sum of their weights."""
        return np.bincount(self.units, self.weight).astype(np.float64)

    def draw(self, forms: list[RowForm]) -> list[DrawnModel]:
        """Return the models with the directional bootstrap of each, from the same draws."""
        begin = np.cumsum([0, *(form.theta.size for form in forms)])
        cell = [_columns(form.cell) + b for form, b in zip(forms, begin[:-1], strict=True)]
        known = [form.witness(form.theta) is not None for form in forms]

        def moves(total: np.ndarray, rows: np.ndarray) -> np.ndarray:
            found = np.zeros((rows.size, len(forms), 2))
            for m, form in enumerate(forms):
                step = total[:, begin[m] : begin[m + 1]] / rows[:, None] - form.theta
                found[:, m, 0] = form.directional(step)
                if not known[m]:
                    found[:, m, 1] = form.norm(step)
            return found

        residual = np.hstack([_columns(form.added) for form in forms])
        found = self._sums(np.hstack(cell), residual, int(begin[-1]), moves)
        return [
            DrawnModel(form, self, found[:, m, 0] + form.missing_bias(found[:, m, 0]), found[:, m, 1])
            for m, form in enumerate(forms)
        ]

    def means(self, part: np.ndarray) -> np.ndarray:
        """Return the means of columns over the rows of each resample, less those of the data: shape (B, W)."""
        cell = np.broadcast_to(np.arange(part.shape[1]), part.shape)
        return self._sums(cell, part, part.shape[1], lambda total, rows: total / rows[:, None]) - (
            part.sum(axis=0) / self.size.sum()
        )

    def first(self, form: RowForm) -> np.ndarray:
        """Return theta of the first resamples, shape (STARTS, cells)."""
        few = replace(self, draws=replace(self.draws, n=min(STARTS, self.draws.n)))
        return few._sums(form.cell, form.added, form.theta.size, lambda total, rows: total / rows[:, None])

    def moving_with(self, drawn: np.ndarray) -> np.ndarray:
        """Return the covariance of a number with how often each unit is drawn."""
        weight = (drawn - drawn.mean()) / drawn.size
        return resampling.weighted_counts(self.size.size, weight[:, None], self.draws, self.stage)[:, 0]

    def _sums(self, cell: np.ndarray, residual: np.ndarray, size: int, statistic: Callable[..., Any]) -> np.ndarray:
        sums = RowSums(np.ascontiguousarray(cell, np.int64), np.ascontiguousarray(residual), size, self.weight)
        return resampling.draw(
            sums, Pairs() if self.unit is None else Clusters(self.unit), statistic, self.draws, self.stage
        )


@dataclass(frozen=True, eq=False)
class DrawnModel:
    """A model with the directional bootstrap of its measure, and the measure of G* where no weights are known."""

    form: RowForm
    rows: DrawnRows
    directional: np.ndarray
    norm: np.ndarray

    def added(self, weight: np.ndarray) -> np.ndarray:
        """Return what each row adds to the sum with these weights."""
        return (weight[_columns(self.form.cell)] * _columns(self.form.added)).sum(axis=1)

    def centred(self, weight: np.ndarray) -> np.ndarray:
        """Return what each unit adds to the sum, less what its number of rows lets expect."""
        return np.bincount(self.rows.units, self.added(weight)) - self.rows.size * float(self.form.theta @ weight)

    def in_cells(self, unit: np.ndarray) -> np.ndarray:
        """Return the cells' mean products of the residuals with numbers of the units, centred likewise."""
        form = self.form
        product = _columns(form.added) * unit[self.rows.units, None]
        total = np.bincount(_columns(form.cell).ravel(), product.ravel(), form.theta.size)
        return (total - form.theta * float(self.rows.size @ unit)) / form.n


def _columns(part: np.ndarray) -> np.ndarray:
    """Return what rows hold as columns: one, or one for each class."""
    return part.reshape(len(part), -1)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Fixed weights of one model: their sums in the data / n, the moments of n times them, and their moves, (B, W)."""

    value: np.ndarray
    variance: np.ndarray
    third: np.ndarray
    moves: np.ndarray


@dataclass(frozen=True, eq=False)
class SeminormDifference:
    """The upper end of the measure of one model less that of another."""

    one: DrawnModel
    other: DrawnModel
    candidates: Candidates
    ordered: np.ndarray  # the draws of D* - <G*, w>, descending

    @classmethod
    def of(cls, one: DrawnModel, other: DrawnModel, tail: float) -> SeminormDifference:
        """Look for the weights of the first model with the largest bounds at this tail."""
        candidates = _candidates(one, other, tail)
        noise = other.directional[:, None] - candidates.moves
        return cls(one, other, candidates, np.sort(noise, axis=0)[::-1])

    @property
    def n_draws(self) -> int:
        """Number of resamples."""
        return len(self.ordered)

    def high(self, tail: float) -> float:
        """Return the end, below the difference in the population with probability `tail` at most.

        Statement and argument: docs/proofs.md, section 7.
        """
        a, b, found = self.one.form, self.other.form, self.candidates
        place = np.clip(tail * (self.n_draws + 1), 1, self.n_draws) - 1  # as of "weibull" quantiles
        first = int(place)
        last = min(first + 1, self.n_draws - 1)
        noise = self.ordered[first] + (place - first) * (self.ordered[last] - self.ordered[first])
        skewness = a.score(tail).skewness(found.variance, found.third) / a.n
        return float((found.value + noise + skewness).max()) - b.estimate + _skewness_below(b, tail) / b.n


def _skewness_below(form: RowForm, tail: float) -> float:
    """Return what they add to the lower bound of the sum with the weights of the data."""
    weight, score = form.witness(form.theta), form.score(tail)
    if weight is None:
        return score.cap * score.k
    sums = form.moments.of(weight)
    return float(score.skewness(sums.variance, -form.moments.central_third(sums)))


def _candidates(one: DrawnModel, other: DrawnModel, tail: float) -> Candidates:
    """Return the weights that may have the largest bound: of the data, none, and what a few steps upwards find.

    value + z sd(D* - <G*, w>) is convex in the weights w, so that the weights best for its slope never lower it.
    """
    form = one.form
    start = form.witness(form.theta)
    if start is None:  # -<G*, w> is at most the measure of G*, and no weights have more skewness than this
        unknown = np.array([np.inf])
        return Candidates(np.array([form.estimate]), np.zeros(1), unknown, -one.norm[:, None])
    climb = _Climb(one, other, tail)
    visited = [np.zeros_like(start), *climb.visited(start)]
    moments = np.array([form.moments.of(weight) for weight in visited])
    moves = one.rows.means(np.column_stack([one.added(weight) for weight in visited]))
    return Candidates(moments[:, 0] / form.n, moments[:, 1], moments[:, 2], moves)


class _Climb:
    """Steps to weights with a larger bound, by the covariances of D* and of the sums of one model."""

    def __init__(self, one: DrawnModel, other: DrawnModel, tail: float) -> None:
        self.one, self.form = one, one.form
        self.score = self.form.score(tail)
        self.variance = float(other.directional.var())
        self.shared = one.in_cells(one.rows.moving_with(other.directional))

    def at(self, weight: np.ndarray) -> tuple[float, float, np.ndarray]:
        """Return about how large the bound is, z / sd X of X = D* - <G*, w>, and the covariance of X and G*."""
        form, centred = self.form, self.one.centred(weight)
        variance = self.variance - 2 * float(self.shared @ weight) + float(centred @ centred) / form.n**2
        spread = float(np.sqrt(max(variance, np.finfo(float).tiny)))
        total, variance, third = form.moments.of(weight)
        skewness = float(self.score.skewness(variance, third))
        bound = total / form.n + self.score.z * spread + skewness / form.n
        return bound, self.score.z / spread, self.shared - self.one.in_cells(centred) / form.n

    def visited(self, start: np.ndarray) -> list[np.ndarray]:
        """Return all weights on the way up from these, and from other starts."""
        form, shared = self.form, self.shared
        _, slope, covariance = self.at(start)
        starts = [
            form.theta - slope * covariance,
            form.theta - slope * shared,
            form.theta - 4 * slope * shared,
            -slope * shared,
            *(2 * self.one.rows.first(form) - form.theta),
        ]
        seen = {start.tobytes(): start}
        for measure in starts:
            highest = -np.inf
            for _ in range(STEPS):
                weight = form.witness(measure)
                assert weight is not None
                if weight.tobytes() in seen:
                    break
                seen[weight.tobytes()] = weight
                bound, slope, covariance = self.at(weight)
                if bound <= highest + CLIMB * abs(highest):
                    break
                highest, measure = bound, form.theta - slope * covariance
        return list(seen.values())
