"""Standard errors beside a calibration-sharpness diagram: row by row, against repeated samples, and shown."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import rel_entr
from scipy.stats import chi2

import calibstat as cs

NAMES = ("calibration_error", "sharpness_gap", "total_divergence")


def slow_numbers(weight, y, p, divergence, bandwidth):
    """The three numbers of rows with weights, pair by pair."""
    kernel = np.exp(-(((p[:, None] - p) / bandwidth) ** 2) / 2) * weight
    m = kernel @ y / kernel.sum(axis=1)

    def d(x, v):
        return (x - v) ** 2 if divergence == "brier" else rel_entr(x, v) + rel_entr(1 - x, 1 - v)

    error, total = (weight @ d(each, p) / weight.sum() for each in (m, y))
    return np.array([error, total - error, total])


def slow_standard_errors(y, p, divergence, bandwidth):
    """By the derivative by the weight of each row, from differences."""
    y, ones, step = y.astype(float), np.ones(y.size), 1e-5
    influence = []
    for row in range(y.size):
        up, down = ones.copy(), ones.copy()
        up[row], down[row] = 1 + step, 1 - step
        ends = (slow_numbers(weight, y, p, divergence, bandwidth) for weight in (up, down))
        influence.append(np.subtract(*ends) / (2 * step) * y.size)
    return np.sqrt((np.array(influence) ** 2).sum(axis=0) / (y.size * (y.size - 1)))


@pytest.mark.parametrize("divergence", ["brier", "log_loss"])
def test_row_by_row(divergence):
    y, p = cs.generators.temperature(2, np.arange(1, 20) / 20).sample(60, rng=2)  # with ties
    found = cs.sharpness(y, p, divergence=divergence, bandwidth=0.1).standard_error
    slow = slow_standard_errors(y, p, divergence, 0.1)
    assert [found[name] for name in NAMES] == pytest.approx(slow, rel=1e-6)


def test_of_vectors_row_by_row():
    """The regression is of the hits of the most likely class, and the divergence is of the vectors."""
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(50, rng=1)
    found = cs.sharpness(label, prob, bandwidth=0.1).standard_error
    loss = ((np.eye(3)[label] - prob) ** 2).sum(axis=1)
    assert found["total_divergence"] == pytest.approx(loss.std(ddof=1) / np.sqrt(50))
    hit, top = (prob.argmax(axis=1) == label).astype(float), prob.max(axis=1)
    influence = []
    for row in range(50):
        up, down = np.ones(50), np.ones(50)
        up[row], down[row] = 1 + 1e-5, 1 - 1e-5
        error = [slow_numbers(weight, hit, top, "brier", 0.1)[0] for weight in (up, down)]
        influence.append((error[0] - error[1]) / 2e-5 * 50)
    influence = np.array(influence)
    assert found["calibration_error"] == pytest.approx(np.sqrt((influence**2).sum() / (50 * 49)), rel=1e-6)
    gap = loss - loss.mean() - influence
    assert found["sharpness_gap"] == pytest.approx(np.sqrt((gap**2).sum() / (50 * 49)), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["gaussian", "epanechnikov"])
def test_against_repeated_samples(kernel):
    """The variance of 200 samples over the mean squared standard error is chi-square over 199, within 1e-3 and a tenth.

    The fault, the standard error of twice the rows, is outside.
    """
    family, sets = cs.generators.temperature(2), 200
    found = [cs.sharpness(*family.sample(400, rng=seed), kernel=kernel) for seed in range(sets)]
    low, high = chi2.ppf([5e-4, 1 - 5e-4], sets - 1) / (sets - 1)
    for name in NAMES:
        spread = np.var([getattr(each, name) for each in found], ddof=1)
        ratio = spread / np.mean([each.standard_error[name] ** 2 for each in found])
        assert low * 0.9 < ratio < high * 1.1
        assert not low * 0.9 < 2 * ratio < high * 1.1


def test_all_outcomes_alike_around_some_predictions():
    """A regression of exactly 0 and 1 has no finite derivative of the relative entropy, and is moved by no row."""
    y, p = np.repeat([0, 1], 10), np.repeat([0.1, 0.9], 10)
    found = cs.sharpness(y, p, divergence="log_loss", kernel="epanechnikov", bandwidth=0.1)
    assert found.standard_error["calibration_error"] == pytest.approx(0, abs=1e-15)  # every row has the same divergence
    assert found.standard_error["total_divergence"] == pytest.approx(0, abs=1e-15)


def test_where_there_is_none():
    weighted = cs.Sample.from_rows([0, 1, 1], [0.2, 0.4, 0.9], [0.5, 1.5, 2.5])
    assert cs.sharpness(weighted).standard_error is None
    assert cs.sharpness([1], [0.3]).standard_error is None
    assert "±" not in str(cs.sharpness(weighted))


def test_rows_and_their_summary_have_the_same():
    y, p = cs.generators.temperature(2, [0.2, 0.5, 0.7]).sample(100, rng=1)
    rows, summary = cs.sharpness(y, p), cs.sharpness(cs.Sample.from_rows(y, p))
    assert rows.standard_error == pytest.approx(summary.standard_error, rel=1e-12)


def test_they_are_shown():
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    result = cs.sharpness(y, p)
    error = result.standard_error
    assert f"± {error['calibration_error']:.4g} and sharpness gap" in str(result)
    assert "(± standard error)" in str(result)
    text = next(each.get_text() for each in cs.plot(result).texts)
    assert f"calibration error {result.calibration_error:.4f} ± {error['calibration_error']:.4f}" in text
    assert f"sharpness gap {result.sharpness_gap:.4f} ± {error['sharpness_gap']:.4f}" in text
    plt.close("all")
