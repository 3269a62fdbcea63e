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


def slow(deviations, cell, p, unit, y, weight):
    """A sum for each component and each cell of a scale, divided by the root of the clusters' squares."""
    scales, basis = deviations.scales, deviations.components.basis
    inside = (scales.index[:, None] >= scales.begin) & (scales.index[:, None] < scales.end)
    features = np.hstack([basis, inside])[cell]
    added = (weight * (y - p))[:, None] * features
    by_cluster = np.array([added[unit == c].sum(axis=0) for c in np.unique(unit)])
    model = ((weight**2 * p * (1 - p))[:, None] * features**2).sum(axis=0)
    with np.errstate(invalid="ignore"):
        z = np.nan_to_num(added.sum(axis=0) ** 2 / np.maximum((by_cluster**2).sum(axis=0), model))
    size = basis.shape[1]
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
def test_as_cell_by_cell(seed, n, clusters, weighted, monkeypatch):
    p, unit, y, weight = rows(seed, n, clusters)
    weight = weight if weighted else np.ones(n)
    deviations, cell = made(p, unit, weight)
    exact = slow(deviations, cell, p, unit, y, weight)
    assert fast(deviations, cell, p, y, weight) == pytest.approx(exact, abs=1e-5)
    monkeypatch.setattr(cluster_deviations, "_add_squares", lambda *_: None)  # only the variances of independent labels
    if n > clusters:
        assert abs(fast(deviations, cell, p, y, weight) - exact) > 1e-4


def test_signs_leave_the_squares_as_they_are():
    p, unit, y, weight = rows(6)
    deviations, _ = made(p, unit, weight)
    sign = np.where(np.random.default_rng(1).random(40) < 0.5, -1.0, 1.0)
    squares = deviations.squares(deviations.in_parts(weight * (y - p)))
    flipped = deviations.squares(deviations.in_parts(weight * (y - p) * sign[unit]))
    assert np.allclose(flipped, squares, rtol=1e-12)


def test_single_rows_that_are_as_expected():
    """With clusters of one row the squares have the expectation that they are compared with, each feature its own."""
    p, _, _, weight = rows(7)
    deviations, _ = made(p, np.arange(p.size), weight)
    total = np.zeros(deviations.expected.size)
    for y in (0.0, 1.0):  # by both labels, each with its probability
        one = np.where(y == 1, p, 1 - p)
        squares = np.zeros_like(total)
        along = np.empty(deviations.components.basis.shape[1])
        contribution = deviations.in_parts(weight * (y - p) * np.sqrt(one))
        layers = deviations._layers
        cluster_deviations._add_squares(
            contribution, deviations.cell, deviations.first, deviations.components.basis, layers, along, squares
        )
        total += squares
    assert np.allclose(total, deviations.expected)
