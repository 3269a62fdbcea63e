"""The kernel regression calibration error against the sums over all pairs, closed forms, and its own claims."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles import clusters
from row_strategies import rows, weighted_rows
from scipy.integrate import quad
from scipy.special import ndtr, xlogy

import calibstat as cs
from calibstat.measures import regression_ce as regression
from calibstat.measures.kinds.registry import MEASURES, find_measure

NEAREST = 2.0**-24
KERNELS = ["gaussian", "epanechnikov"]
BANDWIDTHS = st.sampled_from([1e-4, 0.003, 0.05, 0.25, 1 / 3, 1.0])
PAIR = cs.Sample.from_counts([0.25, 0.75], [10, 10], [0, 10])


def weights(point, value, kernel, bandwidth):
    u = (np.asarray(point)[:, None] - value) / bandwidth
    return np.exp(-(u**2) / 2) if kernel == "gaussian" else np.maximum(1 - u**2, 0)


def smoothed(sample, kernel, bandwidth):
    """Nadaraya-Watson, pair by pair."""
    near = weights(sample.value, sample.value, kernel, bandwidth)
    return np.clip(near @ sample.positives / (near @ sample.count), 0, 1)


def by_pairs(sample, divergence, kernel, bandwidth, estimator):
    """The definition; a divergence between probabilities written out anew."""
    m, v = smoothed(sample, kernel, bandwidth), sample.value
    if divergence == "brier":
        phi, slope = m**2 - v**2, 2 * v
    else:
        v = np.clip(v, NEAREST, 1 - NEAREST)
        phi = xlogy(m, m) + xlogy(1 - m, 1 - m) - xlogy(v, v) - xlogy(1 - v, 1 - v)
        slope = np.log(v) - np.log(1 - v)
    if estimator == "direct":
        return sample.count @ (phi - slope * (m - v)) / sample.n
    return (sample.count @ phi - slope @ (sample.positives - sample.count * v)) / sample.n


def tolerance(sample, kernel, bandwidth):
    """A weight off by 1e-12 beside one row of its own weight 1 shifts a mean by that for every row."""
    return (1e-12 if kernel == "gaussian" else 1e-14) * sample.n * 40


# --- sums ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [1e-4, 0.003, 0.05, 0.3, 1])
def test_every_weight_is_right(kernel, bandwidth):
    rng = np.random.default_rng(0)
    few = 20 if bandwidth == 1e-4 else 200  # its 20,000 blocks each hold a sum for every row of weights
    value = np.sort(np.concatenate([rng.random(few), 0.3 + 1e-9 * rng.random(10), [0, 1, 0.45, 0.5, 0.55]]))
    point = np.sort(np.concatenate([value, np.linspace(0, 1, 101)]))
    found = regression.kernel_sums(point, value, np.eye(value.size), kernel, bandwidth)
    bound = 1e-12 if kernel == "gaussian" else 1e-14
    assert np.abs(found.T - weights(point, value, kernel, bandwidth)).max() < bound
    if bandwidth == 0.05:  # the default
        assert np.abs(found.T - weights(point, value, kernel, bandwidth)).max() < 1e-14


def test_a_series_cut_short_is_seen(monkeypatch):
    """The planted fault of the above: with half as many terms, the weights are off by more than is claimed."""
    value = np.sort(np.random.default_rng(0).random(200))
    exact = weights(value, value, "gaussian", 0.05)
    table = regression._expansion()[:, :8, :8].copy()
    found = regression._gaussian_sums(value, value, np.eye(200), 0.05, table)
    assert np.abs(found.T - exact).max() > 1e-12


def test_many_rows_beside_one():
    """Sums of 1e6 rows at the far end of a window do not hide the row whose window it is."""
    for kernel, far in (("epanechnikov", 0.05 * (1 - 1e-9)), ("gaussian", 0.25)):
        value = np.array([0.5 - far, 0.5, 0.5 + far])
        sample = cs.Sample.from_counts(value, [1e6, 1, 1e6], [3e5, 1, 9e5])
        expected = smoothed(sample, kernel, 0.05)
        found = regression.regression(*sample.arrays, kernel, 0.05)
        assert found == pytest.approx(expected, abs=1e-9)
        assert 0 < 1 - found[1] < 0.9


# --- the measure -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("divergence", ["brier", "log_loss"])
@pytest.mark.parametrize("estimator", ["direct", "plug_in"])
@given(data=st.one_of(rows(), clusters()), bandwidth=BANDWIDTHS)
@example(data=(np.array([1]), np.array([0.0])), bandwidth=0.05)
@example(data=(np.array([0, 1, 1]), np.array([1.0, 1.0, 0.0])), bandwidth=0.05)
def test_against_all_pairs(kernel, divergence, estimator, data, bandwidth):
    sample = cs.Sample.from_rows(*data)
    options = {"divergence": divergence, "kernel": kernel, "bandwidth": bandwidth, "estimator": estimator}
    clip = NEAREST if divergence == "log_loss" else None
    found = cs.estimate(sample, measure="regression_ce", **options, clip=clip)
    assert found == pytest.approx(by_pairs(sample, *options.values()), abs=tolerance(sample, kernel, bandwidth))
    if estimator == "direct":
        assert found >= 0


@given(weighted_rows())
def test_weights_are_repeated_rows(data):
    y, p, weight = data
    once = cs.estimate(cs.Sample.from_rows(y, p, weight), measure="regression_ce")
    assert once == cs.estimate(np.repeat(y, weight), np.repeat(p, weight), measure="regression_ce")


def test_by_hand():
    # Epanechnikov at bandwidth 1: weights 1 and 1 - 1/4 = 3/4, so m(.25) = .75/1.75 = 3/7, m(.75) = 4/7
    options = {"kernel": "epanechnikov", "bandwidth": 1.0}
    found = cs.estimate(PAIR, measure="regression_ce", **options)
    assert found == pytest.approx((3 / 7 - 1 / 4) ** 2, abs=1e-15)
    # plug-in: m² - v² - 2v (y - v), at .25 with y = 0: 9/49 + 1/16; at .75 with y = 1: 16/49 - 9/16 - 3/8
    found = cs.estimate(PAIR, measure="regression_ce", estimator="plug_in", **options)
    assert found == pytest.approx((9 / 49 + 1 / 16 + 16 / 49 - 15 / 16) / 2, abs=1e-15)


def test_it_can_miss_an_error():
    """Not sound: weights 1 and 1/3 give m(.25) = (0 + 1/3)/(4/3) = .25 where nothing at .25 ever happens."""
    narrow = {"gaussian": 0.5 / math.sqrt(2 * math.log(3)), "epanechnikov": 0.5 / math.sqrt(2 / 3)}
    for kernel, bandwidth in narrow.items():
        assert cs.estimate(PAIR, measure="regression_ce", kernel=kernel, bandwidth=bandwidth) < 1e-24
    assert cs.estimate(PAIR, measure="regression_ce") == pytest.approx(1 / 16, abs=1e-9)
    assert not MEASURES["regression_ce"].info.sound


def test_it_sees_an_error_where_there_is_none():
    """Not complete: at bandwidth 1 the mean of both is nearer to 1/2."""
    sample = cs.Sample.from_counts([0.25, 0.75], [4, 4], [1, 3])
    near = math.exp(-1 / 8)
    expected = (0.5 * near / (1 + near)) ** 2  # m(.25) - .25 = (.25 + .75 near)/(1 + near) - .25
    assert cs.estimate(sample, measure="regression_ce", bandwidth=1) == pytest.approx(expected, abs=1e-14)
    assert not MEASURES["regression_ce"].info.complete


def test_population_of_even_predictions():
    """Calibrated on [0, 1]: near 0, m(x) - x = s h(x/s) with h = pdf / cdf, and the mirror image near 1.

    Direct: 2 s³ H, H the integral of h² from 0. Plug-in, m² - v² in the mean: near 0 s² (2 z h + h²), near 1 that less
    2 s h; h' = -z h - h² makes the integral of z h h(0) - H, that of h is log 2: -2 s² log 2 + 2 s³ (2 h(0) - H).
    """
    s, start = 0.05, math.sqrt(2 / math.pi)
    squared, _ = quad(lambda z: (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) / ndtr(z)) ** 2, 0, 10)
    truth = cs.generators.calibrated().truth
    assert truth("regression_ce") == pytest.approx(2 * s**3 * squared, rel=1e-5)
    plug_in = -2 * s**2 * math.log(2) + 2 * s**3 * (2 * start - squared)
    assert truth("regression_ce", estimator="plug_in") == pytest.approx(plug_in, rel=1e-5)
    assert (2 * squared, 2 * (2 * start - squared)) == pytest.approx((0.63, 2.6), rel=0.02)  # as the docstring says


def test_estimates_tend_to_the_truth():
    family = cs.generators.temperature(2)
    y, p = family.sample(200_000, rng=1)
    for options in (
        {},
        {"kernel": "epanechnikov"},
        {"estimator": "plug_in"},
        {"divergence": "log_loss", "clip": NEAREST},
    ):
        truth = family.truth("regression_ce", **options)
        assert cs.estimate(y, p, measure="regression_ce", **options) == pytest.approx(truth, rel=0.05, abs=0.002)


def test_plug_in_is_below_zero_for_calibrated_samples():
    """In at least 96 % of all samples of 1000: fewer than 32 of 40 has probability below 1e-4."""
    family, below = cs.generators.calibrated(), 0
    for seed in range(40):
        y, p = family.sample(1000, rng=seed)
        below += cs.estimate(y, p, measure="regression_ce", estimator="plug_in") < 0
        assert cs.estimate(y, p, measure="regression_ce") > 0
    assert below >= 32


def test_kl_of_certain_predictions_is_finite_and_known():
    # m = 1 at a prediction of 0: log(2**24); the other way round the same
    kl = {"measure": "regression_ce", "divergence": "log_loss", "clip": NEAREST}
    assert cs.estimate([1], [0.0], **kl) == pytest.approx(24 * math.log(2))
    assert cs.estimate([0], [1.0], **kl) == pytest.approx(24 * math.log(2))
    right = cs.estimate([0, 1], [0.0, 1.0], **kl)
    assert right == pytest.approx(NEAREST, rel=1e-6)  # -log(1 - 2**-24)


def test_detail_is_the_regression():
    sample = cs.Sample.from_rows(*cs.generators.temperature(2).sample(300, rng=1))
    found = cs.detail(sample, measure="regression_ce", kernel="epanechnikov")
    assert found["regression"] == pytest.approx(smoothed(sample, "epanechnikov", 0.05), abs=1e-12)
    absent = MEASURES["regression_ce"]().detail(np.array([0.2, 0.5]), np.array([2.0, 0.0]), np.array([1.0, 0.0]))
    np.testing.assert_array_equal(absent["regression"], [0.5, np.nan])


def test_top_label_and_one_class():
    rng = np.random.default_rng(3)
    prob = rng.dirichlet(np.ones(4), 500)
    y = rng.integers(0, 4, 500)
    hit, top = y == prob.argmax(axis=1), prob.max(axis=1)
    assert cs.estimate(y, prob, measure="regression_ce") == cs.estimate(hit, top, measure="regression_ce")
    lens = cs.lenses.one_class(2)
    assert cs.estimate(y, prob, lens=lens, measure="regression_ce") == cs.estimate(
        y == 2, prob[:, 2], measure="regression_ce"
    )


def test_bandwidth_by_rate():
    """Of 256 rows to the power of -1/4 it is a quarter, with equal weights too."""
    y, p = cs.generators.temperature(2).sample(256, rng=1)
    shrunk = {"measure": "regression_ce", "bandwidth": 0.4, "rate": 0.25}
    assert cs.estimate(y, p, **shrunk) == cs.estimate(y, p, measure="regression_ce", bandwidth=0.1)
    assert cs.estimate(y, p, sample_weight=np.full(256, 16.0), **shrunk) == cs.estimate(y, p, **shrunk)
    found = cs.detail(y, p, **shrunk)["regression"]
    assert found.tolist() == cs.detail(y, p, measure="regression_ce", bandwidth=0.1)["regression"].tolist()


@pytest.mark.parametrize("temperature", [2, 0.5])
def test_limit_of_bandwidths_that_shrink(temperature):
    """Log-odds x of the chance, T x of the prediction: both are integrals over the chance, which is uniform."""
    family = cs.generators.temperature(temperature)

    def predicted(t):
        return 1 / (1 + math.exp(-temperature * math.log(t / (1 - t))))

    square = quad(lambda t: (t - predicted(t)) ** 2, 0, 1)[0]
    kl = quad(lambda t: t * math.log(t / predicted(t)) + (1 - t) * math.log((1 - t) / (1 - predicted(t))), 0, 1)[0]
    limit = {"bandwidth": 1, "rate": 0.2}
    assert square == pytest.approx(0.0114305784, abs=1e-9)
    assert family.truth("regression_ce", **limit) == pytest.approx(square, abs=1e-9)
    assert family.truth("regression_ce", divergence="log_loss", **limit) == pytest.approx(kl, abs=1e-8)
    assert cs.generators.calibrated().truth("regression_ce", **limit) == pytest.approx(0, abs=1e-15)
    with pytest.raises(NotImplementedError, match="as fast as 1 / n"):
        family.truth("regression_ce", rate=1)
    with pytest.raises(NotImplementedError, match="function of the prediction"):
        cs.generators.dirichlet((1, 1, 1), temperature=2).truth("regression_ce", lens="top_label", rate=0.2)


def test_always_wrong_looks_good_by_confidence():
    """Proposition 4.5: the most likely of K classes, 1/K + eps, never happens: d = (1/K + eps)², tending to 0."""
    for classes in (10, 1000):
        prob = np.full((20, classes), (1 - 1.5 / classes) / (classes - 1))
        prob[:, 0] = 1.5 / classes
        y = np.full(20, 1)
        assert cs.estimate(y, prob, measure="regression_ce") == pytest.approx((1.5 / classes) ** 2, abs=1e-14)
        assert cs.estimate(y, prob, measure="brier", lens="canonical") > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "laplace"}, "expected kernel 'gaussian' or 'epanechnikov', found 'laplace'"),
        ({"rate": -0.1}, "expected a rate from 0 to 2, found -0.1"),
        ({"rate": "1/5"}, "expected a rate from 0 to 2, found '1/5'"),
        ({"bandwidth": 1e-4, "rate": 0.5}, r"expected a bandwidth from 0.0001 to 1 for these rows, found .*20\*\*0.5"),
        ({"bandwidth": 0}, "expected a bandwidth from 0.0001 to 1, found 0"),
        ({"bandwidth": 2}, "expected a bandwidth"),
        ({"bandwidth": math.nan}, "expected a bandwidth"),
        ({"divergence": "kl"}, "expected divergence 'brier' or 'log_loss', found 'kl'"),
        ({"estimator": "u"}, "expected estimator 'direct' or 'plug_in', found 'u'"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        find_measure("regression_ce", options).estimate(PAIR)


@pytest.mark.parametrize("divergence", ["brier", "log_loss"])
def test_the_value_of_one_class_is_of_its_predictions(divergence):
    """Of six equally likely vectors a class has the predictions .1, .3 and .6, and they are its chances."""
    counted = cs.Sample.from_counts([0.1, 0.3, 0.6], [300] * 3, [30, 90, 180])
    truth = cs.generators.six_points().truth("regression_ce", divergence=divergence, lens=cs.lenses.one_class(0))
    assert truth == pytest.approx(cs.estimate(counted, measure="regression_ce", divergence=divergence), rel=1e-6)
