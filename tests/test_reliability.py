"""The reliability diagram as numbers: bins, consistency bars against exact laws, Wilson, CORP."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom
from sklearn.isotonic import IsotonicRegression

import calibstat as cs


def rows(n, seed=0, distinct=None):
    rng = np.random.default_rng(seed)
    p = rng.random(n) if distinct is None else rng.integers(0, distinct + 1, n) / distinct
    return (rng.random(n) < p).astype(float), p


def loop_bins(y, p, n_bins):
    """Bin b of B is ((b - 1)/B, b/B], the first closed at 0: row by row, bin by bin."""
    table = []
    for b in range(1, n_bins + 1):
        hit = [(yi, pi) for yi, pi in zip(y, p, strict=True) if pi <= b / n_bins and (pi > (b - 1) / n_bins or b == 1)]
        if hit:
            outcomes, predictions = zip(*hit, strict=True)
            table.append(((b - 1) / n_bins, b / n_bins, len(hit), np.mean(predictions), np.mean(outcomes)))
    return np.array(table).T


# --- bins -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bins", [1, 2, 5, 10, 15])
def test_uniform_bins_equal_a_loop_over_rows(n_bins):
    y, p = rows(200)
    edges = np.arange(n_bins + 1) / n_bins  # 0, 1 and every b/B
    y, p = np.append(y, np.arange(n_bins + 1) % 2), np.append(p, edges)
    found = cs.reliability(y, p, n_bins=n_bins, band=None)
    left, right, count, prediction, frequency = loop_bins(y, p, n_bins)
    np.testing.assert_allclose(found.left, left, rtol=0, atol=1e-15)
    np.testing.assert_allclose(found.right, right, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(found.count, count)
    np.testing.assert_allclose(found.mean_prediction, prediction, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.frequency, frequency, rtol=1e-12, atol=1e-15)


def test_quantile_bins_share_the_rows_and_do_not_part_ties():
    y, p = rows(300)
    found = cs.reliability(y, p, n_bins=10, strategy="quantile", band=None)
    np.testing.assert_array_equal(found.count, np.full(10, 30))
    np.testing.assert_array_equal(found.left, np.sort(p)[::30])
    np.testing.assert_array_equal(found.right, np.sort(p)[29::30])
    tied = cs.reliability([0, 1, 1, 0, 1, 0], [0.3, 0.3, 0.3, 0.3, 0.9, 0.9], n_bins=3, strategy="quantile", band=None)
    np.testing.assert_array_equal(tied.count, [4, 2])


def test_weights_are_repeated_rows_and_real_ones_need_no_band():
    y, p = rows(60, distinct=12)
    weight = np.random.default_rng(1).integers(1, 4, 60)
    whole = cs.reliability(y, p, sample_weight=weight, rng=1)
    repeated = cs.reliability(np.repeat(y, weight), np.repeat(p, weight), rng=1)
    for name, entry in repeated.to_dict().items():
        np.testing.assert_array_equal(getattr(whole, name), entry, err_msg=name)
    real = cs.reliability(y, p, sample_weight=weight / 2, band=None)
    np.testing.assert_allclose(real.frequency, whole.frequency, rtol=1e-12)
    assert real.low is None
    assert real.n == weight.sum() / 2
    for band in ("consistency", "confidence"):
        with pytest.raises(ValueError, match="whole-number counts"):
            cs.reliability(y, p, sample_weight=weight / 2.1, band=band)


# --- consistency bars -------------------------------------------------------------------------------------------------


def law_of_deviation(value, count, n, prediction=None, empty_counts=False):
    """Exact law of frequency - mean prediction in one bin of one or two predictions, of n rows drawn with outcomes.

    Rows that fall on each prediction are multinomial, positives given these binomial; an empty bin does not count.
    """
    (v1, v2), (c1, c2) = (*value, 0.0)[:2], (*count, 0)[:2]
    q1, q2 = (v1, v2) if prediction is None else prediction
    law = {}
    for n1 in range(n + 1):
        for n2 in range(n - n1 + 1):
            at = binom.pmf(n1, n, c1 / n) * (binom.pmf(n2, n - n1, c2 / (n - c1)) if c1 < n else n2 == 0)
            if at == 0 or (n1 + n2 == 0 and not empty_counts):
                continue
            for k1 in range(n1 + 1):
                for k2 in range(n2 + 1):
                    deviation = (k1 - n1 * v1 + k2 - n2 * v2) / max(n1 + n2, 1)
                    x = round(deviation, 10)
                    law[x] = law.get(x, 0) + at * binom.pmf(k1, n1, q1) * binom.pmf(k2, n2, q2)
    atoms = np.array(sorted(law))
    mass = np.array([law[x] for x in atoms])
    return atoms, mass / mass.sum()


def is_percentile(x, q, atoms, mass, n_draws, alarm=1e-5):
    """Whether x may be the smallest of n_draws that a share q of them does not exceed: at most 2 alarm false no's."""
    at_most, below = mass[atoms <= x + 1e-8].sum(), mass[atoms < x - 1e-8].sum()
    needed = np.ceil(q * n_draws - 1e-9)
    enough = binom.sf(needed - 1, n_draws, min(at_most, 1)) >= alarm
    return bool(enough and binom.cdf(needed - 1, n_draws, min(below, 1)) >= alarm)


BINS = [([0.15], [2]), ([0.5], [1]), ([0.7, 0.75], [4, 3])]  # one bin of three each; ten rows
DRAWS = 20_000


def bars(level):
    value, count = (np.concatenate([bin[i] for bin in BINS]) for i in (0, 1))
    sample = cs.Sample.from_counts(value, count, np.zeros(4))
    return cs.reliability(sample, n_bins=3, level=level, n_resamples=DRAWS, rng=7)


def fits(found, level, b, **fault):
    atoms, mass = law_of_deviation(*BINS[b], n=10, **fault)
    mean = found.mean_prediction[b]
    ends = ((found.low[b], (1 - level) / 2), (found.high[b], (1 + level) / 2))
    # frequencies are kept within [0, 1], and so is the law they come from
    clipped = np.clip(atoms + mean, 0, 1) - mean
    return all(is_percentile(end - mean, q, clipped, mass, DRAWS) for end, q in ends)


@pytest.mark.parametrize("level", [0.9, 0.45])
@pytest.mark.parametrize("at_once", [True, False])
def test_consistency_bars_are_percentiles_of_the_exact_law(level, at_once, monkeypatch):
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
def test_a_wrong_law_of_the_bars_is_found(level, b, fault):
    assert not fits(bars(level), level, b, **fault)


def test_bars_of_a_calibrated_model_cover_as_they_say():
    # 200 samples of 15 bins of 100 rows: 3000 bars of 90 %, outside at most 10 % but for 4.5 standard deviations
    outside = 0
    for seed in range(200):
        rng = np.random.default_rng(1000 + seed)
        value = (np.arange(15) + 0.5) / 15
        sample = cs.Sample.from_counts(value, np.full(15, 100), rng.binomial(100, value))
        outside += np.sum(~cs.reliability(sample, rng=seed).inside)
    assert 150 < outside < 300 + 4.5 * np.sqrt(3000 * 0.1 * 0.9)


def test_bars_do_not_depend_on_threads_or_form_of_the_data():
    y, p = rows(500, distinct=40)
    one = cs.reliability(y, p, rng=3)
    for other in (cs.reliability(y, p, rng=3, n_jobs=2), cs.reliability(cs.Sample.from_rows(y, p), rng=3)):
        np.testing.assert_array_equal(one.low, other.low)
        np.testing.assert_array_equal(one.high, other.high)
    assert not np.array_equal(one.low, cs.reliability(y, p, rng=4).low)


# --- confidence bars and CORP -----------------------------------------------------------------------------------------


def test_confidence_bars_are_wilsons():
    # 8 of 10, z = 1.959964, z^2 = 3.841459: centre (.8 + 3.841459/20) / 1.3841459 = .716740,
    # half width 1.959964 * sqrt(.8 * .2/10 + 3.841459/400) / 1.3841459 = .226578
    found = cs.reliability(cs.Sample.from_counts([0.5], [10], [8]), band="confidence")
    assert found.low == pytest.approx([0.490162], abs=1e-6)
    assert found.high == pytest.approx([0.943318], abs=1e-6)
    assert found.band_level == 0.95
    y, p = rows(400)
    found = cs.reliability(y, p, band="confidence", level=0.8, strategy="quantile")
    z, n, f = 1.2815515655446004, found.count, found.frequency
    centre = (f + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(f * (1 - f) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    np.testing.assert_allclose(found.low, centre - half, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.high, centre + half, rtol=0, atol=1e-12)


@pytest.mark.parametrize("distinct", [None, 40])
def test_the_corp_curve_is_isotonic_regression(distinct):
    y, p = rows(150, distinct=distinct)  # with 40, few rows and differently many at each: neighbours must be pooled
    found = cs.reliability(y, p, band=None)
    expected = IsotonicRegression().fit(p, y).predict(np.unique(p))
    np.testing.assert_allclose(np.interp(np.unique(p), found.corp_value, found.corp_frequency), expected, atol=1e-12)
    assert found.corp_value.size <= np.unique(p).size


# --- the result -------------------------------------------------------------------------------------------------------


def test_the_result_says_what_its_bars_mean():
    y, p = rows(3000)
    found = cs.reliability(y, p, rng=1)
    assert (found.band_level, found.n_resamples) == (0.9, 1000)
    assert "0.9^15 = 0.21" in str(found)  # .9^15 = .2059
    assert f"in {np.sum(~found.inside)} of 15" in str(found)
    wide = cs.reliability(y, p, n_bins=4, band="confidence")
    assert "0.95^4 = 0.81" in str(wide)
    assert "bar" not in str(cs.reliability(y, p, band=None))
    frame = found.to_frame()
    assert frame.shape == (15, 8)
    np.testing.assert_array_equal(frame["high"], found.high)
    assert "low" not in cs.reliability(y, p, band=None).to_frame()
    assert isinstance(found.to_dict()["count"], list)
    with pytest.raises(ValueError, match="read-only"):
        found.frequency[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"band": "both"}, "expected band"),
        ({"strategy": "kmeans"}, "expected strategy"),
        ({"n_bins": 0}, "expected n_bins"),
        ({"level": 1.0}, "expected level"),
        ({"n_resamples": 19}, "at least 20"),
        ({"n_resamples": 199, "level": 0.99}, "at least 200"),
        ({"rng": "one"}, "expected rng"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        cs.reliability(*rows(20), **options)


ANY_ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 0.2, 0.5, 1 / 3, 0.7, 1])), min_size=1)
ALL_ONE = st.integers(1, 30).map(lambda n: [(1, 0.4)] * n)
ALL_ZERO = st.lists(st.floats(0, 1).map(lambda p: (0, p)), min_size=1, max_size=30)


@settings(deadline=None, max_examples=60)
@given(data=ANY_ROWS | ALL_ONE | ALL_ZERO, strategy=st.sampled_from(["uniform", "quantile"]), n_bins=st.integers(1, 20))
def test_any_rows_give_bins_that_hold_together(data, strategy, n_bins):
    y, p = np.array(data, dtype=float).T
    for band in ("consistency", "confidence"):
        found = cs.reliability(y, p, n_bins=n_bins, strategy=strategy, band=band, n_resamples=50, rng=1)
        assert found.count.sum() == len(data)
        assert (found.count > 0).all()
        assert found.count @ found.frequency == pytest.approx(y.sum())
        assert found.count @ found.mean_prediction == pytest.approx(p.sum())
        assert (found.left <= found.mean_prediction + 1e-12).all()
        assert (found.mean_prediction <= found.right + 1e-12).all()
        assert (found.low >= 0).all()
        assert (found.low <= found.high).all()
        assert (found.high <= 1).all()
        inner = found.mean_prediction if band == "consistency" else found.frequency
        certain = (inner == 0) | (inner == 1) if band == "consistency" else np.ones(inner.size, bool)
        assert (found.low[certain] <= inner[certain] + 1e-9).all()
        assert (inner[certain] <= found.high[certain] + 1e-9).all()
        assert (np.diff(found.corp_value) > 0).all()
        assert (np.diff(found.corp_frequency) >= 0).all()
        assert str(found)
