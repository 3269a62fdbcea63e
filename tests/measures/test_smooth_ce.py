"""Smooth calibration error: against a linear programme, against its dual in the plain, and closed forms."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from row_strategies import rows, weighted_rows
from scipy.optimize import linprog
from scipy.sparse import diags_array, vstack

import calibstat as cs
from calibstat.measures import smooth_ce as lipschitz
from calibstat.measures.smooth_ce import SmoothCE

smooth_ce = SmoothCE().norm


def by_linear_programme(value, residual):
    """The definition, by HiGHS: maximise <residual, w> over 1-Lipschitz w in [-1, 1]."""
    m = value.size
    if m == 1:
        return abs(residual[0])
    step = diags_array([-np.ones(m - 1), np.ones(m - 1)], offsets=[0, 1], shape=(m - 1, m))
    limits = np.tile(np.diff(value), 2)
    # by default it is content with a w that is infeasible by 1e-7, which is more than a tight cluster is wide
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    constraints = vstack([step, -step]).tocsr()
    found = linprog(-residual, A_ub=constraints, b_ub=limits, bounds=(-1, 1), method="highs", options=tight)
    assert found.success
    return -found.fun


def by_denoising(value, residual):
    """The dual in the plain: total variation denoising of the partial sums S over curves G that pass through 0 and S_m.

    An optimal G takes values of S and 0 only, because the cost is linear between them. Dynamic programme over these.
    """
    sums = np.cumsum(residual)
    levels = np.unique(np.append(sums, 0))
    jump = np.abs(levels[:, None] - levels[None, :])
    cost = np.abs(levels)
    for s, d in zip(sums[:-1], np.diff(value), strict=True):
        cost = (cost + d * np.abs(levels - s))[None, :] + jump
        cost = cost.min(axis=1)
    return cost[np.searchsorted(levels, sums[-1])]


def example(seed):
    """Predictions of one of nine kinds and residuals of one of three: summary of up to 60 distinct predictions."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 61))
    p = [
        rng.random(n),
        rng.integers(0, 5, n) / 4,  # ties, 0 and 1
        rng.choice([0.0, 1.0], n),
        np.repeat(rng.random(), n),
        rng.integers(0, 4, n) / 4 + 1e-9 * rng.random(n),  # tight clusters
        0.5 + 1e-12 * rng.random(n),
        rng.beta(0.1, 0.1, n),
        np.concatenate([rng.random(n // 2), 0.5 + 1e-9 * np.arange(n - n // 2)]),
        rng.random(1),
    ][seed % 9]
    p = np.clip(p, 0, 1)
    frequency = [p, np.sqrt(p), np.arange(p.size) % 2][seed // 9 % 3]
    weight = rng.integers(1, 20, p.size) if seed % 2 else None
    sample = cs.Sample.from_rows((rng.random(p.size) < frequency).astype(int), p, weight)
    return sample.value, sample.residual


def worst_case(n):
    """Tiny residuals in the first half, then alternating outcomes at predictions 1e-9 apart near 1/2."""
    half = n // 2
    p = np.concatenate([1e-9 * np.arange(1, half + 1), 0.5 + 1e-9 * np.arange(half)])
    return np.concatenate([np.zeros(half), np.arange(half) % 2]), p


# --- the value -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(54))
def test_against_the_linear_programme(seed):
    value, residual = example(seed)
    assert smooth_ce(value, residual) == pytest.approx(by_linear_programme(value, residual), abs=1e-9)
    assert smooth_ce(value, residual) == pytest.approx(by_denoising(value, residual), abs=1e-14)


@pytest.mark.slow
def test_against_the_linear_programme_often():
    for seed in range(54, 1554):
        value, residual = example(seed)
        assert smooth_ce(value, residual) == pytest.approx(by_linear_programme(value, residual), abs=1e-9), seed


@given(weighted_rows())
def test_against_denoising(data):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    expected = by_denoising(sample.value, sample.residual)
    assert cs.estimate(sample, measure="smooth_ce") == pytest.approx(expected, abs=1e-14)


def test_residuals_of_any_size_and_sign():
    """The bootstrap applies it to signed measures that no sample has."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        value = np.unique(rng.integers(0, 40, 25)) / 39
        residual = rng.normal(0, 1, value.size)
        if seed % 3 == 0:
            residual -= residual.mean()  # both signs of the witness are then optimal
        if seed % 3 == 1:
            residual = np.round(residual)  # ties between partial sums
        assert smooth_ce(value, residual) == pytest.approx(by_denoising(value, residual), abs=1e-13)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda value, residual: smooth_ce(value, residual) * (1 + 1e-6),
        lambda value, residual: smooth_ce(np.sqrt(value), residual),
        lambda value, residual: abs(residual.sum()) + np.diff(value) @ np.abs(np.cumsum(residual)[:-1]),  # G = 0
        lambda value, residual: smooth_ce(value[::-1].copy(), residual),  # falling predictions take mass away
    ],
)
def test_a_wrong_value_is_found(wrong):
    def differs(value, residual):
        return abs(wrong(value, residual) - by_linear_programme(value, residual)) > 1e-9

    assert any(differs(*example(seed)) for seed in range(54))


@pytest.mark.parametrize("make", [lambda n: worst_case(n), lambda n: cs.generators.temperature(1.0).sample(n, rng=0)])
def test_many_rows_against_the_linear_programme(make):
    sample = cs.Sample.from_rows(*make(3000))
    expected = by_linear_programme(sample.value, sample.residual)
    assert cs.estimate(sample, measure="smooth_ce") == pytest.approx(expected, abs=1e-9)


# --- closed forms ----------------------------------------------------------------------------------------------------


def test_by_hand():
    # residuals 1/4, -1/2, 1/4 at 0, 1/2, 1: w = 0, -1/2, 0 attains 1/4, and no 1-Lipschitz w has
    # (w_1 - w_2)/4 + (w_3 - w_2)/4 above (1/2 + 1/2)/4
    assert smooth_ce(np.array([0, 0.5, 1]), np.array([0.25, -0.5, 0.25])) == 0.25
    # 3/4 of excess at 1/4 and -1/2 at 3/4: w = 1, 1/2 gives 3/4 - 1/4
    assert smooth_ce(np.array([0.25, 0.75]), np.array([0.75, -0.5])) == 0.5
    # the residuals -1/2 and 3/4 the other way round: w = 1/2, 1
    assert smooth_ce(np.array([0.25, 0.75]), np.array([-0.5, 0.75])) == 0.5
    # one row that predicts 1/4 and comes true
    assert cs.estimate([1], [0.25], measure="smooth_ce") == 0.75


def test_residuals_of_one_sign_add_up():
    """w = 1 is then the best of all weights, and the value that of the unbinned error."""
    y, p = np.ones(50), np.random.default_rng(0).random(50)
    assert cs.estimate(y, p, measure="smooth_ce") == pytest.approx((1 - p).mean(), abs=1e-15)


@pytest.mark.parametrize("alpha", [0.1, 0.2, 0.3])
def test_quadratic_gap(alpha):
    """Gaps of alpha up and down, on half of the rows each, at distance 2 alpha, which w can differ by."""
    value = np.array([0.5 - alpha, 0.5 + alpha])
    residual = np.array([alpha / 2, -alpha / 2])
    assert smooth_ce(value, residual) == pytest.approx(alpha**2, abs=1e-9)
    for variant in (1, 2):
        truth = cs.generators.quadratic_gap(alpha=alpha, variant=variant).truth("smooth_ce")
        assert truth == pytest.approx(alpha**2, abs=1e-9)


def test_over_confidence():
    """f = v**2 / (v**2 + (1 - v)**2) on uniform v: the partial sums are positive and end at 0, so w = -f is best.

    With v = (1 + t) / 2 it is f = 1/2 + t / (1 + t**2), f - v is odd in t, and the mean over uniform t in [-1, 1] of
    (f - v) f is that of t**2 / (1 + t**2)**2 - t**2 / (1 + t**2) / 2, or (pi/8 - 1/4) - (1 - pi/4) / 2.
    """
    assert cs.generators.temperature(2).truth("smooth_ce") == pytest.approx(np.pi / 4 - 3 / 4, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 0.2])
def test_two_point(epsilon):
    """Gaps of 1/2 - epsilon up and down, on half of the rows each, at distance 2 epsilon, which w can differ by."""
    truth = cs.generators.two_point(epsilon=epsilon).truth("smooth_ce")
    assert truth == pytest.approx((0.5 - epsilon) / 2 * 2 * epsilon, abs=1e-12)


# --- inequalities and symmetries -------------------------------------------------------------------------------------


@given(rows())
def test_at_most_the_unbinned_error(data):
    sample = cs.Sample.from_rows(*data)
    smooth = cs.estimate(sample, measure="smooth_ce")
    assert abs(sample.residual.sum()) - 1e-15 <= smooth <= np.abs(sample.residual).sum() + 1e-15


@given(rows())
def test_unchanged_by_reversal(data):
    sample = cs.Sample.from_rows(*data)
    value, residual = 1 - sample.value[::-1], -sample.residual[::-1]
    assert smooth_ce(value, residual) == pytest.approx(cs.estimate(sample, measure="smooth_ce"), abs=1e-14)


@given(rows())
def test_no_farther_apart_than_predictions(data):
    """Moving all predictions by at most t moves a weighted mean of residuals by at most 2 t."""
    y, p = data
    moved = np.clip(p + np.resize([0.003, -0.003, 0.001], p.size), 0, 1)
    there, back = (cs.estimate(y, v, measure="smooth_ce") for v in (p, moved))
    assert abs(there - back) <= 2 * np.abs(moved - p).mean() + 1e-14


# --- the witness and the denoised curve ------------------------------------------------------------------------------


def check_witness(value, residual, witness):
    """It is feasible, and attains the value."""
    assert np.abs(witness).max() <= 1
    assert np.all(np.abs(np.diff(witness)) <= np.diff(value) + 1e-12)
    assert residual @ witness == pytest.approx(smooth_ce(value, residual), abs=1e-12)


@given(weighted_rows())
def test_witness(data):
    y, p, weight = data
    sample = cs.Sample.from_rows(y, p, weight)
    check_witness(sample.value, sample.residual, cs.detail(sample, measure="smooth_ce")["witness"])


@pytest.mark.parametrize("seed", range(9))
def test_witness_of_many_rows(seed):
    rng = np.random.default_rng(seed)
    p = [rng.random, lambda n: rng.beta(0.1, 0.1, n), lambda n: rng.integers(0, 10, n) / 10 + 1e-9 * rng.random(n)]
    p = p[seed % 3](20_000)
    y = rng.random(20_000) < [p, p**1.5, np.sqrt(p)][seed // 3]
    sample = cs.Sample.from_rows(y, p)
    check_witness(sample.value, sample.residual, cs.detail(sample, measure="smooth_ce")["witness"])


def test_a_wrong_witness_is_found():
    value, residual = np.array([0.25, 0.75]), np.array([0.75, -0.5])
    check_witness(value, residual, np.array([1, 0.5]))
    for wrong in ([1, 0.6], [1, 0.4], [1.1, 0.6], [0.9, 0.4]):
        with pytest.raises(AssertionError):
            check_witness(value, residual, np.array(wrong))


@given(rows())
def test_denoised_curve(data):
    """It goes from 0 to the mean residual without turning back, and its cost is the value."""
    sample = cs.Sample.from_rows(*data)
    detail = cs.detail(sample, measure="smooth_ce")
    sums, denoised = detail["cumulative"], detail["denoised"]
    assert sums == pytest.approx(np.cumsum(sample.residual), abs=1e-15)
    jumps = np.diff(denoised, prepend=0.0) * (-1 if sums[-1] < 0 else 1)
    assert np.all(jumps >= 0)
    assert denoised[-1] == sums[-1]
    cost = np.abs(sums[-1]) + np.diff(sample.value) @ np.abs(sums - denoised)[:-1]
    assert detail.estimate == pytest.approx(cost, abs=1e-14)


def test_a_calibrated_sample():
    detail = cs.detail(cs.Sample.from_counts([0, 0.5, 1], [2, 4, 3], [0, 2, 3]), measure="smooth_ce")
    assert detail.estimate == 0
    assert detail["denoised"].tolist() == [0, 0, 0]
    assert detail["witness"].tolist() == [1, 1, 1]


# --- the heap --------------------------------------------------------------------------------------------------------


def test_fit_of_a_curve_that_rises_is_the_curve():
    value = np.linspace(0, 1, 50)
    error, highest = lipschitz._fit_rising(value, value**2)
    assert error == 1  # its end, and no distance
    assert np.array_equal(highest, value**2)


def steps_in_heap(value, curve, monkeypatch):
    """How often the fit writes to its heap, in plain Python."""
    steps = 0

    class Heap(np.ndarray):
        def __setitem__(self, place, entry):
            nonlocal steps
            steps += isinstance(place, tuple)
            super().__setitem__(place, entry)

    monkeypatch.setattr(lipschitz, "np", SimpleNamespace(empty=lambda shape: np.empty(shape).view(Heap)))
    for name in ("_rise", "_sink"):
        monkeypatch.setattr(lipschitz, name, getattr(lipschitz, name).py_func)
    error, _ = lipschitz._fit_rising.py_func(value, curve)
    monkeypatch.undo()
    assert error == pytest.approx(lipschitz._fit_rising(value, curve)[0], rel=1e-12)
    return steps


@pytest.mark.parametrize("shape", ["worst", "rising", "up and down", "saw", "walk"])
def test_no_input_is_bad(shape, monkeypatch):
    """Each point goes into the heap and out of it at most once, and moves one entry a level."""
    n = 4000
    value, noise = np.linspace(0, 1, n), np.random.default_rng(0).normal(0, 1, n)
    if shape == "worst":
        sample = cs.Sample.from_rows(*worst_case(n))
        value, curve = sample.value, np.abs(np.cumsum(sample.residual))
    elif shape == "rising":
        curve = value
    elif shape == "up and down":
        curve = np.append(1 - np.abs(2 * value[:-1] - 1), 1)
    elif shape == "saw":
        curve = np.append(np.arange(n - 1) % 2 * 0.5 + value[:-1] / 3, 1)
    else:
        curve = np.append(np.abs(np.cumsum(noise[:-1])), 1e3)
    levels = np.ceil(np.log2(n) / 2) + 1
    assert n / 10 < steps_in_heap(value, curve, monkeypatch) <= n * (4 * levels + 2)


# --- the interval ----------------------------------------------------------------------------------------------------


def test_interval_holds_the_truth_and_zero():
    family = cs.generators.temperature(2)
    found = cs.confidence_interval(*family.sample(1000, rng=4), measure="smooth_ce", n_resamples=199, rng=4)
    assert found.method == "honest"
    assert 0 < found.low <= family.truth("smooth_ce") <= found.high
    calibrated = cs.generators.temperature(1).sample(1000, rng=4)
    assert cs.confidence_interval(*calibrated, measure="smooth_ce", n_resamples=199, rng=4).low == 0
