"""Distortions of predictions: closed forms, and their order."""

import math

import numpy as np
import pytest

from calibstat.generators import (
    calibrated,
    distorted,
)

TWICE = distorted(calibrated(), temperature=2)


def test_distortions_compose_in_their_order():
    at_once = distorted(calibrated(), temperature=2, shift=0.3, s_shape=0.5).sample(50, 3)[1]
    chained = distorted(distorted(TWICE, shift=0.3), s_shape=0.5).sample(50, 3)[1]
    assert chained == pytest.approx(at_once, abs=1e-15)
    other_order = distorted(distorted(calibrated(), shift=0.3), temperature=2, s_shape=0.5).sample(50, 3)[1]
    assert abs(other_order - at_once).max() > 0.01


# S-shaped with a: the gap is g(v) = a sin(4 pi v) / (4 pi), of mean |g| a / (4 pi) * 2 / pi and mean g² a² / (32 pi²).
# Its integral rises to a / (8 pi²) at 1/4, where S(1/4) = 1/4, is 0 at 1/2, and so on: two equal bins see nothing.
@pytest.mark.parametrize("a", [0.9, -0.5])
@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("unbinned", {}, lambda a: abs(a) / (2 * math.pi**2)),
        ("ece", {"n_bins": 4}, lambda a: abs(a) / (2 * math.pi**2)),
        ("ece", {"n_bins": 2}, lambda a: 0),
        ("ks", {}, lambda a: abs(a) / (8 * math.pi**2)),
        ("kuiper", {}, lambda a: abs(a) / (8 * math.pi**2)),
        ("mcb", {}, lambda a: a**2 / (32 * math.pi**2)),
        ("brier", {}, lambda a: 1 / 6 + a**2 / (32 * math.pi**2)),
    ],
)
def test_s_shape_by_hand(a, measure, options, truth, unbinned):
    assert distorted(calibrated(), s_shape=a).truth(measure, **options) == pytest.approx(truth(a), abs=1e-9)


@pytest.mark.parametrize("a", [0.99, -0.6])
def test_s_shape_is_its_formula(a):
    family = distorted(calibrated(), s_shape=a)
    v, _, p = family.sample_covariates(1000, 3)
    assert p == pytest.approx(v + a * np.sin(4 * np.pi * v) / (4 * np.pi), abs=1e-15)
    assert family.curve(p) == pytest.approx(v, abs=1e-12)
    assert family.curve([0, 0.25, 0.5, 0.75, 1]) == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-12)
