"""What every registered measure claims, checked in one loop; every check is shown to fail on a planted fault."""

import math
from dataclasses import replace

import numpy as np
import pytest
from measure_claims import (
    BOUND,
    BUILT_IN,
    CLAIMS,
    DECLARED,
    EDGES,
    JUMPS,
    MISCALIBRATED,
    SKIPPED,
    check_continuous,
    rows_for,
    skipped,
)

import calibstat as cs
from calibstat.measures import ECE, KS, MEASURES, Brier, Info, Kuiper, Statistic
from calibstat.measures.kinds.base import in_prose
from calibstat.measures.kinds.registry import class_of, everyday_measures, find_measure

# --- the claims ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", BOUND, ids=str)
def test_claims(bound):
    for claim in CLAIMS:
        if not skipped(bound, claim):
            CLAIMS[claim](bound)


def test_what_a_measure_has_no_value_for_is_listed():
    samples = [*EDGES.values(), *MISCALIBRATED, *(part for pair in JUMPS for part in pair)]
    left_out = {(bound.name, sample.value.size) for bound in BOUND for sample in samples
                if not bound.has_value(sample.value)}  # fmt: skip
    assert left_out == {("upper_distance", 49)}


def test_what_is_skipped_is_listed():
    found = {(bound.name, claim) for bound in BOUND for claim in DECLARED if not getattr(bound.info, claim)}
    unbiased = {claim for claim in SKIPPED if claim[0].startswith(("ece_debiased", "kernel_ce_squared"))}
    assert found | {(name, claim) for name, claim in unbiased if claim == "complete"} == SKIPPED


@pytest.mark.parametrize("name", ["ece_debiased", "kernel_ce_squared"])
def test_unbiased_estimates_are_negative_about_half_of_the_time(name):
    """Their population value is 0; of 400 calibrated data sets, a share between .3 and .7 is below it."""
    model = cs.generators.calibrated()
    assert model.truth(name) == pytest.approx(0, abs=1e-12)
    negative = sum(cs.estimate(*model.sample(100, seed), measure=name) < 0 for seed in range(400))
    assert 120 < negative < 280


# --- one measure, one unit -------------------------------------------------------------------------------------------


def check_one_number(y, p, bound, **seen) -> None:
    options = {"measure": bound, **seen}
    estimate = cs.estimate(y, p, **options)
    assert cs.detail(y, p, **options).estimate == estimate
    test = cs.calibration_test(y, p, n_resamples=9, rng=0, **options)
    assert np.array_equal(test.statistic, estimate, equal_nan=True)


@pytest.mark.parametrize("bound", BOUND, ids=str)
def test_the_estimate_is_the_statistic_of_the_test(bound):
    y, p = rows_for(bound, 0, 60)
    if bound.info.slow_above >= y.size or bound.name == "upper_distance":
        check_one_number(y, p, bound)


@pytest.mark.parametrize("name", [name for name in everyday_measures() if name in BUILT_IN])
@pytest.mark.parametrize("lens", ["top_label", "class_wise_mean", "class_wise_max"])
def test_the_estimate_is_the_statistic_through_every_lens(name, lens):
    rng = np.random.default_rng(3)
    prob = rng.dirichlet([1, 1, 1], 40)
    label = rng.integers(0, 3, 40)
    options = {"measure": name, "lens": lens}
    estimate = cs.estimate(label, prob, **options)
    assert cs.calibration_test(label, prob, n_resamples=9, rng=0, **options).statistic == estimate


# --- what is not claimed is false ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in BUILT_IN if not MEASURES[name].info.continuous])
def test_other_measures_jump(name):
    options = {"n_bins": 2} if "n_bins" in MEASURES[name].defaults() else {}
    bound = find_measure(name, options)  # two bins have their edge at 0.5
    assert max(abs(bound.estimate(before) - bound.estimate(after)) for before, after in JUMPS) > 0.1


@pytest.mark.parametrize("name", [name for name in BUILT_IN if not MEASURES[name].info.sound])
def test_unsound_measures_miss_an_error(name):
    if name == "weighted_ce":  # opposite errors under one weight
        assert cs.estimate([1, 0], [0.25, 0.75], measure=name, functions=[np.ones_like]) == 0
        return
    if name == "regression_ce":
        # with a weight of 1/3 for the other prediction, smoothing outcomes 0 and 1 gives .25 and .75 again
        sample = cs.Sample.from_counts([0.25, 0.75], [10, 10], [0, 10])
        bandwidth = 0.5 / math.sqrt(2 * math.log(3))
        assert find_measure(name, {"bandwidth": bandwidth}).estimate(sample) < 1e-24
        return
    sample = cs.Sample.from_counts([0.25, 0.75], [10, 10], [10, 0])  # opposite errors in the only bin
    options = {"n_bins": 1} if "n_bins" in MEASURES[name].defaults() else {}  # a sweep stops at one: frequencies fall
    assert find_measure(name, options).estimate(sample) <= 0


@pytest.mark.parametrize("name", [name for name in BUILT_IN if not MEASURES[name].info.complete])
def test_incomplete_measures_are_positive_for_a_calibrated_model(name):
    options = {"bandwidth": 1.0} if "bandwidth" in MEASURES[name].defaults() else {}  # so wide that it moves everything
    assert cs.estimate(cs.Sample.from_counts([0.25, 0.75], [4, 4], [1, 3]), measure=name, **options) > 0.01


@pytest.mark.parametrize("name", [name for name in BUILT_IN if not MEASURES[name].info.symmetric])
def test_asymmetric_measures_change_when_reversed(name):
    options = {"n_bins": 2} if "n_bins" in MEASURES[name].defaults() else {}
    # residuals 0, -20, 10: their partial sums are 0, -20, -10, reversed -10, 10, 10; and 0.5 keeps to the lower bin,
    # so that bins hold -20 and 10, reversed 10 and 0; a sweep has one bin, with -10, reversed two, with 0 and 0 or more
    value, count, positives = np.array([0.25, 0.5, 0.75]), np.array([40.0, 40, 40]), np.array([10.0, 0, 40])
    there = cs.estimate(cs.Sample.from_counts(value, count, positives), measure=name, **options)
    back = cs.estimate(cs.Sample.from_counts(1 - value, count, count - positives), measure=name, **options)
    assert abs(there - back) > 0.01


# --- planted faults --------------------------------------------------------------------------------------------------


def planted(function) -> Statistic:
    """A measure that is wrong, of the kind that the parameters of its function name."""
    cls = class_of("planted", function)
    cls.__doc__ = "Something wrong."
    cls.info = Info("Planted", "x", "doi:0", (0, 1))
    return cls()


def wrong_where(condition):
    return planted(lambda value, count, positives: math.nan if condition(value, count, positives) else 0.5)


def unweighted(value, count, positives):
    return abs(np.mean(positives / np.maximum(count, 1) - value))


def on_rows(function) -> Statistic:
    """A measure that is right on a summary and wrong on rows."""

    class OnRows(ECE):
        def row_sums(self, y, p):
            return np.ones(1), np.array([function(y, p)]), np.ones(1)

    return OnRows()


def undocumented(value, count, positives, *, width=1.0):
    return width


FAULTS = {
    "bounds": planted(lambda value, count, positives: -1e-9),
    "order": on_rows(lambda y, p: p[0]),
    "weights": on_rows(lambda y, p: np.unique(p).mean()),
    "absent cells": planted(unweighted),
    "one row": wrong_where(lambda value, count, positives: count.sum() == 1),
    "constant predictions": wrong_where(lambda value, count, positives: value.size == 1),
    "all 0": wrong_where(lambda value, count, positives: not positives.any()),
    "all 1": wrong_where(lambda value, count, positives: np.all(positives == count)),
    "exact 0 and 1": wrong_where(lambda value, count, positives: value[0] == 0),
    "all wrong": wrong_where(lambda value, count, positives: value[0] == 0),
    "symmetric": KS(),
    "continuous": Kuiper(),
    "complete": Brier(),
    "sound": planted(lambda value, residual: abs(residual.sum())),
    "documented": planted(undocumented),
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_every_claim_can_fail(claim):
    with pytest.raises(AssertionError):
        CLAIMS[claim](FAULTS[claim])


def test_the_largest_jump_is_no_larger_than_claimed():
    with pytest.raises(AssertionError):
        check_continuous(type("Coarse", (ECE,), {"info": replace(ECE.info, resolution=0.01)})(n_bins=2))


def test_measures_in_prose():
    """Bins in words, and what is not the default in brackets."""
    said = {
        "Expected calibration error over 15 bins of equal width": ECE(),
        "Expected calibration error over 5 bins of equally many rows (norm='max')": ECE(
            n_bins=5, strategy="quantile", norm="max"
        ),
        "Kernel calibration error (bandwidth=0.2)": find_measure("kernel_ce", {"bandwidth": 0.2}),
        "Brier score": find_measure("brier", {}),
    }
    assert {text: in_prose(measure) for text, measure in said.items()} == {text: text for text in said}
