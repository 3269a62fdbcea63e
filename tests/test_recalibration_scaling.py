"""Temperature, Platt, vector and matrix scaling against closed forms and other packages."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats
from scipy.special import log_softmax, logit, softmax

import calibstat as cs
from calibstat.recalibration import MatrixScaling, PlattScaling, TemperatureScaling, VectorScaling, scaling
from calibstat.recalibration.temperature import scaled

DISTORTED = cs.generators.dirichlet((1, 1, 1), matrix=[[1.5, 0.5, 0], [0, 1.5, 0.5], [0.5, 0, 1.5]], shift=(0, 0, 1))
Y, P = DISTORTED.sample(400, rng=2)


def log_loss(y, q):
    return -np.log(q[np.arange(len(y)), y]).mean()


def share(p, hits, n):
    """The prediction p for n rows, of which so many happened."""
    return np.full(n, p), (np.arange(n) < hits).astype(int)


# Temperature


@pytest.mark.parametrize("objective", ["log_loss", "ece", "brier", "ks", "smooth_ce"])
@pytest.mark.parametrize(("p", "hits"), [(0.8, 6), (0.6, 9), (0.3, 4), (0.01, 1)])
def test_temperature_of_one_prediction(objective, p, hits):
    # all of these are least where the prediction is the share of outcomes: logit(p) / T = logit(share)
    fitted = TemperatureScaling(objective=objective).fit(*share(p, hits, 10))
    tolerance = 1e-9 if objective == "log_loss" else 1e-5
    assert fitted.temperature_ == pytest.approx(logit(p) / logit(hits / 10), rel=tolerance)
    assert fitted.converged_
    assert fitted.predict_proba([p])[0] == pytest.approx(hits / 10, abs=1e-5)


def test_temperature_of_one_vector():
    # (.6, .2, .2), half of it class 0: the odds 3^(1/T) of class 0 against class 1 must be .5 / .25
    fitted = TemperatureScaling().fit([[0.6, 0.2, 0.2]] * 4, [0, 0, 1, 2])
    assert fitted.temperature_ == pytest.approx(math.log(3) / math.log(2), rel=1e-10)
    np.testing.assert_allclose(fitted.predict_proba([[0.6, 0.2, 0.2]]), [[0.5, 0.25, 0.25]], rtol=1e-10)


def test_temperature_against_a_search_for_the_least_log_loss():
    def loss(log_t):
        return -log_softmax(np.log(P) / math.exp(log_t), axis=1)[np.arange(Y.size), Y].mean()

    best = optimize.minimize_scalar(loss, bounds=(-2, 2), method="bounded", options={"xatol": 1e-9})
    assert math.log(TemperatureScaling().fit(P, Y).temperature_) == pytest.approx(best.x, abs=1e-6)


PROBABILITY = st.one_of(st.sampled_from([0.0, 0.5, 1.0, 1e-300]), st.floats(0, 1))


@given(st.lists(PROBABILITY, min_size=1, max_size=10))
def test_temperature_1_changes_nothing(p):
    rows = np.column_stack((1 - np.array(p), p))
    np.testing.assert_allclose(scaled(rows, 1.0), rows, rtol=1e-14, atol=0)


@given(st.lists(PROBABILITY, min_size=1, max_size=10), st.floats(0.02, 50))
def test_temperature_keeps_the_order_and_what_is_certain(p, temperature):
    p = np.where(np.array(p) < 1e-12, 0, p)  # so that 1 - p is 1 only beside 0
    rows = np.column_stack((1 - p, p))
    out = scaled(rows, temperature)
    assert np.all((out[:, 1] >= out[:, 0])[rows[:, 1] > rows[:, 0]])
    np.testing.assert_array_equal(out[rows == 0], 0)
    np.testing.assert_array_equal(out[rows == 1], 1)


def test_powers_of_many_classes_do_not_all_vanish():
    # (1/5000)^100 is 1e-370, which rounds to 0
    np.testing.assert_allclose(scaled(np.full((1, 5000), 1 / 5000), 0.01), 1 / 5000)


def test_certain_rows_that_were_right_do_not_count():
    p, y = share(0.8, 6, 10)
    with_certain = TemperatureScaling().fit([*p, 0, 1, 1], [*y, 0, 1, 1])
    assert with_certain.temperature_ == pytest.approx(TemperatureScaling().fit(p, y).temperature_, rel=1e-12)


def test_an_impossible_class_that_happened_raises():
    with pytest.raises(ValueError, match="class that happened, found 0 for class 1 at row 2; the log loss is infinite"):
        TemperatureScaling().fit([0.3, 0.4, 0.0], [0, 1, 1])
    p, y = share(0.7, 6, 10)
    fitted = TemperatureScaling(objective="ece").fit([*p, 0.0], [*y, 1])  # another objective need not mind
    assert fitted.predict_proba([0.0])[0] == 0


@pytest.mark.parametrize("p", [[0.5, 0.5], [[1 / 3, 1 / 3, 1 / 3]] * 2, [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]])
def test_where_no_temperature_does_anything_it_is_1(p):
    assert TemperatureScaling().fit(p, [0, 1]).temperature_ == 1
    assert TemperatureScaling(objective="brier", options={"lens": "canonical"}).fit(p, [0, 1]).temperature_ == 1


@pytest.mark.parametrize(("y", "end"), [([0, 1, 1], 0.01), ([1, 0, 0], 100)])
@pytest.mark.parametrize("objective", ["log_loss", "brier"])
def test_a_temperature_at_the_end_of_the_range_is_reported(y, end, objective):
    recalibrator = TemperatureScaling(objective=objective)
    with pytest.warns(RuntimeWarning, match="TemperatureScaling has not converged: .* end of the range") as caught:
        recalibrator.fit([0.45, 0.6, 0.51], y)
    assert caught[0].filename == __file__
    assert not recalibrator.converged_
    assert recalibrator.temperature_ == pytest.approx(end)


@pytest.mark.parametrize(
    "options", [{}, {"n_bins": 7, "strategy": "quantile"}, {"lens": "class_wise", "reduce": "max"}]
)
def test_another_objective_is_as_small_as_anywhere_on_a_grid(options):
    fitted = TemperatureScaling(objective="ece", options=options).fit(P, Y)
    reached = cs.estimate(Y, fitted.predict_proba(P), **options)
    elsewhere = [cs.estimate(Y, scaled(P, t), **options) for t in np.append(np.geomspace(0.01, 100, 201), 1.0)]
    assert reached <= min(elsewhere) + 1e-12
    # the least log loss is elsewhere, and so no planted objective would do
    assert reached < cs.estimate(Y, TemperatureScaling().fit(P, Y).predict_proba(P), **options)


def test_unknown_objectives_and_options_raise():
    with pytest.raises(ValueError, match="expected a measure"):
        TemperatureScaling(objective="nothing").fit(P, Y)
    with pytest.raises(ValueError, match="n_bim"):
        TemperatureScaling(objective="ece", options={"n_bim": 3}).fit(P, Y)


# Platt


def test_platt_through_two_predictions():
    # two predictions and two parameters: each prediction becomes the share of outcomes at it
    p, y = np.concatenate([share(0.2, 3, 10), share(0.7, 6, 12)], axis=1)
    fitted = PlattScaling().fit(p, y)
    np.testing.assert_allclose(fitted.predict_proba([0.2, 0.7]), [0.3, 0.5], rtol=1e-9)
    slope = (logit(0.5) - logit(0.3)) / (logit(0.7) - logit(0.2))
    assert fitted.slope_[0] == pytest.approx(slope, rel=1e-8)
    assert fitted.intercept_[0] == pytest.approx(logit(0.5) - slope * logit(0.7), rel=1e-8)
    assert fitted.converged_


def test_platt_against_statsmodels():
    from statsmodels.api import Logit, add_constant

    y, p = cs.generators.temperature(2).sample(300, rng=3)
    other = Logit(y, add_constant(logit(p))).fit(disp=0)
    fitted = PlattScaling().fit(p, y)
    np.testing.assert_allclose([fitted.intercept_[0], fitted.slope_[0]], other.params, atol=1e-7)


def test_platt_of_three_classes_against_one_regression_each():
    from statsmodels.api import Logit, add_constant

    fitted = PlattScaling().fit(P, Y)
    scores = []
    for k in range(3):
        x = add_constant(logit(P[:, k]))
        scores.append(Logit(np.eye(3)[Y, k], x).fit(disp=0).predict(x))
    scores = np.stack(scores, axis=1)
    np.testing.assert_allclose(fitted.predict_proba(P), scores / scores.sum(axis=1, keepdims=True), atol=1e-7)


def test_confident_predictions_keep_their_digits():
    # 1 - p of the first class is 1e-20, which 1 less p does not know: its logit is 46.05, not infinite
    logits = scaling._logits(np.array([[1 - 1e-20, 6e-21, 4e-21], [0.2, 0.3, 0.5]]), None, PlattScaling())
    np.testing.assert_allclose(logits[0], [math.log(1e20), math.log(6e-21), math.log(4e-21)], rtol=1e-14)
    np.testing.assert_allclose(logits[1], logit([0.2, 0.3, 0.5]), rtol=1e-14, atol=1e-15)
    fitted = PlattScaling().fit([[1 - 1e-20, 5e-21, 5e-21], [0.1, 0.3, 0.6], [0.5, 0.1, 0.4], [0.6, 0.3, 0.1]] * 2,
                                [0, 2, 1, 0, 1, 1, 2, 2])  # fmt: skip
    assert fitted.converged_


# Vector and matrix


def test_vector_scaling_against_a_plain_search():
    logs = np.log(P)

    def loss(theta):
        return log_loss(Y, softmax(logs * theta[:3] + np.append(theta[3:], 0), axis=1))

    best = optimize.minimize(loss, [1, 1, 1, 0, 0], method="BFGS", options={"gtol": 1e-7})
    fitted = VectorScaling().fit(P, Y)
    np.testing.assert_allclose(fitted.weight_, best.x[:3], atol=1e-4)
    assert log_loss(Y, fitted.predict_proba(P)) <= best.fun + 1e-12


def test_vector_scaling_of_two_classes_is_a_regression_on_both_logarithms():
    from statsmodels.api import Logit

    y, p = cs.generators.temperature(2).sample(300, rng=3)
    x = np.column_stack((np.log(p), np.log1p(-p), np.ones(p.size)))
    other = Logit(y, x).fit(disp=0)
    np.testing.assert_allclose(VectorScaling().fit(p, y).predict_proba(p), other.predict(x), atol=1e-7)
    np.testing.assert_allclose(MatrixScaling().fit(p, y).predict_proba(p), other.predict(x), atol=1e-7)


def test_matrix_scaling_against_statsmodels():
    from statsmodels.api import MNLogit, add_constant

    x = add_constant(np.log(P))
    other = MNLogit(Y, x).fit(disp=0, maxiter=100)
    fitted = MatrixScaling().fit(P, Y)
    np.testing.assert_allclose(fitted.predict_proba(P), other.predict(x), atol=1e-6)
    contrast = np.column_stack((fitted.intercept_, fitted.weight_))
    np.testing.assert_allclose((contrast[1:] - contrast[0]).T, other.params, atol=1e-5)


def test_matrix_scaling_against_scikit_learn():
    pytest.importorskip("sklearn")
    from sklearn.linear_model import LogisticRegression

    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000, solver="newton-cg").fit(np.log(P), Y)
    np.testing.assert_allclose(MatrixScaling().fit(P, Y).predict_proba(P), other.predict_proba(np.log(P)), atol=1e-5)


N = 5000
# Twice the log likelihood lost by estimating 2 * 4 free parameters is chi-squared with 8 degrees of freedom for many
# rows, and so is 2 n times the mean divergence of the estimated laws from the true ones.
MOST_DIVERGENCE = stats.chi2.isf(1e-5, 8) / (2 * N)


def divergence(recalibrator):
    y, p = DISTORTED.sample(N, rng=4)
    law, found = DISTORTED.conditional(p), recalibrator.fit(p, y).predict_proba(p)
    assert not isinstance(recalibrator, MatrixScaling) or log_loss(y, found) <= log_loss(y, law)
    return float((law * np.log(law / found)).sum(axis=1).mean())


def test_matrix_scaling_undoes_matrix_scaling():
    # all rows of the matrix have sum 2, so that what the softmax forgot stays forgotten: the truth is in the model
    assert divergence(MatrixScaling()) <= MOST_DIVERGENCE


@pytest.mark.parametrize("smaller", [VectorScaling, PlattScaling, TemperatureScaling])
def test_a_model_without_the_truth_does_not(smaller):
    assert divergence(smaller()) > MOST_DIVERGENCE


def test_regularisation_minimises_what_it_says():
    strength = 0.3

    def objective(matrix, shift, p=P, y=Y):
        odd = matrix[~np.eye(3, dtype=bool)]
        penalty = strength * ((odd**2).mean() + (shift**2).mean())
        return log_loss(y, softmax(np.log(p) @ matrix.T + shift, axis=1)) + penalty

    fitted = MatrixScaling(regularisation=strength).fit(P, Y)
    here = np.concatenate((fitted.weight_.ravel(), fitted.intercept_))
    slope = optimize.approx_fprime(here, lambda theta: objective(theta[:9].reshape(3, 3), theta[9:]), 1e-6)
    assert np.abs(slope).max() < 1e-5
    free = MatrixScaling().fit(P, Y)
    assert objective(fitted.weight_, fitted.intercept_) < objective(free.weight_, free.intercept_)


def test_much_regularisation_leaves_a_diagonal():
    fitted = MatrixScaling(regularisation=1e9).fit(P, Y)
    assert np.abs(fitted.weight_ - np.diag(np.diag(fitted.weight_))).max() < 1e-7
    assert np.abs(fitted.intercept_).max() < 1e-7
    with pytest.raises(ValueError, match="regularisation of at least 0"):
        MatrixScaling(regularisation=-1).fit(P, Y)


# How the optimum is found


@pytest.mark.parametrize("shared", [False, True])
def test_derivatives(shared):
    rng = np.random.default_rng(5)
    features, label = rng.normal(size=(20, 1 if shared else 3, 2)), rng.integers(0, 3, 20)
    theta = rng.normal(size=(3, 2))

    def parts(flat):
        return scaling._log_loss(features, label, flat.reshape(3, 2), curved=True)

    value, gradient, curvature = parts(theta.ravel())
    logits = np.array([[features[i, 0 if shared else k] @ theta[k] for k in range(3)] for i in range(20)])
    assert value == pytest.approx(log_loss(label, softmax(logits, axis=1)))
    np.testing.assert_allclose(gradient, optimize.approx_fprime(theta.ravel(), lambda t: parts(t)[0]), atol=1e-6)
    np.testing.assert_allclose(curvature, optimize.approx_fprime(theta.ravel(), lambda t: parts(t)[1]), atol=1e-6)


def test_blocks_of_rows_do_not_matter(monkeypatch):
    whole = MatrixScaling().fit(P, Y).predict_proba(P)
    monkeypatch.setattr(scaling, "BLOCK", 12 * 7)  # seven rows at a time
    np.testing.assert_allclose(MatrixScaling().fit(P, Y).predict_proba(P), whole, atol=1e-9)


@pytest.mark.parametrize("entry", [PlattScaling, VectorScaling, MatrixScaling])
def test_without_second_derivatives_the_optimum_is_the_same(entry, monkeypatch):
    exact = entry().fit(P, Y).predict_proba(P)
    monkeypatch.setattr(scaling, "MOST_CURVED", 0)
    np.testing.assert_allclose(entry().fit(P, Y).predict_proba(P), exact, atol=2e-3)


def fails(entry, p, y):
    """Whether the fit says that it has not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = entry().fit(p, y)
    assert all("has not converged" in str(one.message) and one.category is RuntimeWarning for one in caught)
    assert fitted.converged_ == (not caught)
    return bool(caught)


@pytest.mark.parametrize("entry", [PlattScaling, VectorScaling, MatrixScaling])
def test_separated_classes_are_reported(entry):
    p = P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)
    assert fails(entry, p, (p[:, 1] > 0.3).astype(int))  # completely
    level = np.round(p[:, 1] * 4 + 0.5) / 6
    tied = (level > 3 / 6).astype(int)
    tied[np.flatnonzero(level == 3 / 6)[::2]] = 1
    assert fails(PlattScaling, level, tied)  # but for ties
    tied[np.argmin(level)] = 1
    assert not fails(PlattScaling, level, tied)  # one exception is enough


@pytest.mark.parametrize("entry", [PlattScaling, VectorScaling, MatrixScaling])
def test_a_class_that_never_happened_is_reported(entry):
    assert fails(entry, P, np.where(Y == 2, 0, Y))
    assert not fails(entry, P, Y)


@pytest.mark.parametrize("entry", [VectorScaling, MatrixScaling])
@pytest.mark.parametrize("n", [40, 400])
def test_separation_of_one_class_among_three_is_reported(entry, n):
    p, y = P[:n], Y[:n].copy()
    assert not fails(entry, p, y)
    y[(y == 0) & (p[:, 0] < 0.5)] = 1
    y[p[:, 0] >= 0.5] = 0
    assert fails(entry, p, y)
    # a linear programme agrees
    assert separable(p, y)
    assert not separable(p, Y[:n])


def separable(p, y):
    """Whether some direction of the parameters raises what happened above the rest somewhere and lowers it nowhere."""
    logs = np.column_stack((np.log(p), np.ones(y.size)))
    margins = np.array(
        [np.kron(np.eye(3)[a] - np.eye(3)[k], x) for a, x in zip(y, logs, strict=True) for k in range(3)]
    )
    best = optimize.linprog(-margins.sum(axis=0), A_ub=-margins, b_ub=np.zeros(len(margins)), bounds=(-1, 1))
    return -best.fun > 1e-3


def test_a_gradient_alone_does_not_tell_separation():
    # the planted fault: a solver that trusts its gradient calls this a success
    p = np.array([0.2, 0.3, 0.6, 0.8])
    features = np.zeros((4, 2, 2))
    features[:, 1] = np.column_stack((logit(p), np.ones(4)))
    y = np.array([0, 0, 1, 1])

    def loss(theta):
        return scaling._log_loss(features, y, np.array([[0, 0], theta]), curved=False)[0]

    assert optimize.minimize(loss, [1.0, 0.0], method="BFGS").success
    assert not scaling.likeliest(features, y, np.array([[0.0, 0.0], [1.0, 0.0]]))[1]
