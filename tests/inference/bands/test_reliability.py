"""The reliability diagram as numbers: bins, weights, CORP, every band on any rows."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import calibstat as cs
from calibstat.inference.bands.bands import BANDS


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


def test_the_error_and_its_interval_are_those_of_the_bins():
    y, p = rows(400)
    for bins in ({"n_bins": 7}, {"n_bins": 5, "strategy": "quantile"}, {}):
        found = cs.reliability(y, p, rng=3, confidence_level=0.9, **bins)
        assert found.error == pytest.approx(cs.estimate(y, p, measure="ece", **bins), abs=1e-12)
        expected = cs.confidence_interval(y, p, measure="ece", confidence_level=0.9, rng=3, **bins)
        assert found.interval.to_dict() == expected.to_dict()
    assert cs.reliability(y, p, interval=False).interval is None
    assert cs.reliability(y, p, n_bins=None, band=None).interval is None  # hardly a row in each bin
    real = cs.Sample.from_rows(y, p, np.full(400, 0.5))  # whose rows are not known
    assert cs.reliability(real, band=None).interval is None
    prob = np.column_stack([1 - p, p / 2, p / 2])
    each = cs.reliability(y.astype(int), prob, lens="class_wise", rng=3)
    assert [str(diagram.interval.lens) for diagram in each.diagrams] == ["class 0", "class 1", "class 2"]
    np.testing.assert_allclose(each.error, [diagram.error for diagram in each.diagrams], rtol=0, atol=1e-12)


def test_the_corp_curve_knows_its_rows():
    """Frequencies 0, 1/2, 1/4, 1: the two in the middle are pooled to 12 of 40."""
    sample = cs.Sample.from_counts([0.1, 0.2, 0.4, 0.9], [3, 8, 32, 5], [0, 4, 8, 5])
    found = cs.reliability(sample, band=None)
    np.testing.assert_array_equal(found.corp_value, [0.1, 0.2, 0.4, 0.9])
    np.testing.assert_allclose(found.corp_frequency, [0, 0.3, 0.3, 1], rtol=1e-12)
    np.testing.assert_array_equal(found.corp_count, [3, 40, 40, 5])


def test_counts_are_repeated_rows_and_real_ones_need_no_band():
    y, p = rows(60, distinct=12)
    weight = np.random.default_rng(1).integers(1, 4, 60)
    whole = cs.reliability(cs.Sample.from_rows(y, p, weight), rng=1)
    repeated = cs.reliability(np.repeat(y, weight), np.repeat(p, weight), rng=1)
    for name, entry in repeated.to_dict().items():
        if "note" in name:
            continue  # that weights were taken for counts
        np.testing.assert_array_equal(whole.to_dict()[name], entry, err_msg=name)
    real = cs.reliability(cs.Sample.from_rows(y, p, weight / 2), band=None)
    np.testing.assert_allclose(real.frequency, whole.frequency, rtol=1e-12)
    assert real.low is None
    assert real.n == weight.sum() / 2
    for band in BANDS:
        with pytest.raises(ValueError, match="whole-number counts"):
            cs.reliability(cs.Sample.from_rows(y, p, weight / 2.1), band=band)


# --- CORP -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distinct", [None, 40])
def test_the_corp_curve_is_isotonic_regression(distinct):
    y, p = rows(150, distinct=distinct)  # with 40, few rows and differently many at each: neighbours must be pooled
    found = cs.reliability(y, p, band=None)
    expected = IsotonicRegression().fit(p, y).predict(np.unique(p))
    np.testing.assert_allclose(np.interp(np.unique(p), found.corp_value, found.corp_frequency), expected, atol=1e-12)
    assert found.corp_value.size <= np.unique(p).size


# --- the result -------------------------------------------------------------------------------------------------------


def test_the_result_holds_its_numbers():
    y, p = rows(3000)
    found = cs.reliability(y, p, rng=1)
    assert (found.band, found.band_level, found.n_resamples) == ("consistency", 0.95, 1000)
    none = cs.reliability(y, p, band=None)
    assert (none.band_level, none.inside, none.steps, none.crosses, none.corp_inside) == (None,) * 5
    frame = found.to_frame()
    assert frame.shape == (15, 8)
    np.testing.assert_array_equal(frame["high"], found.high)
    assert "low" not in none.to_frame()
    assert isinstance(found.to_dict()["count"], list)
    with pytest.raises(ValueError, match="read-only"):
        found.frequency[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        found.curve_low[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.n = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"band": "both"}, "expected band"),
        ({"strategy": "kmeans"}, "expected strategy"),
        ({"n_bins": 0}, "expected n_bins"),
        ({"confidence_level": 1.0}, "expected confidence_level"),
        ({"band": "confidence", "confidence_level": 0}, "expected confidence_level"),
        ({"n_resamples": 18}, "n_resamples of at least 19 for a band of 0.95, found 18"),
        ({"n_resamples": 98, "confidence_level": 0.99}, "at least 99"),
        ({"n_resamples": 39, "band": "pointwise_consistency"}, "at least 40 for bars of 0.95, found 39"),
        ({"n_resamples": 19, "band": "pointwise_consistency", "confidence_level": 0.5}, "at least 20"),
        ({"rng": "one"}, "expected rng"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        cs.reliability(*rows(20), **options)


ANY_ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.sampled_from([0, 0.2, 0.5, 1 / 3, 0.7, 1])), min_size=1)
ALL_ONE = st.integers(1, 30).map(lambda n: [(1, 0.4)] * n)
ALL_ZERO = st.lists(st.floats(0, 1).map(lambda p: (0, p)), min_size=1, max_size=30)


@given(data=ANY_ROWS | ALL_ONE | ALL_ZERO, strategy=st.sampled_from(["uniform", "quantile"]), n_bins=st.integers(1, 20))
def test_any_rows_give_bins_that_hold_together(data, strategy, n_bins):
    y, p = np.array(data, dtype=float).T
    for band in BANDS:
        found = cs.reliability(y, p, n_bins=n_bins, strategy=strategy, band=band, n_resamples=50, rng=1)
        assert found.count.sum() == len(data)
        assert (found.count > 0).all()
        assert found.count @ found.frequency == pytest.approx(y.sum())
        assert found.count @ found.mean_prediction == pytest.approx(p.sum())
        assert (found.left <= found.mean_prediction + 1e-12).all()
        assert (found.mean_prediction <= found.right + 1e-12).all()
        assert (np.diff(found.corp_value) > 0).all()
        assert (np.diff(found.corp_frequency) >= 0).all()
        assert str(found)
        if BANDS[band].compared is not None:
            assert (found.low >= 0).all()
            assert (found.low <= found.high).all()
            assert (found.high <= 1).all()
            consistency = BANDS[band].compared == "frequency"
            inner = found.mean_prediction if consistency else found.frequency
            certain = (inner == 0) | (inner == 1) if consistency else np.ones(inner.size, bool)
            assert (found.low[certain] <= inner[certain] + 1e-9).all()
            assert (inner[certain] <= found.high[certain] + 1e-9).all()
        if found.steps is not None:
            assert set(found.curve_value) <= set(p)
            assert (np.diff(found.curve_value) > 0).all()
            for line in found.curve_low, found.curve_high:
                assert (np.diff(line) >= 0).all()
                assert (line >= 0).all()
                assert (line <= 1).all()
            assert not found.crosses or band == "monotone"
        else:
            with pytest.raises(ValueError, match="expected a band of a curve, 'consistency' or 'monotone', found"):
                found.curve_at(0.5)


def test_rare_events_are_in_bins_of_equal_numbers_of_rows():
    """More than 9 of 10 rows in the lowest of 15 bins; what is asked for by number stays."""
    rng = np.random.default_rng(2)
    p = np.append(rng.beta(1, 200, 1801), rng.uniform(0.1, 1, 199))
    y = rng.random(2000) < p
    rare = cs.reliability(y, p, band=None, rng=1)
    assert rare.strategy == "quantile"
    assert rare.count.max() <= 2000 / 15 + 1
    asked = cs.estimate(y, p, measure="ece", n_bins=15, strategy="quantile")
    assert rare.error == pytest.approx(asked)
    assert rare.interval.estimate == pytest.approx(asked)
    assert cs.reliability(y, p, n_bins=15, band=None, rng=1).strategy == "uniform"
    assert cs.reliability(y[1:], p[1:] ** 1, strategy=[0.5], band=None, rng=1).strategy == "given"
    less = np.append(p[:1799], [0.5] * 201)
    assert cs.reliability(y, less, band=None, rng=1).strategy == "uniform"
