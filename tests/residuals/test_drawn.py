"""Linear functions of resampled sums, from sums and from counts, against plain loops over the drawn units."""

import numpy as np
import pytest
from stacked_tables import CASES, DRAWS, stack_of, times_drawn, weighted

from calibstat.residuals import drawn, stack
from calibstat.residuals.drawn import DrawnCounts, DrawnSums

NUMBERS = np.random.default_rng(4).normal(size=(2, DRAWS.n))
FORMS = {"sums": (2**24, DrawnSums), "counts": (500, DrawnCounts), "counts drawn again": (0, DrawnCounts)}


@pytest.fixture(params=CASES)
def tables(request):
    return stack_of(request.param)


@pytest.fixture(params=FORMS)
def resamples(request, tables, monkeypatch):
    kept, form = FORMS[request.param]
    monkeypatch.setattr(stack, "KEPT", kept)
    values, found = tables.drawn(np.copy, np.copy)
    assert isinstance(found, form)
    assert all(map(np.array_equal, values, tables.resampled(np.copy, np.copy)))
    return found


def thetas(tables, m):
    """The sums of the m-th table in each resample."""
    table, weight = tables.tables[m], weighted(tables)
    return np.array([np.bincount(table.cell, row * table.residual, table.cells) / row.sum() for row in weight])


def test_the_first_resamples(tables, resamples):
    for m in range(2):
        assert np.array(list(resamples.first(m, 3))) == pytest.approx(thetas(tables, m)[:3], abs=1e-12)
        assert np.array(list(resamples.first(m, 99))) == pytest.approx(thetas(tables, m), abs=1e-12)


def test_noise(tables, resamples, monkeypatch):
    """Of weights of both tables, in any order, also if two are added up in one pass."""
    weights = [(m, np.random.default_rng(k).normal(size=(3, 5)[m])) for k, m in enumerate((0, 1, 1, 0, 1))]

    def noise():
        addends = [(m, resamples.addend(weight, tables.tables[m].by_unit(weight))) for m, weight in weights]
        return resamples.noise(iter(addends))

    expected = [(thetas(tables, m) - tables.tables[m].theta) @ weight for m, weight in weights]
    found = noise()
    assert found == pytest.approx(np.array(expected).T, abs=1e-12)
    for name in ("ADDEND_BYTES", "MORE_ADDEND_BYTES"):
        monkeypatch.setattr(drawn, name, 16 * tables.rows.size.size)
    assert np.array_equal(noise(), found)


def test_covariances(tables, resamples):
    """Theta counts as a sum over drawn units of what each adds beyond what its number of rows lets expect."""
    covariance = resamples.covariances(NUMBERS)
    first = np.unique(tables.rows.units, return_index=True)[1]  # rows of a unit are drawn as often
    times = times_drawn(tables)[:, first]
    for m, table in enumerate(tables.tables):
        added = np.array(
            [np.bincount(table.units, np.where(table.cell == c, table.contribution, 0)) for c in range(table.cells)]
        )
        theta = times @ (added - np.outer(table.theta, table.size)).T / table.n
        for k, number in enumerate(NUMBERS):
            assert covariance(m, k) == pytest.approx((number - number.mean()) @ theta / DRAWS.n, abs=1e-12)
