"""The study of the test of rows in clusters: its data sets are calibrated, alike as told, and answered by the verb."""

import numpy as np
import pytest
from simulation_files import study_file, study_part

import calibstat as cs

clusters = study_file("clusters")
drawn = study_part("random_clusters")


@pytest.mark.parametrize("alike", [0.0, 0.6, 1.0])
def test_outcomes_are_calibrated_and_as_alike_as_told(alike):
    case = clusters.Clustered(4000, 5, 0.5, alike, 0.0)
    y, columns = case.sample(20_000, 1)
    residual = (y - columns["prediction"]).reshape(4000, 5)
    assert abs(residual.mean()) < 4 * residual.mean(axis=1).std() / np.sqrt(4000)
    pairs = (residual[:, 0] * residual[:, 1]).mean()  # E[min(p, q)] - E[p] E[q] of the share that is alike
    p, q = columns["prediction"].reshape(4000, 5)[:, :2].T
    assert pairs == pytest.approx(alike * (np.minimum(p, q) - p * q).mean(), abs=0.02)


def test_the_shift_is_that_of_the_predictions():
    right, wrong = (clusters.Clustered(30, 5, 0.5, 0.6, shift).sample(150, 1) for shift in (0.0, 0.7))
    assert np.array_equal(right[0], wrong[0])
    odds = wrong[1]["prediction"] / (1 - wrong[1]["prediction"])
    chance = right[1]["prediction"]
    assert odds == pytest.approx(np.exp(0.7) * chance / (1 - chance))


def test_the_answers_are_those_of_the_verb():
    y, columns = clusters.Clustered(40, 5, 0.5, 0.6, 0.0).sample(200, 1)
    seed = np.random.SeedSequence(3)
    found = clusters.Tests(99)((y, columns), seed)
    expected = cs.calibration_test(
        y, columns["prediction"], measure="ks", cluster=columns["cluster"], n_resamples=99, rng=seed
    )
    assert found[2] == expected.pvalue


def test_clusters_of_unequal_sizes_are_those_of_their_labels():
    first, *_ = clusters.unequal_cases(True)
    assert first.label == "6 of 100 rows at 0.1, 40 of 1 at 0.5"
    assert (first.clusters, first.rows, first.prevalence) == (46, 640, 0.125)
    sizes = np.array(clusters.log_normal(4001, 0.3).size)
    assert np.median(sizes) == 10
    assert np.log(sizes[sizes > 10] / 10).std() == pytest.approx(np.sqrt(1 - 2 / np.pi), abs=0.03)  # of a half-normal
    giant = next(case for case in clusters.unequal_cases(False) if "giant" in case.label)
    assert giant.size[-1] == 5 * sum(giant.size[:-1])


def test_clusters_of_unequal_sizes_are_calibrated_and_alike_by_kind():
    case = clusters.kinds("", (3000, 4, 0.2, 1.0), (3000, 2, 0.6, 0.0))
    y, columns = case.sample(case.rows, 1)
    assert columns["prediction"] == pytest.approx(np.repeat([0.2, 0.6], [12_000, 6000]))
    first, second = y[:12_000].reshape(-1, 4), y[12_000:].reshape(-1, 2)
    assert np.all(first == first[:, :1])
    assert first.mean() == pytest.approx(0.2, abs=4 * np.sqrt(0.16 / 3000))
    assert second.mean() == pytest.approx(0.6, abs=4 * np.sqrt(0.24 / 6000))
    assert np.mean(second[:, 0] * second[:, 1]) == pytest.approx(0.36, abs=4 * np.sqrt(0.23 / 3000))


def off_by(case):
    """How many standard errors the residuals of the clusters of a case add up to, over 20 data sets."""
    sums = []
    for seed in range(20):
        y, columns = case.sample(case.rows, seed)
        residual = (y - columns["prediction"]) * columns.get("weight", 1.0)
        sums.extend(np.bincount(columns["cluster"], residual))
    return np.sum(sums) / np.sqrt(np.sum(np.square(sums)))


def test_random_populations_are_calibrated_and_of_all_kinds(monkeypatch):
    cases = [drawn.Population(number) for number in range(60)]
    kinds = [case.drawn[1] for case in cases]
    assert {kind["sizes"] for kind in kinds} == set(drawn.SIZES)
    assert {kind["alike"] for kind in kinds} == set(drawn.ALIKE)
    assert max(abs(off_by(case)) for case in cases) < 4
    assert max(case.rows for case in cases) <= drawn.MOST_ROWS
    monkeypatch.setattr(drawn, "shared_uniform", lambda random, unit, together: random.random(unit.size) ** 2)
    assert min(off_by(case) for case in cases) > 4  # planted: outcomes are too many


def test_the_search_asks_the_verb_with_weights():
    cases = [case for case in map(drawn.Population, range(60)) if case.clusters > 30]
    case = next(case for case in cases if case.drawn[1]["weights"] == "rows")
    y, columns = case.sample(case.rows, 1)
    seed = np.random.SeedSequence(3)
    given = {"cluster": columns["cluster"], "sample_weight": columns["weight"], "n_resamples": 99, "rng": seed}
    expected = cs.calibration_test(y, columns["prediction"], measure="omnibus", **given).pvalue
    assert clusters.SEARCH((y, columns), seed) == [expected]


@pytest.mark.parametrize("error", drawn.ERRORS)
def test_outcomes_have_the_error_that_is_told(error):
    y, columns = drawn.Wrong(4000, 10, 0.0, False, error).sample(40_000, 1)
    p = columns["prediction"]
    assert abs((y - drawn.ERRORS[error](p)).mean()) < 4 * 0.5 / 200
    assert np.abs(drawn.ERRORS[error](p) - p).mean() > 0.02
