"""Tests of a calibration map: draws against slow ones, level, power on both sides, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import calibstat as cs

LENSES = [
    None,
    "canonical",
    "class_wise_mean",
    cs.lenses.one_class(1),
    cs.lenses.top_k(1),
    cs.lenses.groups([[0, 2], [1]]),
]
Y, P = cs.generators.temperature(2).sample(150, rng=1)
LABEL, PROB = cs.generators.dirichlet((0.6, 0.5, 0.4), temperature=2).sample(120, rng=2)
WEIGHT = np.random.default_rng(3).random(150) + 0.2


def halved(p):
    return expit(logit(p) / 2)


def same(p):
    return p


def swaps(prob):
    """Give the probability of each class to the next one, so that tied confidences have other chances to be right."""
    return 0.3 * prob + 0.7 * np.roll(prob, 1, axis=1)


def slow_ece(y, p, weight):
    number = np.maximum(np.ceil(p * 15), 1)
    return sum(abs(np.sum((weight * (y - p))[number == b])) for b in np.unique(number)) / weight.sum()


def same_law(found, slow):
    """Whether two samples of draws have one distribution; false in 1 of 10,000 runs."""
    return stats.ks_2samp(found, slow).pvalue > 1e-4


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["rows", "weights"])
def test_draws_of_an_event_equal_slow_ones(weight):
    found = cs.calibration_test(Y, P, measure="ece", null=halved, sample_weight=weight, rng=1)
    random, each = np.random.default_rng(7), np.ones(150) if weight is None else weight
    slow = [slow_ece(random.random(150) < halved(P), P, each) for _ in range(999)]
    assert found.statistic == pytest.approx(slow_ece(Y, P, each))
    assert same_law(found.null_distribution, slow)
    assert not same_law(found.null_distribution, [slow_ece(random.random(150) < P, P, each) for _ in range(999)])


@pytest.mark.parametrize("weight", [None, WEIGHT[:120]], ids=["rows", "weights"])
def test_draws_of_a_confidence_come_from_whole_vectors(weight):
    """Many confidences are equal while the chances of being right are not."""
    prob = np.round(PROB * 4) / 4
    prob /= prob.sum(axis=1, keepdims=True)
    found = cs.calibration_test(LABEL, prob, measure="ece", null=swaps, sample_weight=weight, rng=1)
    random, each, mapped = np.random.default_rng(8), np.ones(120) if weight is None else weight, swaps(prob)
    top, slow = prob.argmax(axis=1), []
    for _ in range(999):
        label = (random.random((120, 1)) > mapped.cumsum(axis=1)[:, :-1]).sum(axis=1)
        slow.append(slow_ece(label == top, prob.max(axis=1), each))
    assert same_law(found.null_distribution, slow)
    unmapped = cs.calibration_test(LABEL, prob, measure="ece", sample_weight=weight, rng=1)
    assert not same_law(unmapped.null_distribution, slow)


@pytest.mark.parametrize("lens", LENSES, ids=str)
def test_the_identity_draws_what_calibration_draws(lens):
    """The law is one; where labels are drawn from whole vectors in both, the numbers are too."""
    measure = "ece" if lens in LENSES[:1] + LENSES[2:4] else "canonical_ce"
    found, known = (
        cs.calibration_test(LABEL, PROB, lens=lens, measure=measure, rng=1, null=null) for null in (lambda p: p, None)
    )
    assert same_law(found.null_distribution, known.null_distribution)
    if lens not in (LENSES[0], LENSES[3]):
        np.testing.assert_array_equal(found.null_distribution, known.null_distribution)
    assert (found.tail, known.tail) == ("two-sided", "greater")
    tails = [1 + np.count_nonzero(found.null_distribution >= found.statistic - 1e-13)]
    tails += [1 + np.count_nonzero(found.null_distribution <= found.statistic + 1e-13)]
    assert found.pvalue == min(1, 2 * min(tails) / 1000)


def test_a_sample_and_its_rows_have_the_same_numbers():
    rows = cs.calibration_test(Y, P, null=halved, rng=1)
    counted = cs.calibration_test(cs.Sample.from_rows(Y, P), null=halved, rng=1)
    vectors = cs.calibration_test(Y, np.column_stack((1 - P, P)), null=halved, rng=1)
    assert rows.pvalue == counted.pvalue == vectors.pvalue
    order = np.random.default_rng(1).permutation(120)
    one, other = (
        cs.calibration_test(LABEL[rows], PROB[rows], null=swaps, rng=1, n_jobs=jobs)
        for rows, jobs in ((slice(None), 1), (order, 2))
    )
    np.testing.assert_allclose(one.null_distribution, other.null_distribution, rtol=1e-12)


def rejections(chance, tested, n_datasets=200, **options):
    """How many data sets of outcomes with these chances are rejected at 10 %."""
    random = np.random.default_rng(11)
    p = expit(random.normal(0.2, 1.4, 200))
    found = (
        cs.calibration_test(random.random(200) < chance(p), p, measure="ece", rng=i, n_resamples=19, **tested)
        for i in range(n_datasets)
    )
    return sum(each.pvalue <= 0.1 for each in found)


def test_level_and_power_on_both_sides_of_the_map():
    most = cs.study.most_rejections(0.1, 200, 1e-4)
    assert rejections(halved, {"null": halved}) <= most
    assert rejections(lambda p: p, {"null": halved}) > most  # nearer to calibration than the map says
    assert rejections(lambda p: expit(logit(p) / 8), {"null": halved}) > most  # farther from it
    assert rejections(halved, {}) > most  # the twin: without the map these outcomes are rejected


def test_what_is_said():
    found = cs.calibration_test(Y, P, null=same, rng=1)
    assert found.calibration_map == "the function same"
    assert str(found).startswith("There is strong evidence that the function same does not explain the outcomes: p =")
    assert "detectable_effect" not in str(found)
    assert found.deviation is None
    right = cs.calibration_test(Y, P, null=cs.generators.temperature(2).curve, rng=1)
    assert "no evidence against the function curve in this test: p =" in str(right)
    classes = cs.calibration_test(LABEL, PROB, null=swaps, lens="class_wise", rng=1)
    assert classes.answer == "There is evidence against the function swaps in each of 3 classes."
    assert "the function swaps" in replace(classes, classes=None).answer


def test_it_stops_early_in_both_tails():
    found = cs.calibration_test(Y, P, null=cs.generators.temperature(2).curve, rng=1, stop_after=10)
    whole = cs.calibration_test(Y, P, null=cs.generators.temperature(2).curve, rng=1)
    assert found.stopped
    np.testing.assert_array_equal(found.null_distribution, whole.null_distribution[: found.n_resamples])
    models = cs.calibration_test(Y, {"a": P, "b": halved(P)}, null=halved, rng=1)
    assert models["a"].pvalue == cs.calibration_test(Y, P, null=halved, rng=1).pvalue


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({"resample": "both"}, "expected no resample='both' with null=, found one: outcomes alone are drawn"),
        ({"cluster": np.arange(150) // 3}, "without cluster= beside null=, because how outcomes of a cluster depend"),
        ({"folds": np.arange(150) % 3}, "without folds= beside null=, because each fold has a model of its own; found"),
        ({"judge": cs.Judge(P)}, "without judge= beside null=, because the judge is about deviations from the pred"),
    ],
)
def test_what_goes_with_no_map(beside, message):
    few = np.where(np.arange(150) % 2, Y, np.nan)
    with pytest.raises(ValueError, match=message):
        cs.calibration_test(few if "judge" in beside else Y, P, null=halved, **beside)


@pytest.mark.parametrize("statistic", ["block", "linear"])
def test_a_statistic_of_consecutive_rows_keeps_their_order(statistic):
    asked = {"measure": "skce", "statistic": statistic, "lens": "canonical"}
    found = cs.calibration_test(LABEL, PROB, null=swaps, n_resamples=19, rng=1, **asked)
    assert found.statistic == cs.estimate(LABEL, PROB, **asked)
    assert found.statistic != cs.estimate(LABEL[::-1], PROB[np.argsort(PROB[:, 0])], **asked)
