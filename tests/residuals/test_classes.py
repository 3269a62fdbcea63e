"""Residuals of rows of several classes that are drawn, against plain loops over the drawn rows."""

import tracemalloc

import numpy as np
import pytest
from class_draws import KEY, example, slow_draw

import calibstat as cs
from calibstat.bounds.unit_sums import ClassSums
from calibstat.measures import ECE, KS
from calibstat.resampling import Draws, Pairs
from calibstat.residuals.classes import ClassResiduals, EachClassResiduals, RowCounts

N, DRAWS = 40, Draws(KEY, 8)
PREDICTIONS = example(N, 3, digits=1)


def drawn():
    return [slow_draw(PREDICTIONS, Pairs(), r) for r in range(DRAWS.n)]


@pytest.mark.parametrize("shared", [True, False])
def test_residuals_in_cells(shared):
    random = np.random.default_rng(6)
    place = random.integers(0, 4, (N, 1)) * 3 if shared else random.integers(0, 4, (N, 3))
    stride = 1 if shared else 4
    found = ClassResiduals(ClassSums(PREDICTIONS, place, stride, 12)).resampled(np.copy, DRAWS, 1)
    at = place + stride * np.arange(3)
    for r, (rows, label) in enumerate(drawn()):
        expected = np.zeros(12)
        for i, k in zip(rows, label, strict=True):
            np.add.at(expected, at[i], ((np.arange(3) == k) - PREDICTIONS.prob[i]) / N)
        assert found[r] == pytest.approx(expected, abs=1e-12)


def test_each_class_at_its_distinct_predictions():
    """One class after the other, as an interval over classes takes them."""
    found = EachClassResiduals(PREDICTIONS).resampled(lambda thetas: np.concatenate(list(thetas)), DRAWS, 1)
    interval = KS().interval_over_classes(PREDICTIONS, "mean")
    directional = EachClassResiduals(PREDICTIONS).resampled(interval.directional, DRAWS, 1)
    for r, (rows, label) in enumerate(drawn()):
        expected = []
        for k in range(3):
            value = np.unique(PREDICTIONS.prob[:, k])
            at = np.searchsorted(value, PREDICTIONS.prob[rows, k])
            expected.append(np.bincount(at, ((label == k) - PREDICTIONS.prob[rows, k]) / N, value.size))
        assert found[r] == pytest.approx(np.concatenate(expected), abs=1e-12)
        assert directional[r] == pytest.approx(interval.directional(expected), abs=1e-12)


def test_how_often_each_row_is_drawn():
    found = RowCounts(PREDICTIONS).resampled(np.copy, DRAWS, 1)
    expected = [[np.sum(rows == i) for i in range(N)] for rows, _ in drawn()]
    assert found.tolist() == np.array(expected).tolist()


def test_the_default_stage_is_that_of_intervals():
    def each(thetas):
        return np.concatenate(list(thetas))

    for residuals, of in ((EachClassResiduals(PREDICTIONS), each), (RowCounts(PREDICTIONS), np.copy)):
        assert np.array_equal(residuals.resampled(of, DRAWS), residuals.resampled(of, DRAWS, 2))
        assert not np.array_equal(residuals.resampled(of, DRAWS), residuals.resampled(of, DRAWS, 1))


@pytest.mark.parametrize("lens", ["class_wise_mean", "class_wise_max"])
def test_an_interval_over_classes_takes_less_than_twice_the_memory_of_the_matrix(lens, monkeypatch):
    """A copy in an order of its own, half of it for cells, which the test inside shares, and a block of resamples."""
    monkeypatch.setattr("calibstat.resampling.vector_sums.BLOCK", 8)
    monkeypatch.setattr("calibstat.resampling.threads.LARGEST_PIECE", 2**18)
    made, make = [], ECE._class_cells
    monkeypatch.setattr(ECE, "_class_cells", lambda *given: made.append(0) or make(*given))
    random = np.random.default_rng(1)
    prob, label = random.dirichlet(np.ones(100), 4000), random.integers(0, 100, 4000)
    asked = {"lens": lens, "measure": "ece", "rng": 1, "n_resamples": 40}
    cs.confidence_interval(label[:400], prob[:400], **asked)  # compiles
    made.clear()
    tracemalloc.start()
    try:
        cs.confidence_interval(label, prob, **asked)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(made) == 1
    assert most < 2 * prob.nbytes
