"""A measure from outside of the package: the largest sum of residuals over predictions in a window of width 1/4."""

import numpy as np
import pytest

import calibstat as cs

WIDTH = 0.25


@pytest.fixture
def windows(registry):
    @cs.measure("windows", bounds=(0, 1))
    class Windows(cs.measures.Seminorm):
        """The largest absolute sum of residuals over a window, divided by n."""

        def sums(self, value, residual):
            """Sums over windows that begin at each prediction, and where they end."""
            end = np.searchsorted(value, value + WIDTH, side="right")
            curve = np.append(0.0, np.cumsum(residual))
            return curve[end] - curve[:-1], end

        def norm(self, value, residual):
            return float(np.abs(self.sums(value, residual)[0]).max())

        def witness(self, value, residual):
            sums, end = self.sums(value, residual)
            first = int(np.abs(sums).argmax())
            weight = np.zeros(value.size)
            weight[first : end[first]] = np.sign(sums[first])
            return weight

    return "windows"


Y, P = cs.generators.temperature(3).sample(800, rng=1)
GIVEN = {"n_resamples": 99, "rng": 1}


def test_by_hand(windows):
    found = cs.estimate([1, 1, 0, 0], [0.25, 0.5, 0.75, 1.0], measure=windows)
    assert found == (0.75 + 1.0) / 4  # residuals .75, .5, -.75 and -1: the last two are in one window


@pytest.mark.parametrize("rows", [{}, {"sample_weight": P + 0.1}, {"cluster": np.arange(800) // 5}])
def test_it_is_tested_bounded_and_compared_for_all_kinds_of_rows(windows, rows):
    shown = cs.calibration_test(Y, P, measure=windows, **rows, **GIVEN)
    ends = cs.confidence_interval(Y, P, measure=windows, **rows, **GIVEN)
    pair = cs.compare(Y, {"overconfident": P, "at .5": np.full(800, 0.5)}, measure=windows, **rows, **GIVEN)
    assert shown.pvalue <= 0.05
    assert 0 < ends.low < ends.estimate < ends.high < 1
    assert pair.low[0] < pair.difference[0] < pair.high[0]


def test_it_is_asked_of_each_class(windows):
    prob = np.column_stack([P / 2, P / 2, 1 - P])
    found = cs.confidence_interval(2 * (1 - Y), prob, measure=windows, lens="class_wise_max", **GIVEN)
    assert found.low <= found.estimate <= found.high
