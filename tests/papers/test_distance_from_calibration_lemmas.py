"""Błasiok, Gopalan, Hu, Nakkiran 2023 (arXiv:2211.16886): lemma 6.9, continuity, weights, the ends of widths."""

from itertools import combinations

import numpy as np
import pytest

import calibstat as cs

QUARTERS = (0.25,) * 4


def four_points(moved):
    """Four equally likely points of lemma 6.9 with chances 1/4, 1, 0 and 3/4.

    The predictor f is 1/4, 1/4, 3/4, 3/4; the others move the two in the middle towards each other.
    """
    return cs.generators.domain(QUARTERS, (0.25, 1, 0, 0.75), (0.25, 0.25 + moved, 0.75 - moved, 0.75))


def slow_interval_error(family):
    """The least cost over all ways to cut distinct predictions."""
    weight, chance, prediction = (np.array(column) for column in family._columns())
    value = np.unique(prediction)
    share = np.array([weight[prediction == v].sum() for v in value])
    residual = np.array([(weight * (chance - prediction))[prediction == v].sum() for v in value])
    found = []
    for size in range(value.size):
        for cuts in combinations(range(1, value.size), size):
            cells = [slice(a, b) for a, b in zip((0, *cuts), (*cuts, value.size), strict=True)]
            found.append(sum(abs(residual[cell].sum()) + share[cell].sum() * np.ptp(value[cell]) for cell in cells))
    return min(found)


@pytest.mark.parametrize("moved", [0, 1e-9, 1e-6, 0.001, 0.01, 0.1])
def test_lemma_6_9_the_interval_error_jumps_down(moved):
    """The three claims of its proof.

    B.3: the predictors differ by at most `moved`. B.5: of f, where 1/4 and 3/4 are in different intervals each has half
    of the rows and a gap of (1/4 + 1) / 2 - 1/4 = 3/8, and where they are in one its width is 1/2: at least 3/8. B.4:
    of the others, intervals that part the first and the last point leave 1 and 0 at 1/4 and 3/4 together: no error, and
    half of the rows in a width of 1/2 - 2 moved.
    """
    family = four_points(moved)
    expected = 3 / 8 if moved == 0 else 1 / 4 - moved
    assert family.truth("interval_ce") == pytest.approx(expected, abs=1e-12)
    assert slow_interval_error(family) == pytest.approx(expected, abs=1e-12)
    y = np.array([0, 0, 0, 1] + [1] * 4 + [0] * 4 + [0, 1, 1, 1])
    p = np.repeat([0.25, 0.25 + moved, 0.75 - moved, 0.75], 4)
    assert cs.estimate(y, p, measure="interval_ce") == pytest.approx(expected, abs=1e-12)


def two_models(seed):
    """Two predictors of the same rows, the second near the first or far from it, with ties, 0 and 1."""
    random = np.random.default_rng(seed)
    one = np.where(random.random(30) < 0.3, random.integers(0, 5, 30) / 4, random.random(30))
    other = np.clip(one + random.normal(0, 10.0 ** random.uniform(-6, 0), 30), 0, 1)
    return (random.random(30) < random.random(30)).astype(int), one, other


def broken(measure, bound):
    """On how many of 60 pairs the errors differ by more than a function of the mean distance of the predictions."""
    count = 0
    for seed in range(60):
        y, one, other = two_models(seed)
        apart = abs(cs.estimate(y, one, measure=measure) - cs.estimate(y, other, measure=measure))
        count += apart > bound(np.abs(one - other).mean()) + 1e-12
    return count


def test_lemma_7_4_the_smooth_error_is_lipschitz():
    """It moves by at most twice the mean distance of two predictors; ECE breaks every multiple."""
    assert broken("smooth_ce", lambda distance: 2 * distance) == 0
    assert broken("ece", lambda distance: 2 * distance) > 0
    y, one = np.array([0, 1]), np.array([0.5, 0.5])
    jump = [cs.estimate(y, one + np.array([e, -e]), measure="ece", n_bins=None) for e in (0, 1e-9)]
    assert jump == pytest.approx([0, 0.5], abs=1e-8)


def test_lemma_8_7_the_kernel_error_is_continuous():
    """It moves by at most d + sqrt(2 d), d the mean distance of two predictors f and g.

    The residual moves by |f - g|, and the feature of the kernel by sqrt(2 - 2 exp(-|f - g|)). So it is not Lipschitz:
    residuals of 1/2 and -1/2 at a distance d of two rows give sqrt(2 - 2 exp(-d)) / 4.
    """
    assert broken("kernel_ce", lambda distance: distance + np.sqrt(2 * distance)) == 0
    assert broken("kernel_ce", lambda distance: distance / 10) > 0
    distance = 1e-8
    found = cs.estimate([1, 0], [0.5 - distance / 2, 0.5 + distance / 2], measure="kernel_ce")
    assert found == pytest.approx(np.sqrt(2 - 2 * np.exp(-distance)) / 4, rel=1e-3)
    assert found > 1000 * distance


@pytest.mark.parametrize("seed", range(6))
def test_section_2_3_the_ends_of_the_width(seed):
    """Bins of width 0 are ECE over level sets, and the bin of width 1 is accuracy in expectation."""
    y, p, _ = two_models(seed)
    level = sum(abs((y - p)[p == v].sum()) for v in set(p)) / y.size
    assert cs.estimate(y, p, measure="ece_width", n_bins=None) == pytest.approx(level, abs=1e-14)
    assert cs.estimate(y, p, measure="ece", n_bins=1) == pytest.approx(abs(y.mean() - p.mean()), abs=1e-14)
    assert cs.estimate(y, p, measure="ece_width", n_bins=1) == pytest.approx(1 + abs((y - p).mean()), abs=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_definition_7_1_weighted_errors(seed):
    """The maximum over a list of weights, by hand; every class of smaller weights is below the smooth error."""
    y, p, _ = two_models(seed)
    listed = [np.ones_like, np.sin, np.cos, lambda v: np.abs(v - 1 / 2)]
    slow = max(abs(np.mean((y - p) * weight(p))) for weight in listed)
    found = cs.estimate(y, p, measure="weighted_ce", functions=listed)
    assert found == pytest.approx(slow, abs=1e-14)
    assert found <= cs.estimate(y, p, measure="smooth_ce") + 1e-12  # all of them have size and slope at most 1
