"""Moments of sums of weighted residuals, against loops over all rows."""

import numpy as np
import pytest

from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.unit_sums import ClusterSums

CELLS = 6


def example(seed=3, n=40, spread=1.0):
    random = np.random.default_rng(seed)
    cell, value = random.integers(0, CELLS, n), np.linspace(0, 1, CELLS)
    residual = (random.random(n) < value[cell]) - value[cell] + np.where(random.random(n) < 0.3, 0.1, 0.0)
    return cell, residual, random.lognormal(0, spread, n)


def of_rows(cell, residual, weight):
    return SeparableMoments.of_rows(cell, residual, CELLS, weight)


def slow(cell, residual, weight, a):
    """The sum, and the moments of what each row adds less what its weight lets expect."""
    part = a[cell] * residual * weight
    left = part - weight * part.sum() / weight.sum()
    return part.sum(), (left**2).sum(), (left**3).sum()


def test_moments():
    data = example()
    moments = of_rows(*data)
    for a in np.random.default_rng(1).uniform(-1, 1, (20, CELLS)):
        assert moments.of(a)[:3] == pytest.approx(slow(*data, a), abs=1e-10)
        assert moments.central_third(moments.of(a)) == moments.of(a)[2]
    size = np.abs(data[1] * data[2])
    assert moments.largest() == pytest.approx(((size**2).sum(), (size**3).sum()))


def test_moments_of_first_cells_and_of_intervals():
    data = example()
    moments = of_rows(*data)
    prefixes = np.array(moments.prefixes())
    for j in range(CELLS + 1):
        assert prefixes[:3, j] == pytest.approx(slow(*data, np.arange(CELLS) < j), abs=1e-10)
    ends = np.array([0, 2, 3, 6])
    found = moments.between(ends)
    for i, low in enumerate(ends):
        for j, high in enumerate(ends):
            cells = np.arange(CELLS)
            a = ((cells >= low) & (cells < high)) * 1.0 - ((cells >= high) & (cells < low))
            assert [part[i, j] for part in found[:3]] == pytest.approx(slow(*data, a), abs=1e-10)


def test_covariances():
    data = example()
    moments = of_rows(*data)
    covariance = moments.covariance()
    assert np.diag(covariance) == pytest.approx(moments.variances())
    for a in np.random.default_rng(1).uniform(-1, 1, (5, CELLS)):
        assert a @ covariance @ a == pytest.approx(slow(*data, a)[1], abs=1e-10)


def test_equal_weights_are_rows():
    cell, residual, _ = example()
    rows, equal = (
        SeparableMoments.of_rows(cell, residual, CELLS),
        of_rows(cell, residual, np.ones(40)),
    )
    for a in np.random.default_rng(1).uniform(-1, 1, (5, CELLS)):
        found = rows.of(a)
        assert equal.of(a)[:3] == pytest.approx((*found[:2], rows.central_third(found)), abs=1e-12)
    assert equal.tail_bound(0.025).cap == 1
    assert equal.tail_bound(0.025).z == pytest.approx(
        rows.tail_bound(0.025).z, abs=0.07
    )  # Student's with 39 degrees of freedom
    assert equal.largest_square.tolist() == [1.0] * CELLS


def test_rows_with_weights_are_clusters_of_one_row():
    """But for the factor n / (n - 1) of their variance."""
    cell, residual, weight = example()
    moments = of_rows(cell, residual, weight)
    alone = JointMoments(ClusterSums(cell, residual * weight, np.arange(40), CELLS, weight))
    for a in np.random.default_rng(1).uniform(-1, 1, (5, CELLS)):
        total, variance, third, _ = moments.of(a)
        assert alone.of(a)[:3] == pytest.approx((total, 40 / 39 * variance, third), abs=1e-10)
    assert alone.n == pytest.approx(moments.n) == pytest.approx(weight.sum())
    assert moments.tail_bound(0.025) == alone.tail_bound(0.025)
    assert np.array(moments.prefixes())[:3, -1] == pytest.approx(np.array(alone.prefixes())[:3, -1] / [1, 40 / 39, 1])


def test_few_heavy_rows_have_few_degrees_of_freedom():
    """Three rows hold nearly all the weight: (3 * 100**2)**2 / (3 * 100**4) - 1 = 2, so z is Student's with 2."""
    weight = np.append(np.full(37, 0.01), np.full(3, 100.0))
    tail_bound = of_rows(*example()[:2], weight).tail_bound(0.025)
    assert tail_bound.z == pytest.approx(4.3027, abs=1e-3)
    assert tail_bound.cap == 100
