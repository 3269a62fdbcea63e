"""Binary generators against their literal construction and formulas."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from calibstat.generators import (
    gaussian_mixture,
    high_frequency,
    shift,
    temperature,
)


def test_gaussian_mixture_is_its_literal_construction():
    rng = np.random.default_rng(3)
    label = rng.choice([-1, 1], 200_000)
    p = 1 / (1 + np.exp(-(1 + rng.normal(label))))
    y, q = gaussian_mixture(1, 1).sample(200_000, 4)
    for event in (0, 1):
        assert stats.ks_2samp(p[label == 1 - 2 * event], q[y == event]).pvalue > 1e-6
    assert stats.ks_2samp(p[label == 1], q[y == 1]).pvalue < 1e-6  # the other class


@pytest.mark.parametrize("family", [temperature(2.5), temperature(0.4), shift(0.7), shift(-2)])
def test_the_curve_inverts_the_report(family):
    v = np.linspace(0, 1, 101)
    reported = family._part().predict(v)
    assert family.curve(reported) == pytest.approx(v, abs=1e-12)
    assert family.curve([0, 1]).tolist() == [0, 1]


def test_a_positive_shift_predicts_too_much():
    assert shift(0.5).curve(0.5) < 0.5 < shift(-0.5).curve(0.5)


# The Gaussian kernel of bandwidth 1, with x = v - 1/2 and w = 2 pi k: the residual is ± A exp(-64 x²) sin(w x), all but
# 1e-7 of it inside. In s = x - x' and t = x + x' it is x² + x'² = (s² + t²) / 2 and 2 sin(w x) sin(w x') = cos(w s) -
# cos(w t), so the double integral is A²/4 times that of exp(-32.5 s² - 32 t²) (cos w s - cos w t), which is
# A²/4 pi / sqrt(32.5 * 32) (exp(-w²/130) - exp(-w²/128)). The ends that are cut off weigh less than A exp(-16) w / 512.
@pytest.mark.parametrize("k", [1, 2, 4, 8])
def test_the_gaussian_kernel_hardly_sees_high_frequencies(k):
    w, a = 2 * math.pi * k, 0.3
    square = a**2 / 4 * math.pi / math.sqrt(32.5 * 32) * (math.exp(-(w**2) / 130) - math.exp(-(w**2) / 128))
    cut = a * math.exp(-16) * w / 256
    found = high_frequency(k, a).truth("kernel_ce", kernel="gaussian")
    assert found == pytest.approx(math.sqrt(square), abs=cut)
    # the weight sin(w x) / w has slope 1, and the integral of exp(-64 x²) sin(w x)² is pi**.5 / 16 (1 - exp(-w²/64))
    low = a / w * (math.sqrt(math.pi) / 16 * (1 - math.exp(-(w**2) / 64)) - math.exp(-16))
    assert low <= high_frequency(k, a).truth("smooth_ce") <= 2 * low


@pytest.mark.parametrize("k", [1, 3, 10, 100])
def test_high_frequency_by_quadrature(k, unbinned):
    """Half a wave at a time, between which the residual changes sign."""
    ends = np.arange(2 * k + 1) / (2 * k)

    def error(v):
        return 0.4 * math.exp(-64 * (v - 0.5) ** 2) * math.sin(2 * math.pi * k * v)

    residual = np.array([integrate.quad(error, *end, epsabs=1e-13)[0] for end in pairwise(ends)])
    sums = np.append(0, residual.cumsum())
    family = high_frequency(k)
    assert family.truth("ks") == pytest.approx(np.abs(sums).max(), abs=1e-9)
    assert family.truth("kuiper") == pytest.approx(np.ptp(sums), abs=1e-9)
    assert family.truth(unbinned) == pytest.approx(np.abs(residual).sum(), abs=1e-9)
    # k bins of a whole wave each, or 2 k of half a wave
    assert family.truth("ece", n_bins=2 * k) == pytest.approx(np.abs(residual).sum(), abs=1e-9)
    assert family.truth("ece", n_bins=k) == pytest.approx(np.abs(residual.reshape(k, 2).sum(axis=1)).sum(), abs=1e-9)


@pytest.mark.parametrize("k", [1, 2, 3, 50, 1000])
def test_chances_of_high_frequency_stay_probabilities(k):
    v = np.linspace(0, 1, 100_001)
    error = 0.49 * np.exp(-64 * (v - 0.5) ** 2) * np.sin(2 * np.pi * k * v)
    assert np.abs(high_frequency(k, 0.49).curve(v) - (v + error)).max() < 1e-15  # nothing is clipped
