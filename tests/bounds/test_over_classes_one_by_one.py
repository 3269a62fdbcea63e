"""Resamples of each class against the rest, one class at a time, against plain loops over the drawn rows."""

import numpy as np
import pytest
from class_draws import KEY, example, slow_draw

from calibstat.measures import KS, DecisionLoss
from calibstat.resampling import Draws, Pairs, Stream

N, DRAWS = 40, Draws(KEY, 8)
PREDICTIONS = example(N, 3, digits=1)
WEIGHT = 1.0 + np.arange(N) % 3


def residuals(k, value, rows, label, weight):
    at = np.searchsorted(value, PREDICTIONS.prob[rows, k])
    return np.bincount(at, weight * ((label == k) - PREDICTIONS.prob[rows, k]), value.size)


def shares(k, value, rows, label, weight):
    at = [(PREDICTIONS.prob[rows, k] == v) & ((label == k) == y) for v in value for y in (0, 1)]
    return np.array([weight[rows].sum() for rows in at])


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
@pytest.mark.parametrize(("measure", "sums"), [(KS(), residuals), (DecisionLoss(), shares)], ids=["ks", "gain"])
def test_each_class_at_its_distinct_predictions(measure, sums, weight):
    interval = measure.interval_over_classes(PREDICTIONS, "mean", weight)
    found, each = interval.resampled(DRAWS), np.ones(N) if weight is None else weight
    for r in range(DRAWS.n):
        rows, label = slow_draw(PREDICTIONS, Pairs(), r, Stream.ROWS)
        expected = []
        for k in range(3):
            expected.append(sums(k, np.unique(PREDICTIONS.prob[:, k]), rows, label, each[rows]) / each[rows].sum())
            assert interval.sums(k, rows, label) == pytest.approx(expected[k], abs=1e-12)
        assert found[r] == pytest.approx(interval.directional(expected), abs=1e-12)


def test_its_parts_do_without_their_summaries():
    assert {part.table.sample for part in KS().interval_over_classes(PREDICTIONS, "mean").parts} == {None}
