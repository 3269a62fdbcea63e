"""The omnibus statistic of rows in clusters: its level, its power, and what makes p the largest of several."""

import numpy as np
import pytest
from more_than import more_than
from posed_problem import pose

import calibstat as cs
from calibstat.inference.p_values import p_value
from calibstat.measures.components import cluster_deviations
from calibstat.resampling import Draws
from calibstat.study import most_rejections


def of_clusters(y, p, cluster, **options):
    return cs.calibration_test(y, p, cluster=cluster, **{"n_resamples": 199, "rng": 1, **options})


def clustered(seed, tilt=1.0, clusters=60, size=6, alike=0.5):
    """Predictions whose logits are so many times too far from 0, in clusters of which a share is alike.

    Twenty seeds have the same predictions, for which the statistic is prepared once, and outcomes of their own.
    """
    unit = np.repeat(np.arange(clusters), size)
    p = np.random.default_rng([11, seed // 20]).beta(1.5, 1.5, unit.size).clip(0.001, 0.999)
    random = np.random.default_rng([12, seed])
    chance = p**tilt / (p**tilt + (1 - p) ** tilt)
    uniform = np.where((random.random(clusters) < alike)[unit], random.random(clusters)[unit], random.random(unit.size))
    return (uniform < chance).astype(int), p, unit


def test_it_is_the_default():
    y, p, unit = clustered(1, tilt=0.4)
    found = of_clusters(y, p, unit)
    assert found.measure.name == "omnibus"
    assert found.pvalue <= 0.05
    assert found.deviation.claims is None
    assert "too extreme (a description, not a test)." in str(found)
    assert found.null_distribution.shape == (199,)
    assert found.pvalue == p_value(found.statistic, found.null_distribution, "greater")


@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_p_is_never_below_that_of_independent_rows(alike):
    for seed in range(10):
        y, p, unit = clustered(seed, alike=alike)
        rows = cs.calibration_test(y, p, n_resamples=199, rng=1)
        found = of_clusters(y, p, unit)
        assert found.pvalue >= rows.pvalue
        if "independent labels" in str(found):
            assert found.pvalue == rows.pvalue


def test_of_calibrated_clusters_and_of_others():
    """Of 100 data sets at most as many are rejected as exact limits allow; rows taken as independent are the twin.

    The limit is of .08: the test is approximate, and the study `clusters` finds up to .070.
    """

    def rejections(tilt, in_clusters):
        for seed in range(100):
            y, p, unit = clustered(seed, tilt, size=10, alike=1.0)
            given = {"cluster": unit} if in_clusters else {}
            yield cs.calibration_test(y, p, **given, n_resamples=99, rng=seed).pvalue <= 0.05

    limit = most_rejections(0.08, 100, 1e-4)
    assert sum(rejections(1.0, in_clusters=True)) <= limit
    assert more_than(limit, rejections(1.0, in_clusters=False))
    assert more_than(limit, rejections(0.5, in_clusters=True))


def test_no_event_is_no_evidence():
    p = np.random.default_rng(1).beta(2, 198, 600)
    found = of_clusters(np.zeros(600, int), p, np.arange(600) // 20)
    assert found.pvalue > 0.05
    problem = pose(np.zeros(600, int), p, "omnibus", {})
    compared = problem.compared_in_clusters(np.arange(600) // 20, Draws.of(1, 199))
    assert compared["signs of clusters"].pvalue <= 0.01  # the twin
    assert compared["labels that clusters share"].pvalue > 0.05


def test_alike_clusters_with_equal_predictions(monkeypatch):
    """Where only rare outcomes of few clusters are shared luck, which is what the floor of the squares is for."""
    unit = np.repeat(np.arange(100), 16)

    def rejections():
        for seed in range(100):
            random = np.random.default_rng([17, seed])
            p = np.random.default_rng([18, seed // 4]).beta(0.7, 6, 100)[unit].clip(1e-4, 1 - 1e-4)
            uniform = np.where((random.random(100) < 0.9)[unit], random.random(100)[unit], random.random(unit.size))
            yield of_clusters((uniform < p).astype(int), p, unit, n_resamples=99, rng=seed).pvalue <= 0.05

    limit = most_rejections(0.05, 100, 1e-4)
    assert sum(rejections()) <= limit
    monkeypatch.setattr(cluster_deviations, "RARE", 0.0)  # the twin: only variances of independent labels
    assert more_than(limit, rejections())


def test_labels_that_clusters_share_are_exact_for_them():
    """Few large clusters whose rows are alike: the twin takes rows as independent."""
    cluster = np.repeat(np.arange(46), np.repeat([100, 1], [6, 40]))
    p = np.where(cluster < 6, 0.1, 0.5)
    found = []
    for seed in range(100):
        y = (np.random.default_rng([13, seed]).random(46)[cluster] < p).astype(int)
        compared = pose(y, p, "omnibus", {}).compared_in_clusters(cluster, Draws.of(seed, 99))
        found.append([compared[how].pvalue for how in ("labels that clusters share", "independent labels")])
    shared, rows = (np.array(found) <= 0.05).sum(axis=0)
    assert shared <= most_rejections(0.05, 100, 1e-4) < rows


def test_of_weights_rows_and_names_in_another_order():
    y, p, unit = clustered(3, tilt=0.5)
    weight = np.random.default_rng(4).gamma(1.0, 1.0, y.size)
    weight[np.argmax(p)] = 0.0  # nothing of this row counts
    found = of_clusters(y, p, unit, sample_weight=weight)
    order = np.random.default_rng(5).permutation(y.size)
    other = of_clusters(y[order], p[order], unit[order], sample_weight=3 * weight[order], n_jobs=2)
    assert other.pvalue == found.pvalue
    assert np.allclose(other.null_distribution, found.null_distribution, rtol=1e-9)
    kept = weight > 0
    without = of_clusters(y[kept], p[kept], unit[kept], sample_weight=weight[kept])
    assert without.statistic == pytest.approx(found.statistic, rel=1e-9)


def test_forbidden_labels_and_certain_predictions():
    y, p, unit = clustered(4)
    p[:12] = np.tile([0.0, 1.0], 6)
    y[:12] = np.tile([0, 1], 6)
    assert np.isfinite(of_clusters(y, p, unit).statistic)
    y[0] = 1
    found = of_clusters(y, p, unit)
    assert found.statistic == np.inf
    assert found.pvalue == 1 / 200
    assert "probability 0" in found.why_infinite


@pytest.mark.filterwarnings("ignore:.*clusters")
def test_of_hardly_any_rows():
    assert of_clusters([0, 1, 1], [0.0, 1.0, 1.0], ["a", "a", "b"]).pvalue == 1
    assert of_clusters([0, 1], [0.3, 0.3], ["a", "b"]).pvalue > 0.2
