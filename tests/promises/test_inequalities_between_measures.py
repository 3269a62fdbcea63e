"""What is proven between the measures holds on every sample, and the fast measures are the slow ones.

The inequalities are those of Błasiok, Gopalan, Hu, Nakkiran 2023 (arXiv:2211.16886), corollary 6.4, theorems 6.2, 6.11,
7.3 and 8.5, lemma 6.7, claim 6.6 and equation 5, and of Błasiok, Gopalan, Hu, Nakkiran 2023 (arXiv:2305.18764) for the
post-processing gap.
"""

import numpy as np
import oracles
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import calibstat as cs

GRID = 20
ABOVE = 1 / (2 * GRID**2)  # how far the value on the grid may be above the lower distance; it is never below
BELL = 7  # distinct predictions, which have 877 partitions
PRECISION = 0.01


def fast(sample, name, **options):
    return cs.estimate(sample, measure=name, **options)


@given(oracles.samples())
def test_lower_distance_is_the_cheapest_coupling(sample):
    slow = oracles.cheapest_coupling(sample, oracles.on_grid(sample, GRID))
    assert fast(sample, "lower_distance", grid=GRID) == pytest.approx(slow, abs=1e-9)


@given(oracles.samples())
def test_upper_distance_is_the_cheapest_merging(sample):
    assume(sample.value.size <= BELL)
    assert fast(sample, "upper_distance") == pytest.approx(oracles.cheapest_merging(sample), abs=1e-12)


@given(oracles.samples())
def test_smooth_ce_is_the_best_weight(sample):
    assert fast(sample, "smooth_ce") == pytest.approx(oracles.best_weight(sample), abs=1e-9)


@given(oracles.samples())
def test_interval_ce_is_the_cheapest_intervals(sample):
    assert fast(sample, "interval_ce") == pytest.approx(oracles.cheapest_intervals(sample), abs=1e-12)


@given(oracles.samples())
def test_post_processing_gap_is_the_best_update(sample):
    assert fast(sample, "post_processing_gap") == pytest.approx(oracles.best_update(sample), abs=1e-7)


def measures_of(sample):
    """The measures that are compared, by short names."""
    found = {
        "lower": fast(sample, "lower_distance", grid=GRID),
        "smooth": fast(sample, "smooth_ce"),
        "kernel": fast(sample, "kernel_ce"),
        "interval": fast(sample, "interval_ce"),
        "surrogate": fast(sample, "surrogate_interval_ce", precision=PRECISION),
        "gap": fast(sample, "post_processing_gap"),
        "ks": fast(sample, "ks"),
        "kuiper": fast(sample, "kuiper"),
        "ece": oracles.unbinned(sample),
    }
    if sample.value.size <= 10:
        found["upper"] = fast(sample, "upper_distance")
    return found


def slow_measures_of(sample):
    """The same, from the definitions."""
    return {
        "lower": oracles.cheapest_coupling(sample, oracles.on_grid(sample, GRID)),
        "smooth": oracles.best_weight(sample),
        "interval": oracles.cheapest_intervals(sample),
        "upper": oracles.cheapest_merging(sample),
        "gap": oracles.best_update(sample),
        "ece": oracles.unbinned(sample),
    }


INEQUALITIES = {  # smaller and larger side; roots are squared, so that rounding stays rounding
    "lower / 2 <= smooth": lambda m: (m["lower"] / 2, m["smooth"] + ABOVE / 2),
    "smooth <= 2 lower": lambda m: (m["smooth"], 2 * m["lower"]),
    "lower <= upper": lambda m: (m["lower"], m["upper"] + ABOVE),
    "upper <= interval": lambda m: (m["upper"], m["interval"]),
    "interval <= 4 sqrt(lower)": lambda m: (m["interval"] ** 2, 16 * m["lower"]),
    "interval <= surrogate": lambda m: (m["interval"], m["surrogate"]),
    "surrogate <= 6 sqrt(lower) + precision": lambda m: (
        max(m["surrogate"] - PRECISION, 0) ** 2,
        36 * m["lower"],
    ),
    "upper <= ece": lambda m: (m["upper"], m["ece"]),
    "smooth <= ece": lambda m: (m["smooth"], m["ece"]),
    "smooth / 3 <= kernel": lambda m: (m["smooth"] / 3, m["kernel"]),
    # kernel - lower <= sqrt(2 lower)
    "kernel <= sqrt(2 lower) + lower": lambda m: (max(m["kernel"] - m["lower"], 0) ** 2, 2 * m["lower"]),
    "ks <= kuiper": lambda m: (m["ks"], m["kuiper"]),
    "kuiper <= ece": lambda m: (m["kuiper"], m["ece"]),
    "smooth² <= gap": lambda m: (m["smooth"] ** 2, m["gap"] + 1e-7),
    "gap <= 2 smooth": lambda m: (m["gap"], 2 * m["smooth"] + 1e-7),
}


def broken(found, worse=1.0, names=tuple(INEQUALITIES)):
    """The inequalities that fail if the smaller side is so many times as large."""
    failed = set()
    for name in names:
        try:
            small, large = INEQUALITIES[name](found)
        except KeyError:  # too many predictions for the upper distance
            continue
        if worse * small > large + 1e-9:
            failed.add(name)
    return failed


@given(oracles.samples())
def test_inequalities(sample):
    assert broken(measures_of(sample)) == set()


@given(oracles.samples())
def test_inequalities_of_the_definitions(sample):
    assume(sample.value.size <= BELL)
    assert broken(slow_measures_of(sample)) == set()


@given(oracles.samples(), st.sampled_from([0.01, 0.1, 0.3, 1.0]))
def test_inequalities_of_random_intervals(sample, width):
    found, random = measures_of(sample), fast(sample, "random_interval_ce", width=width)
    assert found["interval"] <= random + width + 1e-9
    assert random <= (1 + 2 / width) * found["lower"] + 1e-8 / width


@given(oracles.samples(), st.integers(1, 20))
def test_upper_distance_is_below_every_binned_error_with_its_width(sample, bins):
    assume(sample.value.size <= 10)
    assert fast(sample, "upper_distance") <= fast(sample, "ece_width", n_bins=bins) + 1e-9


TELLING = [
    cs.Sample.from_counts([0.4, 0.6], [600, 600], [300, 300]),  # the quadratic gap, see below
    cs.Sample.from_counts([0.49, 0.51], [10, 10], [0, 10]),  # two points
    cs.Sample.from_counts([0.25, 0.75], [10, 10], [10, 0]),
    cs.Sample.from_counts([0.5], [10], [10]),
    cs.Sample.from_counts([0.0, 0.5, 1.0], [10, 10, 10], [1, 5, 9]),
]


def test_every_inequality_can_fail():
    worse = set().union(*(broken(measures_of(sample), 20.0) for sample in TELLING))
    assert worse == set(INEQUALITIES)


# alpha = .1 on 1200 rows: q = alpha / (1 + 2 alpha) = 1/12, so 500 rows of 00, 100 of 01, 100 of 10, 500 of 11. At .4:
# 500 * .4 + 100 = 300 positives of 600; at .6 the other 300. In general half of the rows at 1/2 ± alpha have outcome 1.
@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_quadratic_gap(alpha):
    family = cs.generators.quadratic_gap(alpha)
    # lower: q of the rows, with outcome 1 below and 0 above, go to 1/2, alpha away, twice: 2 q alpha; 00 and 11 stay
    lower = 2 * alpha**2 / (1 + 2 * alpha)
    # smooth: residuals ± alpha / 2, weights at distance 2 alpha: 2 alpha * alpha / 2
    # upper: left apart, each goes alpha to its mean 1/2, as it does when merged; intervals: each pays its residual
    truth = {"smooth_ce": alpha**2, "upper_distance": alpha, "interval_ce": alpha}
    sample = cs.Sample.from_counts([0.5 - alpha, 0.5 + alpha], [1200, 1200], [600, 600])
    for name, value in truth.items():
        assert family.truth(name) == pytest.approx(value, abs=1e-9)
        assert fast(sample, name) == pytest.approx(value, abs=1e-9)
    assert family.truth("lower_distance") == pytest.approx(lower, abs=1e-9)  # 1/2 is on the grid
    assert fast(sample, "lower_distance") == pytest.approx(lower, abs=1e-9)
    assert 0 <= fast(sample, "lower_distance", grid=7) - lower <= 1 / (2 * 7**2)
    assert family.distance() == pytest.approx(lower, abs=1e-15)
    assert cs.generators.quadratic_gap(alpha, 2).distance() == pytest.approx(alpha, abs=1e-15)
    assert np.all(family.sample(100, 1)[1] == cs.generators.quadratic_gap(alpha, 2).sample(100, 1)[1])
