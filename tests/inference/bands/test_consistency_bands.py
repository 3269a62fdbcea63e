"""Consistency bands: exact level by enumeration, the CORP band by simulation, pointwise bars by exact distributions."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import weighted_rows
from scipy.stats import binom

import calibstat as cs
from calibstat.bounds.isotonic_interval import recalibrated

LEVELS = (0.95, 0.8, 0.5)
SAMPLES = {  # bins of some rows each: with ties, one row, 0 and 1
    "three bins": ([0.1, 0.15, 0.4, 0.45, 0.7, 0.75, 0.8], [1, 2, 1, 1, 2, 1, 2]),
    "rare": ([0.01, 0.02, 0.35, 0.9], [3, 4, 2, 1]),
    "0 and 1": ([0.0, 0.5, 0.6, 1.0], [2, 3, 3, 2]),
    "one row": ([0.3], [1]),
    "constant": ([0.3], [9]),
    "mirrored": ([0.25, 0.75], [5, 5]),
}


def outcomes(count):
    """Numbers of positives at each distinct prediction, of every possible data set."""
    return np.array(list(product(*(range(c + 1) for c in count))), dtype=float)


def chances(value, count, positives):
    """How likely each data set is if calibrated."""
    return np.prod(binom.pmf(positives, count, value), axis=1)


def bin_sums(value, positives, n_bins=3):
    """Positives in each bin that holds rows, of each data set: bin b is ((b - 1) / B, b / B], the first from 0."""
    number = np.array([next(b for b in range(1, n_bins + 1) if v <= b / n_bins) for v in value])
    return np.stack([positives[:, number == b].sum(axis=1) for b in np.unique(number)], axis=1)


def leaving(found, sums, chance):
    """How likely it is that the frequency of some bin is outside the band."""
    frequency = sums / found.count
    inside = (found.low - 1e-9 <= frequency) & (frequency <= found.high + 1e-9)
    return chance[~inside.all(axis=1)].sum()


def largest_tails(sums, chance, level):
    """By enumeration: the band that cuts off the largest tails with which it is left with at most 1 - level."""
    tails = np.empty_like(sums)
    for b in range(sums.shape[1]):
        for s in np.unique(sums[:, b]):
            here = sums[:, b] == s
            tails[here, b] = min(chance[sums[:, b] <= s].sum(), chance[sums[:, b] >= s].sum())
    best = (sums.min(axis=0), sums.max(axis=0))
    for cut in np.unique(tails):
        kept = tails > cut * (1 + 1e-9)
        if not kept.any(axis=0).all() or chance[~kept.all(axis=1)].sum() > 1 - level + 1e-12:
            break
        best = (np.where(kept, sums, np.inf).min(axis=0), np.where(kept, sums, -np.inf).max(axis=0))
    return best


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_band_is_the_narrowest_of_its_level(name, level):
    value, count = SAMPLES[name]
    positives = outcomes(count)
    chance, sums = chances(value, count, positives), bin_sums(value, positives)
    found = cs.reliability(cs.Sample.from_counts(value, count, count), n_bins=3, confidence_level=level, rng=1)
    assert leaving(found, sums, chance) <= 1 - level + 1e-12
    possible = chance > 0
    low, high = largest_tails(sums[possible], chance[possible], level)
    np.testing.assert_allclose(found.low * found.count, low, atol=1e-9)
    np.testing.assert_allclose(found.high * found.count, high, atol=1e-9)


def test_pointwise_bars_do_not_hold_all_bins_at_once():
    value, count = (np.arange(5) + 0.5) / 5, [6] * 5
    positives = outcomes(count)
    chance, sums = chances(value, count, positives), bin_sums(value, positives, 5)
    sample = cs.Sample.from_counts(value, count, count)
    bands = ("consistency", "pointwise_consistency")
    held, alone = (cs.reliability(sample, n_bins=5, band=band, confidence_level=0.8, rng=1) for band in bands)
    assert leaving(held, sums, chance) <= 0.2
    assert leaving(alone, sums, chance) > 0.3


@given(data=weighted_rows(), n_bins=st.integers(1, 6), level=st.sampled_from(LEVELS))
def test_the_band_depends_on_predictions_alone(data, n_bins, level):
    y, p, weight = data
    given = {"n_bins": n_bins, "confidence_level": level, "n_resamples": 19}
    samples = (cs.Sample.from_rows(labels, p, weight) for labels in (y, 1 - y))
    one, other = (cs.reliability(sample, rng=seed, **given) for seed, sample in enumerate(samples))
    np.testing.assert_array_equal(one.low, other.low)
    np.testing.assert_array_equal(one.high, other.high)
    holds = (one.low * one.count).round(6), (one.high * one.count).round(6)
    assert all(np.array_equal(ends, np.rint(ends)) for ends in holds)  # attained by a number of positives


def test_mirrored_predictions_have_mirrored_bands():
    value = np.array([0.05, 0.3, 0.45, 0.55, 0.7, 0.95])
    found = cs.reliability(cs.Sample.from_counts(value, [40, 30, 20, 20, 30, 40], np.zeros(6)), n_bins=None, rng=1)
    np.testing.assert_allclose(found.low, 1 - found.high[::-1], atol=1e-12)


# --- the CORP curve ---------------------------------------------------------------------------------------------------


def left_by_calibrated(replicates, n, **fault):
    """How many calibrated data sets have a CORP curve outside its band; with a fault, outside pointwise quantiles."""
    random, out = np.random.default_rng(5), 0
    for seed in range(replicates):
        p = random.random(n)
        found = cs.reliability((random.random(n) < p) * 1.0, p, n_resamples=39, interval=False, rng=seed)
        if fault:
            v = np.sort(p)
            drawn = [recalibrated(v, np.ones(n), (random.random(n) < v) * 1.0) for _ in range(39)]
            low, high = np.quantile(drawn, (0.025, 0.975), axis=0)
            fitted = np.interp(v, found.corp_value, found.corp_frequency)
            out += not ((low - 1e-9 <= fitted) & (fitted <= high + 1e-9)).all()
        else:
            out += not found.corp_inside
    return out


def test_the_band_of_the_corp_curve_keeps_its_level():
    assert left_by_calibrated(150, 60) <= binom.isf(1e-4, 150, 0.05)


@pytest.mark.slow
def test_the_level_of_the_band_of_the_corp_curve_is_used():
    # at most .05 of 600; not below .02, which holds for all but heavy ties: 2e-4 false alarms
    out = left_by_calibrated(600, 60)
    assert 0 < binom.ppf(1e-4, 600, 0.02) <= out <= binom.isf(1e-4, 600, 0.05)


def test_pointwise_quantiles_of_the_corp_curve_are_left_too_often():
    assert left_by_calibrated(150, 60, pointwise=True) > binom.isf(1e-4, 150, 0.05)


@pytest.mark.parametrize("seed", range(20))
def test_a_curve_inside_at_some_places_is_inside_everywhere(seed):
    y, p = rows(300, seed, distinct=200 if seed % 2 else None)
    p = np.clip(p**2 if seed % 4 > 1 else p, 0, 1)
    found = cs.reliability(y, p, n_resamples=99, confidence_level=0.5, rng=seed)
    assert 50 < found.curve_value.size <= 101
    everywhere = np.unique(p)
    assert (found.curve_value[0], found.curve_value[-1]) == (everywhere[0], everywhere[-1])
    low, high = found.curve_at(everywhere)
    fitted = np.interp(everywhere, found.corp_value, found.corp_frequency)
    assert found.corp_inside == bool(((low - 1e-9 <= fitted) & (fitted <= high + 1e-9)).all())


def test_the_band_of_the_corp_curve_by_hand():
    # a single prediction: every curve is the share of positives S / 4, S ~ Binomial(4, .5). With 39 draws k = 38, the
    # second largest distance from the median
    sample = cs.Sample.from_counts([0.5], [4], [4])
    found = cs.reliability(sample, n_resamples=39, rng=1)
    assert found.curve_low[0] <= 0.25
    assert found.curve_high[0] >= 0.75
    sure = cs.reliability(cs.Sample.from_counts([0, 1], [3, 2], [0, 2]), rng=1)
    np.testing.assert_array_equal(sure.curve_low, [0, 1])
    np.testing.assert_array_equal(sure.curve_high, [0, 1])
    assert sure.corp_inside
    wrong = cs.reliability(cs.Sample.from_counts([0, 1], [3, 2], [1, 2]), rng=1)
    assert not wrong.corp_inside


def test_many_rows_take_fewer_draws(monkeypatch):
    y, p = rows(500)
    assert cs.reliability(y, p, rng=1).n_resamples == 1000
    monkeypatch.setattr("calibstat.inference.bands.consistency_bands.FIT_BUDGET", 500 * 200)
    assert cs.reliability(y, p, rng=1).n_resamples == 200
    assert cs.reliability(y, p, n_resamples=150, rng=1).n_resamples == 150
    monkeypatch.setattr("calibstat.inference.bands.consistency_bands.FIT_BUDGET", 1)
    assert cs.reliability(y, p, rng=1).n_resamples == 99
    assert cs.reliability(y, p, confidence_level=0.995, rng=1).n_resamples == 199


@pytest.mark.parametrize("band", ["consistency", "pointwise_consistency"])
def test_bands_do_not_depend_on_threads_or_form_of_the_data(band):
    y, p = rows(500, distinct=80)
    one = cs.reliability(y, p, band=band, rng=3)
    for other in (
        cs.reliability(y, p, band=band, rng=3, n_jobs=2),
        cs.reliability(cs.Sample.from_rows(y, p), band=band, rng=3),
    ):
        for name in ("low", "high", "curve_value", "curve_low", "curve_high"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    drawn = "curve_high" if band == "consistency" else "high"
    assert not np.array_equal(getattr(one, drawn), getattr(cs.reliability(y, p, band=band, rng=4), drawn))


def rows(n, seed=0, distinct=None):
    rng = np.random.default_rng(seed)
    p = rng.random(n) if distinct is None else rng.integers(0, distinct + 1, n) / distinct
    return (rng.random(n) < p).astype(float), p


# --- pointwise bars ---------------------------------------------------------------------------------------------------


@cache
def distribution_of_deviation(value, count, n, prediction=None, empty_counts=False):
    """Exact distribution of frequency - mean prediction in a bin of one or two predictions, n rows drawn with outcomes.

    Rows that fall on each prediction are multinomial, positives given these binomial; an empty bin does not count.
    """
    (v1, v2), (c1, c2) = (*value, 0.0)[:2], (*count, 0)[:2]
    q1, q2 = (v1, v2) if prediction is None else prediction
    chance = {}
    for n1 in range(n + 1):
        for n2 in range(n - n1 + 1):
            at = binom.pmf(n1, n, c1 / n) * (binom.pmf(n2, n - n1, c2 / (n - c1)) if c1 < n else n2 == 0)
            if at == 0 or (n1 + n2 == 0 and not empty_counts):
                continue
            for k1 in range(n1 + 1):
                for k2 in range(n2 + 1):
                    deviation = (k1 - n1 * v1 + k2 - n2 * v2) / max(n1 + n2, 1)
                    x = round(deviation, 10)
                    chance[x] = chance.get(x, 0) + at * binom.pmf(k1, n1, q1) * binom.pmf(k2, n2, q2)
    atoms = np.array(sorted(chance))
    mass = np.array([chance[x] for x in atoms])
    return atoms, mass / mass.sum()


def is_percentile(x, q, atoms, mass, n_draws, alarm=1e-5):
    """Whether x may be the smallest of n_draws that a share q of them does not exceed: at most 2 alarm false no's."""
    at_most, below = mass[atoms <= x + 1e-8].sum(), mass[atoms < x - 1e-8].sum()
    needed = np.ceil(q * n_draws - 1e-9)
    enough = binom.sf(needed - 1, n_draws, min(at_most, 1)) >= alarm
    return bool(enough and binom.cdf(needed - 1, n_draws, min(below, 1)) >= alarm)


BINS = [((0.15,), (2,)), ((0.5,), (1,)), ((0.7, 0.75), (4, 3))]  # one bin of three each; ten rows
DRAWS = 20_000


@cache
def exact_bars(level):
    """Those that are drawn by the distribution of each bin."""
    return bars(level)


def bars(level):
    value, count = (np.concatenate([bin[i] for bin in BINS]) for i in (0, 1))
    sample = cs.Sample.from_counts(value, count, np.zeros(4))
    return cs.reliability(
        sample, n_bins=3, band="pointwise_consistency", confidence_level=level, n_resamples=DRAWS, rng=7
    )


def fits(found, level, b, **fault):
    atoms, mass = distribution_of_deviation(*BINS[b], n=10, **fault)
    mean = found.mean_prediction[b]
    ends = ((found.low[b], (1 - level) / 2), (found.high[b], (1 + level) / 2))
    # frequencies are kept within [0, 1], and so is the distribution they come from
    clipped = np.clip(atoms + mean, 0, 1) - mean
    return all(is_percentile(end - mean, q, clipped, mass, DRAWS) for end, q in ends)


@pytest.mark.parametrize("level", [0.9, 0.45])
@pytest.mark.parametrize("at_once", [True, False])
def test_consistency_bars_are_percentiles_of_the_exact_distribution(level, at_once, monkeypatch):
    if not at_once:  # as of very many bins: one resample after the other
        monkeypatch.setattr("calibstat.resampling.binary_cells.LARGEST_TABLE", 0)
    found = bars(level)  # 2 ways, 2 levels, 3 bins, 2 ends, 2 sides of 1e-5: 4.8e-4 false alarms in all
    assert [fits(found, level, b) for b in range(3)] == [True] * 3


@pytest.mark.parametrize(
    ("level", "b", "fault"),
    [
        (0.9, 0, {"prediction": (0.05, 0)}),  # outcomes drawn from another probability
        (0.45, 1, {"empty_counts": True}),  # empty bins taken for bins without deviation
        (0.9, 2, {"prediction": (0.5, 0.5)}),
    ],
)
def test_a_wrong_distribution_of_the_bars_is_found(level, b, fault):
    assert not fits(exact_bars(level), level, b, **fault)


def test_bars_of_a_calibrated_model_cover_as_they_say():
    # 60 samples of 15 bins of 100 rows: 900 bars of 90 %, outside at most 10 % but for 4.5 standard deviations
    outside = 0
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        value = (np.arange(15) + 0.5) / 15
        sample = cs.Sample.from_counts(value, np.full(15, 100), rng.binomial(100, value))
        found = cs.reliability(sample, band="pointwise_consistency", confidence_level=0.9, interval=False, rng=seed)
        outside += np.sum(~found.inside)
    assert 45 < outside < 90 + 4.5 * np.sqrt(900 * 0.1 * 0.9)


def test_a_billion_rows_have_a_band():
    """By the normal distribution: 10 bins at .95 leave out .00256 at each end of each, and 2.799 deviations."""
    value = (np.arange(10) + 0.5) / 10
    sample = cs.Sample.from_counts(value, np.full(10, 1e8), np.rint(value * 1e8))
    found = cs.reliability(sample, n_bins=10, rng=1, n_resamples=19)
    deviation = np.sqrt(value * (1 - value) / 1e8)
    np.testing.assert_allclose((found.high - value) / deviation, 2.799, rtol=1e-3)
    np.testing.assert_allclose((value - found.low) / deviation, 2.799, rtol=1e-3)


# --- a calibration map as the null hypothesis, and binomial bars ------------------------------------------------------


def squared(v):
    return v**2


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", SAMPLES)
def test_the_band_of_a_map_is_the_largest_that_keeps_the_level(name, level):
    value, count = np.array(SAMPLES[name][0]), np.array(SAMPLES[name][1])
    positives = outcomes(count)
    chance, sums = chances(squared(value), count, positives), bin_sums(value, positives)
    sample = cs.Sample.from_counts(value, count, np.zeros(count.size))
    found = cs.reliability(
        sample, n_bins=3, confidence_level=level, null=squared, interval=False, n_resamples=99, rng=1
    )
    assert leaving(found, sums, chance) <= 1 - level + 1e-12
    possible = chance > 0
    ends = largest_tails(sums[possible], chance[possible], level)
    np.testing.assert_allclose((found.low * found.count, found.high * found.count), ends, atol=1e-9)
    plain = cs.reliability(sample, n_bins=3, confidence_level=level, interval=False, n_resamples=99, rng=1)
    assert plain.expected is None
    number = np.ceil(value * 3).clip(1)
    mean = [np.average(squared(value)[number == b], weights=count[number == b]) for b in np.unique(number)]
    np.testing.assert_allclose(found.expected, mean, atol=1e-15)


def test_the_band_of_a_map_of_vectors_is_of_each_row():
    """Two rows of one confidence that are right with .9 and .1: none or both are in .18, and one in .82."""
    prob = np.array([[0.6, 0.4, 0.0], [0.6, 0.0, 0.4]])
    chance = np.array([[0.9, 0.1, 0.0], [0.1, 0.9, 0.0]])
    found = cs.reliability(
        [0, 0], prob, null=lambda p: chance, confidence_level=0.8, interval=False, n_resamples=99, rng=1
    )
    np.testing.assert_array_equal((found.low, found.high), ([0.5], [0.5]))
    few = {"confidence_level": 0.8, "interval": False, "n_resamples": 99, "rng": 1}
    shared = cs.reliability([0, 0], prob, null=lambda p: np.full((2, 3), [0.5, 0.5, 0.0]), **few)
    np.testing.assert_array_equal((shared.low, shared.high), ([0.0], [1.0]))
    given = {"null": lambda p: chance, "n_bins": 1, "interval": False, "n_resamples": 99}
    each = cs.reliability([0, 0], prob, lens="class_wise", rng=1, **given)
    np.testing.assert_allclose([one.expected[0] for one in each.diagrams], [0.5, 0.5, 0.0])


def test_the_corp_curve_of_a_map_keeps_to_its_band():
    y, p = cs.generators.temperature(2).sample(400, rng=3)
    right = cs.generators.temperature(2).curve
    assert cs.reliability(y, p, null=right, interval=False, rng=1).corp_inside
    assert not cs.reliability(y, p, interval=False, rng=1).corp_inside


@given(data=weighted_rows(), level=st.sampled_from(LEVELS), n_bins=st.integers(1, 5))
def test_binomial_bars_are_quantiles(data, level, n_bins):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    for null in (None, squared):
        found = cs.reliability(
            sample, n_bins=n_bins, band="binomial", confidence_level=level, null=null, interval=False
        )
        mean, tail = found.mean_prediction if null is None else found.expected, (1 - level) / 2
        low, high = np.rint(found.low * found.count), np.rint(found.high * found.count)
        slack = 1e-9
        assert np.all(binom.cdf(low - 1, found.count, mean) <= tail + slack)
        assert np.all(binom.cdf(low, found.count, mean) >= tail - slack)
        assert np.all(binom.sf(high, found.count, mean) <= tail + slack)
        assert np.all(binom.sf(high - 1, found.count, mean) >= tail - slack)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"band": "confidence"}, "expected no null= with band='confidence', found one: it is about the outcomes"),
        ({"band": "pointwise_consistency"}, "found one: it draws the rows too"),
        ({"band": None}, "expected no null= with band=None, found one: nothing is drawn"),
        ({"sample_weight": np.arange(1, 61)}, "expected independent rows of equal weight with null=, found weights"),
        ({"cluster": np.arange(60)}, "expected independent rows of equal weight with null=, found clusters"),
    ],
)
def test_where_a_map_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        cs.reliability([0, 1, 1] * 20, [0.2, 0.4, 0.9] * 20, null=squared, **given)


def test_vectors_have_no_band_of_a_map():
    with pytest.raises(ValueError, match="expected a lens that shows one event, or each class, with null="):
        cs.reliability([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.8, 0.1]], lens="canonical", null=lambda p: p)


def test_binomial_bars_count_rows():
    with pytest.raises(ValueError, match="without sample_weight for band='binomial'"):
        cs.reliability([0, 1], [0.2, 0.9], band="binomial", sample_weight=[0.5, 1.5], interval=False)
