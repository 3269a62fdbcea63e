"""What a population answers to a measure whose value on it is asked for."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from calibstat.data.sample import Sample

NO_EDGES = np.empty(0)
FINE = 2**14  # bins in which a population is cut where nothing says where the cells of a measure end


class Loss(Protocol):
    """A loss of a prediction and an outcome, as a mean over a population needs it; see `MeanLoss`."""

    def outcome_losses(self, value: np.ndarray, log_prob: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each prediction if the outcome is 0 and if it is 1."""

    def class_losses(self, prob: np.ndarray, log_prob: np.ndarray | None) -> np.ndarray:
        """Return the loss of each row of predictions of K classes if class 0, 1, ... is observed, shape (n, K)."""


class BinaryPopulation(Protocol):
    """A population of predictions and outcomes.

    `scattered` says that its points have chances of their own, of which only means over neighbouring predictions are
    right; `finite` that the points are all the predictions that there are.
    """

    @property
    def scattered(self) -> bool:
        """Whether points have chances of their own."""

    @property
    def finite(self) -> bool:
        """Whether there are no other predictions."""

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return predictions and weights that stand for the population, in bins that end at `edge`.

        These are predictions, or for strategy "quantile" shares of the population.
        """

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""

    def rate(self) -> float:
        """Return the probability of outcome 1."""


class VectorPopulation(Protocol):
    """A population of predictions of K classes: weighted points, what is predicted there and the true probabilities."""

    @property
    def weight(self) -> np.ndarray:
        """How probable each point is, up to a factor; shape (m,)."""

    @property
    def prob(self) -> np.ndarray:
        """What is predicted there, shape (m, K)."""

    @property
    def chance(self) -> np.ndarray:
        """The probabilities of the classes there, shape (m, K)."""

    @property
    def finite(self) -> bool:
        """Whether there are no other predictions."""

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""
