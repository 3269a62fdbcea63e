"""Problems of rows in folds: their parts, their order, and draws of repeats."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.inference.designs.folds.folded_problem import folded_problems, of_repeats
from calibstat.measures.kinds.registry import find_measure
from calibstat.resampling import Draws

Y, P = cs.generators.calibrated().sample(90, rng=1)
FOLD = np.arange(90) % 3
KS = find_measure("ks", {})


def test_parts_hold_the_rows_of_each_fold():
    (folded,) = folded_problems(cs.Data(Y, P, folds=FOLD), KS)
    assert folded.n_folds == 3
    parts = [part.statistic() for part, _ in folded.parts()]
    expected = [cs.estimate(Y[k == FOLD], P[k == FOLD], measure="ks") for k in range(3)]
    assert sorted(parts) == pytest.approx(sorted(expected), abs=1e-15)


def test_parts_number_the_clusters_of_each_fold():
    unit = np.arange(90) // 3 * 3 % 29  # 29 numbers, of which some have rows of several folds
    unit = np.unique(unit * 3 + FOLD, return_inverse=True)[1]
    (folded,) = folded_problems(cs.Data(Y, P, folds=FOLD, cluster=unit), KS)
    for part, clusters in folded.parts():
        assert sorted(set(clusters)) == [*range(clusters.max() + 1)]
        assert clusters.size == part.n
    sizes = sorted(size for _, clusters in folded.parts() for size in np.bincount(clusters))
    assert sizes == sorted(np.bincount(unit))


def test_each_repeat_is_a_problem_with_draws_of_its_own():
    fold = np.column_stack([FOLD, FOLD[::-1]])
    folded = folded_problems(cs.Data(Y, np.column_stack([P, P]), folds=fold), KS)
    assert np.array_equal(folded[0].fold, FOLD)
    assert np.array_equal(folded[1].fold, 2 - fold[:, 1])  # numbered by their first rows
    draws = [*of_repeats(Draws.of(1, 99), len(folded))]
    assert draws[0] == Draws.of(1, 99)
    assert draws[1].key != draws[0].key


@pytest.mark.parametrize("measure", ["gce", "skce", "canonical_ce"])
@pytest.mark.parametrize("ask", [cs.confidence_interval, cs.calibration_test])
def test_a_measure_of_all_classes_is_refused(ask, measure):
    """It was an AssertionError without a text."""
    with pytest.raises(ValueError, match=f"expected a measure of one event with folds=, found {measure}"):
        ask(Y, P, measure=measure, folds=FOLD)
