"""Differences of a measure between models, ties, and the order of rows: what all ways to compare share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Protocol

import numpy as np

from calibstat import resampling
from calibstat.inference.p_values import holm
from calibstat.inference.problems.problem import Problem
from calibstat.resampling import Draws
from calibstat.result import read_only

TIE = 1e-12  # differences up to this, or this share of the measures, come from rounding
Pairs = Sequence[tuple[int, int]]  # of models, by their numbers


class Differences(NamedTuple):
    """A measure of each model, and for each pair the difference, its interval and p-value; `n` counts rows.

    Of kernel errors `errors` are the low end, the estimate and the high end of each model, shape (3, M), and `at_least`
    is by how much the errors of a pair differ at least, 0 where no difference is shown. `remarks` are what is to be
    said of each pair beside the numbers, empty where nothing is.
    """

    estimates: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pvalue: np.ndarray
    n: tuple[int, ...]
    errors: np.ndarray | None = None
    at_least: np.ndarray | None = None
    remarks: tuple[str, ...] = ()

    def fields(self, names: tuple[str, ...], pairs: Pairs, bounds: tuple[float, float], adjust: str) -> dict[str, Any]:
        """Return the fields of a comparison that these numbers make, with ends within the bounds of the measure."""
        least, most = bounds
        low, middle, high = (None,) * 3 if self.errors is None else self.errors
        return {
            "names": names,
            "estimates": read_only(self.estimates),
            "pairs": tuple((names[i], names[j]) for i, j in pairs),
            "difference": read_only(self.difference),
            "low": read_only(np.maximum(self.low, least - most)),
            "high": read_only(np.minimum(self.high, most - least)),
            "pvalue": read_only(self.pvalue),
            "pvalue_adjusted": read_only(adjusted(self.pvalue, adjust)),
            "adjust": adjust,
            "n": self.n,
            "errors": middle,
            "errors_low": low,
            "errors_high": high,
            "at_least": self.at_least,
            "remarks": self.remarks if any(self.remarks) else (),
        }


class Way(Protocol):
    """A way to compare models."""

    def differences(self, pairs: Pairs, alpha: float) -> Differences:
        """Return the differences of these pairs, with intervals of level 1 - alpha."""
        ...


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """A measure of several models.

    Attributes
    ----------
    names : tuple of str, length M
        The models, or samples.
    problems : list of Problem, length M
        The measure and the rows of each.
    draws : Draws
        The draws of ways that draw.
    unit : ndarray of int64, shape (n,), or None
        The number of the cluster of each row; None if rows are independent.
    paired : bool
        Whether all models have the same rows.
    own_outcomes : bool
        Whether each model has outcomes of its own on these rows.
    """

    names: tuple[str, ...]
    problems: list[Problem]
    draws: Draws
    unit: np.ndarray | None = None
    paired: bool = True
    own_outcomes: bool = False

    @property
    def first(self) -> Problem:
        """The problem of the first model."""
        return self.problems[0]

    @property
    def same_outcomes(self) -> bool:
        """Whether all models have the same outcomes in every row, and not hits or outcomes of their own.

        It is a property of how rows were given: outcomes that agree in these rows may differ in others.
        """
        view = self.first.view
        return not self.own_outcomes and not (view.kind == "binary" and view.confidences)

    @property
    def groups(self) -> list[list[int]]:
        """The models on the same rows, in the order of their names."""
        every = range(len(self.names))
        return [by_name(self.names, every)] if self.paired else [[m] for m in every]

    def orders(self) -> Iterator[tuple[int, list[int], np.ndarray, np.ndarray | None]]:
        """Yield for each group its number, the models, the order of their rows, and the clusters in this order."""
        for g, group in enumerate(self.groups):
            columns = sort_columns([self.problems[m].sort_columns() for m in group])
            yield g, group, *resampling.canonical_order(columns, self.unit, self.problems[group[0]].weight)


def by_name(names: tuple[str, ...], models: Iterable[int]) -> list[int]:
    """Return the models in the order of their names, so that the order in which they are given cannot show."""
    return sorted(models, key=names.__getitem__)


def sort_columns(contents: Sequence[tuple[np.ndarray, ...]]) -> list[np.ndarray]:
    """Return what rows are put in order by: their outcomes and then their predictions, of each model."""
    return [column for part in zip(*contents, strict=True) for column in part]


def same_order(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one prediction is a strictly increasing function of the other on these rows, equal ones to equal ones."""
    order = np.argsort(one, kind="stable")
    steps, others = np.diff(one[order]), np.diff(other[order])
    return bool(((steps > 0) == (others > 0)).all() and (others >= 0).all())


def zero_if_rounding(value: Any, scale: float) -> Any:
    """Return differences of numbers of this size with those that rounding can make set to 0: equal is a tie."""
    return np.where(np.abs(value) <= TIE * max(1.0, abs(scale)), 0.0, value)


def differences_of(estimates: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Return the difference of the estimates of each pair, 0 where it is rounding alone."""
    return np.array([zero_if_rounding(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max()) for a, b in pairs])


def pairs_of(names: tuple[str, ...], reference: str | None) -> list[tuple[int, int]]:
    """Return all pairs of models, or with a reference the pairs of the reference and each of the others."""
    if reference is None:
        return list(combinations(range(len(names)), 2))
    return [(names.index(reference), j) for j in range(len(names)) if names[j] != reference]


def adjusted(pvalue: np.ndarray, adjust: str) -> np.ndarray:
    """Return p-values adjusted for their number, by Holm or by Benjamini and Hochberg."""
    if pvalue.size == 1:
        return pvalue.copy()
    if adjust == "holm":
        return holm(pvalue)
    from statsmodels.stats.multitest import multipletests

    return multipletests(pvalue, method="fdr_bh")[1]
