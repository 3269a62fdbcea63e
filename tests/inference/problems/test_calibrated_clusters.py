"""Rows that are drawn, signed and relabelled, against plain loops over the words of the draws."""

from functools import partial

import numpy as np
import pytest
from posed_problem import pose
from row_examples import KEY, drawn_units, labels_of, signs_of

import calibstat as cs
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.inference.problems.calibrated_clusters import independent_labels, null_draws
from calibstat.resampling import Draws, Stream

N = 30
DRAWS = Draws(KEY, 8)
CASES = {
    "rows": (False, None),
    "weights": (True, None),
    "clusters": (False, np.arange(N) // 4),
    "both": (True, np.arange(N) // 4),
}


def table_of(weighted, unit):
    random = np.random.default_rng(2)
    p = random.random(N).round(1)
    y, weight = (random.random(N) < p).astype(float), random.lognormal(0, 1, N) if weighted else None
    sample = cs.Sample.from_rows(y, p)
    cell = np.minimum((sample.value * 3).astype(np.int64), 2)
    return RowTable.of_rows(LabelledRows(y, p, weight), sample, cell, unit)


@pytest.fixture(params=CASES)
def table(request):
    return table_of(*CASES[request.param])


def weight_of(table):
    return np.ones(N) if table.sample_weight is None else table.sample_weight


def summed(table, contribution):
    theta = np.zeros(3)
    for cell, each in zip(table.cell, contribution, strict=True):
        theta[cell] += each
    return theta


def test_resamples(table):
    """Whole units with replacement; sums are divided by the drawn rows, or by their weights."""
    drawn, weight = table.resampled(np.copy, DRAWS), weight_of(table)
    for r in range(DRAWS.n):
        times = np.zeros(N)
        for unit in drawn_units(r, table.units.max() + 1, Stream.ROWS):
            times[table.units == unit] += 1
        theta = summed(table, times * weight * table.residual) / (times @ weight)
        assert drawn[r] == pytest.approx(theta, abs=1e-12)


def test_other_stages_draw_other_rows(table):
    assert not np.array_equal(table.resampled(np.copy, DRAWS), table.resampled(np.copy, DRAWS, Stream.COMPARE))


def test_relabelled_rows_are_independent(table):
    drawn, weight = independent_labels(table, np.copy, DRAWS), weight_of(table)
    for r in range(DRAWS.n):
        label = labels_of(r, table.prediction, np.arange(N), Stream.LABELS)
        theta = summed(table, weight * (label - table.prediction)) / weight.sum()
        assert drawn[r] == pytest.approx(theta, abs=1e-12)


def test_signs_are_of_units(table):
    drawn, weight = table.signed(np.copy, DRAWS), weight_of(table)
    for r in range(DRAWS.n):
        theta = summed(table, signs_of(r, table.units, Stream.SIGNS) * weight * table.residual) / weight.sum()
        assert drawn[r] == pytest.approx(theta, abs=1e-12)


def test_threads_do_not_show(table):
    many = Draws(KEY, 50)
    for draw in (table.resampled, partial(independent_labels, table), table.signed):
        assert np.array_equal(draw(np.copy, many), draw(np.copy, Draws(KEY, 50, 3)))


# --- of calibrated clusters -------------------------------------------------------------------------------------------

EQUAL = np.arange(600) // 6
UNEQUAL = np.append(np.arange(600), 600 + np.arange(600) // 100)  # six clusters of 100 rows beside single rows


def clustered(chance, unit):
    """Every second row has the event, whatever the predictions."""
    y, p = (np.arange(unit.size) % 2).astype(int), np.where(np.bincount(unit)[unit] == 1, 0.5, chance)
    return pose(y, p, "ks", {}).in_clusters(unit)


NAMES = ["signs of clusters", "independent labels", "labels that clusters share"]


@pytest.mark.parametrize(
    ("chance", "unit", "names"),
    [
        (0.5, EQUAL, NAMES[:2]),  # 50 unlikely outcomes are expected
        (0.01, EQUAL, NAMES),  # one
        (0.1, UNEQUAL, NAMES),  # 300 of single rows, and .6 of the large clusters
    ],
    ids=["many events", "few events", "few by square"],
)
def test_by_which_ways_calibrated_clusters_are_drawn(chance, unit, names):
    posed = clustered(chance, unit)
    found = null_draws(posed.table, posed.of, Draws(KEY, 5))
    assert list(found) == names
    table = posed.table
    for r in range(5):
        signs = signs_of(r, table.units, Stream.SIGNS)
        signed = np.bincount(table.cell, signs * table.residual, table.cells) / unit.size
        assert found[NAMES[0]][r] == pytest.approx(posed.of(signed), abs=1e-12)
        label = labels_of(r, table.prediction, np.arange(unit.size), Stream.LABELS)
        alone = np.bincount(table.cell, label - table.prediction, table.cells) / unit.size
        assert found[NAMES[1]][r] == pytest.approx(posed.of(alone), abs=1e-12)
        label = labels_of(r, table.prediction, table.units, Stream.SHARED)
        shared = np.bincount(table.cell, label - table.prediction, table.cells) / unit.size
        if unit is EQUAL and len(names) == 3:
            assert found[NAMES[2]][r] == pytest.approx(posed.of(shared), abs=1e-12)
        if unit is UNEQUAL:  # brought to the spread of the data, which is another
            assert found[NAMES[2]][r] != pytest.approx(posed.of(shared), rel=1e-3)


@pytest.mark.parametrize("chance", [0.5, 0.01])
def test_the_test_and_the_interval_draw_the_same(chance):
    """The largest p-value of all ways is that of the test, and decides whether a low end is above 0."""
    posed = clustered(chance, EQUAL)
    y, p = (np.arange(600) % 2).astype(int), np.full(600, chance)
    asked = {"measure": "ks", "cluster": EQUAL, "n_resamples": 99, "rng": 4}
    null = posed.null_draws(Draws.of(4, 99))
    pvalue = {name: (1 + np.sum(each >= posed.statistic() - 1e-12)) / 100 for name, each in null.items()}
    test = cs.calibration_test(y, p, **asked)
    worst = max(pvalue, key=pvalue.get)
    assert test.pvalue == pytest.approx(pvalue[worst])
    assert np.array_equal(test.null_distribution, null[worst])
    assert posed.drawer_of_labels()(Draws.of(4, 99)).tolist() == null["independent labels"].tolist()
    assert (cs.confidence_interval(y, p, **asked).low > 0) == (test.pvalue <= 0.025)
