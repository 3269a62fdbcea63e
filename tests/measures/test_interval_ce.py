"""The three interval errors against their definitions and each other."""

import itertools
import math

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, weighted_rows

import calibstat as cs
from calibstat.measures.interval_ce import BLOCK

mpl.use("Agg")

WIDTHS = [1.0, 0.5, 0.37, 0.1, 1 / 64, 1e-4]


def interval_ce(*data):
    return cs.estimate(*data, measure="interval_ce")


def random_interval_ce(*data, width):
    return cs.estimate(*data, measure="random_interval_ce", width=width)


def surrogate(*data, **options):
    return cs.estimate(*data, measure="surrogate_interval_ce", **options)


def samples(n, seed=0):
    """Calibrated, distorted, in ten tight clusters, with opposite errors side by side, and tied."""
    rng = np.random.default_rng(seed)
    u = rng.random(n)
    cluster = (rng.integers(0, 10, n) + 0.5) / 10
    spread = u * 1e-9
    distorted = u**1.5 / (u**1.5 + (1 - u) ** 1.5)
    families = {
        "calibrated": (u, u),
        "distorted": (distorted, u),
        "clustered": (cluster + spread, cluster),
        "distorted clusters": (cluster + spread, cluster / 2 + 0.25),
        "opposite": (u, np.where(np.sin(2000 * u) > 0, 1, 0)),
        "ties": (u.round(2), u**2),
    }
    return {name: cs.Sample.from_rows(rng.random(n) < truth, p) for name, (p, truth) in families.items()}


MANY = samples(2 * BLOCK**2 + 1000)  # more than two of the largest blocks


# --- the best intervals ----------------------------------------------------------------------------------------------


def cost_of(cell, y, p, weight=1.0):
    """What a partition of the rows costs."""
    weight = np.broadcast_to(weight, y.shape)
    total = 0.0
    for name in np.unique(cell):
        inside = (cell == name) & (weight > 0)
        if inside.any():
            rate = weight[inside].sum() / weight.sum()
            total += abs(np.sum((weight * (y - p))[inside])) / weight.sum() + rate * np.ptp(p[inside])
    return total


def cheapest_by_enumeration(y, p, weight=1.0):
    """Every way to cut between distinct predictions."""
    between = np.unique(p)[1:]
    cuts = (np.array(c) for k in range(between.size + 1) for c in itertools.combinations(between, k))
    return min(cost_of(np.searchsorted(cut, p, side="right"), y, p, weight) for cut in cuts)


def cheapest(sample, nearest=None):
    """The quadratic dynamic programme, over all candidates or, wrongly, the nearest ones."""
    value, count, positives = sample.arrays
    n = np.append(0, np.cumsum(count))
    s = np.append(0, np.cumsum(positives - count * value))
    f = np.zeros(value.size + 1)
    for j in range(1, f.size):
        i = slice(max(j - nearest, 0) if nearest else 0, j)
        f[j] = np.min(f[i] + np.abs(s[j] - s[i]) + (n[j] - n[i]) * (value[j - 1] - value[i]))
    return f[-1] / n[-1]


@given(rows(max_size=10))
def test_the_best_of_all_partitions(data):
    assert interval_ce(*data) == pytest.approx(cheapest_by_enumeration(*data), abs=1e-12)


@given(weighted_rows())
def test_weights(data):
    y, p, weight = data
    p = p.round(1)  # at most 11 distinct predictions
    found = cs.estimate(y, p, measure="interval_ce", sample_weight=weight)
    assert found == pytest.approx(cheapest_by_enumeration(y, p, weight), abs=1e-12)


@given(rows(max_size=300))
def test_nothing_is_lost_by_passing_over_blocks(data):
    assert interval_ce(*data) == pytest.approx(cheapest(cs.Sample.from_rows(*data)), abs=1e-12)


@pytest.mark.parametrize("name", MANY)
def test_nothing_is_lost_by_passing_over_large_blocks(name):
    assert interval_ce(MANY[name]) == pytest.approx(cheapest(MANY[name]), abs=1e-12)


def test_looking_near_by_only_is_noticed():
    assert cheapest(MANY["clustered"], nearest=BLOCK) > cheapest(MANY["clustered"]) + 1e-4
    assert cheapest(MANY["clustered"], nearest=BLOCK**2) == pytest.approx(cheapest(MANY["clustered"]), abs=1e-12)


@given(rows())
def test_detail_is_a_partition_that_costs_the_value(data):
    y, p = data
    found = cs.detail(y, p, measure="interval_ce")
    low, high = found["low"], found["high"]
    assert np.all(low <= high)
    assert np.all(high[:-1] < low[1:])
    inside = (low[:, None] <= p) & (p <= high[:, None])
    assert np.array_equal(inside.sum(axis=0), np.ones(p.size))
    assert np.array_equal(inside.sum(axis=1), found["count"])
    assert found["residual"] == pytest.approx(inside @ (y - p) / p.size, abs=1e-15)
    assert np.array_equal(found["width"], high - low)
    assert found["cost"] == pytest.approx(np.abs(found["residual"]) + found["width"] * found["count"] / p.size)
    assert found["cost"].sum() == pytest.approx(found.estimate, abs=1e-12)
    assert cost_of(inside.argmax(axis=0), y, p) == pytest.approx(found.estimate, abs=1e-12)


def test_intervals_of_many_rows_cost_the_value():
    for sample in MANY.values():
        found = cs.detail(sample, measure="interval_ce")
        assert found["cost"].sum() == pytest.approx(found.estimate, abs=1e-12)
        assert found["count"].sum() == sample.n


def test_by_hand():
    # sums of residuals 1.6, -.8, -1.4 at .2, .4, .7, two rows each: apart 3.8/6; all together .6/6 + .5 = 3.6/6;
    # {.4, .7} 1.6/6 + 2.2/6 + 4/6 * .3 = 5/6; {.2, .4} costs .8/6 + 4/6 * .2 = 1.6/6, with 1.4/6 for .7 it is .5
    found = cs.detail([1, 1, 0, 0, 0, 0], [0.2, 0.2, 0.4, 0.4, 0.7, 0.7], measure="interval_ce")
    assert found.estimate == pytest.approx(0.5, abs=1e-15)
    assert found["low"].tolist() == [0.2, 0.7]
    assert found["high"].tolist() == [0.4, 0.7]
    assert found["count"].tolist() == [4, 2]
    assert found["residual"] == pytest.approx([0.8 / 6, -1.4 / 6], abs=1e-15)
    assert found["cost"] == pytest.approx([1.6 / 6, 1.4 / 6], abs=1e-15)


def test_the_partition_is_drawn():
    found = cs.detail(MANY["distorted"], measure="interval_ce")
    ax = cs.plot(found)
    curve = {line.get_label(): line.get_xydata() for line in ax.lines}[f"sum over {found['low'].size} intervals"]
    np.testing.assert_array_equal(curve[0::2, 0], found["low"])
    np.testing.assert_array_equal(curve[1::2, 0], found["high"])
    np.testing.assert_allclose(curve[1::2, 1], np.cumsum(found["cost"]), rtol=1e-12)
    assert curve[-1, 1] == pytest.approx(found.estimate, abs=1e-12)
    mpl.pyplot.close("all")


# --- random intervals ------------------------------------------------------------------------------------------------


def at_shift(shift, y, p, width):
    """The binned error with intervals [r + j w, r + (j + 1) w)."""
    cell = np.floor((p - shift) / width).astype(np.int64)
    return np.abs(np.bincount(cell - cell.min(), y - p)).sum() / p.size


def mean_over_shifts(y, p, width):
    """Cells change only at shifts at which some prediction is on an edge: evaluate half-way between these."""
    edge = np.unique(np.concatenate([[0, width], np.mod(p, width)]))
    middle = (edge[1:] + edge[:-1]) / 2
    return sum(d * at_shift(r, y, p, width) for r, d in zip(middle, np.diff(edge), strict=True)) / width


@given(rows(), st.sampled_from(WIDTHS[:-1]) | st.floats(0.01, 1))
def test_against_every_shift(data, width):
    assert random_interval_ce(*data, width=width) == pytest.approx(mean_over_shifts(*data, width), abs=1e-12)


@pytest.mark.parametrize("width", WIDTHS[:-1])
def test_many_rows_against_every_shift(width):
    rng = np.random.default_rng(1)
    for p in (rng.random(500), (rng.integers(0, 10, 500) + 0.5) / 10 + 1e-9 * rng.random(500)):
        y = rng.random(500) < p**2
        assert random_interval_ce(y, p, width=width) == pytest.approx(mean_over_shifts(y, p, width), abs=1e-12)


def far_from(mean, drawn, largest, false_alarm=1e-6):
    """Whether Hoeffding's inequality denies that independent draws from [0, largest] have this mean."""
    return abs(np.mean(drawn) - mean) > largest * math.sqrt(math.log(2 / false_alarm) / (2 * len(drawn)))


def test_against_random_shifts():
    rng = np.random.default_rng(2)
    p = np.concatenate((rng.random(30), [0, 0.5, 0.5, 1]))
    y = rng.random(34) < 0.5
    for width in (0.5, 0.1):
        drawn = [at_shift(shift, y, p, width) for shift in rng.uniform(0, width, 20_000)]
        largest = np.abs(y - p).mean()
        assert not far_from(random_interval_ce(y, p, width=width), drawn, largest)
        assert far_from(random_interval_ce(y, p, width=width / 2), drawn, largest)  # another width is told apart
        assert far_from(at_shift(0, y, p, width), drawn, largest)  # and so is the one grid of no shift


def test_two_predictions_by_hand():
    # residuals .25 and -.25 (over n = 2) at distance .1 are in one interval of width .4 for 3/4 of the shifts
    assert random_interval_ce([1, 0], [0.5, 0.5], width=0.4) == 0
    # residuals .55/2 and -.55/2: apart for 1/4 of the shifts, .55 then and 0 otherwise
    assert random_interval_ce([1, 0], [0.45, 0.55], width=0.4) == pytest.approx(0.55 / 4, abs=1e-15)
    found = cs.detail([1, 0], [0.45, 0.55], measure="random_interval_ce", width=0.4)
    assert found["witness"] == pytest.approx([0.25, -0.25], abs=1e-15)


@given(rows())
def test_narrow_intervals_hold_one_prediction(data):
    sample = cs.Sample.from_rows(*data)
    for width in (1e-18, 1e-300):
        if np.diff(sample.value).min(initial=1) > width:
            unbinned = np.abs(sample.residual).sum()
            assert random_interval_ce(sample, width=width) == pytest.approx(unbinned, abs=1e-14)


@pytest.mark.parametrize("width", WIDTHS)
def test_witness_of_many_rows_attains_the_value(width):
    for sample in MANY.values():
        found = cs.detail(sample, measure="random_interval_ce", width=width)
        assert sample.residual @ found["witness"] == pytest.approx(found.estimate, abs=1e-12)
        assert np.abs(found["witness"]).max() <= 1


@pytest.mark.parametrize("width", [0, -0.1, 1.01, math.nan, math.inf])
def test_width_out_of_range(width):
    with pytest.raises(ValueError, match="expected a width above 0 and at most 1, found"):
        random_interval_ce([1], [0.5], width=width)


# --- the best width --------------------------------------------------------------------------------------------------


def best_width(sample, precision):
    """All widths, none left out, by the mean over every shift; and the limit."""
    y = sample.residual * sample.n + sample.value  # one row for each prediction, with its residual
    scale = sample.value.size / sample.n
    found = [np.abs(sample.residual).sum()]
    width = 2.0
    while width >= precision:
        width /= 2
        found.append(width + scale * mean_over_shifts(y, sample.value, width))
    return min(found)


@given(rows(), st.sampled_from([1, 0.3, 0.25, 0.01, 0.001]))
def test_no_width_is_missed(data, precision):
    sample = cs.Sample.from_rows(*data)
    assert surrogate(sample, precision=precision) == pytest.approx(best_width(sample, precision), abs=1e-12)


def test_surrogate_detail():
    for sample in MANY.values():
        found = cs.detail(sample, measure="surrogate_interval_ce")
        assert np.min(found["widths"] + found["errors"]) == found.estimate
        best = found["errors"][found["widths"] == found["width"]]
        assert found.estimate == found["width"] + best
        assert sample.residual @ found["witness"] == pytest.approx(best, abs=1e-12)
        assert best == (
            random_interval_ce(sample, width=found["width"])
            if found["width"] > 0
            else np.abs(sample.residual).sum()
        )  # fmt: skip


@given(rows())
def test_precision_bounds_what_narrower_widths_would_gain(data):
    coarse, fine = surrogate(*data, precision=0.1), surrogate(*data, precision=1e-6)
    assert fine <= coarse < fine + 0.1


@pytest.mark.parametrize("precision", [0, -1, 1.5, math.nan])
def test_precision_out_of_range(precision):
    with pytest.raises(ValueError, match="expected a precision above 0 and at most 1, found"):
        surrogate([1], [0.5], precision=precision)


# --- inequalities ----------------------------------------------------------------------------------------------------


@given(rows(), st.sampled_from(WIDTHS))
def test_inequalities(data, width):
    sample = cs.Sample.from_rows(*data)
    unbinned = np.abs(sample.residual).sum()
    best, error, cheap = interval_ce(sample), random_interval_ce(sample, width=width), surrogate(sample)
    assert best <= error + width + 1e-15
    assert best <= cheap + 1e-15
    assert best <= unbinned + 1e-15
    assert error <= unbinned
    assert cheap <= unbinned
    assert error <= random_interval_ce(sample, width=width / 2) + 1e-15  # halves of intervals are intervals
    bins = cs.estimate(sample, measure="ece", n_bins=10)
    assert best <= bins + 0.1 + 1e-15


@pytest.mark.parametrize("name", MANY)
def test_inequalities_on_many_rows(name):
    best, cheap = interval_ce(MANY[name]), surrogate(MANY[name])
    errors = [random_interval_ce(MANY[name], width=width) for width in WIDTHS]
    assert best <= cheap
    assert all(best <= error + width for error, width in zip(errors, WIDTHS, strict=True))
    assert max(errors) <= np.abs(MANY[name].residual).sum()


def test_a_jump_where_predictions_meet():
    # left and right of .5 are residuals m, and at .5 rows with residuals -m and m; apart they pair off with the
    # neighbour at distance .14, 1 * .14 in all; in one point they are of no use, so 2 m or .28
    rate = 1 / (4 * 1.14)
    mass, outcome = [rate, 1.28 * rate, 1.28 * rate, rate], [rate, 0, 1.28 * rate, 0]
    apart = cs.Sample.from_counts([0.36, 0.5 - 1e-9, 0.5 + 1e-9, 0.64], mass, outcome)
    assert interval_ce(apart) == pytest.approx(0.14, abs=2e-9)  # each pair is 1e-9 narrower
    assert interval_ce(cs.Sample.from_counts([0.36, 0.5, 0.5, 0.64], mass, outcome)) == pytest.approx(0.28, abs=1e-12)
