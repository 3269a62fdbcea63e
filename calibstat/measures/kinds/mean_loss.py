"""Kinds of measures that are the mean of a loss, binary and multiclass."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from calibstat.bounds import mean_interval
from calibstat.bounds.intervals import Interval
from calibstat.bounds.mean_interval import RowLosses, need_finite
from calibstat.bounds.residual_tables import LabelledRows
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.inner_product import inner
from calibstat.measures.kinds.base import Honest, MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.population_value import BinaryPopulation, VectorPopulation
from calibstat.resampling.one_pass import OnePass, WeightedSum


class MeanLoss(Statistic):
    """A binary measure that is the mean of a loss.

    It defines `loss`. It gets what a `Statistic` gets, with the t interval of a mean as its honest interval, also of
    clusters, comparisons of models, and values on generators. If it also defines `vector_loss`, there is a multiclass
    measure, whose bounds are `vector_bounds`.
    """

    vector_bounds: ClassVar[tuple[float, float] | None] = None

    @abstractmethod
    def loss(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the predictions, shape (m,), if the outcome is 0, and if it is 1."""

    def vector_loss(self, prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the loss of each row, given predictions, shape (n, K), and labels from 0 to K - 1, shape (n,)."""
        raise NotImplementedError

    def outcome_losses(self, value: np.ndarray, log_prob: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses of the predictions, shape (m,), if the outcome is 0, and if it is 1, for a population.

        If the measure `takes_logarithms`, `log_prob` holds the logarithms of the probabilities of outcomes 0 and 1,
        shape (m, 2), which are finite where a prediction rounds to 0 or 1.
        """
        return self.loss(value)

    def class_losses(self, prob: np.ndarray, log_prob: np.ndarray | None) -> np.ndarray:
        """Return the losses of predictions, shape (n, K), for each class that may be observed, shape (n, K)."""
        return np.stack([self.vector_loss(prob, np.full(len(prob), k)) for k in range(prob.shape[1])], axis=1)

    def population_value(self, population: BinaryPopulation) -> float:
        return population.mean(self)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        total = 0.0
        for rows, losses in zip((count - positives, positives), self.loss(value), strict=True):
            observed = rows > 0  # a certain prediction may have an infinite loss for the outcome that was not observed
            total += inner(rows[observed], losses[observed])
        return total / float(count.sum())

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass | None:
        """Return the expected loss plus the sum of residuals, each times the difference of its two losses.

        The loss of an impossible outcome counts 0. The result is None if a possible outcome has an infinite loss.
        """
        with np.errstate(invalid="ignore"):
            zero, one = (
                np.where(never, 0.0, of) for never, of in zip((chance == 1, chance == 0), self.loss(value), strict=True)
            )
            constant = inner(count, zero * (1 - value) + one * value) / float(count.sum())
        return WeightedSum(one - zero, constant) if np.isfinite(constant) else None

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        negative, positive = self.loss(value)
        return {"loss_positive": positive, "loss_negative": negative}

    def multiclass(self) -> MulticlassMeasure | None:
        return None if type(self).vector_loss is MeanLoss.vector_loss else MulticlassMeanLoss(self)

    @property
    def honest(self) -> Honest:
        return "mean"

    def interval(self, sample: Sample) -> Interval:
        possible = self.possible(sample.value)
        return mean_interval.of_losses(str(self), self.estimate(sample), possible, sample, self.bounds)

    def losses_of(self, rows: LabelledRows) -> RowLosses:
        y, p, weight = rows
        negative, positive = self.loss(p)
        loss = np.where(y == 1, positive, negative)
        need_finite(str(self), loss, p)
        return RowLosses(
            title=str(self),
            loss=loss,
            prediction=p,
            possible=lambda: self.possible(p),
            bounds=self.bounds,
            sample_weight=weight,
        )

    def possible(self, value: np.ndarray) -> np.ndarray:
        """Return the losses that predictions may have, shape (m, 2): if the outcome is 0, and if it is 1."""
        return np.stack(self.loss(value), axis=1)

    def bounds_over_classes(self, classes: int) -> tuple[float, float]:
        """Return bounds of the mean over so many classes of the losses of one row."""
        return self.bounds

    def losses_over_classes(self, predictions: Predictions, weight: np.ndarray | None) -> RowLosses:
        prob, label, classes = predictions.prob, predictions.label, predictions.n_classes
        total = np.zeros(label.size)
        for k in range(classes):
            negative, positive = self.loss(prob[:, k].astype(np.float64))
            total += np.where(label == k, positive, negative)
        loss = total / classes
        need_finite(str(self), loss, prob)
        return RowLosses(
            title=str(self),
            loss=loss,
            prediction=prob,
            possible=lambda: self.possible_over_classes(prob),
            bounds=self.bounds_over_classes(classes),
            sample_weight=weight,
        )

    def possible_over_classes(self, prob: np.ndarray) -> np.ndarray:
        """Return the mean over classes of the losses that rows may have, one for each class that may be observed."""
        of_entries = self.loss(prob.astype(np.float64).ravel())
        negative, positive = (np.asarray(losses).reshape(prob.shape) for losses in of_entries)
        finite = np.isfinite(negative)
        known = np.where(finite, negative, 0.0)
        infinite = (~finite).sum(axis=1, keepdims=True) - ~finite  # other classes, not to be observed but certain
        others = np.where(infinite > 0, np.inf, known.sum(axis=1, keepdims=True) - known)
        return np.asarray((others + positive) / prob.shape[1])


@dataclass(frozen=True)
class MulticlassMeanLoss(MulticlassMeasure):
    """The mean loss of predictions of K classes, made from a `MeanLoss` that defines `vector_loss`."""

    binary: MeanLoss

    def check(self) -> None:
        """Take over the name and the known properties of the loss."""
        bounds = self.binary.vector_bounds or self.binary.bounds
        object.__setattr__(self, "name", self.binary.name)
        object.__setattr__(self, "takes_logarithms", self.binary.takes_logarithms)
        object.__setattr__(self, "info", replace(self.binary.info, bounds=bounds))

    @property
    def options(self) -> dict[str, Any]:
        return self.binary.options

    @property
    def named(self) -> NamedMeasure:
        return self.binary.named

    def check_probabilities(self, prob: np.ndarray) -> None:
        self.binary.check_probabilities(prob)

    def population_value(self, population: VectorPopulation) -> float:
        return population.mean(self.binary)

    why_no_weights = ""

    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        return float(self.binary.vector_loss(prob, label).mean())

    def weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray, cell: np.ndarray | None) -> float:
        return inner(self.binary.vector_loss(prob, label), weight) / float(weight.sum())

    def detail(self, prob: np.ndarray, label: np.ndarray) -> dict[str, Any]:
        return {"loss": self.binary.vector_loss(prob, label)}

    @property
    def honest(self) -> Honest:
        return "mean"

    def interval(self, predictions: Predictions) -> Interval:
        loss = self.binary.vector_loss(predictions.prob, predictions.label)
        return mean_interval.of_vector_losses(str(self), loss, lambda: self.possible(predictions.prob), self.bounds)

    def losses(self, predictions: Predictions, weight: np.ndarray | None = None) -> RowLosses:
        loss, prob = self.binary.vector_loss(predictions.prob, predictions.label), predictions.prob
        need_finite(str(self), loss, prob)
        return RowLosses(
            title=str(self),
            loss=loss,
            prediction=prob,
            possible=lambda: self.possible(prob),
            bounds=self.bounds,
            sample_weight=weight,
        )

    def possible(self, prob: np.ndarray) -> np.ndarray:
        """Return the losses that rows may have, one for each class."""
        losses = np.empty(prob.shape[::-1])  # a class after the other, filled in without a list of columns beside it
        for k, of_class in enumerate(losses):
            of_class[:] = self.binary.vector_loss(prob, np.full(len(prob), k))
        return losses.T
