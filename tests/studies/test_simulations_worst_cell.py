"""The study of the worst cell."""

import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs

worst_cell = study_file("worst_cell")


@pytest.mark.parametrize("cut", worst_cell.CUTS)
def test_true_distances_of_the_worst_cell_equal_a_loop(cut):
    options = worst_cell.CUTS[cut]
    for label, prob, chance in worst_cell.models(250):
        np.testing.assert_allclose(chance.sum(axis=1), 1)
        assert chance.min() >= 0
        names = np.random.default_rng(1).integers(0, prob.shape[1], 250)
        found = cs.reliability(names, prob, lens="canonical", band=None, **options)
        true = worst_cell.Asks(chance, options, 19).true_distances(prob, found.mean_prediction)
        cell = cs.measures.CanonicalCE(**options).cells(prob)
        slow = {}
        for c in range(cell.max() + 1):
            rows = cell == c
            mean = tuple(prob[rows].mean(axis=0).round(9))
            slow[mean] = np.abs(chance[rows].mean(axis=0) - prob[rows].mean(axis=0)).sum() / 2
        expected = [slow[tuple(mean.round(9))] for mean in found.mean_prediction]
        np.testing.assert_allclose(true, expected, atol=1e-12)
        assert (true.max() < 1e-12) == label.endswith("calibrated")


def test_the_promise_of_the_worst_cell_can_be_broken():
    rows = {"generator": ["a, calibrated", "b", "b"], "replicates": 300, "misses": [3, 40, 15]}
    table = pd.DataFrame(rows | {"excludes_0": [0.02, 1.0, 0.3]})
    assert worst_cell.violations(table).index.tolist() == [1]
    assert worst_cell.violations(table.assign(excludes_0=0.2)).index.tolist() == [1, 0]
