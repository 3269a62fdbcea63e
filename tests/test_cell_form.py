"""The form of binned measures: biases and spreads of cells, against quadrature, grids and loops."""

import numpy as np
import pytest
from oracles import bin_number
from scipy import integrate, stats
from scipy.stats import norm

from calibstat.inference.problem import pose
from calibstat.measures import cell_form


def model_of(y, p, measure, options, **settings):
    found = pose(y, p, measure, options, **settings)
    return found.row_form() if found.contents() else None


def bias_by_hand(y, p, cell, cluster):
    """The rule cell by cell: a gap one spread nearer to zero, and what absolute values add to it on average."""
    total, n = 0.0, y.size
    for b in np.unique(cell):
        here = cell == b
        theta = (y - p)[here].sum() / n
        parts = [((y - p)[here & (cluster == c)].sum() - (cluster == c).sum() * theta) for c in np.unique(cluster)]
        variance = np.square(parts).sum() / n**2
        if here.sum() < 30:
            variance = max(variance, (p * (1 - p))[here].sum() / n**2)
        if variance > 0:
            t = max(abs(theta) / np.sqrt(variance) - 1, 0)
            # E|Z + t| - t, integrated numerically
            z = np.linspace(-9, 9, 180_001)
            total += np.sqrt(variance) * ((np.abs(z + t) * norm.pdf(z)).sum() * (z[1] - z[0]) - t)
    return total


@pytest.mark.parametrize("members", [1, 5])
def test_the_largest_bias_by_hand(members):
    random = np.random.default_rng(2)
    p = random.random(200)
    y = (random.random(200) < p**2).astype(int)
    cluster = np.arange(200) // members
    model = model_of(y, p, "ece", {"n_bins": 5})
    cell = bin_number(p, 5)
    unit = None if members == 1 else cluster
    model = model.for_comparison(unit)
    assert model.missing_bias(np.zeros(1)) == pytest.approx(bias_by_hand(y, p, cell, cluster), abs=1e-8)


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0, 3.0])
def test_folded_bias(t):
    mean, _ = integrate.quad(lambda z: abs(z + t) * stats.norm.pdf(z), -12, 12, points=[-t])
    assert cell_form.folded_bias(np.array([t]))[0] == pytest.approx(mean - t, abs=1e-9)


def test_largest_bias_by_hand():
    # one gap of at most one spread may be zero in truth, and then its bias is E|Z| = sqrt(2 / pi) spreads
    assert cell_form.largest_bias(np.array([0.03]), np.array([0.05])) == pytest.approx(0.05 * np.sqrt(2 / np.pi))
    assert cell_form.largest_bias(np.array([0.03]), np.array([0.0])) == 0


def test_spread_inversion_by_grid():
    generator = np.random.default_rng(1)
    for _ in range(8):
        gap, spread = generator.random(6) * 0.05, generator.random(6) * 0.02 + 0.001
        estimate = gap.sum() * generator.uniform(0.8, 1.5)
        cap = gap / spread + 2
        t = np.minimum(cap, np.linspace(0, cap.max(), 4001)[:, None])
        mean = 2 * stats.norm.pdf(t) + t * (2 * stats.norm.cdf(t) - 1)  # of a folded normal
        likely = mean @ spread - 1.96 * np.sqrt((1 + t * t - mean * mean) @ spread**2)
        best = (t @ spread)[likely <= estimate].max(initial=0.0)
        step = spread.sum() * cap.max() / 4000
        assert cell_form.spread_inversion(estimate, gap, spread, 1.96) == pytest.approx(best, abs=step)


def test_spread_inversion_without_noise():
    assert cell_form.spread_inversion(0.2, np.array([0.05, 0.15]), np.zeros(2), 1.96) == pytest.approx(0.2)


def test_bisect():
    assert cell_form.bisect(lambda x: x * x, 2.0, 0.0, 4.0) == pytest.approx(np.sqrt(2))
    assert cell_form.bisect(lambda x: x, 9.0, 0.0, 4.0) == 4.0
    assert cell_form.bisect(lambda x: x + 1, 0.0, 0.0, 4.0) == 0.0
