"""The calibration belt against statsmodels, constrained optimisation and closed forms, and the size of its test."""

import json
import math
import re

import matplotlib as mpl
import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, special, stats
from sizes import compatible

import calibstat as cs
from calibstat.classical.calibration_belt import (
    CalibrationBelt,
    _forward,
    _quantile,
    calibration_belt,
    selected_survival,
)
from calibstat.classical.logistic import LogitPolynomial

mpl.use("Agg")
GATE = stats.chi2.ppf(0.95, 1)


def wavy(n, seed):
    """Outcomes whose calibration curve has a wave that a cubic sees."""
    rng = np.random.default_rng(seed)
    v = rng.beta(1, 2, n)
    return (rng.random(n) < v + 0.6 * np.sin(2 * np.pi * v) * v * (1 - v)).astype(int), v


def polynomial(y, p, degree):
    return sm.GLM(y, np.vander(special.logit(p), degree + 1, increasing=True), family=sm.families.Binomial()).fit(
        tol=1e-14, maxiter=100
    )


def bisector(y, p):
    return np.sum(np.log(np.where(y == 1, p, 1 - p)))


# --- the distribution of the test ------------------------------------------------------------------------------------


def test_without_selection_the_distribution_is_chi_square():
    t = np.array([0.0, 1, 5, 30])
    assert selected_survival(t, 2, 0) == pytest.approx(stats.chi2.sf(t, 2))
    assert selected_survival(t, 1, 0) == pytest.approx(stats.chi2.sf(t, 1))


@pytest.mark.parametrize("t", [3.9, 4.5, 8.0, 20.0, 60.0])
def test_distribution_after_one_step_in_closed_form(t):
    # external: chi-square with 2 is exponential, so that P(U² + E <= t, U² > k) is an integral of x^-1/2; Nattino 2014
    below = stats.chi2.cdf(t, 1) - 0.95 - math.sqrt(2 / math.pi) * math.exp(-t / 2) * (math.sqrt(t) - math.sqrt(GATE))
    assert selected_survival(np.array(t), 2, 1) == pytest.approx(1 - below / 0.05, abs=1e-12)
    # internal: two squares of normals in polar coordinates, the angle where one of them is above the gate
    arc = integrate.quad(lambda r: r * math.exp(-r * r / 2) * math.acos(math.sqrt(GATE) / r), math.sqrt(GATE),
                         math.sqrt(t), epsabs=1e-13)[0]  # fmt: skip
    assert selected_survival(np.array(t), 1, 1) == pytest.approx(1 - 2 / (math.pi * 0.05) * arc, abs=1e-11)


@pytest.mark.parametrize(("free", "kept"), [(2, 1), (2, 2), (2, 3), (1, 1), (1, 2)])
def test_distribution_against_draws(free, kept):
    rng = np.random.default_rng(kept)
    runs = 100_000
    drawn = rng.chisquare(free, runs) + stats.chi2.isf(rng.uniform(0, 0.05, (runs, kept)), 1).sum(axis=1)
    for t in kept * GATE + np.array([-1.0, 0.5, 3, 8, 15]):
        p = float(selected_survival(np.array(t), free, kept))
        low, high = stats.binom.ppf([5e-6, 1 - 5e-6], runs, p)
        assert low <= np.count_nonzero(drawn > t) <= high
    naive = stats.chi2.sf(kept * GATE + 3, free + kept)  # the planted fault: no allowance for the selection
    assert not low <= runs * naive <= high


def test_quantiles_invert_the_distribution():
    for free, kept in ((2, 0), (2, 2), (1, 2)):
        for level in (0.8, 0.999):
            t = np.array(_quantile(level, free, kept))
            assert selected_survival(t, free, kept) == pytest.approx(1 - level, abs=1e-9)


def test_far_tails_keep_their_digits():
    t = np.array([60.0, 300.0])
    assert np.all(selected_survival(t, 2, 3) > stats.chi2.sf(t, 2))
    assert np.all(selected_survival(t, 2, 3) < stats.chi2.sf(t, 5) / 0.05**3)


# --- the fit ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "seed"), [(300, 0), (300, 2), (2000, 1), (2000, 6)])
def test_forward_selection_against_statsmodels(n, seed):
    y, p = wavy(n, seed)
    fits = {degree: polynomial(y, p, degree) for degree in (1, 2, 3, 4)}
    degree = 1
    while degree < 4 and 2 * (fits[degree + 1].llf - fits[degree].llf) >= GATE:
        degree += 1
    found = calibration_belt(y, p, held_out=True)
    assert found.degree == degree
    assert found.coefficients == pytest.approx(fits[degree].params, rel=1e-6, abs=1e-8)
    assert found.statistic == pytest.approx(2 * (fits[degree].llf - bisector(y, p)), abs=1e-7)
    assert found.pvalue == pytest.approx(float(selected_survival(np.array(found.statistic), 2, degree - 1)))
    x = special.logit(found.prediction)
    expected = special.expit(np.polynomial.polynomial.polyval(x, fits[degree].params))
    assert found.curve == pytest.approx(expected, abs=1e-9)


def test_the_tests_here_see_more_than_lines():
    drawn = [(300, 0), (300, 2), (2000, 1), (2000, 6)]
    assert [_forward(LogitPolynomial.of(cs.Sample.from_rows(*wavy(*each)), 4, "x"), 1)[1] for each in drawn] == [
        1,
        2,
        3,
        4,
    ]


@pytest.mark.parametrize(("n", "seed"), [(60, 3), (2000, 1)])
def test_bands_against_constrained_optimisation(n, seed):
    y, p = wavy(n, seed)
    found = calibration_belt(y, p, held_out=True, confidence_levels=(0.5, 0.95))
    design = np.vander(special.logit(p), found.degree + 1, increasing=True)
    fit = polynomial(y, p, found.degree)
    root = np.linalg.cholesky(np.linalg.inv(fit.cov_params()))  # in units of which the region is about round

    def fall(w):
        eta = design @ (fit.params + np.linalg.solve(root.T, w))
        return 2 * (fit.llf - np.sum(y * eta - np.logaddexp(0, eta)))

    for level, low, high in zip((0.5, 0.95), found.low, found.high, strict=True):
        drop = _quantile(level, 2, found.degree - 1)
        for j in (0, 20, 50, 99):
            h = np.linalg.solve(root, special.logit(found.prediction[j]) ** np.arange(found.degree + 1))
            centre = special.logit(found.curve[j])
            for sign, end in ((-1, low[j]), (1, high[j])):
                start = sign * h / np.linalg.norm(h) * math.sqrt(drop) * 0.9
                best = optimize.minimize(lambda w, s=sign, h=h: -s * h @ w, start, method="SLSQP",
                                         constraints={"type": "ineq", "fun": lambda w, d=drop: d - fall(w)},
                                         options={"ftol": 1e-12, "maxiter": 500})  # fmt: skip
                assert special.logit(end) == pytest.approx(centre + h @ best.x, abs=2e-4)


# With few events the likelihood falls so steeply outside its region that Newton's steps used to jump to and fro.
@pytest.mark.parametrize(
    ("family", "n", "seed"),
    [
        *((cs.generators.calibrated(stats.beta(1, 99)), 100, seed) for seed in (36, 58, 85, 168, 207, 230, 252, 312)),
        (cs.generators.calibrated(), 10, 130),
    ],
    ids=str,
)
def test_the_band_of_few_events(family, n, seed):
    """At an end of the band the profile likelihood of the curve there, maximised by SciPy, is `drop` below the top."""
    y, p = family.sample(n, rng=seed)
    found = calibration_belt(y, p, held_out=True, confidence_levels=(0.95,))
    x, drop = special.logit(p), _quantile(0.95, 2, found.degree - 1)

    def log_likelihood(eta):
        return np.sum(y * eta - np.logaddexp(0, eta))

    top = log_likelihood(fitted_logit(found, x))
    for j in (0, 30, 70, found.prediction.size - 1):
        at = special.logit(found.prediction[j])
        columns = np.column_stack([((x - at) / np.ptp(x)) ** k for k in range(1, found.degree + 1)])
        for end in (found.low[0, j], found.high[0, j]):
            if 1e-12 < end < 1 - 1e-12:  # nearer to 0 or 1 its logit is lost
                profile = optimize.minimize(
                    lambda c, end=end, columns=columns: -log_likelihood(special.logit(end) + columns @ c),
                    np.linalg.lstsq(columns, fitted_logit(found, x) - special.logit(end))[0],
                    jac=lambda c, end=end, columns=columns: (
                        -columns.T @ (y - special.expit(special.logit(end) + columns @ c))
                    ),
                    method="BFGS",
                )
                assert 2 * (top + profile.fun) == pytest.approx(drop, rel=0.02)


def fitted_logit(belt, x):
    """The logit of the fitted curve at these logits of predictions."""
    return np.polynomial.polynomial.polyval(x, belt.coefficients)


def test_a_calibrated_model_leaves_the_band_only_if_the_test_rejects():
    rejected = 0
    for seed in range(8):
        y, p = cs.generators.temperature(1.12).sample(700, rng=seed)
        found = calibration_belt(y, p, held_out=True)
        assert found.pvalue < 0.05 or not found.departures()
        rejected += found.pvalue < 0.05
    assert 0 < rejected < 8


def test_bands_are_nested():
    found = calibration_belt(*wavy(500, 4), held_out=True, confidence_levels=(0.5, 0.8, 0.99))
    edges = np.stack([*found.low[::-1], found.curve, *found.high])
    assert np.all(np.diff(edges, axis=0) > -1e-9)


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.sampled_from([8, 25, 100]), st.sampled_from([0.3, 1, 3]), st.booleans())
def test_every_sample_has_a_belt_or_says_why(seed, n, shape, ties):
    rng = np.random.default_rng(seed)
    p = rng.beta(shape, shape, n).clip(1e-9, 1 - 1e-9)
    p = np.round(p, 1).clip(0.02, 0.98) if ties else p
    y = (rng.random(n) < [p, p**2, 1 - p][seed % 3]).astype(int)
    try:
        found = calibration_belt(y, p, held_out=True)
    except ValueError as error:
        if not re.search("separate|both outcomes", str(error)) and "distinct" not in str(error):
            raise
        return
    model = LogitPolynomial.of(cs.Sample.from_rows(y, p), 4, "the test")
    fit, _ = _forward(model, 1)
    drop = _quantile(0.95, 2, found.degree - 1)
    for j in (0, 40, 99):
        direction = model.at(special.logit(found.prediction[[j]]))[0, : found.degree + 1]
        value, gradient, _ = model.derivatives(model.farthest(fit, direction, drop))
        assert 2 * (fit.log_likelihood - value) == pytest.approx(drop, rel=1e-4)  # on the edge
        cosine = -gradient @ direction / np.linalg.norm(gradient) / np.linalg.norm(direction)
        assert cosine == pytest.approx(1, abs=1e-4)  # where it is normal to the direction


# --- internal validation ---------------------------------------------------------------------------------------------


def fitted(rng, n):
    """Outcomes of a logistic model and its fitted probabilities."""
    x = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
    y = (rng.random(n) < special.expit(x @ [-0.4, 0.8, -0.8])).astype(int)
    beta = np.zeros(3)
    for _ in range(9):
        v = special.expit(x @ beta)
        beta += np.linalg.solve(x.T * (v * (1 - v)) @ x, x.T @ (y - v))
    return y, special.expit(x @ beta)


def test_internal_validation_starts_at_degree_two():
    rng = np.random.default_rng(5)
    of_two = 0
    for y, p in (fitted(rng, 500) for _ in range(10)):
        found = calibration_belt(y, p, held_out=False)
        assert found.degree >= 2
        assert found.statistic == pytest.approx(2 * (polynomial(y, p, found.degree).llf - bisector(y, p)), abs=1e-7)
        assert "internal validation" in str(found)
        if found.degree == 2:
            of_two += 1
            assert found.pvalue == pytest.approx(stats.chi2.sf(found.statistic, 1))
    assert of_two >= stats.binom.ppf(1e-6, 10, 0.95)  # where no higher degree is better at the level 0.05


def test_internal_validation_needs_the_rows_of_the_fit():
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    with pytest.raises(ValueError, match=r"logistic regression fitted to these rows .* standard errors off"):
        calibration_belt(y, p, held_out=False)
    with pytest.raises(ValueError, match="three distinct"):
        calibration_belt([0, 1, 0, 1], [0.5, 0.5, 0.4, 0.4], held_out=False)


# --- results and errors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "p", "options", "message"),
    [
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {}, "held_out=True .* the null distribution of its test depends on it"),
        ([0, 1, 0, 1], [0.0, 0.4, 0.6, 0.8], {"held_out": True}, "above 0 and below 1"),
        ([0, 1, 0, 1], [0.4, 0.4, 0.4, 0.4], {"held_out": True}, "two distinct predictions"),
        ([0, 0, 1, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True}, "predictions that separate them: every"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True, "confidence_levels": (0.9, 0.8)}, "ascending"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True, "confidence_levels": ()}, "ascending"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True, "confidence_levels": 0.95}, "such as"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True, "confidence_levels": None}, "such as"),
        ([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], {"held_out": True, "confidence_levels": (0.5, 1)}, "ascending"),
    ],
)
def test_bad_input(y, p, options, message):
    with pytest.raises(ValueError, match=message):
        calibration_belt(y, p, **options)


def made_up(low, high):
    zero = np.zeros((1, 5))
    return CalibrationBelt(
        1.0, 0.5, 1, np.zeros(2), np.array([0.1, 0.3, 0.5, 0.7, 0.9]), np.zeros(5), (0.95,), zero + low, zero + high,
        True, "none.", "event", 9,
    )  # fmt: skip


def test_departures_by_hand():
    belt = made_up([0.2, 0.4, 0.4, 0.4, 0.4], [0.9, 0.9, 0.9, 0.6, 0.9])
    assert belt.departures() == [("above", 0.1, 0.3), ("below", 0.7, 0.7)]
    assert "leaves the diagonal, above it from 0.1 to 0.3 and below it from 0.7 to 0.7." in str(belt)
    assert made_up(0, 1).departures() == []
    assert "contains the diagonal everywhere" in str(made_up(0, 1))
    assert made_up(0.95, 1).departures() == [("above", 0.1, 0.9)]


def test_result():
    found = calibration_belt(cs.Sample.from_rows(*wavy(300, 6)), held_out=True)
    assert json.loads(json.dumps(found.to_dict()))["degree"] == found.degree
    assert list(found.to_frame()) == ["prediction", "curve", "low_80", "high_80", "low_95", "high_95"]
    assert "external validation, event: outcome 1, n = 300: likelihood ratio" in str(found)
    assert "Null hypothesis: given the predictions" in str(found)


# --- size ------------------------------------------------------------------------------------------------------------


def selected(y, p, start):
    """Statistic, degree and p-value, without the bands."""
    model = LogitPolynomial.of(cs.Sample.from_rows(y, p), 4, "the test")
    fit, degree = _forward(model, start)
    statistic = 2 * (fit.log_likelihood - model.derivatives(np.zeros(1))[0])
    return statistic, degree, float(selected_survival(np.array(statistic), 3 - start, degree - start))


@pytest.mark.slow
def test_size_in_external_validation():
    rng = np.random.default_rng(7)
    found = []
    for _ in range(5000):
        v = rng.beta(2, 3, 500)
        found.append(selected((rng.random(500) < v).astype(int), v, 1))
    statistic, degree, pvalue = map(np.array, zip(*found, strict=True))
    assert compatible(np.count_nonzero(pvalue <= 0.05), 5000, 0.045, 0.06)
    chosen = degree > 1  # where the data chose a curve the distribution differs most from chi-square
    assert compatible(np.count_nonzero(pvalue[chosen] <= 0.05), chosen.sum(), 0.03, 0.12)
    planted = stats.chi2.sf(statistic, degree + 1)  # as if the degree had been known
    assert not compatible(np.count_nonzero(planted[chosen] <= 0.05), chosen.sum(), 0.03, 0.12)


@pytest.mark.slow
def test_size_in_internal_validation():
    rng = np.random.default_rng(8)
    found = [selected(*fitted(rng, 500), 2) for _ in range(3000)]
    statistic, degree, pvalue = map(np.array, zip(*found, strict=True))
    assert compatible(np.count_nonzero(pvalue <= 0.05), 3000, 0.045, 0.065)
    planted = stats.chi2.sf(statistic, degree + 1)  # the distribution of external validation
    assert not compatible(np.count_nonzero(planted <= 0.05), 3000, 0.045, 0.065)


@pytest.mark.slow
def test_a_calibrated_model_stays_in_the_band():
    rng = np.random.default_rng(9)
    left = {0.5: 0, 0.95: 0}
    for _ in range(300):
        v = rng.beta(2, 3, 400)
        found = calibration_belt((rng.random(400) < v).astype(int), v, held_out=True, confidence_levels=(0.5, 0.95))
        for i, level in enumerate(found.confidence_levels):
            left[level] += bool(found.departures(i))
    assert left[0.5] <= stats.binom.ppf(1 - 1e-5, 300, 0.5)
    assert left[0.95] <= stats.binom.ppf(1 - 1e-5, 300, 0.05)
    assert left[0.5] > stats.binom.ppf(1 - 1e-5, 300, 0.05)  # the planted fault: too narrow a band
