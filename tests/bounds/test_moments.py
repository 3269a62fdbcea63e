"""Moments of sums of residuals over rows and clusters, against loops over all of them."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy import optimize

import calibstat as cs
from calibstat.bounds.joint_moments import JointMoments
from calibstat.bounds.moments import SeparableMoments
from calibstat.bounds.tail_bound import TailBound, events_at
from calibstat.bounds.unit_sums import ClusterSums


def example(seed, n=30, cells=6, clusters=None):
    random = np.random.default_rng(seed)
    cell, value = random.integers(0, cells, n), np.linspace(0, 1, cells)
    cell[:cells] = np.arange(cells)
    residual = (random.random(n) < value[cell]) - value[cell] + np.where(random.random(n) < 0.3, 0.1, 0.0)
    unit = None if clusters is None else np.append(np.arange(clusters), random.integers(0, clusters, n - clusters))
    return cell, residual, unit


def slow(cell, residual, unit, weight):
    """The sum of weight times residual, with its variance and third moment, unit by unit."""
    n, part = residual.size, weight[cell] * residual
    total = part.sum()
    if unit is None:
        return total, sum(x**2 for x in part) - total**2 / n, sum(x**3 for x in part)
    clusters = unit.max() + 1
    left = [part[unit == c].sum() - (unit == c).sum() * total / n for c in range(clusters)]
    return total, clusters / (clusters - 1) * sum(x**2 for x in left), sum(x**3 for x in left)


def moments_of(cell, residual, unit):
    if unit is None:
        return SeparableMoments.of_rows(cell, residual, 6)
    return JointMoments(ClusterSums(cell, residual, unit, 6))


@pytest.fixture(params=[None, 7], ids=["rows", "clusters"])
def case(request):
    cell, residual, unit = example(3, clusters=request.param)
    return moments_of(cell, residual, unit), lambda weight: slow(cell, residual, unit, weight)


def test_moments_WeightedSumsInterval(case):
    moments, expected = case
    for weight in np.random.default_rng(1).uniform(-1, 1, (20, 6)):
        assert moments.of(weight)[:3] == pytest.approx(expected(weight), abs=1e-12)
        most = moments.largest()
        assert all(found <= limit + 1e-12 for found, limit in zip(moments.of(weight)[1:3], most, strict=True))


def test_third_moments_about_the_mean(case):
    """Of clusters they are so anyway; of rows by loops over what each adds."""
    moments, _ = case
    cell, residual, _ = example(3)
    for weight in np.random.default_rng(1).uniform(-1, 1, (5, 6)):
        sums = moments.of(weight)
        part = weight[cell] * residual
        expected = sums.third if isinstance(moments, JointMoments) else sum((x - part.mean()) ** 3 for x in part)
        assert moments.central_third(sums) == pytest.approx(expected, abs=1e-12)


def test_moments_of_the_sums_up_to_each_cell(case):
    moments, expected = case
    found = np.array(moments.prefixes())
    for j in range(7):
        assert found[:3, j] == pytest.approx(expected((np.arange(6) < j).astype(float)), abs=1e-12)


def test_moments_of_differences_of_these_sums(case):
    moments, expected = case
    ends = np.array([0, 1, 3, 4, 6])
    found = np.array(moments.between(ends))
    for (i, a), (j, b) in itertools.product(enumerate(ends), repeat=2):
        weight = (np.arange(6) < b).astype(float) - (np.arange(6) < a)
        assert found[:3, i, j] == pytest.approx(expected(weight), abs=1e-12)


def test_covariance_of_cells(case):
    moments, expected = case
    covariance = moments.covariance()
    assert np.diag(covariance) == pytest.approx(moments.variances(), abs=1e-12)
    for weight in np.random.default_rng(2).uniform(-1, 1, (20, 6)):
        assert weight @ covariance @ weight == pytest.approx(expected(weight)[1], abs=1e-12)


@given(rows())
def test_a_summary_has_the_moments_of_its_rows(data):
    y, p = data
    sample = cs.Sample.from_rows(y, p)
    cell = np.searchsorted(sample.value, p)
    of_rows, of_sample = SeparableMoments.of_rows(cell, y - p, sample.value.size), SeparableMoments.of_sample(sample)
    for name in ("total", "square", "cube", "n"):
        assert getattr(of_sample, name) == pytest.approx(getattr(of_rows, name), abs=1e-12)
    halves = (sample.value > 0.5).astype(np.int64)
    assert SeparableMoments.of_sample(sample, halves).square.sum() == pytest.approx(of_rows.square.sum(), abs=1e-12)


def test_clusters_of_one_row_are_rows_but_for_their_factor():
    cell, residual, _ = example(5)
    of_rows = SeparableMoments.of_rows(cell, residual, 6)
    alone = JointMoments(ClusterSums(cell, residual, np.arange(30), 6))
    weight = np.linspace(-1, 1, 6)
    assert alone.of(weight)[1] == pytest.approx(of_rows.of(weight)[1] * 30 / 29, abs=1e-12)


# --- the unit ball of a kernel ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("clusters", [None, 7, 60])
def test_no_function_of_the_ball_varies_more_than_is_said(clusters):
    """Functions K a with a'Ka <= 1, a made orthogonal to the witness; among many random ones some come near."""
    cell, residual, unit = example(4, n=200, clusters=clusters)
    moments = moments_of(cell, residual, unit)
    value = np.linspace(0, 1, 6)
    kernel = np.exp(-np.abs(value[:, None] - value))
    theta = moments.total / moments.n
    coefficient = theta / np.sqrt(theta @ kernel @ theta)
    found = moments.remainder(kernel @ coefficient, lambda sums: kernel @ sums)
    random, largest = np.random.default_rng(1), 0.0
    for a in random.normal(size=(2000, 6)):
        a = a - (a @ kernel @ coefficient) * coefficient
        largest = max(largest, moments.of(kernel @ a / np.sqrt(a @ kernel @ a))[1])
    assert largest <= found * (1 + 1e-6)
    if clusters is not None:
        assert largest > 0.8 * found  # it is an eigenvalue


# --- clusters that hide events ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", [0.05, 0.025])
@pytest.mark.parametrize("clusters", [2, 10, 40])
def test_equal_clusters_by_hand(clusters, tail):
    """All q are 1 - exp(-k / G), so that M = m G (1 - exp(-k / G)) / k."""
    tail_bound = TailBound.of_units(np.full(clusters, 5.0), tail)
    k = events_at(tail_bound.z)
    assert tail_bound.largest == pytest.approx(5 * clusters * (1 - np.exp(-k / clusters)) / k)
    assert tail_bound.cap == 5


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8))
def test_no_other_chances_hide_more_rows(size):
    """Maximise sum q m subject to sum -log(1 - q) = k by SciPy, from several starts."""
    size = np.array(size, float)
    tail_bound = TailBound.of_units(size, 0.025)
    hidden = tail_bound.largest * tail_bound.k
    limit = {"type": "eq", "fun": lambda t: t.sum() - tail_bound.k}
    for start in (np.full(size.size, tail_bound.k / size.size), tail_bound.k * size / size.sum()):
        found = optimize.minimize(
            lambda t: -(size * -np.expm1(-t)).sum(), start, bounds=[(0, None)] * size.size, constraints=limit
        )
        assert -found.fun <= hidden * (1 + 1e-4)
    assert hidden <= size.sum() * (1 + 1e-12)
