"""Histogram binning by hand, against the bins of the ECE, and its bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows
from scipy import stats

import calibstat as cs
from calibstat.recalibration import HistogramBinning

Y, P = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(300, rng=7)
EIGHTHS = np.round(P * 8) + 1e-9  # with many ties; no row of zeros
TIED = EIGHTHS / EIGHTHS.sum(axis=1, keepdims=True)


def test_histogram_by_hand():
    # bins (0, .25], (.25, .5], (.5, .75], (.75, 1]; the edge belongs to the bin below it, 0 to the first
    fitted = HistogramBinning(n_bins=4).fit([0.0, 0.25, 0.26, 1.0, 0.8, 0.9], [0, 1, 1, 1, 1, 0])
    np.testing.assert_allclose(
        fitted.predict_proba([0, 0.25, 0.3, 0.5, 0.6, 0.75, 0.76, 1]), [0.5, 0.5, 1, 1, 0.625, 0.625, 2 / 3, 2 / 3]
    )


def test_shared_bins_by_hand():
    p = [[0.6, 0.4, 0.0], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]]
    # two bins: .6, .7, .6 above a half, of which two happened; six below, of which one did
    fitted = HistogramBinning(n_bins=2).fit(p, [0, 1, 0])
    high, low = 2 / 3, 1 / 6
    total = high + 2 * low
    np.testing.assert_allclose(fitted.predict_proba([[0.9, 0.1, 0.0]]), [[high / total, low / total, low / total]])


def test_class_conditional_bins_by_hand():
    p = [[0.6, 0.4, 0.0], [0.1, 0.7, 0.2], [0.2, 0.2, 0.6]]
    fitted = HistogramBinning(n_bins=2, class_conditional=True).fit(p, [0, 1, 0])
    # class 0: low 1 of 2, high 1 of 1; class 1: low 0 of 2, high 1 of 1; class 2: low 0 of 2, high 0 of 1
    np.testing.assert_allclose(fitted.predict_proba([[0.6, 0.2, 0.2]]), [[1, 0, 0]])
    np.testing.assert_allclose(fitted.predict_proba([[0.2, 0.6, 0.2]]), [[1 / 3, 2 / 3, 0]])
    np.testing.assert_allclose(fitted.predict_proba([[0.2, 0.2, 0.6]]), [[1, 0, 0]])


def test_a_row_of_zeros_becomes_uniform():
    # every class always happened above a half and never below
    fitted = HistogramBinning(n_bins=2, class_conditional=True)
    fitted.fit([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]], [0, 1, 2])
    np.testing.assert_allclose(fitted.predict_proba([[0.4, 0.3, 0.3], [0.6, 0.2, 0.2]]), [[1 / 3] * 3, [1, 0, 0]])


def test_quantile_bins_by_hand():
    # four rows in two bins; ties stay together: {.1, .1}, {.4, .9}
    fitted = HistogramBinning(n_bins=2, strategy="quantile").fit([0.9, 0.1, 0.4, 0.1], [1, 1, 0, 0])
    np.testing.assert_allclose(fitted.predict_proba([0.0, 0.1]), [0.5, 0.5])
    fitted = HistogramBinning(n_bins=2, strategy="quantile").fit([0.1, 0.2, 0.4, 0.9], [1, 1, 0, 0])
    # up to .2 the first bin, above it the second, also above all that was seen
    np.testing.assert_allclose(fitted.predict_proba([0.0, 0.2, 0.3, 0.9, 1.0]), [1, 1, 0, 0, 0])


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@given(data=rows())
def test_the_calibration_rows_have_no_error_left_in_their_bins(strategy, data):
    # the mean of the outcomes in each bin of predictions is what these predictions became
    y, p = data
    fitted = HistogramBinning(n_bins=4, strategy=strategy).fit(p, y)
    out = fitted.predict_proba(p)
    assert out.mean() == pytest.approx(y.mean(), abs=1e-12)
    assert len(np.unique(out)) <= 4
    for level in np.unique(out):
        assert y[out == level].mean() == pytest.approx(level, abs=1e-12)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("conditional", [False, True])
def test_histogram_against_the_bins_of_ece(strategy, conditional):
    # the plain slow way: the bin of each prediction from the measure's own table of bins
    from calibstat.measures.bins import bin_cells

    fitted = HistogramBinning(n_bins=6, strategy=strategy, class_conditional=conditional).fit(TIED, Y)
    scores = np.empty(TIED.shape)
    for group in [[k] for k in range(3)] if conditional else [[0, 1, 2]]:
        p = TIED[:, group].ravel()
        hit = np.array([Y[i] == k for i in range(Y.size) for k in group])
        value = np.unique(p)
        count = np.array([np.sum(p == one) for one in value], float)
        cell = dict(zip(value, bin_cells(value, count, n_bins=6, strategy=strategy), strict=True))
        place = np.array([cell[one] for one in p])
        for k in group:
            scores[:, k] = [hit[place == cell[one]].mean() for one in TIED[:, k]]
    np.testing.assert_allclose(fitted.predict_proba(TIED), scores / scores.sum(axis=1, keepdims=True), atol=1e-12)


DRAWS = 4000


def times_drawn(bootstrap_map, centre):
    """How many bootstrap samples had the one row of the last bin, whose outcome is 1; without it the bin is empty."""
    return round((bootstrap_map.predict_proba([0.9])[0] - centre) / (1 - centre) * DRAWS)


def limits(chance):
    """The range of a binomial number that is left in 2 of 10⁶ cases."""
    return stats.binom.ppf([1e-6, 1 - 1e-6], DRAWS, chance)


def test_bootstrap_leaves_out_rows_as_often_as_it_should():
    # n = 2 rows, one of them in the bin (2/3, 1] with centre 5/6: drawn in 3 of 4 samples
    fitted = HistogramBinning(n_bins=3, n_resamples=DRAWS, random_state=11).fit([0.1, 0.9], [0, 1])
    low, high = limits(0.75)
    assert low <= times_drawn(fitted, 5 / 6) <= high
    # planted faults: five rows (1 - 0.8⁵ = 0.67), without replacement, and the plain map
    five = HistogramBinning(n_bins=3, n_resamples=DRAWS, random_state=11).fit(
        [0.1, 0.1, 0.1, 0.1, 0.9], [0, 0, 0, 0, 1]
    )
    assert not low <= times_drawn(five, 5 / 6) <= high
    assert not low <= DRAWS <= high
    assert times_drawn(HistogramBinning(n_bins=3).fit([0.1, 0.9], [0, 1]), 5 / 6) == DRAWS


def test_bootstrap_averages_the_maps_of_its_samples():
    fitted = HistogramBinning(n_bins=5, strategy="quantile", n_resamples=7, random_state=1).fit(P[:, 0], Y == 0)
    assert [len(maps) for maps in fitted.steps_] == [7]
    new = np.linspace(0, 1, 23)
    np.testing.assert_allclose(
        fitted.predict_proba(new), np.mean([one(new) for one in fitted.steps_[0]], axis=0), atol=1e-14
    )
    each = HistogramBinning(class_conditional=True, n_resamples=4, random_state=1).fit(P, Y)
    assert [len(maps) for maps in each.steps_] == [4, 4, 4]


def test_bootstrap_draws_with_its_key_alone():
    def out(rng):
        return HistogramBinning(n_resamples=5, random_state=rng).fit(P, Y).predict_proba(P)

    np.testing.assert_array_equal(out(1), out(1))
    np.testing.assert_array_equal(out(np.random.default_rng(3)), out(np.random.default_rng(3)))
    assert np.any(out(1) != out(2))
    assert np.any(out(None) != out(None))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": 2.5}, "n_bins"),
        ({"strategy": "other"}, "strategy 'uniform', 'quantile', 'tree', found 'other'"),
        ({"n_resamples": -1}, "n_resamples"),
        ({"n_resamples": 3, "random_state": -1}, "rng"),
    ],
)
def test_bad_parameters_raise_at_fit(bad, message):
    recalibrator = HistogramBinning(**bad)
    with pytest.raises(ValueError, match=message):
        recalibrator.fit(P, Y)
