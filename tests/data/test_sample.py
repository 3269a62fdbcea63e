"""Samples: what rows are summarised to, weights, and counts that are refused."""

import numpy as np
import pytest
from compared_samples import arrays, same
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.data.sample import LARGEST_COUNT, as_sample, need_counts

Y, P = [1, 0, 1, 1], [0.8, 0.3, 0.8, 0.3]


def plain_summary(y, p):
    values = sorted({float(v) + 0.0 for v in p})
    return [values, [sum(p == v) for v in values], [sum(y[p == v]) for v in values]]


# --- what is summarised ----------------------------------------------------------------------------------------------


@given(rows())
def test_summary_is_the_table_of_distinct_predictions(data):
    sample = cs.Sample.from_rows(*data)
    assert arrays(sample) == plain_summary(*data)
    assert sample.kind == "counts"
    assert sample.n == data[0].size
    assert all(a.dtype == np.float64 and a.flags.c_contiguous and a.flags.writeable for a in sample.arrays)


@given(weighted_rows(), st.randoms())
def test_weights_order_and_merging(data, random):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    repeated = cs.Sample.from_rows(np.repeat(y, weight), np.repeat(p, weight))
    assert arrays(sample) == arrays(repeated)
    assert sample.n_zero_weight == np.sum(weight == 0)
    order = random.sample(range(y.size), y.size)
    assert same(cs.Sample.from_rows(y[order], p[order], weight[order]), sample)
    assert same(cs.Sample.from_counts(p, weight, weight * y), sample)
    cut = y.size // 2
    if weight[:cut].any() and weight[cut:].any():
        parts = [cs.Sample.from_rows(y[part], p[part], weight[part]) for part in (slice(cut), slice(cut, None))]
        assert same(parts[0] + parts[1], sample)
        assert same(parts[1] + parts[0], sample)


EXTREME = [1e308, 1.7e308, 1e200, 1e-200, 1e-307, 2e-320]


@pytest.mark.parametrize("scale", EXTREME)
@pytest.mark.parametrize("measure", ["ece", "ks", "brier", "smooth_ce", "kernel_ce", "mcb", "smooth_ece", "log_loss"])
def test_weights_whose_sum_is_no_number_count_relative_to_the_largest(measure, scale):
    # residuals -.2 and .3, half of the weight each: ece .25; the first partial sum, -.1; squares .04 and .09: .065
    by_hand = {"ece": 0.25, "ks": 0.1, "brier": 0.065}
    y, p = [0, 1, 1, 0], [0.2, 0.7, 0.7, 0.2]
    small = 0.5 if scale > 1 else 0  # no whole number of rows
    found = cs.estimate(y, p, sample_weight=[scale, scale / 2, scale / 2, small], measure=measure)
    assert found == pytest.approx(cs.estimate(y[:2], p[:2], measure=measure), rel=1e-3)
    assert found == pytest.approx(by_hand.get(measure, found), rel=1e-3)
    one = cs.estimate([1], [0.25], sample_weight=[5e-324], measure=measure)
    assert one == pytest.approx(cs.estimate([1], [0.25], measure=measure))


def test_the_unit_of_extreme_weights():
    sample = cs.Sample.from_rows([0, 1, 1], [0.2, 0.7, 0.7], [1e308, 1e308, 0.5])
    assert (sample.kind, sample.unit, sample.n) == ("weights", 1e308, 2)
    assert repr(sample) == "Sample(total weight 2 times 1e+308, 1 positive, 2 distinct predictions from 0.2 to 0.7)"
    assert same(cs.Sample.from_counts([0.2, 0.7, 0.7], [1e308, 1e308, 0.5], [0, 1e308, 0.5]), sample)
    both = sample + sample
    assert (both.count.tolist(), both.unit) == ([2, 2], 1e308)
    mixed = sample + cs.Sample.from_rows([1, 1], [0.2, 0.2], [5e307, 0.5])
    assert mixed.count.tolist() == [1.5, 1]
    assert cs.estimate(mixed, measure="ece", n_bins=1) == pytest.approx(abs(1.5 / 2.5 - 1 / 2.5))
    usual = cs.Sample.from_rows([0, 1, 1], [0.2, 0.7, 0.7], [0.1, 0.3, 0.5])
    assert (usual.unit, usual.count.tolist()) == (1, [0.1, 0.8])


def test_a_sum_of_extreme_weights_has_no_more_positives_than_rows():
    rng = np.random.default_rng(0)
    for scale in 10.0 ** rng.uniform(160, 300, 50):
        large = cs.Sample.from_rows([1, 1], [0.2, 0.7], [scale, 0.5])
        small = cs.Sample.from_rows([1, 1], [0.3, 0.8], rng.random(2))
        both = large + small
        assert np.array_equal(both.positives, both.count)  # every outcome is 1


def test_weights_too_far_apart():
    for weight in ([1e308, 5e-324], [5e-324, 1.5e308]):
        with pytest.raises(ValueError, match="within a factor of 1e308 of each other"):
            cs.Sample.from_rows([0, 1], [0.2, 0.7], weight)
    with pytest.raises(ValueError, match="within a factor of 1e308 of each other"):
        cs.Sample.from_rows([0, 0], [0.2, 0.2], [1.5e308, 0.5]) + cs.Sample.from_rows([1], [0.3], [5e-324])
    with pytest.raises(ValueError, match=r"at most 2\*\*53 rows, found inf"):
        cs.Sample.from_rows([0, 1], [0.2, 0.7], [1e308, 1e308])


def test_order_cannot_show_in_sums_of_real_weights():
    rng = np.random.default_rng(0)
    y, p, weight = rng.integers(0, 2, 99), rng.integers(0, 5, 99) / 4, rng.random(99)
    first = cs.Sample.from_rows(y, p, weight)
    order = rng.permutation(99)
    assert same(cs.Sample.from_rows(y[order], p[order], weight[order]), first)
    assert first.kind == "weights"
    with pytest.raises(ValueError, match="calibration_test needs whole-number counts"):
        need_counts(first, "calibration_test")


def test_minus_zero_is_zero():
    for sample in (cs.Sample.from_rows([0, 1], [-0.0, 0.0]), cs.Sample.from_rows([0, 1], [-0.0, 0.0], [1, 1])):
        assert arrays(sample) == [[0.0], [2.0], [1.0]]
        assert not np.signbit(sample.value[0])


def test_neighbouring_floats_stay_apart():
    assert cs.Sample.from_rows([0, 1], [0.5, np.nextafter(0.5, 1)]).value.size == 2
    assert cs.Sample.from_rows([0, 1], [0.0, 5e-324]).value.size == 2


def test_residual_and_repr():
    sample = cs.Sample.from_rows(Y, P)
    assert sample.residual == pytest.approx([(1 - 0.6) / 4, (2 - 1.6) / 4])
    assert repr(sample) == "Sample(4 rows, 3 positive, 2 distinct predictions from 0.3 to 0.8)"
    assert repr(cs.Sample.from_rows([1, 0], [0.5, 0.2], [0.5, 0])) == (
        "Sample(total weight 0.5, 0.5 positive, 1 distinct prediction, 0.5, 1 rows of weight 0 left out)"
    )
    with pytest.raises(TypeError):
        sample + 1


def test_counts_up_to_2_to_the_53():
    assert cs.Sample.from_counts([0.5], [LARGEST_COUNT], [1]).n == 2**53
    with pytest.raises(ValueError, match=r"at most 2\*\*53 rows"):
        cs.Sample.from_counts([0.25, 0.5], [LARGEST_COUNT, 2], [1, 1])


# --- what is refused, and how the message names it -------------------------------------------------------------------


def test_more_classes_are_not_supported_yet():
    with pytest.raises(ValueError, match=r"found 3 columns; .*Predictions\.from_rows.*lens="):
        cs.Sample.from_rows([0, 2], [[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]])


@pytest.mark.parametrize(("value", "count", "positives", "match"), [
    ([0.5, 1.5], [1, 1], [0, 0], "found 1.5 in value at row 1"),
    ([0.5, 0.6], [1, -1], [0, 0], "found -1.0 in count at row 1"),
    ([0.5, 0.6], [1, np.inf], [0, 0], "found inf in count at row 1"),
    ([0.5, 0.6], [1, 1], [0, 2], "found 2.0 in positives at row 1"),
    ([0.5, 0.6], [1, 1], [0], "found 2 values, 2 counts, 1 positives"),
    ([0.5], [0], [0], "expected at least one row of positive weight"),
])  # fmt: skip
def test_refused_counts(value, count, positives, match):
    with pytest.raises(ValueError, match=match):
        cs.Sample.from_counts(value, count, positives)


def test_a_sample_comes_alone():
    sample = cs.Sample.from_rows(Y, P)
    assert as_sample(sample) is sample
    for beside in ({"y_prob": P}, {"sample_weight": [1] * 4}, {"labels": [0, 1]}):
        with pytest.raises(ValueError, match="a Sample and further data beside it"):
            as_sample(sample, **beside)
        with pytest.raises(ValueError, match="a Sample and further data beside it"):
            cs.estimate(sample, **beside)
