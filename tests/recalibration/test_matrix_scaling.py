"""Matrix scaling against statsmodels, scikit-learn and the truth, with and without a penalty."""

import numpy as np
import pytest
from distorted import DISTORTED, P, Y, log_loss
from scipy import optimize, stats
from scipy.special import softmax

from calibstat.recalibration import MatrixScaling, PlattScaling, TemperatureScaling, VectorScaling


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


@pytest.mark.filterwarnings("error")
def test_matrix_scaling_leaks_no_warning():
    import warnings

    rng = np.random.default_rng(5)
    for k in range(12):
        p = rng.dirichlet(np.full(3, 10.0 ** rng.uniform(-3, 1)), 8).clip(1e-300)
        y = rng.integers(0, 3, 8)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="MatrixScaling has not converged")
            found = MatrixScaling(regularisation=float(10.0 ** rng.uniform(-300, 300)) * (k % 4 > 0)).fit(p, y)
        assert np.isfinite(found.weight_).all()
