"""Weighted sums of absolute residuals: the high end against the bounds of all signs, and the intervals of `gce`."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from multiclass_populations import POPULATIONS, PROB, WEIGHT, drawn, misses, most_misses
from vector_strategies import vectors

import calibstat as cs
from calibstat.bounds import weighted_sums_interval
from calibstat.bounds.tail_bound import ROOT_SLOPES, TailBound
from calibstat.measures import GCE

OPTIONS = [
    {},
    {"class_conditional": False},
    {"max_prob": True, "class_conditional": False},
    {"max_prob": True},
    {"binning": "adaptive"},
    {"threshold": 0.3},
]


def interval_of(prob, label, **options):
    return GCE(n_bins=2, **options).interval(cs.Predictions.from_rows(label, prob, labels=range(prob.shape[1])))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(drawn=vectors(max_size=12), many=st.sampled_from([2000, 0]))
def test_the_high_end_is_above_the_bound_of_all_signs(options, drawn, many):
    prob, label = drawn
    interval, n = interval_of(prob, label, **options), label.size
    assert interval.estimate == pytest.approx(GCE(n_bins=2, **options).evaluate(prob, label))
    residual = np.eye(prob.shape[1])[label] - prob
    part = np.zeros((n, interval.weight.size))
    for i, k in product(range(n), range(prob.shape[1])):
        part[i, interval.sums.index[i, k]] += interval.weight[interval.sums.index[i, k]] * residual[i, k]
    assert n * interval.theta * interval.weight == pytest.approx(part.sum(axis=0))
    tail_bound, row = TailBound.of_rows(0.025).times(interval.largest), part @ np.where(interval.theta < 0, -1, 1)
    assert (np.abs(part).sum(axis=1) <= interval.largest + 1e-12).all()
    rate = 0.0 if np.abs(interval.theta).min() < 1e-9 else tail_bound.rate((row - row.mean()) @ row, (row**3).sum())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(weighted_sums_interval, "MANY_CELLS", many)
        high = n * interval.high(0.025)
    for signs in product([-1, 1], repeat=min(part.shape[1], 9)):
        row = part @ np.resize(signs, part.shape[1])
        spread = np.sqrt(max((row**2).sum() - row.sum() ** 2 / n, 0.0))
        assert high >= row.sum() + tail_bound.widen(tail_bound.z * spread, rate) - 1e-9


@pytest.mark.parametrize("options", [{}, {"binning": "adaptive"}], ids=str)
@pytest.mark.parametrize("name", ["calibrated", "rivals"])
def test_the_high_end_by_loops_over_signs(options, name):
    """For each slope of a line above the root, each sum by itself keeps its sign or turns it, whichever is larger."""
    prob, label = drawn(POPULATIONS[name], 40, np.random.default_rng(0))
    interval = interval_of(prob, label, **options)
    part, residual = np.zeros((40, interval.weight.size)), np.eye(prob.shape[1])[label] - prob
    for i, k in product(range(40), range(prob.shape[1])):
        part[i, interval.sums.index[i, k]] += interval.weight[interval.sums.index[i, k]] * residual[i, k]
    tail_bound, sums = TailBound.of_rows(0.025).times(interval.largest), part.sum(axis=0)
    signed = part * np.where(sums < 0, -1, 1)
    products, most = signed.T @ signed, (np.abs(part).sum(axis=1) ** 2).sum()
    found = [(tail_bound.z * np.sqrt(most), 0)]  # an excess, and how many signs it turns
    for slope in tail_bound.z * ROOT_SLOPES / (2 * np.sqrt(most)):
        excess, turns = slope * products.sum() + tail_bound.z**2 / (4 * slope), 0
        for own, size in zip(products, np.abs(sums), strict=True):
            turned = 2 * (2 * slope * (np.abs(own) - own).sum() - size)  # by a step of 2
            excess, turns = excess + max(turned, 0.0), turns + (turned > 0)
        found.append((excess, turns))
    excess, turns = min(found)
    assert turns > 0
    row = signed.sum(axis=1)
    wanted = row.sum() + tail_bound.widen(excess, tail_bound.rate(((row - row.mean()) ** 2).sum(), (row**3).sum()))
    assert interval.high(0.025) * 40 == pytest.approx(wanted, rel=1e-9)


def test_no_event_leaves_room_for_some():
    """The predicted class is always right: one residual of at most 1 a row, so that the reach is k = 3.894."""
    interval = interval_of(np.eye(3)[np.zeros(200, int)], np.zeros(200, int), max_prob=True, class_conditional=False)
    assert interval.high(0.025) == pytest.approx(3.894 / 200, rel=1e-3)


def test_one_bin_is_the_score_bound():
    """The sum of all top-label residuals, without a sign to choose."""
    prob, label = drawn(POPULATIONS["over-confident"], 300, np.random.default_rng(0))
    row = (prob.argmax(axis=1) == label) - prob.max(axis=1)
    tail_bound, variance = TailBound.of_rows(0.025), (row**2).sum() - row.sum() ** 2 / 300
    interval = GCE(n_bins=1, max_prob=True, class_conditional=False).interval(cs.Predictions.from_rows(label, prob))
    wanted = abs(row.sum()) + tail_bound.reach(variance, np.sign(row.sum()) * (row**3).sum())
    assert wanted < interval.high(0.025) * 300 < 1.02 * wanted  # its variance is not centred


def truth(chance, **options):
    """Over the bins of all atoms: kept probabilities of a class have weight 1 / K of its share."""
    label = np.zeros(4, int)
    interval = interval_of(PROB, label, **options)
    share, sums = np.zeros((2, interval.weight.size))
    for i, k in product(range(4), range(3)):
        share[interval.sums.index[i, k]] += WEIGHT[i]
        sums[interval.sums.index[i, k]] += WEIGHT[i] * (chance - PROB)[i, k]
    groups = 3 if options.get("class_conditional", True) else 1
    by_group = (np.abs(sums[:-1]).reshape(groups, -1).sum(axis=1), share[:-1].reshape(groups, -1).sum(axis=1))
    return float(np.mean(by_group[0] / by_group[1]))


@pytest.mark.parametrize("options", OPTIONS[1:3], ids=str)
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_cover(options, name):
    chance = POPULATIONS[name]
    found = misses(chance, truth(chance, **options), 50, 150, measure="gce", n_bins=2, **options)
    assert found <= most_misses(50)


def test_percentile_intervals_do_not():
    assert misses(PROB, 0.0, 50, 150, method="percentile", measure="gce", n_bins=2) > most_misses(50)


def test_what_depends_on_the_rows_is_said():
    rows = {"measure": "gce", "n_bins": 2, "n_resamples": 9, "rng": 0}
    prob, label = drawn(PROB, 60, np.random.default_rng(1))
    for options in OPTIONS:
        found = cs.confidence_interval(label, prob, **rows, **options)
        held = "binning" in options or "threshold" in options or options == {"max_prob": True}
        assert ("over the cells that these rows make" in found.estimand) == held


def test_none_of_the_l2_error_and_of_rows_alone_in_their_bins():
    prob, label = np.random.default_rng(2).dirichlet(np.ones(3), 60), np.zeros(60, int)
    with pytest.raises(ValueError, match="no honest interval is known for gce"):
        cs.confidence_interval(label, prob, measure="gce", norm="l2")
    with pytest.raises(ValueError, match="where most rows are alone in their cell"):
        cs.confidence_interval(label, prob, measure="gce", n_bins=None)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_the_rate_is_of_the_moments_of_rows(options, monkeypatch):
    """The variance is the sum of squared deviations from the mean row, by a loop."""
    prob, label = drawn(POPULATIONS["over-confident"], 60, np.random.default_rng(2))
    interval, seen, rate = interval_of(prob, label, **options), [], TailBound.rate
    residual, sign = np.eye(prob.shape[1])[label] - prob, np.where(interval.theta < 0, -1, 1)
    weight = (interval.weight * sign)[interval.sums.index]
    row = [sum(weight[i, k] * residual[i, k] for k in range(prob.shape[1])) for i in range(60)]
    monkeypatch.setattr(TailBound, "rate", lambda *given: seen.append(given[1:]) or rate(*given))
    interval.high(0.025)
    squares, cubes = sum((each - np.mean(row)) ** 2 for each in row), sum(each**3 for each in row)
    assert seen[0][0] == pytest.approx(squares, rel=1e-9)
    assert seen[0][1] == pytest.approx(max(cubes, 0), rel=1e-3)  # and what rows of two kinds take from each other
