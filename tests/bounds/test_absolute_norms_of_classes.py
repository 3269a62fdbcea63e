"""Absolute sums over the cells of several classes: their high end by other roads, and how often it misses."""

import tracemalloc

import numpy as np
import pytest
from class_examples import example
from posed_problem import pose
from scipy import stats
from unit_examples import matrix

import calibstat as cs
from calibstat.bounds import joint_moments
from calibstat.bounds.absolute_norms import LargestOverClasses, SumOverClasses
from calibstat.bounds.skewness import skewed_signs
from calibstat.measures import ECE

CASES = {
    "mean": ("ece", {"n_bins": 4}, {"lens": "class_wise_mean"}),
    "grid": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}, {}),
}


def interval_of(name, label, prob):
    measure, options, settings = CASES[name]
    return pose(label, prob, measure, options, **settings).honest()


@pytest.mark.parametrize("norm", [SumOverClasses(0.5), LargestOverClasses(3)], ids=repr)
def test_the_witness_attains_the_norm_and_no_other_sums_exceed_it(norm):
    theta = np.random.default_rng(1).normal(size=(20, 12))
    witness = np.array([norm.witness(each) for each in theta])
    assert (witness * theta).sum(axis=1) == pytest.approx(norm.value(theta), abs=1e-12)
    assert (witness @ theta.T <= norm.value(theta) + 1e-12).all()
    assert np.abs(witness).max() == norm.largest_weight


@pytest.mark.parametrize("name", CASES)
def test_too_many_sums_for_a_matrix(name, monkeypatch):
    """Then it is T + R, the largest bound of any signs: that of none is larger."""
    interval = interval_of(name, *example(80, 3, temperature=2.0))
    monkeypatch.setattr(joint_moments, "MANY_SUMS", 0)
    scale, tail_bound = interval.estimate / np.abs(interval.theta).sum(), interval.table.moments.tail_bound(0.025)
    moments, sign = interval.table.moments, np.where(interval.theta < 0, -1.0, 1.0)
    skewed = skewed_signs(sign, moments.total, moments.variances(), moments.cube, moments.square, tail_bound.z)
    rate = max(tail_bound.rate(sums.variance, sums.up) for sums in map(moments.of, (sign, skewed)))
    worst = tail_bound.widen(tail_bound.z * np.sqrt(moments.largest()[0]), rate)
    assert interval.high(0.025) == pytest.approx(interval.estimate + scale * worst / 80)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_maximum_is_that_of_the_ends_of_the_classes(strategy):
    label, prob = example(150, 4, temperature=2.0)
    options = {"n_bins": 5, "strategy": strategy}
    together = pose(label, prob, "ece", options, lens="class_wise_max").honest()
    alone = [pose(label == k, prob[:, k], "ece", options).honest() for k in range(4)]
    assert together.high(0.025) == pytest.approx(max(interval.high(0.025) for interval in alone))
    assert together.high(0.025) >= together.estimate


def test_two_classes_are_one():
    """Of two classes, each with the residuals of the other but for the sign, mean and total variation are of one."""
    random = np.random.default_rng(2)
    p = np.round(random.random(300), 2)
    y = (random.random(300) < p**2).astype(int)
    prob = np.column_stack([1 - p, p])
    one = cs.confidence_interval(y, p, n_bins=1, n_resamples=99, rng=1)
    for case in ({"measure": "canonical_ce", "strategy": "uniform"}, {"lens": "class_wise_mean"}):
        both = cs.confidence_interval(y, prob, n_bins=1, n_resamples=99, rng=1, **case)
        assert both.estimate == pytest.approx(one.estimate)
        # one cell, whose two sums are one: the Hermite series of its variance is that of 1 + t**2 - mean**2, cut off
        assert both.high == pytest.approx(one.high, abs=2e-3)


# --- how often the high end misses -----------------------------------------------------------------------------------

RIVALS = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25]]), np.array([[0.56, 0.22, 0.22], [0.22, 0.56, 0.22]])
RARE = np.array([[0.998, 0.001, 0.001]]), np.array([[0.994, 0.003, 0.003]])
POPULATIONS = {"rival classes": (*RIVALS, 800), "rare classes": (*RARE, 200)}
REDUCED = {
    "mean": ("ece", {}, {"lens": "class_wise_mean"}, lambda error: error.sum(axis=0).mean()),
    "max": ("ece", {}, {"lens": "class_wise_max"}, lambda error: error.sum(axis=0).max()),
    "grid": ("canonical_ce", {"strategy": "uniform", "n_bins": 8}, {}, lambda error: error.sum() / 2),
}


def drawn(predicted, true, n, runs):
    for run in range(runs):
        random = np.random.default_rng([run, n])
        j = random.integers(len(predicted), size=n)
        above = random.random(n)[:, None] > true[j].cumsum(axis=1)
        yield np.minimum(above.sum(axis=1), predicted.shape[1] - 1), predicted[j]


def share_missed(population, reduced, runs, tail=0.025, end=None):
    predicted, true, n = POPULATIONS[population]
    measure, options, settings, error = REDUCED[reduced]
    truth = error(np.abs(true - predicted) / len(predicted))  # no errors cancel within a bin
    missed = 0
    for label, prob in drawn(predicted, true, n, runs):
        interval = pose(label, prob, measure, options, **settings).honest()
        missed += (interval.high(tail) if end is None else end(interval, tail)) < truth - 1e-12
    return missed


def normal_high(interval, tail):
    """The planted fault: the estimate and z standard errors of its witness."""
    row = matrix(interval.table.sums) @ interval.witness(interval.theta)
    return interval.estimate + stats.norm.isf(tail) * row.std() / np.sqrt(row.size)


@pytest.mark.parametrize("reduced", REDUCED)
@pytest.mark.parametrize("population", POPULATIONS)
def test_the_high_end_misses_no_more_than_it_may(population, reduced):
    assert share_missed(population, reduced, 60) <= stats.binom.isf(1e-5, 60, 0.025)


def test_the_check_of_misses_can_fail():
    assert share_missed("rare classes", "max", 120, end=normal_high) > stats.binom.isf(1e-5, 120, 0.025)


@pytest.mark.slow
@pytest.mark.parametrize("tail", [0.1, 0.05, 0.025, 0.005])
@pytest.mark.parametrize("reduced", REDUCED)
@pytest.mark.parametrize("population", POPULATIONS)
def test_misses_in_many_runs(population, reduced, tail):
    assert share_missed(population, reduced, 1500, tail) <= stats.binom.isf(1e-5, 1500, 1.3 * tail)


@pytest.mark.parametrize(
    ("lens", "most_sums"), [("class_wise_mean", 2000), ("class_wise_mean", 20), ("class_wise_max", 2000)]
)
def test_an_interval_over_classes_takes_less_than_twice_the_memory_of_the_matrix(lens, most_sums, monkeypatch):
    """A copy in an order of its own, half of it for cells, which the test inside shares, and a block of resamples.

    The same of more sums than a matrix of their covariances is made of, as of a thousand classes.
    """
    monkeypatch.setattr(joint_moments, "MANY_SUMS", most_sums)
    monkeypatch.setattr("calibstat.resampling.vector_sums.BLOCK", 8)
    monkeypatch.setattr("calibstat.resampling.threads.LARGEST_PIECE", 2**18)
    made, make = [], ECE._class_cells
    monkeypatch.setattr(ECE, "_class_cells", lambda *given: made.append(0) or make(*given))
    random = np.random.default_rng(1)
    prob, label = random.dirichlet(np.ones(100), 4000), random.integers(0, 100, 4000)
    asked = {"lens": lens, "measure": "ece", "rng": 1, "n_resamples": 40}
    cs.confidence_interval(label.copy(), prob.copy(), **asked)  # compiles all kernels that the next call needs
    made.clear()
    tracemalloc.start()
    try:
        cs.confidence_interval(label, prob, **asked)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(made) == 1
    assert most < 2 * prob.nbytes
