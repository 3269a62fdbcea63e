"""Tables of the same rows that are drawn together, and linear functions of their sums, against plain loops."""

import numpy as np
import pytest
from row_examples import KEY
from tables_of_same_rows import CASES, DRAWS, resampled, tables_of, times_drawn, weighted
from unit_examples import own_cells

from calibstat.bounds import residual_tables
from calibstat.bounds.residual_tables import ClassTable
from calibstat.inference.comparing import resamples
from calibstat.inference.comparing.resamples import CountsOfResamples, SumsOfResamples
from calibstat.resampling import Draws, Stream

NUMBERS = np.random.default_rng(4).normal(size=(2, DRAWS.n))
FORMS = {
    "sums": (2**24, SumsOfResamples),
    "counts": (500, CountsOfResamples),
    "counts drawn again": (0, CountsOfResamples),
}


@pytest.fixture(params=CASES)
def tables(request):
    return tables_of(request.param)


@pytest.fixture(params=FORMS)
def found(request, tables, monkeypatch):
    kept, form = FORMS[request.param]
    whole = resampled(tables)[0]
    monkeypatch.setattr(resamples, "KEPT", kept)
    values, found = resampled(tables)
    assert isinstance(found, form)
    assert all(map(np.array_equal, values, whole))
    return found


def thetas(table):
    """The sums of a table in each resample."""
    return np.array([np.bincount(table.cell, row * table.residual, table.cells) / row.sum() for row in weighted(table)])


def test_all_tables_have_the_same_draws(tables):
    for table, found in zip(tables, resampled(tables)[0], strict=True):
        assert found == pytest.approx(thetas(table), abs=1e-12)


def test_one_table_is_drawn_alike(tables):
    alone = tables[0].resampled(np.copy, DRAWS, Stream.COMPARE)
    assert np.array_equal(alone, resampled(tables)[0][0])


@pytest.mark.parametrize("kept", [0, 2**24])
def test_neither_threads_nor_parts_show(tables, kept, monkeypatch):
    base = resampled(tables)[0]
    monkeypatch.setattr(resamples, "KEPT", kept)
    for module in (residual_tables, resamples):
        monkeypatch.setattr(module, "SUM_BYTES", 100)  # a resample or two at a time
    for n_jobs in (1, 3):
        assert all(map(np.array_equal, base, resampled(tables, draws=Draws(KEY, 8, n_jobs))[0]))


@pytest.mark.parametrize("kept", [0, 2**24])
def test_rows_of_several_classes(kept, monkeypatch):
    """Also if the columns of the classes are made again for each part of the resamples."""
    monkeypatch.setattr(residual_tables, "FEW_COLUMNS", 0)
    monkeypatch.setattr(residual_tables, "COLUMN_BYTES", kept)
    sums = own_cells()
    n = sums.predictions.n
    table = ClassTable(sums, sums.powers[0] / n)
    found, times = resampled([table] * 2)[0], times_drawn(table)
    for r in range(DRAWS.n):
        expected = np.zeros(sums.cells)
        for k in range(3):
            cell, residual = sums.column(k)
            np.add.at(expected, cell, times[r] * residual / n)
        assert found[0][r] == pytest.approx(expected, abs=1e-12)
        assert np.array_equal(found[0][r], found[1][r])


def test_the_first_resamples(tables, found):
    for m, table in enumerate(tables):
        assert np.array(list(found.first(m, 3))) == pytest.approx(thetas(table)[:3], abs=1e-12)
        assert np.array(list(found.first(m, 99))) == pytest.approx(thetas(table), abs=1e-12)


def test_noise(tables, found, monkeypatch):
    """Of weights of both tables, in any order, also if two are added up in one pass."""
    weights = [(m, np.random.default_rng(k).normal(size=(3, 5)[m])) for k, m in enumerate((0, 1, 1, 0, 1))]

    def noise():
        return found.noise(iter([(m, found.addend(weight, tables[m].by_unit(weight))) for m, weight in weights]))

    expected = [(thetas(tables[m]) - tables[m].theta) @ weight for m, weight in weights]
    before = noise()
    assert before == pytest.approx(np.array(expected).T, abs=1e-12)
    for name in ("ADDEND_BYTES", "MORE_ADDEND_BYTES"):
        monkeypatch.setattr(resamples, name, 16 * tables[0].size.size)
    assert np.array_equal(noise(), before)


def test_covariances(tables, found):
    """Theta counts as a sum over drawn units of what each adds beyond what its number of rows lets expect."""
    covariance = found.covariances(NUMBERS)
    first = np.unique(tables[0].units, return_index=True)[1]  # rows of a unit are drawn as often
    times = times_drawn(tables[0])[:, first]
    for m, table in enumerate(tables):
        added = np.array(
            [np.bincount(table.units, np.where(table.cell == c, table.contribution, 0)) for c in range(table.cells)]
        )
        theta = times @ (added - np.outer(table.theta, table.size)).T / table.n
        for k, number in enumerate(NUMBERS):
            assert covariance(m, k) == pytest.approx((number - number.mean()) @ theta / DRAWS.n, abs=1e-12)
