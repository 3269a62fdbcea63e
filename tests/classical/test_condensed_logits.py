"""Few points in place of many logits, against sums over all rows."""

import numpy as np
import pytest
from scipy.special import expit

import calibstat as cs
from calibstat.classical import condensed_logits
from calibstat.classical.condensed_logits import NODES, condensed
from calibstat.classical.logistic import LogitPolynomial

M = 20_000


def rows(seed=0, slope=0.8):
    """Logits with a long tail, counts from 1 to 3, and positives of which the slope is known."""
    rng = np.random.default_rng(seed)
    logit = np.sort(rng.logistic(0, 1.5, M))
    count = rng.integers(1, 4, M).astype(float)
    return logit, count, rng.binomial(count.astype(int), expit(slope * logit)).astype(float)


@pytest.fixture
def all_rows(monkeypatch):
    """Let sums run over all rows from now on."""
    return lambda: monkeypatch.setattr(condensed_logits, "LOGIT_CELLS", M)


def test_sums_of_polynomials_are_exact():
    logit, count, positives = rows()
    points = condensed(logit, count, positives)
    assert points.logit.size < M / 5
    assert (points.logit.min(), points.logit.max()) == (logit[0], logit[-1])
    for degree in range(NODES):
        for few, many in ((points.count, count), (points.positives, positives)):
            size = many @ np.abs(logit) ** degree
            assert few @ points.logit**degree == pytest.approx(many @ logit**degree, abs=1e-13 * size)


def test_cells_of_few_rows_keep_them():
    logit, count, positives = rows()
    points = condensed(np.append(logit, [50.0, 51.0]), np.append(count, [1, 2]), np.append(positives, [0, 1]))
    assert points.logit[-2:].tolist() == [50, 51]
    assert points.positives[-2:].tolist() == [0, 1]


def test_equal_logits_of_different_predictions():
    logit, count, positives = rows()
    logit[5000:9000] = logit[5000]
    points = condensed(logit, count, positives)
    assert points.count.sum() == pytest.approx(count.sum())
    assert np.all(np.isfinite(points.count))


@pytest.mark.parametrize("seed", range(3))
def test_the_log_likelihood_of_a_resolved_polynomial_is_that_of_the_rows(seed, all_rows):
    few = LogitPolynomial(*rows(seed), 4, "a test")
    all_rows()
    many = LogitPolynomial(*rows(seed), 4, "a test")
    assert few.points.cells > many.points.cells == 0
    change = np.linalg.solve(many.triangle, few.triangle)  # the two bases agree up to rotation
    assert change.T @ change == pytest.approx(np.eye(5), abs=1e-10)
    rng = np.random.default_rng(seed)
    resolved = []
    for coefficient in (rng.normal(size=5), 100 * rng.normal(size=5) / 5 ** np.arange(5), 10_000 * np.eye(5)[1]):
        value, gradient, information = few.derivatives(coefficient)
        basis = few.at(many.logit)
        eta = many.logit + basis @ coefficient
        p = expit(eta)
        exact = many.positives @ eta - many.count @ np.logaddexp(0, eta)
        near = abs(value - exact) < 1e-12 * abs(exact)
        near &= np.abs(gradient - (many.positives - many.count * p) @ basis).max() < 1e-9 * np.sqrt(M)
        near &= np.abs(information - (basis.T * (many.count * p * (1 - p))) @ basis).max() < 1e-10
        resolved.append(few._resolved(coefficient))
        assert near or not resolved[-1]
    assert resolved[0]
    assert not resolved[-1]
    assert not near  # the planted fault: points that do not resolve a polynomial


def test_fits_and_ends_are_those_of_all_rows(all_rows):
    def found(slope):
        model = LogitPolynomial(*rows(slope=slope), 3, "a test")
        fit = model.fit(3)
        direction = model.at(np.array([0.7]))[0]
        end = model.farthest(fit, direction, 4.0)
        return model.points.logit.size, fit.log_likelihood, direction @ fit.coefficient, direction @ end

    few = {slope: found(slope) for slope in (0.8, 4, 9)}
    assert few[0.8][0] < few[4][0] <= few[9][0]  # the steeper the more points are taken
    all_rows()
    for slope, (_, *numbers) in few.items():
        assert numbers == pytest.approx(found(slope)[1:], rel=1e-10, abs=1e-10)


def test_separated_outcomes_have_no_maximum():
    logit, count, _ = rows()
    with pytest.raises(ValueError, match="predictions that separate them"):
        LogitPolynomial(logit, count, count * (logit > 0.01), 1, "a test").fit(1)


def test_belt_and_cox_are_those_of_all_rows(all_rows):
    y, p = cs.generators.temperature(1.3).sample(8000, rng=1)

    def found():
        belt = cs.classical.calibration_belt(y, p, held_out=True, confidence_levels=(0.9,))
        line = cs.classical.cox(y, p, held_out=True)
        return [*belt.low.ravel(), *belt.high.ravel(), belt.statistic, *line.slope_interval, line.intercept]

    few = found()
    all_rows()
    assert few == pytest.approx(found(), rel=1e-9)
