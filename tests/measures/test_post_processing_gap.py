import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows, weighted_rows
from scipy.integrate import quad
from scipy.optimize import minimize

import calibstat as cs
from calibstat.generators import calibrated, quadratic_gap, temperature
from calibstat.measures.post_processing_gap import PostProcessingGap, _improved

post_processing_gap = PostProcessingGap().evaluate


def gap(*data):
    return cs.estimate(*data, measure="post_processing_gap")


def improvement(sample, kappa):
    """How much an update lowers the Brier score, from the definition."""

    def brier(p):
        return (sample.positives * (1 - p) ** 2 + (sample.count - sample.positives) * p**2).sum() / sample.n

    return brier(sample.value) - brier(kappa)


def draw(kind, n, seed=0):
    """Samples of n rows or so, of the kinds that are easy and hard."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    y = rng.random(n) < p
    if kind == "distorted":
        p = p**2 / (p**2 + (1 - p) ** 2)
    elif kind == "ties":
        p = np.round(p, 1)
    elif kind == "0 and 1":
        p = np.where(rng.random(n) < 0.4, y ^ (rng.random(n) < 0.2), p)
    elif kind == "clustered":
        p = (rng.integers(0, 10, n) + 0.5) / 10 + rng.random(n) * 1e-9
    elif kind == "adversary":  # the zero leaves half of the breakpoints behind in every second step
        j = np.arange(n)
        first = j < n // 2
        return cs.Sample.from_counts(0.5 + 1e-9 * j, np.where(first, 2, 1), np.where(first, 1, j % 2))
    return cs.Sample.from_rows(y.astype(float), p)


KINDS = ["calibrated", "distorted", "ties", "0 and 1", "clustered", "adversary"]


# --- by hand ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "p", "kappa", "expected"),
    [
        ([1], [0.3], [1], 0.49),  # one prediction may go anywhere
        ([0, 1, 1], [0.5, 0.5, 0.5], [2 / 3], 1 / 36),  # the square of its mean residual, (1/2 - 2/3)^2
        ([0, 0], [0, 1], [0, 0], 0.5),
        ([0, 1], [0, 1], [0, 1], 0),  # perfect
        ([1, 0], [0, 1], [0.5, 0.5], 0.75),  # all wrong: the order stays, so both at 1/2 are best, 1 - 1/4
        ([0, 1], [0.5, 0.6], [0.4, 0.6], 0.045),  # a rise of at most .2: (.25 + .16)/2 - .16
        # x and x + .2: x^2 + 2 (.8 - x)^2 is least at x = 8/15, namely (64 + 2 * 16)/225; before .25 + 2 * .16
        ([0, 1, 1], [0.5, 0.6, 0.6], [8 / 15, 11 / 15], (0.57 - 96 / 225) / 3),
    ],
)
def test_by_hand(y, p, kappa, expected):
    detail = cs.detail(y, p, measure="post_processing_gap")
    assert detail["kappa"] == pytest.approx(kappa, abs=1e-15)
    assert detail.estimate == pytest.approx(expected, abs=1e-15)


# --- against slow solvers --------------------------------------------------------------------------------------------


def quadratic_programme(sample):
    """The definition, solved in general: w = kappa(v) - v is 1-Lipschitz and v + w is in [0, 1]."""
    v, c, s = sample.value, sample.count / sample.n, sample.residual
    step = np.diff(np.eye(v.size), axis=0)
    lipschitz = {
        "type": "ineq",
        "fun": lambda w: np.concatenate((np.diff(v) - step @ w, np.diff(v) + step @ w)),
        "jac": lambda w: np.concatenate((-step, step)),
    }
    found = minimize(
        lambda w: c @ w**2 - 2 * s @ w,
        np.zeros(v.size),
        jac=lambda w: 2 * (c * w - s),
        bounds=np.column_stack((-v, 1 - v)),
        constraints=[lipschitz] if v.size > 1 else [],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return -found.fun


@pytest.mark.parametrize("kind", KINDS)
def test_against_a_general_solver(kind):
    for seed in range(60):
        sample = draw(kind, 1 + seed % 12, seed)
        assert gap(sample) == pytest.approx(quadratic_programme(sample), abs=1e-7)


def test_wrong_slopes_are_found():
    samples = [draw("calibrated", 12, seed) for seed in range(20)]
    exact = np.array([quadratic_programme(sample) for sample in samples])
    unbounded = [cs.estimate(sample, measure="mcb") for sample in samples]
    at_most_1 = [improvement(s, _improved(s.value / 2, s.count, s.positives)) for s in samples]
    for wrong in (unbounded, at_most_1):
        assert np.abs(wrong - exact).max() > 1e-3


def polyline(sample):
    """The dynamic programme with the derivative of the value function as a list of corners, box and all.

    The derivative, in w = kappa(v) - v, decreases from corner to corner; a jump is two corners above each other.
    """
    v, c, s = sample.value, sample.count, sample.positives - sample.count * sample.value
    w = np.array([-v[0], 1 - v[0]])
    f = 2 * s[0] - 2 * c[0] * w
    best = []
    for j in range(v.size):
        # the zero: a bound if the derivative has one sign
        i = np.searchsorted(-f, 0)  # the first corner at which it is not above 0
        if i == 0 or i == f.size:
            zero = w[min(i, f.size - 1)]
        else:
            zero = w[i - 1] + (w[i] - w[i - 1]) * f[i - 1] / (f[i - 1] - f[i])
        best.append(zero)
        if j + 1 < v.size:
            d = v[j + 1] - v[j]
            w = np.concatenate((w[:i] - d, [zero - d, zero + d], w[i:] + d))
            f = np.concatenate((f[:i], [0, 0], f[i:]))
            low, high = -v[j + 1], 1 - v[j + 1]  # cut to the box; only the upper end is ever cut
            at_high = np.interp(high, w, f)
            f = np.append(f[w < high], at_high)
            w = np.append(w[w < high], high)
            w[0] = low
            f = f + 2 * s[j + 1] - 2 * c[j + 1] * w
    for j in range(v.size - 2, -1, -1):
        d = v[j + 1] - v[j]
        best[j] = min(max(best[j], best[j + 1] - d), best[j + 1] + d)
    return v + best


@pytest.mark.parametrize("kind", KINDS)
def test_against_lists_of_corners(kind):
    for n in (1, 2, 3, 5, 10, 40, 150, 400):
        for seed in range(3):
            sample = draw(kind, n, seed)
            assert gap(sample) == pytest.approx(improvement(sample, polyline(sample)), abs=1e-12)


@given(weighted_rows(), st.sampled_from([1, 0.1, 1e-9]))
def test_any_rows_against_lists_of_corners(data, width):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p * width, weight)  # narrow: all predictions beside 0
    assert gap(sample) == pytest.approx(improvement(sample, polyline(sample)), abs=1e-12)


# --- a certificate for any size --------------------------------------------------------------------------------------


def largest_gap(sample, kappa):
    """An upper bound on the gap, the Lagrangian dual at multipliers that belong to an update.

    For any q with q_0 = q_m = 0 and any feasible x, whose rises are from 0 to 2 d_j,
    sum c (x - a/c)^2 / 2 >= sum c (x - a/c)^2 / 2 + sum q_j (x_{j+1} - x_j - 2 d_j [q_j > 0]),
    and the right-hand side is least where c_j x_j - a_j = q_j - q_{j-1}: a bound that is attained by the optimal q.
    """
    c, a = sample.count, sample.positives
    q = np.append(np.cumsum(c * kappa - a)[:-1], 0)
    fall = -np.diff(q, prepend=0)
    least = (fall * a / c - fall**2 / (2 * c)).sum() - (np.maximum(q[:-1], 0) * 2 * np.diff(sample.value)).sum()
    return improvement(sample, a / c) - 2 * least / sample.n


def check_optimal(sample, kappa):
    """The update is allowed, gains what is claimed, and no other gains more."""
    rise = np.diff(kappa)
    assert 0 <= kappa.min() <= kappa.max() <= 1
    assert np.all(rise >= 0)
    assert np.all(rise <= 2 * np.diff(sample.value) + 1e-15)  # so that kappa(v) - v is 1-Lipschitz
    assert gap(sample) == pytest.approx(improvement(sample, kappa), abs=1e-12)
    assert largest_gap(sample, kappa) == pytest.approx(gap(sample), abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_have_an_optimal_update(kind):
    sample = draw(kind, 100_000)
    check_optimal(sample, cs.detail(sample, measure="post_processing_gap")["kappa"])


@given(rows())
def test_any_rows_have_an_optimal_update(data):
    sample = cs.Sample.from_rows(*data)
    check_optimal(sample, cs.detail(sample, measure="post_processing_gap")["kappa"])


def test_worse_updates_are_found():
    sample = draw("distorted", 1000)
    kappa = cs.detail(sample, measure="post_processing_gap")["kappa"]
    for worse in (sample.value, 0.999 * kappa, cs.detail(sample, measure="mcb")["recalibrated"]):
        with pytest.raises(AssertionError):
            check_optimal(sample, worse)


def test_real_weights_and_large_counts():
    rng = np.random.default_rng(0)
    value = np.sort(rng.random(1000))
    for count in (rng.exponential(size=1000), 10 ** rng.uniform(-6, 6, 1000), rng.integers(1, 10**9, 1000)):
        sample = cs.Sample.from_counts(value, count, count * rng.random(1000))
        check_optimal(sample, cs.detail(sample, measure="post_processing_gap")["kappa"])


# --- facts -----------------------------------------------------------------------------------------------------------


@given(rows())
def test_bounds_by_other_measures(data):
    """S² <= gap <= 2 S for the smooth calibration error S, and no more than any order-keeping map gains.

    The gap is the largest mean of 2 r w - w² over updates w. Each is 1-Lipschitz and from -1 to 1, so it is at most
    2 S. If w attains S, the update S w gains 2 S² - S² mean(w²) >= S², or more once cut off at 0 and 1.
    """
    sample = cs.Sample.from_rows(*data)
    smooth = oracles.best_weight(sample)
    found = gap(sample)
    assert smooth**2 - 1e-9 <= found <= 2 * smooth + 1e-9
    assert 0 <= found <= cs.estimate(sample, measure="mcb") + 1e-15


@given(rows())
def test_zero_if_and_only_if_calibrated(data):
    """Between what moving one prediction gains and what moving each to its frequency would gain.

    One moves by t towards its frequency, at most as far as its residual r and its neighbours allow: 2 t r - share t²,
    at least t r. Without any constraint all gain r² / share.
    """
    sample = cs.Sample.from_rows(*data)
    room = np.min(np.diff(sample.value), initial=1)
    r, share = np.abs(sample.residual), sample.count / sample.n
    assert np.max(np.minimum(room, r) * r) - 1e-15 <= gap(sample) <= (r**2 / share).sum() + 1e-15


def test_a_smooth_curve_is_reached():
    # the rate .1 + .8 v has slope .8, between 0 and 2: kappa is the rate and the gap the mean of (.1 - .2 v)²
    value = np.linspace(0, 1, 101)
    sample = cs.Sample.from_counts(value, np.full(101, 1000), 100 + 800 * value)
    detail = cs.detail(sample, measure="post_processing_gap")
    assert detail["kappa"] == pytest.approx(0.1 + 0.8 * value, abs=1e-12)
    assert detail.estimate == pytest.approx(np.mean((0.1 - 0.2 * value) ** 2), abs=1e-14)


@given(rows())
def test_reversal(data):
    sample = cs.Sample.from_rows(*data)
    # reversed on the summary: 1 - v may round two predictions to one, at distance 0 of each other
    reverse = 1 - sample.value, sample.count, sample.count - sample.positives
    back = post_processing_gap(*(a[::-1].copy() for a in reverse))
    assert back == pytest.approx(gap(sample), abs=1e-13)


def test_absent_predictions_have_no_update():
    kappa = _improved(np.array([0.1, 0.5, 0.6, 0.7]), np.array([0.0, 1, 0, 1]), np.array([0.0, 0, 0, 1]))
    # without .1 and .6 the rise from .5 to .7 may be .4
    assert kappa == pytest.approx([np.nan, 0.3, np.nan, 0.7], abs=1e-15, nan_ok=True)


# --- truth and picture -----------------------------------------------------------------------------------------------


def test_truth():
    assert calibrated().truth("post_processing_gap") == pytest.approx(0, abs=1e-15)
    # 1/2 - a and 1/2 + a both come true half of the time: moving both to 1/2 gains a²
    assert quadratic_gap(0.1).truth("post_processing_gap") == pytest.approx(0.01, abs=1e-15)
    # temperature 1/2 reports f for v = f²/(f² + (1 - f)²), whose slope 2 t / (1 - 2 t)², t = f (1 - f) <= 1/4, is at
    # most 2: kappa is the curve, and the gap the mean of (v - f)²
    expected = quad(lambda v: (v - v**0.5 / (v**0.5 + (1 - v) ** 0.5)) ** 2, 0, 1, epsabs=1e-13)[0]
    assert temperature(0.5).truth("post_processing_gap") == pytest.approx(expected, abs=1e-9)
    steeper = temperature(0.4)  # slope 2.5 at 1/2
    assert steeper.truth("post_processing_gap") < steeper.truth("ece", norm="l2", n_bins=4096) ** 2 - 1e-6


def test_picture():
    sample = draw("distorted", 300)
    found = cs.detail(sample, measure="post_processing_gap")
    ax = cs.plot(found)
    drawn = {line.get_label(): line.get_xydata() for line in ax.lines}
    np.testing.assert_array_equal(drawn["best update"], np.column_stack([sample.value, found["kappa"]]))
    np.testing.assert_array_equal(drawn["no update"], [[0, 0], [1, 1]])
    plt.close(ax.figure)
