"""Weighted calibration error: by hand, against other measures, its interval, test and truth."""

import numpy as np
import pytest
from scipy import integrate

import calibstat as cs

WEIGHTED = {"measure": "weighted_ce"}


def mean_of(value):
    return np.ones_like(value)


def rising(value):
    return 2 * value - 1


def upper_half(value):
    return np.where(value > 0.5, 1.0, 0.0)


def test_by_hand():
    """Residuals 1/2 at .5 and -1/4 at .25 (of 2 rows): 1/8 with weight 1, 1/16 with 2 v - 1."""
    y, p = [1, 0], [0.5, 0.25]
    assert cs.estimate(y, p, **WEIGHTED, functions=[mean_of]) == pytest.approx(1 / 8)
    assert cs.estimate(y, p, **WEIGHTED, functions=[rising]) == pytest.approx(1 / 16)
    assert cs.estimate(y, p, **WEIGHTED, functions=[rising, mean_of]) == pytest.approx(1 / 8)
    # degree 2 has 2 (2 v - 1)² - 1, which is -1 at .5 and -1/2 at .25: (-1/2 + 1/8) / 2
    assert cs.estimate(y, p, **WEIGHTED, functions=2) == pytest.approx(3 / 16)
    assert cs.estimate(y, p, **WEIGHTED, functions=1) == pytest.approx(1 / 8)
    assert cs.detail(y, p, **WEIGHTED, functions=2)["witness"].tolist() == pytest.approx([0.5, 1])


def test_as_the_polynomials_of_numpy():
    y, p = cs.generators.temperature(2).sample(200, rng=1)
    weights = np.polynomial.chebyshev.chebvander(2 * p - 1, 7)
    assert cs.estimate(y, p, **WEIGHTED, functions=7) == pytest.approx(np.abs((y - p) @ weights).max() / 200, abs=1e-13)


def test_as_other_measures():
    """Weights 1 up to a cut and 0 beyond, at all predictions, are `ks`; signs on bins are the binned error."""
    y, p = cs.generators.temperature(2).sample(30, rng=1)
    steps = [lambda v, cut=cut: (v <= cut).astype(float) for cut in p]
    assert cs.estimate(y, p, **WEIGHTED, functions=steps) == pytest.approx(cs.estimate(y, p, measure="ks"), abs=1e-15)
    signs = [lambda v, a=a, b=b: np.where(v <= 0.5, a, b) for a in (-1, 1) for b in (-1, 1)]
    binned = cs.estimate(y, p, measure="ece", strategy=(0.5,))
    assert cs.estimate(y, p, **WEIGHTED, functions=signs) == pytest.approx(binned, abs=1e-15)
    assert cs.estimate(y, p, **WEIGHTED, functions=[rising]) <= 2 * cs.estimate(y, p, measure="smooth_ce")


def test_truth_by_quadrature():
    """Temperature 2 predicts v² / (v² + (1 - v)²) for a true v, uniform."""

    def residual(v, weight):
        f = v**2 / (v**2 + (1 - v) ** 2)
        return (v - f) * weight(f)

    family = cs.generators.temperature(2)
    for weight in (rising, upper_half):
        by_quadrature, _ = integrate.quad(residual, 0, 1, args=(weight,), points=[0.5], epsabs=1e-12)
        assert family.truth(**WEIGHTED, functions=[weight]) == pytest.approx(abs(by_quadrature), abs=1e-6)
    assert cs.generators.calibrated().truth(**WEIGHTED) == pytest.approx(0, abs=1e-12)


def test_one_pass_is_the_norm():
    sample = cs.Sample.from_rows(*cs.generators.temperature(2).sample(50, rng=1))
    measure = cs.measures.WeightedCE(functions=5)
    residual = np.random.default_rng(1).normal(size=(7, sample.value.size))
    one_pass = measure.one_pass(sample.value, sample.count, sample.value).of(residual)
    assert one_pass == pytest.approx([measure.norm(sample.value, each) for each in residual])
    for each in residual:
        assert measure.witness(sample.value, each) @ each == pytest.approx(measure.norm(sample.value, each))


def covered(functions, claimed, sets=60):
    """How many of the intervals of 100 rows, over-confident, hold the claimed error."""
    family = cs.generators.temperature(2)
    found = (
        cs.confidence_interval(*family.sample(100, rng=seed), **WEIGHTED, functions=functions, n_resamples=99, rng=seed)
        for seed in range(sets)
    )
    return sum(interval.low <= claimed <= interval.high for interval in found)


@pytest.mark.slow
def test_intervals_cover():
    """Of 60 intervals of level .95, at least 51 cover in all but 1 of 1000 runs; three times the error is missed."""
    least = 60 - cs.study.most_rejections(0.05, 60, 1e-3)
    truth = cs.generators.temperature(2).truth(**WEIGHTED)
    assert covered(3, truth) >= least
    assert covered(3, 3 * truth) < least


def test_the_interval_is_shorter_than_that_of_any_weights():
    """The bound of one fixed sum is that of a mean: shorter than the bound over all weights up to 1."""
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    own = cs.confidence_interval(y, p, **WEIGHTED, functions=[rising], rng=1)

    class Wider(cs.measures.WeightedCE):
        def upper_bound(self, value, moments, score):
            return cs.measures.Seminorm.upper_bound(self, value, moments, score)

    wider = cs.confidence_interval(y, p, measure=Wider(functions=[rising]), rng=1)
    assert own.low == wider.low
    assert own.high < wider.high


@pytest.mark.parametrize("rows", ["weights", "clusters", "classes"])
def test_rows_of_every_kind(rows):
    drawn = cs.generators.temperature(2).sample(300, rng=1, clusters=60, weights="independent")
    asked = {"measure": cs.measures.WeightedCE(functions=[mean_of, rising]), "rng": 1, "n_resamples": 99}
    if rows == "classes":
        label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(200, rng=1)
        given = (label, prob), {"lens": "class_wise_max"}
    elif rows == "weights":
        given = (drawn.y, drawn.p), {"sample_weight": drawn.weight}
    else:
        given = (drawn.y, drawn.p), {"cluster": drawn.cluster}
    assert 0 < cs.calibration_test(*given[0], **given[1], **asked).pvalue <= 1
    interval = cs.confidence_interval(*given[0], **given[1], **asked)
    assert 0 <= interval.low <= interval.estimate <= interval.high


WRONG = {
    "nothing": ([], "expected functions to be a sequence of functions"),
    "a degree": (1.5, "whole number from 0 to 100; found 1.5"),
    "a name": ("polynomials", "found 'polynomials'"),
    "no functions": ([1, 2], "expected functions to be a sequence"),
    "large": (
        [lambda v: 2 * v],
        r"expected function 0 of weighted_ce to return weights in \[-1, 1\], found 1.4 at the",
    ),
    "missing": (
        [mean_of, lambda v: v * np.nan],
        r"function 1 of weighted_ce to return weights in \[-1, 1\], found nan",
    ),
    "a number": ([lambda v: 0.5], r"a weight for each prediction, shape \(2,\), found shape \(\)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_functions(case):
    functions, match = WRONG[case]
    with pytest.raises(ValueError, match=match):
        cs.estimate([1, 0], [0.2, 0.7], **WEIGHTED, functions=functions)


def test_functions_are_named_in_results_and_equal_ones_are_one_measure():
    first, second = (cs.measures.WeightedCE(functions=(mean_of, rising)) for _ in range(2))
    assert (first == second, hash(first) == hash(second)) == (True, True)
    assert str(first) == "weighted_ce(functions=(mean_of, rising))"
    assert repr(first) == "WeightedCE(functions=(mean_of, rising))"
    assert first == cs.measures.WeightedCE(functions=[mean_of, rising])


def test_texts_of_results_have_no_addresses():
    """An address is another one in each run: the same seed must give the same text."""
    y, p = cs.generators.temperature(2).sample(100, rng=1)
    asked = {"measure": "weighted_ce", "functions": [rising], "n_resamples": 99, "rng": 1}
    for answer in (cs.confidence_interval(y, p, **asked), cs.calibration_test(y, p, **asked)):
        assert "functions=(rising" in str(answer)
        assert " at 0x" not in str(answer)
