"""The calibration error itself: values by hand, refusals, what intervals say, and the binned low end."""

import numpy as np
import pytest
from quick_report import quick_report

import calibstat as cs

Y, P = cs.generators.calibrated().sample(600, rng=2)


def interval(y=Y, p=P, **settings):
    settings = {"measure": "l1", "shape": "nondecreasing", "rng": 1, "n_resamples": 99} | settings
    return cs.confidence_interval(y, p, **settings)


def test_few_predictions_are_cells_of_their_own():
    # |6/10 - .2| and |15/30 - .7|, weighted by 10 and 30 of 40 rows
    sample = cs.Sample.from_counts([0.2, 0.7], [10, 30], [6, 15])
    assert cs.estimate(sample, measure="l1") == pytest.approx(0.4 * 0.25 + 0.2 * 0.75)


def test_the_value_of_a_population_has_no_bins():
    shifted = cs.generators.shift(0.5)
    assert shifted.truth("l1") == pytest.approx(shifted.truth("ece", n_bins=None), rel=1e-6)
    assert cs.generators.calibrated().truth("l1") == 0


def test_without_a_shape_there_is_no_interval_and_the_shapes_are_named():
    with pytest.raises(
        ValueError, match=r"expected shape 'nondecreasing', calibstat.Variation\(0.5\) or calibstat.Slope"
    ):
        interval(shape=None)
    with pytest.raises(ValueError, match="expected a shape of the calibration curve"):
        interval(shape="wavy")


def test_weights_and_clusters_are_refused():
    with pytest.raises(ValueError, match="rows with weights"):
        interval(sample_weight=np.linspace(1, 2, 600))
    with pytest.raises(ValueError, match="with clusters"):
        interval(cluster=np.arange(600) // 3)


@pytest.mark.parametrize("shape", ["nondecreasing", cs.Variation(0.5), cs.Slope(1.0)])
def test_both_methods_of_every_shape(shape):
    honest, proven = (interval(shape=shape, method=method) for method in ("honest", "proven"))
    assert honest.low == proven.low == 0
    assert 0.05 < honest.high < proven.high < 0.2
    assert honest.high >= honest.high_of_calibrated
    assert f"not over bins, is at most {honest.high:.3g} with 97.5 % confidence, if " in str(honest)
    assert f"A calibrated model would get {honest.high_of_calibrated:.3g} with these rows." in str(honest)


def test_only_errors_of_curves_have_a_proven_end():
    with pytest.raises(ValueError, match="no proven interval is known for ece"):
        cs.confidence_interval(Y, P, method="proven", rng=1)


def test_rows_that_fall_have_no_high_end():
    y = np.random.default_rng(3).random(600) < 1 - P
    found = interval(y)
    assert found.high == 1
    assert "these rows contradict that the outcome is never less likely at a higher prediction, because the" in str(
        found
    )
    assert "A calibrated model would get" in str(found)
    assert interval(y, shape=cs.Variation(2.0)).void == ""


def test_an_error_is_found_and_covered():
    y, p = cs.generators.shift(0.8).sample(3000, rng=4)
    found = interval(y, p)
    assert 0 < found.low < cs.generators.shift(0.8).truth("l1") < found.high < 0.3


def test_equivalence_whatever_the_bins():
    y, p = cs.generators.calibrated().sample(1000, rng=5)
    found = cs.equivalence_test(y, p, measure="l1", shape="nondecreasing", margin=0.1, n_resamples=99, rng=1)
    assert found.claimed
    assert found.pvalue < 0.05
    assert "if the outcome is never less likely at a higher prediction" in found.null_hypothesis
    assert not cs.equivalence_test(
        y, p, measure="l1", shape="nondecreasing", margin=0.03, n_resamples=99, rng=1
    ).claimed


def test_the_test_of_calibration_uses_the_cells_of_the_estimate():
    y, p = cs.generators.shift(1.0).sample(600, rng=6)
    assert cs.calibration_test(y, p, measure="l1", n_resamples=199, rng=1).pvalue == 1 / 200


@pytest.mark.parametrize("p", [[0.5], [0.0, 1.0], [0.3, 0.3, 0.3], [0.0, 0.2, 0.9, 1.0]])
def test_few_rows(p):
    found = interval(np.array(p) > 0.4, p)
    assert 0 <= found.low <= found.high <= 1


def test_diagrams_and_reports_state_it_beside_the_binned_error():
    diagram = cs.reliability(Y, P, shape="nondecreasing", rng=1)
    assert diagram.without_bins.high == interval(n_resamples=None).high
    assert "not over bins, is at most" in str(diagram)
    assert cs.reliability(Y, P, rng=1).without_bins is None
    found = quick_report(Y, P, shape="nondecreasing")
    assert found.models["model"].measures["l1"].high == diagram.without_bins.high
    assert "not over bins, is at most" in found.models["model"].measures["l1"].remark
    assert "shape='nondecreasing'" in found.command
    assert "l1" not in cs.report(Y, P).models["model"].measures


def test_diagrams_and_reports_refuse_rows_that_it_does_not_take():
    said = {
        cs.reliability: "expected independent rows of equal weight",
        cs.report: "beside shape=, because the error without bins is of ",
    }
    for question, message in said.items():
        with pytest.raises(ValueError, match=message):
            question(Y, P, shape="nondecreasing", sample_weight=np.linspace(1, 2, 600))
        with pytest.raises(ValueError, match=message):
            question(Y, P, shape="nondecreasing", cluster=np.arange(600) // 3)
    y, p = cs.generators.dirichlet([1.0, 1.0, 1.0]).sample(60, rng=1)
    for question in (cs.reliability, cs.report):
        with pytest.raises(ValueError, match="one event"):
            question(y, p, lens="class_wise", shape="nondecreasing")
