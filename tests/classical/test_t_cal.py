"""T-Cal against its definition over pairs, and its exactness, both as a fact about tables and on data."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number
from row_strategies import weighted_rows
from scipy import stats

import calibstat as cs
from calibstat.classical.t_cal import ranks, t_cal
from calibstat.resampling import Draws, Labels, Stream, draw, key_of


def over_pairs(y, p, bins):
    """Products of residuals of different rows of a bin, over the rows of the bin, summed and divided by n."""
    cell = bin_number(p, bins)
    same = (cell[:, None] == cell) & ~np.eye(p.size, dtype=bool)
    return np.sum(np.outer(y - p, y - p) * same / np.bincount(cell)[cell][:, None]) / p.size


@given(weighted_rows())
def test_statistics_against_pairs(data):
    y, p, weight = data
    rows_y, rows_p = np.repeat(y, weight), np.repeat(p, weight)
    if weight.sum() < 2:
        with pytest.raises(ValueError, match="at least two rows"):
            t_cal(rows_y, rows_p)
        return
    found = t_cal(cs.Sample.from_rows(y, p, weight), n_bins=[1, 2, 7], n_resamples=1, rng=0)
    expected = [over_pairs(rows_y, rows_p, bins) for bins in (1, 2, 7)]
    assert found.squared_error == pytest.approx(expected, abs=1e-13)


def test_by_hand():
    # one bin: residuals .5, .5, -.5; products of pairs .25, -.25, -.25, each twice, over 3 rows, over n = 3
    found = t_cal([1, 1, 0], [0.5, 0.5, 0.5], n_bins=[1], rng=0)
    assert found.squared_error == pytest.approx([-0.5 / 9])


def test_default_scales_are_those_of_the_paper():
    y, p = cs.generators.calibrated().sample(1000, rng=1)
    # 2 log2(1000 / sqrt(log 1000)) = 17.14
    assert t_cal(y, p, n_resamples=9, rng=0).n_bins.tolist() == [2**b for b in range(1, 18)]
    # tenths: sixteenths are the first to separate them all
    assert t_cal(y, np.round(p, 1), n_resamples=9, rng=0).n_bins.tolist() == [2, 4, 8, 16]
    assert t_cal([0, 1], [0.3, 0.4], n_resamples=9, rng=0).n_bins.tolist() == [2, 4]


def test_pvalue_from_its_definition():
    y, p = cs.generators.temperature(1.3).sample(300, rng=2)
    found = t_cal(y, p, n_bins=[2, 8, 32], n_resamples=49, rng=3)
    sample = cs.Sample.from_rows(y, p)
    rows = [(y, p)]
    draw(sample, Labels(), lambda v, c, a: rows.append((a.copy(), v)) or 0, Draws(key_of(3), 49), Stream.LABELS)
    table = np.array([[over_pairs(*row, bins) for bins in (2, 8, 32)] for row in rows])
    share = np.array([[np.mean(table[:, k] >= t - 1e-13) for k, t in enumerate(row)] for row in table])
    smallest = share.min(axis=1)
    assert found.scale_pvalue == pytest.approx(share[0])
    assert found.statistic == pytest.approx(smallest[0])
    assert found.null_distribution == pytest.approx(smallest[1:])
    assert found.pvalue == pytest.approx(np.mean(smallest <= smallest[0] + 1e-13))


@given(st.lists(st.lists(st.sampled_from([0.0, 0.1, 0.5, 1.0]), min_size=3, max_size=3), min_size=1, max_size=40))
def test_exact_whichever_row_is_the_data(table):
    # under the null hypothesis every row is as likely to be the data, so P(p <= a) is a mean over the rows
    pvalue = ranks(-ranks(np.array(table)).min(axis=1)[:, None])[:, 0]
    for a in pvalue:
        assert np.mean(pvalue <= a) <= a + 1e-12


def test_the_smallest_p_itself_is_not_exact():
    smallest = ranks(np.random.default_rng(4).random((200, 5))).min(axis=1)
    assert np.mean(smallest <= 0.05) > 0.15


def within_level(pvalue, level):
    """Whether a test of this level may reject so often: false alarm below 1e-5."""
    return np.count_nonzero(pvalue <= level) <= stats.binom.ppf(1 - 1e-5, pvalue.size, level)


def on_calibrated_data(runs, n, seed, **options):
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        v = np.round(rng.beta(0.5, 0.5, n), 2)
        found.append(t_cal(rng.random(n) < v, v, n_resamples=19, rng=rng, **options))
    return found


def test_level():
    found = on_calibrated_data(500, 30, 5)
    pvalue, smallest = np.array([each.pvalue for each in found]), np.array([each.statistic for each in found])
    for level in (0.05, 0.1, 0.2, 0.5):
        assert within_level(pvalue, level)
        assert not within_level(smallest, level)  # the planted fault: no allowance for there being several scales


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 20, 200])
def test_level_in_many_runs(n):
    pvalue = np.array([each.pvalue for each in on_calibrated_data(3000, n, n)])
    assert all(within_level(pvalue, level) for level in (0.05, 0.1, 0.25, 0.5))


def test_power_at_its_scales():
    y, p = cs.generators.high_frequency(8, 0.3).sample(2000, rng=6)
    assert t_cal(y, p, rng=0).pvalue <= 0.02
    y, p = cs.generators.shift(0.4).sample(2000, rng=6)
    assert t_cal(y, p, rng=0).pvalue <= 0.02


def test_the_smallest_pvalue_that_one_scale_alone_can_have():
    # the data come first at one scale of three; of the others, one comes first at each of the other two
    table = np.array([[9.0, 0, 0], [0, 9, 0], [0, 0, 9], [1, 1, 1], [2, 2, 2], [3, 3, 3]])
    assert ranks(-ranks(table).min(axis=1)[:, None])[0, 0] == pytest.approx(3 / 6)


def test_the_same_numbers_on_any_number_of_threads():
    y, p = cs.generators.calibrated().sample(500, rng=7)
    one, two = t_cal(y, p, n_resamples=130, rng=1), t_cal(y, p, n_resamples=130, rng=1, n_jobs=2)
    assert one.to_dict() == two.to_dict()


def test_result():
    y, p = cs.generators.calibrated().sample(200, rng=8)
    found = t_cal(y, p, n_bins=(2, 4), n_resamples=99, rng=1)
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()
    assert str(found).startswith("T-Cal over 2 scales of 2 to 4 bins, event: outcome 1, n = 200: p = ")
    assert "its predicted probability (exact)." in str(found)
    assert not found.null_distribution.flags.writeable


@pytest.mark.parametrize("n_bins", [[], 5, [2, 0], [2.5], [True], "cube_root"])
def test_bad_scales(n_bins):
    with pytest.raises(ValueError, match="n_bins to be a sequence of whole numbers"):
        t_cal([0, 1], [0.3, 0.4], n_bins=n_bins)


def test_bad_arguments():
    with pytest.raises(ValueError, match="n_resamples"):
        t_cal([0, 1], [0.3, 0.4], n_resamples=0)
    with pytest.raises(ValueError, match="whole-number counts"):
        t_cal(cs.Sample.from_counts([0.2, 0.7], [1.5, 2.5], [0.5, 1]))
