"""A linear layer behind the predictions of a network, fitted by any of three proper scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .small_network import softmax

LAYERS = ("temperature", "vector", "matrix")  # 1, 2 K and K² + K weights
STEPS = 200  # of L-BFGS, at most
TINY = float(np.finfo(np.float64).tiny)
Score = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def log_loss(p: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return -log of the probability of the observed class of each row, and its derivatives by all probabilities."""
    observed = np.maximum((p * labels).sum(axis=1), TINY)
    return -np.log(observed), -labels / observed[:, np.newaxis]


def brier(p: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the squared distance of each row from its class, and its derivatives."""
    return ((p - labels) ** 2).sum(axis=1), 2 * (p - labels)


def spherical(p: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 minus the observed probability over the length of the row, the score of that length, and derivatives."""
    length = np.sqrt((p**2).sum(axis=1, keepdims=True))
    observed = (p * labels).sum(axis=1, keepdims=True)
    return 1 - (observed / length)[:, 0], -labels / length + observed * p / length**3


SCORES: Mapping[str, Score] = {"log loss": log_loss, "Brier score": brier, "spherical score": spherical}


class Layer:
    """Weights of a layer that gets the logarithms of probabilities; at first it changes nothing."""

    def __init__(self, kind: str, n_classes: int) -> None:
        if kind not in LAYERS:
            raise ValueError(f"expected a layer {', '.join(LAYERS[:-1])} or {LAYERS[-1]}, found {kind!r}")
        self.kind = kind
        self.n_classes = n_classes
        start = {"temperature": [np.ones(1)], "vector": [np.ones(n_classes), np.zeros(n_classes)],
                 "matrix": [np.eye(n_classes).ravel(), np.zeros(n_classes)]}  # fmt: skip
        self.weights = np.concatenate(start[kind])

    def logits(self, z: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the logits of rows of logarithms by these weights."""
        k = self.n_classes
        if self.kind == "temperature":
            return z * weights
        slope, shift = weights[:-k], weights[-k:]
        found: np.ndarray = (z * slope if self.kind == "vector" else z @ slope.reshape(k, k).T) + shift
        return found

    def gradient(self, z: np.ndarray, by_logits: np.ndarray) -> np.ndarray:
        """Return derivatives by the weights from those by the logits."""
        if self.kind == "temperature":
            return np.array([(z * by_logits).sum()])
        slope = (z * by_logits).sum(axis=0) if self.kind == "vector" else (by_logits.T @ z).ravel()
        return np.concatenate([slope, by_logits.sum(axis=0)])

    def objective(
        self, weights: np.ndarray, z: np.ndarray, labels: np.ndarray, score: Score
    ) -> tuple[float, np.ndarray]:
        """Return the mean score at these weights, and its derivatives by them."""
        p = softmax(self.logits(z, weights))
        loss, by_p = score(p, labels)
        by_logits = p * (by_p - (p * by_p).sum(axis=1, keepdims=True)) / len(p)
        return float(loss.mean()), self.gradient(z, by_logits)

    def fit(self, p: np.ndarray, labels: np.ndarray, score: Score) -> Layer:
        """Minimise the mean score, beginning with no change; the best weights ever tried are kept."""
        from scipy.optimize import minimize

        z = logarithms(p)
        found = minimize(self.objective, self.weights, (z, labels, score), "L-BFGS-B", jac=True,
                         options={"maxiter": STEPS})  # fmt: skip
        if found.fun <= self.objective(self.weights, z, labels, score)[0]:
            self.weights = found.x
        return self

    def predict(self, p: np.ndarray) -> np.ndarray:
        """Return what becomes of predictions behind the layer."""
        return softmax(self.logits(logarithms(p), self.weights))


def logarithms(p: np.ndarray) -> np.ndarray:
    """Return the logarithms of probabilities, of which a softmax makes none exactly 0, but may round one to it."""
    found: np.ndarray = np.log(np.maximum(p, TINY))
    return found
