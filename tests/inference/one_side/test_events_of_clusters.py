"""One side of rows in clusters: the law of the number of events, its bound by definition, and an adversary's laws."""

from functools import reduce
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import calibstat as cs
from calibstat.inference.events_of_clusters import LEAST_P, events_of_clusters, p_value_of_events

SIDES = ("over", "under")
CLUSTERS = st.lists(
    st.lists(st.one_of(st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]), st.floats(0, 1)), min_size=1, max_size=4),
    min_size=1,
    max_size=5,
)


def flat(clusters):
    """Predictions and cluster numbers of rows."""
    unit = np.repeat(np.arange(len(clusters)), [len(each) for each in clusters])
    return np.concatenate([np.asarray(each, float) for each in clusters]), unit


def slow_law(clusters):
    """P(N = k) by all combinations of where the uniform number of each cluster lies among its predictions."""
    total = sum(len(each) for each in clusters)
    found = np.zeros(total + 1)
    parts = []
    for each in clusters:
        ends = np.unique([0.0, *each, 1.0])
        parts.append([(b - a, sum(v >= b for v in each)) for a, b in pairwise(ends)])
    for cell in product(*parts):
        found[sum(events for _, events in cell)] += np.prod([chance for chance, _ in cell])
    return found


def by_definition(pmf, s):
    """The least of E(t - N)_+ / (t - s) over whole t above s."""
    k = np.arange(pmf.size)
    return min(1.0, *(np.maximum(t - k, 0) @ pmf / (t - s) for t in range(s + 1, pmf.size + 5)))


def p_of(clusters, s, side="over"):
    """The p-value of s events; which rows they are in does not matter."""
    p, unit = flat(clusters)
    return p_value_of_events((np.arange(p.size) < s).astype(float), p, unit, side)


def random_clusters(rng, most=4, rows=3):
    kinds = (lambda k: rng.random(k), lambda k: np.full(k, rng.random()), lambda k: rng.beta(0.3, 0.3, k))
    return [kinds[rng.integers(3)](rng.integers(1, rows + 1)) for _ in range(rng.integers(1, most + 1))]


@given(CLUSTERS)
def test_law_by_brute_force(clusters):
    p, unit = flat(clusters)
    least, pmf = events_of_clusters(p, unit)
    expected = slow_law(clusters)
    assert pmf == pytest.approx(expected[least : least + pmf.size], abs=1e-14)
    assert pmf.sum() == pytest.approx(1, abs=1e-13)
    assert (np.arange(pmf.size) + least) @ pmf == pytest.approx(p.sum(), abs=1e-12)  # the mean is that of any law


@given(CLUSTERS)
def test_p_by_definition(clusters):
    """For every number of events that the predictions allow."""
    law = slow_law(clusters)
    for s in np.flatnonzero(law > 0):
        assert p_of(clusters, s) == pytest.approx(max(by_definition(law, s), LEAST_P), abs=1e-12)
        mirrored = max(by_definition(law[::-1], law.size - 1 - s), LEAST_P)
        assert p_of(clusters, s, "under") == pytest.approx(mirrored, abs=1e-12)


def test_p_is_0_up_to_rounding_where_fewer_events_than_certain_ones_were_observed():
    """Three rows predicted 1, and 2 events: E(3 - N)_+ = 0, so that p(2) = 0. The same of the complement."""
    clusters = [[1.0], [1.0, 0.4], [1.0]]
    law = slow_law(clusters)
    assert by_definition(law, 2) == 0
    assert p_of(clusters, 2) == LEAST_P
    assert p_of([[0.0], [0.0, 0.6], [0.0]], 2, "under") == LEAST_P


@given(CLUSTERS, st.integers(0, 20))
def test_under_is_over_of_the_complement(clusters, s):
    p, unit = flat(clusters)
    y = (np.arange(p.size) < s).astype(float)
    over, under = p_value_of_events(1 - y, 1 - p, unit, "over"), p_value_of_events(y, p, unit, "under")
    assert under == pytest.approx(over, abs=1e-12)


@given(CLUSTERS)
def test_p_rises_with_events_and_falls_with_predictions(clusters):
    found = [p_of(clusters, s) for s in range(sum(map(len, clusters)) + 1)]
    assert np.all(np.diff(found) >= -1e-15)
    assert found[-1] == 1
    higher = [np.asarray(each) + (1 - np.asarray(each)) / 3 for each in clusters]
    allowed = np.flatnonzero(slow_law(higher) > 0)
    assert all(p_of(higher, s) <= found[s] + 1e-12 for s in allowed)


def test_by_hand():
    """One cluster of two rows at 1/2: N is 0 or 2. p(0) = E(1 - N)_+ = 1/2, and p(1) = 1, as one of both may be 1."""
    assert events_of_clusters(np.array([0.5, 0.5]), np.zeros(2, int))[1] == pytest.approx([0.5, 0, 0.5])
    assert [p_of([[0.5, 0.5]], s) for s in range(3)] == pytest.approx([0.5, 1, 1])
    # ten clusters of one row at .9, none an event: p(0) = min over t, of which t = 1 has .1^10
    assert p_of([[0.9]] * 10, 0) == pytest.approx(1e-10)
    assert p_of([[0.9]] * 20, 0) == LEAST_P
    # three of them: N is binomial; E(1 - N)_+ = .001; E(2 - N)_+ / 2 = (.002 + .027) / 2; so p(0) = .001
    assert p_of([[0.9]] * 3, 0) == pytest.approx(0.001)


def test_one_row_a_cluster_has_the_law_of_independent_rows():
    p = np.random.default_rng(1).random(40)
    least, pmf = events_of_clusters(p, np.arange(40))
    expected = reduce(np.convolve, [[1 - v, v] for v in p])
    assert pmf == pytest.approx(expected[least : least + pmf.size], abs=1e-15)


# --- an adversary ----------------------------------------------------------------------------------------------------


def worst_law(values, gain):
    """Of joint laws of the rows of a cluster with at least these chances, that of largest mean gain by events."""
    outcomes = np.array(list(product((0, 1), repeat=len(values))))
    events = outcomes.sum(axis=1)
    found = linprog(-gain[events], A_ub=-outcomes.T, b_ub=-np.asarray(values), A_eq=np.ones((1, events.size)), b_eq=[1])
    law = np.maximum(np.bincount(events, np.maximum(found.x, 0), len(values) + 1), 0)
    return law / law.sum()


def likeliest(rng, clusters, s, starts=3, rounds=3):
    """The largest P(N <= s) that alternating linear programs find, from laws of each cluster at random."""
    best = 0.0
    for start in range(starts):
        laws = [slow_law([each]) if start == 0 else worst_law(each, rng.random(len(each) + 1)) for each in clusters]
        before = -1.0
        for _ in range(rounds):
            for c, each in enumerate(clusters):
                others = reduce(np.convolve, laws[:c] + laws[c + 1 :], np.ones(1))
                upto = np.append(np.cumsum(others), np.ones(s + 1))
                gain = np.array([upto[s - k] if s >= k else 0.0 for k in range(len(each) + 1)])
                laws[c] = worst_law(each, gain)
            now = reduce(np.convolve, laws)[: s + 1].sum()
            if now <= before + 1e-12:
                break
            before = now
        best = max(best, now)
    return best


def attack(tries, seed):
    """The largest P(N <= s) - p(s), and the least gap where p is below .9, over random clusters and s."""
    rng = np.random.default_rng(seed)
    excess, gap = -1.0, 1.0
    for _ in range(tries):
        clusters = random_clusters(rng)
        s = int(rng.integers(0, sum(map(len, clusters))))
        found, p = likeliest(rng, clusters, s), p_of(clusters, s)
        excess = max(excess, found - p)
        gap = min(gap, p - found) if 0.01 < p < 0.9 else gap
    return excess, gap


@pytest.mark.parametrize("tries", [15, pytest.param(400, marks=pytest.mark.slow)])
def test_no_law_within_clusters_is_beyond_the_bound_and_some_attain_it(tries):
    excess, gap = attack(tries, 3)
    assert excess <= 1e-9
    assert gap <= 1e-9


def test_the_tail_of_events_that_come_together_is_no_bound():
    """Planted fault: P(N <= 1) is 1/2 if two rows at 1/2 come together, 3/4 if independent, and 1 at the worst."""
    rng = np.random.default_rng(1)
    clusters = [[0.5, 0.5]]
    assert slow_law(clusters)[:2].sum() == 0.5
    assert slow_law([[0.5], [0.5]])[:2].sum() == 0.75
    assert likeliest(rng, clusters, 1) == pytest.approx(1)
    assert p_of(clusters, 1) == 1


@given(CLUSTERS, st.sampled_from(SIDES))
def test_the_level_holds_if_events_come_together_and_if_rows_are_independent(clusters, side):
    """P(p <= a) <= a by both laws, for every a."""
    p, _ = flat(clusters)
    found = np.array([p_of(clusters, s, side) for s in range(p.size + 1)])
    for law in (slow_law(clusters), slow_law([[v] for v in p])):
        assert all(law[found <= a].sum() <= a + 1e-12 for a in found)


# --- through the door ------------------------------------------------------------------------------------------------


def wrong_clusters(n=300, of=3):
    rng = np.random.default_rng(6)
    p, unit = rng.random(n) * 0.5 + 0.4, np.arange(n) // of
    shared = np.where(rng.random(n) < 0.5, rng.random(n // of)[unit], rng.random(n))
    return (shared < p - 0.2).astype(int), p, unit


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("measure", [None, "mean", cs.measures.Mean()])
def test_the_test_with_clusters(side, measure):
    y, p, unit = wrong_clusters()
    found = cs.calibration_test(y, p, side=side, measure=measure, cluster=unit)
    assert found.pvalue == p_value_of_events(y, p, unit, side)
    assert (found.pvalue <= 0.05) == (side == "over")
    assert (found.side, found.resample, found.n_resamples, found.pvalue_error) == (side, "none", 0, 0)
    assert found.statistic == pytest.approx((p - y).mean() * (1 if side == "over" else -1))
    least = {"over": "at least", "under": "at most"}[side]
    assert str(found.null_hypothesis) == (
        f"given the predictions, every outcome is 1 with {least} its predicted probability, and rows of different "
        "clusters are independent (exact)."
    )
    assert "approximate" not in str(found)
    assert "independently" not in str(found)


def test_order_and_names_of_rows_and_clusters_change_no_bit():
    y, p, unit = wrong_clusters()
    p[:60] = np.round(p[:60], 1)  # ties, and clusters with equal predictions
    first = cs.calibration_test(y, p, side="over", cluster=unit)
    rng = np.random.default_rng(2)
    for _ in range(5):
        order, names = rng.permutation(300), rng.permutation(100)
        again = cs.calibration_test(y[order], p[order], side="over", cluster=names[unit][order])
        assert (again.pvalue, again.statistic) == (first.pvalue, first.statistic)
    texts = cs.calibration_test(y, p, side="over", cluster=[f"c{each}" for each in unit], n_jobs=2, rng=9)
    assert texts.pvalue == first.pvalue


def test_single_precision_is_taken_as_it_is():
    y, p, unit = wrong_clusters()
    single = cs.calibration_test(y, p.astype(np.float32), side="over", cluster=unit)
    assert single.pvalue == cs.calibration_test(y, p.astype(np.float32).astype(float), side="over", cluster=unit).pvalue


def test_confidences_of_several_classes():
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(60, rng=1)
    unit = np.arange(60) // 3
    found = cs.calibration_test(label, prob, side="over", cluster=unit, lens="top_label")
    hit, top = (prob.argmax(1) == label).astype(int), prob.max(1)
    assert found.pvalue == pytest.approx(p_value_of_events(hit, top, unit, "over"), rel=1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "omnibus"}, "expected measure 'mean' with clusters beside side='over', found 'omnibus'"),
        ({"measure": "ks"}, "expected measure 'mean' with clusters"),
        ({"measure": "ece", "n_bins": 1}, "expected measure 'mean' with clusters"),
        ({"measure": "kernel_ce"}, "expected measure 'mean' with clusters"),
        ({"sample_weight": 1 + np.arange(300) % 2}, "expected rows of equal weight with clusters beside side='over'"),
        ({"stop_after": 5}, "expected rows without cluster= beside stop_after="),
        ({"resample": "both"}, "expected rows without cluster= beside resample="),
        ({"null": lambda v: v}, "expected rows without cluster= beside null="),
        ({"margin": 0.05}, "expected no margin= beside side='over'"),
        ({"side": "both"}, "expected side None, 'over'"),
    ],
)
def test_refusals(options, message):
    y, p, unit = wrong_clusters()
    with pytest.raises(ValueError, match=message):
        cs.calibration_test(y, p, **({"side": "over", "cluster": unit} | options))


def test_a_measure_made_from_the_mean_is_refused():
    class Mine(cs.measures.Mean):
        pass

    y, p, unit = wrong_clusters()
    with pytest.raises(ValueError, match="not known that it never rises"):
        cs.calibration_test(y, p, side="over", measure=Mine(), cluster=unit)


def test_an_impossible_outcome_rejects_as_it_does_without_clusters():
    """A row predicted 1 failed, which no law in the null hypothesis allows: an infinite statistic has no large p."""
    y, p, unit = np.tile([1, 0, 1, 1], 5), np.tile([0.5, 1.0, 0.5, 1.0], 5), np.arange(20) // 2
    found = cs.calibration_test(y, p, side="over", cluster=unit)
    assert np.isinf(found.statistic)
    assert found.pvalue <= 0.05


def test_an_outcome_that_the_other_side_forbids_is_no_evidence():
    y, p, unit = np.tile([1, 1, 0, 1], 5), np.tile([0.5, 0.0, 0.5, 1.0], 5), np.arange(20) // 2
    found = cs.calibration_test(y, p, side="over", cluster=unit)
    assert found.pvalue == 1
    assert found.impossible is None


def test_many_rows_have_the_mean_and_the_spread_of_their_clusters():
    """20,000 rows in 4,000 clusters of five: the variance adds up over clusters."""
    rng = np.random.default_rng(3)
    p, unit = rng.random(20_000), np.arange(20_000) // 5
    least, pmf = events_of_clusters(p, unit)
    k = np.arange(pmf.size) + least
    ordered = -np.sort(-p.reshape(-1, 5), axis=1)
    variance = (ordered * (2 * np.arange(5) + 1)).sum(axis=1) - ordered.sum(
        axis=1
    ) ** 2  # E N^2 = sum (2k - 1) P(N >= k)
    assert k @ pmf == pytest.approx(p.sum(), rel=1e-12)
    assert (k - p.sum()) ** 2 @ pmf == pytest.approx(variance.sum(), rel=1e-9)
