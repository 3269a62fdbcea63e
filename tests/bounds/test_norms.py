"""Norms of sums of residuals: they are the measures, and their witnesses attain them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from posed_problem import pose
from row_strategies import rows

import calibstat as cs
from calibstat.bounds.norms import CLUSTERS_STEP, SeminormOn

OFFERED = [
    ("kernel_ce", {}),
    ("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.2}),
    ("ece", {}),
    ("ece", {"strategy": "quantile", "n_bins": 4}),
    ("ks", {}),
    ("kuiper", {}),
    ("smooth_ce", {}),
]


@given(rows(), st.sampled_from(OFFERED))
def test_the_measure_is_its_norm_and_its_witness(data, offered):
    """<theta, w> = ||theta||, and no step leads below <theta + step, w>: the witness is of norm 1 in the dual."""
    y, p = data
    measure, options = offered
    interval, _ = pose(y, p, measure, options).interval_of_rows(slice(None))
    expected = cs.estimate(y, p, measure=measure, **options)
    assert interval.estimate == pytest.approx(expected, abs=1e-12)
    witness = interval.witness(interval.theta)
    assert witness @ interval.theta == pytest.approx(expected, abs=1e-12)
    random = np.random.default_rng(y.size)
    for other in random.normal(size=(5, interval.theta.size)):
        assert other @ witness <= interval.value(other) + 1e-12


def test_a_seminorm_of_many_sums_is_that_of_each():
    value, theta = np.array([0.1, 0.4, 0.8]), np.random.default_rng(1).normal(size=(4, 2, 3))
    norm = SeminormOn(cs.measures.KS(), value, 2.0)
    assert norm.value(theta[0, 0]) == cs.measures.KS().norm(value, theta[0, 0])
    assert norm.value(theta).tolist() == [[norm.value(one) for one in two] for two in theta]


@pytest.mark.parametrize(("step", "expected"), [(2.0, CLUSTERS_STEP), (20.0, 20.0)])
def test_the_step_of_clusters_is_wide(step, expected):
    norm = SeminormOn(cs.measures.KS(), np.array([0.5]), step)
    assert (norm.step, norm.joint_step) == (step, expected)
