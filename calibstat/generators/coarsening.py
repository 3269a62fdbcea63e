"""Calibrated generators: the chance of outcome 1 given a function of the covariate of another generator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.generators.binary import calibrated
from calibstat.generators.distortion import Distortion, distort
from calibstat.generators.distributions import Density, Points, Random
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.generators.population import Part

__all__ = ["coarsened"]

Function = Callable[[np.ndarray], np.ndarray]
MOST_VALUES = 10_000
HALVINGS = 60  # of the step between two scores, until where the value changes is known to the last digits


@register
@dataclass(frozen=True, repr=False)
class coarsened(Generator):
    """The covariates and outcomes of another generator; predictions are the chance given a function of the covariate.

        The mean score of each of k equal parts of [0, 1] has the Brier score 1/6 + 1 / (12 k²):

        >>> from calibstat import generators
        >>> family = generators.calibrated()
        >>> for k in (1, 2, 4):
        ...     coarse = generators.coarsened(family, lambda x, k=k: (x * k).astype(int))
        ...     print(k, round(coarse.truth("brier"), 6), round(coarse.truth("ece", n_bins=None), 6))
        1 0.25 0.0
        2 0.1875 0.0
        4 0.171875 0.0

    It is calibrated whatever the function is (Vaicenavicius et al. 2019, proposition 1, arXiv:1902.06977). A function
    of another function is coarser, and sharpness falls with it (Chidambaram, Ge 2024, proposition 4.2,
    arXiv:2406.04068): so functions that are nested make a family of calibrated models whose order is known. With one
    seed all of them have the same covariates and outcomes.

    Parameters
    ----------
    generator : Generator
        The generator of covariates and outcomes.
    function : callable
        ``function(x)`` returns a value for each covariate x of `Generator.sample_covariates`: numbers, or texts.

    Raises
    ------
    ValueError
        If an argument is of another kind, the function does not return one value for each covariate, or it has more
        than 10,000 values, as one that only moves a continuous score has.

    Notes
    -----
    Predictions are sums for finitely many covariates. For a continuous score they are integrals, cut where the value
    of the function changes: a value of which all stretches are narrower than about 1e-4 may be overlooked, and then
    drawing a row with it raises a RuntimeError.
    """

    generator: Generator
    function: Function

    def __post_init__(self) -> None:
        if not isinstance(self.generator, Generator):
            raise ValueError(f"expected a generator, found {self.generator!r}")
        if not callable(self.function):
            raise ValueError(f"expected function to be a function of the covariate, found {self.function!r}")
        _ = self._table

    @cached_property
    def _table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The values of the function, the probability of each, and the probability of outcome 1 given it."""
        values, weights, positives = [], [], []
        for part in self.generator._parts(()):
            t, weight = part.nodes(_changes(part, self._values))
            weight = part.share * weight / weight.sum()
            values.append(self._values(part.covariates(t)))
            weights.append(weight)
            positives.append(weight * part.chance(t))
        value, place = np.unique(np.concatenate(values), return_inverse=True)
        if value.size > MOST_VALUES:
            raise ValueError(f"expected a function of at most {MOST_VALUES} values, found {value.size}")
        weight = np.bincount(place, np.concatenate(weights))
        return value, weight / weight.sum(), np.clip(np.bincount(place, np.concatenate(positives)) / weight, 0, 1)

    def _values(self, x: np.ndarray) -> np.ndarray:
        value = np.asarray(self.function(x))
        if value.shape != x.shape:
            raise ValueError(
                f"expected function to return a value for each covariate, shape {x.shape}, found shape {value.shape}"
            )
        return value

    @cached_property
    def _law(self) -> calibrated:
        """The law of predictions; values with one chance are one prediction."""
        _, weight, chance = self._table
        point, place = np.unique(chance, return_inverse=True)
        return calibrated(dict(zip(point.tolist(), np.bincount(place, weight).tolist(), strict=True)))

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        x, y, _ = self.generator._rows(n, random, ())
        value, _, chance = self._table
        found = self._values(x)
        place = np.minimum(np.searchsorted(value, found), value.size - 1)
        (unknown,) = np.nonzero(value[place] != found)
        if unknown.size:
            raise RuntimeError(f"the function has the value {found[unknown[0]]!r} on so little that it was overlooked")
        return x, y, distort(chance[place], distortions)

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        return self._law._parts(distortions)


def _changes(part: Part, values: Function) -> np.ndarray:
    """Return the predictions of a part at which the value of a function of its covariate changes, ascending."""
    if isinstance(part.distribution, Points) or part.group is not None:
        return np.empty(0)
    assert isinstance(part.distribution, Density)
    t = np.sort(part.nodes()[0])
    value = values(t)
    (change,) = np.nonzero(value[1:] != value[:-1])
    low, high, before = t[change], t[change + 1], value[change]
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        beyond = values(middle) != before
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.unique(part.predict(high))
