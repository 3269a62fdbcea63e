"""The families that others are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.generators.base import Generator, Rows
from calibstat.generators.distortion import Distortion
from calibstat.generators.laws import Density, Points, TwoNormals, law_of
from calibstat.generators.population import Part


class Scores(Generator):
    """A family with one law of a score t, from which it reports a prediction; a score is its own covariate.

    As it stands, the score is the true probability of outcome 1 and is reported as it is.
    """

    def _rows(self, n: int, random: Any, distortions: Sequence[Distortion]) -> Rows:
        part = self._part(distortions)
        t = part.law.draw(n, random)
        return t, random.random(n) < part.chance(t), part.predict(t)

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        return [self._part(distortions)]

    def _part(self, distortions: Sequence[Distortion] = ()) -> Part:
        applied = tuple(d for d in (*self._own, *distortions) if not d.trivial)
        return Part(self, self._law, applied)

    def _predict(self, t: np.ndarray) -> np.ndarray:
        return self._part().predict(t)

    @property
    def _own(self) -> tuple[Distortion, ...]:
        return ()

    @property
    def _law(self) -> Points | Density:
        raise NotImplementedError

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return t

    def _report(self, t: np.ndarray) -> np.ndarray:
        """Return the prediction before distortion, without a detour over log-odds."""
        return t

    def _score_of_report(self, f: np.ndarray) -> np.ndarray:
        """Return the inverse of `_report`."""
        return f

    def _log_odds(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return logit(self._report(t))

    def _score(self, x: np.ndarray) -> np.ndarray:
        """Return the inverse of `_log_odds`."""
        from scipy.special import expit

        return expit(x)

    def _speed(self, x: np.ndarray) -> np.ndarray:
        """Return the derivative of `_score`, without its sign."""
        from scipy.special import expit

        return expit(x) * expit(-x)


class _Named(Scores):
    """A family whose law of scores the user names."""

    distribution: Any

    def __post_init__(self) -> None:
        if isinstance(self.distribution, Sequence | np.ndarray) and not isinstance(self.distribution, str):
            object.__setattr__(self, "distribution", tuple(float(v) for v in np.ravel(self.distribution)))
        _ = self._law, self._own

    @cached_property
    def _law(self) -> Points | Density:
        return law_of(self.distribution)


class _Table(Scores):
    """A family on finitely many numbered points, with arrays of weights, chances and predictions."""

    def _columns(self) -> tuple[Any, Any, Any]:
        raise NotImplementedError

    @cached_property
    def _table(self) -> np.ndarray:
        return np.array(self._columns(), np.float64)

    @cached_property
    def _law(self) -> Points:
        return Points(np.arange(self._table.shape[1]), self._table[0])

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return self._table[1][t]

    def _report(self, t: np.ndarray) -> np.ndarray:
        return self._table[2][t]


@dataclass(frozen=True, repr=False)
class calibrated(_Named):
    """Perfectly calibrated predictions: v from any law, y ~ Bernoulli(v), reported v.

    Every distance from calibration is 0, and the curve is the diagonal.

    Parameters
    ----------
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The law of v on [0, 1]: uniform; continuous, such as ``scipy.stats.beta(0.1, 0.1)``; equally likely values; or
        a mapping from value to probability.

    Raises
    ------
    ValueError
        If the law reaches outside [0, 1] or probabilities do not sum to 1.

    Examples
    --------
    >>> from calibstat import generators
    >>> y, p = generators.calibrated([0.2, 0.9]).sample(5, rng=1)
    >>> y, p
    (array([1, 1, 0, 1, 1]), array([0.9, 0.9, 0.2, 0.9, 0.2]))
    >>> round(generators.calibrated().truth("brier"), 12)  # E[v (1 - v)] = 1/6
    0.166666666667
    """

    distribution: Any = "uniform"


@dataclass(frozen=True, repr=False)
class temperature(_Named):
    """Over- or under-confidence: v from any law, y ~ Bernoulli(v), reported f = v^beta / (v^beta + (1 - v)^beta).

    The log-odds of v are multiplied by beta: 1 is calibrated, more is over-confident, less is under-confident. The
    curve is the inverse map, with 1/beta for beta (Błasiok et al. 2023, section 10.1, arXiv:2211.16886).

    Parameters
    ----------
    beta : float
        Inverse temperature, positive.
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The law of v, not of the predictions; as for `calibrated`.

    Raises
    ------
    ValueError
        If `beta` is not positive and finite, or the law is wrong.

    Examples
    --------
    >>> from calibstat import generators
    >>> generators.temperature(2).curve([0.2, 0.5, 0.8]).round(3)
    array([0.333, 0.5  , 0.667])
    >>> round(generators.temperature(2).truth("ece", n_bins=2), 6)  # ln(2)/2 - 1/4
    0.096574
    """

    beta: float
    distribution: Any = "uniform"

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise ValueError(f"expected beta positive and finite, found {self.beta!r}")
        super().__post_init__()

    @cached_property
    def _own(self) -> tuple[Distortion, ...]:
        return (Distortion(temperature=float(self.beta)),)


@dataclass(frozen=True, repr=False)
class shift(_Named):
    """A wrong intercept: v from any law, y ~ Bernoulli(v), reported 1 / (1 + exp(-(logit(v) + delta))).

    A positive delta predicts too much everywhere, a negative one too little. The curve is the shift by -delta, so
    Cox's calibration intercept is -delta.

    Parameters
    ----------
    delta : float
        What is added to the log-odds of the true probability.
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The law of v, not of the predictions; as for `calibrated`.

    Raises
    ------
    ValueError
        If `delta` is not finite, or the law is not as described.

    Examples
    --------
    >>> from calibstat import generators
    >>> generators.shift(0.5).curve([0.2, 0.5, 0.8]).round(3)
    array([0.132, 0.378, 0.708])
    """

    delta: float
    distribution: Any = "uniform"

    def __post_init__(self) -> None:
        if not np.isfinite(self.delta):
            raise ValueError(f"expected delta finite, found {self.delta!r}")
        super().__post_init__()

    @cached_property
    def _own(self) -> tuple[Distortion, ...]:
        return (Distortion(shift=float(self.delta)),)


@dataclass(frozen=True, repr=False)
class gaussian_mixture(Scores):
    """Two normal classes and a logistic model: X | Y ~ N(Y, 1), Y = -1 or 1 equally likely.

    The model predicts class -1, whose outcome is y = 1 here, with probability g1 = 1 / (1 + exp(-(beta0 + beta1 X)));
    in truth P(Y = -1 | X) = 1 / (1 + exp(2 X)). (0, -2) and (0, 0) are calibrated; for beta1 > 0 the curve falls
    (Vaicenavicius et al. 2019, section 5.1, arXiv:1902.06977).

    Parameters
    ----------
    beta0, beta1 : float
        Intercept and slope of the model. With slope 0 it makes one prediction only.

    Raises
    ------
    ValueError
        If a coefficient is not finite.

    Examples
    --------
    >>> from calibstat import generators
    >>> generators.gaussian_mixture(0, -2).curve([0.2, 0.5]).round(12)
    array([0.2, 0.5])
    """

    beta0: float
    beta1: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta0) and np.isfinite(self.beta1)):
            raise ValueError(f"expected finite coefficients, found {self.beta0!r} and {self.beta1!r}")

    @cached_property
    def _law(self) -> Points | Density:
        # with slope 0 all rows have one prediction, and half of them outcome 1, as at X = 0
        return TwoNormals() if self.beta1 else Points(np.zeros(1), np.ones(1))

    def _chance(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return expit(-2 * t)

    def _report(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return expit(self._log_odds(t))

    def _score_of_report(self, f: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return self._score(logit(f))

    def _log_odds(self, t: np.ndarray) -> np.ndarray:
        return self.beta0 + self.beta1 * t

    def _score(self, x: np.ndarray) -> np.ndarray:
        return (x - self.beta0) / self.beta1

    def _speed(self, x: np.ndarray) -> np.ndarray:
        return np.full(np.shape(x), 1 / abs(self.beta1))


@dataclass(frozen=True, repr=False)
class hidden(_Table):
    """Large errors that hide in one bin: of 1000 rows, 450 predict .52 and are all wrong, 550 predict .58, all right.

    As a law, the two predictions have probability .45 and .55 and outcome 0 and 1. With 10 equal bins the errors
    cancel and `ece` is .003, although no prediction is closer than .42 to its outcome (Nixon et al. 2019, appendix A,
    arXiv:1904.01685).

    Examples
    --------
    >>> from calibstat import generators
    >>> round(generators.hidden().truth("ece", n_bins=10), 12)
    0.003
    >>> generators.hidden().curve([0.52, 0.58])
    array([0., 1.])
    """

    def _columns(self) -> tuple[Any, Any, Any]:
        return (450, 550), (0, 1), (0.52, 0.58)


@dataclass(frozen=True, repr=False)
class domain(_Table):
    """A finite domain of covariates, on which the true distance from calibration is known: see `Generator.distance`.

    The points are numbered from 0. Two of them may have the same prediction, which then stands for both.

    Parameters
    ----------
    probability : sequence of floats
        The probability of each point, positive and of sum 1.
    chance : sequence of floats
        The probability of outcome 1 at each point, in [0, 1].
    prediction : sequence of floats
        The prediction at each point, in [0, 1].

    Raises
    ------
    ValueError
        If the three are not of one length of at least 1, or out of range.

    Examples
    --------
    Two laws of predictions and outcomes that are the same, at different distances from calibration (Błasiok et al.
    2023, lemma 4.5, arXiv:2211.16886):

    >>> from calibstat import generators
    >>> rare, common, prediction = 0.1 / 1.2, 0.5 - 0.1 / 1.2, (0.4, 0.4, 0.6, 0.6)
    >>> near = generators.domain((common, rare, rare, common), (0.4, 1, 0, 0.6), prediction)
    >>> far = generators.domain((common, rare, rare, common), (0.5, 0.5, 0.5, 0.5), prediction)
    >>> round(near.distance(), 6), round(far.distance(), 6), round(near.truth("ece") - far.truth("ece"), 12)
    (0.016667, 0.1, 0.0)
    """

    probability: Sequence[float]
    chance: Sequence[float]
    prediction: Sequence[float]

    def __post_init__(self) -> None:
        for name, column in zip(("probability", "chance", "prediction"), self._columns(), strict=True):
            object.__setattr__(self, name, tuple(float(v) for v in np.ravel(column)))
        sizes = [len(column) for column in self._columns()]
        if not sizes[0] or len(set(sizes)) > 1:
            raise ValueError(f"expected three sequences of one length of at least 1, found lengths {sizes}")
        if not (min(self.probability) > 0 and abs(sum(self.probability) - 1) < 1e-9):
            raise ValueError(f"expected positive probabilities that sum to 1, found {list(self.probability)}")
        for name, column in (("chance", self.chance), ("prediction", self.prediction)):
            if not all(0 <= v <= 1 for v in column):
                raise ValueError(f"expected {name} from 0 to 1, found {list(column)}")

    def _columns(self) -> tuple[Any, Any, Any]:
        return self.probability, self.chance, self.prediction
