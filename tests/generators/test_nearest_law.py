"""The nearest calibrated law, against linear programmes over couplings."""

import numpy as np
import pytest
from scipy.optimize import linprog

from calibstat.generators import temperature
from calibstat.generators.nearest_law import nearest_law
from calibstat.measures.lower_and_upper_distance import LowerDistance


def summary(seed):
    random = np.random.default_rng(seed)
    value = np.unique(np.where(random.random(7) < 0.5, random.integers(0, 11, 7) / 10, random.random(7)))
    count = random.integers(1, 6, value.size)
    positives = random.integers(0, count + 1)
    return value, count / count.sum(), positives / count.sum()


def coupled(value, share, hits, points):
    """The least mean move to these points: over masses by prediction, outcome and point, calibrated at each point."""
    m, k = value.size, points.size
    cost = np.tile(np.abs(value[:, None] - points).ravel(), 2)
    leaves = np.kron(np.eye(2 * m), np.ones(k))
    calibrated = np.hstack([np.tile(np.diag(1 - points), m), np.tile(np.diag(-points), m)])
    amount = np.concatenate([hits, share - hits, np.zeros(k)])
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    found = linprog(cost, A_eq=np.vstack([leaves, calibrated]), b_eq=amount, bounds=(0, None), options=exact)
    assert found.status == 0
    return found.fun


@pytest.mark.parametrize("seed", range(12))
def test_nearest_law_is_nearest_and_calibrated_mass(seed):
    """No coupling to its points costs less, nor to a fine grid beside them; rows can be coupled to its masses."""
    value, share, hits = summary(seed)
    distance, point, mass = nearest_law(value, share, hits)
    assert mass.sum() == pytest.approx(1, abs=1e-8)
    assert mass @ point == pytest.approx(hits.sum(), abs=1e-8)
    assert distance == pytest.approx(coupled(value, share, hits, point[mass > 0]), abs=1e-8)
    finer = coupled(value, share, hits, np.union1d(point, np.linspace(0, 1, 301)))
    assert distance == pytest.approx(finer, abs=1e-9)


@pytest.mark.parametrize("n", [1, 40])
def test_nearest_law_beside_the_grid(n):
    y, p = temperature(2).sample(n, rng=3)
    order = np.argsort(p)
    exact = nearest_law(p[order], np.full(n, 1 / n), y[order] / n)[0]
    for grid in (10, 100):
        coarse = LowerDistance(grid=grid).evaluate(p[order], np.ones(n), y[order].astype(float))
        assert exact - 1e-9 <= coarse <= exact + 0.5 / grid**2 if n <= grid else abs(coarse - exact) < 0.5 / grid


def test_predictions_next_to_each_other_and_to_the_ends():
    value = np.array([0, 1e-12, 0.5, 0.5 + 1e-11, 1 - 1e-13])
    distance, _, _ = nearest_law(value, np.full(5, 0.2), np.array([0, 0, 0.2, 0, 0.2]))
    assert distance == pytest.approx(0, abs=1e-9)
