"""Generators made of other generators: distorted, under another prevalence, and in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from calibstat.digits import settled
from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Random
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.generators.population import Part

__all__ = ["distorted", "groups", "prevalence"]

BATCH = 2**20  # the most rows drawn at once to find rows of a rare outcome


@register
@dataclass(frozen=True, repr=False)
class distorted(Generator):
    """The covariates and outcomes of another generator, with other predictions.

        >>> from calibstat import generators
        >>> uniform = generators.calibrated()
        >>> generators.distorted(uniform, temperature=2, shift=0.3).curve([0.2, 0.8]).round(3)
        array([0.301, 0.633])
        >>> generators.distorted(uniform, s_shape=0.9).curve([0.2, 0.25, 0.5, 0.6]).round(3)
        array([0.128, 0.25 , 0.5  , 0.555])
        >>> one_bad_subgroup = generators.distorted(uniform, temperature=2, subgroup=0.1)
        >>> round(one_bad_subgroup.truth("ece", n_bins=2), 6)  # a tenth of ln(2)/2 - 1/4
        0.009657

    Parameters
    ----------
    generator : Generator
        The generator of covariates and outcomes.
    temperature : float
        The factor of the log-odds of the prediction, positive: more than 1 is more confident.
    shift : float
        The number then added to the log-odds: above 0 predictions are higher than without it.
    s_shape : float
        Between -1 and 1; a prediction v then becomes v + s_shape sin(4 pi v) / (4 pi). It leaves 0, 1/4, 1/2,
        3/4 and 1 where they are; positive, it pushes predictions away from 0, 1/2 and 1, towards 1/4 and 3/4.
    subgroup : float
        The share of observations with distorted predictions, in (0, 1], independent of all else. Below 1 it is a
        generator of two `groups`, named "rest" and "subgroup".

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """

    generator: Generator
    temperature: float = 1.0
    shift: float = 0.0
    s_shape: float = 0.0
    subgroup: float = 1.0

    def __post_init__(self) -> None:
        _check_generator(self.generator)
        if not 0 < self.subgroup <= 1:
            raise ValueError(f"expected subgroup above 0 and at most 1, found {self.subgroup!r}")
        _ = self._distortion

    @cached_property
    def _distortion(self) -> Distortion:
        return Distortion(self.temperature, self.shift, self.s_shape)

    @cached_property
    def _groups(self) -> groups:
        everyone = replace(self, subgroup=1.0)
        return groups({"rest": (1 - self.subgroup, self.generator), "subgroup": (self.subgroup, everyone)})

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        if self.subgroup < 1:
            return self._groups._rows(n, random, distortions)
        return self.generator._rows(n, random, (self._distortion, *distortions))

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        if self.subgroup < 1:
            return self._groups._parts(distortions)
        return self.generator._parts((self._distortion, *distortions))


@register
@dataclass(frozen=True, repr=False)
class prevalence(Generator):
    """Another generator in a population of another prevalence (label shift).

        >>> from calibstat import generators
        >>> generators.prevalence(generators.calibrated(), 0.1).curve([0.1, 0.5, 0.9]).round(3)  # odds divided by 9
        array([0.012, 0.1  , 0.5  ])
        >>> y, p = generators.prevalence(generators.calibrated(), 0.01).sample(10_000, rng=1)
        >>> print(y.mean(), p.mean().round(2))  # given outcome 0 the mean prediction is 1/3
        0.0098 0.34

    The distribution of covariates and predictions given the outcome stays, so at every score the odds of outcome 1 are
    multiplied by the odds of the new rate over the odds of the old one.

    Parameters
    ----------
    generator : Generator
        The generator with the old prevalence.
    rate : float
        Probability of outcome 1 in the new population, between 0 and 1.

    Raises
    ------
    ValueError
        If the rate is not between 0 and 1, or `generator` has only one outcome.
    """

    generator: Generator
    rate: float

    def __post_init__(self) -> None:
        _check_generator(self.generator)
        if not 0 < self.rate < 1:
            raise ValueError(f"expected rate between 0 and 1, found {self.rate!r}")
        if not 0 < self._before < 1:
            raise ValueError(
                f"expected a generator with both outcomes, found one with outcome {settled(self._before):.0f} only"
            )

    @cached_property
    def _before(self) -> float:
        return sum(part.share * part.rate() for part in self.generator._parts(()))

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        """Draw outcomes first, then for each a row of the generator with this outcome."""
        y = random.random(n) < self.rate
        left = [n - np.count_nonzero(y), np.count_nonzero(y)]
        drawn: tuple[list[tuple[np.ndarray, np.ndarray]], list[tuple[np.ndarray, np.ndarray]]] = [], []
        while any(left):
            need = max(left[0] / (1 - self._before), left[1] / self._before)
            batch = int(min(need + 3 * np.sqrt(need / min(self._before, 1 - self._before)) + 1, BATCH))
            x, outcome, p = self.generator._rows(batch, random, distortions)
            for k in (0, 1):
                (rows,) = np.nonzero(outcome == k)
                rows = rows[: left[k]]
                drawn[k].append((x[rows], p[rows]))
                left[k] -= rows.size
        # rows are independent, so the first ones with each outcome can be taken
        (x0, p0), (x1, p1) = (tuple(map(np.concatenate, zip(*part, strict=True))) for part in drawn)
        x, p = np.empty(n, x0.dtype), np.empty(n)
        x[~y], x[y], p[~y], p[y] = x0, x1, p0, p1
        return x, y, p

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        positive, negative = self.rate / self._before, (1 - self.rate) / (1 - self._before)
        return [part.shifted(positive, negative) for part in self.generator._parts(distortions)]


@register
@dataclass(frozen=True, repr=False)
class groups(Generator):
    """Rows of named groups, each from another generator.

        >>> from calibstat import generators
        >>> too_low, too_high = generators.shift(-0.5, [0.5]), generators.shift(0.5, [0.5])
        >>> pooled = generators.groups({"a": (0.8, too_low), "b": (0.2, too_high)})
        >>> pooled.curve([0.5, too_low.sample(1)[1][0]])
        array([nan, 0.5])
        >>> x, y, p = pooled.sample_covariates(5, rng=1)
        >>> x, p.round(3)
        (array(['a', 'b', 'a', 'b', 'a'], dtype='<U1'), array([0.378, 0.622, 0.378, 0.622, 0.378]))

    Measures use the pooled rows, in which errors of groups may cancel. `sample_covariates` returns the groups.

    Parameters
    ----------
    members : mapping from name to (float, Generator)
        The probability of each group, which sum to 1, and its generator.

    Raises
    ------
    ValueError
        If there is no group, or probabilities are not positive or do not sum to 1.
    """

    members: Mapping[str, tuple[float, Generator]]

    def __post_init__(self) -> None:
        members = {str(name): (float(weight), family) for name, (weight, family) in self.members.items()}
        object.__setattr__(self, "members", members)
        weights = [weight for weight, _ in members.values()]
        if not (weights and min(weights) > 0 and abs(sum(weights) - 1) < 1e-9):
            raise ValueError(f"expected positive probabilities of groups that sum to 1, found {weights}")
        for _, family in members.values():
            _check_generator(family)

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        below = np.cumsum([weight for weight, _ in self.members.values()])
        group = np.searchsorted(below / below[-1], random.random(n), "right")
        y, p = np.empty(n, bool), np.empty(n)
        for k, (_, family) in enumerate(self.members.values()):
            (rows,) = np.nonzero(group == k)
            if rows.size:
                _, y[rows], p[rows] = family._rows(rows.size, random, distortions)
        return np.array(list(self.members))[group], y, p

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        return [
            replace(part, share=weight * part.share, group=name)
            for name, (weight, family) in self.members.items()
            for part in family._parts(distortions)
        ]


def _check_generator(family: object) -> None:
    if not isinstance(family, Generator):
        raise ValueError(f"expected a generator, found {family!r}")
