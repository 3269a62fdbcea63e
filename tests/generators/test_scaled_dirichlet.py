"""Dirichlet distributed predictions: closed forms, independent sums, and the calibration function."""

import math

import numpy as np
import pytest
from generator_examples import ROTATION
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, special, stats

from calibstat.data import lenses
from calibstat.data.predictions import Predictions
from calibstat.generators import (
    dirichlet,
    label_noise,
    temperature,
)
from calibstat.generators.scaled_dirichlet import _log_beta

# --- Dirichlet distributions. Calibrated: E q_k² = a_k (a_k + 1) / (A (A + 1)), E ln q_k = psi(a_k) - psi(A) and E q_k
# ln q_k = a_k / A (psi(a_k + 1) - psi(A + 1)). With label noise f the distribution is (1 - f) q + f / K, and given q_k
# alone it is the same function of q_k, which is Beta(a_k, A - a_k): its residual f (1/K - q_k) is integrated by
# incomplete beta functions.

ALPHAS = [(1, 1, 1), (0.3, 0.3, 0.3), (5, 1, 0.2), (0.05, 4), (1,) * 10]
ALPHAS += [pytest.param((0.1,) * 10, marks=pytest.mark.slow)]
NOISE = 0.3
ALARM = 1e-5  # at most, of all statistical checks of one test together


def near(truth, alpha):
    """What the docstring of `dirichlet` promises."""
    return pytest.approx(truth, abs=1e-5 if len(alpha) <= 3 else 2e-4)


def moments(alpha):
    a, total = np.array(alpha, float), sum(alpha)
    square = (a * (a + 1)).sum() / (total * (total + 1))
    entropy = (a / total * (special.digamma(a + 1) - special.digamma(total + 1))).sum()
    return square, entropy, (special.digamma(a) - special.digamma(total)).sum()


@pytest.mark.parametrize("alpha", ALPHAS)
def test_scores_of_dirichlet_distributions(alpha):
    family, noisy, k = dirichlet(alpha), label_noise(dirichlet(alpha), NOISE), len(alpha)
    square, entropy, logs = moments(alpha)
    assert family.truth("brier", lens="canonical") == near(1 - square, alpha)
    assert family.truth("log_loss", lens="canonical") == pytest.approx(-entropy, abs=1e-4)
    brier = 1 - 2 * ((1 - NOISE) * square + NOISE / k) + square
    assert noisy.truth("brier", lens="canonical") == near(brier, alpha)
    loss = -((1 - NOISE) * entropy + NOISE / k * logs)
    assert noisy.truth("log_loss", lens="canonical") == pytest.approx(loss, abs=1e-4)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_label_noise_seen_class_by_class(alpha):
    family, total = label_noise(dirichlet(alpha), NOISE), sum(alpha)
    for k in (0, 1, len(alpha) - 1):
        a, b = alpha[k], total - alpha[k]
        edges = np.linspace(0, 1, 16)
        mass = np.diff(special.betainc(a, b, edges))
        residual = NOISE * (mass / len(alpha) - a / total * np.diff(special.betainc(a + 1, b, edges)))
        lens = lenses.one_class(k)
        assert family.truth("ece", lens=lens) == near(np.abs(residual).sum(), alpha)
        full = mass > 1e-12
        l2 = math.sqrt((residual[full] ** 2 / mass[full]).sum())
        assert family.truth("ece", lens=lens, norm="l2") == near(l2, alpha)
        assert family.truth("ece_debiased", lens=lens) == near(l2, alpha)
        # residuals change sign once, at 1/K: the partial sum there is the largest, and that over everything the last
        peak = NOISE * (special.betainc(a, b, 1 / len(alpha)) / len(alpha))
        peak -= NOISE * a / total * special.betainc(a + 1, b, 1 / len(alpha))
        last = NOISE * (1 / len(alpha) - a / total)
        assert family.truth("ks", lens=lens) == near(max(peak, -last), alpha)
        assert family.truth("kuiper", lens=lens) == near(max(peak, 0) - min(last, 0), alpha)


def test_temperature_over_three_uniform_classes():
    # p = q² / sum q² is sharper than q everywhere, so the error of the top label is E max p - E max q. In one sixth of
    # the simplex, of area 1/2 and density 2, q1 > q2 > q3 = 1 - q1 - q2
    def gap(q2, q1):
        return q1**2 / (q1**2 + q2**2 + (1 - q1 - q2) ** 2) - q1

    low, _ = integrate.dblquad(gap, 1 / 3, 1 / 2, lambda q: (1 - q) / 2, lambda q: q)
    high, _ = integrate.dblquad(gap, 1 / 2, 1, lambda q: (1 - q) / 2, lambda q: 1 - q)
    family = dirichlet((1, 1, 1), temperature=2)
    for measure in ("ece", "ks", "kuiper"):
        assert family.truth(measure) == pytest.approx(12 * (low + high), abs=1e-6)
    # Of class 0, summed over a grid of 1000² midpoints in (q0, share of q1 in the rest); the Jacobian is 1 - q0
    q0, share = np.meshgrid((np.arange(1000) + 0.5) / 1000, (np.arange(1000) + 0.5) / 1000)
    p0 = q0**2 / (q0**2 + (1 - q0) ** 2 * (share**2 + (1 - share) ** 2))
    cell = np.minimum((p0 * 15).astype(int), 14)
    in_bins = np.bincount(cell.ravel(), (2e-6 * (1 - q0) * (q0 - p0)).ravel())
    by_class = family.truth("ece", lens="class_wise")
    assert by_class == pytest.approx(np.full(3, np.abs(in_bins).sum()), abs=3e-5)
    assert np.ptp(by_class) < 1e-5  # the net goes through the classes one after the other, the distribution does not
    assert family.truth("ece", lens="class_wise_mean") == pytest.approx(by_class.mean())
    assert family.truth("ece", lens="class_wise_max") == by_class.max()


def test_predictions_that_round_to_one_have_a_finite_log_loss():
    # most of Beta(.01, .01) is nearer to 0 or 1 than floats can be
    family, binary = dirichlet((0.01, 0.01), temperature=3), temperature(3, stats.beta(0.05, 0.05))
    assert 0 < family.truth("log_loss") < 0.1
    near = dirichlet((0.05, 0.05), temperature=3)
    assert near.truth("log_loss", lens=lenses.one_class(1)) == pytest.approx(binary.truth("log_loss"), abs=1e-6)
    assert near.truth("log_loss", lens="canonical") == pytest.approx(binary.truth("log_loss"), abs=1e-6)


@pytest.mark.parametrize(("a", "b"), [(0.01, 0.02), (0.01, 50.0), (3.0, 0.5), (40.0, 1.0), (1.0, 1.0)])
def test_quantiles_of_beta_distributions(a, b):
    u = np.array([1e-5, 0.01, 0.3, 0.5, 0.9, 1 - 1e-5])
    found = _log_beta(u, a, b)
    assert np.isfinite(found).all()
    assert np.all(np.diff(found) >= 0)
    x = np.exp(found)
    back = np.where(x > 1e-300, special.betainc(a, b, x), u)
    # where x is 1 in floats the distribution function has no digits left
    assert back[x < 1 - 1e-9] == pytest.approx(u[x < 1 - 1e-9], rel=1e-8)


def test_quantiles_below_all_floats():
    u = np.array([1e-9, 1e-5, 0.01, 0.3])  # Beta(a, 1) has the distribution function x**a
    for a in (0.005, 0.01, 0.02):
        assert _log_beta(u, a, 1.0) == pytest.approx(np.log(u) / a, rel=1e-12)


@pytest.mark.parametrize(
    "family",
    [
        dirichlet((1, 2, 3), temperature=1),
        dirichlet((1, 2, 3), scale=(1, 1, 1), shift=(2, 2, 2)),
        dirichlet((1, 2, 3), matrix=np.eye(3)),
        dirichlet((1, 2, 3), matrix=np.eye(3) - 1 / 3),  # softmax does not notice what is added to all logits
        label_noise(dirichlet((1, 2, 3)), 0),
    ],
)
def test_trivial_changes_leave_it_calibrated(family):
    assert family.is_calibrated
    assert family.truth("ece") == 0
    p = np.array([0.2, 0.3, 0.5])
    assert family.conditional(p) == pytest.approx(p, abs=1e-15)
    assert not np.shares_memory(family.conditional(p), p)


# --- the calibration function


def logits(family, q):
    if family.matrix is not None:
        return np.log(q) @ np.array(family.matrix).T + np.array(family.shift or 0)
    return np.log(q) * np.array(family.scale or family.temperature or 1) + np.array(family.shift or 0)


@pytest.mark.parametrize(
    "family",
    [
        dirichlet((1, 1, 1), temperature=0.3),
        dirichlet((1, 1, 1), scale=(0.5, 1, 2), shift=(0, 0.5, -0.5)),
        dirichlet((1, 1, 1), scale=(-0.5, -1, -2)),
        dirichlet((1, 1, 1), scale=(1, 0, 2)),
        dirichlet((1, 1, 1), matrix=ROTATION, shift=(1, 2, 3)),
        dirichlet((1, 1, 1), matrix=[[1, 0.2, 0], [0, 2, 0.3], [0.1, 0, 0.5]]),
    ],
    ids=repr,
)
def test_conditional_undoes_the_report(family):
    q = np.random.default_rng(1).dirichlet((0.7, 0.7, 0.7), 500)
    p = special.softmax(logits(family, q), axis=1)
    found = family.conditional(p)
    away = q.min(axis=1) > 1e-6  # near the boundary digits of p are lost
    assert away.sum() > 400
    assert np.abs(found - q)[away].max() < 1e-8
    assert found.sum(axis=1) == pytest.approx(np.ones(500), abs=1e-9)
    assert found[3] == pytest.approx(family.conditional(p[3]), abs=1e-14)


def test_what_is_never_predicted_has_no_conditional():
    family = dirichlet((1, 1), scale=(1, 0))  # odds of class 0 are q0 itself, so below 1
    assert family.conditional([1 / 3, 2 / 3]) == pytest.approx([0.5, 0.5], abs=1e-12)
    assert np.isnan(family.conditional([0.6, 0.4])).all()
    assert np.isnan(dirichlet((1, 1), scale=(2, 1)).conditional([0, 1])).all()
    assert np.array_equal(dirichlet((1, 1), temperature=2).conditional([0, 1]), [0, 1])


def test_scalings_that_merge_vectors_are_refused():
    # diag(2, -1): the odds of the report are q0² q1, the same at q0 = 1/2 and at the other root of q0² (1 - q0) = 1/8
    other = (1 + math.sqrt(5)) / 4
    assert other**2 * (1 - other) == pytest.approx(1 / 8)
    for scaling in ({"scale": (2, -1)}, {"matrix": np.diag([2, -1])}):
        with pytest.raises(ValueError, match="both signs"):
            dirichlet((1, 1), **scaling)
    singular = [np.ones((3, 3)), np.zeros((3, 3)), np.diag([1, 0, 0]), [[1, 2, 3], [2, 4, 6], [0, 0, 1]]]
    for matrix in [*singular[:3], [[1, 2, 3], [1, 2, 3], [0, 0, 1]]]:
        with pytest.raises(ValueError, match="singular"):
            dirichlet((1, 1, 1), matrix=matrix)
    with pytest.raises(ValueError, match="singular"):
        dirichlet((1, 1, 1), scale=(1, 0, 0))


@pytest.mark.parametrize("alpha", [(0.2, 1, 3), (0.02, 0.02, 0.02), (30, 20, 10)])
def test_vectors_are_dirichlet(alpha):
    _, p = dirichlet(alpha).sample(20_000, 1)
    for k, a in enumerate(alpha):
        distribution = stats.beta(a, sum(alpha) - a)
        inside = p[(p[:, k] > 0) & (p[:, k] < 1), k]  # what rounds to 0 or 1 is counted below
        cut = distribution.cdf(np.array([1e-12, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99]))
        hits = [(p[:, k] <= x).sum() for x in (1e-12, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)]
        low, high = stats.binom.interval(1 - ALARM / 24, 20_000, cut)
        assert np.all((low <= hits) & (hits <= high))
        assert inside.size > 0


alphas = st.lists(st.floats(0.01, 50), min_size=2, max_size=6)


@given(alphas, st.sampled_from([0.05, 0.5, 1.0, 3.0, 20.0]), st.integers(0, 2**32 - 1))
def test_any_dirichlet_gives_predictions(alpha, beta, seed):
    family = dirichlet(alpha, temperature=beta)
    y, p = family.sample(200, seed)
    assert np.abs(p.sum(axis=1) - 1).max() < 1e-12
    Predictions.from_rows(y, p)
    net = family._net(64)
    for array in (net.prob, net.chance):
        assert np.abs(array.sum(axis=1) - 1).max() < 1e-12
    assert np.isfinite(net.log_prob).all()
