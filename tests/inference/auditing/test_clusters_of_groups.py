"""Words on the clusters of groups: how many, which groups are exact, and which have too few."""

import numpy as np

import calibstat as cs

STACKED, OF_CLASS = np.repeat(np.arange(4), 3), np.tile(np.arange(3), 4)
V = np.array([0.5, 0.25, 0.75, 0.5, 0.5, 0.25, 0.25, 0.5, 0.75, 0.75, 0.25, 0.5])
Y = np.array([1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1])


def test_a_group_of_few_clusters_says_that_it_cannot_be_significant():
    y, p, unit = np.ones(400, int), np.full(400, 0.01), np.repeat(np.arange(40), 10)
    found = cs.audit(y, p, {"four": unit < 4, "one": unit == 0}, cluster=unit, rng=1)
    assert found.names[found.found[0]] == "all rows"
    assert (found.pvalue_adjusted[1:] > 0.05).all()
    assert found.sentence(1).endswith("too few clusters to be significant (4)")
    assert "(40 rows in 4 clusters)" in found.sentence(1)
    assert "(10 rows in 1 cluster)" in found.sentence(2)


def test_groups_that_are_the_clusters_are_led_to_an_audit_without_clusters():
    y, p = cs.generators.calibrated().sample(120, rng=1)
    hospital = np.arange(120) % 6
    answer = cs.audit(y, p, {f"h{k}": hospital == k for k in range(6)}, cluster=hospital, rng=1).answer
    assert "6 of 7 groups have too few clusters to be significant." in answer
    assert answer.endswith(" If groups are the clusters, such as hospitals, leave out cluster=.")
    apart = cs.audit(y, p, {"even": hospital % 2 == 0}, cluster=np.arange(120) // 2, rng=1)
    assert "too few" not in apart.answer


def test_words_say_what_is_exact():
    groups = {f"class {k}": k == OF_CLASS for k in range(3)}
    found = cs.audit(Y, V, groups, cluster=STACKED, n_resamples=19, rng=1)
    text = str(found)
    assert "is about 5 % at most" in text
    assert "1 of 4 groups has several rows of a cluster: its p-values and intervals are approximate" in text
    assert "The others are exact. Assumes that no absent kind of cluster is more extreme" in text
    assert "a kind expected fewer than 6 times among 4 may be missed" in text  # -log(0.05 / 4 / 2) = 5.1
    assert "Caution: only 4 clusters." in text
    assert "rows of different clusters are independent (approximate: 4 clusters of 3 rows each)" in text
    assert found.clusters.number.tolist() == [4, 4, 4, 4]
    assert found.to_frame()["clusters"].tolist() == [4, 4, 4, 4]
    assert str(found.clusters) == "4 clusters of 3 rows each, 3 of 4 groups with one row of each"
    alone = cs.audit(Y, V, {"a": V > 0.3}, cluster=np.arange(12), rng=1)
    assert "No group has two rows of a cluster: all p-values and limits are exact." in str(alone)
    assert "(exact)" in alone.null_hypothesis


def test_of_one_side_all_p_values_are_exact():
    text = str(cs.audit(Y, V, {"a": V > 0.3}, cluster=STACKED, side="over"))
    assert "is at most 5 %; all limits hold" in text
    assert "2 of 2 groups have several rows of a cluster: their limits are approximate, all p-values are exact." in text
