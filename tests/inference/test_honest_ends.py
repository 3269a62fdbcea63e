"""No high end lies below what a calibrated model would show; ends above that keep their bits, and little is drawn."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lucky_rows import lucky_rows
from posed_problem import pose
from row_strategies import rows

import calibstat as cs
from calibstat.inference.honest_ends import FEW_ABOVE, FIRST, HonestEnds
from calibstat.inference.problems.clustered_rows import ClusteredRows
from calibstat.inference.problems.problem import Problem
from calibstat.resampling import Draws

N = 600
RESAMPLES = 199
GENERATOR = np.random.default_rng(4)
LUCKY, P = lucky_rows(N)
Y = (GENERATOR.random(N) < P).astype(int)
WEIGHT = GENERATOR.random(N) + 0.5
UNIT = np.arange(N) // 15
BINARY = [
    {"measure": "ece"},
    {"measure": "ece", "strategy": "quantile"},
    {"measure": "ece", "norm": "l2"},
    {"measure": "ece", "norm": "max"},
    {"measure": "ece", "n_bins": 50},
    *({"measure": name} for name in ("ks", "kuiper", "kernel_ce", "smooth_ce", "mcb", "random_interval_ce")),
    *({"measure": name} for name in ("ece_debiased", "kernel_ce_squared")),
]
OF_CLASSES = [
    {"measure": "ece", "lens": "class_wise_mean"},
    {"measure": "ece", "lens": "class_wise_max"},
    {"measure": "canonical_ce"},
    {"measure": "gce"},
    {"measure": "skce"},
]


def lucky_classes(n, classes):
    """Predictions of several classes, and labels whose residuals nearly cancel as they come."""
    prob = GENERATOR.dirichlet(np.ones(classes), n)
    owed, label = np.zeros(classes), np.empty(n, int)
    for i in range(n):
        owed += prob[i]
        label[i] = owed.argmax()
        owed[label[i]] -= 1
    return label, prob


CLASSES = lucky_classes(300, 4)


def median_if_calibrated(y, p, asked, **given):
    """That of the test by the same measure, which draws labels alone."""
    test = cs.calibration_test(y, p, **asked, n_resamples=RESAMPLES, rng=1, **given)
    return np.median(test.null_distribution)


def without_floor(monkeypatch, y, p, **asked):
    """The interval as it is if no median is looked at."""
    with monkeypatch.context() as patch:
        patch.setattr(HonestEnds, "floor", lambda ends, bound: None)
        return cs.confidence_interval(y, p, n_resamples=RESAMPLES, rng=1, **asked)


# --- the floor -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", BINARY, ids=str)
@pytest.mark.parametrize("given", [{}, {"sample_weight": WEIGHT}], ids=["rows", "weights"])
def test_no_high_end_lies_below_what_a_calibrated_model_would_show(asked, given):
    options = {k: v for k, v in asked.items() if k != "measure"}
    if given and "honest" not in pose(Y, P, asked["measure"], options, **given).methods:
        pytest.skip("no honest interval of rows with weights")
    for y in (LUCKY, Y):
        found = cs.confidence_interval(y, P, **asked, **given, n_resamples=RESAMPLES, rng=1)
        assert found.high >= median_if_calibrated(y, P, asked, **given)


@pytest.mark.parametrize("asked", OF_CLASSES, ids=str)
def test_nor_that_of_several_classes(asked):
    found = cs.confidence_interval(*CLASSES, **asked, n_resamples=RESAMPLES, rng=1)
    assert found.high >= median_if_calibrated(*CLASSES, asked)


def test_a_lucky_sample_is_not_a_precise_one(monkeypatch):
    """The even outcomes leave the bins of `ece` next to no error, and the bound alone claims less than noise makes."""
    median = median_if_calibrated(LUCKY, P, {"measure": "ece"})
    assert without_floor(monkeypatch, LUCKY, P).high < 0.7 * median
    found = cs.confidence_interval(LUCKY, P, n_resamples=RESAMPLES, rng=1)
    assert found.low == 0
    assert found.high == found.if_calibrated == median


@given(data=rows(), asked=st.sampled_from(BINARY))
def test_for_any_rows(data, asked):
    y, p = data
    try:
        found = cs.confidence_interval(y, p, **asked, n_resamples=29, rng=1)
    except ValueError:  # too few rows for the measure
        return
    null = cs.calibration_test(y, p, **asked, n_resamples=29, rng=1).null_distribution
    if np.count_nonzero(null[:FIRST] > found.high) > FEW_ABOVE:
        assert found.high >= np.median(null)
    assert found.if_calibrated == np.median(null)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.999])
def test_at_any_level(level):
    found = cs.confidence_interval(LUCKY, P, confidence_level=level, n_resamples=RESAMPLES, rng=1)
    assert found.high >= median_if_calibrated(LUCKY, P, {"measure": "ece"})


def test_of_clusters_labels_are_independent(monkeypatch):
    """Signs of clusters keep the residuals of the lucky sample, so that their median is next to nothing too."""
    given = {"cluster": UNIT, "n_resamples": RESAMPLES, "rng": 1}
    found = cs.confidence_interval(LUCKY, P, **given)
    problem = pose(LUCKY, P, "ece", {}).in_clusters(UNIT)
    draws = Draws.of(1, RESAMPLES)
    assert found.high >= np.median(problem.drawer_of_labels()(draws))
    assert np.median(problem.null_draws(draws)["signs of clusters"]) < np.median(problem.drawer_of_labels()(draws)) / 2
    of_rows = median_if_calibrated(LUCKY, P, {"measure": "ece"})
    assert np.median(problem.drawer_of_labels()(Draws.of(1, 999))) == pytest.approx(of_rows, rel=0.1)


def test_a_mean_has_no_floor(monkeypatch):
    monkeypatch.setattr(Problem, "drawer_of_labels", None)
    found = cs.confidence_interval(LUCKY, P, measure="brier", rng=1)
    assert found.if_calibrated is None
    assert not found.remark()


def test_a_bracket_ends_where_the_honest_interval_of_the_measure_above_does(monkeypatch):
    asked = {"measure": "interval_ce", "method": "bracket"}
    plain = without_floor(monkeypatch, LUCKY, P, **asked)
    monkeypatch.setattr(HonestEnds, "floor", lambda ends, bound: bound + 0.125)
    raised = cs.confidence_interval(LUCKY, P, n_resamples=RESAMPLES, rng=1, **asked)
    assert raised.high == pytest.approx(plain.high + 0.125)
    assert raised.if_calibrated is None  # the median is that of another measure


# --- what keeps its bits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", BINARY, ids=str)
def test_ends_above_the_floor_keep_their_bits(monkeypatch, asked):
    raised = 0
    for seed, n in itertools.product(range(3), (50, N)):
        y, p = cs.generators.temperature(1.2).sample(n, rng=seed)
        found = cs.confidence_interval(y, p, n_resamples=RESAMPLES, rng=1, **asked)
        plain = without_floor(monkeypatch, y, p, **asked)
        acts = plain.high < median_if_calibrated(y, p, asked)
        assert (found.low, found.estimate) == (plain.low, plain.estimate)
        assert found.high == (found.if_calibrated if acts else plain.high)
        raised += acts
    assert raised < 6


@pytest.mark.parametrize("asked", OF_CLASSES, ids=str)
def test_of_several_classes_too(monkeypatch, asked):
    y, p = cs.generators.dirichlet((0.5,) * 3, temperature=2).sample(500, rng=1)
    found = cs.confidence_interval(y, p, n_resamples=RESAMPLES, rng=1, **asked)
    plain = without_floor(monkeypatch, y, p, **asked)
    assert (found.low, found.high) == (plain.low, plain.high)


# --- how much is drawn -----------------------------------------------------------------------------------------------


def kinds():
    """Problems of all kinds of rows, ready to be drawn from."""
    sample = pose(Y, P, "ks", {})
    weights = pose(Y, P, "ece", {}, sample_weight=WEIGHT)
    clusters = pose(Y, P, "ece", {}).in_clusters(UNIT)
    posed = [sample, weights, pose(*CLASSES, "canonical_ce", {})]
    posed.append(pose(*CLASSES, "ece", {}, lens="class_wise_mean"))
    return [each.in_order("confidence_interval") for each in posed] + [clusters]


@pytest.mark.parametrize("drawn", kinds(), ids=lambda drawn: type(drawn).__name__)
def test_the_first_estimates_are_the_first_of_all(drawn):
    ends = HonestEnds.of(drawn, Draws.of(1, RESAMPLES))
    assert np.array_equal(ends._first, ends.if_calibrated[:FIRST])


def numbers_drawn(monkeypatch, y, p, **asked):
    """How many label draws an interval makes for each time it asks for some."""
    seen = []
    for kind in (Problem, ClusteredRows):

        def counted(drawn, plain=kind.drawer_of_labels):
            draw = plain(drawn)
            return lambda draws: seen.append(draws.n) or draw(draws)

        monkeypatch.setattr(kind, "drawer_of_labels", counted)
    cs.confidence_interval(y, p, n_resamples=RESAMPLES, rng=1, **asked)
    return seen


def test_labels_are_drawn_only_where_they_can_matter(monkeypatch):
    assert numbers_drawn(monkeypatch, Y, P, measure="ks") == [FIRST]
    assert numbers_drawn(monkeypatch, LUCKY, P) == [FIRST, RESAMPLES]


def test_the_draws_of_the_gate_are_used_again(monkeypatch):
    wrong = np.clip(P - 0.2, 0.01, 0.99)
    assert numbers_drawn(monkeypatch, Y, wrong) == [RESAMPLES]


def test_few_resamples_are_all_looked_at():
    found = cs.confidence_interval(LUCKY, P, n_resamples=FIRST, rng=1)
    null = cs.calibration_test(LUCKY, P, measure="ece", n_resamples=FIRST, rng=1).null_distribution
    assert found.high == np.median(null)


# --- what is said ----------------------------------------------------------------------------------------------------


def test_what_is_said_where_the_floor_acts():
    found = cs.confidence_interval(LUCKY, P, n_resamples=RESAMPLES, rng=1)
    shown = f"A calibrated model would show {found.high:.4g} on these rows; the interval does not end below that."
    assert shown in str(found)
    elsewhere = cs.confidence_interval(Y, P, measure="ks", rng=1)
    assert not elsewhere.remark()
    assert f"A calibrated model would show about {elsewhere.if_calibrated:.2g} on these rows.\n" in str(elsewhere)


def test_what_is_said_of_an_estimate_above_its_interval():
    y, p = cs.generators.dirichlet((0.5,) * 10, temperature=1.3).sample(1000, rng=1)
    found = cs.confidence_interval(y, p, measure="canonical_ce", n_resamples=RESAMPLES, rng=1)
    assert found.estimate > found.high
    shown = f"biased upwards: a calibrated model would show {found.if_calibrated:.4g} on these rows."
    assert f"The estimate lies above the interval because it is {shown}" in str(found)


@pytest.mark.parametrize("measure", ["ece_debiased", "kernel_ce_squared"])
def test_what_is_said_of_an_estimate_below_its_interval(measure):
    found = cs.confidence_interval(LUCKY, P, measure=measure, n_resamples=RESAMPLES, rng=1)
    assert found.estimate < found.low == 0
    assert "The estimate lies below the interval because its bias is subtracted" in str(found)


@pytest.mark.parametrize(
    ("method", "low", "high", "words"),
    [
        ("percentile", 0.2, 0.3, "below the interval because resamples have larger values."),
        ("bca", 0.0, 0.05, "above the interval because resamples have smaller values."),
        ("basic", 0.0, 0.05, "above the interval because resamples have larger values."),  # reflected
        ("basic", 0.2, 0.3, "below the interval because resamples have smaller values."),
        ("basic", 0.0, 0.3, ""),
        ("percentile", 0.1 + 1e-15, 0.3, ""),  # rounding
        ("honest", 0.1, 0.1, ""),
    ],
)
def test_what_is_said_of_an_estimate_outside_a_bootstrap_interval(method, low, high, words):
    found = cs.confidence_interval(Y, P, n_resamples=29, rng=1)
    moved = replace(found, method=method, estimate=0.1, low=low, high=high, if_calibrated=None)
    assert moved.remark().removeprefix("The estimate lies ") == words


def test_percentile_intervals_near_calibration_say_so():
    found = cs.confidence_interval(LUCKY, P, method="percentile", n_resamples=RESAMPLES, rng=1)
    assert found.estimate < found.low
    assert "below the interval because resamples have larger values" in str(found)


# --- how often -------------------------------------------------------------------------------------------------------


def share_raised(n, replicates):
    """How often the high end of `ece` is raised for a calibrated model; the smallest of the ends before and after."""
    before, after = np.empty((2, replicates))
    for seed in range(replicates):
        y, p = cs.generators.calibrated().sample(n, rng=seed)
        ends = HonestEnds.of(pose(y, p, "ece", {}).in_order("confidence_interval"), Draws.of(seed, 999))
        before[seed], after[seed] = ends.interval.high(0.025), ends.high(0.05)
    return np.mean(after > before), before.min(), after.min()


@pytest.mark.slow
def test_the_shares_on_the_page_of_proofs():
    assert share_raised(100, 1000) == pytest.approx((0.009, 0.0956, 0.1180), abs=1e-4)
    assert share_raised(1000, 1000) == pytest.approx((0.106, 0.0249, 0.0371), abs=1e-4)
    assert share_raised(10_000, 200) == pytest.approx((0.115, 0.0081, 0.0118), abs=1e-4)


# --- the noise floor -------------------------------------------------------------------------------------------------


def share_of_draws_below(floor, n_draws=2000):
    """The share of ECEs of outcomes that NumPy draws from the predictions that lie below a number."""
    residual = (np.random.default_rng(5).random((n_draws, P.size)) < P) - P
    sums = residual @ np.equal.outer((15 * P).astype(int), np.arange(15))
    return np.mean(np.abs(sums).sum(axis=1) / P.size < floor)


def test_the_noise_floor_is_the_median_of_a_calibrated_model():
    # the rank of a median of 99 draws has standard deviation .05; 4 of these and of 2000 draws miss in 1 of 15,000
    found = cs.confidence_interval(Y, P, rng=1).if_calibrated
    assert abs(share_of_draws_below(found) - 0.5) < 0.205
    assert abs(share_of_draws_below(1.2 * found) - 0.5) > 0.205  # as it would be if it were a fifth larger


@pytest.mark.parametrize("method", ["honest", "percentile"])
def test_the_noise_floor_does_not_depend_on_the_method(method):
    found = cs.confidence_interval(Y, P, method=method, rng=1)
    assert found.if_calibrated == cs.confidence_interval(Y, P, rng=1).if_calibrated
    assert found.no_noise_floor == ""


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ({"measure": "brier"}, "brier is not a calibration error"),
        ({"cluster": UNIT}, "calibration does not say how the outcomes of a cluster depend on each other"),
        ({"folds": np.arange(N) % 5}, "each prediction depends on the outcomes of the other folds"),
        ({"measure": "interval_ce", "method": "bracket"}, "a bracket is made of two other measures"),
    ],
    ids=["mean", "cluster", "folds", "bracket"],
)
def test_the_reason_is_given_where_there_is_none(asked, reason):
    found = cs.confidence_interval(Y, P, n_resamples=FIRST, rng=1, **asked)
    assert found.if_calibrated is None
    assert found.no_noise_floor == reason
    assert found.noise == ""
