"""A small network in NumPy, with losses, optimisers and training rows that scikit-learn's lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

LOSSES = ("log_loss", "mse")
OPTIMISERS = ("adam", "sgd")
AUGMENTATIONS = ("none", "shifts", "mixup", "smoothing")
SIDE = 8  # pixels of a side of a digit
FARTHEST = 0.5  # of shifts, in pixels
SMOOTHED = 0.1  # share of a label that is spread over all classes
MOMENTUM = 0.9  # of SGD
DECAYS = (0.9, 0.999)  # of the means of Adam
TINY = 1e-8


@dataclass(frozen=True)
class Recipe:
    """A network, and how it is trained.

    Attributes
    ----------
    hidden : tuple of int
        Neurons of each hidden layer, with ReLU.
    loss : {"log_loss", "mse"}
        The mean over rows of -sum t log p, or of sum (t - p)², of softmax outputs p and labels t.
    optimiser : {"adam", "sgd"}
        Adam, or stochastic gradients with momentum .9.
    rate : float
        Of learning.
    decay : float
        Half the squared weights times this, without biases, is added to the loss.
    augmentation : {"none", "shifts", "mixup", "smoothing"}
        What is done to rows of each batch: digits shifted by up to half a pixel each way; every row and label mixed
        with another one's, by a share that is uniform for the batch; labels of 1 - .1 + .1 / K and .1 / K.
    batch : int
        Rows of a batch.
    """

    hidden: tuple[int, ...] = (100,)
    loss: str = "log_loss"
    optimiser: str = "adam"
    rate: float = 0.001
    decay: float = 0.0
    augmentation: str = "none"
    batch: int = 32

    def __post_init__(self) -> None:
        known = {"loss": LOSSES, "optimiser": OPTIMISERS, "augmentation": AUGMENTATIONS}
        for name, among in known.items():
            if getattr(self, name) not in among:
                raise ValueError(
                    f"expected {name} {', '.join(among[:-1])} or {among[-1]}, found {getattr(self, name)!r}"
                )


@dataclass
class Network:
    """Weights and biases of every layer, and what the optimiser remembers of them."""

    weights: list[np.ndarray]
    steps: int = 0
    memory: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)

    @classmethod
    def drawn(cls, sizes: Sequence[int], random: Any) -> Network:
        """Draw weights of layers of these sizes as He et al. do; biases are 0. Weights and biases take turns."""
        weights: list[np.ndarray] = []
        for before, after in pairwise(sizes):
            weights += [random.normal(size=(before, after)) * np.sqrt(2 / before), np.zeros(after)]
        return cls(weights, memory=[(np.zeros_like(w), np.zeros_like(w)) for w in weights])

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the probabilities of all classes, shape (n, K)."""
        return self._forward(rows)[-1]

    def _forward(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the input of every layer, and the probabilities."""
        inputs, last = [rows], len(self.weights) - 2
        for k in range(0, len(self.weights), 2):
            out = inputs[-1] @ self.weights[k] + self.weights[k + 1]
            inputs.append(softmax(out) if k == last else np.maximum(out, 0))
        return inputs

    def gradients(self, rows: np.ndarray, labels: np.ndarray, recipe: Recipe) -> list[np.ndarray]:
        """Return the derivatives of the loss by all weights and biases."""
        *inputs, p = self._forward(rows)
        if recipe.loss == "log_loss":
            slope = p * labels.sum(axis=1, keepdims=True) - labels
        else:
            residual = 2 * (p - labels)
            slope = p * (residual - (p * residual).sum(axis=1, keepdims=True))
        slope = slope / len(rows)
        found: list[np.ndarray] = []
        for k in range(len(self.weights) - 2, -1, -2):
            below = inputs[k // 2]
            found = [below.T @ slope + recipe.decay * self.weights[k], slope.sum(axis=0), *found]
            slope = (slope @ self.weights[k].T) * (below > 0)
        return found

    def step(self, gradients: Sequence[np.ndarray], recipe: Recipe) -> None:
        """Move all weights and biases once."""
        self.steps += 1
        for w, g, (first, second) in zip(self.weights, gradients, self.memory, strict=True):
            if recipe.optimiser == "sgd":
                first *= MOMENTUM
                first += g
                w -= recipe.rate * first
                continue
            for mean, power, kept in ((first, g, DECAYS[0]), (second, g * g, DECAYS[1])):
                mean *= kept
                mean += (1 - kept) * power
            one, two = (1 - kept**self.steps for kept in DECAYS)
            w -= recipe.rate * (first / one) / (np.sqrt(second / two) + TINY)


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return rows of probabilities."""
    power = np.exp(scores - scores.max(axis=1, keepdims=True))
    total: np.ndarray = power.sum(axis=1, keepdims=True)
    return power / total


def passes(rows: np.ndarray, y: np.ndarray, n_classes: int, recipe: Recipe, random: Any) -> Iterator[Network]:
    """Train a network without end, and yield it after each pass over the rows; it is changed further afterwards."""
    network = Network.drawn((rows.shape[1], *recipe.hidden, n_classes), random)
    labels = np.eye(n_classes)[y]
    while True:
        order = random.permutation(len(y))
        for start in range(0, len(y), recipe.batch):
            some = order[start : start + recipe.batch]
            network.step(network.gradients(*augmented(rows[some], labels[some], recipe, random), recipe), recipe)
        yield network


def augmented(rows: np.ndarray, labels: np.ndarray, recipe: Recipe, random: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and labels of a batch as the recipe changes them."""
    if recipe.augmentation == "shifts":
        return shifted(rows, random.uniform(-FARTHEST, FARTHEST, size=(2, len(rows)))), labels
    if recipe.augmentation == "mixup":
        share, other = random.random(), random.permutation(len(rows))
        return share * rows + (1 - share) * rows[other], share * labels + (1 - share) * labels[other]
    if recipe.augmentation == "smoothing":
        return rows, (1 - SMOOTHED) * labels + SMOOTHED / labels.shape[1]
    return rows, labels


def shifted(rows: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Return images moved down and to the right by parts of a pixel, shape (2, n); between pixels they are linear."""
    images = rows.reshape(-1, SIDE, SIDE)
    for axis, far in enumerate(by[:, :, np.newaxis, np.newaxis], 1):
        padded = np.pad(images, [(0, 0), *((1, 1) if k == axis else (0, 0) for k in (1, 2))])
        earlier, later = (np.take(padded, range(k, k + SIDE), axis=axis) for k in (0, 2))
        images = (1 - np.abs(far)) * images + np.abs(far) * np.where(far > 0, earlier, later)
    return images.reshape(rows.shape)
