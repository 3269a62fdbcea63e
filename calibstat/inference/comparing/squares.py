"""Differences of squared kernel errors between models or samples, in closed form, without draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibstat import resampling
from calibstat.bounds.square_bound import Side, SquareBound, bound_of
from calibstat.data.clusters import OBSERVED
from calibstat.inference.comparing.differences import (
    ComparedModels,
    Differences,
    Pairs,
    Way,
    sort_columns,
    zero_if_rounding,
)
from calibstat.inference.comparing.ends import by_ends, p_value_of_ends
from calibstat.inference.problems.problem import Problem
from calibstat.result import read_only


@dataclass(frozen=True, eq=False)
class Kinds:
    """Rows of models in an order of their own: outcomes and predictions of each model, and how many rows are alike.

    Attributes
    ----------
    label, value : ndarray, shape (M, K, n)
        Outcomes and predictions of M models, of one event or of each of K classes.
    count : ndarray, shape (n,)
        How many rows are of each kind.
    weight, unit : ndarray, shape (n,), or None
        The weights of rows, and their clusters.
    """

    label: np.ndarray
    value: np.ndarray
    count: np.ndarray
    weight: np.ndarray | None
    unit: np.ndarray | None

    @classmethod
    def of(cls, problems: Sequence[Problem], unit: np.ndarray | None = None, count: np.ndarray | None = None) -> Kinds:
        """Return the kinds of rows of models on the same rows: those that are equal in everything are one kind.

        Rows with weights, and rows in clusters, are each of a kind of its own. `count` says how many rows each row
        stands for, by default one.
        """
        rows = [problem.view.event_rows() for problem in problems]
        weight = problems[0].weight
        columns = [column for part in sort_columns(rows) for column in part]
        order, unit = resampling.canonical_order(columns, unit, weight)
        label, value = (np.array([part[:, order] for part in parts]) for parts in zip(*rows, strict=True))
        if weight is not None or unit is not None:
            return cls(label, value, np.ones(order.size), None if weight is None else weight[order], unit)
        differs = (np.diff(label) != 0).any(axis=(0, 1)) | (np.diff(value) != 0).any(axis=(0, 1))
        first = np.flatnonzero(np.append(True, differs))
        number = np.ones(order.size) if count is None else count[order]
        return cls(label[:, :, first], value[:, :, first], np.add.reduceat(number, first), None, None)

    def bound(self, bandwidth: float, *signs: tuple[int, float], unseen: str = OBSERVED) -> SquareBound:
        """Return the bound of the sum of the squared errors of these models, each with its sign.

        Of several classes a squared error is the mean over the classes. `unseen` says what is supposed of clusters that
        were not observed.
        """
        residual = self.label - self.value if self.weight is None else self.weight * (self.label - self.value)
        classes = range(self.value.shape[1])
        sides = [Side(self.value[m, k], residual[m, k], bandwidth, sign) for m, sign in signs for k in classes]
        bound = bound_of(sides, self.count, self.weight, self.unit, unseen=unseen)
        return bound if len(classes) == 1 else bound.over(len(classes))


@dataclass(frozen=True, eq=False)
class BySquares:
    """Differences of squared errors, by a bound of the square of each model and of the difference of each pair.

    Attributes
    ----------
    compared : ComparedModels
        The models.
    kinds : sequence of Kinds
        The rows of each group of models on the same rows.
    unseen : str
        What is supposed of clusters that were not observed, a word of `UNSEEN`.
    """

    compared: ComparedModels
    kinds: Sequence[Kinds]
    unseen: str = OBSERVED

    @classmethod
    def of(cls, compared: ComparedModels, *, unseen: str = OBSERVED, count: np.ndarray | None = None) -> Self:
        """Take the rows of the models; `count` says how many rows each row stands for, by default one."""
        groups = [[compared.problems[m] for m in group] for group in compared.groups]
        return cls(compared, [Kinds.of(problems, compared.unit, count) for problems in groups], unseen)

    @property
    def bandwidth(self) -> float:
        """The bandwidth of the kernel."""
        bandwidth = self.compared.first.laplace_bandwidth
        assert bandwidth is not None
        return bandwidth

    def place(self, m: int) -> tuple[Kinds, int]:
        """Return the rows of a model, and its place among their models."""
        groups = zip(self.kinds, self.compared.groups, strict=True)
        return next((kinds, group.index(m)) for kinds, group in groups if m in group)

    def alone(self) -> list[SquareBound]:
        """Return the bound of the squared error of each model."""
        places = [self.place(m) for m in range(len(self.compared.names))]
        return [kinds.bound(self.bandwidth, (k, 1.0), unseen=self.unseen) for kinds, k in places]

    def between(self, a: int, b: int, alone: Sequence[SquareBound]) -> SquareBound:
        """Return the bound of the difference of two models, of which there are the bounds of each alone."""
        if not self.compared.paired:
            return alone[a].minus(alone[b])
        # added up in one order, so that B - A is the negative of A - B to the last bit
        (kinds, one), (_, other) = self.place(a), self.place(b)
        signs = (min(one, other), 1.0), (max(one, other), -1.0)
        bound = kinds.bound(self.bandwidth, *signs, unseen=self.unseen)
        return -bound if one > other else bound

    def differences(self, pairs: Pairs, alpha: float) -> Differences:
        """Return the differences of these pairs, with intervals of level 1 - alpha."""
        alone = self.alone()
        bounds = [self.between(a, b, alone) for a, b in pairs]
        errors = np.sqrt(np.array([_ends(each, alpha) for each in alone]).clip(0, 1)).T
        low, middle, high = np.array([_ends(bound, alpha) for bound in bounds]).clip(-1, 1).T
        # T_A**2 - T_B**2 = (T_A - T_B) (T_A + T_B)
        most = np.array([errors[2, a] + errors[2, b] for a, b in pairs])
        return Differences(
            estimates=np.array([each.estimate for each in alone]),
            difference=zero_if_rounding(middle, 1.0),
            low=low,
            high=high,
            pvalue=np.array([p_value_of_ends(bound, -bound, None) for bound in bounds]),
            n=tuple(int(self.place(m)[0].count.sum()) for m in range(len(alone))),
            errors=read_only(errors),
            at_least=read_only(np.maximum(np.maximum(low, -high), 0) / np.where(most > 0, most, 1.0)),
        )


@dataclass(frozen=True, eq=False)
class ByEndsAndSquares:
    """Differences with intervals by their ends, and p-values and errors of the models by squares."""

    ends: Way
    squares: BySquares

    def differences(self, pairs: Pairs, alpha: float) -> Differences:
        """Return the differences of these pairs, with intervals of level 1 - alpha."""
        of_squares = self.squares.differences(pairs, alpha)
        told = {name: getattr(of_squares, name) for name in ("pvalue", "errors", "at_least")}
        return self.ends.differences(pairs, alpha)._replace(**told)


def goes_by_squares(problem: Problem, unit: np.ndarray | None) -> bool:
    """Whether the squares of errors are compared; an error with an interval of clusters keeps its own p-value there."""
    return problem.laplace_bandwidth is not None and (unit is None or not problem.compares)


def by_bootstrap(compared: ComparedModels, *, unseen: str = OBSERVED) -> Way:
    """Return the way to compare measures: by squares where they are known, with ends where the measure has them."""
    if not goes_by_squares(compared.first, compared.unit):
        return by_ends(compared)
    squares = BySquares.of(compared, unseen=unseen)
    return ByEndsAndSquares(by_ends(compared), squares) if compared.first.compares else squares


def _ends(bound: SquareBound, alpha: float) -> tuple[float, float, float]:
    """Return the ends of the interval at level 1 - alpha around the estimate."""
    return bound.low(alpha / 2), bound.estimate, bound.high(alpha / 2)
