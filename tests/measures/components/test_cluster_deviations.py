"""The omnibus statistic of rows in clusters, beside the same computed cluster by cluster and cell by cell."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from calibstat.measures.components import cluster_deviations
from calibstat.measures.components.cluster_deviations import ClusterDeviations
from calibstat.measures.components.deviations import Diagnostics, cells_of_time


def rows(seed, n=300, clusters=40, digits=2):
    random = np.random.default_rng(seed)
    p = random.beta(0.8, 2, n).round(digits).clip(0.01, 0.99)
    return p, random.integers(0, clusters, n), (random.random(n) < p).astype(float), random.gamma(1.0, 1.0, n)


def made(p, unit, weight):
    value, at, count = np.unique(p, return_inverse=True, return_counts=True)
    cell = cells_of_time(value, count.astype(float))[at]
    count = np.bincount(cell).astype(float)
    diagnostics = Diagnostics.at(count, np.bincount(cell, p) / p.size)
    return ClusterDeviations.of(diagnostics, cell, unit, p, weight), cell


def features(deviations):
    """Each component and each cell of a scale, at the cells of the data."""
    scales = deviations.scales
    inside = (scales.index[:, None] >= scales.begin) & (scales.index[:, None] < scales.end)
    return np.hstack([deviations.components.basis, inside])


def is_rare(unit, p, weight):
    """Clusters of a rare outcome of which too few are expected to have it, one cluster after the other."""
    size = np.bincount(unit, weight)
    mean = np.bincount(unit, weight * p) / size
    unlikely = np.minimum(mean, 1 - mean)
    found = []
    for own, m in zip(unlikely, size, strict=True):
        like = (unlikely <= own) & (np.floor(np.log2(size)) >= np.floor(np.log2(m)))
        found.append(own < 0.25 and unlikely[like].sum() < 10)
    return np.array(found)


def slow(deviations, cell, p, unit, y, weight):
    """A sum for each component and each cell of a scale, divided by the root of the clusters' squares."""
    scales = deviations.scales
    of_row = features(deviations)[cell]
    added = (weight * (y - p))[:, None] * of_row
    rare, value = is_rare(unit, p, weight), np.bincount(cell, p) / np.bincount(cell)
    squares = [np.zeros(of_row.shape[1]) for _ in range(4)]
    for c in np.unique(unit):
        rows = unit == c
        squares[int(rare[c])] += added[rows].sum(axis=0) ** 2
        if not rare[c]:
            squares[2] += ((weight**2 * p * (1 - p))[rows, None] * of_row[rows] ** 2).sum(axis=0)
            continue
        v, f = value[cell[rows]], weight[rows, None] * of_row[rows]
        squares[3] += np.einsum("if,jf,ij->f", f, f, np.minimum.outer(v, v) - np.outer(v, v))  # by one uniform number
    total = np.maximum(squares[0], squares[2]) + np.maximum(squares[1], squares[3])
    z = added.sum(axis=0) ** 2 / np.maximum(total, 1e-300)
    size = deviations.components.basis.shape[1]
    smooth = max((z[:d].sum() - d) / math.sqrt(2 * d) - 0.2 * (d > 20) for d in range(2, size + 1))
    scattered = local = -math.inf
    for parts in np.unique(scales.parts):
        whole = z[size:][(scales.parts == parts) & scales.aligned]
        scattered = max(scattered, (whole.sum() - whole.size) / math.sqrt(2 * whole.size))
        if parts <= 64:
            largest = z[size:][scales.parts == parts].max()
            local = max(local, -math.log(2) - norm.logsf(math.sqrt(largest)) - math.log(parts))
    return np.logaddexp.reduce([smooth, scattered - 1, local - 4])


def fast(deviations, cell, p, y, weight):
    contribution = weight * (y - p)
    squares = deviations.squares(deviations.in_parts(contribution))
    return deviations.statistic(np.bincount(cell, contribution)[None], squares)[0]


@pytest.mark.parametrize(("seed", "n", "clusters"), [(1, 300, 40), (2, 50, 50), (3, 900, 3), (4, 8, 2), (5, 1, 1)])
@pytest.mark.parametrize("weighted", [False, True])
def test_as_cell_by_cell(seed, n, clusters, weighted):
    p, unit, y, weight = rows(seed, n, clusters)
    unit = np.unique(unit, return_inverse=True)[1]
    weight = weight if weighted else np.ones(n)
    deviations, cell = made(p, unit, weight)
    assert fast(deviations, cell, p, y, weight) == pytest.approx(slow(deviations, cell, p, unit, y, weight), abs=1e-5)


@pytest.mark.parametrize("fault", ["_add_squares", "_add_shared"])
def test_a_fault_is_found(fault, monkeypatch):
    p, unit, y, weight = rows(1)
    p = np.where(unit % 2, p / 10, p)
    exact = slow(*made(p, unit, weight), p, unit, y, weight)
    monkeypatch.setattr(cluster_deviations, fault, lambda *_: None)
    deviations, cell = made(p, unit, weight)
    assert abs(fast(deviations, cell, p, y, weight) - exact) > 1e-4


def test_variances_of_labels_that_a_cluster_shares():
    """Rows at .1, .2 and .3 with one uniform number: by its four intervals."""
    p, unit = np.array([0.1, 0.2, 0.3]), np.zeros(3, int)
    deviations, cell = made(p, unit, np.ones(3))
    assert deviations.rare.tolist() == [1]
    chance = np.array([0.1, 0.1, 0.1, 0.7])
    added = np.array([(y - p) @ features(deviations)[cell] for y in ([1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0])])
    assert np.allclose(deviations.expected[1], chance @ added**2)
    assert not deviations.expected[0].any()


def test_clusters_that_are_rare():
    unit = np.repeat(np.arange(220), 5)
    p = np.repeat(np.repeat([0.01, 0.1, 0.19, 0.5], [100, 50, 50, 20]), 5)  # 1 + 5 expected, and 3.99 of 21 at .19
    rare = cluster_deviations.rarest(unit, p, np.ones(p.size))
    assert np.bincount(np.repeat([0, 1, 2, 3], [100, 50, 50, 20]), rare).tolist() == [100, 50, 21, 0]
    large = np.concatenate([unit, np.repeat(np.arange(220, 226), 100)])  # six large ones, by themselves
    rare = cluster_deviations.rarest(large, np.concatenate([p, np.full(600, 0.15)]), np.ones(large.size))
    assert rare[220:].all()
    assert cluster_deviations.rarest(unit, 1 - p, np.ones(p.size)).sum() == pytest.approx(171, abs=1)


def test_signs_leave_the_squares_as_they_are():
    p, unit, y, weight = rows(6)
    deviations, _ = made(p, unit, weight)
    sign = np.where(np.random.default_rng(1).random(40) < 0.5, -1.0, 1.0)
    squares = deviations.squares(deviations.in_parts(weight * (y - p)))
    flipped = deviations.squares(deviations.in_parts(weight * (y - p) * sign[unit]))
    assert np.allclose(flipped, squares, rtol=1e-12)


def test_squares_of_single_rows_are_expected():
    """With clusters of one row, none of them rare, the squares have the expectation that they are compared with."""
    p, _, _, weight = rows(7)
    p, unit = p.clip(0.3, 0.7), np.arange(p.size)
    deviations, cell = made(p, unit, weight)
    assert not deviations.rare.any()
    squares = (weight**2 * p * (1 - p)) @ features(deviations)[cell] ** 2
    assert np.allclose(deviations.expected[0], squares)
