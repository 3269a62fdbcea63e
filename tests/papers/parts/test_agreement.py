"""Rank correlations of general calibration errors, against SciPy and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import calibstat as cs
from calibstat.papers.parts.agreement import AGREEMENTS, PROPERTIES, agreement_rows, correlation, gce_rows, ranks

FAMILY = cs.generators.dirichlet((0.3,) * 4, temperature=2)


def families(seed):
    """Of four temperatures of one sample."""
    y, p = FAMILY.sample(300, rng=seed)
    return {str(t): cs.gce_family(y, p**t / (p**t).sum(axis=1, keepdims=True)) for t in (0.5, 0.8, 1.0, 1.4)}


def test_rank_correlations_are_those_of_scipy():
    one, two = families(1), families(2)
    found = correlation(ranks(one), ranks(two))
    values = [np.array([family.value for family in each.values()]) for each in (one, two)]
    assert found.shape == (32, 32)
    for i, j in ((0, 0), (4, 9), (31, 2)):
        assert found[i, j] == pytest.approx(stats.spearmanr(values[0][:, i], values[1][:, j]).statistic)


def test_agreements_by_hand():
    one, two, three = families(1), families(2), families(3)
    found = pd.DataFrame(agreement_rows(one, two, three)).set_index(["measure", "against"])["value"]
    assert set(found.index) == {(name, against) for name in PROPERTIES for against in AGREEMENTS}
    family = next(iter(one.values()))
    own = [k for k in range(32) if family.norm[k] == "l2"]
    assert np.flatnonzero(PROPERTIES["L2"](family)).tolist() == own

    def spearman(first, i, second, j):
        return stats.spearmanr([f.value[i] for f in first.values()], [f.value[j] for f in second.values()]).statistic

    # of the most likely class (the index has no 8) a threshold (2) changes nothing
    pairs = [(i, j) for i in own for j in own if i < j and not (j == i + 2 and not i & 8 and not i & 2)]
    assert found["L2", AGREEMENTS[0]] == pytest.approx(np.mean([spearman(one, i, one, j) for i, j in pairs]))
    assert found["L2", AGREEMENTS[1]] == pytest.approx(np.mean([spearman(two, i, two, j) for i, j in pairs]))
    assert found["L2", AGREEMENTS[2]] == pytest.approx(np.mean([spearman(two, k, three, k) for k in own]))
    both = [*pairs, *((j, i) for i, j in pairs)]
    assert found["L2", AGREEMENTS[3]] == pytest.approx(np.mean([spearman(two, i, three, j) for i, j in both]))


def test_errors_and_ranks_are_listed():
    one = families(1)
    rows = pd.DataFrame(gce_rows(one)).set_index(["model", "measure"])
    assert len(rows) == 4 * 32
    assert rows["value"]["0.8", "9"] == one["0.8"].value[9]
    assert sorted(rows.xs("9", level="measure")["rank"]) == [1, 2, 3, 4]


def test_measures_by_which_all_models_are_equal_have_no_order():
    tied = np.array([[1.5, 1.0], [1.5, 2.0]])
    found = correlation(tied, tied)
    assert np.isnan(found[0]).all()
    assert found[1, 1] == pytest.approx(1)
    y, p = FAMILY.sample(100, rng=1)
    same = {"a": cs.gce_family(y, p), "b": cs.gce_family(y, p)}
    assert np.isnan([row["value"] for row in agreement_rows(same, same, same)]).all()
