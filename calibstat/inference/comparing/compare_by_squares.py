"""Differences of squared kernel errors between models or samples, in closed form, without draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.bounds.square_bound import Side, SquareBound, bound_of
from calibstat.inference.comparing.compare_by_bootstrap import p_value_of_ends
from calibstat.inference.comparing.differences import Differences, by_name, sort_columns, zero_if_rounding
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
    def of(cls, problems: list[Problem], unit: np.ndarray | None = None, count: np.ndarray | None = None) -> Kinds:
        """Return the kinds of rows of models on the same rows: those that are equal in everything are one kind.

        Rows with weights, and rows in clusters, are each of a kind of its own. `count` says how many rows each row
        stands for, by default one.
        """
        rows = [problem.data.event_rows() for problem in problems]
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

    def bound(self, bandwidth: float, *signs: tuple[int, float], rows_hide: bool = False) -> SquareBound:
        """Return the bound of the sum of the squared errors of these models, each with its sign.

        Of several classes a squared error is the mean over the classes. If `rows_hide`, what was not observed are rows
        and not whole clusters.
        """
        residual = self.label - self.value if self.weight is None else self.weight * (self.label - self.value)
        classes = range(self.value.shape[1])
        sides = [Side(self.value[m, k], residual[m, k], bandwidth, sign) for m, sign in signs for k in classes]
        bound = bound_of(sides, self.count, self.weight, self.unit, rows_hide=rows_hide)
        return bound if len(classes) == 1 else bound.over(len(classes))


def by_squares(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    unit: np.ndarray | None,
    paired: bool,
    alpha: float,
    *,
    rows_hide: bool = False,
) -> Differences:
    """Compare on the same rows for all models, unless they are separate samples."""
    groups = [by_name(names, range(len(names)))] if paired else [[m] for m in range(len(names))]
    index = {m: (g, k) for g, group in enumerate(groups) for k, m in enumerate(group)}
    kinds = [Kinds.of([problems[m] for m in group], unit) for group in groups]
    single, bounds = bounds_of_kinds(kinds, index, pairs, problems[0].laplace_bandwidth, paired, rows_hide=rows_hide)
    n = tuple(int(kinds[index[m][0]].count.sum()) for m in range(len(names)))
    return differences_of_bounds(single, bounds, pairs, n, alpha)


def bounds_of_kinds(
    kinds: Sequence[Kinds],
    index: Mapping[int, tuple[int, int]],
    pairs: Sequence[tuple[int, int]],
    bandwidth: float | None,
    paired: bool,
    *,
    rows_hide: bool = False,
) -> tuple[list[SquareBound], list[SquareBound]]:
    """Return the bound of the squared error of each model, and of the difference of each pair.

    `index` says of which kinds each model is, and its place among their models.
    """
    assert bandwidth is not None

    def alone(m: int) -> SquareBound:
        g, k = index[m]
        return kinds[g].bound(bandwidth, (k, 1.0), rows_hide=rows_hide)

    def difference(a: int, b: int) -> SquareBound:
        if not paired:
            return single[a].minus(single[b])
        # added up in one order, so that B - A is the negative of A - B to the last bit
        (first, second), swapped = sorted((index[a][1], index[b][1])), index[a][1] > index[b][1]
        bound = kinds[0].bound(bandwidth, (first, 1.0), (second, -1.0), rows_hide=rows_hide)
        return -bound if swapped else bound

    single = [alone(m) for m in sorted(index)]
    return single, [difference(a, b) for a, b in pairs]


def differences_of_bounds(
    single: Sequence[SquareBound],
    bounds: Sequence[SquareBound],
    pairs: Sequence[tuple[int, int]],
    n: tuple[int, ...],
    alpha: float,
) -> Differences:
    """Return the differences by the bounds of the squared error of each model, and of the difference of each pair."""
    errors = np.sqrt(np.array([_ends(each, alpha) for each in single]).clip(0, 1)).T
    low, middle, high = np.array([_ends(bound, alpha) for bound in bounds]).clip(-1, 1).T
    # T_A**2 - T_B**2 = (T_A - T_B) (T_A + T_B)
    most = np.array([errors[2, a] + errors[2, b] for a, b in pairs])
    return Differences(
        estimates=np.array([each.estimate for each in single]),
        difference=zero_if_rounding(middle, 1.0),
        low=low,
        high=high,
        pvalue=np.array([p_value_of_ends(bound, -bound, None) for bound in bounds]),
        n=n,
        errors=read_only(errors),
        at_least=read_only(np.maximum(np.maximum(low, -high), 0) / np.where(most > 0, most, 1.0)),
    )


def _ends(bound: SquareBound, alpha: float) -> tuple[float, float, float]:
    """Return the ends of the interval at level 1 - alpha around the estimate."""
    return bound.low(alpha / 2), bound.estimate, bound.high(alpha / 2)
