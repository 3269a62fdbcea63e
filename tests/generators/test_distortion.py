"""Distortions of predictions: closed forms, and their order."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import expit

from calibstat.generators import (
    calibrated,
    distorted,
    groups,
)
from calibstat.generators.distortion import Distortion

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


# A uniform score has a density of 1, and S(v) = v + a sin(4 pi v) / (4 pi) the slope 1 + a cos(4 pi v): at a prediction
# f the density of the group with a is 1 / S'(v) at the v with S(v) = f, which is its chance.
def test_the_curve_of_two_groups_bent_otherwise_by_hand():
    bent = {"a": (0.3, distorted(calibrated(), s_shape=0.9)), "b": (0.7, distorted(calibrated(), s_shape=-0.5))}
    f = np.array([0.03, 0.2, 0.25, 0.4, 0.5, 0.71, 0.99])
    density, events = np.zeros((2, f.size))
    for a, share in ((0.9, 0.3), (-0.5, 0.7)):
        v = np.array(
            [brentq(lambda v, a=a, f=f: v + a * math.sin(4 * math.pi * v) / (4 * math.pi) - f, 0, 1) for f in f]
        )
        each = share / (1 + a * np.cos(4 * math.pi * v))
        density, events = density + each, events + each * v
    assert groups(bent).curve(f) == pytest.approx(events / density, abs=1e-10)


# At a uniform score the log-odds x have the density v (1 - v), and 2 x + 0.3 a slope of 2: by the chain rule
# the slope of the log-odds of S is S'(v) v (1 - v) / (S (1 - S)).
@pytest.mark.parametrize("a", [0.9, -0.5])
def test_the_slope_of_a_distortion_by_the_chain_rule(a):
    x = np.linspace(-6, 6, 25)
    v = expit(2 * x + 0.3)
    s = v + a * np.sin(4 * math.pi * v) / (4 * math.pi)
    slope = 2 * (1 + a * np.cos(4 * math.pi * v)) * v * (1 - v) / (s * (1 - s))
    assert Distortion(2, 0.3, a).slope(x) == pytest.approx(slope, rel=1e-9)
