"""What noise hides in a cell: against convolutions of unequal rows, the lemma's constant, and concave bounds."""

import numpy as np
import pytest
from plain_programme import log_expectation
from scipy.special import ive
from scipy.stats import binom

from calibstat.bounds.curves.noise_in_cells import (
    LARGEST_POINT,
    Grid,
    _by_jensen,
    _expectations,
    hidden_noise,
)

CELLS = [(1, 0.3), (5, 0.02), (12, 0.5), (30, 0.35), (60, 0.01), (40, 0.999), (200, 0.4)]


def test_the_constant_of_the_largest_point():
    """sup over x of sqrt(x) exp(-x) I_0(x) = .46882 at x = .790: no sum of indicators has a point above this / sd."""
    x = np.linspace(1e-3, 20, 200_001)
    largest = np.sqrt(x) * ive(0, x)
    assert x[largest.argmax()] == pytest.approx(0.790, abs=1e-3)
    assert largest.max() == pytest.approx(0.46882, abs=1e-5)
    assert largest.max() < LARGEST_POINT
    # half of 400 rows near 0 and half near 1 come close to it, all equal rows do not
    law = np.convolve(binom.pmf(np.arange(201), 200, 0.395 / 200), binom.pmf(np.arange(201), 200, 1 - 0.395 / 200))
    deviation = np.sqrt(0.79 * (1 - 0.395 / 200))
    assert 0.466 < law.max() * deviation < LARGEST_POINT


@pytest.mark.parametrize(("n", "p"), CELLS)
@pytest.mark.parametrize("power", [1, 2])
def test_expectations_and_slopes(n, p, power):
    grid = Grid(20)
    theta = 0.7
    log, slope, cap, cap_slope = _expectations(n, p, theta, power, grid.node, int(np.searchsorted(grid.node, p)))
    y = np.arange(n + 1)
    g = np.exp(-theta * np.abs(y - n * p) ** power / n ** (power - 1))
    for j in range(0, grid.node.size, 7):
        exact = np.log(binom.pmf(y, n, grid.node[j]) @ g)
        assert cap[j] >= exact - 1e-12
        assert log[j] == pytest.approx(exact, abs=2e-9) or log[j] == cap[j] < -500
    inside = slice(1, -1)
    steps = np.diff(log) / np.diff(grid.node)  # slopes of chords lie between slopes at their ends
    assert (np.minimum(slope[:-1], slope[1:])[inside] - 1e-6 * n <= steps[inside]).all()
    assert (steps[inside] <= np.maximum(slope[:-1], slope[1:])[inside] + 1e-6 * n).all()
    assert (np.diff(slope) <= 1e-6 * n).all()  # log E is concave
    assert (np.diff(cap_slope) <= 1e-6 * n).all()


@pytest.mark.parametrize("power", [1, 2])
def test_unequal_rows_are_below_the_bound(power):
    random = np.random.default_rng(11)
    grid = Grid(40)
    for _ in range(300):
        n, theta = int(random.integers(2, 40)), float(random.choice([0.05, 0.3, 1.0, 2.5]))
        p = float(random.choice([random.random(), 0.02 * random.random()]))
        noise = hidden_noise(n, p, theta, power, grid)
        low = random.random() * (1 - noise.widest if noise.widest < 1 else 0)
        c = low + min(noise.widest, 1.0) * random.random(n) ** random.choice([0.2, 1, 5])
        if random.random() < 0.5:
            c = np.where(random.random(n) < random.random(), c.min(), c.max())
        exact, squares = log_expectation(c, p, theta, power), ((c - c.mean()) ** 2).sum()
        at = np.searchsorted(grid.node, c.mean())
        kappa = noise.kappa[max(at - 1, 0) : at + 1].max()
        assert exact <= np.interp(c.mean(), grid.node, noise.even.bound) + kappa * squares + 1e-9
        wide = random.random(n)
        assert log_expectation(wide, p, theta, power) <= np.interp(wide.mean(), grid.node, noise.any.bound) + 1e-9


def test_without_what_unequal_rows_add_the_bound_is_exceeded():
    """Half of the rows certain to fail and half certain to succeed have no noise at all: E is 1."""
    n, theta = 20, 1.0
    noise = hidden_noise(n, 0.5, theta, 1, Grid(40))
    c = np.where(np.arange(n) < 10, 0.5 - noise.widest / 2, 0.5 + noise.widest / 2)
    at = np.interp(0.5, Grid(40).node, noise.even.bound)
    assert log_expectation(c, 0.5, theta) > at
    assert log_expectation(c, 0.5, theta) <= at + noise.kappa.min() * ((c - 0.5) ** 2).sum()


def test_jensens_bound_is_attained_by_one_sided_sums():
    # theta small: E exp(-theta |S|) and E exp(-theta S) differ only where S < 0, hardly ever for m = .9 and p = .1
    value, slope = _by_jensen(50, 0.1, 0.2, 1, 0.9)
    assert value == pytest.approx(50 * np.log(1 - 0.9 * (1 - np.exp(-0.2))) + 0.2 * 5)
    assert slope == pytest.approx(-50 * (1 - np.exp(-0.2)) / (1 - 0.9 * (1 - np.exp(-0.2))))


def test_no_mean_moves_further_than_the_reach():
    """Numbers of any kind, each rounded to a level beside it: their mean moves by less than `reach` says."""
    random = np.random.default_rng(5)
    grid = Grid(30)
    for _ in range(500):
        c = random.beta(*random.choice([0.1, 1, 10], 2), random.integers(1, 20))
        below = np.clip(np.searchsorted(grid.level, c, side="right") - 1, 0, grid.steps - 1)
        low, high = grid.level[below].mean(), grid.level[below + 1].mean()
        between = low + random.random() * (high - low)
        assert high - low <= grid.reach(between)
