"""The families that others are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat.generators.base import Generator, Rows
from calibstat.generators.distortion import Distortion
from calibstat.generators.laws import Density, Points, TwoNormals, Uniform, law_of
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


@dataclass(frozen=True, repr=False)
class quadratic_gap(_Table):
    """Two worlds with one law of predictions and outcomes, of which one is much nearer to calibration.

    The points 00, 01, 10, 11 have probabilities 1/2 - q, q, q, 1/2 - q with q = alpha / (1 + 2 alpha); the prediction
    is 1/2 - alpha at the first two and 1/2 + alpha at the others. In variant 1 the chances of outcome 1 are 1/2 -
    alpha, 1, 0 and 1/2 + alpha, so that predicting 1/2 at 01 and 10 would be calibrated: the true distance is 2 alpha²
    / (1 + 2 alpha). In variant 2 they are 1/2 everywhere and the distance is alpha. No measure of predictions and
    outcomes can tell which it is (Błasiok et al. 2023, lemma 4.5, arXiv:2211.16886).

    Parameters
    ----------
    alpha : float
        Above 0, at most 1/2.
    variant : {1, 2}
        Which of the two worlds.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> near, far = generators.quadratic_gap(0.1), generators.quadratic_gap(0.1, variant=2)
    >>> round(near.distance(), 6), round(far.distance(), 6), round(near.truth("ece") - far.truth("ece"), 12)
    (0.016667, 0.1, 0.0)
    """

    alpha: float
    variant: int = 1

    def __post_init__(self) -> None:
        if not 0 < self.alpha <= 0.5:
            raise ValueError(f"expected alpha above 0 and at most 1/2, found {self.alpha!r}")
        if self.variant not in (1, 2):
            raise ValueError(f"expected variant 1 or 2, found {self.variant!r}")

    def _columns(self) -> tuple[Any, Any, Any]:
        low, high, rare = 0.5 - self.alpha, 0.5 + self.alpha, self.alpha / (1 + 2 * self.alpha)
        chance = (low, 1, 0, high) if self.variant == 1 else (0.5,) * 4
        return (0.5 - rare, rare, rare, 0.5 - rare), chance, (low, low, high, high)


@dataclass(frozen=True, repr=False)
class interval_gap(_Table):
    """Variant 1 of `quadratic_gap` with the predictions at 01 and 10 moved a little, so that all four differ.

    Post-processing can then treat 01 and 10 apart from 00 and 11: with q = alpha / (1 + 2 alpha) the true and the upper
    distance are 2 q (alpha + shift) for a small shift, where the upper distance was alpha without any. Intervals can do
    so only if 01 and 10 moved inwards (shift < 0), and then at a cost of 4 q (alpha + shift); else the interval
    calibration error stays near alpha. So both jump at shift 0 (Błasiok et al. 2023, lemmas 6.8 and 6.9,
    arXiv:2211.16886).

    Parameters
    ----------
    alpha : float
        Between 0 and 1/2.
    shift : float
        How far the predictions at 01 and 10 are beyond 1/2 - alpha and 1/2 + alpha, above -alpha, at most 1/2 - alpha.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> family = generators.interval_gap(0.1, shift=0.02)
    >>> round(family.distance(), 6), round(family.truth("upper_distance"), 6)
    (0.02, 0.02)
    """

    alpha: float
    shift: float

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 0.5:
            raise ValueError(f"expected alpha between 0 and 1/2, found {self.alpha!r}")
        if not -self.alpha < self.shift <= 0.5 - self.alpha:
            raise ValueError(f"expected shift above -alpha and at most 1/2 - alpha, found {self.shift!r}")

    def _columns(self) -> tuple[Any, Any, Any]:
        weight, chance, (low, _, _, high) = quadratic_gap(self.alpha)._columns()
        return weight, chance, (low, low - self.shift, high + self.shift, high)


@dataclass(frozen=True, repr=False)
class two_point(_Table):
    """Two equally likely points with outcome 1 and 0, for which 1/2 + epsilon and 1/2 - epsilon are predicted.

    At epsilon 0 this is calibrated; beside it the unbinned calibration error is 1/2 - epsilon, although predictions
    need to move by abs(epsilon) only (Błasiok et al. 2023, section 1, arXiv:2211.16886). Below 0 the predictions are
    the wrong way round.

    Parameters
    ----------
    epsilon : float
        From -1/2 to 1/2.

    Raises
    ------
    ValueError
        If `epsilon` is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> [generators.two_point(epsilon).truth("ece", n_bins=2) for epsilon in (0, 0.01)]
    [0.0, 0.49]
    >>> round(generators.two_point(0.01).distance(), 12)
    0.01
    """

    epsilon: float

    def __post_init__(self) -> None:
        if not -0.5 <= self.epsilon <= 0.5:
            raise ValueError(f"expected epsilon from -1/2 to 1/2, found {self.epsilon!r}")

    def _columns(self) -> tuple[Any, Any, Any]:
        return (0.5, 0.5), (1, 0), (0.5 + self.epsilon, 0.5 - self.epsilon)


@dataclass(frozen=True, repr=False)
class high_frequency(Scores):
    """Errors that alternate: v uniform, E[y | v] = v + amplitude exp(-64 (v - 1/2)²) sin(2 pi k v), reported v.

    As k grows the errors of neighbours cancel: the smooth calibration error and that of the Laplace kernel fall like
    1 / k, that of the Gaussian kernel exponentially, so that it is not a consistent measure (Błasiok et al. 2023,
    theorem 8.6, arXiv:2211.16886). The unbinned error stays near amplitude / sqrt(16 pi).

    Parameters
    ----------
    k : int
        Number of waves from 0 to 1, at least 1, at most 1000.
    amplitude : float
        The largest error, above 0, at most 0.49: beyond, chances would leave [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> from calibstat import generators
    >>> generators.high_frequency(2).curve([0.375, 0.5, 0.625]).round(4)
    array([0.2278, 0.5   , 0.7722])
    >>> [round(generators.high_frequency(k).truth("kernel_ce", kernel="gaussian"), 6) for k in (4, 8)]
    [0.002118, 3e-06]
    """

    k: int
    amplitude: float = 0.4

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or self.k != int(self.k) or not 1 <= self.k <= 1000:
            raise ValueError(f"expected k to be a whole number from 1 to 1000, found {self.k!r}")
        if not 0 < self.amplitude <= 0.49:
            raise ValueError(f"expected amplitude above 0 and at most 0.49, found {self.amplitude!r}")

    @cached_property
    def _law(self) -> Density:
        return Uniform(pieces=8 * int(self.k))  # panels on which a wave is smooth

    def _chance(self, t: np.ndarray) -> np.ndarray:
        error = self.amplitude * np.exp(-64 * (t - 0.5) ** 2) * np.sin(2 * np.pi * self.k * t)
        return np.clip(t + error, 0, 1)  # the sine vanishes at 0 and 1 so that only rounding is clipped
