"""Comparisons of samples of different rows."""

import pytest

import calibstat as cs

HERE = cs.generators.calibrated().sample(300, rng=1)
THERE = cs.generators.temperature(2).sample(200, rng=2)


@pytest.mark.parametrize("settings", [{}, {"measure": "ks", "n_resamples": 39}, {"bandwidth": 0.5}])
def test_samples_of_different_rows_are_compared(settings):
    found = cs.compare({"here": HERE, "there": THERE}, rng=3, confidence_level=0.9, **settings)
    assert not found.paired
    assert found.n == (300, 200)


def test_settings_are_passed_on():
    y, p = HERE
    samples = {"a": HERE, "b": THERE, "c": (1 - y, 1 - p)}
    found = cs.compare(samples, reference="b", adjust="bh")
    assert found.pairs == (("b", "a"), ("b", "c"))
    assert found.adjust == "bh"


def test_what_is_refused():
    with pytest.raises(ValueError, match="two or more different names"):
        cs.compare({"here": HERE})
    with pytest.raises(ValueError, match=r"expected samples, a mapping from name to \(y_true, y_prob\), found"):
        cs.compare(HERE)
