"""Intervals: the directional bootstrap of drawn rows, ends of functions of other intervals, and who has them."""

import numpy as np
import pytest
from posed_problem import pose

import calibstat as cs
from calibstat.bounds.intervals import MappedInterval, smallest, upper_quantile
from calibstat.bounds.norms import CLUSTERS_STEP
from calibstat.resampling import Draws

OFFERED = [
    ("kernel_ce", {}),
    ("kernel_ce", {"kernel": "gaussian", "bandwidth": 0.2}),
    ("ece", {}),
    ("ece", {"strategy": "quantile", "n_bins": 4}),
    ("ks", {}),
    ("kuiper", {}),
    ("smooth_ce", {}),
]


def example():
    random = np.random.default_rng(1)
    p = random.random(40).round(1)
    return (random.random(40) < p**2).astype(int), p, random


@pytest.mark.parametrize(("measure", "options"), OFFERED)
def test_sums_of_drawn_rows_give_the_measure_of_drawn_rows(measure, options):
    """Except that cells stay where they are, which matters to quantile bins alone."""
    y, p, random = example()
    interval, table = pose(y, p, measure, options).interval_of_rows(slice(None))
    i = random.integers(0, 40, 40)
    drawn = np.bincount(table.cell[i], table.residual[i], table.cells)[None] / 40
    derivative, (value,) = interval.directional(drawn).flat[0], interval.value(drawn)
    if options.get("strategy") != "quantile":
        assert value == pytest.approx(cs.estimate(y[i], p[i], measure=measure, **options), abs=1e-12)
    change = drawn[0] - interval.theta
    moved = interval.value(interval.theta + interval.step * change)
    assert derivative == pytest.approx((moved - interval.estimate) / interval.step, abs=1e-12)
    assert derivative == interval.derivative(drawn - interval.theta)[0]
    assert derivative >= interval.witness(interval.theta) @ change - 1e-12


@pytest.mark.parametrize(("measure", "options"), OFFERED)
def test_rows_have_the_interval_of_their_summary(measure, options):
    """And in clusters a wider step: no test is exact that would find out a small one."""
    y, p, _ = example()
    problem = pose(y, p, measure, options)
    summary = problem.honest()
    rows, clusters = (problem.interval_of_rows(slice(None), unit)[0] for unit in (None, np.arange(40) // 2))
    assert rows.estimate == pytest.approx(summary.estimate, abs=1e-12)
    assert rows.theta == pytest.approx(summary.theta, abs=1e-12)
    below = [interval.below(0.025) for interval in (rows, summary)]
    assert (below[0].normal, below[0].skewness) == pytest.approx((below[1].normal, below[1].skewness), abs=1e-12)
    if (measure, options.get("kernel")) != ("kernel_ce", None):  # of a summary the square is bounded as well
        assert rows.high(0.025) == pytest.approx(summary.high(0.025), abs=1e-9)
    assert rows.step == summary.step
    assert clusters.step == max(rows.step, CLUSTERS_STEP)


def test_without_a_witness_the_allowance_is_for_the_worst_weights():
    """The largest variance and third moment of any weights, here of a norm that does not tell its witness."""
    y, p, _ = example()

    class Silent(cs.measures.KS):
        def witness(self, value, residual):
            return None

    interval = Silent().interval(cs.Sample.from_rows(y, p))
    tail_bound, (variance, third) = interval.tail_bound(0.025), interval.table.moments.largest()
    below = interval.below(0.025)
    assert below.normal == pytest.approx(tail_bound.z * np.sqrt(variance) / 40)
    assert below.normal + below.skewness == pytest.approx(tail_bound.reach(variance, third) / 40)


@pytest.mark.parametrize(
    ("measure", "options"),
    [("ece", {"norm": "l2"}), ("kernel_ce_squared", {}), ("mcb", {}), ("smooth_ece", {})],
)
def test_measures_without_an_interval_by_rows(measure, options):
    problem = pose([0, 1, 1], [0.2, 0.5, 0.9], measure, options)
    assert not problem.compares
    assert problem.in_clusters(np.arange(3)) is None


def test_classes_one_by_one_have_no_interval_by_rows():
    y, p = cs.generators.six_points().sample(20, rng=1)
    assert not pose(y, p, "ece", {}, lens="class_wise").compares
    assert not pose(y, p, "canonical_ce", {"distance": "squared_euclidean"}).compares


def test_a_summary_has_no_rows():
    with pytest.raises(ValueError, match=r"expected rows.*found a Sample"):
        pose(cs.Sample.from_counts([0.2], [5], [2]), None, "ks", {}).interval_of_rows(slice(None))


def test_a_function_of_a_measure_has_its_ends_mapped():
    """Those of the squared error are squares, a low end below 0 counting as 0."""
    y, p, _ = example()
    other, draws = cs.measures.KS().interval(cs.Sample.from_rows(y, p)), Draws.of(1, 9)
    mapped = MappedInterval(0.5, other, np.square)
    assert other.resampled(draws) == pytest.approx(other.table.resampled(other.directional, draws), abs=1e-12)
    assert mapped.high(0.025) == other.high(0.025) ** 2
    assert mapped.low(0.4, draws) == max(other.low(0.4, draws), 0.0) ** 2
    assert other.low(0.001, draws) < 0
    assert mapped.low(0.001, draws) == 0


def test_the_quantile_is_the_one_that_a_further_draw_exceeds():
    """Of 1, ..., 9 the draw of rank 9 is exceeded with probability 1 / 10."""
    assert upper_quantile(np.arange(1.0, 10.0), 0.1) == 9
    assert upper_quantile(np.arange(1.0, 10.0), 0.5) == 5


def test_the_smallest_number_for_which_a_condition_holds():
    assert smallest(lambda x: x * x >= 2, 0.0, 2.0, 1e-9) == pytest.approx(np.sqrt(2), abs=1e-9)
    assert smallest(lambda x: False, 0.0, 2.0, 1e-9) == 2.0
    assert smallest(lambda x: True, 0.0, 2.0, 1e-9) == pytest.approx(0.0, abs=1e-9)
