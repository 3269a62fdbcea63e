"""Bands of rows in clusters: the widest of the ways to draw, score intervals of clusters, and refusals."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.bounds.mean_interval import of_units
from calibstat.bounds.residual_tables import RowTable
from calibstat.inference.bands.bands_of_clusters import bins_of_few_events
from calibstat.inference.bands.reliability_bands import Bins

ROWS = cs.generators.calibrated().sample(300, rng=2, clusters=40, share=1.0)
W = np.random.default_rng(3).lognormal(0, 1, 300)
ASKED = {"n_bins": 4, "interval": False, "n_resamples": 99, "rng": 1}


@pytest.mark.parametrize("weight", [None, W])
def test_clusters_widen_the_consistency_band(weight):
    by_rows = cs.reliability(ROWS.y, ROWS.p, sample_weight=weight, **ASKED)
    found = cs.reliability(ROWS.y, ROWS.p, sample_weight=weight, cluster=ROWS.cluster, **ASKED)
    for low, high in (("low", "high"), ("curve_low", "curve_high")):
        assert np.all(getattr(found, low) <= getattr(by_rows, low))
        assert np.all(getattr(found, high) >= getattr(by_rows, high))
    assert (found.high - found.low).sum() > (by_rows.high - by_rows.low).sum()
    if weight is None:
        fewer = ""
    else:  # (sum of W)**2 / (sum of W**2), W the weight of a cluster
        total = np.bincount(ROWS.cluster, weight)
        fewer = f" (effective number {round(total.sum() ** 2 / (total @ total))})"
    assert f"in 40 clusters of 7 to 8 rows{fewer}." in str(found)
    assert "The band allows for clusters. It is meant, not proven, to hold all points" in str(found)
    np.testing.assert_array_equal(found.frequency, by_rows.frequency)


@pytest.mark.parametrize("weight", [None, W])
@pytest.mark.parametrize("band", ["consistency", "confidence", "pointwise_confidence"])
def test_neither_order_of_rows_nor_threads_change_a_bit(band, weight):
    order = np.random.default_rng(4).permutation(300)
    y, p, cluster = ROWS.y[order], ROWS.p[order], ROWS.cluster[order]
    other = None if weight is None else weight[order]
    asked = {**ASKED, "band": band}
    one = cs.reliability(ROWS.y, ROWS.p, cluster=ROWS.cluster, sample_weight=weight, **asked)
    two = cs.reliability(y, p, cluster=cluster, sample_weight=other, n_jobs=2, **asked)
    np.testing.assert_array_equal(one.low, two.low)
    np.testing.assert_array_equal(one.high, two.high)


@pytest.mark.parametrize(("band", "miss"), [("confidence", 0.05 / 8), ("pointwise_confidence", 0.025)])
def test_bars_are_score_intervals_of_the_clusters_in_a_bin(band, miss):
    found = cs.reliability(ROWS.y, ROWS.p, cluster=ROWS.cluster, band=band, **ASKED)
    for b in range(4):
        rows = np.ceil(ROWS.p * 4) == b + 1
        unit = np.unique(ROWS.cluster[rows], return_inverse=True)[1]
        bars = of_units("share", ROWS.y[rows].astype(float), np.ones(unit.size), unit, (0.0, 1.0), True)
        assert found.low[b] == pytest.approx(max(bars.low(miss), 0))
        assert found.high[b] == pytest.approx(min(bars.high(miss), 1))


def test_few_events_are_counted_in_each_bin():
    unit = np.repeat(np.arange(60), 2)
    p = np.tile([0.01, 0.5], 60)
    y = np.tile([0.0, 0.0, 0.0, 1.0], 30)
    sample = cs.Sample.from_rows(y, p)
    table = RowTable((p > 0.1).astype(np.int64), y - p, p, 2, None, unit)
    few = bins_of_few_events(Bins.of(sample, np.array([0, 1]), table), table)
    np.testing.assert_array_equal(few, [True, False])


def test_each_class_and_the_interval_take_clusters():
    label, prob = cs.generators.dirichlet((0.5, 0.5, 0.5)).sample(200, rng=1)
    unit = np.arange(200) // 4
    asked = {"cluster": unit, "n_bins": 4, "n_resamples": 99, "rng": 1}
    found = cs.reliability(label, prob, lens="class_wise", **asked)
    for k, diagram in enumerate(found.diagrams):
        alone = cs.reliability(label == k, prob[:, k], **asked)
        np.testing.assert_array_equal(diagram.high, alone.high)
        assert diagram.interval.high == alone.interval.high
    whole = cs.confidence_interval(label == 0, prob[:, 0], measure="ece", n_bins=4, cluster=unit, rng=1)
    assert found.diagrams[0].interval.high == whole.high


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"band": "monotone"},
            "expected no cluster= for band='monotone', found one: the limits of Clopper and Pearson",
        ),
        ({"band": "pointwise_consistency"}, "for band='pointwise_consistency', found one: it draws rows"),
    ],
)
def test_what_does_not_hold_is_refused(asked, message):
    with pytest.raises(ValueError, match=message):
        cs.reliability(ROWS.y, ROWS.p, cluster=ROWS.cluster, **asked)


def test_a_diagram_of_several_classes_has_no_band():
    label, prob = cs.generators.dirichlet((0.5, 0.5, 0.5)).sample(60, rng=1)
    with pytest.raises(ValueError, match="expected no cluster= for a diagram without a band"):
        cs.reliability(label, prob, lens="canonical", cluster=np.arange(60) // 2)
