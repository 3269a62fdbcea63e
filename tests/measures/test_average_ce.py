"""The average calibration error by hand."""

import numpy as np
import pytest

import calibstat as cs

SETTINGS = {"n_resamples": 99, "rng": 3}


def test_the_average_weighs_every_bin_alike():
    # bins of 1/15: 98 rows at .9 of which 90 % - rounded, 88 - have outcome 1, and one row at .5 with outcome 0
    y, v = np.repeat([1, 0, 0], [88, 10, 1]), np.repeat([0.9, 0.5], [98, 1])
    gaps = (0.9 - 88 / 98, 0.5)
    found = cs.summarize(y, {"model": v}, **SETTINGS)
    assert found.estimate[0, found.measures.index("average_ce")] == pytest.approx(np.mean(gaps))
    assert found.estimate[0, found.measures.index("ece")] == pytest.approx((98 * gaps[0] + gaps[1]) / 99)


def test_the_value_of_one_class_by_hand():
    """At predictions of .1, .3 and .6 the chances are .17, .31 and .52: 3 in 10 labels are drawn from all classes."""
    family = cs.generators.label_noise(cs.generators.six_points(), 0.3)
    found = family.truth("average_ce", lens=cs.lenses.one_class(0), n_bins=8)
    assert found == pytest.approx((0.07 + 0.01 + 0.08) / 3)
