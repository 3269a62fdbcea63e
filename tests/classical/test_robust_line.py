"""Cox's recalibration of rows with weights and in clusters, beside statsmodels and a loop over clusters."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.special import expit, logit

import calibstat as cs
from calibstat.bounds.tail_bound import TailBound

RANDOM = np.random.default_rng(2)
N = 900
Y, P = cs.generators.temperature(2.0).sample(N, rng=2)
X = logit(P)
WEIGHT = RANDOM.gamma(2.0, 1.0, N)
CLUSTER = RANDOM.integers(0, 60, N)


def regression(y, design, weight, offset=None):
    family = sm.families.Binomial()
    return sm.GLM(y, design, family=family, var_weights=weight, offset=offset)


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["clusters", "both"])
def test_estimates_are_those_of_weighted_regressions(weight):
    found = cs.validate(Y, P, sample_weight=weight, cluster=CLUSTER)
    w = np.ones(N) if weight is None else weight
    line = regression(Y, sm.add_constant(X), w).fit()
    large = regression(Y, np.ones(N), w, X).fit()
    assert (found.intercept, found.slope, found.in_the_large) == pytest.approx((*line.params, *large.params), abs=1e-6)


def left_out(design, offset, weight):
    """Leave out one cluster at a time: one step of Newton's method from the estimate of all, cluster by cluster."""
    fit = regression(Y, design, weight, offset).fit()
    chance = expit((0 if offset is None else offset) + design @ fit.params)
    total = np.zeros((design.shape[1],) * 2)
    parts = []
    for g in np.unique(CLUSTER):
        x, w, q, y = (each[g == CLUSTER] for each in (design, weight, chance, Y))
        information, gradient = (x.T * (w * q * (1 - q))) @ x, x.T @ (w * (y - q))
        total += information
        parts.append((information, gradient))
    steps = np.array([np.linalg.solve(total - information, gradient) for information, gradient in parts])
    return np.sqrt((len(parts) - 1) / len(parts) * (steps**2).sum(axis=0))


def half_widths(found, names):
    return [(found.intervals[name][1] - found.intervals[name][0]) / 2 for name in names]


def test_intervals_are_those_of_a_loop_that_leaves_out_clusters():
    found = cs.validate(Y, P, sample_weight=WEIGHT, cluster=cs.Clusters(CLUSTER, unseen="clusters"))
    z = TailBound.of_units(np.bincount(CLUSTER, WEIGHT), 0.025).z
    error = [*left_out(sm.add_constant(X), None, WEIGHT), *left_out(np.ones((N, 1)), X, WEIGHT)]
    assert half_widths(found, ("intercept", "slope", "in_the_large")) == pytest.approx(z * np.array(error), rel=1e-6)


def test_standard_errors_are_about_the_sandwich_of_statsmodels():
    """Leaving out a cluster is the sandwich, up to the share of the information that one cluster has: here 1/60.

    The sandwich of clusters does not tell a row of weight 3 from three rows.
    """
    times = RANDOM.integers(1, 4, N)
    found = cs.validate(Y, P, sample_weight=times, cluster=CLUSTER)
    z = TailBound.of_units(np.bincount(CLUSTER, times), 0.025).z
    y, x, cluster = (np.repeat(each, times) for each in (Y, X, CLUSTER))
    robust = {"cov_type": "cluster", "cov_kwds": {"groups": cluster, "use_correction": False}}
    line = regression(y, sm.add_constant(x), None).fit(**robust)
    assert half_widths(found, ("intercept", "slope")) == pytest.approx(z * line.bse, rel=0.05)
    logistic = sm.Logit(y, sm.add_constant(x)).fit(disp=0, **robust)
    assert half_widths(found, ("intercept", "slope")) == pytest.approx(z * logistic.bse, rel=0.05)


def test_rows_with_weights_are_clusters_of_one_row():
    rows = cs.validate(Y, P, sample_weight=WEIGHT)
    clusters = cs.validate(Y, P, sample_weight=WEIGHT, cluster=cs.Clusters(np.arange(N), unseen="clusters"))
    assert rows.intervals == {name: pytest.approx(ends) for name, ends in clusters.intervals.items()}


def test_a_slope_that_one_cluster_alone_tells_has_no_end():
    p = np.where(CLUSTER == 0, P, 0.4)
    found = cs.validate(Y, p, cluster=CLUSTER)
    assert found.intervals["slope"] == (-np.inf, np.inf)
    assert np.isfinite(found.intervals["in_the_large"]).all()


def test_one_prediction_has_no_line():
    found = cs.validate(Y, np.full(N, 0.4), sample_weight=WEIGHT, cluster=CLUSTER)
    assert np.isnan([found.intercept, found.slope]).all()
    assert set(found.intervals) == {"observed", "ratio", "in_the_large", "brier"}
    rate = WEIGHT @ Y / WEIGHT.sum()
    assert found.in_the_large == pytest.approx(logit(rate) - logit(0.4))


def test_predictions_of_0_and_1_need_a_clip_for_the_line_alone():
    p = np.where(RANDOM.random(N) < 0.1, 0.0, P)
    with pytest.raises(ValueError, match="clip="):
        cs.validate(Y, p, cluster=CLUSTER)
    found = cs.validate(Y, p, cluster=CLUSTER, clip=1e-3)
    moved = regression(Y, sm.add_constant(logit(p.clip(1e-3, 1 - 1e-3))), np.ones(N)).fit()
    assert found.slope == pytest.approx(moved.params[1], abs=1e-6)
    assert found.brier == pytest.approx(np.mean((Y - p) ** 2))
