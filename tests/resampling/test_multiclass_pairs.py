"""Pairs of predicted vectors and classes drawn: word by word, and their distribution."""

import numpy as np
import pytest
from class_draws import KEY, example, follows, from_rows, names, slow_draw

from calibstat.resampling import Consistency, Draws, Pairs, draw


@pytest.mark.parametrize("scheme", [Consistency(), Pairs()], ids=names)
def test_rows_word_by_word(scheme):
    predictions = example(50, 4, digits=2)
    seen = draw(predictions, scheme, lambda rows, label: (rows, label), Draws(KEY, 20), 1)
    for replicate in range(20):
        rows, label = slow_draw(predictions, scheme, replicate)
        assert np.array_equal(seen[replicate, 0], rows)
        assert np.array_equal(seen[replicate, 1], label)


def test_rows_are_uniform():
    predictions = example(13, 3)
    rows = draw(predictions, Pairs(), lambda rows, label: rows, Draws(KEY, 20_000), 1)
    assert follows(np.bincount(rows.ravel(), minlength=13), rows.size, np.full(13, 1 / 13))
    for place in (0, 12):
        assert follows(np.bincount(rows[:, place], minlength=13), 20_000, np.full(13, 1 / 13))
    assert not follows(np.bincount(np.minimum(rows, 11).ravel(), minlength=13), rows.size, np.full(13, 1 / 13))


def test_distribution_of_rows_with_labels():
    """A drawn row has class k with the mean of its probabilities, whatever the labels of the data are."""
    predictions = from_rows([0] * 9, example(9, 3).prob)
    label = draw(predictions, Consistency(), lambda rows, label: label, Draws(KEY, 10_000), 1)
    distribution = predictions.prob.mean(axis=0)
    for place in (0, 8):
        assert follows(np.bincount(label[:, place], minlength=3), 10_000, distribution)
    of_data = label[:, 0].copy()
    of_data[::9] = 0  # planted fault: one in nine has the label of the data
    assert not follows(np.bincount(of_data, minlength=3), 10_000, distribution)
