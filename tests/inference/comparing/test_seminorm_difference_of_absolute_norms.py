"""Absolute sums over the cells of several classes: comparisons of models against an enumeration of all signs."""

from itertools import product

import numpy as np
import pytest
from compared_models import drawn_rows, several_classes, skewness
from scipy.stats import norm

import calibstat as cs


def added(y, p, of, bins):
    """What each row adds to the sum of each cell and class, shape (n, cells * 3)."""
    residual = np.eye(3)[y] - p
    if of == "canonical":  # the cells of a grid
        cell = np.unique((p * bins).astype(int), axis=0, return_inverse=True)[1].ravel()[:, None] + np.zeros(3, int)
    else:
        cell = np.minimum((p * bins).astype(int), bins - 1)
    cells = cell.max() + 1
    out = np.zeros((y.size, cells, 3))
    for i, k in product(range(y.size), range(3)):
        out[i, cell[i, k], k] += residual[i, k]
    return out


def ways(cells, of):
    """All weights: signs of every cell and class, times the scale; for the maximum of one class."""
    if of == "max":
        signs = np.array(list(product((-1, 1), repeat=cells)))
        return np.concatenate([signs[:, :, None] * np.eye(3)[k] for k in range(3)])
    scale = {"canonical": 0.5, "mean": 1 / 3}[of]
    return scale * np.array(list(product((-1, 1), repeat=3 * cells))).reshape(-1, cells, 3)


def measured(theta, of):
    by_class = np.abs(theta).sum(axis=-2)
    return {"canonical": by_class.sum(axis=-1) / 2, "mean": by_class.mean(axis=-1), "max": by_class.max(axis=-1)}[of]


def slow_high(one, other, chosen, of, z):
    """The largest bound for fixed signs of the first model."""
    n, parts = len(one), []
    for part in (one, other):
        theta = part.mean(axis=0)
        parts.append((theta, np.array([part[i].mean(axis=0) - theta for i in chosen])))
    (theta, step), (theta_b, step_b) = parts
    moved = (measured(theta_b + 20 * step_b, of) - measured(theta_b, of)) / 20
    largest = {"canonical": 1.0, "mean": 2 / 3, "max": 1.0}[of]
    bounds = [np.quantile(moved, norm.cdf(z), method="weibull") + largest * (2 * z**2 + 4) / 3 / n]  # no weights
    every = ways(theta.shape[0], of)
    rows, steps = np.tensordot(every, one, ((1, 2), (1, 2))), np.tensordot(every, step, ((1, 2), (1, 2)))
    noises = np.quantile(moved - steps, norm.cdf(z), axis=1, method="weibull")
    for x, noise in zip(rows, noises, strict=True):
        variance = (x**2).sum() - x.sum() ** 2 / n
        bounds.append(x.mean() + noise + skewness(z, variance, (x**3).sum(), largest, largest) / n)
    weight = max(ways(theta_b.shape[0], of), key=lambda w: (w * theta_b).sum())
    x = (other * weight).sum(axis=(1, 2))
    below = skewness(z, (x**2).sum() - x.sum() ** 2 / n, -((x - x.mean()) ** 3).sum(), largest, largest)
    return max(bounds) - measured(theta_b, of) + below / n


SETTINGS = {
    "mean": {"measure": "ece", "n_bins": 2, "lens": "class_wise_mean"},
    "max": {"measure": "ece", "n_bins": 2, "lens": "class_wise_max"},
    "canonical": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 2},
}


@pytest.mark.parametrize("of", SETTINGS)
def test_ends_against_all_signs(of):
    y, p, q = several_classes(120)
    found = cs.compare(y, {"p": p, "q": q}, n_resamples=79, rng=3, **SETTINGS[of])
    columns = [y, y] + [c for k in range(3) for c in (p[:, k], q[:, k])]
    order = np.lexsort(columns[::-1])
    one, other = (added(y[order], v[order], of, 2) for v in (p, q))
    chosen = list(drawn_rows(120, 79, 3))
    z = norm.isf(0.025)
    high, low = slow_high(one, other, chosen, of, z), -slow_high(other, one, chosen, of, z)
    missed = (high - found.high[0]) / (high - low), (found.low[0] - low) / (high - low)
    assert min(missed) > -1e-9
    assert max(missed) < 0.05  # a few steps upwards need not reach the highest
    assert found.estimates[0] == pytest.approx(measured(one.mean(axis=0), of), abs=1e-12)


@pytest.mark.parametrize("of", SETTINGS)
def test_what_cannot_matter(of):
    y, p, q = several_classes(200)
    shuffled = np.random.default_rng(1).permutation(200)
    found = cs.compare(y, {"p": p, "q": q}, n_resamples=39, rng=3, **SETTINGS[of])
    models = {"q": q[shuffled], "p": p[shuffled]}
    other = cs.compare(y[shuffled], models, n_resamples=39, rng=3, n_jobs=2, **SETTINGS[of])
    assert (found.low[0], found.high[0], found.pvalue[0]) == (-other.high[0], -other.low[0], other.pvalue[0])
    same = cs.compare(y, {"p": p, "q": p.copy()}, n_resamples=39, rng=3, **SETTINGS[of])
    assert (same.difference[0], same.pvalue[0]) == (0, 1)
    assert same.low[0] <= 0 <= same.high[0]


def test_clusters_are_refused():
    y, p, q = several_classes()
    with pytest.raises(ValueError, match="no honest comparison with clusters is known for canonical_ce"):
        cs.compare(y, {"p": p, "q": q}, measure="canonical_ce", cluster=np.arange(y.size) // 2)
