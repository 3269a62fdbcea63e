"""Intervals cover what they say: the pieces against closed forms, the whole against exact binomial limits."""

import numpy as np
import pytest
from scipy import integrate, stats

import calibstat as cs
from calibstat import resampling
from calibstat.inference import honest, intervals
from calibstat.measures.registry import find_measure


def example(n, seed=0, temperature=1.4):
    generator = np.random.default_rng(seed)
    v = generator.random(n)
    y = (generator.random(n) < v).astype(int)
    return y, v**temperature / (v**temperature + (1 - v) ** temperature)


# --- the usual bootstrap ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["ece", "mcb"])
def test_percentile_and_basic_are_quantiles_of_the_draws(measure):
    sample = cs.Sample.from_rows(*example(300))
    bound = find_measure(measure, {})
    drawn = resampling.resample(bound, sample, "rows", 399, resampling.key_of(6), honest.ROWS_STAGE)
    low, high = np.quantile(drawn, [0.05, 0.95])
    percentile, basic = (
        cs.confidence_interval(sample, measure=measure, method=m, confidence_level=0.9, n_resamples=399, rng=6)
        for m in ("percentile", "basic")
    )
    assert (percentile.low, percentile.high) == pytest.approx((low, high), abs=1e-15)
    estimate = bound.estimate(sample)
    assert (basic.low, basic.high) == pytest.approx((max(2 * estimate - high, 0), 2 * estimate - low), abs=1e-15)


def test_jackknife_against_rows_left_out_one_by_one():
    y, p = example(25)
    p = np.round(p, 1)
    for measure in ("ece", "brier", "kernel_ce"):
        bound = find_measure(measure, {})
        plain = []
        for i in range(25):
            plain.append(cs.estimate(np.delete(y, i), np.delete(p, i), measure=measure))
        weight, influence = intervals._jackknife(bound, cs.Sample.from_rows(y, p))
        expected = np.mean(plain) - np.array(plain)
        assert weight.sum() == 25
        for power in (2, 3):
            assert weight @ influence**power == pytest.approx((expected**power).sum(), rel=1e-9, abs=1e-18)


def test_bca_against_scipy():
    """For a mean of losses scipy's BCa interval is the same up to the noise of two independent bootstraps."""
    y, p = example(150)
    ours = cs.confidence_interval(y, p, measure="brier", method="bca", n_resamples=20_000, rng=1)
    theirs = stats.bootstrap(
        ((y - p) ** 2,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    # a quantile at .025 of 20,000 draws has standard error sd * sqrt(.025 * .975 / 20000) / phi(1.96) = .019 sd
    noise = 4.5 * np.sqrt(2) * 0.019 * ((y - p) ** 2).std() / np.sqrt(150)
    assert ours.low == pytest.approx(theirs.low, abs=noise)
    assert ours.high == pytest.approx(theirs.high, abs=noise)


# --- pieces of the honest intervals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("t", [0.0, 0.4, 1.0, 3.0])
def test_folded_bias(t):
    mean, _ = integrate.quad(lambda z: abs(z + t) * stats.norm.pdf(z), -12, 12, points=[-t])
    assert honest.folded_bias(np.array([t]))[0] == pytest.approx(mean - t, abs=1e-9)


def test_largest_bias_by_hand():
    # one gap of at most one spread may be zero in truth, and then its bias is E|Z| = sqrt(2 / pi) spreads
    assert honest.largest_bias(np.array([0.03]), np.array([0.05])) == pytest.approx(0.05 * np.sqrt(2 / np.pi))
    assert honest.largest_bias(np.array([0.03]), np.array([0.0])) == 0


def test_spread_inversion_by_grid():
    generator = np.random.default_rng(1)
    for _ in range(8):
        gap, spread = generator.random(6) * 0.05, generator.random(6) * 0.02 + 0.001
        estimate = gap.sum() * generator.uniform(0.8, 1.5)
        cap = gap / spread + 2
        t = np.minimum(cap, np.linspace(0, cap.max(), 4001)[:, None])
        mean = 2 * stats.norm.pdf(t) + t * (2 * stats.norm.cdf(t) - 1)  # of a folded normal
        likely = mean @ spread - 1.96 * np.sqrt((1 + t * t - mean * mean) @ spread**2)
        best = (t @ spread)[likely <= estimate].max(initial=0.0)
        step = spread.sum() * cap.max() / 4000
        assert honest.spread_inversion(estimate, gap, spread, 1.96) == pytest.approx(best, abs=step)


def test_spread_inversion_without_noise():
    assert honest.spread_inversion(0.2, np.array([0.05, 0.15]), np.zeros(2), 1.96) == pytest.approx(0.2)


def test_bisect():
    assert honest.bisect(lambda x: x * x, 2.0, 0.0, 4.0) == pytest.approx(np.sqrt(2))
    assert honest.bisect(lambda x: x, 9.0, 0.0, 4.0) == 4.0
    assert honest.bisect(lambda x: x + 1, 0.0, 0.0, 4.0) == 0.0


def test_mean_interval_is_the_t_interval():
    y, p = example(80)
    p = np.round(p, 2)  # ties
    for measure, losses in (("brier", (y - p) ** 2), ("log_loss", -np.log(np.where(y == 1, p, 1 - p)))):
        found = cs.confidence_interval(y, p, measure=measure, confidence_level=0.9)
        exact = stats.ttest_1samp(losses, 0).confidence_interval(0.9)
        assert (found.low, found.high) == pytest.approx((exact.low, exact.high), rel=1e-12)


def test_mean_interval_with_certain_predictions():
    assert cs.confidence_interval([1, 0, 1, 0], [1.0, 0.0, 0.8, 0.1], measure="log_loss").high < np.inf
    for method in ("honest", "percentile", "basic", "bca"):
        found = cs.confidence_interval([1, 0, 1], [0.5, 1.0, 0.5], measure="log_loss", method=method, n_resamples=9)
        assert (found.low, found.estimate, found.high) == (np.inf, np.inf, np.inf)
        assert "Infinite: what happened at row 1 had probability 0." in str(found)
    found = cs.confidence_interval(cs.Sample.from_counts([0.0, 0.5], [4, 4], [1, 2]), measure="log_loss")
    assert found.why_infinite == "what happened, which was predicted to be 0, had probability 0"
    with pytest.raises(ValueError, match="at least 2 rows"):
        cs.confidence_interval([0], [0.5], measure="brier")


@pytest.mark.parametrize("measure", ["ks", "kuiper", "kernel_ce"])
def test_high_end_of_a_seminorm(measure):
    """Far from calibration high = T + z sd of the mean of r_i w(v_i), which has a closed form."""
    y, p = example(2000, temperature=3.0)
    sample = cs.Sample.from_rows(y, p)
    w = np.interp(p, sample.value, cs.detail(sample, measure=measure)["witness"])
    exact = ((y - p) * w).std() / np.sqrt(2000)
    found = cs.confidence_interval(sample, measure=measure, n_resamples=4000, rng=1)
    spread = (found.high - found.estimate) / stats.norm.ppf(0.975)
    assert spread == pytest.approx(exact, rel=4.5 / np.sqrt(2 * 4000))
    assert found.low > 0


@pytest.mark.parametrize(
    ("measure", "options"),
    [("ece", {}), ("ece", {"strategy": "quantile"}), ("ks", {}), ("kuiper", {}), ("kernel_ce", {})],
)
def test_low_end_is_positive_only_if_the_test_rejects(measure, options):
    seen = set()
    for seed in range(40):
        y, p = example(150, seed, temperature=1 + seed / 20)
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


def misses(method, runs=300):
    """How often the interval of a calibrated model's ECE misses zero, n = 100."""
    found = 0
    for run in range(runs):
        y, p = example(100, run, temperature=1.0)
        found += cs.confidence_interval(y, p, method=method, n_resamples=199, rng=run).low > 0
    return found


def test_coverage_at_calibration_with_its_planted_fault():
    most = stats.binom.isf(1e-5, 300, 0.05)
    assert misses("honest") <= most
    assert misses("basic") > most  # the reason why the honest interval exists


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_percentile_and_bca_hardly_ever_cover_zero(method):
    """That is what their documentation says: nearly every sample of a calibrated model is missed."""
    assert misses(method, runs=100) >= 95


def test_result_and_errors():
    y, p = example(60)
    found = cs.confidence_interval(y, p, n_bins=5, n_resamples=99, rng=1)
    assert (found.method, found.confidence_level, found.n, found.n_resamples) == ("honest", 0.95, 60, 99)
    assert "a lower bound on the unbinned error" in found.estimand
    assert "n_bins=5" in str(found)
    assert found.to_frame().shape == (1, 11)
    with pytest.raises(
        ValueError, match="no honest interval is known for mcb; it has the methods percentile, basic, bca"
    ):
        cs.confidence_interval(y, p, measure="mcb")
    for options in ({"norm": "l2"}, {"norm": "max"}):
        with pytest.raises(ValueError, match="no honest interval"):
            cs.confidence_interval(y, p, **options)
    with pytest.raises(ValueError, match="no honest interval"):
        cs.confidence_interval(y, p, measure="kernel_ce", statistic="U")
    with pytest.raises(ValueError, match="expected a method, one of honest"):
        cs.confidence_interval(y, p, method="normal")
    with pytest.raises(ValueError, match="confidence_level between 0 and 1"):
        cs.confidence_interval(y, p, confidence_level=95)
    with pytest.raises(ValueError, match="whole-number counts"):
        cs.confidence_interval(cs.Sample.from_rows(y, p, np.full(60, 0.5)))


def test_threads_do_not_show():
    y, p = example(200)
    for measure in ("ece", "kernel_ce"):
        alone, threads = (
            cs.confidence_interval(y, p, measure=measure, n_resamples=130, rng=3, n_jobs=j) for j in (1, 2)
        )
        assert (alone.low, alone.high) == (threads.low, threads.high)
