"""Measures of rows: which rows a function of (y, p) gets, and its values in every place of a binary measure."""

import numpy as np
import pytest

import calibstat as cs

Y, P = np.array([1, 0, 1, 0, 1, 1]), np.array([0.7, 0.2, 0.2, 0.9, 0.7, 0.4])
pytestmark = pytest.mark.usefixtures("registry")


def binned(y, p, n_bins=5):
    """The expected calibration error, as one writes it in a notebook."""
    cell = np.minimum((p * n_bins).astype(int), n_bins - 1)
    return sum(abs((y - p)[cell == k].sum()) for k in range(n_bins)) / len(y)


def test_it_gets_the_rows_in_ascending_order_of_predictions():
    seen = []
    cs.measure("mine")(lambda y, p: float(bool(seen.append((y, p)))))
    cs.estimate(Y, P, measure="mine")
    (y, p), *_ = seen
    assert (y.dtype, p.dtype) == (np.int64, np.float64)
    assert list(zip(y, p, strict=True)) == sorted(zip(Y, P, strict=True), key=lambda row: row[::-1])


@pytest.mark.parametrize(
    "function",
    [
        lambda y_true, y_prob: y_true @ y_prob,
        lambda y_true, y_score, *, sample_weight=None: y_true @ y_score,
        lambda y_true, y_proba, **others: y_true @ y_proba,
        lambda y, p, *others: y @ p,
    ],
)
def test_names_of_other_packages_are_taken(function):
    cs.measure("mine")(function)
    assert cs.estimate(Y, P, measure="mine") == pytest.approx(2.0)


def test_a_parameter_with_a_default_is_an_option():
    cs.measure("mine")(binned)
    cs.measure("positional")(lambda y, p, k=3, /: k)
    for n_bins in (5, 7):
        rows = cs.generators.temperature(2).sample(300, rng=1)
        assert cs.estimate(*rows, measure="mine", n_bins=n_bins) == pytest.approx(cs.estimate(*rows, n_bins=n_bins))
    assert cs.estimate(Y, P, measure="positional") == 3
    with pytest.raises(ValueError, match="options of measure 'positional'"):
        cs.estimate(Y, P, measure="positional", k=4)


def test_tests_intervals_and_comparisons_are_those_of_the_same_measure_of_calibstat():
    cs.measure("mine", bounds=(0, 1))(binned)
    y, p = cs.generators.temperature(2).sample(200, rng=3)
    own, ours = {"measure": "mine"}, {"measure": "ece", "n_bins": 5}
    few = {"n_resamples": 19, "rng": 1}
    tests = [cs.calibration_test(y, p, **each, **few).null_distribution for each in (own, ours)]
    assert tests[0].mean() == pytest.approx(tests[1].mean(), rel=0.2)  # one draws labels, the other sums of bins
    for ends in ("low", "high"):
        found = [
            getattr(cs.confidence_interval(y, p, method="percentile", **each, **few), ends) for each in (own, ours)
        ]
        assert found[0] == pytest.approx(found[1], rel=0.2)


def test_weights_are_refused():
    cs.measure("mine")(binned)
    with pytest.raises(ValueError, match=r"expected rows without weights for measure 'mine'.*of \(value, count"):
        cs.estimate(Y, P, measure="mine", sample_weight=[0.1, 0.2, 0.3, 0.4, 0.5, 0.6])


def test_a_summary_of_rows_is_taken():
    cs.measure("mine")(binned)
    sample = cs.Sample.from_counts([0.2, 0.7], [5, 4], [1, 3])
    assert cs.estimate(sample, measure="mine") == pytest.approx((0.0 + abs(3 - 2.8)) / 9)


@pytest.mark.parametrize(
    "generator",
    [cs.generators.temperature(2), cs.generators.hidden(), cs.generators.prevalence(cs.generators.calibrated(), 0.1)],
)
def test_the_value_of_a_population_is_that_of_the_same_measure_of_calibstat(generator):
    cs.measure("mine", plugs_in=True)(binned)
    for n_bins in (5, 20):
        assert generator.truth("mine", n_bins=n_bins) == pytest.approx(generator.truth("ece", n_bins=n_bins), abs=2e-5)


def test_without_its_word_it_has_no_value_on_a_population():
    cs.measure("mine")(binned)
    with pytest.raises(NotImplementedError, match=r"cs.measure\('mine', plugs_in=True\) if they do"):
        cs.generators.temperature(2).truth("mine")
