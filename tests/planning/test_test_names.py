"""Tests by name: their p-values are those of the functions themselves, on the same labels."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.inference.power.alternatives import distorted
from calibstat.planning.test_names import CLASSICAL, FUNCTIONS, fixed_test
from calibstat.resampling import Draws

P = np.linspace(0.04, 0.93, 60)
FUNCTION = {name: function for function, name in FUNCTIONS.items()}
HELD_OUT = {"cox", "hosmer_lemeshow", "calibration_belt"}


def draws(n_resamples=99):
    return Draws.of(3, n_resamples)


def labels_and_pvalues(test, **asked):
    """The labels that a user's own test sees, in order, and the p-values of a test of the same key."""
    seen = []

    def spy(data):
        seen.append(data)
        return 0.5

    truth = fixed_test(P, test, draws()).truth(distorted(1.3))
    fixed_test(P, spy, draws(), **asked).pvalues(truth, 12)
    return seen, fixed_test(P, test, draws()).pvalues(truth, 12)


@pytest.mark.parametrize("name", sorted(set(CLASSICAL) - {"kernel_calibration_test"}))
def test_the_p_values_are_those_of_the_function(name):
    seen, found = labels_and_pvalues(name)
    held_out = {"held_out": True} if name in HELD_OUT else {}
    results = [FUNCTION[name](sample, **held_out) for sample in seen]
    expected = [getattr(result, "joint_test", result).pvalue for result in results]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert len({sample.positives.sum() for sample in seen}) > 1


def test_t_cal_ranks_each_data_set_among_its_resamples():
    """`t_cal` draws its resamples by the same key, scheme and stream, so the p-values are equal, not only alike."""
    seen, found = labels_and_pvalues("t_cal")
    expected = [cs.classical.t_cal(sample, rng=3, n_resamples=99).pvalue for sample in seen]
    np.testing.assert_array_equal(found, expected)


def test_the_kernel_test_sees_classes():
    test = fixed_test(P, "kernel_calibration_test", draws())
    assert str(test.lens) == "lens canonical"
    found = test.pvalues(test.truth(distorted(1.5, 0.2)), 5)
    assert ((found > 0) & (found <= 1)).all()
    certain = np.stack([P < 0.5, P >= 0.5], axis=1).astype(float)
    y = (P >= 0.5).astype(int)
    expected = cs.classical.kernel_calibration_test(y, np.stack([1 - P, P], axis=1), rng=0).pvalue
    assert test.pvalues(certain, 2) == pytest.approx([expected] * 2)


@pytest.mark.parametrize("name", sorted(FUNCTION))
def test_a_function_is_its_name(name):
    assert fixed_test(P, FUNCTION[name], draws()).title == fixed_test(P, name, draws()).title == name


def test_measures_and_user_defined_tests():
    assert fixed_test(P, cs.MEASURES["ece"](n_bins=5), draws()).title == "ece(n_bins=5)"
    assert fixed_test(P, "ece", draws(), options={"n_bins": 5}).title == "ece(n_bins=5)"
    assert fixed_test(P, cs.MEASURES["ks"], draws()).title == "ks"

    def mean_only(sample):
        return stats.binomtest(int(sample.positives.sum()), int(sample.n), float(P.mean()))

    test = fixed_test(P, mean_only, draws())
    assert test.title == "mean_only"
    assert test.rejected(distorted(shift=5.0), 20, 0.05)[0] == 20


def test_separated_outcomes_have_no_result():
    """Four rows: Cox's test has no estimate where the logit separates the outcomes; these are counted."""
    test = fixed_test([0.1, 0.3, 0.6, 0.9], "cox", draws())
    rejected, nothing = test.rejected(distorted(0.7), 200, 0.05)
    assert 0 < nothing < 200
    assert rejected + nothing <= 200


@pytest.mark.parametrize("name", ["cox", "calibration_belt"])
def test_a_test_that_never_has_a_result_is_told(name):
    with pytest.raises(ValueError, match="above 0 and below 1"):
        fixed_test([0.0, 0.3, 0.6], name, draws()).rejected(distorted(2.0), 5, 0.05)


@pytest.mark.parametrize(
    ("test", "options", "match"),
    [
        ("coxx", {}, "expected a test: a measure, one of"),
        (3, {}, "expected a test"),
        ("cox", {"clip": 0.1}, "expected options of a measure alone"),
        ("ece", {"bins": 5}, "expected n_bins= of"),
    ],
)
def test_wrong_tests_are_told(test, options, match):
    with pytest.raises(ValueError, match=match):
        fixed_test(P, test, draws(), options=options)


@pytest.mark.parametrize("name", ["cox", "t_cal", "spiegelhalter"])
def test_tests_of_one_outcome_are_told_of_classes(name):
    prob = np.full((4, 3), 1 / 3)
    assert str(fixed_test(prob, name, draws()).lens) == "lens top_label"
    with pytest.raises(ValueError, match="binary outcome"):
        fixed_test(prob, name, draws(), lens="canonical")


@pytest.mark.parametrize("test", [[1, 2], {"a": 1}, np.array([0.1, 0.2])], ids=repr)
def test_what_is_no_name(test):
    with pytest.raises(ValueError, match=r"^expected "):
        cs.power([0.2, 0.4], "temperature=2", test=test, n_datasets=3)
