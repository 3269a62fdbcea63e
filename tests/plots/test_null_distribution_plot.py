"""The null distribution and the data in it."""

import numpy as np
import pytest
from plotted_results import rows

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


def test_a_test_shows_its_null_distribution():
    found = cs.calibration_test(*rows(200), rng=1, measure="ks")
    ax = cs.plot(found)
    assert sum(ax.patches[0].get_data().values) == 999
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [found.statistic] * 2)
    assert f"p = {found.pvalue:.2g}" in ax.get_title()
    assert ax.get_xlabel() == "Kolmogorov–Smirnov calibration error"


@pytest.mark.parametrize("measure", ["log_loss", "brier", "ece", "ks", "mcb"])
def test_a_null_distribution_of_one_number_is_drawn(measure):
    ax = cs.plot(cs.calibration_test([0, 1] * 20, [0.5] * 40, measure=measure, rng=0, n_resamples=99))
    heights = [float(np.max(patch.get_data().values)) for patch in ax.patches]
    assert max(heights) >= 99 / 40
    assert np.isfinite(ax.get_xlim()).all()


def test_a_test_without_draws_shows_the_events():
    found = cs.calibration_test(*rows(200), side="over", cluster=np.arange(200) // 2)
    ax = cs.plot(found)
    assert [bar.get_height() for bar in ax.patches] == [found.events.expected, found.events.observed]
    assert ax.get_title().endswith("n = 200, side over")


def test_the_side_stands_in_the_title():
    titles = [
        cs.plot(cs.calibration_test(*rows(50), side=side, n_resamples=19)).get_title() for side in (None, "under")
    ]
    assert [title.endswith("side under") for title in titles] == [False, True]
