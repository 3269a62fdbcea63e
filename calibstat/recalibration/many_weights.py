"""Vector scaling of many classes: a search without second derivatives between classes, in passes over the rows."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import jit

LEAST_SPREAD = 1e-6  # variance of the logarithms of a class below which they are taken as equal


def likeliest_weights(logs: np.ndarray, label: np.ndarray, weight: float, times: np.ndarray) -> tuple[np.ndarray, bool]:
    """Minimise the mean log loss of softmax(w_k logs[i, k] + b_k) from w = weight, b = 0, and say if it converged.

    Returns shape (K, 2), w and b. A row counts `times`. Each evaluation is one pass over the rows. For each class
    the search moves along two directions in which the loss is equally curved at the start: with many classes there is
    little curvature between them, so that some twenty passes are enough.
    """
    from scipy.optimize import minimize

    classes, n = logs.shape[1], float(times.sum())
    start = np.column_stack((np.full(classes, weight), np.zeros(classes)))
    curvature, mean, spread = _curvatures(logs, times, n, *start.T.copy())
    scale = 1 / np.sqrt(np.maximum(curvature, 1 / label.size))  # of a class that is hardly ever likely, as of one row
    slope = scale / np.sqrt(np.maximum(spread, LEAST_SPREAD))

    def coefficients(x: np.ndarray) -> np.ndarray:
        """Weights turn about the mean logarithm of the class, so that intercepts do not have to follow them."""
        turn = slope * x[:classes]
        return start + np.column_stack((turn, scale * x[classes:] - mean * turn))

    def loss(x: np.ndarray) -> tuple[float, np.ndarray]:
        value, by_weight, by_intercept = _log_loss(logs, label, times, n, *coefficients(x).T.copy())
        return value, np.concatenate((slope * (by_weight - mean * by_intercept), scale * by_intercept))

    options = {"maxiter": 5000, "maxfun": 10000, "ftol": 1e-12, "gtol": 1e-7}
    fit = minimize(loss, np.zeros(2 * classes), jac=True, method="L-BFGS-B", options=options)
    return coefficients(fit.x), bool(fit.success)


@jit
def _fill_chances(logs: np.ndarray, weight: np.ndarray, intercept: np.ndarray, chance: np.ndarray) -> float:
    """Fill in the softmax of the logits of a row; return the logarithm of the sum of their exponentials."""
    largest = -np.inf
    for k in range(logs.size):
        chance[k] = weight[k] * logs[k] + intercept[k]
        largest = max(largest, chance[k])
    total = 0.0
    for k in range(logs.size):
        chance[k] = math.exp(chance[k] - largest)
        total += chance[k]
    for k in range(logs.size):
        chance[k] /= total
    return largest + math.log(total)


@jit
def _log_loss(
    logs: np.ndarray, label: np.ndarray, times: np.ndarray, n: float, weight: np.ndarray, intercept: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the mean log loss, and its derivatives by weights and by intercepts; a row counts `times`, together n."""
    rows, classes = logs.shape
    chance = np.empty(classes)
    value = 0.0
    by_weight = np.zeros(classes)
    by_intercept = np.zeros(classes)
    for i in range(rows):
        y = label[i]
        loss = _fill_chances(logs[i], weight, intercept, chance) - weight[y] * logs[i, y] - intercept[y]
        value += times[i] * loss
        chance[y] -= 1.0
        for k in range(classes):
            excess = times[i] * chance[k]
            by_weight[k] += excess * logs[i, k]
            by_intercept[k] += excess
    return value / n, by_weight / n, by_intercept / n


@jit
def _curvatures(
    logs: np.ndarray, times: np.ndarray, n: float, weight: np.ndarray, intercept: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return how curved the mean log loss is in each intercept, and mean and variance of logarithms by that weight."""
    rows, classes = logs.shape
    chance = np.empty(classes)
    total = np.zeros(classes)
    first = np.zeros(classes)
    second = np.zeros(classes)
    for i in range(rows):
        _fill_chances(logs[i], weight, intercept, chance)
        for k in range(classes):
            bend = times[i] * chance[k] * (1.0 - chance[k]) + 1e-300  # never all 0
            total[k] += bend
            first[k] += bend * logs[i, k]
            second[k] += bend * logs[i, k] ** 2
    mean = first / total
    return total / n, mean, second / total - mean**2
