"""Tables of rectified residuals: sums and moments beside plain numpy, and their bounds."""

import numpy as np
import pytest
from judged_by import judged_by
from plain_few_labels import guesses, high_of_ks, rectified, score_reach, sum_with_moments
from scipy.stats import norm

import calibstat as cs
from calibstat.bounds import rectified_table as tables
from calibstat.bounds.rectified_table import RectifiedRowTable, blocks
from calibstat.inference.designs.judged.rectified_interval import norm_problem
from calibstat.inference.designs.judged.rectified_rows import RectifiedRows, rectified_table
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws


def data(n=300, labels=100, seed=1):
    random = np.random.default_rng(seed)
    p = random.integers(1, 20, n) / 20
    y = (random.random(n) < p**1.3) * 1.0
    f = np.where(random.random(n) < 0.85, y, 1 - y)
    y[random.permutation(n)[labels:]] = np.nan
    return y, p, f


def parts(rows):
    return rows.outcome, rows.prediction, rows.guess.outcome, rows.labelled


def test_sums_and_moments_are_of_two_centred_samples():
    rows = judged_by(*data())
    x = rectified(*parts(rows))
    value, cell = np.unique(rows.prediction, return_inverse=True)
    table = rectified_table(rows, cell, value.size)
    assert np.allclose(rows.contribution, x, atol=1e-14)
    assert table.theta == pytest.approx(np.bincount(cell, x) / 100)
    for seed in range(3):
        w = np.random.default_rng(seed).uniform(-1, 1, value.size)
        assert table.moments.of(w)[:3] == pytest.approx(sum_with_moments(w[cell], x, rows.labelled))
    one_centre = np.sum(x**2) - np.sum(x) ** 2 / 300
    assert table.moments.of(np.ones(value.size)).variance != pytest.approx(one_centre, rel=1e-4)  # a planted fault


def test_the_spread_of_cells_with_few_labels_is_not_below_a_calibrated_one():
    rows = judged_by(*data())
    cell = (rows.prediction > 0.5) * 1 + (rows.prediction > 0.9)
    table = rectified_table(rows, cell, 3)
    x, g = rows.contribution, rows.guess.calibrated
    for k in range(3):
        _, variance, _ = sum_with_moments(cell == k, x, rows.labelled)
        chosen, labels = cell == k, rows.labelled & (cell == k)
        model = np.sum((g * (1 - g))[labels]) + np.sum((rows.rho * (g - rows.prediction))[chosen] ** 2)
        expected = max(variance, model) if labels.sum() < 30 else variance
        assert table.spread[k] == pytest.approx(np.sqrt(expected) / 100)
    assert table.full_cells == 3
    assert table.units_are_rows


def test_the_high_end_of_ks_is_the_largest_bound_of_any_prefix():
    y, p, f = data()
    result = cs.confidence_interval(y, p, judge=cs.Judge(f), measure="ks", rng=1)
    rows = judged_by(y, p, f)
    expected = high_of_ks(rectified(*parts(rows)), rows.prediction, rows.labelled, norm.ppf(0.975))
    assert result.high == pytest.approx(expected, rel=1e-9)
    guess = guesses(rows.outcome, rows.prediction, rows.proxy, rows.labelled)[0]
    expected = high_of_ks(rectified(*parts(rows)[:2], guess, rows.labelled), rows.prediction, rows.labelled, 1.959964)
    assert result.high == pytest.approx(expected, rel=1e-6)


def test_without_guesses_the_bounds_are_those_of_the_labels_alone():
    """A judge that says nothing: other rows add 0, and every end is the end of the labelled rows."""
    y, p, _ = data()
    for measure in ("ks", "kuiper", "kernel_ce", "smooth_ce", "two_bin_ce"):
        result = cs.confidence_interval(y, p, judge=cs.Judge(np.full(300, 0.5)), measure=measure, rng=1)
        assert result.estimate == pytest.approx(result.rows.labels_only.estimate)
        of_square = 0.01 if measure == "kernel_ce" else 1e-9  # its square is centred over all rows
        assert result.high == pytest.approx(result.rows.labels_only.high, rel=of_square)
        assert result.low == pytest.approx(result.rows.labels_only.low, abs=0.02)


def test_known_chances_have_one_centre_and_larger_parts():
    y, p, f = data()
    chance = np.where(f == 1, 0.45, 0.25)
    chance *= 100 / chance.sum()
    rows = judged_by(y, p, f, inclusion=chance)
    value, cell = np.unique(rows.prediction, return_inverse=True)
    table = rectified_table(rows, cell, value.size)
    x = rectified(*parts(rows), rows.chance)
    assert rows.contribution == pytest.approx(x)
    total, variance, *_ = table.moments.of(np.ones(value.size))
    assert total == pytest.approx(x.sum())
    assert variance == pytest.approx(np.sum((x - x.mean()) ** 2))
    tail_bound = table.moments.tail_bound(0.025)
    assert tail_bound.cap == pytest.approx(rows.rho / rows.chance.min())
    assert 1 < tail_bound.largest < tail_bound.cap
    most = [max(table.largest[cell == k]) ** 2 for k in range(value.size)]  # of the rows of a cell
    assert table.moments.samples[0].largest_square == pytest.approx(most)
    assert min(most) > 1
    w = np.random.default_rng(1).uniform(-1, 1, value.size)
    assert abs(table.moments.of(w).total) < table.moments.absolute_sum_bound(tail_bound)


def test_equal_chances_say_nearly_what_a_random_subset_says():
    y, p, f = data(1500, 300)
    by_chance = cs.confidence_interval(y, p, judge=cs.Judge(f, inclusion=np.full(1500, 0.2)), measure="ks", rng=1)
    subset = cs.confidence_interval(y, p, judge=cs.Judge(f), measure="ks", rng=1)
    assert by_chance.estimate == pytest.approx(subset.estimate)
    assert by_chance.high == pytest.approx(subset.high, rel=0.02)


def test_sums_of_clusters_are_of_all_their_rows():
    y, p, f = data()
    cluster = np.arange(300) // 3
    rows = judged_by(y, p, f, cluster=cluster)
    value, cell = np.unique(rows.prediction, return_inverse=True)
    table = rectified_table(rows, cell, value.size)
    assert not table.units_are_rows
    sums = np.bincount(rows.unit, rows.contribution)
    assert table.n == 100
    assert table.theta.sum() == pytest.approx(sums.sum() / 100)
    variance = np.sum((sums - sums.mean()) ** 2) * 100 / 99  # clusters of one size
    assert table.moments.of(np.ones(value.size)).variance == pytest.approx(variance)
    assert table.moments.tail_bound(0.025).cap == pytest.approx(
        np.bincount(rows.unit, np.where(rows.labelled, 1, 1 / 3)).max()
    )


def test_no_judge_beats_four_unseen_errors():
    """A perfect judge: the half-width is the part of errors that nobody saw, 3.9 / m."""
    random = np.random.default_rng(3)
    p = random.integers(1, 20, 4000) / 20
    truth = (random.random(4000) < p) * 1.0
    y = truth.copy()
    y[200:] = np.nan
    result = cs.confidence_interval(y, p, judge=cs.Judge(truth), measure="ks", rng=1)
    assert result.high - result.estimate > 3.7 / 200
    assert score_reach(0.0, 0.0, norm.ppf(0.975)) == pytest.approx(3.894, abs=0.01)


def test_one_sample_of_all_rows_has_the_same_sums_and_no_smaller_variance():
    rows = judged_by(*data())
    value, cell = np.unique(rows.prediction, return_inverse=True)
    two = rectified_table(rows, cell, value.size)
    one = RectifiedRowTable(
        cell, rows.contribution / rows.rho, rows.prediction, value.size, largest=3.0, standard_error=two.spread
    )
    assert one.theta == pytest.approx(two.theta)
    assert one.spread == pytest.approx(two.spread)
    for seed in range(3):
        w = np.random.default_rng(seed).uniform(-1, 1, value.size)
        total, variance, *_ = one.moments.of(w)  # of 300 rows, of which each adds 3 times as much
        assert total / 3 == pytest.approx(two.moments.of(w).total)
        assert variance / 9 >= two.moments.of(w).variance - 1e-12
        assert variance / 9 == pytest.approx(two.moments.of(w).variance, rel=0.1)
    z = one.tail_bound(0.025)
    assert (z.largest, z.cap) == (3.0, 3.0)
    assert float(z.reach(0.0, 0.0)) / one.n == pytest.approx(score_reach(0.0, 0.0, norm.ppf(0.975)) / 100)


# --- resamples: both samples by themselves, with the right spread, a part like the whole ------------------------------


Y, P = cs.generators.temperature(1.5).sample(400, rng=1)
P = np.round(P, 1)
F = np.where(np.random.default_rng(1).random(400) < 0.85, Y, 1 - Y)
Y = np.where(np.arange(400) < 100, Y, np.nan)


def table_of(**more):
    rows = judged_by(Y, P, F, **more)
    value, cell = np.unique(rows.prediction, return_inverse=True)
    return rectified_table(rows, cell, value.size)


@pytest.mark.parametrize("more", [{}, {"cluster": np.arange(400) % 130}, {"inclusion": np.full(400, 0.25)}])
def test_resamples_spread_as_the_moments_say(more):
    """The variance of a weighted sum of 4000 resamples, within 5 standard errors (.11) of the one of the moments."""
    of = table_of(**more)
    w = np.random.default_rng(2).uniform(-1, 1, of.cells)
    drawn = of.resampled(lambda theta: theta @ w, Draws.of(1, 4000))
    assert drawn.mean() == pytest.approx(of.theta @ w, abs=5 * drawn.std() / 4000**0.5)
    assert drawn.var() * of.n**2 == pytest.approx(of.moments.of(w).variance, rel=0.12)


def test_a_planted_fault_is_seen():
    """Resamples of labelled rows alone spread less than the moments say."""
    of = table_of()
    w = np.random.default_rng(2).uniform(-1, 1, of.cells)
    drawn = of.samples[0].resampled(lambda theta: theta @ w, Draws.of(1, 4000))
    assert abs(drawn.var() * of.n**2 / of.moments.of(w).variance - 1) > 0.005
    twice = of.resampled(lambda theta: 2 * (theta @ w), Draws.of(1, 4000))
    assert abs(twice.var() * of.n**2 / of.moments.of(w).variance - 1) > 0.12


def test_blocks_do_not_show(monkeypatch):
    of = table_of()
    whole = of.resampled(lambda theta: theta, Draws.of(1, 50))
    monkeypatch.setattr(tables, "HELD", 7 * of.cells)
    assert blocks(50, of.cells)[:2] == [(0, 7), (7, 14)]
    assert np.array_equal(of.resampled(lambda theta: theta, Draws.of(1, 50)), whole)
    assert np.array_equal(of.resampled(lambda theta: theta, Draws.of(1, 50, 2)), whole)


@pytest.mark.parametrize("measure", ["ks", "kernel_ce", "smooth_ce", "ece"])
def test_norms_of_many_are_the_norms_of_each(measure):
    rows = judged_by(Y, P, F)
    posed = RectifiedRows.of(norm_problem(rows, find_measure(measure, {})), rows)
    theta = np.random.default_rng(1).standard_normal((5, posed.cells))
    each = [float(posed.interval.norm.value(one)) for one in theta]
    norm = posed.interval.norm
    assert posed._norms(theta) == pytest.approx(each)
    moved = posed.table.moved(norm.value, norm.one_pass, posed.interval.theta, 2.0, Draws.of(1, 20))
    origin = posed.interval.theta
    plain = posed.table.resampled(
        lambda theta: np.array([posed.interval.norm.value(2 * one - origin) for one in theta]), Draws.of(1, 20)
    )
    assert moved == pytest.approx(plain)
