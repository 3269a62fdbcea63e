import numpy as np
import pandas as pd
import pytest
from conftest import rows, weighted_rows
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.data.sample import LARGEST_COUNT, as_rows, as_sample, need_counts

Y, P = [1, 0, 1, 1], [0.8, 0.3, 0.8, 0.3]


def arrays(sample):
    return [a.tolist() for a in sample.arrays]


def same(a, b):
    return arrays(a) == arrays(b) and (a.kind, a.n_zero_weight) == (b.kind, b.n_zero_weight)


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


# --- what is accepted ------------------------------------------------------------------------------------------------


class OnlyDataframe:
    """What a data frame library offers that is not pandas."""

    def __init__(self, frame):
        self.frame = frame

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self.frame.__dataframe__(nan_as_null, allow_copy)


class OnlyArray:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.data, dtype)


READ_ONLY = np.array(P)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("y", [
    np.array(Y, np.int8), np.array(Y, np.uint64), np.array(Y, bool), np.array(Y, np.float32), np.array(Y)[:, None],
    np.array(Y, object), [True, False, 1, 1.0], pd.Series(Y, index=[3, 2, 1, 0]), pd.Series(Y, dtype="Int64"),
    pd.DataFrame({"y": Y}), OnlyDataframe(pd.DataFrame({"y": Y})), OnlyArray(Y), np.ma.masked_array(Y),
    np.repeat(Y, 2)[::2], np.array(Y, ">i8"),
])  # fmt: skip
@pytest.mark.parametrize("p", [
    P, np.array(P)[:, None], np.column_stack((1 - np.array(P), P)), np.array(P, object), np.array(P, ">f8"),
    pd.Series(P), pd.DataFrame({0: 1 - np.array(P), 1: P}), OnlyDataframe(pd.DataFrame({"p": P})), OnlyArray(P),
    READ_ONLY, np.asfortranarray(np.column_stack((1 - np.array(P), P))),
])  # fmt: skip
def test_accepted_forms(y, p):
    assert same(cs.Sample.from_rows(y, p), cs.Sample.from_rows(Y, P))
    outcomes, predictions = as_rows(y, p)
    for array in (outcomes, predictions):
        assert array.dtype in (np.float64, np.int64)
        assert array.dtype.isnative
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_half_precision_columns_may_sum_to_one_roughly():
    p = np.array([[0.7, 0.3]], np.float16)
    assert p.sum(dtype=float) != 1
    assert cs.Sample.from_rows([1], p).value[0] == p[0, 1]


@pytest.mark.parametrize("y", [
    ["a", "b", "a"], np.array(["a", "b", "a"], object), np.array([["a"], ["b"], ["a"]]), pd.Series(["a", "b", "a"]),
    pd.Series(["a", "b", "a"]).astype("category"),
])  # fmt: skip
def test_labels(y):
    p = [0.25, 0.5, 0.25]
    assert arrays(cs.Sample.from_rows(y, p, labels=["a", "b"])) == [[0.25, 0.5], [2, 1], [0, 1]]
    assert arrays(cs.Sample.from_rows(y, p, labels=["b", "a"])) == [[0.25, 0.5], [2, 1], [2, 0]]
    assert cs.estimate(y, p, labels=["a", "b"]) == cs.estimate([0, 1, 0], p)
    with pytest.raises(ValueError, match="expected outcomes 0 and 1, found 'a' at row 0 in y_true; name the two with"):
        cs.Sample.from_rows(y, p)


def test_an_absent_label_is_allowed():
    assert cs.Sample.from_rows(["a", "a"], [0.25, 0.5], labels=["a", "b"]).positives.tolist() == [0, 0]
    assert cs.Sample.from_rows([2, 1], [0.25, 0.5], labels=[1, 2]).positives.tolist() == [1, 0]


# --- what is refused, and how the message names it -------------------------------------------------------------------


@pytest.mark.parametrize(("y", "p", "options", "match"), [
    ([1, 0, 1], [0.5, np.nan, 2], {}, "expected a probability from 0 to 1, found nan in y_prob at row 1"),
    ([1, 0, 1], [0.5, 0.5, np.inf], {}, "found inf in y_prob at row 2"),
    ([1, 0, 1], [0.5, -0.1, 2], {}, "found -0.1 in y_prob at row 1"),
    ([1, 0], [0.5, 1.0000001], {}, "found 1.0000001 in y_prob at row 1"),
    ([1, 2, 3], [0.5, 0.5, 0.5], {}, "expected 0 or 1, found 2 in y_true at row 1"),
    ([1, 0.5], [0.5, 0.5], {}, "found 0.5 in y_true at row 1"),
    ([1, np.nan], [0.5, 0.5], {}, "found nan in y_true at row 1"),
    ([1, None], [0.5, 0.5], {}, "found None at row 1 in y_true"),
    (pd.Series([1, None], dtype="Int64"), [0.5, 0.5], {}, "found nan in y_true at row 1"),
    ([1, 0], [0.5, None], {}, "found nan in y_prob at row 1"),
    ([1, 0], ["0.5", "x"], {}, "expected numbers in y_prob, found 'x' at row 1"),
    ([1, 0], np.array([0.5, 0.5j]), {}, r"expected numbers in y_prob, found \(0.5\+0j\) at row 0"),
    ([0.2, 0.7], [0, 1], {}, r"expected \(y_true, y_prob\); they look swapped"),
    ([1, 0, 1], [0.5, 0.5], {}, "found 3 outcomes and 2 predictions"),
    ([], [], {}, "expected at least one row, found an empty y_prob"),
    ([], [0.5], {}, "expected at least one row, found an empty y_true"),
    ([1, 0], [[0.5, 0.5], [0.5, 0.6]], {}, "expected columns that sum to 1, found 1.1 in sums of y_prob at row 1"),
    ([1, 0], [[0.5, 0.5], [1.5, -0.5]], {}, r"expected probabilities .*, found \[ 1.5 -0.5\] in y_prob at row 1"),
    ([1, 0], [[0.5, 0.5], [np.nan, 0.5]], {}, "found .*nan.* in y_prob at row 1"),
    ([1, 0], [[["0.5"]]], {}, r"expected y_prob of shape \(n,\) or \(n, 1\), found shape \(1, 1, 1\)"),
    ([[1, 0]], [0.5, 0.5], {}, r"expected y_true of shape \(n,\) or \(n, 1\), found shape \(1, 2\)"),
    (1, 0.5, {}, r"shape \(n,\) or \(n, 1\), found shape \(\)"),
    (["a", "c"], [0.5, 0.5], {"labels": ["a", "b"]}, "found c in y_true at row 1"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a", "a"]}, "expected two different labels"),
    (["a", "b"], [0.5, 0.5], {"labels": ["a"]}, "expected two different labels"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1]}, "found 1 weights for 2 rows"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1, -1]}, "found -1.0 in sample_weight at row 1"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [1, np.nan]}, "found nan in sample_weight at row 1"),
    ([1, 0], [0.5, 0.5], {"sample_weight": [0, 0]}, "expected at least one row of positive weight"),
    ([1, 0], [0.5, 2], {"sample_weight": [1, 1]}, "found 2.0 in y_prob at row 1"),
    (np.ma.masked_array([1, 0], [False, True]), [0.5, 0.5], {}, "found a masked entry in y_true at row 1"),
    ([1, 0], np.ma.masked_array([[0.5], [0.5]], [[False], [True]]), {}, "found a masked entry in y_prob at row 1"),
])  # fmt: skip
def test_refused_rows(y, p, options, match):
    with pytest.raises(ValueError, match=match):
        cs.Sample.from_rows(y, p, **options)


def test_estimate_refuses_the_same_rows():
    with pytest.raises(ValueError, match="found nan in y_prob at row 1"):
        cs.estimate([1, 0], [0.5, np.nan])
    with pytest.raises(ValueError, match="they look swapped"):
        cs.estimate([0.2, 0.7], [0, 1])
    with pytest.raises(ValueError, match="found one array"):
        cs.estimate([0.2, 0.7])


def test_swapped_arguments_that_are_both_outcomes_cannot_be_told():
    assert cs.Sample.from_rows([0, 1], [1, 1]).n == 2


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
