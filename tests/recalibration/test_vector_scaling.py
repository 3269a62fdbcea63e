"""Vector scaling against a plain search and statsmodels."""

import numpy as np
from distorted import P, Y, log_loss
from scipy import optimize
from scipy.special import softmax

import calibstat as cs
from calibstat.recalibration import MatrixScaling, VectorScaling


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
