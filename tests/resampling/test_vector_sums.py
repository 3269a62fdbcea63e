"""Sums of residuals of drawn rows, over cells and classes, against loops over rows."""

import numpy as np
import pytest
from class_draws import KEY, example, slow_draw

from calibstat.resampling import ClassCells, Draws, Pairs, pairs_of_vectors, vector_sums


@pytest.mark.parametrize("shared", [True, False])
def test_residuals_of_rows(shared):
    predictions = example(40, 3, digits=1)
    generator = np.random.default_rng(6)
    if shared:
        cell = generator.integers(0, 4, 40)
        place, along, size = cell[:, None] * 3, 1, 12
        index = place + np.arange(3)
    else:
        place, along, size = generator.integers(0, 4, (40, 3)).astype(np.int32), 4, 12
        index = place + 4 * np.arange(3)
    drawn = pairs_of_vectors(ClassCells(predictions, place, along, size), np.copy, Draws(KEY, 10), 1)
    for replicate in range(10):
        rows, label = slow_draw(predictions, Pairs(), replicate)
        expected = np.zeros(size)
        for i, k in zip(rows, label, strict=True):
            np.add.at(expected, index[i], (np.arange(3) == k) - predictions.prob[i])
        np.testing.assert_allclose(drawn[replicate], expected / 40, rtol=0, atol=1e-14)


def test_residuals_in_threads_and_pieces(monkeypatch):
    predictions = example(60, 4)
    place = np.zeros((60, 1), np.int64)
    source = ClassCells(predictions, place, 1, 4)
    base = pairs_of_vectors(source, np.copy, Draws(KEY, 37), 1)
    assert np.array_equal(pairs_of_vectors(source, np.copy, Draws(KEY, 37, 3), 1), base)
    assert np.array_equal(pairs_of_vectors(source, np.copy, Draws(KEY, 5), 1), base[:5])
    assert not np.array_equal(pairs_of_vectors(source, np.copy, Draws(KEY, 37), 2), base)
    assert not np.array_equal(pairs_of_vectors(source, np.copy, Draws(KEY + np.uint64(1), 37), 1), base)
    monkeypatch.setattr(vector_sums, "MOST_HELD", 200)  # three resamples of 60 rows at a time
    assert np.array_equal(pairs_of_vectors(source, np.copy, Draws(KEY, 37), 1), base)


def one_by_one(times, prob, label, index, stride, cells):
    """The sums of residuals as they are added up one row after the other."""
    total = np.zeros((cells, len(times)))
    for i, k in np.ndindex(prob.shape):
        cell = index[i, min(k, index.shape[1] - 1)] + k * stride
        total[cell] -= times[:, i] * np.float64(prob[i, k])
        total[cell] += times[:, i] * float(label[i] == k)
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("cells", [1, 2, 15])  # of each class: rows added up together, or mostly one by one
@pytest.mark.parametrize("shared", [True, False])
def test_rows_added_up_together_give_the_same_bits(cells, shared, dtype):
    random = np.random.default_rng(7)
    prob = random.dirichlet(np.full(20, 0.3), 75).astype(dtype)
    label = random.integers(0, 20, 75)
    if shared:
        index, stride, size = random.integers(0, cells, (75, 1)) * 20, 1, cells * 20
    else:
        index, stride, size = np.minimum((prob * cells).astype(np.int32), cells - 1), cells, cells * 20
    times = random.integers(0, 4, (5, 75)).astype(np.uint8)
    total = np.zeros((size, 5))
    vector_sums._add_residuals(times, prob, label, index, stride, total)
    assert np.array_equal(total, one_by_one(times, prob, label, index, stride, size))
