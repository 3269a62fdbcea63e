"""Comparisons of rows with weights: as rows with equal weights, and two rows by hand."""

import numpy as np
import pytest

import calibstat as cs

RANDOM = np.random.default_rng(3)
P = RANDOM.random(300)
Y = (RANDOM.random(300) < P).astype(int)
W = RANDOM.lognormal(0, 1, 300)
SCORES = ("brier", "log_loss")


@pytest.mark.parametrize("measure", ["kernel_ce", "ece", "smooth_ce", *SCORES])
def test_equal_weights_compare_as_rows(measure):
    models = {"a": P, "b": np.clip(P**2, 1e-3, 1)}
    rows = cs.compare(Y, models, measure=measure, n_resamples=299, rng=1)
    equal = cs.compare(Y, models, measure=measure, sample_weight=np.full(300, 3.0), n_resamples=299, rng=1)
    assert equal.difference == pytest.approx(rows.difference)
    width = (rows.high - rows.low).item()
    assert equal.low == pytest.approx(rows.low, abs=0.15 * width)
    assert equal.high == pytest.approx(rows.high, abs=0.15 * width)
    swapped = [
        cs.compare(Y, models, method="swap", measure="ece", rng=1, **w) for w in ({}, {"sample_weight": np.ones(300)})
    ]
    assert swapped[0].pvalue == swapped[1].pvalue


def test_two_rows_exchanged_by_hand():
    """Weights 3 and 1 and predictions .9 against .1: of four exchanges the two that agree differ by as much as seen."""
    y, one, other = np.array([1, 1]), np.array([0.9, 0.9]), np.array([0.1, 0.1])
    models = {"one": one, "other": other}
    found = cs.compare(y, models, measure="brier", method="swap", sample_weight=[3, 1], n_resamples=4999, rng=1)
    assert found.difference.item() == pytest.approx(0.01 - 0.81)
    assert found.pvalue.item() == pytest.approx(0.5, abs=0.03)
    assert found.effective_n == pytest.approx(1.6)


def test_samples_of_other_rows_have_no_common_weights():
    samples = {"a": (Y, P), "b": (Y[:100], P[:100])}
    with pytest.raises(ValueError, match="expected the same rows for all models with sample_weight"):
        cs.compare(samples, sample_weight=W)
