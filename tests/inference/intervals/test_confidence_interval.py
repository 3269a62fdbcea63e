"""Intervals cover what they say: closed forms of their pieces, and exact binomial limits."""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from posed_problem import pose
from scipy import integrate, stats

import calibstat as cs
from calibstat.bounds import absolute_norms
from calibstat.data import views
from calibstat.measures.kinds.registry import find_measure


def example(n, seed=0, temperature=1.4):
    generator = np.random.default_rng(seed)
    v = generator.random(n)
    y = (generator.random(n) < v).astype(int)
    return y, v**temperature / (v**temperature + (1 - v) ** temperature)


# --- pieces of the honest intervals ----------------------------------------------------------------------------------


def test_mean_interval_with_certain_predictions():
    y, p = example(80)
    p[:2] = y[:2]
    found = cs.confidence_interval(y, p, measure="log_loss")
    assert found.low < found.estimate < found.high == np.inf
    assert f"Infinite: the prediction at row 0 is {p[0]:g}, and may be wrong." in str(found)
    assert "if none of it is predicted more extremely" in found.estimand
    assert cs.confidence_interval(cs.Sample.from_rows(y, p), measure="log_loss").high == np.inf
    for method in ("honest", "percentile", "basic", "bca"):
        found = cs.confidence_interval([1, 0, 1], [0.5, 1.0, 0.5], measure="log_loss", method=method, n_resamples=9)
        assert (found.low, found.estimate, found.high) == (np.inf, np.inf, np.inf)
        assert "Infinite: the observed outcome at row 1 had probability 0." in str(found)
    found = cs.confidence_interval(cs.Sample.from_counts([0.0, 0.5], [4, 4], [1, 2]), measure="log_loss")
    assert found.why_infinite == "an observed outcome had probability 0, at prediction 0"
    one = cs.confidence_interval([0], [0.5], measure="brier")
    assert (one.low, one.estimate, one.high) == (0, 0.25, 1)  # of one row all that is possible


@pytest.mark.parametrize("measure", ["ks", "kuiper", "kernel_ce"])
def test_high_end_of_a_seminorm(measure):
    """Far from calibration the score bound of the witness of the data, which has a closed form, is almost the largest.

    At temperature 3 the sum has skewness, so the reach is that of the variance and at most a third more. The end of the
    kernel error is no larger, and as far from the root of the unbiased square.
    """
    y, p = example(2000, temperature=3.0)
    sample = cs.Sample.from_rows(y, p)
    w = np.interp(p, sample.value, cs.detail(sample, measure=measure)["witness"])
    exact = ((y - p) * w).std() / np.sqrt(2000)
    found = cs.confidence_interval(sample, measure=measure, n_resamples=400, rng=1)
    start = cs.estimate(sample, measure="kernel_ce_squared") ** 0.5 if measure == "kernel_ce" else found.estimate
    assert 1 <= (found.high - start) / stats.norm.ppf(0.975) / exact < 4 / 3
    assert found.low > 0


@pytest.mark.parametrize("measure", ["ece", "ks", "kuiper", "kernel_ce", "smooth_ce", "smooth_ece", "brier"])
def test_no_event_leaves_the_interval_open(measure):
    """None of n = 200 rows had the event: a chance of 3 / n would be missed with probability .05, and k is 3.9."""
    y, p = np.zeros(200, int), np.linspace(0.0005, 0.0006, 200)
    found = cs.confidence_interval(y, p, measure=measure, n_resamples=99, rng=1)
    assert 3 / 200 < found.high < 4.2 / 200
    assert found.few_events == "outcome 1 was observed in 0 of 200 rows"
    assert "Few events: outcome 1" in str(found)
    assert not cs.confidence_interval(*example(60), measure=measure, n_resamples=99, rng=1).few_events


def test_few_events_of_a_loss_without_bounds():
    y, p = example(100)
    y = np.zeros(100, int)
    y[:9] = 1
    with pytest.raises(ValueError, match=r"at least 10 rows of each outcome, but outcome 1 was observed in 9 of 100"):
        cs.confidence_interval(y, p, measure="log_loss")
    assert cs.confidence_interval(y, p, measure="log_loss", clip=0.01).few_events
    y[9] = 1
    assert not cs.confidence_interval(y, p, measure="log_loss").few_events


@pytest.mark.parametrize(
    ("measure", "options"),
    [("ece", {}), ("ece", {"strategy": "quantile"}), ("ks", {}), ("kuiper", {}), ("kernel_ce", {})],
)
def test_low_end_is_positive_only_if_the_test_rejects(measure, options):
    seen = set()
    for seed in range(20):
        y, p = example(150, seed, temperature=1 + seed / 10)
        found = cs.confidence_interval(y, p, measure=measure, n_resamples=199, rng=seed, **options)
        test = cs.calibration_test(y, p, measure=measure, n_resamples=199, rng=seed, **options)
        assert found.low <= found.estimate
        assert found.estimate <= found.high or measure == "ece"  # whose high end allows for the bias of the estimate
        assert not (found.low > 0 and test.pvalue > 0.025)
        seen.add(found.low > 0)
    assert seen == {True, False}


@pytest.mark.parametrize("measure", ["ece", "ks", "kuiper", "kernel_ce"])
@pytest.mark.parametrize(("y", "p"), [([1], [0.5]), ([1], [1.0]), ([0, 0, 0], [1.0, 1.0, 1.0]), ([0, 1, 1], [0.5] * 3)])
def test_degenerate_samples(measure, y, p):
    found = cs.confidence_interval(y, p, measure=measure, n_resamples=99, rng=1)
    assert 0 <= found.low <= found.high <= 1
    assert found.high >= found.estimate


# --- the whole -------------------------------------------------------------------------------------------------------


RUNS = 120


def misses(method, runs=RUNS):
    """How often the interval of a calibrated model's ECE misses zero, n = 100."""
    found = 0
    for run in range(runs):
        y, p = example(100, run, temperature=1.0)
        found += cs.confidence_interval(y, p, method=method, n_resamples=199, rng=run).low > 0
    return found


def test_coverage_at_calibration_with_its_planted_fault():
    most = stats.binom.isf(1e-5, RUNS, 0.05)
    assert misses("honest") <= most
    assert misses("basic") > most  # the reason why the honest interval exists


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_percentile_and_bca_hardly_ever_cover_zero(method):
    """That is what their documentation says: nearly every sample of a calibrated model is missed."""
    assert misses(method, runs=60) >= 57


# Quantile cells stay where the sample cuts them; what is covered is the error of the population over these cells.

ATOM, SHARE, CHANCE = np.array([0.2, 0.5, 0.8]), np.array([0.4, 0.2, 0.4]), np.array([0.3, 0.1, 0.75])


def waves(n, random):
    """Uniform predictions whose error changes its sign 14 times."""
    v = random.random(n)
    return (random.random(n) < v + 0.95 * np.minimum(v, 1 - v) * np.sin(15 * np.pi * v)).astype(int), v


def error_of_waves(cuts):
    """Sum the integrals of the error over the cells; F is that of v sin(k v), and the error odd about a half."""
    k = 15 * np.pi

    def below(t):  # the integral of min(v, 1 - v) sin(k v) up to t; sin(k (1 - v)) = sin(k v) for odd multiples of pi
        u = np.minimum(t, 1 - t)
        part = np.sin(k * u) / k**2 - u * np.cos(k * u) / k
        half = np.sin(k / 2) / k**2 - np.cos(k / 2) / (2 * k)
        return np.where(t <= 0.5, part, 2 * half - part)

    return 0.95 * np.abs(np.diff(below(np.concatenate([[0], cuts, [1]])))).sum()


def tied(n, random):
    """Three predictions: a cut into two halves is as near to 40 % as to 60 % of the population."""
    j = random.choice(3, n, p=SHARE)
    return (random.random(n) < CHANCE[j]).astype(int), ATOM[j]


def error_of_tied(cuts):
    cell = np.array([sum(v > cut for cut in cuts) for v in ATOM])
    return sum(abs((SHARE * (CHANCE - ATOM))[cell == b].sum()) for b in set(cell))


POPULATIONS = {"waves": (waves, error_of_waves, 15), "tied": (tied, error_of_tied, 2)}


@functools.cache
def quantile_intervals(population, n, runs=RUNS):
    draw, error, bins = POPULATIONS[population]
    found = []
    for run in range(runs):
        sample = cs.Sample.from_rows(*draw(n, np.random.default_rng([run, n])))
        interval = cs.confidence_interval(sample, strategy="quantile", n_bins=bins, n_resamples=199, rng=run)
        cuts = find_measure("ece", {"strategy": "quantile", "n_bins": bins}).with_fixed_cells(
            sample.value, sample.count
        )
        found.append((interval.low, interval.high, error(np.array(cuts.options["strategy"]))))
    return np.array(found).T


@pytest.mark.parametrize("n", [200, 1000])
@pytest.mark.parametrize("population", POPULATIONS)
def test_coverage_over_the_cells_that_the_rows_make(population, n):
    low, high, truth = quantile_intervals(population, n)
    most = stats.binom.isf(1e-5, low.size, 0.05)
    assert np.sum((truth < low - 1e-12) | (truth > high + 1e-12)) <= most


def test_the_error_over_the_cells_of_the_population_is_not_covered():
    """The fault: the population's own quantiles, which no sample's cuts hit."""
    for population, cuts in (("waves", np.arange(1, 15) / 15), ("tied", ATOM[:1])):
        low, high, _ = quantile_intervals(population, 1000)
        truth = POPULATIONS[population][1](cuts)
        assert np.sum((truth < low) | (truth > high)) > 2 * stats.binom.isf(1e-5, low.size, 0.05)


def test_the_errors_of_the_two_populations_by_quadrature():
    cuts = np.array([0.1, 0.37, 0.5, 0.81])
    ends = np.concatenate([[0], cuts, [1]])
    pieces = [
        integrate.quad(lambda v: 0.95 * min(v, 1 - v) * np.sin(15 * np.pi * v), a, b, limit=200, points=[(a + b) / 2])[
            0
        ]
        for a, b in itertools.pairwise(ends)
    ]
    assert error_of_waves(cuts) == pytest.approx(np.abs(pieces).sum(), abs=1e-9)
    family = cs.generators.domain(SHARE, CHANCE, ATOM)
    for cuts in ((0.2,), (0.5,), (0.2, 0.5), (0.3,)):
        assert family.truth("ece", strategy=cuts) == pytest.approx(error_of_tied(cuts), abs=1e-15)


@pytest.mark.parametrize("measure", ["ece", "ece_debiased"])
@pytest.mark.parametrize("method", ["percentile", "basic", "bca"])
def test_no_bin_moves_under_resampling(measure, method):
    sample = cs.Sample.from_rows(*waves(150, np.random.default_rng(3)))
    bound = find_measure(measure, {"strategy": "quantile", "n_bins": 6}).with_fixed_cells(sample.value, sample.count)
    settings = {"measure": measure, "method": method, "n_resamples": 99, "rng": 2}
    found = cs.confidence_interval(sample, strategy="quantile", n_bins=6, **settings)
    held = cs.confidence_interval(sample, **bound.options, **settings)
    assert (found.low, found.high) == pytest.approx((held.low, held.high), abs=1e-12)
    assert found.estimand.startswith("Expected") or found.estimand.startswith("Debiased")
    assert ", over the cells that these rows make" in found.estimand
    assert "these rows make" not in held.estimand


def test_tests_and_comparisons_hold_their_bins():
    y, p = waves(150, np.random.default_rng(3))
    sample = cs.Sample.from_rows(y, p)
    bound = find_measure("ece", {"strategy": "quantile", "n_bins": 6}).with_fixed_cells(sample.value, sample.count)
    found = cs.calibration_test(
        y, p, measure="ece", resample="both", strategy="quantile", n_bins=6, n_resamples=99, rng=2
    )
    held = cs.calibration_test(y, p, measure="ece", resample="both", n_resamples=99, rng=2, **bound.options)
    assert found.null_distribution == pytest.approx(held.null_distribution, abs=1e-12)
    settings = {"measure": "ece", "n_resamples": 99, "rng": 1}
    compared = cs.compare(y, {"a": p, "b": p**2}, strategy="quantile", **settings)
    assert "in the population, over the cells that these rows make" in str(compared)
    assert "these rows make" not in str(cs.compare(y, {"a": p, "b": p**2}, **settings))


# Level sets: where predictions repeat the interval holds, where each row is alone there is none.

REPEATED = {
    "calibrated": cs.generators.calibrated((0.1, 0.3, 0.5, 0.7, 0.9)),
    "hidden": cs.generators.hidden(),
    "tied": cs.generators.domain(SHARE, CHANCE, ATOM),
}


@pytest.mark.parametrize("runs", [80, pytest.param(400, marks=pytest.mark.slow)])
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("population", REPEATED)
def test_coverage_of_the_unbinned_error(population, n, runs):
    truth = REPEATED[population].truth("ece", n_bins=None)
    missed = 0
    for run in range(runs):
        y, p = REPEATED[population].sample(n, [run, n])
        found = cs.confidence_interval(y, p, n_bins=None, n_resamples=199, rng=run)
        missed += not found.low - 1e-12 <= truth <= found.high + 1e-12
    assert missed <= stats.binom.isf(1e-5, runs, 0.05)
    assert "without bins" not in found.estimand


def test_no_honest_interval_where_most_rows_are_alone(monkeypatch):
    family = cs.generators.temperature(2)
    y, p = family.sample(1000, 1)
    for n_bins in (None, 10**9, 1000):
        with pytest.raises(ValueError, match=r"at least 3 rows a cell .* found 1000 rows in"):
            cs.confidence_interval(y, p, n_bins=n_bins)
        with pytest.raises(ValueError, match=r"at least 3 rows a cell .* found 1000 rows in"):
            cs.compare(y, {"a": p, "b": p**2}, measure="ece", n_bins=n_bins)
    assert cs.confidence_interval(y, p, n_bins=None, method="percentile", n_resamples=19).low > 0
    monkeypatch.setattr(absolute_norms, "NORM_CELLS", np.inf)  # what would be given: it holds, and says next to nothing
    found, truth = cs.confidence_interval(y, p, n_bins=None, n_resamples=99, rng=1), family.truth("ece", n_bins=None)
    assert found.low == 0
    assert found.high > 3 * truth


def test_result_and_errors():
    y, p = example(60)
    found = cs.confidence_interval(y, p, n_bins=5, n_resamples=99, rng=1)
    assert (found.method, found.confidence_level, found.n, found.n_resamples) == ("honest", 0.95, 60, 99)
    assert "; without bins the error is at least this" in found.estimand
    assert "n_bins=5" in str(found)
    assert found.to_frame().shape == (1, 19)
    with pytest.raises(
        ValueError,
        match=r"known for regression_ce, because it is the error of a smoother, .*; it has the methods percentile,",
    ):
        cs.confidence_interval(y, p, measure="regression_ce")
    with pytest.raises(ValueError, match="expected a method, one of honest"):
        cs.confidence_interval(y, p, method="normal")
    with pytest.raises(ValueError, match="confidence_level between 0 and 1"):
        cs.confidence_interval(y, p, confidence_level=95)
    with pytest.raises(ValueError, match="whole-number counts"):
        cs.confidence_interval(cs.Sample.from_rows(y, p, np.full(60, 0.5)))


def sorts(monkeypatch):
    """The list to which every sort of rows into a summary adds their number."""
    found, summarize = [], views.sample_of_rows
    monkeypatch.setattr(views, "sample_of_rows", lambda y, p: found.append(len(y)) or summarize(y, p))
    return found


def test_rows_are_sorted_once(monkeypatch):
    found, (y, p) = sorts(monkeypatch), cs.generators.temperature(2).sample(200, rng=1)
    cs.confidence_interval(y, p, measure="ece", n_resamples=19, rng=1)
    assert found == [200]
    cs.confidence_interval(y, p, measure="lower_distance", method="bracket", n_resamples=19, rng=1)
    assert found == [200, 200]
    problem = pose(y, p, find_measure("ece", {}), {})
    for _ in range(2):  # what is counted when a summary is made anew
        replace(problem.view).sample.n_rows  # noqa: B018
    assert found == [200] * 4


def test_rows_are_not_sorted_to_say_which_intervals_there_are(monkeypatch):
    found, (y, p) = sorts(monkeypatch), cs.generators.temperature(2).sample(200, rng=1)
    with pytest.raises(ValueError, match="no bracket interval is known for ece; it has the methods honest, percentile"):
        cs.confidence_interval(y, p, measure="ece", method="bracket")
    with pytest.raises(ValueError, match="it has the methods bracket, percentile"):
        cs.confidence_interval(y, p, measure="lower_distance")
    assert pose(y, p, "ece", {}).n == 200
    assert found == []


def test_threads_do_not_show():
    y, p = example(200)
    for measure in ("ece", "kernel_ce"):
        alone, threads = (
            cs.confidence_interval(y, p, measure=measure, n_resamples=130, rng=3, n_jobs=j) for j in (1, 2)
        )
        assert (alone.low, alone.high) == (threads.low, threads.high)
