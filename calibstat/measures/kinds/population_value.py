"""Interfaces between measures and populations, for population values."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from calibstat.data.sample import Sample

NO_EDGES = np.empty(0)
POPULATION_BINS = 2**14  # bins of a population where the cells of a measure are not known


class Loss(Protocol):
    """A loss whose mean over a population is needed; see `MeanLoss`."""

    def outcome_losses(self, value: np.ndarray, log_prob: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the predictions if the outcome is 0, and if it is 1."""

    def class_losses(self, prob: np.ndarray, log_prob: np.ndarray | None) -> np.ndarray:
        """Return the losses of predictions, shape (n, K), for each class that may be observed, shape (n, K)."""


class BinaryPopulation(Protocol):
    """A population of binary outcomes and predictions, represented by weighted points.

    In a `scattered` population the true probability varies from point to point, so that only means over neighbouring
    points are right. In a `finite` one the points are all possible predictions.
    """

    @property
    def scattered(self) -> bool:
        """Whether the true probability varies among points of nearly equal prediction."""

    @property
    def finite(self) -> bool:
        """Whether the points are all possible predictions."""

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return the weighted points that represent the population, cut at the ends of bins, `edge`.

        These are predictions, or with strategy "quantile" shares of the population.
        """

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""

    def rate(self) -> float:
        """Return the probability of outcome 1."""


class VectorPopulation(Protocol):
    """A population of K classes: weighted points, each with its predicted and true probabilities."""

    @property
    def weight(self) -> np.ndarray:
        """The probability of each point, up to a common factor; shape (m,)."""

    @property
    def prob(self) -> np.ndarray:
        """The predicted probabilities, shape (m, K)."""

    @property
    def chance(self) -> np.ndarray:
        """The true probabilities of the classes, shape (m, K)."""

    @property
    def finite(self) -> bool:
        """Whether the points are all possible predictions."""

    @property
    def resolved(self) -> bool:
        """Whether the true probabilities at a point are the ones given its prediction."""

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""
