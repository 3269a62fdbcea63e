"""Infinite values among drawn numbers: the normalized cross entropy of a sample without outcome 1."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.cli.findings import assess, usual

NAME = "normalized_log_loss"
FEW = {
    "one row": ([1], [0.3]),
    "two rows": ([0, 1], [0.2, 0.8]),
    "one event": ([1, 0, 0, 0, 0, 0], [0.05, 0.01, 0.02, 0.03, 0.04, 0.06]),
    "no event": ([0] * 20, np.linspace(0.01, 0.2, 20)),
}


@pytest.mark.parametrize("rows", FEW.values(), ids=FEW)
def test_a_null_distribution_with_infinite_numbers(rows):
    """It was nan in words, and no picture."""
    found = assess(cs.Sample.from_rows(*rows), NAME)
    assert "nan" not in " ".join(usual(found))
    ax = cs.plot(found.test)
    ax.figure.draw_without_rendering()
    lost = np.count_nonzero(np.isinf(found.test.null_distribution))
    assert lost
    assert f"999 resamples if calibrated, {lost} of them infinite" in [
        t.get_text() for t in ax.get_legend().get_texts()
    ]
    plt.close(ax.figure)


@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
@pytest.mark.parametrize("rows", FEW.values(), ids=FEW)
def test_an_interval_is_no_nan(rows, method):
    if len(rows[0]) < 2:
        pytest.skip("one row has no interval")
    found = cs.confidence_interval(*rows, measure=NAME, method=method, n_resamples=99, rng=1)
    assert found.low <= found.high
    if np.isinf(found.estimate):
        assert (found.low, found.high) == (np.inf, np.inf)


def test_bca_with_one_event_is_the_limit_of_large_influences():
    """Of 6 rows one has all influence: the acceleration is that of (-5, 1, 1, 1, 1, 1) / 6 up to a factor."""
    from posed_problem import pose

    from calibstat.inference.bootstrap_ends import _influence

    weight, influence = _influence(*pose(*FEW["one event"], NAME, {}).jackknife())
    assert stats.skew(np.repeat(influence, weight.astype(int))) == pytest.approx(stats.skew([-5, 1, 1, 1, 1, 1]))


def test_classes_that_are_never_observed_are_drawn():
    p = np.random.default_rng(1).dirichlet((1, 1, 1), 5)
    found = cs.calibration_test([0] * 5, p, measure=NAME, lens=cs.LENSES["class_wise"], n_resamples=99, rng=1)
    ax = cs.plot(found)
    ax.figure.draw_without_rendering()
    plt.close(ax.figure)
