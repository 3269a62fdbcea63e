"""Rectified residuals if calibrated: draws with the spread that they have, by clusters too; and the level."""

import numpy as np
import pytest
from judged_by import judged_by

import calibstat as cs
from calibstat.inference.designs.judged.rectified_interval import norm_problem
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows
from calibstat.inference.problems.calibrated_clusters import INDEPENDENT, SHARED, SIGNS
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws
from calibstat.study import most_rejections


def data(seed, n=600, labels=100, hit=0.9, ties=True):
    random = np.random.default_rng([6, seed])
    p = random.integers(1, 20, n) / 20 if ties else random.random(n)
    y = (random.random(n) < p) * 1.0
    f = np.where(random.random(n) < hit, y, 1 - y)
    return np.where(random.permutation(n) < labels, y, np.nan), p, f


def posed(y, p, f, measure="ece", **more):
    rows = judged_by(y, p, f, **more)
    return RectifiedRows.of(norm_problem(rows, find_measure(measure, {"n_bins": 1} if measure == "ece" else {})), rows)


@pytest.mark.parametrize("more", [{}, {"inclusion": np.full(600, 1 / 6)}])
def test_draws_spread_as_labels_and_guesses_do(more):
    """In one bin the statistic is the absolute mean x: E x**2 is the model's variance, over n**2; 5 standard errors."""
    of = posed(*data(1), **more)
    drawn = of.draw_labels(Draws.of(1, 4000))
    expected = of.table.model.sum() / 100**2
    assert (drawn**2).mean() == pytest.approx(expected, rel=5 * 2**0.5 / 4000**0.5)


def test_draws_spread_as_the_estimate_does_between_data_sets():
    """E x**2 of 300 calibrated data sets against the mean of what each says; both within .29, 3.5 standard errors."""
    squares, said = [], []
    for seed in range(300):
        of = posed(*data(seed))
        squares.append(of.statistic() ** 2)
        said.append(of.table.model.sum() / 100**2)
    assert np.mean(squares) == pytest.approx(np.mean(said), rel=0.29)
    of_labels = 0.1675 / 100  # the planted fault: without the judge, the mean p (1 - p) over m
    assert np.mean(squares) < 0.71 * of_labels


@pytest.mark.parametrize(("measure", "ties"), [("ks", True), ("kernel_ce", False), ("ece", True)])
def test_a_calibrated_model_is_rejected_as_seldom_as_is_studied(measure, ties):
    """120 data sets, asked at 10 %; the limit is of 12 %, as the test is studied, and a false alarm of 1e-4."""
    rejected = 0
    for seed in range(120):
        y, p, f = data(seed, ties=ties)
        asked = {"measure": measure, "method": "noise", "n_resamples": 99, "rng": seed}
        rejected += cs.calibration_test(y, p, judge=cs.Judge(f, blind=True), **asked).pvalue <= 0.1
    assert rejected <= most_rejections(0.12, 120, 1e-4)


def test_clusters_are_drawn_in_several_ways():
    y, p, f = data(1)
    cluster = np.arange(600) // 4
    of = posed(y, p, f, cluster=cluster)
    drawn = of.null_draws(Draws.of(1, 200))
    assert set(drawn) == {SIGNS, INDEPENDENT}
    assert of.table.units_are_rows is False
    together = np.where(np.nan_to_num(y) == 1, 0, np.arange(600))  # all events in one cluster
    few = posed(y, p, f, cluster=together)
    assert not few.rows.guess.is_used
    assert set(few.null_draws(Draws.of(1, 20))) == {SIGNS, INDEPENDENT, SHARED}


def test_other_rows_of_a_cluster_take_the_place_of_its_noise():
    """Copies on both sides: a perfect judge is worth nothing, and the spread of sums over clusters says so."""
    random = np.random.default_rng(3)
    p = np.repeat(random.random(120), 5)
    truth = np.repeat((random.random(120) < p[::5]) * 1.0, 5)
    y = np.where(np.arange(600) % 5 == 0, truth, np.nan)
    named = posed(y, p, truth, cluster=np.repeat(np.arange(120), 5)).table
    unnamed = posed(y, p, truth).table
    spread = [float(np.sqrt(each.moments.of(np.ones(1)).variance)) / each.n for each in (named, unnamed)]
    alone = np.std((truth - p)[::5]) / 120**0.5
    assert spread[0] == pytest.approx(alone, rel=0.2)
    assert spread[1] < 0.7 * alone  # the planted fault


def test_what_leaves_out_a_row_is_not_known():
    of = posed(*data(1))
    with pytest.raises(NotImplementedError, match="without one row"):
        of.jackknife()
    drawn = of.draw_pairs(Draws.of(1, 50))
    assert drawn.shape == (50,)
    assert drawn.mean() == pytest.approx(of.statistic(), abs=0.1)
