"""Sums of units as an operator, against the dense matrix of what each unit adds in each cell."""

import numpy as np
import pytest
from posed_problem import pose
from unit_examples import ROWS, UNITS, entries, matrix, own_cells, shared_cells

import calibstat as cs
from calibstat.bounds import unit_sums
from calibstat.bounds.unit_sums import LARGEST_ROW, ClassSums, UnitSums

SPARE = 1e-12


@pytest.fixture(params=UNITS)
def sums(request):
    return UNITS[request.param]()


def test_the_operator_and_its_transpose(sums):
    x, random = matrix(sums), np.random.default_rng(1)
    weights, share = random.normal(size=sums.cells), random.normal(size=sums.size.size)
    assert sums.by_unit(weights) == pytest.approx(x @ weights, abs=SPARE)
    assert sums.at_cells(share) == pytest.approx(x.T @ share, abs=SPARE)
    assert share @ sums.by_unit(weights) == pytest.approx(sums.at_cells(share) @ weights, abs=SPARE)


def test_sizes_without_signs_of_units(sums):
    assert sums.absolute() == pytest.approx(matrix(sums, abs).sum(axis=1), abs=SPARE)


def test_powers_are_of_entries(sums):
    expected = [matrix(sums, lambda x, k=k: x**k).sum(axis=0) for k in (1, 2, 3)]
    assert sums.powers == pytest.approx(np.array(expected), abs=SPARE)


def test_entries(sums):
    cell, unit, contribution = sums.entries()
    found = sorted(zip(unit, cell, contribution, strict=True))
    np.testing.assert_allclose(found, sorted(entries(sums)), rtol=0, atol=SPARE)


def test_squares_about_a_mean(sums):
    """The pass over rows of classes gives what sorted entries do, to the last bit."""
    x, mean = matrix(sums), np.random.default_rng(2).normal(size=sums.cells)
    expected = (x * (x - 2 * np.outer(sums.size, mean))).sum(axis=0)
    assert sums.squares_about(mean) == pytest.approx(expected, abs=SPARE)
    assert np.array_equal(sums.squares_about(mean), UnitSums.squares_about(sums, mean))


def test_covariances_of_some_cells(sums):
    x, size = matrix(sums), sums.size
    left = x - np.outer(size, x.sum(axis=0)) / size.sum()
    factor = 1 if sums.units_are_rows else size.size / (size.size - 1)
    for chosen in (np.arange(sums.cells), np.arange(sums.cells)[::2], np.array([1])):
        expected = factor * (left.T @ left)[np.ix_(chosen, chosen)]
        assert sums.covariance(chosen) == pytest.approx(expected, abs=SPARE)
    assert sums.factor == factor


# --- rows that add a residual for each class --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [own_cells, shared_cells])
def test_rows_of_classes_by_loops(make, dtype):
    """In single precision too: residuals are of the predictions that are held."""
    sums = make(dtype)
    x, random = matrix(sums), np.random.default_rng(1)
    weights = random.choice([-1.0, 0.0, 0.5], sums.cells)
    chosen = np.flatnonzero(x.any(axis=0))[::2]
    assert sums.by_unit(weights) == pytest.approx(x @ weights, abs=SPARE)
    assert sums.products(chosen) == pytest.approx((x.T @ x)[np.ix_(chosen, chosen)], abs=SPARE)
    weighted = x * weights
    assert sums.products(chosen, weights) == pytest.approx((weighted.T @ weighted)[np.ix_(chosen, chosen)], abs=SPARE)
    absolute, used = sums.absolute_by_unit(weights)
    assert absolute == pytest.approx(np.abs(weighted).sum(axis=1), abs=SPARE)
    assert used.tolist() == weighted.any(axis=0).tolist()
    assert sums.absolute() == pytest.approx(np.abs(x).sum(axis=1), abs=1e-12 if dtype == np.float64 else 1e-6)
    assert sums.absolute().max() <= LARGEST_ROW


def test_products_of_classes_in_the_same_cell():
    """The sum of a row in a cell is squared, and not its parts one by one."""
    sums = UNITS["classes in the same cells"]()
    x = matrix(sums)
    assert sums.products(np.arange(3)) == pytest.approx(x.T @ x, abs=SPARE)
    assert not np.allclose(np.diag(x.T @ x), sums.powers[1])


@pytest.mark.parametrize("make", [own_cells, shared_cells, UNITS["classes in the same cells"]])
def test_products_by_blocks_of_rows(make, monkeypatch):
    """The same as cell by cell, where rows fill many cells; blocks of seven rows, the last one short."""
    sums = make()
    chosen, weights = np.arange(sums.cells)[::-1], np.random.default_rng(1).normal(size=sums.cells)
    expected = sums.products(chosen, weights)
    for name, value in (("UNIT_CELLS", 1), ("CELLS_OF_A_CLASS", sums.cells), ("ROWS_OF_A_BLOCK", 7)):
        monkeypatch.setattr(unit_sums, name, value)
    monkeypatch.setattr(unit_sums, "_products", None)
    assert sums.products(chosen, weights) == pytest.approx(expected, abs=SPARE)
    assert sums.products(chosen) != pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", [name for name in UNITS if name.startswith("classes")])
def test_the_largest_square_is_of_the_heaviest_row_of_each_cell(name):
    """By a loop over rows and classes; 1 of a cell without rows, and of rows without weights."""
    sums = UNITS[name]()
    largest = np.zeros(sums.cells)
    for unit, cell, _ in entries(sums):
        largest[cell] = max(largest[cell], sums.size[unit])
    expected = [weight**2 if weight else 1.0 for weight in largest.tolist()]
    assert np.broadcast_to(sums.largest_square, sums.cells) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("make", [own_cells, shared_cells])
def test_columns_and_blocks_of_rows(make):
    sums = make()
    blocks = [sums.rows(slice(a, b)) for a, b in ((0, 7), (7, ROWS))]
    for k in range(3):
        cell, residual = sums.column(k)
        assert np.concatenate([found[0][:, k] for found in blocks]).tolist() == cell.tolist()
        assert np.concatenate([found[1][:, k] for found in blocks]).tolist() == residual.tolist()
        expected = [(at, r) for i, (_, at, r) in enumerate(entries(sums)) if i % 3 == k]
        np.testing.assert_allclose(list(zip(cell, residual, strict=True)), expected, rtol=0, atol=SPARE)


CASES = {
    "mean": ("ece", {"n_bins": 4}, {"lens": "class_wise_mean"}),
    "grid": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}, {}),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CASES)
def test_the_sums_of_measures(name, dtype):
    """What measures of classes add up is theta; single precision shows in theta, not in the sums."""
    measure, options, settings = CASES[name]
    predictions = own_cells(dtype).predictions
    interval = pose(predictions.label, predictions.prob, measure, options, **settings).honest()
    assert interval.table.sums.powers[0] / ROWS == pytest.approx(
        interval.theta, abs=1e-11 if dtype == np.float64 else 1e-6
    )


def test_certain_predictions_leave_nothing():
    certain = ClassSums(cs.Predictions.from_rows([0, 1, 2], np.eye(3)), np.zeros((3, 1), np.int64), 1, 3)
    assert not certain.powers.any()
    assert not certain.absolute().any()
    assert not certain.absolute_by_unit(np.ones(3))[1].any()


def test_one_row_with_a_weight_leaves_all_open():
    one = {"sample_weight": [1, 0], "n_resamples": 19, "rng": 1}
    found = cs.confidence_interval([1, 0], [[0.2, 0.8], [0.5, 0.5]], measure="canonical_ce", **one)
    gain = cs.decision_loss([1, 0], [0.2, 0.5], [0.3], **one)
    assert (found.low, found.high) == (gain.low, gain.largest_high) == (0, 1)
