"""Statistics in one pass over the predictions, given residuals by hand."""

import numpy as np
import pytest

import calibstat as cs
from calibstat.resampling.one_pass import SumsInCells, WeightedSum, share

VALUE, COUNT = np.array([0.0, 0.25, 0.5, 1.0]), np.array([1.0, 2.0, 1.0, 1.0])
POSITIVES = np.array([[0, 2, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]], float)
RESIDUAL = ((POSITIVES - COUNT * VALUE) / 5).T
ONE_PASS = [
    cs.measures.KS(),
    cs.measures.Kuiper(),
    cs.measures.KernelCE(bandwidth=0.1),
    cs.measures.KernelCESquared(),
    cs.measures.Brier(),
    cs.measures.LogLoss(),
    cs.measures.LogLoss(clip=0.01),
    cs.measures.SmoothECE(),
]


def result(one_pass, parts):
    state = np.zeros((one_pass.size, RESIDUAL.shape[1]))
    for first, last in parts:
        one_pass.add(state, slice(first, last), RESIDUAL[first:last])
    return one_pass.result(state)


def test_weighted_sum():
    """2 + 1 * .2 + 3 * (-.4) = 1 for residuals .2 and -.4."""
    state, one_pass = np.zeros((1, 1)), WeightedSum(np.array([1.0, 3.0]), 2.0)
    one_pass.add(state, slice(0, 2), np.array([[0.2], [-0.4]]))
    assert one_pass.result(state) == pytest.approx([1.0])


def test_sums_in_cells():
    """Cells of the first prediction and of the others."""
    found = result(SumsInCells(np.array([0, 1, 1, 1]), 2), [(0, 4)])
    assert found == pytest.approx(np.array([RESIDUAL[0], RESIDUAL[1:].sum(axis=0)]).T)


@pytest.mark.parametrize("measure", ONE_PASS, ids=str)
def test_a_measure_in_one_pass_is_the_measure(measure):
    """Of all predictions at once, and of some after others."""
    expected = [measure.evaluate(VALUE, COUNT, positives) for positives in POSITIVES]
    one_pass = measure.one_pass(VALUE, COUNT, VALUE)
    for parts in ([(0, 4)], [(0, 1), (1, 3), (3, 4)]):
        assert result(one_pass, parts) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert result(one_pass, [(0, 1), (3, 4)]) != pytest.approx(expected, rel=1e-3)


def test_what_is_no_pass():
    """A possible outcome of infinite loss, pairs by a Gaussian kernel, a single row without pairs, other measures."""
    possible = np.array([0.1, 0.25, 0.5, 1.0])
    assert cs.measures.LogLoss().one_pass(VALUE, COUNT, possible) is None
    assert cs.measures.LogLoss(clip=0.01).one_pass(VALUE, COUNT, possible) is not None
    assert cs.measures.KernelCE(kernel="gaussian").one_pass(VALUE, COUNT, VALUE) is None
    assert cs.measures.KernelCESquared().one_pass(VALUE[:1], COUNT[:1], VALUE[:1]) is None
    assert cs.measures.SmoothCE().one_pass(VALUE, COUNT, VALUE) is None
    assert cs.measures.SmoothECE(bandwidth=0.1).one_pass(VALUE, COUNT, VALUE) is None


def test_of_residuals_at_all_predictions():
    """The state is made and read here; of several resamples along the first axis."""
    cells = SumsInCells(np.array([0, 0, 1]), 2)
    residual = np.array([[0.5, 0.25, -1.0], [0.0, 1.0, 2.0]])
    assert cells.of(residual).tolist() == [[0.75, -1.0], [1.0, 2.0]]
    assert cells.of(residual[1]).tolist() == [1.0, 2.0]


def test_residuals_are_shared_between_the_nearest_points_of_a_grid():
    state = np.zeros((5, 2))
    share(state, np.array([0.0, 0.3, 1.0]), np.array([[1.0, -1.0], [0.5, 2.0], [4.0, 0.0]]))
    assert state[:, 0] == pytest.approx([1, 0.4, 0.1, 0, 4])  # .3 is a fifth of the way from .25 to .5
    assert state[:, 1] == pytest.approx([-1, 1.6, 0.4, 0, 0])
