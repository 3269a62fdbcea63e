"""The study of high ends where events are rare: its exact tables by hand, and that it finds ends that are too low."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from simulation_files import study_file

from calibstat.bounds.skewness import Sums
from calibstat.bounds.tail_bound import TailBound
from calibstat.measures.kinds.registry import find_measure

rare = study_file("rare_ends")
ECE = find_measure("ece", {})


def test_designs_are_in_order_and_expect_no_more_than_they_may():
    for seed in range(100):
        value, rows, most = rare.design(np.random.default_rng(seed))
        assert value.size == rows.size == most.size
        assert (np.diff(value) > 0).all()
        assert (most < rows).all()


def test_the_worst_miss_by_hand():
    """One prediction: all counts, and each true chance."""
    value, rows = np.array([1 / 30]), np.array([60.0])
    missed, where = rare.worst(ECE, value, rows, np.array([10.0]))
    ends = rare.highs(ECE, value, rows, np.arange(61)[:, None])
    means = np.linspace(0.05, 10, 400)
    by_hand = [[binom.pmf(np.arange(61), 60, m / 60) @ (end < abs(m / 60 - 1 / 30)) for end in ends.T] for m in means]
    assert missed == pytest.approx(np.max(by_hand, axis=0), rel=1e-6)
    assert where[:, 0] == pytest.approx(means[np.argmax(by_hand, axis=0)])


@pytest.mark.parametrize("planted", [False, True])
def test_ends_with_the_third_moment_of_the_observed_sign_are_found(planted, monkeypatch):
    """As they were before decision 0029."""
    if planted:
        monkeypatch.setattr(Sums, "up_if_unsure", lambda sums, z: sums.up)
        monkeypatch.setattr(TailBound, "of_either_sign", lambda score, sums: 0.0)
    monkeypatch.setattr(rare, "design", lambda random: (np.array([0.0333334]), np.array([60.0]), np.array([28.0])))
    table = pd.DataFrame(rare.rows_of(0))
    assert (table["rate"] / np.array(rare.TAILS)).tolist() == pytest.approx(table["over_level"].tolist())
    assert bool(len(rare.violations(table))) == planted
