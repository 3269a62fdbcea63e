"""Summaries of periods: sums by hand, rounded to the safe side, the same over shards in any order and through JSON."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_strategies import rows

import calibstat as cs
from calibstat.monitoring.directions import log_likelihood_ratios
from calibstat.monitoring.period import PeriodSummary, SegmentSums

MONITOR = cs.Monitor()


def test_sums_by_hand():
    sums = MONITOR.summarize([1, 0, 1, 0], [0.75, 0.25, 0.25, 1.0]).total
    assert (sums.rows, sums.positives, sums.impossible) == (4, 2, 1)
    assert sums.predicted == 2_250_000_000  # in units of 1e-9
    assert sums.squares == 1_687_500_000  # 1/16 + 1/16 + 9/16 + 1
    assert np.isinf(sums.log_ratios).all()


def test_evidence_is_rounded_down_and_squares_up():
    generator = np.random.default_rng(1)
    p = generator.random(50)
    sample = cs.Sample.from_rows(generator.integers(0, 2, 50), p)
    sums = SegmentSums.of(sample)
    lost = log_likelihood_ratios(*sample.arrays) - sums.log_ratios
    assert ((lost > -1e-12) & (lost < 1.001e-6)).all()
    exact = math.fsum(sample.positives * (1 - sample.value) ** 2 + (sample.count - sample.positives) * sample.value**2)
    assert 0 <= sums.squares * 1e-9 - exact < 1.001e-9


@settings(max_examples=20)
@given(st.lists(rows(max_size=8), min_size=3, max_size=3))
def test_shards_add_up_to_the_same_numbers_in_any_order(shards):
    parts = [MONITOR.summarize(*shard) for shard in shards]
    sums = [((a + b) + c).to_dict() for a, b, c in itertools.permutations(parts)]
    sums += [(a + (b + c)).to_dict() for a, b, c in itertools.permutations(parts)]
    assert all(each == sums[0] for each in sums)
    y, p = (np.concatenate(column) for column in zip(*shards, strict=True))
    whole, merged = MONITOR.summarize(y, p).total, PeriodSummary.from_dict(sums[0]).total
    assert (whole.rows, whole.positives, whole.impossible) == (merged.rows, merged.positives, merged.impossible)
    assert (whole.ratios >= merged.ratios - 1).all()  # each shard is rounded down; 1 for sums that are whole numbers
    assert (whole.ratios <= merged.ratios + 4).all()


def test_segments_are_summed_by_themselves_and_together():
    y, p, segment = np.array([1, 0, 1, 0]), np.array([0.5, 0.25, 0.75, 0.5]), ["south", "north", "south", "north"]
    summary = MONITOR.summarize(y, p, segment)
    assert list(summary.segments) == ["north", "south"]
    assert summary.segments["south"].to_list() == MONITOR.summarize(y[::2], p[::2]).total.to_list()
    assert summary.total.rows == 4
    one = MONITOR.summarize(cs.Sample.from_rows(y[::2], p[::2]), segment="south")
    two = MONITOR.summarize(y[1::2], p[1::2], segment="north")
    assert one + two == summary
    assert (one + two).names == ("north", "south")
    np.testing.assert_array_equal(summary.total.ratios, one.total.ratios + two.total.ratios)


def test_a_summary_survives_json():
    y, p = cs.generators.calibrated().sample(40, rng=1)
    for summary in (MONITOR.summarize(y, p), MONITOR.summarize(y, p, np.arange(40) % 3)):
        assert PeriodSummary.from_dict(json.loads(json.dumps(summary.to_dict()))) == summary
    assert repr(MONITOR.summarize(y, p, np.arange(40) % 3)).endswith(f"{int(y.sum())} positive, 3 segments)")
    assert repr(MONITOR.summarize([1], [0.5])) == "PeriodSummary(1 row, 1 positive)"


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        (lambda good: {}, "expected the sums of each segment"),
        (lambda good: [], "expected the sums of each segment"),
        (lambda good: {"": good, "a": good}, "or of all rows under ''"),
        (lambda good: {"a": good[:-1]}, "expected 39 numbers of a segment"),
        (lambda good: {"a": [*good[:-1], 0.5]}, "expected whole numbers of a segment"),
        (lambda good: {"a": [1, 2, *good[2:]]}, "no more positive ones than rows"),
    ],
)
def test_a_broken_summary_is_refused(segments, message):
    good = MONITOR.summarize([1, 0], [0.5, 0.5]).to_dict()[""]
    with pytest.raises(ValueError, match=message):
        PeriodSummary.from_dict(segments(good))


def test_bad_segments_are_refused():
    with pytest.raises(ValueError, match=r"expected one segment a row, shape \(2,\), found shape \(3,\)"):
        MONITOR.summarize([1, 0], [0.5, 0.5], ["a", "b", "c"])
    with pytest.raises(ValueError, match="expected no missing segments, found one at row 1"):
        MONITOR.summarize([1, 0], [0.5, 0.5], np.array(["a", None], object))
    with pytest.raises(ValueError, match="expected segments of different names, found"):
        MONITOR.summarize([1, 0], [0.5, 0.5], np.array([1, "1"], object))
    with pytest.raises(ValueError, match="expected the name of a segment, found ''"):
        MONITOR.summarize([1, 0], [0.5, 0.5], "")
    with pytest.raises(ValueError, match="both summaries with segments, or both without"):
        _ = MONITOR.summarize([1], [0.5]) + MONITOR.summarize([1], [0.5], "a")
    with pytest.raises(TypeError):
        _ = MONITOR.summarize([1], [0.5]) + 1


def test_rows_that_cannot_be_summed_are_refused():
    with pytest.raises(ValueError, match="a monitor needs whole-number counts"):
        MONITOR.summarize(cs.Sample.from_rows([1, 0], [0.5, 0.5], [0.5, 1]))
    with pytest.raises(ValueError, match="expected fewer rows of so extreme predictions"):
        MONITOR.summarize(cs.Sample.from_counts([1e-300], [1e15], [1e15]))
    with pytest.raises(ValueError, match="expected a probability from 0 to 1"):
        MONITOR.summarize([1, 0], [0.5, 1.5])
    with pytest.raises(ValueError, match="expected at least one row"):
        MONITOR.summarize([], [])


CLUSTER = np.arange(60) // 3
WAYS = {  # calls that a refusal names: each monitor, the call with clusters, and the one to ask instead of each period
    "Monitor": (lambda y, p, **about: cs.Monitor().update(y, p, **about), r"cs.calibration_test\(y, p", "alpha"),
    "Monitor of models": (
        lambda y, p, **about: cs.Monitor().update(y, {"a": p, "b": p**2}, **about),
        r"cs.calibration_test\(y, p", "alpha"
    ),
    "BrierMonitor": (
        lambda y, p, **about: cs.BrierMonitor().update(y, p, p**2, **about),
        r"cs.compare\(y, models, measure='brier'", r"\(1 - confidence_level\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WAYS)
@pytest.mark.parametrize("cluster", [CLUSTER, cs.Clusters(CLUSTER)])
def test_clusters_are_refused_with_the_reason_and_a_way_out(kind, cluster):
    update, ask, share = WAYS[kind]
    message = (
        "expected rows without cluster= for a monitor, because .* the product over the rows of a cluster, which depend "
        "on each other, is not an e-value; found one: feed one row of each cluster in its first period, .*; "
        rf"or ask {ask}, cluster=\.\.\.\) of each period by itself, at the level {share} / number of periods$"
    )
    y, p = cs.generators.calibrated().sample(60, rng=1)
    with pytest.raises(ValueError, match=message):
        update(y, p, cluster=cluster)


def alarms(one_row):
    """In how many of 100 streams of 5 periods, each of 40 clusters of 10 alike rows, a monitor has a false alarm."""
    found = 0
    cluster = np.repeat(np.arange(40), 10)
    first = np.unique(cluster, return_index=True)[1]
    of = first if one_row else np.arange(400)
    for stream in range(100):
        random, monitor = np.random.default_rng([20261128, stream]), cs.Monitor()
        for _ in range(5):
            p = random.random(400)
            y = random.random(40)[cluster] < p
            monitor.update(y[of], p[of])
        found += monitor.alarm
    return found


def test_one_row_of_each_cluster_keeps_the_promise_and_all_rows_do_not():
    most = cs.study.most_rejections(0.05, 100, 1e-3)
    assert alarms(one_row=True) <= most < alarms(one_row=False)


def test_the_other_ways_out_are_open():
    y, p = cs.generators.calibrated().sample(120, rng=1)
    cluster = np.arange(120) // 3
    assert 0 < cs.calibration_test(y, p, measure="ks", cluster=cluster, n_resamples=99, rng=1).pvalue <= 1
    assert 0 < cs.compare(y, {"a": p, "b": p**2}, measure="brier", cluster=cluster).pvalue <= 1
