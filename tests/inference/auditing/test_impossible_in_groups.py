"""Audits beside rows that were predicted to be impossible and happened: which groups are significant without them."""

from dataclasses import replace

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.auditing.impossible_in_groups import ImpossibleInGroups

Y, P = cs.generators.calibrated().sample(600, rng=1)
GROUPS = {"a": np.arange(604) % 3 == 0, "b": np.arange(604) < 200, "c": np.arange(604) > 590}
BAD_Y, BAD_P = np.append(Y, [0, 1, 1, 0]), np.append(P, [0.0, 1.0, 0.0, 1.0])  # rows 602 and 603 were impossible
MADE = ImpossibleInGroups(
    ("all rows", "a", "b"), np.array([12, 0, 3]), 975, 40, np.ones(3) / 2, np.array([0.5, 0.03, 0.01]), 0.05
)


def test_what_is_said():
    said = "12 rows were predicted to be impossible and happened (the first is row 975), in 2 groups; without rows"
    assert str(MADE) == f"{said} predicted 0 or 1 b, a are significant."
    assert str(replace(MADE, pvalue_adjusted=np.ones(3))).endswith("predicted 0 or 1 no group is significant.")
    assert str(replace(MADE, pvalue_adjusted=np.array([1, 1, 0.01]))).endswith("0 or 1 b is significant.")
    one = replace(MADE, number=np.array([1, 0, 0]))
    assert str(one).startswith("1 row was predicted to be impossible and happened (row 975), in 1 group; ")
    assert "happened, in 2 groups" in str(replace(MADE, first=None))
    many = tuple(f"group {k}" for k in range(12))
    named = replace(MADE, names=many, number=np.ones(12, int), pvalue_adjusted=np.full(12, 0.01))
    assert str(named).endswith("group 9 and 2 more are significant.")


def test_p_values_are_those_of_the_audit_of_the_other_rows():
    """Of the same draws: positions of words do not move, because certain rows come first and last, in strata alone."""
    found = cs.audit(BAD_Y, BAD_P, GROUPS, n_resamples=4999, rng=1)
    inside = {name: mask[:600] for name, mask in GROUPS.items() if name != "c"}
    alone = cs.audit(Y, P, inside, n_resamples=4999, rng=2)
    assert found.impossible.number.tolist() == [2, 1, 0, 2]
    assert (found.impossible.first, found.impossible.total_certain) == (602, 4)
    assert found.pvalue[0] == 1 / 5000  # as before
    assert np.isinf(found.root[[0, 1, 3]]).all()
    assert found.impossible.pvalue[:3] == pytest.approx(alone.pvalue, abs=0.03)
    assert found.impossible.found.size == alone.found.size == 0
    assert alone.impossible is None


def test_it_is_said_once_after_the_finding():
    found = cs.audit(BAD_Y, BAD_P, GROUPS, n_resamples=99, rng=1)
    assert str(found).count("were predicted to be impossible") == 1
    assert found.groups.index("deviate significantly") < found.groups.index("were predicted to be impossible")
    assert found.sentences[-1] == "Without rows predicted 0 or 1 no group is significant."
    assert found.to_dict()["impossible.first"] == 602


def test_a_group_that_is_wrong_is_found_without_such_rows():
    p = np.where(GROUPS["b"], BAD_P**3, BAD_P)
    found = cs.audit(BAD_Y, p, GROUPS, rng=1)
    assert "b" in [found.names[g] for g in found.impossible.found]
    assert "b" in str(found.impossible)


def test_samples():
    samples = {name: cs.Sample.from_rows(BAD_Y[k::2], BAD_P[k::2]) for k, name in enumerate("ab")}
    found = cs.audit_samples(samples, n_resamples=99, rng=1)
    assert found.impossible.first is None
    assert found.impossible.number[0] == 2


def rejections(p_value_of, n_sets=400):
    """In how many calibrated data sets, beside one impossible row, any group has an adjusted p of at most .1."""
    found = 0
    for seed in range(n_sets):
        y, p = cs.generators.calibrated().sample(40, rng=seed)
        y, p = np.append(y, 1), np.append(p, 0.0)
        audit = cs.audit(y, p, {"a": np.arange(41) < 20}, n_resamples=19, rng=seed)
        found += p_value_of(audit).min() <= 0.1
    return found


def test_adjusted_p_values_without_certain_rows_keep_their_level_and_those_of_all_rows_find_the_impossible_one():
    limit = cs.study.most_rejections(0.1, 400, 1e-3)
    assert rejections(lambda audit: audit.impossible.pvalue_adjusted) <= limit
    assert rejections(lambda audit: audit.pvalue_adjusted) > limit  # the planted fault: the row is not left out


@pytest.mark.parametrize("shape", [False, True])
def test_all_rows_at_0_and_1(shape):
    found = cs.audit([1, 0, 1], [0.0, 1.0, 1.0], {"a": [True, True, False]}, shape=shape, n_resamples=9, rng=1)
    assert found.impossible.number.tolist() == [2, 2]
    assert found.impossible.pvalue.tolist() == [1, 1]
    one = cs.audit([1], [0.0], {"a": [True]}, shape=shape, n_resamples=9, rng=1)
    assert one.impossible.total_certain == 1
