"""Detectable effects: the stated power measured afresh, binomial sums, what cannot be found, results that carry it."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.inference.power.alternatives import ALTERNATIVES, distorted
from calibstat.inference.power.detectable_effect import information, noncentrality
from calibstat.inference.power.fixed_tests import MeasureTest, pose_predictions
from calibstat.resampling import Draws

MISS = 1e-4
FOUR = tuple(ALTERNATIVES)


def fresh_power(p, measure, alternative, draws=2000):
    test = MeasureTest(pose_predictions(p, measure, {}), Draws.of(99, 4999))
    return int(test.rejected(alternative, draws, 0.05)[0])


@pytest.mark.parametrize("measure", ["ks", "ece", "brier"])
def test_the_stated_power_is_measured(measure):
    p = stats.norm.ppf((np.arange(400) + 0.5) / 400)
    p = 1 / (1 + np.exp(-1.5 * p))
    found = cs.detectable_effect(p, measure=measure, families=FOUR, rng=3)
    draws = 2000
    low, high = stats.binom(draws, 0.75).ppf(MISS / 2), stats.binom(draws, 0.85).ppf(1 - MISS / 2)
    for name, effect in zip(found.family, found.effect, strict=True):
        if np.isinf(effect):
            assert (measure, name[:5]) == ("brier", "shift")  # it sees a shift of symmetric predictions badly
            continue
        truth = distorted(**{ALTERNATIVES[name].parameter: effect})
        assert low <= fresh_power(p, measure, truth) <= high
        half = distorted(**{ALTERNATIVES[name].parameter: ALTERNATIVES[name].value(0.5 * abs(np.log(effect))
                            if ALTERNATIVES[name].parameter == "temperature" else 0.5 * abs(effect))})  # fmt: skip
        assert fresh_power(p, measure, half) < low  # the planted fault: half the effect has far less power


def test_one_distinct_prediction_is_a_binomial_sum():
    """n = 200 rows at v = .3: ks rejects if abs(K - 60) is above c, the least with P(abs(K - 60) > c) <= .05."""
    n, v = 200, 0.3
    null = stats.binom(n, v)
    c = next(c for c in range(n) if null.cdf(60 - c - 1) + null.sf(60 + c) <= 0.05)

    def power(shift):
        odds = v / (1 - v) * np.exp(shift)
        other = stats.binom(n, odds / (1 + odds))
        return other.cdf(60 - c - 1) + other.sf(60 + c)

    found = cs.detectable_effect(np.full(n, v), measure="ks", families=("shift_up", "shift_down"), rng=1)
    assert power(found.effect[0]) == pytest.approx(0.8, abs=0.06)
    assert power(found.effect[1]) == pytest.approx(0.8, abs=0.06)
    assert found.ece[0] == pytest.approx(distorted(shift=found.effect[0]).truth(np.array([v]))[0] - v)


EVENT_AT_THE_LEVEL = np.r_[np.full(990, 0.0005), np.full(10, 0.5)]  # the p-value of ks at one value is .0496


@pytest.mark.parametrize("seed", [1, pytest.param(range(10), marks=pytest.mark.slow)])
def test_the_stated_power_where_a_value_has_a_p_value_at_the_level(seed):
    """Of tests with draws of their own, as by default: some reject at that value, others do not."""
    tests = [MeasureTest(pose_predictions(EVENT_AT_THE_LEVEL, "ks", {}), Draws.of(100 + s, 999)) for s in range(40)]

    def power(parameter, effect):
        alternative = distorted(**{parameter: effect})
        return np.mean([test.rejected(alternative, 500, 0.05)[0] for test in tests]) / 500

    for each in np.atleast_1d(seed):
        found = cs.detectable_effect(EVENT_AT_THE_LEVEL, measure="ks", rng=int(each))
        for name, effect in zip(found.family, found.effect, strict=True):
            assert 0.75 <= power(ALTERNATIVES[name].parameter, effect) <= 0.85


def test_what_cannot_be_found_is_said():
    """Five rows at 1/2: if all are events, which has probability 2 / 32 in two tails, p is seldom found below .05."""
    found = cs.detectable_effect(np.full(5, 0.5), families=FOUR, rng=1)
    assert np.isinf([found.effect, found.ece]).all()
    none = "With 5 such rows the test finds no over-confidence or under-confidence or shift up or shift down, however"
    assert str(found).startswith(none)
    assert found.largest_power.max() == pytest.approx(stats.binom(999, 2 / 32).cdf(49), abs=0.02)
    assert f"the largest power seen was {100 * found.largest_power.max():.2g} %" in str(found)
    assert "With one such row" in str(cs.detectable_effect([0.3], rng=1))


def test_what_is_found_is_said():
    text = str(cs.detectable_effect(np.linspace(0.02, 0.98, 500), measure="ks", rng=1))
    assert text.startswith("With 500 such rows the test finds an over-confidence of temperature ")
    assert " or a shift of 0." in text
    assert text.endswith(" with probability 80 %.\nTest: ks at level 5 %.")


def test_seeds_and_threads():
    p = np.random.default_rng(1).random(300)
    one, two = (cs.detectable_effect(p, measure="kernel_ce", rng=4, n_jobs=jobs, n_resamples=199) for jobs in (1, 2))
    assert one.effect.tolist() == two.effect.tolist()
    assert cs.detectable_effect(p[::-1], rng=4, n_resamples=99).effect.tolist() == (
        cs.detectable_effect(p, rng=4, n_resamples=99).effect.tolist()
    )


@pytest.mark.parametrize("lens", ["top_label", "class_wise", "canonical", cs.lenses.one_class(1)])
def test_lenses(lens):
    prob = np.random.default_rng(2).dirichlet([1, 1, 1], size=300)
    found = cs.detectable_effect(prob, measure="brier", lens=lens, n_resamples=199, n_datasets=100, rng=1)
    assert found.family[0] == "over_confidence"
    assert 1 < found.effect[0] < 3
    assert len(found.family) == (2 if np.ndim(lens) == 0 and str(lens) in ("top_label", "one_class(1)") else 1)


def test_ends_and_ties():
    p = np.array([0.0, 0.0, 0.3, 0.3, 0.3, 0.7, 1.0] * 40)
    found = cs.detectable_effect(p, families=FOUR, n_resamples=499, rng=1)
    assert np.isfinite(found.effect[2:]).all()
    certain = cs.detectable_effect([0.0, 1.0, 1.0], n_resamples=99, rng=1)
    assert np.isinf(certain.effect).all()


def test_outcomes_decide_nothing():
    y, p = cs.generators.temperature(1.5).sample(300, rng=1)
    asked = {"measure": "ks", "n_resamples": 99, "rng": 0}
    found = cs.detectable_effect(p, **asked).to_dict()
    assert cs.detectable_effect(y, p, **asked).to_dict() == found
    assert cs.detectable_effect(1 - y, p, **asked).to_dict() == found
    assert cs.detectable_effect(np.where(y == 1, "yes", "no"), p, labels=("no", "yes"), **asked).to_dict() == found
    assert cs.detectable_effect(cs.Sample.from_rows(y, p), **asked).to_dict() == found
    several = cs.detectable_effect(y, {"A": p, "B": p**2}, **asked)
    assert several["A"].to_dict() == found
    assert several["B"].to_dict() == cs.detectable_effect(y, p**2, **asked).to_dict()
    with pytest.raises(ValueError, match=r"expected 0 or 1, found 1\.5 in y_true at row 0"):
        cs.detectable_effect(y + 0.5, p, **asked)


def test_predictions_alone_may_have_labels_and_weights_too():
    y, p = cs.generators.temperature(1.5).sample(300, rng=1)
    prob, asked = np.stack([1 - p, p / 2, p / 2], axis=1), {"measure": "ks", "n_resamples": 99, "rng": 0}
    for predicted, names in ((p, {"labels": ("no", "yes")}), (p, {"pos_label": "yes"}), (prob, {"labels": "abc"})):
        found = cs.detectable_effect(predicted, **asked).to_dict()
        assert cs.detectable_effect(predicted, **names, **asked).to_dict() == found
    weight = np.arange(300) % 3.0
    beside = cs.detectable_effect(y, p, sample_weight=weight, **asked)
    assert cs.detectable_effect(p, sample_weight=weight, **asked).to_dict() == beside.to_dict()
    for wrong, match in (
        ({"labels": ("a", "b")}, "expected 3 different labels, one for each column, found 2"),
        ({"labels": 5}, "expected labels, a sequence of names, found 5"),
        ({"labels": "abc", "pos_label": "a"}, "expected labels or pos_label, found both"),
        ({"pos_label": ["a", "b"]}, "expected pos_label, one of the outcomes"),
        ({"cluster": np.arange(300)}, "expected rows without cluster= for detectable_effect"),
    ):
        with pytest.raises(ValueError, match=match):
            cs.detectable_effect(prob, **wrong, **asked)


@pytest.mark.parametrize("measure", ["ece", "brier"])
def test_of_classes_by_themselves_it_is_that_of_the_mean(measure):
    random = np.random.default_rng(3)
    prob = random.dirichlet([1, 1, 1], size=200)
    y = np.array([random.choice(3, p=row) for row in prob])
    options = {"measure": measure, "lens": "class_wise", "n_resamples": 99, "n_datasets": 50, "rng": 0}
    found = cs.detectable_effect(y, prob, **options).to_dict()
    assert cs.detectable_effect(y, prob, **options | {"lens": "class_wise_mean"}).to_dict() == found
    assert cs.detectable_effect(cs.Predictions.from_rows(y, prob), **options).to_dict() == found
    rows = random.permutation(200)
    assert cs.detectable_effect(y[rows], prob[rows], **options).to_dict() == found


def test_results_say_whom_to_ask():
    y, p = cs.generators.calibrated().sample(200, rng=1)
    result = cs.calibration_test(y, p, rng=1, n_resamples=99)
    assert "print(calibstat.detectable_effect(y, p)), with the arguments of this test." in str(result)
    for found in (result, cs.confidence_interval(y, p, measure="ks", rng=1, n_resamples=99)):
        with pytest.raises(AttributeError, match=r"hold no rows: ask calibstat\.detectable_effect\(y, p\)"):
            found.detectable_effect()
        with pytest.raises(AttributeError, match="object has no attribute 'detectable'"):
            found.detectable  # noqa: B018


def test_information_is_that_of_the_score_test():
    """At v = 1/2 alone the logit is 0: u' I^-1 u = (q - v)**2 / (v (1 - v))."""
    assert information(np.array([0.6]), np.array([0.5]), np.array([7.0])) == pytest.approx(0.01 / 0.25)
    both = information(np.array([[0.4, 0.6]]), np.array([[0.5, 0.5]]), None)
    assert both == pytest.approx(0.01 / 0.25)
    assert noncentrality(0.8, 0.05) == pytest.approx(3.3**2)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"power": 1.0}, "power"),
        ({"power": 0.04}, "above the level"),
        ({"level": 0}, "level"),
        ({"n_datasets": 0}, "n_datasets"),
        ({"families": "overconfident"}, "over_confidence"),
        ({"measure": "ecee"}, "expected a measure"),
        ({"n_bins": 10}, "expected options of measure"),
    ],
)
def test_wrong_arguments_are_told(options, match):
    with pytest.raises(ValueError, match=match):
        cs.detectable_effect([0.2, 0.4], **options)


def test_predictions_of_almost_no_variance():
    found = cs.detectable_effect([5e-324] * 9, n_resamples=19, n_datasets=5, rng=1)
    assert not np.isnan(found.largest_power).any()


def test_families_that_are_no_names():
    with pytest.raises(ValueError, match=r"expected families, some of .* found 0.5"):
        cs.detectable_effect([0.2, 0.4], families=0.5)
