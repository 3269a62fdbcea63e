"""The mean and the maximum over classes of a binary seminorm: ends against those of the classes, and coverage."""

import numpy as np
import pytest
from hypothesis import given
from multiclass_populations import POPULATIONS, PROB, WEIGHT, misses, most_misses
from vector_strategies import vectors

import calibstat as cs
from calibstat.measures import KS, KernelCE

SEMINORMS = [KS(), KernelCE(), cs.measures.Kuiper()]
REDUCE = {"mean": np.mean, "max": np.max}


@pytest.mark.parametrize("measure", SEMINORMS, ids=str)
@pytest.mark.parametrize("reduce", REDUCE)
@given(vectors(max_size=12))
def test_the_high_end_is_that_of_the_classes(measure, reduce, drawn):
    prob, label = drawn
    interval = measure.interval_over_classes(cs.Predictions.from_rows(label, prob), reduce)
    binary = [measure.interval(cs.Sample.from_rows(label == k, prob[:, k])) for k in range(prob.shape[1])]
    assert interval.estimate == pytest.approx(REDUCE[reduce]([one.estimate for one in binary]))
    assert interval.high(0.025) == pytest.approx(REDUCE[reduce]([one.high(0.025) for one in binary]))


@pytest.mark.parametrize("measure", SEMINORMS, ids=str)
@pytest.mark.parametrize("reduce", REDUCE)
def test_the_directional_bootstrap_is_of_resampled_rows(measure, reduce):
    """(N(t + 20 (t* - t)) - N(t)) / 20, N over all classes, by evaluating the binary measure at each class."""
    rng = np.random.default_rng(4)
    prob, label, rows = PROB[rng.integers(0, 4, 80)], rng.integers(0, 3, 80), rng.integers(0, 80, 80)
    interval, step = measure.interval_over_classes(cs.Predictions.from_rows(label, prob), reduce), 20
    moved, still, thetas = [], [], []
    for k in range(3):
        value = np.unique(prob[:, k])
        at = np.searchsorted(value, prob[:, k])
        residual = (label == k) - prob[:, k]
        theta, drawn = np.bincount(at, residual) / 80, np.bincount(at[rows], residual[rows], value.size) / 80
        moved.append(measure.norm(value, theta + step * (drawn - theta)))
        still.append(measure.norm(value, theta))
        thetas.append(drawn)
    wanted = (REDUCE[reduce](moved) - REDUCE[reduce](still)) / step
    assert interval.directional(thetas) == pytest.approx(wanted)


def truth(measure, reduce, chance):
    found = []
    for k in range(3):
        value, at = np.unique(PROB[:, k], return_inverse=True)
        found.append(measure.norm(value, np.bincount(at, WEIGHT * (chance - PROB)[:, k])))
    return REDUCE[reduce](found)


FEW = [("mean", "calibrated", 50), ("mean", "rare", 50), ("max", "over-confident", 50), ("max", "rivals", 50)]
MANY = [pytest.param(reduce, name, 200, marks=pytest.mark.slow) for reduce in REDUCE for name in POPULATIONS]


@pytest.mark.parametrize(("reduce", "name", "runs"), FEW + MANY)
def test_intervals_cover(reduce, name, runs):
    chance, settings = POPULATIONS[name], {"measure": "ks", "lens": f"class_wise_{reduce}"}
    assert misses(chance, truth(KS(), reduce, chance), runs, 150, **settings) <= most_misses(runs)


def test_percentile_intervals_do_not():
    settings = {"method": "percentile", "measure": "ks", "lens": "class_wise_max"}
    assert misses(PROB, 0.0, 50, 150, **settings) > most_misses(50)


def test_one_class_is_enough():
    """Of two classes both have the same residuals but for the sign: mean and maximum are the binary interval's."""
    rng = np.random.default_rng(5)
    p = rng.random(60).round(1)
    y = (rng.random(60) < p).astype(int)
    binary = KernelCE().interval(cs.Sample.from_rows(y, p)).high(0.025)
    for reduce in REDUCE:
        high = KernelCE().interval_over_classes(cs.Predictions.from_rows(y, np.c_[1 - p, p]), reduce).high(0.025)
        assert high == pytest.approx(binary, rel=1e-6)
