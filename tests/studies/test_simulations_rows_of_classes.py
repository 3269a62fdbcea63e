"""The study of several classes with weights and in clusters: its truth, its answers, and that broken promises show."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file, study_part

import calibstat as cs

study = study_file("rows_of_classes")
rows_of_classes, grouped = study_part("rows_of_classes"), study_part("grouped_class_cases")
ERRORS = ("ks, mean", "kernel_ce, max", "brier, mean")


def labels_of(known, n):
    """The cluster of each row, of rows without clusters the row."""
    cluster = known.get("cluster", np.arange(n))
    return getattr(cluster, "labels", cluster)


@pytest.mark.parametrize("temperature", [1.0, 3.0])
@pytest.mark.parametrize("kind", study.KINDS)
def test_the_truth_is_the_measure_of_many_rows(kind, temperature):
    """Of 60,000 rows in as many more clusters; five standard errors of a weighted mean, clusters counted as one row."""
    case = replace(study.KINDS[kind], temperature=temperature)
    few = 1 if case.clusters is None else 60_000 // 360
    large = replace(case, n=60_000, clusters=case.clusters and few * case.clusters)
    y, p, known = large.sample(1)
    weight = known.get("sample_weight", np.ones(y.size))
    sizes = np.bincount(labels_of(known, y.size), weight)
    error = 5 * np.sqrt((sizes**2).sum()) / sizes.sum()
    for label in ERRORS:
        asked = study.OF_CLUSTERS[label]
        found = cs.estimate(y, p, sample_weight=weight, **asked)
        assert found == pytest.approx(rows_of_classes.truth(case, tuple(sorted(asked.items()))), abs=error)


def test_the_answers_are_those_of_the_public_functions():
    cell = study.Cell("interval", "geometric clusters, weights", 1.0, 1)
    data, draws = np.random.SeedSequence([study.SEED, *b"interval", *cell.kind.encode(), 5]).spawn(2)
    y, p, known = cell.rows.sample(data)
    known["cluster"] = cs.Clusters(known["cluster"], unseen="clusters")
    expected = cs.confidence_interval(y, p, **study.OF_CLUSTERS["ks, mean"], **known, n_resamples=99, rng=draws)
    assert cell.answer(5)[0] == (expected.low, expected.high)


@pytest.mark.parametrize("kind", [grouped.WeightedClasses, grouped.ClassesInClusters])
@pytest.mark.parametrize("seed", range(4))
def test_the_truth_of_random_cases_is_the_measure_of_many_rows(kind, seed):
    case = kind.random(np.random.default_rng(seed), False)
    case = replace(case, n=60_000 // max(getattr(case, "size", (1,))))
    ((y, p), known), *_ = case.draws(np.random.default_rng(1), 1)
    weight = known.get("sample_weight", np.ones(y.size))
    sizes = np.bincount(labels_of(known, y.size), weight)
    error = 5 * np.sqrt((sizes**2).sum()) / sizes.sum()
    for label in ERRORS:
        asked = dict(study.OF_CLUSTERS[label])
        found = cs.estimate(y, p, sample_weight=weight, **asked)
        assert found == pytest.approx(case.value(asked.pop("measure"), asked), abs=error)


def test_broken_promises_are_found():
    row = {"question": "size", "rows": "weights", "measure": "ks, mean", "replicates": 400}
    rows = [row | {"cases": cases} for cases in (20, 60)]
    rows += [row | {"cases": 60, "rows": "geometric clusters, half alike"}]  # where the test promises nothing
    rows += [row | {"question": "interval", "cases": cases} for cases in (12, 40)]
    rows += [row | {"question": "comparison", "cases": cases} for cases in (24, 70)]
    assert study.violations(pd.DataFrame(rows))["cases"].tolist() == [60, 40, 70]


def test_weights_by_class_make_another_truth():
    """Where classes have weights, calibrated rows are no longer calibrated: the truth is no longer 0."""
    asked = tuple(sorted(study.OF_CLUSTERS["ks, mean"].items()))
    assert rows_of_classes.truth(study.KINDS["weights by prediction"], asked) < 1e-12
    assert rows_of_classes.truth(study.KINDS["weights by prediction and class"], asked) > 0.05
