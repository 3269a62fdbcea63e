"""Words of results on clusters: the assumption, what a plain interval says, and when to be careful."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.bounds.observed_clusters import ClusterMean
from calibstat.data.clusters import Unseen
from calibstat.inference.words_on_clusters import (
    cautions,
    of_bootstrap,
    of_outcomes,
    of_shared_outcomes,
    remark,
    shown_on_average,
    supposed,
)


@pytest.mark.parametrize(("level", "often"), [(0.9, 3), (0.95, 4), (0.99, 6)])
def test_a_kind_that_is_expected_so_often_is_seldom_absent(level, often):
    """It is absent with probability exp(-often), at most the probability of a miss on one side."""
    tail = (1 - level) / 2
    assert shown_on_average(tail) == often
    assert np.exp(-often) <= tail < np.exp(1 - often)
    assert f"expected fewer than {often} times among 40" in supposed(Unseen("observed", 40), 40, level)


def test_the_assumption_is_one_sentence_for_each_word():
    assert supposed(Unseen("rows", 9), 40, 0.95) == "Assumes that absent kinds of clusters do not matter."
    assert supposed(Unseen("clusters", 9), 40, 0.95).startswith("Allows for absent clusters all of whose rows")
    assert supposed(Unseen("observed", 40), 40, 0.95, like_observed=False) == supposed(Unseen("clusters", 9), 40, 0.95)
    few = supposed(Unseen("observed", 6), 40, 0.95)
    assert few.endswith("Only 6 of 40 clusters show the rarer outcome, so whole clusters of it are partly allowed for.")
    assert "Only" not in supposed(Unseen("observed", 30), 40, 0.95)


def mean_of(shift):
    part = np.linspace(-1, 1, 20) + shift
    return ClusterMean.of("", part, np.ones(20), 20, (-5.0, 5.0))


def test_a_remark_says_what_a_plain_interval_says_and_what_would_tip():
    plain = -mean_of(0.0).plain(0.025)[0]
    wide = mean_of(0.0).high(0.025)
    between = remark(mean_of((plain + wide) / 2), "observed", 0.025, further="Or so.")
    assert between.startswith("A plain t interval of clusters, [")
    assert "leaves out 0" in between
    assert between.endswith("More clusters would tell. Or so.")
    assert "The default" in remark(mean_of((plain + wide) / 2), "clusters", 0.025)
    beyond = remark(mean_of(1.5 * wide), "observed", 0.025)
    assert beyond.startswith("0 stays outside unless absent clusters can be ")
    assert beyond.endswith("times as extreme as the most extreme of these 20.")
    assert remark(mean_of(0.5 * plain), "observed", 0.025) == ""
    same = ClusterMean.of("", np.full(20, 0.1), np.ones(20), 20, (-1.0, 1.0))
    assert (
        remark(same, "observed", 0.025) == "All clusters have the same mean: no difference between clusters was seen."
    )


def test_cautions_of_few_and_of_unequal_clusters():
    assert cautions(10, 10.0) == []
    assert "may be too narrow" in cautions(9, 9.0)[0]
    assert "as if 2.3 clusters of equal size" in cautions(40, 2.3)[0]
    assert of_bootstrap(30) == []
    assert "too narrow" in of_bootstrap(29)[0]


def test_a_caution_of_shares_of_events_that_spread():
    rows = np.full(12, 100.0)
    assert of_outcomes(np.full(12, 20.0), rows) == []
    uneven = np.where(np.arange(12) < 2, 90.0, 0.0)
    assert "differ by more than their mean" in of_outcomes(uneven, rows)[0]
    assert of_outcomes(np.tile(uneven, 3), np.tile(rows, 3)) == []  # 36 clusters


def test_answers_say_so_in_the_words_of_the_rule():
    y, p = cs.generators.temperature(2.0).sample(1200, rng=1)
    hospital = np.repeat(np.arange(12), 100)
    found = cs.confidence_interval(y, p, measure="brier", cluster=hospital)
    sentence = "Assumes that no absent kind of cluster is more extreme than the most extreme"
    assert sentence in str(found)
    assert sentence in str(cs.compare(y, {"a": p, "b": p**2}, measure="brier", cluster=hospital))
    assert sentence in str(cs.validate(y, p, cluster=hospital))
    assert sentence in str(cs.net_benefit(y, p, [0.3], cluster=hospital))
    assert sentence not in str(cs.calibration_test(y, p, measure="ks", cluster=hospital, n_resamples=9, rng=1))


def test_answers_say_that_neighbouring_days_are_alike():
    random = np.random.default_rng(1)
    day = np.repeat(np.arange(60), 20)
    wet = np.repeat(np.repeat(random.random(12) < 0.5, 5), 20)  # five days in a row are alike
    y = (random.random(1200) < np.where(wet, 0.6, 0.2)).astype(int)
    two = {"a": np.full(1200, 0.4), "b": np.full(1200, 0.3)}
    of_days = [
        cs.compare(y, two, measure="brier", cluster=day),
        cs.confidence_interval(y, two["a"], measure="brier", cluster=day),
        cs.validate(y, two["a"], cluster=day),
    ]
    for found in of_days:
        assert ("\n" + str(found)).count("\nCaution: neighbouring clusters are alike (correlation 0.")
    for other in (random.permutation(60)[day], np.array([f"day {d}" for d in day]), cs.blocks(day)):
        assert "neighbouring" not in str(cs.confidence_interval(y, two["a"], measure="brier", cluster=other))


def test_a_test_that_only_its_most_cautious_way_keeps_from_finding_says_so():
    found = {"signs of clusters": 0.001, "independent labels": 0.0012, "labels that clusters share": 0.988}
    said = of_shared_outcomes(found, 32)
    assert said.startswith("These 32 clusters are few for this test, which allows for clusters whose rows all have the")
    assert "without this p is 0.0012." in said
    assert of_shared_outcomes(found | {"signs of clusters": 0.06}, 32) == ""  # another way finds nothing either
    assert of_shared_outcomes(found | {"labels that clusters share": 0.05}, 32) == ""  # it is found
    assert of_shared_outcomes({"signs of clusters": 0.001, "independent labels": 0.2}, 32) == ""


def test_days_in_blocks_that_are_all_wrong_the_same_way():
    random = np.random.default_rng(1)
    p = np.repeat(random.beta(2, 8, 96), 20)
    y = random.random(p.size) < np.minimum(1.25 * p, 1)
    unit = np.arange(p.size) // 60
    found = cs.calibration_test(y, p, cluster=unit, measure="ks", n_resamples=199, rng=1)
    assert found.pvalue > 0.05
    assert found.rows.remark in found.answer.splitlines()
    assert cs.calibration_test(y, np.minimum(1.25 * p, 1), cluster=unit, measure="ks", rng=1).rows.remark == ""
