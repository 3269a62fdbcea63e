"""Audits of rows in clusters: signs and exact laws by enumeration, limits, order, and rare outcomes."""

from itertools import pairwise, product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from scipy.stats import t as student

import calibstat as cs
from calibstat.bounds.number_of_events import smallest_mean
from calibstat.inference.auditing.group_statistic import GroupRoots, Strata
from calibstat.inference.auditing.rows_in_clusters import RowsInClusters, SignedGroups
from calibstat.inference.events_of_clusters import p_value_of_events
from calibstat.inference.p_values import holm
from calibstat.inference.problems.calibrated_clusters import SIGNS
from calibstat.resampling import Draws

RNG = np.random.default_rng(7)
UNIT = np.repeat(np.arange(9), 4)
P = RNG.beta(2, 2, 36)
Y = (RNG.random(9)[UNIT] < P).astype(float)
MASKS = np.array([np.ones(36), np.arange(36) % 4 < 2, UNIT < 6, (UNIT > 4) & (P > 0.3)], bool)
B = 19_999


def how_of(y=Y, p=P, unit=UNIT, masks=MASKS, unseen="observed"):
    return RowsInClusters(unit, y, p, len(masks), lambda g: masks[g], unseen, 0.95)


def by_signs(how):
    """The p-values by signs alone: of each group, and adjusted for all."""
    size = how.together.size
    groups = SimpleNamespace(draws=Draws.of(3, B), null=np.zeros((B, size)), of_uncertain=np.zeros((size, 1)))
    return how.together.compared(groups, np.ones(size, bool), np.zeros(size, bool))[SIGNS]


def variance(p, unit):
    """Of events: of independent labels, but of one number for each cluster where few clusters expect a rare one."""
    found = float((p * (1 - p)).sum())
    for chance in (p, 1 - p):
        rare = np.zeros(p.size, bool)
        for most in np.unique(chance[chance <= 0.5]):
            some = chance <= most
            if sum(chance[some & (unit == j)].max() for j in np.unique(unit[some])) < 10 - 1e-9:
                rare = some
        for j in np.unique(unit[rare]):
            q = chance[rare & (unit == j)]
            edges = np.unique([0.0, *q, 1.0])
            number = (q[:, None] > (edges[:-1] + edges[1:]) / 2).sum(axis=0)  # of events, by where the number falls
            found += np.diff(edges) @ number**2 - q.sum() ** 2 - (q * (1 - q)).sum()
    return found


def enumerated(per_row=False, anew=False, studentised=True):
    """The same from all signs of nine clusters, in plain loops; the options plant faults."""
    sums = np.array([[((Y - P) * mask)[j == UNIT].sum() for j in range(9)] for mask in MASKS])
    scale = np.array(
        [max((s**2).sum(), variance(P[mask], UNIT[mask])) ** 0.5 for s, mask in zip(sums, MASKS, strict=True)]
    )
    scale = scale if studentised else np.ones(len(scale))
    observed = np.abs(sums.sum(axis=1)) / scale
    if per_row or anew:
        signs = np.random.default_rng(1).choice([-1, 1], (4000, len(MASKS) if anew else 1, 36 if per_row else 9))
        what = ((Y - P) * MASKS if per_row else sums)[None]
        drawn = np.abs((signs * what).sum(axis=2)) / scale
    else:
        drawn = np.array([np.abs(sums @ signs) / scale for signs in product((-1, 1), repeat=9)])
    alone, adjusted, least = (drawn >= observed - 1e-9).mean(axis=0), np.empty(len(scale)), 0.0
    order = np.argsort(-observed)
    for k, g in enumerate(order):
        least = max(least, (drawn[:, order[k:]].max(axis=1) >= observed[g] - 1e-9).mean())
        adjusted[g] = least
    return alone, adjusted


def agree(found, expected):
    """Whether p-values of draws lie within exact limits of what they estimate, in all but 1e-4 of the runs."""
    count = np.rint(np.concatenate(found) * (B + 1)) - 1
    low, high = binom.interval(1 - 1e-5, B, np.concatenate(expected))
    return bool(((count >= low) & (count <= high)).all())


def test_signs_are_those_of_whole_clusters_shared_by_all_groups():
    assert agree(by_signs(how_of()), enumerated())


@pytest.mark.parametrize("clusters", [9, 40])
def test_variance_of_labels(clusters):
    unit = np.repeat(np.arange(clusters), 4)
    p = np.random.default_rng(1).beta(2, 2, unit.size).round(2)
    masks = np.array([np.ones(unit.size), unit < clusters // 2, np.arange(unit.size) % 4 < 2], bool)
    found = how_of(y=np.zeros(unit.size), p=p, unit=unit, masks=masks).together
    assert found._variance == pytest.approx([variance(p[mask], unit[mask]) for mask in masks], rel=1e-12)


@pytest.mark.parametrize("fault", [{"per_row": True}, {"anew": True}, {"studentised": False}])
def test_other_signs_are_noticed(fault):
    assert not agree(by_signs(how_of()), enumerated(**fault))


# --- groups in which no cluster has two rows -------------------------------------------------------------------------

CLASSES = 3
STACKED = np.repeat(np.arange(4), CLASSES)
OF_CLASS = np.tile(np.arange(CLASSES), 4)
V = np.array([0.5, 0.25, 0.75, 0.5, 0.5, 0.25, 0.25, 0.5, 0.75, 0.75, 0.25, 0.5])


def classes_as_groups(y, v=V):
    """The audit of rows and classes, of which the groups are the classes."""
    groups = {f"class {k}": k == OF_CLASS for k in range(CLASSES)}
    return cs.audit(y, v, groups, cluster=STACKED, n_resamples=19, rng=1)


def slow_exact(y, v):
    """The p-value of a group of independent rows from all labels, by the roots of their numbers."""
    strata, order = Strata.of(np.sort(v), np.ones(v.size), 1), np.argsort(v, kind="stable")
    statistic = GroupRoots.of(np.sort(v), np.ones(v.size), strata, [np.ones(v.size, bool)], False, None)

    def root(label):
        return abs(statistic(np.bincount(strata.stratum, label[order], strata.size)[None, None])[0, 0, 0])

    chance = {label: np.prod(np.where(label, v, 1 - v)) for label in product((0, 1), repeat=v.size)}
    return sum(c for label, c in chance.items() if root(np.array(label)) >= root(y) - 1e-9)


def test_their_p_values_are_those_of_all_labels_and_take_their_share_of_the_level():
    y = np.array([1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1])
    found = classes_as_groups(y)
    expected = np.array([slow_exact(y[k == OF_CLASS], V[k == OF_CLASS]) for k in range(CLASSES)])
    assert found.pvalue[1:] == pytest.approx(expected, rel=1e-9)
    assert found.pvalue_adjusted[1:] == pytest.approx(np.minimum(holm(expected) * 4 / 3, 1), rel=1e-9)
    assert found.clusters.apart.tolist() == [False, True, True, True]


def worst_excess(adjusted_of):
    """The largest P(some class has an adjusted p of at most a) - a, of labels as alike as they can be."""
    laws = []
    for j in range(4):
        v = V[j == STACKED]
        cuts = np.unique([0, *v, 1])
        laws.append([(b - a, (v > a).astype(int)) for a, b in pairwise(cuts)])
    smallest, chance = [], []
    for parts in product(*laws):
        chance.append(np.prod([part[0] for part in parts]))
        smallest.append(adjusted_of(np.concatenate([part[1] for part in parts])).min())
    order = np.argsort(smallest)
    return (np.cumsum(np.array(chance)[order]) - np.array(smallest)[order])[
        np.append(np.diff(np.array(smallest)[order]) > 1e-12, True)
    ].max()


def test_their_level_holds_however_labels_of_a_row_depend_on_each_other():
    assert worst_excess(lambda y: classes_as_groups(y).pvalue_adjusted[1:]) <= 1e-9


def test_without_their_adjustment_it_does_not():
    assert worst_excess(lambda y: classes_as_groups(y).pvalue[1:]) > 0.05


# --- one side, limits, words -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["over", "under"])
def test_of_one_side_p_values_are_bounds_of_numbers_of_events(side):
    masks = {"half": np.arange(36) % 4 < 2, "one each": np.arange(36) % 4 == 0}
    found = cs.audit(Y, P, masks, cluster=UNIT, side=side)
    all_masks = [np.ones(36, bool), *masks.values()]
    several = [p_value_of_events(Y[m], P[m], UNIT[m], side) for m in all_masks[:2]]
    one = all_masks[2]
    law = np.ones(1)
    for v in P[one]:
        law = np.convolve(law, [1 - v, v])
    number = int(Y[one].sum())
    alone = law[number:].sum() if side == "under" else law[: number + 1].sum()
    assert found.pvalue == pytest.approx([*several, alone], rel=1e-9)
    assert found.pvalue_adjusted == pytest.approx(holm(found.pvalue))
    assert (found.low is None, found.high is None) == (side == "over", side == "under")
    assert "(exact)" in found.null_hypothesis


def test_limits_are_exact_of_rows_apart_and_never_shorter_than_students_of_others():
    masks = {"half": np.arange(36) % 4 < 2, "one each": np.arange(36) % 4 == 0}
    found = cs.audit(Y, P, masks, cluster=UNIT, rng=1)
    one, tail = masks["one each"], 0.05 / 6
    assert found.low[2] == pytest.approx(smallest_mean(Y[one].sum(), 9, tail) - P[one].mean())
    for g, mask in enumerate([np.ones(36, bool), masks["half"]]):
        sums = np.bincount(UNIT[mask], (Y - P)[mask])
        rows = np.bincount(UNIT[mask])
        mean = sums.sum() / rows.sum()
        reach = student.ppf(1 - tail, 8) * np.sqrt(9 / 8 * ((sums - mean * rows) ** 2).sum()) / rows.sum()
        assert found.low[g] <= max(mean - reach, -P[mask].mean())
        assert found.high[g] >= min(mean + reach, 1 - P[mask].mean())
    whole = cs.audit(Y, P, masks, cluster=cs.Clusters(UNIT, unseen="clusters"), rng=1)
    assert (whole.high - whole.low >= found.high - found.low - 1e-12).all()
    assert "worst outcome" in whole.clusters.of_rows.assumption


# --- order, errors, impossible rows ----------------------------------------------------------------------------------


def test_order_names_and_threads_change_nothing():
    frame = pd.DataFrame({"a": np.where(np.arange(36) % 4 < 2, "x", "y"), "b": UNIT % 2})
    first = cs.audit(Y, P, cs.Groups(frame, min_rows=1), cluster=UNIT, rng=1)
    order = np.random.default_rng(2).permutation(36)
    names = np.array(list("qwertyuio"))[UNIT]
    again = cs.audit(
        Y[order], P[order], cs.Groups(frame.iloc[order], min_rows=1), cluster=names[order], rng=1, n_jobs=2
    )
    by_name = [again.names.index(name) for name in first.names]
    for field in ("root", "low", "high", "pvalue", "pvalue_adjusted"):
        np.testing.assert_array_equal(getattr(first, field), getattr(again, field)[by_name])
    assert str(first) == str(again)


@pytest.mark.parametrize(
    ("cluster", "options", "message"),
    [
        (UNIT, {"shape": True}, "expected shape=False with cluster=: .* found shape=True: ask cs.calibration_test"),
        (UNIT[:-1], {}, "cluster"),
        (np.zeros(36), {}, "expected at least 2 clusters, found 1"),
        (np.where(UNIT == 2, np.nan, UNIT), {}, "missing"),
    ],
)
def test_bad_input(cluster, options, message):
    with pytest.raises(ValueError, match=message):
        cs.audit(Y, P, {"a": P > 0.5}, cluster=cluster, **options)


def test_two_clusters_show_nothing():
    found = cs.audit(np.ones(20, int), np.full(20, 0.01), {"a": np.arange(20) < 10}, cluster=np.arange(20) // 10, rng=1)
    assert found.pvalue_adjusted.min() > 0.4  # of four pairs of signs two are as extreme
    assert not found.found.size


@pytest.mark.parametrize("size", [1, 5])
def test_impossible_rows_are_found_by_themselves_and_counted_apart(size):
    y, p = np.arange(60) % 2, np.full(60, 0.5)
    p[3] = 0.0
    found = cs.audit(y, p, {"a": np.arange(60) < 30, "b": np.arange(60) >= 30}, cluster=np.arange(60) // size, rng=1)
    assert found.impossible.number.tolist() == [1, 1, 0]
    assert sorted(found.found) == [0, 1]
    assert np.isinf(found.root).tolist() == [True, True, False]
    assert not found.impossible.found.size


def test_a_sum_that_is_zero_in_every_cluster_is_no_evidence():
    rng = np.random.default_rng(4)
    prob = rng.dirichlet(np.ones(4), 50)
    label = np.array([rng.choice(4, p=each) for each in prob])
    y, unit = (label[:, None] == np.arange(4)).astype(int).ravel(), np.repeat(np.arange(50), 4)
    found = cs.audit(y, prob.ravel(), {"first": np.arange(200) % 4 == 0}, cluster=unit, rng=1)
    assert (found.root[0], found.pvalue[0]) == (0, 1)


def test_certain_predictions_alone():
    y = np.tile([0, 1], 10)
    found = cs.audit(y, y.astype(float), {"a": np.arange(20) < 10}, cluster=np.arange(20) // 4, rng=1)
    assert (found.pvalue == 1).all()
    assert found.beyond is None


# --- the level where outcomes are rare -------------------------------------------------------------------------------


def false_alarms(sets):
    """In how many calibrated data sets a group of sites is found; the rows of a cluster have one outcome."""
    found = 0
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        chance, unit = rng.beta(1, 9, 120), np.repeat(np.arange(120), 4)
        site = rng.integers(0, 8, 120)[unit]
        y = (rng.random(120) < chance)[unit].astype(int)
        groups = {f"site {k}": site == k for k in range(8)}
        found += cs.audit(y, chance[unit], groups, cluster=unit, n_resamples=99, rng=seed).found.size > 0
    return found


def test_rare_outcomes_of_alike_rows_do_not_break_the_level():
    assert false_alarms(40) <= cs.study.most_rejections(0.05, 40, 1e-4)


def test_without_labels_that_clusters_share_they_do(monkeypatch):
    def of_independent_labels(self):
        return np.bincount(self.group, (self.p * (1 - self.p))[self.row], self.size)

    monkeypatch.setattr(SignedGroups, "_variance", property(of_independent_labels))
    monkeypatch.setattr(SignedGroups, "shared", lambda self, draws: np.zeros((draws.n, self.size)))
    assert false_alarms(40) > cs.study.most_rejections(0.05, 40, 1e-4)


def found_of_parts(sets):
    """In how many calibrated data sets a group is found, where half of the rows of a cluster share a rare event."""
    clusters, half = 22, 60
    unit, p = np.repeat(np.arange(clusters), 2 * half), np.tile([0.02] * half + [0.98] * half, clusters)
    found = 0
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        shared, alone = np.repeat(rng.random(clusters) < 0.02, 2 * half), rng.random(p.size) < p
        y = np.where(p < 0.5, shared, alone).astype(int)
        groups = {"odd": np.arange(p.size) % 2 == 1}
        found += cs.audit(y, p, groups, cluster=unit, n_resamples=99, rng=seed).found.size > 0
    return found


@pytest.mark.thorough
def test_rare_events_that_a_part_of_a_cluster_shares(monkeypatch):
    """With the variance of independent labels all ways to draw clusters fail together."""
    most = cs.study.most_rejections(0.05, 40, 1e-4)
    assert found_of_parts(40) <= most
    monkeypatch.setattr(SignedGroups, "_more_if_shared", lambda self, chance: np.zeros(self.size))
    assert found_of_parts(40) > most
