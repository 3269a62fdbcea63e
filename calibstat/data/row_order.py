"""Canonical order of rows, by their contents, so that seeded results do not depend on the given order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

import numpy as np


def canonical_order(
    columns: Iterable[np.ndarray], unit: np.ndarray | None = None, weight: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the order of rows by the first column, ties by the second and so on, and the units in this order.

    `unit` numbers the cluster of each row from 0. Clusters are renumbered by the contents of their rows, not by name.
    Rows of weight 0 are left out, and clusters of such rows alone.
    """
    if weight is not None:
        kept = np.flatnonzero(weight > 0)
        unit = None if unit is None else np.unique(unit[kept], return_inverse=True)[1]
        if unit is not None and unit.max() == 0:
            raise ValueError("expected at least 2 clusters with a row of positive weight, found 1")
        order, unit = canonical_order((column[kept] for column in chain(columns, [weight])), unit)
        return kept[order], unit
    order, first = _sorted(columns)
    if unit is None:
        return order, None
    kind = np.empty(order.size, np.int64)
    kind[order] = np.cumsum(first)
    unit = _rank(unit, kind)[unit]
    if not first.all():
        order = np.lexsort((unit, kind))
    return order, unit[order]


def _rank(unit: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """Return the place of each unit by the smallest kind of its rows, ties by the next and so on."""
    size = np.bincount(unit)
    smallest = np.full(size.size, unit.size + 1)
    np.minimum.at(smallest, unit, kind)
    rank = np.empty(size.size, np.int64)
    by_smallest = np.argsort(smallest)
    rank[by_smallest] = np.arange(size.size)
    if (np.diff(smallest[by_smallest]) > 0).all():
        return rank
    held = [part.tobytes() for part in np.split(kind[np.lexsort((kind, unit))].astype(">i8"), np.cumsum(size)[:-1])]
    rank[sorted(range(size.size), key=held.__getitem__)] = np.arange(size.size)
    return rank


def _sorted(columns: Iterable[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the order, and which rows differ from the one before in it; later columns are read only for ties.

    The first columns mostly distinguish all rows, so that many classes cost no more than few.
    """
    columns = iter(columns)
    column = next(columns)
    order = np.argsort(column, kind="stable")
    first = _changes(column[order])
    for column in columns:
        tied = np.flatnonzero(~(first & np.append(first[1:], True)))
        if tied.size == 0:
            break
        rows = order[tied]
        inner = np.lexsort((column[rows], np.cumsum(first)[tied]))
        order[tied] = rows[inner]
        first[tied] |= _changes(column[order[tied]])
    return order, first


def _changes(column: np.ndarray) -> np.ndarray:
    """Return which entries differ from the one before; the first does."""
    return np.append(True, column[1:] != column[:-1])
