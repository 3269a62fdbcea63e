"""The three interval errors of populations whose value is known."""

from functools import cache

import numpy as np
import oracles
import pytest
from more_than import more_than
from scipy import optimize, stats

import calibstat as cs
from calibstat.generators import calibrated, distorted, domain, groups, temperature


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_quadratic_gap(alpha):
    # residuals alpha and -alpha of half the rows each, 2 alpha apart: alpha apart, 2 alpha together
    edge = alpha / (1 + 2 * alpha)
    f = (0.5 - alpha, 0.5 - alpha, 0.5 + alpha, 0.5 + alpha)
    weight = (0.5 - edge, edge, edge, 0.5 - edge)
    for chance in ((0.5 - alpha, 1, 0, 0.5 + alpha), (0.5, 0.5, 0.5, 0.5)):
        family = domain(weight, chance, f)
        assert family.truth("interval_ce") == pytest.approx(alpha, abs=1e-9)
        assert family.truth("surrogate_interval_ce") == pytest.approx(alpha, abs=1e-9)
        # together in a window of width 1 for 1 - 2 alpha of the shifts
        assert family.truth("random_interval_ce", width=1) == pytest.approx(2 * alpha**2, abs=1e-9)


@pytest.mark.parametrize("epsilon", [-0.25, -0.1, -1e-3, -1e-9, 1e-9, 0.1])
def test_two_points(epsilon):
    # outcomes 1 and 0 predicted 1/2 + epsilon and 1/2 - epsilon: together they cost their distance, apart 1/2 - epsilon
    family = domain((0.5, 0.5), (1, 0), (0.5 + epsilon, 0.5 - epsilon))
    assert family.truth("interval_ce") == pytest.approx(2 * abs(epsilon), abs=1e-9)
    assert family.truth("interval_ce") == pytest.approx(2 * abs(epsilon), rel=1e-6)


@cache
def residual_curve(family, cells=2**20):
    """Edges of cells, and the probability, residual and absolute residual below each, of a uniform score."""
    t = (np.arange(cells) + 0.5) / cells
    part = family._parts(())[0]
    f, chance = part.predict(t), part.chance(t)
    edge = np.concatenate((f[:1], (f[1:] + f[:-1]) / 2, f[-1:]))
    return edge, *(np.append(0, np.cumsum(x) / cells) for x in (np.ones(cells), chance - f, np.abs(chance - f)))


def saved_by_one_interval(family, centre):
    """The most that a single interval around a crossing takes off the unbinned error."""
    edge, *curves = residual_curve(family)

    def cost(ends):
        low, high = sorted(ends)
        probability, residual, unbinned = (np.diff(np.interp([low, high], edge, c))[0] for c in curves)
        return probability * (high - low) + abs(residual) - unbinned

    starts = [[centre - h, centre + h] for h in (0.003, 0.01, 0.03, 0.1)]
    options = {"xatol": 1e-9, "fatol": 1e-12}
    return min(optimize.minimize(cost, start, method="Nelder-Mead", options=options).fun for start in starts)


S_SHAPED = distorted(calibrated(), s_shape=0.9)
STEEP = {  # where the curve crosses the diagonal with a slope above 5 or below -3
    "nearly all one half": (temperature(0.01), [0.5]),
    "temperature 0.05": (temperature(0.05), [0.5]),
    "temperature 0.15": (temperature(0.15), [0.5]),
    "S-shaped": (S_SHAPED, [0.25, 0.75]),
}


@pytest.mark.parametrize("name", STEEP)
def test_continuous_distributions_with_steep_curves(name):
    family, crossings = STEEP[name]
    unbinned = residual_curve(family)[-1][-1]
    expected = unbinned + sum(saved_by_one_interval(family, centre) for centre in crossings)
    assert family.truth("interval_ce") == pytest.approx(expected, abs=1e-4)
    assert expected < unbinned - 1e-3  # the intervals matter


@pytest.mark.parametrize("beta", [0.5, 1, 1.5, 3])
def test_continuous_distributions_with_flat_curves_need_no_intervals(beta):
    # the slope at 1/2 is 1/beta: a narrow interval around the crossing saves less than its width costs
    family = temperature(beta)
    assert family.truth("interval_ce") == pytest.approx(residual_curve(family)[-1][-1], abs=1e-8)


@pytest.mark.parametrize("width", [1, 0.3, 0.01])
@pytest.mark.parametrize("beta", [0.5, 1.5, 3])
def test_random_intervals_of_continuous_distributions(beta, width):
    edge, _, residual, _ = residual_curve(temperature(beta))
    t = -width + (1 + width) * (np.arange(2**20) + 0.5) / 2**20
    inside = np.interp(t + width, edge, residual) - np.interp(t, edge, residual)
    expected = np.abs(inside).mean() * (1 + width) / width
    assert temperature(beta).truth("random_interval_ce", width=width) == pytest.approx(expected, abs=1e-7)


def test_a_mixture_of_equals_is_one_of_them():
    family = temperature(0.05)
    mixed = groups({"a": (0.5, family), "b": (0.5, family)})
    for name in ("interval_ce", "random_interval_ce", "surrogate_interval_ce"):
        assert mixed.truth(name) == pytest.approx(family.truth(name), abs=1e-4)


def test_exact_where_no_block_is_passed_over():
    """Large counts, all or none positive in turn: the input on which the cost is quadratic."""
    m = 150
    count = np.r_[m, 2 * m - np.arange(1, m)].astype(float)
    sample = cs.Sample.from_counts(np.linspace(0.4, 0.6, m), count, np.where(np.arange(m) % 2 == 0, count, 0))
    assert cs.estimate(sample, measure="interval_ce") == pytest.approx(oracles.cheapest_intervals(sample), abs=1e-14)


class SmallStep(cs.measures.RandomIntervalCE):
    """Planted fault: the step of seminorms such as `ks`, which takes one bad window for many."""

    step = 2.0


RUNS = 600  # so that the planted fault is found under other seeds too


def missed_below(measure, runs=RUNS, n=1000):
    """Whether the low end of each honest interval is above the value, where one of sixty predictions fails."""
    value = np.append((np.arange(60) + 0.5) / 60, 0.995)
    chance, weight = np.append(value[:-1], 0.6), np.append(np.full(60, 0.98 / 60), 0.02)
    truth = measure.evaluate(value, 1e6 * weight, 1e6 * weight * chance)
    random = np.random.default_rng(9)
    for run in range(runs):
        count = random.multinomial(n, weight)
        sample = cs.Sample.from_counts(value, count, random.binomial(count, chance))
        yield cs.confidence_interval(sample, measure=measure, n_resamples=99, rng=run).low > truth


def test_one_bad_window_is_not_taken_for_many():
    limit = stats.binom.isf(1e-4, RUNS, 0.03)
    assert sum(missed_below(cs.measures.RandomIntervalCE())) <= limit
    assert more_than(limit, missed_below(SmallStep()))
