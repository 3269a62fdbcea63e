"""Edges of bins: an edge belongs to the bin below it, in every verb."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number

import calibstat as cs
from calibstat.measures.bins import bin_cells, bin_numbers, fixed_bins, number_of_bins
from calibstat.measures.simplex_cells import grow_tree
from calibstat.recalibration import HistogramBinning

MANY = [1, 3, 10, 15, 25, 49, 50, 100, 1000]


def beside_edges(bins):
    """Every edge b / bins, the double below and the double above it, and the bin of each, from 0."""
    edge = np.arange(bins + 1) / bins
    value = np.concatenate([edge, np.nextafter(edge[1:], 0), np.nextafter(edge[:-1], 1)])
    number = np.arange(bins + 1)
    return value, np.concatenate([np.maximum(number - 1, 0), number[1:] - 1, number[:-1]])


@pytest.mark.parametrize("bins", MANY)
def test_an_edge_belongs_to_the_bin_below_it(bins):
    value, number = beside_edges(bins)
    assert np.array_equal(bin_number(value, bins), number)  # the oracle of all other tests
    assert np.array_equal(bin_numbers(value, bins), number)
    assert np.array_equal(bin_cells(value, np.ones(value.size), n_bins=bins), number)


@pytest.mark.parametrize("bins", MANY)
def test_every_verb_has_the_same_edges(bins):
    v, number = beside_edges(bins)
    y = np.arange(v.size) % 3 == 0
    used, cell = np.unique(number, return_inverse=True)
    rows, residual = np.bincount(cell), np.bincount(cell, y - v)
    expected = np.abs(residual).sum() / v.size
    two = np.column_stack((1 - v, v))
    family = cs.generators.domain(np.full(v.size, 1 / v.size), y, v)
    shown = cs.reliability(y, v, n_bins=bins, band=None)
    by_class = cs.estimate(y.astype(int), two, lens="class_wise", n_bins=bins)
    found = {
        "rows": cs.estimate(y, v, n_bins=bins),
        "sample": cs.estimate(cs.Sample.from_rows(y, v), n_bins=bins),
        "class": by_class[1],
        "no class": by_class[0],
        "columns": cs.estimate(y.astype(int), two, lens=cs.lenses.one_class(1), n_bins=bins),
        "truth": family.truth("ece", n_bins=bins),
        "width": cs.estimate(y, v, measure="ece_width", n_bins=bins) - 1 / bins,
        "general": cs.estimate(y.astype(int), two, measure="gce", class_conditional=True, n_bins=bins, threshold=0.0),
        "canonical": cs.estimate(y.astype(int), two, measure="canonical_ce", strategy="uniform", n_bins=bins),
        "interval": cs.confidence_interval(y, v, n_bins=bins, n_resamples=1, rng=1).estimate,
        "test": cs.calibration_test(y, v, measure="ece", n_bins=bins, n_resamples=1, rng=1).statistic,
    }
    both = by_class.copy()
    both[1] = expected
    other = bin_number(1 - v, bins)
    both[0] = np.abs(np.bincount(other, (1 - y) - (1 - v))).sum() / v.size
    everything = dict.fromkeys(found, expected) | {"no class": both[0]}
    # an exact 0 is not kept, so the bins of each class weigh one in all of its other rows
    kept = [(w > 0, np.asarray(t), bin_number(w, bins)) for w, t in ((1 - v, ~y), (v, y))]
    everything["general"] = np.mean([np.abs(np.bincount(b[k], (t - w)[k])).sum() / k.sum()
                                     for (k, t, b), w in zip(kept, (1 - v, v), strict=True)])  # fmt: skip
    assert found == pytest.approx(everything, abs=1e-12)
    assert shown.count.tolist() == rows.tolist()
    assert shown.left.tolist() == (used / bins).tolist()
    assert shown.right.tolist() == ((used + 1) / bins).tolist()
    learned = HistogramBinning(n_bins=bins).fit(v, y).predict_proba(v)
    assert learned == pytest.approx((np.bincount(cell, y) / rows)[cell], abs=1e-15)


def test_published_edges():
    # 7/25 and .07 times 100 round to above 7; alone in their bins both rows are off by what they predict of outcome 1
    assert cs.estimate([0, 1], [0.07, 0.08], n_bins=100) == pytest.approx((0.07 + 0.92) / 2)
    assert cs.estimate([0, 1], [7 / 25, 8 / 25], n_bins=25) == pytest.approx((7 / 25 + 17 / 25) / 2)


@given(st.integers(1, 10**6), st.data())
def test_bins_of_any_number(bins, data):
    edge = data.draw(st.lists(st.integers(0, bins), min_size=1, max_size=20).map(lambda b: np.array(b) / bins))
    nudged = np.clip(np.concatenate([edge, np.nextafter(edge, 0), np.nextafter(edge, 1)]), 0, 1)
    assert np.array_equal(bin_numbers(nudged, bins), bin_number(nudged, bins))


def test_rounding_the_product_is_found():
    """The fault: the product with the number of bins, rounded up."""
    value, number = beside_edges(25)
    assert not np.array_equal(np.clip(np.ceil(value * 25) - 1, 0, 24), number)


def test_float32_is_in_the_bin_of_its_decimal():
    # 0.2 as float32 is .20000000298..., above 1/5; it is in the bin [0, .2] of 0.2, as .15 is
    single = np.array([0.2, 0.15], np.float32)
    assert cs.estimate([0, 1], single, n_bins=5) == pytest.approx((1 - 0.35) / 2)
    above = np.array([np.nextafter(np.float32(0.2), np.float32(1)), 0.15], np.float32)
    assert cs.estimate([0, 1], above, n_bins=5) == pytest.approx((0.2 + 0.85) / 2)


# --- trees ------------------------------------------------------------------------------------------------------------


def slow_tree(p, least=100):
    """The bin of each row, by recursion over rows: split at the mean, which goes to the low side."""
    if len(p) < least or p.min() == p.max():
        return np.zeros(len(p), int)
    low = p <= p.mean() + 1e-12
    cell = np.zeros(len(p), int)
    cell[low] = slow_tree(p[low], least)
    cell[~low] = cell[low].max() + 1 + slow_tree(p[~low], least)
    return cell


@given(
    p=st.lists(st.integers(0, 40), min_size=1, max_size=60),
    times=st.lists(st.integers(1, 60), min_size=60, max_size=60),
)
def test_a_tree_equals_a_recursion_over_rows_and_the_tree_of_vectors(p, times):
    rows = np.sort(np.repeat(np.array(p) / 40, times[: len(p)]))
    value, count = np.unique(rows, return_counts=True)
    found = np.repeat(bin_cells(value, count.astype(float), strategy="tree"), count)
    np.testing.assert_array_equal(found, slow_tree(rows))
    np.testing.assert_array_equal(found, grow_tree(rows[:, None])[0])


def test_a_tree_by_hand():
    """All 200 rows have mean .35, their 100 low ones .2 and the 100 high ones .5, of one value, which stays."""
    value, count = np.array([0.1, 0.2, 0.3, 0.5]), np.array([25.0, 50, 25, 100])
    np.testing.assert_array_equal(bin_cells(value, count, strategy="tree"), [0, 0, 1, 2])
    np.testing.assert_array_equal(bin_cells(value, count * 0.49, strategy="tree"), [0, 0, 0, 0])
    assert fixed_bins(value, count, 15, "tree") == {"strategy": (0.2, 0.3)}


def test_the_error_over_a_tree():
    y, p = cs.generators.temperature(2).sample(3000, rng=1)
    cell = slow_tree(p)
    slow = sum(abs((y - p)[cell == c].sum()) for c in range(cell.max() + 1)) / 3000
    assert cs.estimate(y, p, measure="ece", strategy="tree") == pytest.approx(slow)
    diagram = cs.reliability(y, p, strategy="tree", interval=False, band=None)
    assert diagram.strategy == "tree"
    assert diagram.error == pytest.approx(slow)
    np.testing.assert_array_equal(diagram.count, np.bincount(cell))
    assert np.all(diagram.count < 100)
    with pytest.raises(NotImplementedError, match="a tree is grown on rows"):
        cs.generators.temperature(2).truth("ece", strategy="tree")


# --- widths that are added, and bins of so many rows ------------------------------------------------------------------

WIDTH = {"measure": "ece_width"}
Y, P = cs.generators.temperature(2).sample(300, rng=1)


def test_mean_and_largest_width_by_hand():
    """Cuts at .2 and .7: widths .2, .5, .3, with 1, 1 and 2 of 4 rows: the mean is (.2 + .5 + .6) / 4, the largest .5.

    Błasiok et al. have the mean in definition 6.1 and equation 5 and the largest in section 2.3.
    """
    y, p = [0, 1, 1, 1], [0.1, 0.5, 0.9, 0.9]
    error = cs.estimate(y, p, measure="ece", strategy=(0.2, 0.7))
    assert cs.estimate(y, p, **WIDTH, strategy=(0.2, 0.7)) == pytest.approx(error + 1.3 / 4, abs=1e-15)
    assert cs.estimate(y, p, **WIDTH, strategy=(0.2, 0.7), penalty="largest") == pytest.approx(error + 0.5, abs=1e-15)
    # a wide bin without rows counts too: it is one of the partition
    assert cs.estimate([0], [0.1], **WIDTH, strategy=(0.2,), penalty="largest") == pytest.approx(0.1 + 0.8, abs=1e-15)


def test_equal_bins_have_one_width():
    for n_bins in (1, 5, "cube_root", None):
        both = [cs.estimate(Y, P, **WIDTH, n_bins=n_bins, penalty=penalty) for penalty in ("mean", "largest")]
        assert both[0] == both[1]


def test_the_largest_width_is_never_less_than_the_mean():
    """Rows crowd in the narrow bins or not: the mean is a weighted mean of the widths, and both are bounds."""
    random = np.random.default_rng(1)
    lowest = cs.detail(Y, P, measure="upper_distance")["bracket"][0]
    for _ in range(20):
        cuts = tuple(np.sort(random.random(3)))
        mean, largest = (cs.estimate(Y, P, **WIDTH, strategy=cuts, penalty=each) for each in ("mean", "largest"))
        assert lowest <= mean <= largest


def test_the_largest_width_of_a_population():
    family, cuts = cs.generators.temperature(2), (0.2, 0.7)
    expected = family.truth("ece", strategy=cuts) + 0.5
    assert family.truth(**WIDTH, strategy=cuts, penalty="largest") == pytest.approx(expected, abs=1e-12)


def test_another_penalty_is_refused():
    with pytest.raises(ValueError, match="expected penalty 'mean' or 'largest', found 'median'"):
        cs.estimate(Y, P, **WIDTH, penalty="median")


def test_rows_of_a_bin():
    """n / k, rounded down, and at least one bin."""
    assert [number_of_bins("100 rows", n) for n in (1, 99, 100, 199, 200, 1e6)] == [1, 1, 1, 1, 2, 10_000]
    assert number_of_bins("1 rows", 7) == 7


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_rows_of_a_bin_everywhere(strategy):
    asked, as_number = {"n_bins": "20 rows", "strategy": strategy}, {"n_bins": 15, "strategy": strategy}
    assert cs.estimate(Y, P, **asked) == cs.estimate(Y, P, **as_number)
    for measure in ("ece", "ece_debiased"):
        tests = [cs.calibration_test(Y, P, measure=measure, rng=1, n_resamples=99, **each).pvalue
                 for each in (asked, as_number)]  # fmt: skip
        ends = [cs.confidence_interval(Y, P, measure=measure, rng=1, n_resamples=99, **each)
                for each in (asked, as_number)]  # fmt: skip
        assert tests[0] == tests[1]
        assert (ends[0].low, ends[0].high) == (ends[1].low, ends[1].high)
    diagrams = [cs.reliability(Y, P, band=None, **each) for each in (asked, as_number)]
    assert np.array_equal(diagrams[0].count, diagrams[1].count)
    if strategy == "quantile":
        assert set(diagrams[0].count) == {20}


def test_rows_of_a_bin_of_several_classes():
    """RMSCE as its authors take it, with 100 rows in a bin: of 250 rows two bins."""
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(250, rng=1)
    rmsce = {"measure": "gce", "binning": "adaptive", "max_prob": True, "class_conditional": False, "norm": "l2"}
    assert cs.estimate(label, prob, **rmsce, n_bins="100 rows") == cs.estimate(label, prob, **rmsce, n_bins=2)
    assert cs.gce_family(label, prob, n_bins="100 rows")["ECE"] == cs.gce_family(label, prob, n_bins=2)["ECE"]
    fitted = [cs.recalibration.HistogramBinning(n_bins=n_bins).fit(P, Y) for n_bins in ("100 rows", 3)]
    assert np.array_equal(fitted[0].predict_proba(P), fitted[1].predict_proba(P))


@pytest.mark.parametrize("n_bins", ["0 rows", "-1 rows", "1.5 rows", "rows", "100rows", " 100 rows", "100 bins"])
def test_other_texts_are_refused(n_bins):
    with pytest.raises(ValueError, match="the rows of a bin, such as '100 rows', or None"):
        cs.estimate(Y, P, n_bins=n_bins)


def test_a_population_has_no_rows():
    for measure in ("ece", "ece_debiased", "average_ce"):
        with pytest.raises(
            ValueError, match="expected a number of bins, found '100 rows', which depends on the number"
        ):
            cs.generators.temperature(2).truth(measure, n_bins="100 rows")
