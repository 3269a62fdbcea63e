"""Measures that are no norms but functions of the residuals, of rows in clusters."""

from itertools import product

import numpy as np
import pytest
from posed_problem import pose
from scipy.optimize import isotonic_regression

import calibstat as cs
from calibstat.data.sample import Sample
from calibstat.measures.corp import MCB
from calibstat.resampling import Draws

OTHERS = {
    "smooth_ece": {},
    "mcb": {},
    "average_ce": {"n_bins": 3},
    "ece_width": {"n_bins": 3},
    "brier": {},
    "log_loss": {},
    "normalized_log_loss": {},
    "l2": {"measure": "ece", "norm": "l2", "n_bins": 3},
    "max": {"measure": "ece", "norm": "max", "n_bins": 3},
}
CLUSTER = np.arange(300) // 5
LARGE_BESIDE_SINGLE = np.repeat(np.arange(70), [50] * 10 + [1] * 60)


def options_of(name):
    return {"measure": name, **OTHERS.get(name, {})}


def rows(cluster, seed=1, chance=(0.05, 0.95)):
    """Calibrated rows, all rows of a cluster by one uniform number."""
    random = np.random.default_rng(seed)
    p = random.uniform(*chance, cluster.size)
    return (random.random(cluster[-1] + 1)[cluster] < p).astype(int), p


@pytest.mark.parametrize("name", OTHERS)
def test_every_outcome_of_few_rows(name):
    """The function of the residuals is the measure, whatever the outcomes."""
    options = options_of(name)
    p = np.array([0.1, 0.3, 0.3, 0.8, 0.9])
    _, of = measure_of(options).of_residuals(Sample.from_rows(np.zeros(5, int), p))
    for y in product((0, 1), repeat=5):
        sample = Sample.from_rows(np.array(y), p)
        cell = measure_of(options).of_residuals(sample)[0]
        residual = sample.residual if cell is None else np.bincount(cell, sample.residual)
        expected = cs.estimate(y, p, **options)
        for found in (of(residual), of(np.stack([residual, residual]))[1]):
            assert float(found) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def measure_of(options):
    given = dict(options)
    return cs.MEASURES[given.pop("measure")](**given)


def test_a_gain_of_residuals_that_no_outcome_has():
    random = np.random.default_rng(3)
    p, count = np.sort(random.random(100)), random.integers(1, 4, 100)
    sample = Sample(p, count.astype(float), np.zeros(100))
    residual = random.normal(0, 2, (2, 100)) / count.sum()
    rate = p + residual * count.sum() / count  # from below -1 to above 2
    fitted = np.array([isotonic_regression(each, weights=count).x for each in rate])
    expected = (count * ((rate - p) ** 2 - (rate - fitted) ** 2)).sum(axis=1) / count.sum()
    assert MCB().of_residuals(sample)[1](residual) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["brier", "normalized_log_loss", "mcb"])
def test_p_is_that_of_all_signs(name):
    """Ten clusters: all 1024 signs, in both tails for a score."""
    cluster = np.arange(50) // 5
    y, p = rows(cluster, 5, (0.3, 0.7))
    r, values = y - p, []
    _, of = measure_of({"measure": name}).of_residuals(Sample.from_rows(y, p))
    for signs in product((-1.0, 1.0), repeat=10):
        values.append(float(of((np.array(signs)[cluster] * r)[np.argsort(p)] / 50)))
    problem = pose(y, p, name, {})
    compared = problem.compared_in_clusters(cluster, Draws.of(1, 1999))["signs of clusters"]
    above, below = (np.mean(sign * (np.array(values) - values_of(y, p, name)) >= -1e-9) for sign in (1, -1))
    exact = above if name == "mcb" else min(1.0, 2 * min(above, below))
    assert compared.pvalue == pytest.approx(exact, abs=2 * 4 * np.sqrt(exact * (1 - exact) / 1999) + 0.002)


def values_of(y, p, name):
    return cs.estimate(y, p, measure=name)


@pytest.mark.parametrize("cluster", [CLUSTER, LARGE_BESIDE_SINGLE], ids=["equal", "few large"])
@pytest.mark.parametrize("weight", [None, "rows"])
def test_the_same_p_as_of_the_norm(cluster, weight):
    """A square ranks as its root does, and a width that is added changes nothing, also in units of spread."""
    y, p = rows(cluster, 4)
    given = {"cluster": cluster, "rng": 2, "n_resamples": 199}
    if weight:
        given["sample_weight"] = np.random.default_rng(2).gamma(2, 1, cluster.size)
    for norm, other in (("kernel_ce", "kernel_ce_squared"), ("ece", "ece_width")):
        of_norm, found = (cs.calibration_test(y, p, measure=measure, **given) for measure in (norm, other))
        assert found.pvalue == of_norm.pvalue
        weights = {"sample_weight": given["sample_weight"]} if weight else {}
        assert found.statistic == pytest.approx(cs.estimate(y, p, measure=other, **weights))


@pytest.mark.parametrize("name", OTHERS)
def test_p_is_never_below_that_of_independent_labels(name):
    y, p = rows(LARGE_BESIDE_SINGLE, 6)
    problem = pose(y, p, options_of(name).pop("measure"), {})
    compared = problem.compared_in_clusters(LARGE_BESIDE_SINGLE, Draws.of(1, 99))
    assert set(compared) == {"signs of clusters", "independent labels", "labels that clusters share"}
    found = cs.calibration_test(y, p, measure=problem.measure, cluster=LARGE_BESIDE_SINGLE, n_resamples=99, rng=1)
    assert found.pvalue == max(each.pvalue for each in compared.values())
    assert found.tail == problem.measure.info.tail


@pytest.mark.parametrize("name", ["mcb", "brier", "log_loss", "average_ce"])
def test_alike_rows_are_no_evidence_and_an_error_is(name):
    """Of 40 calibrated data sets at most 6 at 5 %, where a test of independent rows rejects more than 6."""
    rejected = np.zeros(2)
    for seed in range(40):
        y, p = rows(CLUSTER, seed, (0.02, 0.3))
        for k, given in enumerate(({"cluster": CLUSTER}, {})):
            found = cs.calibration_test(y, p, measure=name, n_resamples=99, rng=seed, **given)
            rejected[k] += found.pvalue <= 0.05
    assert rejected[0] <= 6 < rejected[1]
    y, p = rows(CLUSTER, 1, (0.5, 0.6))
    assert cs.calibration_test(y, p**6, measure=name, cluster=CLUSTER, n_resamples=99, rng=1).pvalue <= 0.02


def test_an_impossible_outcome():
    y, p = rows(CLUSTER)
    y[0], p[0] = 1, 0.0
    found = cs.calibration_test(y, p, measure="log_loss", cluster=CLUSTER, n_resamples=99, rng=1)
    assert found.statistic == np.inf
    assert found.pvalue == 0.02
    assert np.isfinite(found.null_distribution).all()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("ece_debiased", "ece_debiased: the variance that it subtracts in each bin is for independent rows; "),
        ("lower_distance", "it is not known as a function of residuals, whose signs change in whole clusters; "),
    ],
)
def test_what_is_no_function_of_residuals_says_why(name, why):
    y, p = rows(CLUSTER)
    with pytest.raises(ValueError, match=why):
        cs.calibration_test(y, p, measure=name, cluster=CLUSTER)
