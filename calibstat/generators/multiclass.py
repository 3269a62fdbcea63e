"""Multiclass generators with finitely many predictions, or with noisy labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.generators.distributions import Random
from calibstat.generators.generator_table import register
from calibstat.generators.multiclass_generator import MulticlassGenerator, draw_classes, points
from calibstat.generators.multiclass_truth import MulticlassPopulation
from calibstat.generators.population import ONE_POINT

__all__ = ["always_wrong", "label_noise", "six_points"]


class _Finite(MulticlassGenerator):
    """A generator of finitely many equally likely predicted vectors."""

    def _rows(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
        point = random.integers(self._population.weight.size, size=n)
        return draw_classes(self._population.chance[point], random), self._population.prob[point]

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        conditional = np.full(prob.shape, np.nan)
        for predicted, chance in zip(self._population.prob, self._population.chance, strict=True):
            conditional[np.all(np.abs(prob - predicted) <= ONE_POINT, axis=1)] = chance
        return conditional


@register
@dataclass(frozen=True, repr=False)
class six_points(_Finite):
    """Miscalibration not visible in the most likely class or any single class: six equally likely vectors of 3 classes.

    ================  ================
    predicted         true probability
    ================  ================
    (0.1, 0.3, 0.6)   (0.2, 0.2, 0.6)
    (0.1, 0.6, 0.3)   (0.0, 0.7, 0.3)
    (0.3, 0.1, 0.6)   (0.2, 0.2, 0.6)
    (0.3, 0.6, 0.1)   (0.4, 0.5, 0.1)
    (0.6, 0.1, 0.3)   (0.7, 0.0, 0.3)
    (0.6, 0.3, 0.1)   (0.5, 0.4, 0.1)
    ================  ================

    The top label and every class by itself are perfectly calibrated, but canonical calibration fails: every predicted
    vector is off by 0.1 in total variation (Vaicenavicius et al. 2019, table 1, arXiv:1902.06977).

    Examples
    --------
    >>> from calibstat import generators
    >>> family = generators.six_points()
    >>> round(family.truth("ece"), 12), family.truth("ece", lens="class_wise").round(12)
    (0.0, array([0., 0., 0.]))
    >>> family.conditional([0.1, 0.6, 0.3])
    array([0. , 0.7, 0.3])
    >>> family.sample(2, rng=1)
    (array([2, 0]), array([[0.3, 0.1, 0.6],
           [0.3, 0.6, 0.1]]))
    """

    n_classes = 3

    @cached_property
    def _population(self) -> MulticlassPopulation:
        prob = [[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]]
        chance = [[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]]
        return points(np.array(prob) / 10, np.array(chance) / 10)


@register
@dataclass(frozen=True, repr=False)
class always_wrong(_Finite):
    """A predictor that is always wrong, with good calibration of its confidence.

        >>> from calibstat import generators
        >>> for k in (10, 100):
        ...     family = generators.always_wrong(k, epsilon=1 / k)
        ...     print(k, round(family.truth("brier"), 6), round(family.truth("brier", lens="canonical"), 6))
        10 0.04 0.933333
        100 0.0004 0.990303

    Classes are equally likely. In each row the predictor gives a wrong class, the next one, probability 1/K + epsilon
    and every other one 1/K - epsilon / (K - 1). So the Brier score of its confidence is (1/K + epsilon)², which falls
    like 1/K² for an epsilon that falls like 1/K, and its confidence is off by 1/K + epsilon only; but the Brier score
    of all classes stays near 1 (Chidambaram, Ge 2024, proposition 4.5, arXiv:2406.04068).

    Parameters
    ----------
    n_classes : int
        K, at least 2.
    epsilon : float
        Above 0, at most (K - 1) / K.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """

    n_classes: int
    epsilon: float

    def __post_init__(self) -> None:
        if isinstance(self.n_classes, bool) or self.n_classes != int(self.n_classes) or self.n_classes < 2:
            raise ValueError(f"expected n_classes to be a whole number of at least 2, found {self.n_classes!r}")
        if not 0 < self.epsilon <= (self.n_classes - 1) / self.n_classes:
            most = f"(K - 1) / K for K = {self.n_classes}"
            raise ValueError(f"expected epsilon above 0 and at most {most}, found {self.epsilon!r}")

    @cached_property
    def _population(self) -> MulticlassPopulation:
        classes = int(self.n_classes)
        # at the largest epsilon rounding must not leave [0, 1]
        prob = np.full((classes, classes), max(1 / classes - self.epsilon / (classes - 1), 0.0))
        known = np.arange(classes)
        prob[known, (known + 1) % classes] = min(1 / classes + self.epsilon, 1.0)
        return points(prob, np.eye(classes))


@register
@dataclass(frozen=True, repr=False)
class label_noise(MulticlassGenerator):
    """Another generator with label noise: in a share of the rows the class is replaced by a uniformly drawn one.

        >>> from calibstat import generators
        >>> family = generators.label_noise(generators.dirichlet((1, 1, 1)), fraction=0.3)
        >>> family.conditional([0.2, 0.2, 0.6])
        array([0.24, 0.24, 0.52])

    The true class may be drawn again. Predictions are unchanged, so that calibrated ones become over-confident: the
    probability of each class given the prediction is (1 - fraction) times what it was plus fraction / K (Nixon et al.
    2019, appendix B, arXiv:1904.01685, where models are fitted to such labels).

    Parameters
    ----------
    base : MulticlassGenerator
        The other generator.
    fraction : float
        Share of the rows, from 0 to 1.

    Raises
    ------
    ValueError
        If `base` is not a multiclass generator or the fraction is outside its range.
    """

    base: MulticlassGenerator
    fraction: float

    def __post_init__(self) -> None:
        if not isinstance(self.base, MulticlassGenerator):
            raise ValueError(f"expected base to be a multiclass generator, found {self.base!r}")
        if not 0 <= self.fraction <= 1:
            raise ValueError(f"expected fraction from 0 to 1, found {self.fraction!r}")
        object.__setattr__(self, "n_classes", self.base.n_classes)

    @cached_property
    def is_calibrated(self) -> bool:
        """Whether the classes have the probabilities that are predicted, to 1e-12, everywhere."""
        return self.base.is_calibrated if self.fraction == 0 else super().is_calibrated

    @cached_property
    def _population(self) -> MulticlassPopulation:
        return replace(self.base._population, chance=self._noisy(self.base._population.chance))

    def _noisy(self, chance: np.ndarray) -> np.ndarray:
        return (1 - self.fraction) * chance + self.fraction / self.n_classes

    def _rows(self, n: int, random: Random) -> tuple[np.ndarray, np.ndarray]:
        y, p = self.base._rows(n, random)
        return np.where(random.random(n) < self.fraction, random.integers(self.n_classes, size=n), y), p

    def _conditional(self, prob: np.ndarray) -> np.ndarray:
        return self._noisy(self.base._conditional(prob))
