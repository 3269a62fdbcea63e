"""Isotonic regression, histogram binning, mean replacement and neural scaling."""

import sys

import numpy as np
import pytest
from conftest import rows
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import calibstat as cs
from calibstat.recalibration import HistogramBinning, IsotonicRegression, MeanReplacement, NeuralScaling

Y, P = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(300, rng=7)
EIGHTHS = np.round(P * 8) + 1e-9  # with many ties; no row of zeros
TIED = EIGHTHS / EIGHTHS.sum(axis=1, keepdims=True)


# Isotonic regression


def test_isotonic_by_hand():
    # outcomes 0, 1, 0, 1: the middle two are pooled to 1/2; linear in between, constant outside
    fitted = IsotonicRegression().fit([0.2, 0.4, 0.6, 0.8], [0, 1, 0, 1])
    np.testing.assert_allclose(
        fitted.predict_proba([0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.8, 1]), [0, 0, 0.25, 0.5, 0.5, 0.5, 0.625, 1, 1]
    )


def test_isotonic_of_three_classes_by_hand():
    p = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.1, 0.8]]
    fitted = IsotonicRegression().fit(p, [0, 1, 2])  # every class separates: its largest prediction becomes 1
    assert fitted.predict_proba(p).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    # class 0: .35 is halfway from .2 to .5; class 1: .4 halfway from .3 to .5; class 2: .25 is still 0
    np.testing.assert_allclose(fitted.predict_proba([[0.35, 0.4, 0.25]]), [[0.5, 0.5, 0]])
    # nothing happened at .4 or below: a row without any larger prediction has no score left
    fitted = IsotonicRegression().fit([[0.4, 0, 0.6], [0.6, 0.4, 0], [0, 0.6, 0.4]], [2, 0, 1])
    np.testing.assert_allclose(fitted.predict_proba([[0.4, 0.3, 0.3], [0.6, 0.2, 0.2]]), [[1 / 3] * 3, [1, 0, 0]])


@pytest.mark.parametrize("p", [P, TIED])
def test_isotonic_against_scikit_learn(p):
    other = pytest.importorskip("sklearn.isotonic").IsotonicRegression(out_of_bounds="clip")
    new = cs.generators.dirichlet((1, 1, 1)).sample(50, rng=8)[1]
    scores = np.stack([other.fit(p[:, k], np.eye(3)[Y, k]).predict(new[:, k]) for k in range(3)], axis=1)
    total = scores.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(IsotonicRegression().fit(p, Y).predict_proba(new), scores / total, atol=1e-12)
    event = other.fit(p[:, 1], Y == 1).predict(new[:, 1])
    np.testing.assert_allclose(IsotonicRegression().fit(p[:, 1], Y == 1).predict_proba(new[:, 1]), event, atol=1e-12)


def decreases(out):
    return bool(np.any(np.diff(out) < 0))


@given(rows(), st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_isotonic_is_monotone(data, new):
    y, p = data
    fitted = IsotonicRegression().fit(p, y)
    assert not decreases(fitted.predict_proba(np.sort(new)))
    # the mean over the calibration rows is that of the outcomes, and no monotone map has a smaller squared error
    out = fitted.predict_proba(p)
    assert out.mean() == pytest.approx(y.mean(), abs=1e-12)
    assert ((out - y) ** 2).sum() <= min(((p - y) ** 2).sum(), ((y.mean() - y) ** 2).sum()) + 1e-12


def test_a_histogram_is_not_monotone():
    # the planted fault: binning instead
    assert decreases(HistogramBinning(n_bins=2).fit([0.2, 0.8], [1, 0]).predict_proba([0.2, 0.8]))


# Histogram binning


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
    from calibstat.measures.binned import bin_cells

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
    """The range of a binomial number that is left in 1 of 10⁴ cases."""
    return stats.binom.ppf([5e-5, 1 - 5e-5], DRAWS, chance)


def test_bootstrap_leaves_out_rows_as_often_as_it_should():
    # n = 2 rows, one of them in the bin (2/3, 1] with centre 5/6: drawn in 3 of 4 samples
    fitted = HistogramBinning(n_bins=3, bootstrap=DRAWS, rng=11).fit([0.1, 0.9], [0, 1])
    low, high = limits(0.75)
    assert low <= times_drawn(fitted, 5 / 6) <= high
    # planted faults: three rows, without replacement, and the plain map
    three = HistogramBinning(n_bins=3, bootstrap=DRAWS, rng=11).fit([0.1, 0.1, 0.9], [0, 0, 1])
    assert not low <= times_drawn(three, 5 / 6) <= high
    assert not low <= DRAWS <= high
    assert times_drawn(HistogramBinning(n_bins=3).fit([0.1, 0.9], [0, 1]), 5 / 6) == DRAWS


def test_bootstrap_averages_the_maps_of_its_samples():
    fitted = HistogramBinning(n_bins=5, strategy="quantile", bootstrap=7, rng=1).fit(P[:, 0], Y == 0)
    assert [len(maps) for maps in fitted.steps_] == [7]
    new = np.linspace(0, 1, 23)
    np.testing.assert_allclose(
        fitted.predict_proba(new), np.mean([one(new) for one in fitted.steps_[0]], axis=0), atol=1e-14
    )
    each = HistogramBinning(class_conditional=True, bootstrap=4, rng=1).fit(P, Y)
    assert [len(maps) for maps in each.steps_] == [4, 4, 4]


def test_bootstrap_draws_with_its_key_alone():
    def out(rng):
        return HistogramBinning(bootstrap=5, rng=rng).fit(P, Y).predict_proba(P)

    np.testing.assert_array_equal(out(1), out(1))
    np.testing.assert_array_equal(out(np.random.default_rng(3)), out(np.random.default_rng(3)))
    assert np.any(out(1) != out(2))
    assert np.any(out(None) != out(None))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": 2.5}, "n_bins"),
        ({"strategy": "other"}, "strategy 'uniform' or 'quantile', found 'other'"),
        ({"bootstrap": -1}, "n_resamples"),
        ({"bootstrap": 3, "rng": -1}, "rng"),
    ],
)
def test_bad_parameters_raise_at_fit(bad, message):
    recalibrator = HistogramBinning(**bad)
    with pytest.raises(ValueError, match=message):
        recalibrator.fit(P, Y)


# Mean replacement


def test_mean_replacement_by_hand():
    p = [[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.1, 0.1, 0.8], [0.5, 0.5, 0.0], [0.4, 0.3, 0.3]]
    fitted = MeanReplacement().fit(p, [0, 1, 0, 0, 2])  # rows 0, 1 and 3 (of equal ones the first) are right
    assert fitted.confidence_ == 0.6
    np.testing.assert_allclose(fitted.predict_proba(p[2:4]), [[0.2, 0.2, 0.6], [0.6, 0.2, 0.2]])
    binary = MeanReplacement().fit([0.2, 0.5, 0.9, 0.6], [0, 0, 1, 0])
    np.testing.assert_allclose(binary.predict_proba([0.4, 0.5, 0.51]), [0.25, 0.25, 0.75])


def test_mean_replacement_that_is_mostly_wrong_turns_round():
    binary = MeanReplacement().fit([0.2, 0.3, 0.9, 0.6], [1, 1, 0, 1])
    np.testing.assert_allclose(binary.predict_proba([0.4, 0.7]), [0.75, 0.25])
    assert binary.predict([0.4, 0.7]).tolist() == [1, 0]


def test_mean_replacement_shows_no_top_label_error_and_keeps_the_accuracy():
    fitted = MeanReplacement().fit(P, Y)
    out = fitted.predict_proba(P)
    assert cs.estimate(Y, out) == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(fitted.predict(P), P.argmax(axis=1))
    # and knows less: its log loss is worse than before, which is worse than that of the right temperature
    new_y, new = cs.generators.dirichlet((0.7, 0.7, 0.7)).sample(2000, rng=9)
    known = MeanReplacement().fit(new, new_y).predict_proba(new)
    assert -np.log(known[np.arange(2000), new_y]).mean() > -np.log(new[np.arange(2000), new_y]).mean()


# Neural scaling


def test_neural_scaling_is_reproducible_and_helps():
    pytest.importorskip("sklearn")

    def fitted(seed):
        return NeuralScaling(hidden_layer_sizes=(6,), random_state=seed).fit(P, Y)

    one = fitted(1)
    assert one.converged_
    np.testing.assert_array_equal(one.predict_proba(P), fitted(1).predict_proba(P))
    assert np.any(one.predict_proba(P) != fitted(2).predict_proba(P))
    new_y, new = cs.generators.dirichlet((0.7, 0.7, 0.7), temperature=2).sample(2000, rng=10)
    before, after = new[np.arange(2000), new_y], one.predict_proba(new)[np.arange(2000), new_y]
    assert -np.log(after).mean() < -np.log(before).mean()


def test_neural_scaling_reports_that_it_needs_longer():
    pytest.importorskip("sklearn")
    recalibrator = NeuralScaling(hidden_layer_sizes=(3,), max_iter=2, random_state=1)
    with pytest.warns(RuntimeWarning, match="NeuralScaling has not converged: .*max_iter=2"):
        recalibrator.fit(P, Y)
    assert not recalibrator.converged_


@pytest.mark.parametrize("kept", [(0,), (0, 2)])
def test_neural_scaling_gives_a_class_that_never_happened_no_probability(kept):
    pytest.importorskip("sklearn")
    never = ", ".join(str(k) for k in range(3) if k not in kept)
    fitted = NeuralScaling(hidden_layer_sizes=(3,), random_state=1, max_iter=20)
    with pytest.warns(RuntimeWarning, match=f"no row of class {never}, which is given probability 0"):
        fitted.fit(P, np.where(np.isin(Y, kept), Y, 0))
    found = fitted.predict_proba(P)
    assert [k for k in range(3) if found[:, k].any()] == list(kept)
    assert found.sum(axis=1) == pytest.approx(1)


def test_neural_scaling_takes_constant_predictions():
    pytest.importorskip("sklearn")
    fitted = NeuralScaling(hidden_layer_sizes=(3,), random_state=1, max_iter=5000).fit([0.3] * 40, [0, 1, 1, 1] * 10)
    # whose spread is 0: it stops long before the share of .75, but on the right side
    assert 0.5 < fitted.predict_proba([0.3])[0] < 0.8


def test_scikit_learn_is_imported_only_when_needed():
    assert "sklearn" not in vars(sys.modules["calibstat.recalibration.neural"])
