"""Sums in cells, of every class and of canonical predictions, against loops over rows."""

import numpy as np
import pytest
from class_examples import vectors
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number
from row_strategies import rows

import calibstat as cs
from calibstat.data.cell_sums import cell_sums, vector_sums
from calibstat.measures.bins import uniform_cells, uniform_column_sums, uniform_sorted_sums

from_rows = cs.Predictions.from_rows


@given(vectors(), st.sampled_from([1, 2, 4, 15]), st.sampled_from([np.float64, np.float32]))
def test_sums_in_bins_of_every_class(data, n_bins, dtype):
    label, prob = data
    predictions = from_rows(label, prob.astype(dtype))
    check_column_sums(predictions, n_bins)


@pytest.mark.parametrize("classes", [31, 32, 33, 64, 100])
def test_sums_in_bins_of_many_classes(classes):
    """By blocks of 32 classes, some of which have nothing beyond the first bin."""
    generator = np.random.default_rng(classes)
    prob = generator.dirichlet(np.full(classes, 0.05), 40)
    prob[:5] = 1 / classes
    prob[5:10] = np.eye(classes)[generator.integers(0, classes, 5)]
    check_column_sums(from_rows(generator.integers(0, classes, 40), prob), 10)


@pytest.mark.parametrize("classes", [3, 32, 49, 100])
def test_blocks_whose_predictions_are_beside_the_end_of_the_first_bin(classes):
    edge = 1 / classes
    prob = np.tile([[edge], [np.nextafter(edge, 0)], [np.nextafter(edge, 1)]], classes)
    check_column_sums(from_rows([0, 1, 2], prob), classes)


@given(rows(), st.sampled_from([1, 2, 4, 15, 49, 4096, "cube_root"]))
def test_sums_in_bins_of_sorted_predictions_are_the_sums_in_cells(data, n_bins):
    sample = cs.Sample.from_rows(*data)
    cell = uniform_cells(sample.value, sample.count, n_bins=n_bins)
    for ours, slow in zip(
        uniform_sorted_sums(*sample.arrays, n_bins=n_bins), cell_sums(cell, *sample.arrays), strict=True
    ):
        np.testing.assert_array_equal(ours, slow)


@pytest.mark.parametrize("n_bins", [None, "unbinned", 4097])
def test_sorted_predictions_with_very_many_bins_need_cells(n_bins):
    assert uniform_sorted_sums(np.array([0.5]), np.ones(1), np.ones(1), n_bins=n_bins) is None


def check_column_sums(predictions, n_bins):
    n, classes = predictions.prob.shape
    count, residual, value = np.zeros((3, classes, n_bins))
    for i in range(n):
        for k in range(classes):
            v = float(predictions.prob[i, k])
            b = int(bin_number(predictions.prob[i, k], n_bins))
            count[k, b] += 1
            residual[k, b] += ((predictions.label[i] == k) - v) / n
            value[k, b] += v / n
    found = uniform_column_sums(predictions, n_bins=n_bins)
    for ours, slow in zip(found, (count, residual, value), strict=True):
        np.testing.assert_allclose(ours, slow, rtol=0, atol=1e-12)


@given(vectors(), st.data())
def test_sums_in_cells_of_vectors(data, choice):
    label, prob = data
    n, classes = prob.shape
    cell = np.array(choice.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)))
    count, residual, value = vector_sums(cell, prob, label)
    for b in range(cell.max() + 1):
        inside = cell == b
        assert count[b] == inside.sum()
        np.testing.assert_allclose(value[b], prob[inside].sum(axis=0) / n, rtol=0, atol=1e-14)
        expected = (np.eye(classes)[label[inside]] - prob[inside]).sum(axis=0) / n
        np.testing.assert_allclose(residual[b], expected, rtol=0, atol=1e-14)
