"""Curves of bounded variation or slope: no curve of the shape is above the bound, by exact laws."""

import numpy as np
import pytest
from plain_programme import objective

from calibstat.bounds.curves.noise_in_cells import Grid
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.bounds.curves.separate_cells import SlopedCells, VaryingCells

VALUES = np.sort(np.random.default_rng(2).random(24))
CELLS = np.split(VALUES, 4)
RUNS = Runs(VALUES, np.ones(24), np.repeat(np.arange(4), 6))


def curves(random, most, kind):
    """Deviations of the shape, from steps or smooth waves, that keep the curve between 0 and 1."""
    while True:
        if kind is VaryingCells:
            steps = random.normal(size=24) * (random.random(24) < random.random())
            deviation = steps.cumsum() * most / max(np.abs(steps[1:]).sum(), 1e-9)
        else:
            deviation = np.cumsum(np.append(0.0, np.diff(VALUES) * most * random.choice([-1, 1], 23)))
        deviation += random.normal(0, 0.2)
        if ((VALUES + deviation >= 0) & (VALUES + deviation <= 1)).all():
            yield np.split(VALUES + deviation, 4)
        else:
            c = np.clip(VALUES + deviation, 0, 1)
            if np.abs(np.diff(c - VALUES)).sum() <= most and kind is VaryingCells:
                yield np.split(c, 4)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("kind", [VaryingCells, SlopedCells])
@pytest.mark.parametrize("most", [0.2, 1.0])
def test_no_curve_of_the_shape_is_above_the_bound(kind, most, power):
    random = np.random.default_rng(9)
    found = curves(random, most, kind)
    for theta, eta in ((0.3, 0.1), (0.8, 0.5), (1.5, 1.5)):
        bound = kind(RUNS, power, Grid(40), most).largest(theta, eta)
        assert max(objective(next(found), CELLS, theta, eta, power) for _ in range(100)) <= bound + 1e-9


def test_a_curve_of_another_shape_is_above_it():
    """A planted fault: every second row certain, and the others certain to fail, is no curve of little slope."""
    theta, eta = 0.3, 0.15
    c = np.where(np.arange(24) % 2, 1.0, 0.0)
    assert objective(np.split(c, 4), CELLS, theta, eta) > SlopedCells(RUNS, 1, Grid(40), 0.05).largest(theta, eta)


@pytest.mark.parametrize("kind", [VaryingCells, SlopedCells])
def test_more_freedom_is_a_larger_bound(kind):
    bounds = [kind(RUNS, 1, Grid(40), most).largest(0.5, 0.3) for most in (0.1, 0.5, 2.0)]
    assert bounds[0] < bounds[1] < bounds[2]


def test_mean_distances_of_pairs():
    # one cell of .1, .2, .4: pairs differ by .1, .3, .2, each twice, over 3 rows: .4
    runs = Runs(np.array([0.1, 0.2, 0.4]), np.ones(3), np.zeros(3, int))
    assert SlopedCells(runs, 1, Grid(10), 1.0)._within(0) == pytest.approx(0.4)
