"""What noise hides in a cell: against convolutions of unequal rows, the lemma's constant, and concave bounds."""

from itertools import pairwise

import numpy as np
import pytest
from plain_programme import log_expectation
from scipy.special import ive
from scipy.stats import binom

from calibstat.bounds.curves.noise_in_cells import (
    LARGEST_POINT,
    SPAN,
    WIDEST,
    Grid,
    Majorant,
    _by_jensen,
    _expectations,
    _unequal,
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


@pytest.mark.parametrize("m", [0.05, 0.3, 0.6, 1.0])
def test_jensens_bound_of_squares_is_the_least_of_all_lines(m):
    """S**2 / n >= 2 a S - a**2 n for every a: the smallest bound of any a, by a fine grid of a."""
    n, p, theta = 30, 0.35, 1.3
    a = np.linspace(-1, 1, 200_001)
    bounds = n * np.log(1 - m + m * np.exp(-2 * theta * a)) + 2 * theta * a * n * p + theta * a**2 * n
    assert _by_jensen(n, p, theta, 2, m)[0] == pytest.approx(bounds.min(), abs=1e-7)


@pytest.mark.parametrize(("theta", "power"), [(0.2, 1), (3.0, 1), (1.0, 2), (5.0, 2)])
def test_what_a_unit_of_unequal_rows_adds_is_the_kink_times_the_largest_point(theta, power):
    """Of exp(-theta * distance) the slope between numbers of positives falls by at most twice the kink: 1 - exp(-theta)
    of absolute values, and the steepest slope of squares, here of a fine grid. Equal rows have the sd s, and no point
    above .4689 / s. Of squares the curvature of theta * S**2 / n, twice theta / n, is a bound too."""
    n, m = 400.0, 0.3
    s = np.linspace(0, 200, 400_001)
    g = np.exp(-theta * s**power / n ** (power - 1))
    kink = -np.diff(g).min() / s[1] if power == 2 else g[0] - g[s == 1][0]
    point = LARGEST_POINT / np.sqrt(n * m * (1 - m) - 0.5 - n * 0.01**2 / 4)  # rows that differ by at most .01
    wanted = kink * point if power == 1 else min(kink * point, theta / n)
    assert _unequal(n, np.array([m]), theta, power, 0.01)[0] == pytest.approx(wanted, rel=1e-5)


@pytest.mark.parametrize(("n", "p"), CELLS)
@pytest.mark.parametrize("power", [1, 2])
def test_what_unequal_rows_add_grows_away_from_the_prediction(n, p, power):
    """So that the larger one of the nodes around a mean will do. Of rows that differ as much as they may it is at most
    -log E, which Jensen's bound adds at the prediction."""
    grid = Grid(20)
    noise, at = hidden_noise(n, p, 0.7, power, grid), int(np.searchsorted(grid.node, p))
    assert (np.diff(noise.kappa[at:]) >= 0).all()
    assert (np.diff(noise.kappa[: at + 1]) <= 0).all()
    log = _expectations(n, p, 0.7, power, grid.node, at)[0]
    if noise.widest > WIDEST[-1]:
        assert noise.kappa[at] * n * noise.widest**2 / 4 <= -log[at]
    # a wider one would be beyond the reach of noise, or its unequal rows would add more
    wider = noise.widest / 0.85
    if wider <= SPAN * np.sqrt(max(p * (1 - p), 1 / n) / n) and wider <= 1:
        kappa = _unequal(n, grid.node[at : at + 1], 0.7, power, wider)[0] / np.exp(log[at] + 0.04)
        assert kappa * n * wider**2 / 4 > -log[at] * (1 - 1e-9)


def test_a_majorant_of_a_parabola():
    """-3 m**2 lies above its chord by 3 w**2 / 4 at most; a quarter of w times the fall of its slope, 6 w, is twice
    that. So each node is raised by 1.5 w**2, w the wider interval beside it."""
    grid, m = Grid(9, finer=3), np.linspace(0, 1, 2001)
    found, width = Majorant.of(-3 * grid.node**2, -6 * grid.node, grid), np.diff(grid.node)
    raised = [1.5 * max(width[max(j - 1, 0)], width[min(j, width.size - 1)]) ** 2 for j in range(grid.node.size)]
    np.testing.assert_allclose(found.bound, -3 * grid.node**2 + raised, atol=1e-14)
    assert (np.interp(m, grid.node, found.bound) >= -3 * m**2).all()
    slope, fall, bend = np.diff(found.bound) / width, [0.0], 0.0
    for j in range(1, grid.node.size - 1):
        fall.append(max(slope[j - 1] - slope[j], 0))
        each = fall[-1] / (width[j - 1] / 2 + width[j] / 2)
        bend = max(bend, each * max(grid.moved[j - 1], grid.moved[j]) ** 2)
    np.testing.assert_allclose(found.fall, np.cumsum([*fall, 0.0]), atol=1e-12)
    assert found.bend == pytest.approx(bend, rel=1e-12)


@pytest.mark.parametrize("grid", [Grid(7), Grid(30, finer=3)], ids=["coarse", "fine"])
def test_what_rounding_reaches_from_an_interval(grid):
    """The largest reach of any mean in it, and the nodes that this takes in on both sides, by search."""
    node = grid.node
    for j, (start, end) in enumerate(pairwise(node)):
        largest = grid.reach(np.linspace(start, end, 101)).max()
        assert largest <= grid.moved[j] <= 1.0011 * largest
        below = max((i for i in range(node.size) if node[i] <= start - grid.moved[j]), default=0)
        above = min((i for i in range(node.size) if node[i] >= end + grid.moved[j]), default=node.size - 1)
        assert (grid.below[j], grid.above[j]) == (below, above)
        assert grid.least_moved[j] == min(grid.reach(node[below]), grid.reach(node[above]))


def test_every_node_is_a_share_of_the_way_between_levels():
    grid = Grid(7)
    assert np.array_equal(grid.node[:: grid.finer], grid.level)
    found = grid.level[:-1, None] + grid.share * np.diff(grid.level)[:, None]
    np.testing.assert_allclose(found.ravel(), grid.node[:-1], atol=1e-15)


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
