"""Calibration in the large of clusters: beside the ratio and Student's, and the limit of rare events."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

import calibstat as cs

RANDOM = np.random.default_rng(1)
HOSPITAL = np.repeat(np.arange(40), 50)
P = expit(RANDOM.normal(-1, 1, 2000))
Y = (RANDOM.random(2000) < expit(logit(P) + RANDOM.normal(0, 0.3, 40)[HOSPITAL])).astype(int)


def test_the_ends_are_at_least_student_s_of_the_score():
    """A value is kept at least while outcomes less probabilities with it are within Student's reach at the estimate."""
    found = cs.validate(Y, P, cluster=HOSPITAL)
    part = np.bincount(HOSPITAL, Y - expit(logit(P) + found.in_the_large))
    reach = stats.t.isf(0.025, 39) * np.sqrt(40 / 39 * (part**2).sum())
    for end in found.intervals["in_the_large"]:
        assert 1 <= abs((Y - expit(logit(P) + end)).sum()) / reach < 1.15


def test_of_equal_small_predictions_it_is_the_logarithm_of_the_ratio():
    """Outcomes less r v and outcomes less v exp(a) are then one number, with r = exp(a)."""
    y = (RANDOM.random(40_000) < 0.0011).astype(int)
    found = cs.validate(y, np.full(40_000, 1e-3), cluster=np.repeat(np.arange(200), 200))
    ends = np.exp(found.intervals["in_the_large"])
    assert ends == pytest.approx(found.intervals["ratio"], rel=3e-3)


def test_rows_of_weight_2_are_two_rows():
    weighted = cs.validate(Y, P, sample_weight=np.full(2000, 2), cluster=HOSPITAL).intervals["in_the_large"]
    assert weighted == pytest.approx(cs.validate(Y, P, cluster=HOSPITAL).intervals["in_the_large"], rel=1e-9)


def test_two_clusters_say_next_to_nothing():
    found = cs.validate(Y, P, cluster=np.arange(2000) % 2)
    low, high = found.intervals["in_the_large"]
    assert low < found.in_the_large < high


def test_it_is_the_jackknife_if_absent_clusters_may_be_anything():
    whole = cs.validate(Y, P, cluster=cs.Clusters(HOSPITAL, unseen="clusters"))
    low, high = whole.intervals["in_the_large"]
    assert (low + high) / 2 == pytest.approx(whole.in_the_large)
