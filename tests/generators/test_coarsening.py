"""Coarsened generators: calibrated, by hand and by quadrature, in order of sharpness, and what is refused."""

import numpy as np
import pytest
from generator_examples import COMPOSED, by_thirds
from scipy import integrate

import calibstat as cs
from calibstat.generators import calibrated, coarsened, domain, groups, shift, temperature

FOUR = domain((0.1, 0.2, 0.3, 0.4), (0.9, 0.2, 0.6, 0.5), (0.5, 0.5, 0.1, 0.9))


def halves(x):
    return x >= 2


def test_points_by_hand():
    """Points 0 and 1 have probability .3 and .09 + .04 of outcome 1, points 2 and 3 .7 and .18 + .2."""
    coarse = coarsened(FOUR, halves)
    assert coarse.curve([0.13 / 0.3, 0.38 / 0.7]) == pytest.approx([0.13 / 0.3, 0.38 / 0.7])
    assert coarse.truth("brier") == pytest.approx(0.13 * 0.17 / 0.3 + 0.38 * 0.32 / 0.7, abs=1e-15)
    assert repr(coarse).endswith("function=halves)")


@pytest.mark.parametrize("family", [temperature(2), shift(-1), cs.generators.gaussian_mixture(1, 1)], ids=str)
def test_scores_by_quadrature(family):
    """The chance given that the score is below a cut, by the quadrature of SciPy over the density of the score."""
    cut = 0.3141592653589793
    coarse = coarsened(family, lambda x: x < cut)

    def normal(x):
        return (np.exp(-((x - 1) ** 2) / 2) + np.exp(-((x + 1) ** 2) / 2)) / np.sqrt(8 * np.pi)

    if "mixture" in str(family):
        ends, density, chance = (-10, 10), normal, lambda x: 1 / (1 + np.exp(2 * x))
    else:
        ends, density, chance = (0, 1), np.ones_like, lambda x: x
    expected = []
    for low, high in ((ends[0], cut), (cut, ends[1])):
        ones, mass = (integrate.quad(f, low, high, epsabs=1e-13)[0]
                      for f in (lambda x: density(x) * chance(x), density))  # fmt: skip
        expected.append(ones / mass)
    assert coarse.curve(expected) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("family", [*COMPOSED[:4], FOUR, calibrated()], ids=str)
def test_always_calibrated(family):
    """Proposition 1 of Vaicenavicius et al., for a function of names of groups, numbers of points, and scores."""
    coarse = coarsened(family, lambda x: x > np.sort(x)[0] if x.dtype.kind != "f" else np.sin(9 * x) > 0)
    assert coarse.is_calibrated
    for measure in ("ece", "smooth_ce", "ks", "weighted_ce"):
        assert coarse.truth(measure) == pytest.approx(0, abs=1e-12)


def test_rows_have_the_law():
    """The shares of outcomes at each prediction of 20,000 rows, by the chi-square statistic; a shifted law is found."""
    coarse = coarsened(temperature(2), by_thirds)
    y, p = coarse.sample(20_000, rng=1)
    value, place, count = np.unique(p, return_inverse=True, return_counts=True)
    assert value == pytest.approx([1 / 6, 1 / 2, 5 / 6], abs=1e-12)

    def statistic(chance):
        rate = np.bincount(place, y) / count
        return (count * (rate - chance) ** 2 / (chance * (1 - chance))).sum()

    assert statistic(value) < 16.3  # chi-square of 3 degrees, .001
    assert statistic(value + 0.03) > 16.3


def test_the_same_rows_for_every_function():
    fine, coarse = coarsened(temperature(2), by_thirds), coarsened(temperature(2), np.zeros_like)
    (x, y, p), (again, outcome, constant) = (each.sample_covariates(50, rng=3) for each in (fine, coarse))
    assert np.array_equal(x, again)
    assert np.array_equal(y, outcome)
    assert (np.unique(p).size, np.unique(constant).size) == (3, 1)


def test_finer_functions_are_sharper():
    """Proposition 4.2 of Chidambaram and Ge, as an experiment: nested functions of random domains, with both scores.

    Of a uniform score in k equal parts the Brier score is 1/6 + 1 / (12 k²). Functions that are not nested have no
    order.
    """
    random = np.random.default_rng(1)
    for _ in range(20):
        weight = random.dirichlet(np.ones(8))
        family = domain(tuple(weight / weight.sum()), tuple(random.random(8)), (0.5,) * 8)
        for score in ("brier", "log_loss"):
            sharp = [coarsened(family, lambda x, k=k: x.astype(int) >> k).truth(score) for k in range(4)]
            assert np.all(np.diff(sharp) >= -1e-15)
    uniform = [coarsened(calibrated(), lambda x, k=k: (x * k).astype(int)).truth("brier") for k in (1, 2, 3, 8, 64)]
    assert uniform == pytest.approx([1 / 6 + 1 / (12 * k**2) for k in (1, 2, 3, 8, 64)], abs=1e-12)
    crossed = domain((0.25,) * 4, (0.1, 0.9, 0.2, 0.8), (0.5,) * 4)
    parity, half = coarsened(crossed, lambda x: x % 2), coarsened(crossed, halves)
    assert parity.truth("brier") < half.truth("brier")


def test_distortions_are_undone():
    """A coarsened model made over-confident is `temperature` of its law."""
    base = coarsened(calibrated(), by_thirds)
    over = cs.generators.distorted(base, temperature=2)
    same = temperature(2, {1 / 6: 1 / 3, 1 / 2: 1 / 3, 5 / 6: 1 / 3})
    assert over.truth() == pytest.approx(same.truth(), abs=1e-12)
    y, p = over.sample(500, rng=1)
    assert set(np.round(p, 9)) == set(np.round(1 / (1 + np.array([25, 1, 1 / 25])), 9))
    assert cs.estimate(y, p) > 0.05


WRONG = {
    "a generator": (lambda: coarsened(halves, halves), "expected a generator"),
    "a function": (lambda: coarsened(FOUR, 3), "expected function to be a function of the covariate, found 3"),
    "values": (lambda: coarsened(FOUR, lambda x: 0), r"a value for each covariate, shape \(4,\), found shape \(\)"),
    "many": (lambda: coarsened(calibrated(), lambda x: x), "expected a function of at most 10000 values"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_refused(case):
    make, match = WRONG[case]
    with pytest.raises(ValueError, match=match):
        make()


def test_a_value_that_was_overlooked_is_no_silent_error():
    coarse = coarsened(calibrated(), lambda x: np.abs(x - 1 / 3) < 1e-5)
    with pytest.raises(RuntimeError, match="so little that it was overlooked"):
        coarse.sample(10**6, rng=1)


def test_groups_are_named():
    family = groups({"a": (0.4, shift(1)), "b": (0.6, calibrated([0.5]))})
    seen = []
    coarsened(family, lambda x: seen.append(set(x)) or x)
    assert set().union(*seen) == {"a", "b"}
