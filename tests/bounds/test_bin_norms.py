"""Honest intervals of Lp and maximum errors over bins, against slow search and exact binomial limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import calibstat as cs
from calibstat.bounds.bin_norms import FullBins, LargestGapInterval, PowerNorm, power_bound
from calibstat.bounds.tail_bound import events_at

Z = stats.norm.ppf(0.975)
K = (2 * Z**2 + 4) / 3


def size_of(gap, chance):
    """What events add: a quarter of K where the rarer outcome makes the gap smaller."""
    return K / 4 if (gap > 0) == (chance > 0.5) else max(K - Z**2, 0)


def reaches(power, rows, total, gap, chance):
    """Whether the sum of n |g|**p is at most its upper bound, from the tangent at the gaps g."""
    weight = power * np.abs(gap) ** (power - 1)
    sums = (rows * np.abs(gap) ** power).sum()
    tangent = (np.sign(gap) * weight * total - (power - 1) * rows * np.abs(gap) ** power).sum()
    variance = (rows * (weight**2 * chance * (1 - chance) + np.abs(gap) ** (2 * power))).sum()
    event = max(w * size_of(g, q) for w, g, q in zip(weight, gap, chance, strict=True))
    return sums <= tangent + Z * np.sqrt(variance) + event


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_one_bin_by_grid(power):
    rows, total, prediction = np.array([80.0]), np.array([9.0]), np.array([0.3])
    chances = np.linspace(0, 1, 4001)
    possible = [abs(q - 0.3) for q in chances if reaches(power, rows, total, np.array([q]) - prediction, np.array([q]))]
    found = (power_bound(FullBins(rows, total, prediction), power, Z) / 80) ** (1 / power)
    # at least the largest possible gap, and near it: lines stand in for the root, levels for sizes
    assert max(possible) <= found <= max(possible) * 1.04


def test_bounds_all_possible_gaps():
    random = np.random.default_rng(3)
    checked = 0
    for _ in range(20):
        rows = random.integers(1, 200, 6).astype(float)
        prediction = random.random(6)
        total = rows * np.clip(random.normal(0, 0.1, 6), -prediction, 1 - prediction)
        found = power_bound(FullBins(rows, total, prediction), 2.0, Z)
        for _ in range(300):
            observed = prediction + total / rows
            chance = np.clip(observed + random.normal(0, 0.5, 6) * random.random() / np.sqrt(rows), 0, 1)
            if reaches(2.0, rows, total, chance - prediction, chance):
                checked += 1
                assert (rows * (chance - prediction) ** 2).sum() <= found * (1 + 1e-4)
    assert checked > 500


@pytest.mark.parametrize("power", [1.5, 2.0, 4.0])
def test_the_witness_attains_the_error_and_no_other_weights_do(power):
    """It is the gradient of the error: the weights of its derivative, and their product with the sums is the error."""
    random = np.random.default_rng(4)
    share, theta = random.dirichlet(np.ones(5)), random.normal(0, 0.1, 5)
    norm = PowerNorm(power, share, FullBins(share, theta, share), theta, None)
    witness, step = norm.witness(theta), 1e-6 * np.eye(5)
    assert witness @ theta == pytest.approx((share @ np.abs(theta / share) ** power) ** (1 / power))
    assert witness == pytest.approx((norm.value(theta + step) - norm.value(theta - step)) / 2e-6, abs=1e-6)
    assert norm.largest_weight == pytest.approx(max(1.0, np.abs(witness).max()))
    assert norm.witness(np.zeros(5)).tolist() == [0.0] * 5
    for other in random.normal(0, 0.1, (20, 5)):
        assert norm.witness(other) @ theta < norm.value(theta)


def test_probabilities_of_bins_are_everywhere_and_close_where_they_are_likely():
    """From 0 to 1, by at most the steepest step of the arc sine, pi / 2 / 96. Around the prediction .3 and the
    frequency .2 of 100 rows, whose standard deviation is .04, four of these further, by 1 / 127 of this. At a frequency
    of 1 a row counts, 1 / 100."""
    chance = FullBins(np.array([100.0, 100.0]), np.array([-10.0, 50.0]), np.array([0.3, 0.5])).chance
    step = np.diff(chance, axis=1)
    assert chance[:, [0, -1]].tolist() == [[0.0, 1.0]] * 2
    assert (step >= 0).all()
    assert step.max() <= np.pi / 2 / 96
    assert step[0][(chance[0, 1:] > 0.04) & (chance[0, :-1] < 0.46)].max() < 0.004
    assert step[1][(chance[1, 1:] > 0.46) & (chance[1, :-1] < 1)].max() < 0.005


def test_without_an_event_it_is_an_exact_limit():
    # no event in 100 rows of predictions near 0: probabilities above q with (1 - q)**100 = .025 are excluded by an
    # exact limit, .0362; Wilson's limit is z**2 / (n + z**2) = .0370, a little is added for levels below .95
    found = cs.confidence_interval(np.zeros(100), np.full(100, 1e-4), norm="max", rng=1)
    assert 0.0362 < found.high < 0.0385
    assert found.low == 0
    root = cs.confidence_interval(np.zeros(100), np.full(100, 1e-4), norm="l2", rng=1)
    assert 0.0362 < root.high < 0.0420


def coverage_of_the_worst_bin(kind, chance, runs=400, rows=60):
    random = np.random.default_rng(5)
    prediction = np.array([0.05, 0.3, 0.6])
    truth = np.abs(chance - prediction).max()
    covered = 0
    for _ in range(runs):
        total = random.binomial(rows, chance) - rows * prediction
        found = kind(0.0, FullBins(np.full(3, float(rows)), total, prediction))
        covered += found.low(0.025) <= truth <= found.high(0.025)
    return covered


@pytest.mark.parametrize("chance", [(0.05, 0.3, 0.6), (0.25, 0.5, 0.8), (0.0, 0.3, 0.65), (0.4, 0.3, 0.6)])
def test_worst_bin_is_covered(chance):
    limit = stats.binom.ppf(1e-4, 400, 0.94)
    assert coverage_of_the_worst_bin(LargestGapInterval, np.array(chance)) >= limit


class BinByBin(LargestGapInterval):
    """Planted fault: each bin at the level of one, so that the largest of the low ends is too large."""

    def low(self, tail):
        return max(
            super(BinByBin, type(self)(0.0, FullBins(*(part[[b]] for part in vars(self.bins).values())))).low(0.25)
            for b in range(3)
        )


def test_coverage_check_finds_a_fault():
    assert coverage_of_the_worst_bin(BinByBin, np.array((0.05, 0.3, 0.6))) < stats.binom.ppf(1e-4, 400, 0.94)


POPULATIONS = {
    "shifted": ((0.1, 0.3, 0.5, 0.7, 0.9), (0.2, 0.4, 0.6, 0.8, 0.95)),
    "no event": ((0.002, 0.004), (0.006, 0.012)),
    "one bad bin": ((0.1, 0.3, 0.5, 0.7, 0.9), (0.1, 0.3, 0.5, 0.7, 0.6)),
}


RUNS = 80


def covered(name, options, shorter=1.0, runs=RUNS, n=150):
    """How often the interval, its high end `shorter`, holds the error over the bins that hold rows."""
    value, chance = map(np.array, POPULATIONS[name])
    random = np.random.default_rng(8)
    found = 0
    for run in range(runs):
        count = random.multinomial(n, np.full(value.size, 1 / value.size))
        sample = cs.Sample.from_counts(value, count, random.binomial(count, chance))
        truth = cs.MEASURES["ece"](**options).evaluate(value, count.astype(float), count * chance)
        interval = cs.confidence_interval(sample, n_resamples=99, rng=run, **options)
        found += interval.low <= truth <= interval.high * shorter
    return found


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("options", [{"norm": "l2"}, {"norm": 1.5}, {"norm": "max"}])
def test_error_over_bins_with_rows_is_covered(name, options):
    assert covered(name, options) >= stats.binom.ppf(1e-5, RUNS, 0.94)


def test_it_can_fail():
    assert covered("shifted", {"norm": "l2"}, shorter=0.35) < stats.binom.ppf(1e-5, RUNS, 0.94)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.5, 0.93, 1.0]), st.integers(0, 1)), min_size=1, max_size=30),
    st.sampled_from([{"norm": "l2"}, {"norm": 4.0}, {"norm": "max"}, {"norm": "l2", "strategy": "quantile"}]),
)
def test_any_rows(rows, options):
    p, y = map(np.array, zip(*rows, strict=True))
    found = cs.confidence_interval(y, p, n_bins=4, n_resamples=79, rng=1, **options)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    if found.low > 0:
        assert cs.calibration_test(y, p, measure="ece", n_bins=4, n_resamples=79, rng=1, **options).pvalue <= 0.025
    summarised = cs.confidence_interval(cs.Sample.from_rows(y, p), n_bins=4, n_resamples=79, rng=1, **options)
    assert (summarised.low, summarised.high) == pytest.approx((found.low, found.high))


def test_too_many_cells_of_one_row():
    random = np.random.default_rng(1)
    y, p = random.integers(0, 2, 150), random.random(150)
    with pytest.raises(ValueError, match="expected at least 3 rows a cell"):
        cs.confidence_interval(y, p, n_bins=None, norm="l2")


def test_the_limit_of_a_debiased_error_has_the_interval_of_the_l2_error():
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    one = cs.confidence_interval(y, p, measure="ece_debiased", n_resamples=99, rng=1)
    other = cs.confidence_interval(y, p, norm="l2", n_resamples=99, rng=1)
    assert (one.low, one.high) == (other.low, other.high)
    assert one.estimate < other.estimate


@pytest.mark.parametrize("total", [40.0, -40.0, 2.0])
def test_the_low_end_is_the_least_gap_that_the_sum_allows(total):
    """One bin of 100 rows of prediction 0.5: the gaps g with |total - 100 g| - k / 4 <= z sd, by a grid of 1e-5."""
    interval = LargestGapInterval(abs(total) / 100, FullBins(np.array([100.0]), np.array([total]), np.array([0.5])))
    z = stats.norm.isf(0.025 / 2)
    gap = np.linspace(-0.5, 0.5, 100_001)
    spread = np.interp(gap, interval.bins.gap[0], interval._spread[0])
    least = np.abs(gap[np.abs(total - 100 * gap) - events_at(z) / 4 <= z * spread]).min()
    found = interval.low(0.025)
    assert max(least - 0.01, 0) <= found <= least + 1e-9
