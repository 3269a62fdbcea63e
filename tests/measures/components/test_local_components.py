"""Cells at several scales: which there are, the sum of their deviances, and the most surprising one."""

import math

import numpy as np
import omnibus_oracle
import pytest
from scipy.stats import norm

from calibstat.measures.components import local_components
from calibstat.measures.components.local_components import Scales, _surprise


def cells(seed, m=200):
    rng = np.random.default_rng(seed)
    value, count = np.sort(rng.beta(0.7, 2, m)), rng.integers(1, 20, m).astype(float)
    return (np.arange(m) + 0.5) / m, value, count


def test_scales():
    """2, 4, ... parts, and one moved cell fewer; no more parts than there is information, but at least 4."""
    time, value, count = cells(1)
    found = Scales.of(time, value, count)
    assert np.unique(found.parts).tolist() == [2, 4, 8, 16, 32, 64, 128]
    for parts in (2, 8, 64):
        at = found.parts == parts
        assert found.aligned[at].sum() == parts
        assert (~found.aligned[at]).sum() == parts - 1
        assert np.all(found.end[at] - found.begin[at] == 128 // parts)
    assert found.aligned[found.parts == 128].all()
    few = Scales.of(time, value, count / 1e3)
    assert few.parts.max() == 4
    assert np.allclose(found.rows, found.events + found.others)


def test_empty_cells_are_left_out():
    found = Scales.of(np.array([0.1, 0.9]), np.array([0.2, 0.6]), np.array([50.0, 50.0]))
    assert np.all(found.rows > 0)
    assert found.parts[found.aligned].tolist() == [2, 2, 4, 4, 8, 8, 16, 16]


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_largest(seed, monkeypatch):
    """As one cell after the other."""
    time, value, count = cells(seed)
    scales = Scales.of(time, value, count)
    drawn = np.random.default_rng(seed).binomial(count.astype(int), np.minimum(1.3 * value, 1), (5, 200)).astype(float)
    drawn[0] = 0
    drawn[1] = count

    def off():
        information = float((count * value * (1 - value)).sum())
        slow = [omnibus_oracle.cells(value, count, each, time, information) for each in drawn]
        return np.abs(scales.parts_of(drawn)[:, [0, 2]] / slow - 1).max()

    assert off() < 1e-7
    monkeypatch.setattr(omnibus_oracle, "deviance", lambda v, c, a: (a.sum() - c @ v) ** 2 if c.sum() else None)
    assert off() > 1e-3


@pytest.mark.parametrize("part", [1, 0.37])
def test_deviances_near_the_expected_ones_are_computed_once(part, monkeypatch):
    """To the last bit as without tables: of whole rows, and of rows with weights, which have no table to look at."""
    time, value, count = cells(5)
    rng = np.random.default_rng(5)
    drawn = rng.binomial(count.astype(int), np.minimum(1.2 * value, 1), (300, 200)) * part
    with_tables, without = Scales.of(time, value, count * part), Scales.of(time, value, count * part)
    least, start, known = without.tables
    monkeypatch.setitem(vars(without), "tables", (least, np.zeros_like(start), known))
    assert np.array_equal(with_tables.parts_of(drawn), without.parts_of(drawn))
    looked_up = np.isfinite(with_tables.tables[2])
    assert np.isnan(known).all()
    assert looked_up.sum() < 300 * with_tables.parts.size / 20
    if part == 1:
        assert looked_up.mean() > 0.5
        with_tables.tables[2][looked_up] += 1
        assert not np.array_equal(with_tables.parts_of(drawn), without.parts_of(drawn))


def test_where_the_most_surprising_cell_is():
    """All 20 rows of one value have the event."""
    time, value, count = (np.arange(64) + 0.5) / 64, np.full(64, 0.5), np.full(64, 20.0)
    positives = np.full((1, 64), 10.0)
    positives[0, 40] = 20
    scales = Scales.of(time, value, count)
    cell = int(scales.parts_of(positives)[0, 3])
    inside = (scales.index >= scales.begin[cell]) & (scales.index < scales.end[cell])
    assert np.flatnonzero(inside).tolist() == [40]


def test_surprise():
    """Minus the logarithm of 2 (1 - Phi(sqrt z)), also where the normal tail is 0 in double precision."""
    for z in (0.0, 1.0, 30.0, 1249.0, 1251.0, 1e4):
        exact = -math.log(2) - norm.logsf(math.sqrt(z))
        assert abs(_surprise(z) - exact) < 1e-5
    edge = 2 * local_components._FAR_TAIL**2
    assert abs(_surprise(edge + 1e-9) - _surprise(edge)) < 1e-5
