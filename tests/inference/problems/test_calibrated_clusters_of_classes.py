"""Tables of all classes of rows, relabelled in clusters, against a plain loop over the words of the draws."""

import numpy as np
import pytest
from row_examples import KEY

import calibstat as cs
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.bounds.tables_of_classes import TablesOfClasses
from calibstat.inference.problems.calibrated_clusters import (
    FEW_EVENTS,
    SHARED,
    fewest_events,
    independent_labels,
    null_draws,
    shared_labels,
)
from calibstat.resampling import Draws, Stream
from calibstat.resampling.streams import first_state, word

N = 24
DRAWS = Draws(KEY, 8)
UNIT = np.arange(N) // 3
RANDOM = np.random.default_rng(4)
PROB = RANDOM.dirichlet((3.0, 0.4, 1.0), N)
LABEL = RANDOM.integers(0, 3, N)
WEIGHT = RANDOM.lognormal(0, 1, N)
CELLS = RANDOM.integers(0, 2, (3, N))


def table_of(weight=None, unit=UNIT):
    parts = [
        RowTable(CELLS[k], (k == LABEL) - PROB[:, k], PROB[:, k], cells=2, sample_weight=weight, unit=unit)
        for k in range(3)
    ]
    return TablesOfClasses(parts)


def class_of(uniform, prob):
    """The first class at which the cumulated predictions exceed the number, the rarest class first."""
    total = 0.0
    for k in np.argsort(PROB.sum(axis=0)):
        total += prob[k]
        if uniform < total:
            return k
    return k


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
@pytest.mark.parametrize("shared", [False, True])
def test_classes_are_drawn_once_for_all_events(weight, shared):
    table, each = table_of(weight), np.ones(N) if weight is None else weight
    stream, unit = (Stream.SHARED, UNIT) if shared else (Stream.LABELS, np.arange(N))
    cells = np.concatenate(CELLS) + np.repeat([0, 2, 4], N)
    drawn = shared_labels(table, cells, 6, np.copy, DRAWS) if shared else independent_labels(table, np.copy, DRAWS)
    for r in range(DRAWS.n):
        start = np.uint64(first_state(KEY, stream, r))
        theta = np.zeros(6)
        for i in range(N):
            k = class_of((int(word(start, int(unit[i]))) >> 1) * 2.0**-63, PROB[i])
            for j in range(3):
                theta[2 * j + CELLS[j, i]] += each[i] * ((j == k) - PROB[i, j])
        assert drawn[r] == pytest.approx(theta / each.sum(), abs=1e-12)


def test_signs_are_of_all_events_together():
    table = table_of(WEIGHT)
    drawn = table.signed(np.copy, DRAWS)
    assert np.allclose(drawn[:, ::2].sum(axis=1) + drawn[:, 1::2].sum(axis=1), 0)  # residuals of a row add up to 0
    one = table.events[0].signed(np.copy, DRAWS)
    assert drawn[:, :2] == pytest.approx(one)


def test_few_clusters_of_one_class_are_few():
    few = [fewest_events(event) for event in table_of().events]
    assert fewest_events(table_of()) == min(few)
    assert min(few) < FEW_EVENTS
    assert SHARED in null_draws(table_of(), lambda theta: np.abs(theta).sum(axis=-1), DRAWS)


def test_two_classes_are_one_event():
    """The spread of both classes is in units of what clusters add, as of one event."""
    y, p = cs.generators.calibrated().sample(600, rng=1)
    unit = np.append(np.arange(300), 300 + np.arange(300) // 50)
    tables = []
    for outcome, prediction in ((1 - y, 1 - p), (y, p)):
        sample = cs.Sample.from_rows(outcome, prediction)
        tables.append(RowTable.of_rows(LabelledRows(outcome, prediction), sample, None, unit))
    both = null_draws(TablesOfClasses(tables), lambda theta: np.abs(theta).sum(axis=-1) / 2, DRAWS)
    one = null_draws(tables[1], lambda theta: np.abs(theta).sum(axis=-1), DRAWS)
    assert both.keys() == one.keys()
    assert both["signs of clusters"] == pytest.approx(one["signs of clusters"])
