"""Distributions in which rows count by their weights: what weighted estimates tend to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.data.checks import described
from calibstat.generators.distortion import Distortion, distort
from calibstat.generators.distributions import Random
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.generators.multiclass_generator import MulticlassGenerator
from calibstat.generators.multiclass_truth import MulticlassPopulation
from calibstat.generators.population import Part
from calibstat.generators.row_weights import Weights

__all__ = ["reweighted", "reweighted_classes"]

BATCH = 2**20  # the most rows drawn at once


@register
@dataclass(frozen=True, repr=False)
class reweighted(Generator):
    """Another generator in the population in which rows count by their weights.

        A bank keeps one in ten of the rows of outcome 0, which then weigh 10. The kept rows have another distribution;
        with their weights they have the distribution of the bank.

        >>> from calibstat import generators
        >>> bank = generators.shift(0.5, [0.02, 0.1, 0.3])
        >>> kept = generators.reweighted(bank, generators.Weights(outcome=(0.1, 1)))
        >>> again = generators.reweighted(kept, generators.Weights(outcome=(10, 1)))
        >>> print([round(family.truth("ece"), 4) for family in (bank, kept, again)])
        [0.0605, 0.3445, 0.0605]
        >>> import calibstat as cs
        >>> rows = kept.sample(100_000, rng=1, weights=generators.Weights(outcome=(10, 1)))
        >>> print(round(float(cs.estimate(rows.y, rows.p, sample_weight=rows.weight)), 3))
        0.059

    Its `truth` is what weighted estimates tend to, of rows ``generator.sample(n, rng, weights=weights)``. Noise of
    weights changes nothing. A factor of the prediction changes how often predictions are made and leaves the curve. A
    factor of the outcome multiplies the odds of outcome 1 at every prediction.

    Parameters
    ----------
    generator : Generator
        The generator of the rows.
    weights : Weights
        The weights of the rows.

    Raises
    ------
    ValueError
        If an argument is of another kind, or the weights are of more than two outcomes.

    Notes
    -----
    The truth is as exact as the truth of the generator. `sample` draws unweighted rows of the weighted population, by
    rejection: the time grows with the largest weight over the mean weight.
    """

    generator: Generator
    weights: Weights

    def __post_init__(self) -> None:
        if not isinstance(self.generator, Generator):
            raise ValueError(f"expected a generator, found {self.generator!r}")
        _check(self.weights, 2)

    @cached_property
    def _factors(self) -> tuple[float, float]:
        """The factors of outcome 0 and 1."""
        negative, positive = self.weights.factors(2)
        return negative, positive

    def _weighted(self, distortions: Sequence[Distortion]) -> list[Part]:
        """Return the parts with rows as many times as frequent as their mean weight."""
        negative, positive = self._factors
        parts = self.generator._parts(distortions)
        if any(self.weights.coefficients(2)):  # weights are of the predictions before these distortions
            before = self.generator._parts(())
            parts = [part.favoured(_factor(self.weights, old)) for part, old in zip(parts, before, strict=True)]
        return [part.shifted(positive, negative) for part in parts]

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        parts = self._weighted(distortions)
        total = sum(part.share for part in parts)
        return [replace(part, share=part.share / total) for part in parts]

    @cached_property
    def _accepted(self) -> float:
        """The share of rows that rejection keeps."""
        return sum(part.share for part in self._weighted(())) / _largest(self.weights, 2)

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        def draw(batch: int) -> tuple[np.ndarray, ...]:
            x, y, p = self.generator._rows(batch, random, ())
            return y.astype(np.int64), p, x

        y, p, x = _kept(n, random, draw, self.weights, 2, self._accepted)
        return x, y == 1, distort(p, distortions)


@register
@dataclass(frozen=True, repr=False)
class reweighted_classes(MulticlassGenerator):
    """Another generator of classes in the population in which rows count by their weights.

        >>> from calibstat import generators
        >>> family = generators.six_points()  # each class is calibrated
        >>> weighted = generators.reweighted_classes(family, generators.Weights(outcome=(1, 1, 4)))
        >>> weighted.truth("ece", lens="class_wise").round(4)
        array([0.135, 0.135, 0.27 ])
        >>> weighted.conditional([0.1, 0.3, 0.6]).round(3)
        array([0.071, 0.071, 0.857])

    As `reweighted`: its `truth` is what weighted estimates tend to, of rows
    ``generator.sample(n, rng, weights=weights)``. A factor of the classes multiplies their probabilities given the
    prediction, which then are made to sum to 1.

    Parameters
    ----------
    generator : MulticlassGenerator
        The generator of the rows.
    weights : Weights
        The weights of the rows.

    Raises
    ------
    ValueError
        If an argument is of another kind, or the weights are of another number of classes.

    Notes
    -----
    The truth is exact for finitely many predictions. A Dirichlet distribution is replaced by the points of a Sobol
    net, as `dirichlet` says, with weights: the more unequal they are, the less exact.
    """

    generator: MulticlassGenerator
    weights: Weights

    def __post_init__(self) -> None:
        if not isinstance(self.generator, MulticlassGenerator):
            raise ValueError(f"expected a generator of classes, found {self.generator!r}")
        _check(self.weights, self.generator.n_classes)
        object.__setattr__(self, "n_classes", self.generator.n_classes)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the classes have the probabilities that are predicted, to 1e-12, everywhere."""
        same = len(set(self.weights.factors(self.n_classes))) == 1
        return self.generator.is_calibrated if same else super().is_calibrated

    @cached_property
    def _population(self) -> MulticlassPopulation:
        base = self.generator._population
        raised = base.chance * np.array(self.weights.factors(self.n_classes))
        mean = raised.sum(axis=1)
        weight = base.weight * np.exp(self.weights.exponent(base.prob)) * mean
        return replace(base, weight=weight, chance=raised / mean[:, None])

    @cached_property
    def _accepted(self) -> float:
        """The share of rows that rejection keeps."""
        before = self.generator._population.weight
        return float(self._population.weight.sum() / before.sum()) / _largest(self.weights, self.n_classes)

    def _rows(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
        def draw(batch: int) -> tuple[np.ndarray, ...]:
            return self.generator._rows(batch, random)

        y, p = _kept(n, random, draw, self.weights, self.n_classes, self._accepted)
        return y, p

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        raised = self.generator._conditional(prob) * np.array(self.weights.factors(self.n_classes))
        return raised / raised.sum(axis=1, keepdims=True)


def _check(weights: object, classes: int) -> None:
    if not isinstance(weights, Weights):
        raise ValueError(f"expected weights to be Weights, found {described(weights)}")
    weights.check(classes)


def _factor(weights: Weights, part: Part) -> Callable[[np.ndarray], np.ndarray]:
    """Return the factor of the prediction as a function of the score of a part."""
    return lambda t: np.exp(weights.exponent(part.predict(t).ravel())).reshape(t.shape)


def _largest(weights: Weights, classes: int) -> float:
    """Return a bound of the weights without noise; predictions are means of their coefficients."""
    return float(np.exp(max(weights.coefficients(classes))) * max(weights.factors(classes)))


def _kept(
    n: int,
    random: Random,
    draw: Callable[[int], tuple[np.ndarray, ...]],
    weights: Weights,
    classes: int,
    accepted: float,
) -> tuple[np.ndarray, ...]:
    """Draw rows that begin with outcome and prediction, and keep each in proportion to its mean weight."""
    factors, largest = np.array(weights.factors(classes)), _largest(weights, classes)
    found: list[tuple[np.ndarray, ...]] = []
    left = n
    while left:
        need = left / accepted
        rows = draw(int(min(need + 3 * np.sqrt(need / accepted) + 1, BATCH)))
        chance = factors[rows[0]] * np.exp(weights.exponent(rows[1])) / largest
        (kept,) = np.nonzero(random.random(chance.size) < chance)
        kept = kept[:left]  # rows are independent, so the first ones can be taken
        found.append(tuple(column[kept] for column in rows))
        left -= kept.size
    return tuple(map(np.concatenate, zip(*found, strict=True)))
