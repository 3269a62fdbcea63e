import numpy as np
import pytest
from conftest import rows
from hypothesis import given, settings

import calibstat as cs
from calibstat.measures.smooth import FINE, NARROWEST, STEPS, _split


def split_rows(v, mass, intervals):
    """Share the mass of every row between the two grid points beside it."""
    grid = np.zeros(intervals + 1)
    lower = np.minimum((v * intervals).astype(int), intervals - 1)
    np.add.at(grid, lower, mass * (lower + 1 - v * intervals))
    np.add.at(grid, lower + 1, mass * (v * intervals - lower))
    return grid


def plain_at(y, p, bandwidth):
    """The definition without Fourier transforms: reflect, sum over the grid, read off the mesh by lines."""
    intervals = max(2000, round(20 / bandwidth)) // 2
    mesh = np.linspace(0, 1, max(round(10 / bandwidth), 200))
    lower = np.minimum((mesh * intervals).astype(int), intervals - 1)
    share = mesh * intervals - lower
    grids = split_rows(p, y - p, intervals), split_rows(p, np.ones(p.size), intervals)
    smoothed = np.zeros((2, intervals + 1))
    near = np.unique(np.concatenate((lower, lower + 1)))
    for node in np.flatnonzero(grids[1]):
        for mirror in {node, -node, 2 * intervals - node}:  # a node at an end is its own mirror image
            distance = np.abs(near - mirror)
            height = np.exp(-0.5 * (distance / (intervals * bandwidth)) ** 2) * (2 * distance <= intervals)
            for row, grid in zip(smoothed, grids, strict=True):
                row[near] += grid[node] * height
    residual, density = (1 - share) * smoothed[:, lower] + share * smoothed[:, lower + 1]
    return np.abs(residual).sum() / density.sum()


def plain(y, p):
    """Bisection for the smallest bandwidth, a multiple of 2**-10 above .001, with a value of at most it."""
    low, high = 0, 1024
    for _ in range(10):
        middle = (low + high) // 2
        low, high = (
            (low, middle) if middle >= 2 and plain_at(y, p, middle / 1024) <= middle / 1024 + 1e-12 else (middle, high)
        )
    return plain_at(y, p, high / 1024), high / 1024


def families(n):
    rng = np.random.default_rng(3)
    u = rng.random(n)
    edges = rng.beta(0.1, 0.1, n)
    return {
        "calibrated": (u, u),
        "temperature": (u**2 / (u**2 + (1 - u) ** 2), u),
        "edges": (edges, edges),
        "ties": (u.round(1), u),
        "constant": (np.full(n, 0.25), np.full(n, 0.4)),
        "exact 0 and 1": ((u > 0.5) * 1.0, u),
        "all wrong": ((u > 0.5) * 1.0, (u <= 0.5) * 1.0),
    }


@pytest.mark.parametrize("family", families(1))
@pytest.mark.parametrize("n", [1, 40, 3000])
def test_against_the_plain_definition(family, n):
    p, truth = families(n)[family]
    y = np.random.default_rng(4).random(n) < truth
    value, bandwidth = plain(y * 1.0, p)
    detail = cs.detail(y, p, measure="smooth_ece")
    assert detail["bandwidth"] == bandwidth
    assert detail.estimate == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize("bandwidth", [0.002, 0.0071, 0.05, 0.3, 1])
def test_at_a_bandwidth(bandwidth):
    p, truth = families(500)["temperature"]
    y = np.random.default_rng(4).random(500) < truth
    found = cs.estimate(y, p, measure="smooth_ece", bandwidth=bandwidth)
    assert found == pytest.approx(plain_at(y * 1.0, p, bandwidth), abs=1e-10)


@settings(max_examples=30)
@given(rows())
def test_the_bandwidth_is_the_smallest_that_is_wide_enough(data):
    detail = cs.detail(*data, measure="smooth_ece")
    step = round(detail["bandwidth"] * STEPS)
    assert detail["bandwidth"] == step / STEPS
    assert detail.estimate <= detail["bandwidth"] + 1e-12
    assert step >= NARROWEST
    if step > NARROWEST:
        narrower = (step - 1) / STEPS
        assert cs.estimate(*data, measure="smooth_ece", bandwidth=narrower) > narrower - 1e-5


def test_splitting_twice_is_splitting_once_where_grids_nest():
    sample = cs.Sample.from_rows([0, 1] * 50, np.random.default_rng(0).random(100))
    once = _split(sample.value, sample.residual, sample.count, 1000)
    fine = _split(sample.value, sample.residual, sample.count, FINE)
    twice = _split(np.arange(FINE + 1) / FINE, fine[0], fine[1], 1000)
    assert twice == pytest.approx(once, abs=1e-12)


def test_detail_is_a_curve_whose_mean_is_the_value():
    y, p = [1, 0, 1, 1], [0.2, 0.5, 0.5, 0.9]
    for bandwidth in (None, 0.1):
        detail = cs.detail(y, p, measure="smooth_ece", bandwidth=bandwidth)
        assert detail["grid"].shape == detail["residual"].shape == detail["density"].shape
        assert np.mean(np.abs(detail["residual"]) * detail["density"]) == pytest.approx(detail.estimate)
        assert detail["density"].mean() == pytest.approx(1)


def test_a_constant_residual_is_the_value():
    # every residual is .25, and so is the smoothed one, at any bandwidth
    sample = cs.Sample.from_counts([0.25, 0.5], [4, 4], [2, 3])
    assert cs.estimate(sample, measure="smooth_ece") == pytest.approx(0.25, abs=1e-12)
    assert cs.estimate(sample, measure="smooth_ece", bandwidth=0.01) == pytest.approx(0.25, abs=1e-12)


@pytest.mark.parametrize("bandwidth", [0, 1e-5, 1.5, float("nan")])
def test_bandwidth_out_of_range(bandwidth):
    with pytest.raises(ValueError, match="bandwidth None or a number from"):
        cs.estimate([1], [0.5], measure="smooth_ece", bandwidth=bandwidth)
