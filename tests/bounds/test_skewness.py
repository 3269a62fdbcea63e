"""Third moments of two kinds of rows and of unsure sums: by hand, without jumps, and in exact tables of counts."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import calibstat as cs
from calibstat.bounds import moments, skewness
from calibstat.bounds.skewness import Sums, cancelled, share_skewed_up, signs, skewed_signs
from calibstat.bounds.tail_bound import TailBound
from calibstat.measures.kinds.registry import find_measure


def test_the_share_of_a_row_by_hand():
    """1 up to .4, 0 from .6 on, and 1/2 at 1/2; with the other sign what is left."""
    v = np.array([0.0, 0.4, 0.45, 0.5, 0.6, 1.0])
    assert share_skewed_up(1 - 2 * v) == pytest.approx([1, 1, 0.75, 0.5, 0, 0])
    assert share_skewed_up(2 * v - 1) == pytest.approx(1 - share_skewed_up(1 - 2 * v))


def test_third_moments_that_cancel_by_hand():
    """3 of rare events and -2 of rare non-events are 1; upwards 3, and downwards 2."""
    sums = Sums(4.0, 9.0, 1.0, float(cancelled(3.0, -2.0)))
    assert (sums.up, sums.negative.up, sums.most) == (3, 2, 3)
    assert cancelled(3.0, 2.0) == 0
    assert sums.negative.negative == sums


@pytest.mark.parametrize(("total", "expected"), [(0.0, 3.0), (6.0, 3.0), (7.5, 2.5), (9.0, 2.0), (50.0, 2.0)])
def test_an_unsure_sum_takes_the_larger_third_moment(total, expected):
    """Up to two standard deviations, which are 6; from three on its own; in between what is between."""
    assert Sums(total, 9.0, -1.0, 2.0).up_if_unsure(1.96) == pytest.approx(expected)
    assert Sums(total, 9.0, -1.0, 2.0).up_if_unsure(4.0) == pytest.approx(max(min(3 - (total / 3 - 4), 3), 2))


def test_a_sum_of_zero_takes_the_sign_that_adds_variance():
    covariance = np.array([[1.0, -0.5, 0.0], [-0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert signs(np.array([1e-12, -3.0, -1e-12]), 10.0, lambda: covariance).tolist() == [1, -1, 1]
    assert signs(np.array([1e-12, 3.0, -1e-12]), 10.0, lambda: covariance).tolist() == [-1, 1, 1]
    assert signs(np.array([-1e-12, 3.0, -0.1]), 10.0).tolist() == [1, 1, -1]
    cube = np.array([-1.0, 1.0, 1e-12])
    found = skewed_signs(np.ones(3), np.array([1.0, 9.0, 0.0]), np.ones(3), cube, np.ones(3), 1.96)
    assert found.tolist() == [-1, 1, 1]


# --- ends do not jump -------------------------------------------------------------------------------------------------


def outcomes(n, events):
    return (np.arange(n) < events).astype(int)


def ends(y, p, **settings):
    found = cs.confidence_interval(y, p, n_resamples=19, rng=1, **settings)
    return found.low, found.high


ROWS = [(200, 0.5, 100), (1000, 0.01, 10), (300, 0.01, 3), (100, 0.3, 30), (60, 1 / 30, 2), (8, 0.5, 4), (4, 0.5, 2)]
MEASURES = ["ece", "two_bin_ce", "kernel_ce", "kernel_ce_squared", "ks", "kuiper", "smooth_ce"]
SLOWER = pytest.param("smooth_ece", ROWS[0], marks=pytest.mark.slow)


@pytest.mark.parametrize(("measure", "rows"), [*product(MEASURES, ROWS), SLOWER], ids=str)
def test_an_end_does_not_jump_where_a_prediction_moves_by_one_bit(measure, rows):
    n, v, events = rows
    y = outcomes(n, events)
    found = [ends(y, np.full(n, each), measure=measure) for each in (np.nextafter(v, 0), v, np.nextafter(v, 1))]
    assert np.ptp(found, axis=0) == pytest.approx([0, 0], abs=1e-8)
    assert found[0][1] > 1e-5


SHAPES = {
    "gaussian": {"measure": "kernel_ce", "kernel": "gaussian"},
    "clusters, ece": {"measure": "ece", "cluster": np.arange(120) // 2},
    "clusters, kernel": {"measure": "kernel_ce", "cluster": np.arange(120) // 2},
    "clusters, ks": {"measure": "ks", "cluster": np.arange(120) // 2},
    "weights, ece": {"measure": "ece", "sample_weight": np.tile([1.0, 3.0], 60)},
    "weights, kernel": {"measure": "kernel_ce", "sample_weight": np.tile([1.0, 3.0], 60)},
    "weights, ks": {"measure": "ks", "sample_weight": np.tile([1.0, 3.0], 60)},
    "mean": {"lens": "class_wise_mean"},
    "maximum": {"lens": "class_wise_max"},
    "grid": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 3},
    "euclidean": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 3, "distance": "l2"},
    "largest": {"measure": "canonical_ce", "strategy": "uniform", "n_bins": 3, "distance": "max"},
    "gce": {"measure": "gce"},
    "skce": {"measure": "skce"},
}


@pytest.mark.parametrize("name", SHAPES)
def test_nor_of_other_rows_and_measures(name):
    """Two predictions, one with a sum of 0 beside one that is off; of classes their probabilities."""
    y = np.concatenate([np.tile([1, 1, 0, 0], 15), np.repeat([1, 1, 0], 20)])
    found = []
    for v in (np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1)):
        p = np.repeat([v, 0.9], 60)
        shape = p if (y.size == 120 and "cluster" in SHAPES[name]) or "sample_weight" in SHAPES[name] else None
        binary = shape is not None or name == "gaussian"
        found.append(ends(y, p if binary else np.column_stack([1 - p, p]), **SHAPES[name]))
    assert np.ptp(found, axis=0) == pytest.approx([0, 0], abs=1e-8)


def test_of_two_tied_peaks_the_first_is_the_witness():
    """Sums of 1, 0, 1 over n: moved by one bit either way the first peak stays."""
    for v in (np.nextafter(0.5, 0), 0.5, np.nextafter(0.5, 1)):
        sample = cs.Sample.from_counts([0.25, v, 0.75], [4, 2, 4], [2, 0, 4])
        assert cs.detail(sample, measure="ks")["witness"].tolist() == [1, 0, 0]


def test_a_verdict_does_not_flip():
    y = outcomes(200, 100)
    predictions = [np.full(200, v) for v in (0.5, np.nextafter(0.5, 1))]
    found = [cs.equivalence_test(y, p, measure="ece", margin=0.05, rng=1) for p in predictions]
    assert found[0].pvalue == pytest.approx(found[1].pvalue, abs=1e-6)


# --- exact tables -----------------------------------------------------------------------------------------------------


def highs(measure, value, rows, positives, tail):
    samples = [cs.Sample.from_counts(value, rows, each) for each in positives]
    return np.array([measure.interval(sample).high(tail) for sample in samples])


def observed_sign(patch):
    """The planted fault of unsure signs: the third moment of the sign that was observed, and no floor."""
    patch.setattr(Sums, "up_if_unsure", lambda sums, z: sums.up)
    patch.setattr(TailBound, "of_either_sign", lambda tail_bound, sums: 0.0)


def all_in_one(patch):
    """The planted fault of two kinds: the third moment of all rows together."""
    patch.setattr(moments, "cancelled", lambda up, rest: np.zeros(np.shape(up)))


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize(("n", "v", "q"), [(60, 0.0333334, 0.0965), (100, 0.0300001, 0.0709)])
def test_one_prediction_of_rare_events_is_missed_as_seldom_as_nominal(n, v, q, mirrored):
    ece, k = find_measure("ece", {}), np.arange(12)
    chance = binom.pmf(k, n, q)
    given = ([1 - v], [n], [[n - each] for each in k]) if mirrored else ([v], [n], [[each] for each in k])
    assert chance @ (highs(ece, *given, 0.025) < q - v) <= 0.025
    with pytest.MonkeyPatch.context() as patch:
        observed_sign(patch)
        assert chance @ (highs(ece, *given, 0.025) < q - v) > 0.03


@pytest.mark.parametrize("name", ["ece", "ks"])
def test_rare_events_beside_rare_non_events(name):
    """1000 rows at .002 with the chance .011, and 1000 at .992 of .9988: at .025 %."""
    measure = find_measure(name, {"n_bins": 1} if name == "ece" else {})
    value, rows, mean = [0.002, 0.992], [1000, 1000], (11.07, 1.2) if name == "ece" else (8.47, 0.6)
    a, b = (part.ravel() for part in np.meshgrid(np.arange(6), np.arange(6), indexing="ij"))
    chance = binom.pmf(a, 1000, mean[0] / 1000) * binom.pmf(b, 1000, mean[1] / 1000)
    sums = np.array([mean[0] - 2, 8 - mean[1]]) / 2000
    truth = sums.sum()
    positives = np.column_stack([a, 1000 - b])
    assert chance @ (highs(measure, value, rows, positives, 0.00025) < truth) <= 1.2 * 0.00025
    with pytest.MonkeyPatch.context() as patch:
        all_in_one(patch)
        assert chance @ (highs(measure, value, rows, positives, 0.00025) < truth) > 2 * 0.00025


def test_mirrored_rows_have_the_same_end():
    """Outcomes and predictions reversed: a floor of one sign only would tell them apart."""
    p = np.repeat([0.02, 0.03, 0.5, 0.9], 50)
    y = np.concatenate([outcomes(50, 0), outcomes(50, 1), outcomes(50, 20), outcomes(50, 50)])
    for name in ("ece", "kuiper", "kernel_ce", "two_bin_ce"):
        found = [find_measure(name, {}).interval(cs.Sample.from_rows(*rows)) for rows in ((y, p), (1 - y, 1 - p))]
        one, other = (each.high(0.025) for each in found)
        assert one == pytest.approx(other, rel=1e-9)


def test_a_square_of_few_events_is_missed_as_seldom_as_nominal():
    """300 rows at 1/300, and 300 at 296/300 of which 10.5 have no event: without skewness .045 of .025 are missed."""
    measure = find_measure("kernel_ce", {"bandwidth": 0.2})
    value, rows, k = [1 / 300, 296 / 300], [300, 300], np.arange(10)
    theta = np.array([0.05 - 1, 4 - 10.5]) / 600
    truth = measure.norm(np.array(value), theta)
    chance = binom.pmf(k, 300, 0.035)
    found = highs(measure, value, rows, [[0, 300 - each] for each in k], 0.025)
    assert chance @ (found < truth) <= 1.2 * 0.025
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skewness, "SURE", 0.0)
        patch.setattr(TailBound, "of_either_sign", lambda tail_bound, sums: 0.0)
        patch.setattr(TailBound, "spreads", lambda tail_bound, variance, third: tail_bound.z)
        assert chance @ (highs(measure, value, rows, [[0, 300 - each] for each in k], 0.025) < truth) > 0.035
