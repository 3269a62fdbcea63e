"""The size of an error in words: when it is small, what is said beside it, how it is rounded, and what to do."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from project_folder import PROJECT

import calibstat as cs
from calibstat.inference.size_of_error import SizeOfError, next_step, points, verdict

Y, P = cs.generators.temperature(1.1).sample(20_000, rng=1)


def size(high, low=0.0, rate=0.5, margin=None, running=None):
    return SizeOfError((low + high) / 2, low, high, 0.95, rate, margin, running=running)


@pytest.mark.parametrize(
    ("high", "rate", "margin", "small"),
    [
        (0.02, 0.5, None, True),
        (0.0201, 0.5, None, False),
        (0.004, 0.02, None, True),  # a fifth of 2 %
        (0.0041, 0.02, None, False),
        (0.004, 0.98, None, True),
        (0.05, 0.02, 0.05, True),
        (0.01, 0.5, 0.005, False),
    ],
)
def test_the_convention_is_replaced_by_a_margin(high, rate, margin, small):
    assert size(high, rate=rate, margin=margin).is_small == small


@given(st.floats(1e-7, 1))
def test_ends_are_never_rounded_inwards(share):
    up, down = float(points(share, math.ceil)) / 100, float(points(share, math.floor)) / 100
    assert down * (1 - 1e-8) <= share * (1 + 1e-8)
    assert up >= share * (1 - 1e-8)
    assert up - down <= 0.101 * share + 1e-12  # two digits


def test_points_by_hand():
    assert [points(x) for x in (0.0119, 0.1234, 0.00012, 0.0, 1.0)] == ["1.2", "12", "0.012", "0", "100"]
    assert (points(0.01201, math.ceil), points(0.01209, math.floor)) == ("1.3", "1.2")


def test_the_verdict_has_the_size_and_the_test():
    small, large = size(0.012, 0.006), size(0.05, 0.03)
    assert verdict("p = 0.001", 0.001, small)[0] == (
        "Not perfectly calibrated (p = 0.001), and the error is small: ECE 0.9 points, between 0.6 and 1.2."
    )
    assert verdict("p = 0.001", 0.001, large)[0] == "Not calibrated (p = 0.001): ECE 4 points, between 3 and 5."
    assert verdict("p = 0.4", 0.4, size(0.05))[0] == "No miscalibration is shown (p = 0.4): ECE 2.5 points, at most 5."
    assert verdict("p = 0.4", 0.4, size(0.01))[0].startswith(
        "No miscalibration is shown (p = 0.4), and the error is small"
    )
    assert [verdict("", p, size(0.05))[0].split(" (")[0] for p in (0.01, 0.05, 0.1, 0.11)] == [
        "Not calibrated",
        "There is evidence of miscalibration",
        "There is weak evidence of miscalibration",
        "No miscalibration is shown",
    ]
    assert verdict("p = 0.3", 0.3, size(0.2, running=0.0811))[1].endswith("add up to within 8.2 points of each other.")
    assert verdict("p = 0.3", 0.3, None, "ks is 0.1") == ["No miscalibration is shown (p = 0.3): ks is 0.1."]


def test_an_error_that_may_be_0_is_said_beside_its_noise():
    noisy = replace(size(0.05), if_calibrated=0.0234)
    assert noisy.where == "ECE 2.5 points, at most 5 (a calibrated model would show 2.3)"
    assert replace(noisy, low=0.01).where == "ECE 2.5 points, between 1 and 5"


def test_small_errors_are_not_to_be_recalibrated():
    large = "If an error of 5 points matters to you, recalibrate on other rows, or on more if that is done: "
    assert next_step(0.001, size(0.05, 0.03)) == f"{large}calibstat.recalibration.choose(y, p)."
    assert next_step(0.001, size(0.0119, 0.006)).startswith(
        "Use the predictions if an error of 1.2 points does not matter"
    )
    title = (
        (PROJECT / "docs" / "more" / "tiny-errors.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    )
    assert next_step(0.001, size(0.0119, 0.006)).endswith(f' See the page "{title}".')
    assert "Monitor" in next_step(0.5, size(0.01))
    assert next_step(0.5, size(0.05)).startswith("Collect more rows if an error of 5 points")
    assert next_step(0.5, size(0.05), "clusters").startswith("Collect more clusters if")


def test_an_interval_without_0_is_not_passed_over_by_a_large_p_value():
    """Few clusters leave the test little power: what the interval shows is said, and what to do follows from it."""
    assert verdict("p = 0.985", 0.985, size(0.05, 0.03)) == [
        "This test finds no miscalibration (p = 0.985), but the interval of the ECE excludes 0: "
        "ECE 4 points, between 3 and 5."
    ]
    assert next_step(0.985, size(0.05, 0.03)) == next_step(0.001, size(0.05, 0.03))


def test_the_default_test_states_the_interval_of_its_seed_and_keeps_its_p_value():
    few = Y[:2000], P[:2000]
    found, interval = cs.calibration_test(*few, rng=1), cs.confidence_interval(*few, rng=1)
    assert (found.size.estimate, found.size.low, found.size.high) == (interval.estimate, interval.low, interval.high)
    assert found.size.rate == few[0].mean()
    assert found.pvalue == cs.calibration_test(*few, rng=1, margin=0.3).pvalue
    assert cs.calibration_test(*few, rng=1, margin=0.3).size.is_small
    assert cs.calibration_test(*few, measure="ks", n_resamples=9, rng=1).size is None


def test_many_rows_are_counted_for_the_same_interval():
    found, interval = cs.calibration_test(Y, P, rng=1).size, cs.confidence_interval(Y, P, rng=1)
    assert found.estimate == pytest.approx(interval.estimate, rel=1e-9)
    assert found.high == pytest.approx(interval.high, rel=1e-3)
    assert found.low == pytest.approx(interval.low, abs=0.1 * interval.estimate)


def test_few_rows_say_sums_too():
    y, p = cs.generators.calibrated().sample(300, rng=2)
    found = cs.calibration_test(y, p, rng=1)
    assert found.size.running == cs.confidence_interval(y, p, measure="ks", rng=1).high
    assert "add up to within" in found.answer
    assert cs.calibration_test(y, p, rng=1, margin=0.5).size.running is None  # small by this margin
    assert cs.calibration_test(Y[:1000], P[:1000], rng=1).size.running is None


@pytest.mark.parametrize("words", [{"cluster": np.arange(400) // 8}, {"sample_weight": np.arange(400) % 3 + 1.0}])
def test_clusters_and_weights_have_their_own_interval(words):
    given = Y[:400], P[:400]
    found = cs.calibration_test(*given, rng=1, **words).size
    interval = cs.confidence_interval(*given, rng=1, **words)
    assert (found.low, found.high) == (interval.low, interval.high)


def test_many_rows_in_clusters_stay_in_their_clusters():
    cluster = np.arange(20_000) // 500
    found = cs.calibration_test(Y, P, cluster=cluster, n_resamples=99, rng=1).size
    interval = cs.confidence_interval(Y, P, cluster=cluster, n_resamples=99, rng=1)
    assert (found.low, found.high) == (interval.low, interval.high)


def test_of_classes_it_is_the_error_of_the_most_likely_class():
    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    interval = cs.confidence_interval(y, p, lens="top_label", rng=1)
    for lens in (None, "class_wise"):
        assert cs.calibration_test(y, p, lens=lens, n_resamples=999, rng=1).size.high == interval.high


@pytest.mark.parametrize("margin", [0, 1, -0.1, "2 %", np.nan])
def test_a_wrong_margin_is_named(margin):
    with pytest.raises(ValueError, match="expected margin between 0 and 1, found"):
        cs.calibration_test(Y[:100], P[:100], margin=margin)


@pytest.mark.parametrize(
    ("options", "beside"),
    [
        ({"measure": "ks"}, "measure='ks'"),
        ({"null": lambda p: p}, "null="),
        ({"folds": np.arange(100) % 5}, "measure='kernel_ce'"),
    ],
)
def test_a_margin_without_a_size_is_refused(options, beside):
    with pytest.raises(ValueError, match=f"expected no margin= beside {beside}, whose .* found margin=0.03; write"):
        cs.calibration_test(Y[:100], P[:100], margin=0.03, **options)


def test_the_brier_score_is_of_what_was_predicted():
    """Of several classes of all of them, as `summarize` has it, but of a lens that shows one event of this event."""
    assert cs.calibration_test(Y, P, rng=1).size.brier == pytest.approx(np.mean((Y - P) ** 2))
    y, p = cs.generators.dirichlet((0.3, 0.3, 0.3)).sample(300, rng=1)
    whole, top = np.sum((np.eye(3)[y] - p) ** 2, axis=1).mean(), np.mean(((p.argmax(1) == y) - p.max(1)) ** 2)
    for lens, expected in ((None, whole), ("class_wise", whole), ("canonical", whole), ("top_label", top)):
        assert cs.calibration_test(y, p, lens=lens, n_resamples=9, rng=1).size.brier == pytest.approx(expected)
    weight = np.arange(1, Y.size + 1)
    found = cs.calibration_test(Y, P, sample_weight=weight, n_resamples=9, rng=1)
    assert found.size.brier == pytest.approx(np.average((Y - P) ** 2, weights=weight))


def test_one_row_and_no_event():
    assert cs.calibration_test([1], [0.5], rng=1).size.high == 1
    assert not cs.calibration_test(np.zeros(50, int), np.full(50, 0.01), rng=1).size.is_small
