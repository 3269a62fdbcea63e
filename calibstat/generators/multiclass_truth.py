"""Multiclass populations, and population values of measures through lenses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.data.lenses import Lens, canonical
from calibstat.data.sample import Sample
from calibstat.generators.population import unknown_value_of
from calibstat.measures.kinds.base import Measure, MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.population_value import NO_EDGES, Loss


@dataclass(frozen=True)
class MulticlassPopulation:
    """Weighted points that represent a population, each with predicted and true probabilities of the classes.

    `log_prob` is the logarithm of `prob`, exact also where a probability rounds to 0 or 1, or None if not needed.
    `finite` says that the points are all possible predictions. `resolved` says that the true probabilities at a point
    are the ones given its prediction; through a lens they vary among points of nearly equal prediction.
    """

    weight: np.ndarray
    prob: np.ndarray
    log_prob: np.ndarray | None
    chance: np.ndarray
    finite: bool
    resolved: bool = False

    def through(self, lens: Lens, logarithms: bool) -> MulticlassPopulation:
        """Return the population seen through a lens; a binary outcome has classes 0 and 1.

        `logarithms` computes `log_prob`, which takes far longer than all else.
        """
        if lens is canonical:
            return self
        score = np.asarray(lens.scores(self.prob))
        prob = np.column_stack((1 - score, score)) if score.ndim == 1 else score
        # the outcome of every class at every point
        label = np.empty(self.weight.size, np.int64)
        outcome = np.empty(self.prob.shape, np.int64)
        for k in range(self.prob.shape[1]):
            label[:] = k
            outcome[:, k] = lens.outcomes(self.prob, label)
        among = [outcome == j for j in range(prob.shape[1])]
        chance = np.stack([np.where(seen, self.chance, 0.0).sum(axis=1) for seen in among], axis=1)
        log_prob = None
        if logarithms:
            assert self.log_prob is not None
            parts = [np.logaddexp.reduce(np.where(seen, self.log_prob, -np.inf), axis=1) for seen in among]
            log_prob = np.stack(parts, axis=1)
        return MulticlassPopulation(self.weight, prob, log_prob, chance, self.finite)

    def average(self, of_points: np.ndarray) -> float:
        """Average over the population."""
        return float(self.weight @ of_points / self.weight.sum())

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""
        return self.expected(loss.class_losses(self.prob, self.log_prob))

    def expected(self, losses: np.ndarray) -> float:
        """Return the expected loss, given the loss of every class at every point."""
        with np.errstate(invalid="ignore"):  # an infinite loss of probability 0 adds 0
            return self.average(np.where(self.chance > 0, self.chance * losses, 0).sum(axis=1))


@dataclass(frozen=True)
class EventPopulation:
    """The binary population of class 1 of two, as seen through a lens."""

    shown: MulticlassPopulation

    @property
    def scattered(self) -> bool:
        """Whether the true probability varies among points of nearly equal prediction."""
        return not self.shown.finite

    @property
    def finite(self) -> bool:
        """Whether the points are all possible predictions."""
        return self.shown.finite

    @property
    def _score(self) -> np.ndarray:
        return np.minimum(self.shown.prob[:, 1], 1.0)  # sums of probabilities may round above 1

    def summary(self, edge: np.ndarray = NO_EDGES, strategy: str = "uniform") -> Sample:
        """Return predictions and weights; the points are not moved or cut."""
        chance = np.minimum(self.shown.chance[:, 1], 1.0)
        return Sample.from_counts(self._score, self.shown.weight, self.shown.weight * chance)

    def mean(self, loss: Loss) -> float:
        """Return the expected loss."""
        return self.shown.expected(np.stack(loss.outcome_losses(self._score, self.shown.log_prob), axis=1))

    def rate(self) -> float:
        """Return the probability of outcome 1."""
        return min(self.shown.average(self.shown.chance[:, 1]), 1.0)


def truth(population: MulticlassPopulation, lens: Lens, measure: Measure) -> float:
    """Return a measure of the population seen through a lens."""
    shown = population.through(lens, logarithms=measure.takes_logarithms)
    if np.asarray(lens.scores(population.prob[:1])).ndim == 1:
        if isinstance(measure, MulticlassMeasure):
            found = f"found {lens}, which is binary"
            raise ValueError(f"expected a lens that shows several classes for measure {measure.name!r}, {found}")
        assert isinstance(measure, Statistic)
        with unknown_value_of(measure):
            return measure.population_value(EventPopulation(shown))
    of_classes = measure.multiclass()
    if of_classes is None:
        found = f"found {lens}, which shows several classes"
        raise ValueError(f"expected a lens that shows a binary outcome for measure {measure.name!r}, {found}")
    with unknown_value_of(of_classes):
        return of_classes.population_value(shown)
