"""Tests, intervals and comparisons of each class against the rest, of rows in clusters."""

from dataclasses import replace

import numpy as np
import pytest
from rows_of_classes import LEVEL, MAX, MEAN, Rows, misses, p_values, p_values_of_differences
from rows_of_classes import ends as ends_of

import calibstat as cs
from calibstat.study import most_rejections

N, CLUSTERS = 240, 40
Y, P, CLUSTER, WEIGHT = cs.generators.dirichlet((1, 1, 1), temperature=3.0).sample(
    N, rng=1, clusters=CLUSTERS, size="geometric", share=0.5, weights="independent"
)
DRAWN = {"n_resamples": 49, "rng": 1}
ERRORS = [
    {"measure": "ks", **MEAN},
    {"measure": "kuiper", **MAX},
    {"measure": "smooth_ce", **MEAN},
    {"measure": "kernel_ce", **MAX},
    {"measure": "ece", **MAX},
]
KINDS = [{}, {"sample_weight": WEIGHT}]


def ends(y, p, **asked):
    found = cs.confidence_interval(y, p, **asked, **DRAWN)
    return found.low, found.estimate, found.high


@pytest.mark.parametrize("rows", KINDS, ids=["clusters", "both"])
@pytest.mark.parametrize("error", ERRORS, ids=str)
def test_what_does_not_matter(error, rows):
    """The order of the rows, the names of the clusters, the unit of the weights, and the number of threads."""
    found = ends(Y, P, cluster=CLUSTER, **rows, **error)
    assert found[1] == pytest.approx(cs.estimate(Y, P, **rows, **error))
    named = np.char.add("c", (CLUSTERS - CLUSTER).astype(str))
    turned = {name: 3 * each[::-1] for name, each in rows.items()}
    assert ends(Y[::-1], P[::-1], cluster=named[::-1], **turned, **error) == pytest.approx(found, abs=1e-12)
    assert ends(Y, P, cluster=CLUSTER, n_jobs=2, **rows, **error) == found
    assert found[2] > ends(Y, P, **rows, **error)[2]


@pytest.mark.parametrize("rows", KINDS, ids=["clusters", "both"])
def test_two_classes_are_one_event(rows):
    y, p = (Y > 0).astype(int), 1 - P[:, 0]
    vectors = np.stack([1 - p, p], axis=1)
    one = cs.confidence_interval(y, p, measure="kernel_ce", cluster=CLUSTER, **rows, **DRAWN)
    test = cs.calibration_test(y, p, measure="kernel_ce", cluster=CLUSTER, **rows, **DRAWN)
    for lens in (MEAN, MAX):
        found = cs.confidence_interval(y, vectors, measure="kernel_ce", cluster=CLUSTER, **lens, **rows, **DRAWN)
        assert (found.estimate, found.high) == pytest.approx((one.estimate, one.high))
        again = cs.calibration_test(y, vectors, measure="kernel_ce", cluster=CLUSTER, **lens, **rows, **DRAWN)
        assert again.pvalue == pytest.approx(test.pvalue, abs=0.15)  # labels by other words


def test_the_interval_and_the_test_agree():
    """The low end is 0 unless the test rejects at half of the level, by the same draws."""
    y, p, cluster, _ = cs.generators.dirichlet((1, 1, 1), temperature=9.0).sample(900, rng=2, clusters=150, share=0.0)
    for error in ERRORS[:2]:
        low = cs.confidence_interval(y, p, cluster=cluster, n_resamples=99, rng=1, **error).low
        assert low > 0
        assert cs.calibration_test(y, p, cluster=cluster, n_resamples=99, rng=1, **error).pvalue <= LEVEL / 2


def test_what_a_test_says():
    found = cs.calibration_test(Y, P, measure="ks", cluster=CLUSTER, sample_weight=WEIGHT, **MEAN, **DRAWN)
    assert "rows of different clusters are independent" in str(found.null_hypothesis)
    assert found.statistic == pytest.approx(cs.estimate(Y, P, measure="ks", sample_weight=WEIGHT, **MEAN))
    for measure in ("brier", "mcb", "smooth_ece", "average_ce", "kernel_ce_squared"):
        other = cs.calibration_test(Y, P, measure=measure, cluster=CLUSTER, **MEAN, **DRAWN)
        assert other.statistic == pytest.approx(cs.estimate(Y, P, measure=measure, **MEAN))
        assert other.tail == cs.MEASURES[measure]().info.tail


def test_what_is_refused():
    for rows in KINDS:
        with pytest.raises(
            ValueError, match=r"honest interval with clusters .* because few clusters .* over all signs"
        ):
            cs.confidence_interval(Y, P, measure="ece", cluster=CLUSTER, **MEAN, **rows, **DRAWN)
    with pytest.raises(ValueError, match=r"honest interval with clusters .* because few clusters .* over all signs"):
        cs.confidence_interval(Y, P, measure="canonical_ce", cluster=CLUSTER, **DRAWN)
    with pytest.raises(ValueError, match="lens 'class_wise_mean' or 'class_wise_max' for a test with clusters"):
        cs.calibration_test(Y, P, measure="ks", lens="class_wise", cluster=CLUSTER)
    with pytest.raises(
        ValueError, match=r"no test with clusters is known for omnibus, .* not of several; there is one"
    ):
        cs.calibration_test(Y, P, cluster=CLUSTER, **MEAN)


def test_why_the_mean_of_ece_is_refused():
    """Of independent rows, each a cluster of its own with five others, the bound over signs reaches too far."""
    from posed_problem import pose

    y, p, cluster, _ = cs.generators.dirichlet((1, 1, 1)).sample(600, rng=1, clusters=100, share=0.0)
    problem = pose(y, p, "ece", {}, lens="class_wise_mean", cluster=cluster)
    clustered = problem.in_clusters(cluster)
    moments = clustered.table.moments
    at_once = moments.absolute_sum_bound(moments.tail_bound(0.025).times(2.0)) / 3 / 600  # a row adds at most 2
    independent = cs.confidence_interval(y, p, measure="ece", **MEAN, **DRAWN).high
    assert min(clustered.interval.high(0.025), at_once) > 1.5 * independent
    largest = cs.confidence_interval(y, p, measure="ece", cluster=cluster, **MAX, **DRAWN).high
    assert largest < 1.5 * cs.confidence_interval(y, p, measure="ece", **MAX, **DRAWN).high


@pytest.mark.parametrize("rows", [{}, *KINDS[1:], {"cluster": CLUSTER}, {"cluster": CLUSTER, **KINDS[1]}])
@pytest.mark.parametrize("error", [*ERRORS[:1], *ERRORS[3:]], ids=str)
def test_comparisons(error, rows):
    models = {"P": P, "Q": np.sqrt(P) / np.sqrt(P).sum(axis=1, keepdims=True)}
    found = cs.compare(Y, models, **error, **rows, **DRAWN)
    assert found.low < found.difference < found.high
    given = {name: each for name, each in rows.items() if name != "cluster"}
    assert found.estimates == pytest.approx([cs.estimate(Y, p, **error, **given) for p in models.values()])
    turned = cs.compare(Y, dict(reversed(models.items())), **error, **rows, **DRAWN)
    assert (-turned.high[0], -turned.low[0]) == pytest.approx((found.low[0], found.high[0]))
    same = cs.compare(Y, {"P": P, "again": P}, **error, **rows, **DRAWN)
    assert (same.difference.item(), same.pvalue.item()) == (0.0, 1.0)


# --- how often they are wrong -----------------------------------------------------------------------------------------

ALARM = 1e-5
EQUAL = Rows(clusters=60, share=0.5)
LEVELS = [
    {"measure": "ks", **MEAN},
    {"measure": "kernel_ce", **MAX},
    {"measure": "ece", **MEAN},
    {"measure": "brier", **MEAN},
]
CALIBRATED = {
    "half alike": EQUAL,
    "alike": replace(EQUAL, share=1.0),
    "geometric": replace(EQUAL, size="geometric"),
    "both": replace(EQUAL, size="geometric", weights="independent"),
    "rare first": replace(EQUAL, share=1.0, concentration=(0.2, 1.0, 2.0)),
    "rare in the middle": replace(EQUAL, share=1.0, concentration=(1.0, 0.2, 2.0)),
    "rare last": replace(EQUAL, share=1.0, concentration=(2.0, 1.0, 0.2)),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CALIBRATED.values(), ids=CALIBRATED)
def test_level(case):
    """As of one event, where the study of clusters finds at most .073 at a level of .05."""
    found = (p_values(case, LEVELS, 200) <= LEVEL).sum(axis=0)
    assert found.max() <= most_rejections(0.073, 200, ALARM)


@pytest.mark.slow
def test_level_of_rows_that_are_taken_as_independent():
    class Alone(Rows):
        def sample(self, rng):
            y, p, _ = super().sample(rng)
            return y, p, {}

    found = p_values(Alone(clusters=60, share=1.0), LEVELS[:1], 200) <= LEVEL
    assert found.sum() > most_rejections(0.073, 200, ALARM)


WRONG = replace(EQUAL, temperature=3.0)
MISSED = {
    "calibrated": EQUAL,
    "one size": WRONG,
    "geometric": replace(WRONG, size="geometric"),
    "related": replace(WRONG, weights="related"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MISSED.values(), ids=MISSED)
def test_misses(case):
    assert misses(case, ERRORS, 100)[:, :2].max() <= most_rejections(0.03, 100, ALARM)


@pytest.mark.slow
def test_misses_of_percentile_intervals():
    asked = [{**ERRORS[0], "method": "percentile"}]
    low = (ends_of(EQUAL, asked, 100)[:, 0, 0] > 0).sum()
    assert low > most_rejections(0.03, 100, ALARM)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [EQUAL, replace(EQUAL, weights="independent"), Rows(weights="independent")], ids=str)
def test_models_that_are_as_wrong_as_each_other(rows):
    found = (p_values_of_differences(rows, LEVELS[:3], 100) <= LEVEL).sum(axis=0)
    assert found.max() <= most_rejections(LEVEL, 100, ALARM)


@pytest.mark.slow
def test_models_that_differ():
    rows = Rows(weights="independent", n=1500)
    found = (p_values_of_differences(rows, LEVELS[:1], 20, odds=(1.0, 4.0)) <= LEVEL).sum()
    assert found > most_rejections(LEVEL, 20, ALARM)


@pytest.mark.parametrize("statistic", ["block", "linear"])
def test_a_statistic_of_consecutive_rows_is_refused(statistic):
    """The rows of a cluster drawn twice were paired with themselves, which moved both ends far above the estimate."""
    label, prob = cs.generators.dirichlet((1, 1, 1)).sample(60, rng=1)
    asked = {"measure": "skce", "lens": "canonical", "method": "percentile", "n_resamples": 19, "rng": 1}
    with pytest.raises(
        ValueError, match=r"no interval with clusters is known for skce.*depends on the order of the rows"
    ):
        cs.confidence_interval(label, prob, statistic=statistic, cluster=np.arange(60) // 2, **asked)
