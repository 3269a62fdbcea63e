"""Sums of units of every kind, with the matrix of what each unit adds in each cell: the oracle of their moments."""

from dataclasses import replace

import numpy as np
from class_examples import example

import calibstat as cs
from calibstat.bounds.unit_sums import ClassSums, ClusterSums

ROWS = 40


def clusters(weighted=False, alone=False):
    """40 rows in 7 clusters, or alone, over 6 cells, the last of which has no rows."""
    random = np.random.default_rng(3)
    cell = random.integers(0, 5, ROWS)
    unit = np.arange(ROWS) if alone else np.append(np.arange(7), random.integers(0, 7, ROWS - 7))
    weight = random.lognormal(0, 1, ROWS) if weighted else None
    residual = random.uniform(-1, 1, ROWS)
    return ClusterSums(cell, residual if weight is None else residual * weight, unit, 6, weight)


def classes(index, stride, cells, dtype=np.float64):
    """40 rows that add a residual for each of 3 classes."""
    label, prob = example(ROWS, 3, temperature=2.0, dtype=dtype)
    return ClassSums(cs.Predictions.from_rows(label, prob), index, stride, cells)


def weighted(sums):
    """The same with weights of the rows."""
    return replace(sums, sample_weight=np.random.default_rng(7).lognormal(0, 1, ROWS))


def own_cells(dtype=np.float64):
    """Each class of a row has one of 4 cells of its own."""
    return classes(np.random.default_rng(4).integers(0, 4, (ROWS, 3)).astype(np.int32), 4, 12, dtype)


def shared_cells(dtype=np.float64):
    """All classes of a row share one of 5 cells, the last of which has no rows."""
    return classes(np.random.default_rng(5).integers(0, 4, (ROWS, 1)) * 3, 1, 15, dtype)


def one_sum():
    """The classes of a row may add in the same of 3 cells."""
    return classes(np.random.default_rng(6).integers(0, 3, (ROWS, 3)), 0, 3)


UNITS = {
    "clusters": clusters,
    "clusters of rows with weights": lambda: clusters(weighted=True),
    "clusters of one row": lambda: clusters(alone=True),
    "classes in cells of their own": own_cells,
    "classes that share cells": shared_cells,
    "classes in the same cells": one_sum,
    "classes of rows with weights": lambda: weighted(own_cells()),
    "classes of rows with weights that share cells": lambda: weighted(shared_cells()),
}


def entries(sums):
    """The unit, the cell and the contribution of each entry, by loops."""
    if isinstance(sums, ClusterSums):
        yield from zip(sums.unit, sums.cell, sums.contribution, strict=True)
        return
    prob, label = sums.predictions.prob.astype(np.float64), sums.predictions.label
    for i in range(label.size):
        for k in range(prob.shape[1]):
            at = sums.index[i, min(k, sums.index.shape[1] - 1)] + k * sums.stride
            yield i, at, sums.size[i] * ((label[i] == k) - prob[i, k])


def matrix(sums, function=float):
    """What each unit adds in each cell, shape (units, cells), after a function of each contribution."""
    out = np.zeros((sums.size.size, sums.cells))
    for unit, cell, contribution in entries(sums):
        out[unit, cell] += function(contribution)
    return out


def slow(sums, weights):
    """The weighted sum, its variance and its third moment, by the conventions of `UnitSums`."""
    by_unit = matrix(sums) @ weights
    total, n = by_unit.sum(), sums.size.sum()
    left = by_unit - sums.size * total / n
    if sums.units_are_rows:
        return total, (left**2).sum(), (by_unit**3).sum()
    return total, by_unit.size / (by_unit.size - 1) * (left**2).sum(), (left**3).sum()
