"""Lower and upper distance from calibration. That they are what their definitions say is in test_inequalities."""

import itertools
import math
import re

import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from scipy import stats
from scipy.optimize import OptimizeResult

import calibstat as cs
from calibstat.measures import lower_and_upper_distance as distance
from calibstat.measures.kinds.registry import binary_measures, everyday_measures

SCATTERED = cs.generators.shift(-0.5).sample(1000, 1)  # too low everywhere


def lower(sample, grid):
    return cs.estimate(sample, measure="lower_distance", grid=grid)


# One prediction v with a share a of outcome 1: all go to a. Nothing is cheaper: if u is calibrated then E u = E y = a,
# so that E abs(u - v) >= abs(a - v).
@pytest.mark.parametrize(("v", "positives"), [(0.3, 7), (0.5, 10), (0.0, 1), (0.2, 2)])
def test_one_prediction_moves_to_its_frequency(v, positives):
    sample = cs.Sample.from_counts([v], [10], [positives])
    assert lower(sample, 3) == pytest.approx(abs(positives / 10 - v), abs=1e-12)
    assert cs.estimate(sample, measure="upper_distance") == pytest.approx(abs(positives / 10 - v), abs=1e-15)


# .5 - e always 1 and .5 + e always 0: both go to 1/2, at a cost of e. Nothing is cheaper: R_1(v) = .5 - v = -R_0(v)
# have slope 1 and keep their condition, (1 - u) (u - .5) + u (.5 - u) = -2 (u - .5)² <= 0, and their mean is e.
@pytest.mark.parametrize("e", [0.01, 0.1])
def test_wrong_way_round(e):
    sample = cs.Sample.from_counts([0.5 - e, 0.5 + e], [5, 5], [5, 0])
    assert lower(sample, 10) == pytest.approx(e, abs=1e-12)  # 1/2 is on the grid
    assert cs.estimate(sample, measure="upper_distance") == pytest.approx(e, abs=1e-15)


@given(oracles.samples(), st.integers(2, 12), st.integers(2, 5))
def test_a_finer_grid_is_lower_by_no_more_than_its_error(sample, grid, times):
    coarse, fine = lower(sample, grid), lower(sample, grid * times)
    if sample.value.size <= grid + 1:  # nothing is shared out, and the fine grid holds the coarse one
        assert -1e-9 <= coarse - fine <= 1 / (2 * grid**2) + 1e-9


@given(oracles.samples(), st.integers(2, 12))
def test_the_range_holds_the_value_on_a_fine_grid(sample, grid):
    low, high = cs.detail(sample, measure="lower_distance", grid=grid)["range"]
    fine = lower(sample, 60)  # above the lower distance by at most 1 / 7200
    assert low - 1e-9 <= fine <= high + 1 / 7200 + 1e-9


def test_many_predictions_are_shared_out():
    found = cs.detail(*SCATTERED, measure="lower_distance", grid=50)
    low, high = found["range"]
    exact = lower(cs.Sample.from_rows(*SCATTERED), 1000)  # a place for each prediction
    assert low <= exact <= high
    y, p = SCATTERED
    t = p * 50 % 1
    assert high - found.estimate == pytest.approx((2 * t * (1 - t)).mean() / 50, abs=1e-12)
    assert found.estimate - low == pytest.approx(1 / (2 * 50**2), abs=1e-12)
    # a planted fault: rounded down, predictions that were too low are so by 1/100 more on average
    assert lower(cs.Sample.from_rows(y, np.floor(p * 50) / 50), 50) > high


def test_sharing_out_keeps_rows_hits_and_means():
    y, p = SCATTERED
    sample = cs.Sample.from_rows(y, p)
    n = sample.count.sum()
    point, share, hits, _, cost = distance._on_grid(sample.value, sample.count / n, sample.positives / n, 50)
    assert point == pytest.approx(np.arange(51) / 50)
    assert [share.sum(), hits.sum()] == pytest.approx([1, y.mean()], abs=1e-12)
    assert [share @ point, hits @ point] == pytest.approx([p.mean(), (p * y).mean()], abs=1e-12)
    assert 0 < cost <= 1 / 100


@pytest.mark.parametrize("value", [np.linspace(0, 1, 60), np.append(np.arange(10, 70) / 100, 1 - 2**-53)])
def test_the_ends_of_the_grid(value):
    share = np.full(value.size, 1 / value.size)
    point, out, *_ = distance._on_grid(np.sort(value), share, share, 20)
    assert point[-1] == 1
    assert out.min() >= 0
    assert out.sum() == pytest.approx(1, abs=1e-12)


@given(oracles.samples(), st.integers(2, 30))
def test_the_weights_attain_the_value_and_keep_their_conditions(sample, grid):
    found = cs.detail(sample, measure="lower_distance", grid=grid)
    negative, positive, v, n = found["weight_negative"], found["weight_positive"], sample.value, sample.count.sum()
    mean = ((sample.count - sample.positives) @ negative + sample.positives @ positive) / n
    assert mean == pytest.approx(found.estimate, abs=1e-9)
    for weight in (negative, positive):
        assert np.all(np.abs(np.diff(weight)) <= np.diff(v) + 1e-9)
    assert np.all((1 - v) * negative + v * positive <= 1 / (2 * grid**2) + 1e-9)


def test_the_bracket_is_that_of_the_smooth_error():
    found = cs.detail(*SCATTERED, measure="lower_distance", grid=100)
    smooth = cs.estimate(*SCATTERED, measure="smooth_ce")
    assert found["bracket"].tolist() == [smooth / 2, 2 * smooth]
    assert found["bracket"][0] <= found.estimate <= found["bracket"][1]


@pytest.mark.parametrize("grid", [1, 0, 2.5, True, "fine"])
def test_grids_that_are_none(grid):
    with pytest.raises(ValueError, match="expected grid to be a whole number of at least 2, found"):
        cs.estimate([1], [0.5], measure="lower_distance", grid=grid)


def test_a_programme_that_is_not_solved_says_so(monkeypatch):
    failed = OptimizeResult(status=4, message="numerical difficulties", fun=None, x=None)
    monkeypatch.setattr("scipy.optimize.linprog", lambda *_, **__: failed)
    with pytest.raises(RuntimeError, match="not solved: numerical difficulties"):
        cs.estimate([1], [0.5], measure="lower_distance")


def test_a_test_by_the_lower_distance():
    # 20 rows at .5, all 1: the lower distance of k ones is abs(k/20 - .5), and 2 of 2**20 outcomes are as far
    found = cs.calibration_test(np.ones(20), np.full(20, 0.5), measure="lower_distance", grid=2, n_resamples=99, rng=1)
    assert found.pvalue == 0.01
    assert found.null_distribution * 20 == pytest.approx(np.round(found.null_distribution * 20), abs=1e-9)


@given(oracles.samples())
def test_merged_predictions_are_calibrated_and_as_near_as_the_value(sample):
    if sample.value.size <= distance.LARGEST:
        found = cs.detail(sample, measure="upper_distance")
        merged, n = found["merged"], sample.count.sum()
        assert sample.count @ np.abs(merged - sample.value) / n == pytest.approx(found.estimate, abs=1e-12)
        for u in np.unique(merged):
            cell = merged == u
            assert sample.positives[cell].sum() == pytest.approx(u * sample.count[cell].sum(), abs=1e-9)


def test_too_many_predictions_have_a_bracket_only():
    sample = cs.Sample.from_rows(*SCATTERED)
    few = cs.Sample.from_counts(np.arange(10) / 10, [9] * 10, np.arange(10) % 9)
    assert cs.estimate(few, measure="upper_distance") > 0
    words = "expected at most 10 distinct predictions, found 1000: .* which are too many; calibstat.detail"
    with pytest.raises(ValueError, match=words):
        cs.estimate(sample, measure="upper_distance")
    found = cs.detail(sample, measure="upper_distance")
    assert math.isnan(found.estimate)
    lower = cs.detail(sample, measure="lower_distance")
    ends = lower["range"][0], distance.contiguous_merging(*sample.arrays)
    assert tuple(found["bracket"]) == ends
    assert ends[0] < lower.estimate  # which the grid of 1000 intervals may leave too high by up to 5e-7
    assert ends[0] <= ends[1] <= cs.estimate(sample, measure="interval_ce")
    assert re.fullmatch(r"upper_distance = nan, n = 1000; fields: value, bracket", str(found))


def every_cut(value, count, positives, edges):
    """The least mean move over all ways to cut at some of the edges, one by one."""
    found = []
    for kept in itertools.product([False, True], repeat=len(edges)):
        cut = [0, *(edge for edge, keep in zip(edges, kept, strict=True) if keep), value.size]
        cells = [slice(*pair) for pair in itertools.pairwise(cut)]
        found.append(sum(count[c] @ np.abs(value[c] - positives[c].sum() / count[c].sum()) for c in cells))
    return min(found) / count.sum()


@given(oracles.samples())
def test_neighbouring_predictions_merged(sample):
    if sample.value.size <= distance.LARGEST:
        found = distance.contiguous_merging(*sample.arrays)
        assert found == pytest.approx(every_cut(*sample.arrays, range(1, sample.value.size)), abs=1e-12)
        assert cs.estimate(sample, measure="upper_distance") <= found + 1e-12
        assert found <= cs.estimate(sample, measure="interval_ce") + 1e-12


def test_of_many_predictions_runs_are_merged(monkeypatch):
    # 12 rows of 12 predictions in four runs of three rows
    value, positives = (np.arange(12) + 0.5) / 12, np.array([0, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1, 0.0])
    monkeypatch.setattr(distance, "RUNS", 4)
    found = distance.contiguous_merging(value, np.ones(12), positives)
    assert found == pytest.approx(every_cut(value, np.ones(12), positives, [3, 6, 9]), abs=1e-12)


def test_predictions_that_are_no_neighbours_can_be_merged_at_less_cost():
    # .2 always happens, .8 never, .45 is calibrated. The outer two meet at .5: a mean move of (.3 + 0 + .3) / 3 = .2.
    # With .45 between them all three have to meet, at 29 / 60: (17 + 2 + 19) / 60 / 3.
    sample = cs.Sample.from_counts([0.2, 0.45, 0.8], [20, 20, 20], [20, 9, 0])
    assert cs.estimate(sample, measure="upper_distance") == pytest.approx(0.2)
    assert distance.contiguous_merging(*sample.arrays) == pytest.approx(38 / 180)


def test_predictions_without_rows_go_nowhere():
    found = cs.measures.UpperDistance().detail(np.array([0.2, 0.5, 0.7]), np.array([2.0, 0, 2]), np.array([1.0, 0, 1]))
    assert found["merged"].tolist() == [0.5, pytest.approx(math.nan, nan_ok=True), 0.5]


def test_what_runs_over_all_measures_leaves_out():
    left_out = set(binary_measures()) - set(everyday_measures())
    stated = {"l1", "weighted_ce", "sweep_ce"}  # what the user, or the outcomes, choose is the error
    assert left_out == {"lower_distance", "upper_distance", "omnibus"} | stated
    assert {name for name in binary_measures() if not cs.MEASURES[name]().has_value(np.arange(11) / 11)} == {
        "upper_distance"
    }


# --- predictions that the solver cannot tell apart -------------------------------------------------------------------


@pytest.mark.parametrize(
    "near", [1e-6, 1e-9, 1e-11, *(pytest.param(x, marks=pytest.mark.slow) for x in (1e-8, 1e-10, 1e-12, 1e-15))]
)
def test_two_predictions_on_both_sides_of_a_point(near):
    """Ones below 1/2 and as many zeros above: all go to 1/2, a distance of `near` (smCE / 2 to 2 smCE holds it too)."""
    found = cs.detail([1] * 50 + [0] * 50, [0.5 - near] * 50 + [0.5 + near] * 50, measure="lower_distance")
    low, high = found["range"]
    assert low - 1e-16 <= near <= high * (1 + 1e-5)
    assert found.estimate == pytest.approx(near, abs=1.1e-9, rel=1e-5)


@pytest.mark.parametrize("spread", [1e-7, 1e-9, 1e-10, 1e-12])
@pytest.mark.parametrize("where", ["middle", "ends", "everywhere"])
def test_clusters_of_near_predictions(spread, where):
    """As far from calibrated as with all predictions of a cluster in one place, up to the spread."""
    rng = np.random.default_rng(1)
    centre = np.repeat({"middle": [0.3, 0.5], "ends": [0.0, 1.0], "everywhere": [0, 0.1234, 0.5, 0.9, 1]}[where], 40)
    y = rng.random(centre.size) < rng.choice([0.2, 0.5, 0.7], 5)[np.searchsorted(np.unique(centre), centre)]
    value = np.abs(centre + rng.normal(0, spread, centre.size))
    value = np.where(value > 1, 2 - value, value)
    found = cs.detail(y, value, measure="lower_distance", grid=100)
    exact = cs.estimate(y, centre, measure="lower_distance", grid=100)
    assert found.estimate == pytest.approx(exact, abs=4 * spread + 6e-9 + 1 / (2 * 100**2))
    low, high = found["range"]
    assert low <= found.estimate <= high


def test_predictions_of_wild_log_odds_end():
    rng = np.random.default_rng(2)
    value = np.sort(10.0 ** rng.uniform(-14, 0, 800))
    found = cs.detail(rng.random(800) < 0.3, value, measure="lower_distance")
    low, high = found["bracket"]
    assert low <= found.estimate <= high


# --- brackets ---------------------------------------------------------------------------------------------------------

BRACKETED = ["interval_ce", "surrogate_interval_ce", "lower_distance", "upper_distance"]
VALUE = np.array([0.1, 0.25, 0.5, 0.52, 0.8])


def bracket(data, measure, **settings):
    return cs.confidence_interval(data, measure=measure, method="bracket", n_resamples=79, **settings)


@pytest.mark.parametrize("measure", BRACKETED)
def test_ends_are_those_of_the_measures_below_and_above(measure):
    sample = cs.Sample.from_rows(*cs.generators.shift(1.0).sample(400, rng=1))
    below = cs.confidence_interval(sample, measure="smooth_ce", n_resamples=79, rng=3)
    found = bracket(sample, measure, rng=3)
    assert below.low > 0
    assert found.low == pytest.approx(below.low / 2)
    if measure == "lower_distance":  # never above it by more than the grid lets it be
        assert found.high == pytest.approx(2 * below.high + 1 / 2000)
    else:  # 3 * 400**(1/3) = 22.1, and the nearest power of 2, on a logarithmic scale, is 16
        above = cs.confidence_interval(sample, measure="random_interval_ce", width=1 / 16, n_resamples=79, rng=3)
        assert found.high == pytest.approx(above.high + 1 / 16)
    assert found.method == "bracket"
    assert "does not shrink to it" in found.estimand


@given(rows())
def test_measures_are_in_order_on_any_rows(data):
    """The inequalities that the brackets rest on."""
    sample = cs.Sample.from_rows(*data[:2])
    if sample.value.size > 8:
        return
    for name in BRACKETED:
        options = {"grid": 50} if name == "lower_distance" else {}
        known = cs.MEASURES[name](**options)
        value, found = known.estimate(sample), known.bracket(sample.n)
        # the grid of the lower distance makes it larger
        slack = {"lower_distance": 0.5 / 50**2}.get(name, 0.0) + 1e-9
        assert found.share * found.below.estimate(sample) <= value + slack
        assert value <= found.times * found.above.estimate(sample) + found.width + slack


RUNS = 50


def held(measure, chance, shorter=0.0, runs=RUNS, n=150):
    random = np.random.default_rng(7)
    weight = np.full(5, 0.2)
    truth = cs.MEASURES[measure]().evaluate(VALUE, 1e6 * weight, 1e6 * weight * chance)
    found = 0
    for run in range(runs):
        count = random.multinomial(n, weight)
        interval = bracket(cs.Sample.from_counts(VALUE, count, random.binomial(count, chance)), measure, rng=run)
        found += interval.low <= truth <= interval.high - shorter
    return found


@pytest.mark.parametrize("measure", ["interval_ce", "surrogate_interval_ce", "upper_distance"])
@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_they_hold_the_distance(measure, shift):
    assert held(measure, VALUE + shift) >= stats.binom.ppf(1e-5, RUNS, 0.95)


def test_they_can_fail():
    assert held("interval_ce", VALUE + 0.1, shorter=0.25) < stats.binom.ppf(1e-5, RUNS, 0.95)


def test_many_predictions_have_a_bracket_where_they_have_no_estimate():
    y, p = cs.generators.calibrated().sample(100, rng=1)
    found = cs.confidence_interval(y, p, measure="upper_distance", method="bracket", rng=1)
    assert math.isnan(found.estimate)
    assert found.low == 0 < found.high < 1


def test_one_row():
    for measure in BRACKETED:
        found = bracket(cs.Sample.from_rows([0], [0.3]), measure, rng=1)
        assert 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize("measure", BRACKETED)
def test_the_default_names_the_bracket(measure):
    with pytest.raises(
        ValueError, match=f"is known for {measure}, because it is a minimum .*; it has the methods bracket, "
    ):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure=measure)


def test_what_has_no_bracket():
    with pytest.raises(ValueError, match="no bracket interval is known for ks; it has the methods honest, percentile"):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure="ks", method="bracket")
    y, p = np.tile([0, 1], 30), np.tile([0.2, 0.7], 30)
    with pytest.raises(ValueError, match="no bracket interval with clusters"):
        cs.confidence_interval(y, p, measure="interval_ce", method="bracket", cluster=np.arange(60))
