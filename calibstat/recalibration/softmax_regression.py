"""Multinomial logistic regression by maximum likelihood, with a penalty."""

from __future__ import annotations

import numpy as np

MOST_CURVED = 1000  # parameters up to which second derivatives are used
STILL = 1e-3  # a fit has converged if one more Newton step moves no fitted logit by more
FLAT = (
    100.0  # units of rounding of the largest curvature, below which there is none: sums of many rows round more often
)
BLOCK = 2**20  # weighted features of the rows that are handled together


def likeliest(
    features: np.ndarray, label: np.ndarray, times: np.ndarray, start: np.ndarray, penalty: np.ndarray | float = 0.0
) -> tuple[np.ndarray, bool]:
    """Minimise the mean log loss of softmax(sum over m of features[i, k, m] theta[k, m]), and say if it converged.

    A row counts `times`. The features have shape (n, K, M), or (n, 1, M) where all classes share them; theta and start
    (K, M). The penalty, one number or one for each of theta, multiplies its square. Convex. Predictions that separate
    classes without an exception show in the last Newton step: the loss falls like exp(-t) along some direction,
    gradient and curvature vanish together, and the step stays near 1 however small the gradient is.
    """
    from scipy.optimize import minimize

    weight = np.broadcast_to(np.asarray(penalty, np.float64), start.shape).ravel()
    unit = 1 / np.sqrt(np.maximum(weight, 1.0))  # the search is for theta / unit, whose penalty is never steep
    weight = np.minimum(weight, 1.0)

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient, _ = _log_loss(features, label, times, (x * unit).reshape(start.shape), curved=False)
        return value + weight @ x**2, gradient * unit + 2 * weight * x

    def curvature(x: np.ndarray) -> np.ndarray:
        bend = _log_loss(features, label, times, (x * unit).reshape(start.shape), curved=True)[2]
        return bend * unit * unit[:, None] + np.diag(2 * weight)

    def definite(x: np.ndarray) -> np.ndarray:
        # flat directions get a curvature above rounding: without one SciPy may shift the matrix forever
        bend = curvature(x)
        return bend + np.eye(x.size) * _flat(float(bend.diagonal().max()), x.size)

    begin = start.ravel() / unit
    with np.errstate(over="ignore"):  # a step too far has an infinite loss and is taken back
        if start.size > MOST_CURVED:
            fit = minimize(loss, begin, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "maxfun": 10000})
            return (fit.x * unit).reshape(start.shape), bool(fit.success)
        fit = minimize(loss, begin, jac=True, hess=definite, method="trust-exact", options={"gtol": 1e-8})
        step = (_newton_step(loss(fit.x)[1], curvature(fit.x)) * unit).reshape(start.shape)
    still = bool(np.abs(_logits_of(features, step)).max() <= STILL)
    return (fit.x * unit).reshape(start.shape) + (step if still else 0), still


def _newton_step(gradient: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Return the step to the minimum of the quadratic, none where everything is flat up to rounding."""
    from scipy.linalg import eigh

    bend, direction = eigh(curvature)
    flat = bend <= _flat(float(bend[-1]), bend.size)
    along = direction.T @ gradient
    return -direction @ np.divide(along, bend, out=np.zeros(bend.size), where=~flat)


def _flat(largest: float, size: int) -> float:
    """Return the curvature up to which a direction counts as flat."""
    return FLAT * size * np.finfo(np.float64).eps * max(largest, 0.0)


def _logits_of(features: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the logits of rows, shape (n, K)."""
    return np.einsum("ikm,km->ik", features, theta) if features.shape[1] > 1 else features[:, 0] @ theta.T


def _log_loss(
    features: np.ndarray, label: np.ndarray, times: np.ndarray, theta: np.ndarray, *, curved: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean log loss and its first and, if asked for, second derivatives by the flat parameters."""
    from scipy.special import log_softmax

    n, (classes, each) = float(times.sum()), theta.shape
    size = max(BLOCK // theta.size, 1)
    value, gradient = 0.0, np.zeros(theta.shape)
    curvature = np.zeros((theta.size, theta.size) if curved else (0, 0))
    for first in range(0, label.size, size):
        part, observed, count = (rows[first : first + size] for rows in (features, label, times))
        rows = np.arange(observed.size)
        logs = log_softmax(_logits_of(part, theta), axis=1)
        value -= (count * logs[rows, observed]).sum()
        chance = np.exp(logs)
        if curved:
            root = np.sqrt(count)[:, None]
            weighted = ((root * chance)[:, :, None] * part).reshape(rows.size, -1)
            curvature -= weighted.T @ weighted
            for k in range(classes):
                own = slice(k * each, (k + 1) * each)
                curvature[own, own] += weighted[:, own].T @ (root * part[:, min(k, part.shape[1] - 1)])
        chance[rows, observed] -= 1
        chance *= count[:, None]
        if part.shape[1] == 1:
            gradient += chance.T @ part[:, 0]
        else:
            gradient += np.einsum("ik,ikm->km", chance, part)
    return value / n, gradient.ravel() / n, curvature / n
