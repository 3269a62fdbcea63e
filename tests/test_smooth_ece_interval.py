"""The honest interval of SmoothECE: against a slow inversion, its gate, and its coverage."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat import resampling
from calibstat.inference.calibration_tests import p_value
from calibstat.measures.registry import find_measure
from calibstat.measures.smooth_ece import cosines, curve
from calibstat.resampling import Draws, Labels, Pairs, Stage

FALSE_ALARM = 1e-4


def test_smoothing_is_the_sum_over_reflected_kernels():
    # the kernel of Blasiok and Nakkiran, reflected at 0 and 1, summed by hand
    bandwidth = 0.1
    rng = np.random.default_rng(1)
    value, mass = np.append(rng.random(20), [0, 1]), rng.normal(size=22)
    found = curve(cosines(value, mass, bandwidth / 2), bandwidth)
    grid = np.linspace(0, 1, found.size)
    expected = np.zeros(found.size)
    for mirror in (value, -value, 2 - value, 2 + value, value - 2):
        expected += np.exp(-0.5 * ((grid[:, None] - mirror) / bandwidth) ** 2) @ mass
    assert found == pytest.approx(expected / (np.sqrt(2 * np.pi) * bandwidth), abs=1e-4)


def test_ends_are_where_the_conditions_turn():
    y, p = cs.generators.temperature(1.6).sample(600, rng=1)
    sample = cs.Sample.from_rows(y, p)
    found = cs.confidence_interval(sample, measure="smooth_ece", n_resamples=99, rng=5)
    bound = find_measure("smooth_ece", {})
    residual = sample.residual
    drawn = resampling.draw(
        sample, Pairs(), lambda v, c, a: (a - c * v) / c.sum() - residual, Draws.of(5, 99), Stage.ROWS
    )

    def norm(mu, t):  # slow: the registered measure at a fixed bandwidth, of a residual measure over the rows
        return find_measure("smooth_ece", {"bandwidth": t}).evaluate(
            sample.value, sample.count, mu * sample.n + sample.count * sample.value
        )

    def excess(t):
        noise = np.quantile([norm(step, t) for step in drawn], 0.975, method="weibull")
        return norm(residual, t) - noise - t

    assert found.low > 0
    # the grid of the measure at a given bandwidth is finer; a step beyond the difference on either side decides
    assert excess(found.low * 0.97) > 0 > excess(found.low * 1.03)
    null = resampling.resample(bound, sample, Labels(), Draws.of(5, 99), Stage.LABELS)
    assert p_value(found.estimate, null, "greater") <= 0.025
    assert found.low < found.estimate < found.high


@pytest.mark.parametrize("seed", range(12))
def test_the_low_end_is_zero_unless_the_exact_test_rejects(seed):
    sample = cs.Sample.from_rows(*cs.generators.temperature(1 + seed / 15).sample(150, seed))
    found = cs.confidence_interval(sample, measure="smooth_ece", n_resamples=99, rng=seed)
    pvalue = cs.calibration_test(sample, measure="smooth_ece", n_resamples=99, rng=seed).pvalue
    assert found.low == 0 or pvalue <= 0.025


@pytest.mark.parametrize("rows", [([1], [0.3]), ([0, 1], [0, 1]), ([1, 1, 0], [0.5, 0.5, 0.5]), ([1] * 40, [0.0] * 40)])
def test_extremes(rows):
    found = cs.confidence_interval(*rows, measure="smooth_ece", n_resamples=50, rng=1)
    assert 0 <= found.low <= found.high <= 1


def test_a_fixed_bandwidth_has_none():
    with pytest.raises(ValueError, match="no honest interval is known"):
        cs.confidence_interval([0, 1], [0.2, 0.7], measure="smooth_ece", bandwidth=0.1)


MODELS = {
    "calibrated": cs.generators.calibrated(),
    "shift": cs.generators.shift(0.4),
    "five": cs.generators.temperature(1.4, [0.1, 0.3, 0.5, 0.7, 0.9]),
    "waves": cs.generators.high_frequency(3),
}


def covered(model, method, replicates):
    truth = model.truth("smooth_ece")
    found = 0
    for r in range(replicates):
        y, p = model.sample(400, [r, 11])
        interval = cs.confidence_interval(y, p, measure="smooth_ece", method=method, n_resamples=199, rng=r)
        found += interval.low - 1e-9 <= truth <= interval.high + 1e-9
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_coverage(name):
    assert covered(MODELS[name], "honest", 400) >= stats.binom.ppf(FALSE_ALARM, 400, 0.94)


@pytest.mark.slow
def test_a_usual_interval_is_found_out():
    assert covered(MODELS["calibrated"], "percentile", 100) < stats.binom.ppf(FALSE_ALARM, 100, 0.94)
