"""Binary generators with a single distribution of scores, calibrated or with a known distortion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.generators.distortion import Distortion
from calibstat.generators.distributions import Density, Points, Random, Scores, Uniform, find_distribution
from calibstat.generators.generator import Generator, Rows
from calibstat.generators.generator_table import register
from calibstat.generators.population import Part

__all__ = ["calibrated", "gaussian_mixture", "high_frequency", "shift", "temperature"]


class ScoreGenerator(Generator):
    """A generator with a single distribution of a score t, the covariate, which determines the prediction.

    By default the score is the true probability of outcome 1, and the prediction.
    """

    def _rows(self, n: int, random: Random, distortions: Sequence[Distortion]) -> Rows:
        part = self._part(distortions)
        t = part.distribution.draw(n, random)
        return t, random.random(n) < part.chance(t), part.predict(t)

    def _parts(self, distortions: Sequence[Distortion]) -> list[Part]:
        return [self._part(distortions)]

    def _part(self, distortions: Sequence[Distortion] = ()) -> Part:
        applied = tuple(d for d in (*self._own, *distortions) if not d.trivial)
        return Part(self, self._score_distribution, applied)

    @property
    def _own(self) -> tuple[Distortion, ...]:
        return ()

    @property
    def _score_distribution(self) -> Points | Density:
        raise NotImplementedError

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return t

    def _report(self, t: np.ndarray) -> np.ndarray:
        """Return the prediction before distortion, without the rounding of log-odds."""
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


class _Named(ScoreGenerator):
    """A generator whose distribution of scores is an argument."""

    distribution: Scores

    def __post_init__(self) -> None:
        if isinstance(self.distribution, Sequence | np.ndarray) and not isinstance(self.distribution, str):
            object.__setattr__(self, "distribution", tuple(float(v) for v in np.ravel(self.distribution)))
        _ = self._score_distribution, self._own

    @cached_property
    def _score_distribution(self) -> Points | Density:
        return find_distribution(self.distribution)


@register
@dataclass(frozen=True, repr=False)
class calibrated(_Named):
    """Perfectly calibrated predictions: v from any distribution, y ~ Bernoulli(v), reported v.

        >>> from calibstat import generators
        >>> y, p = generators.calibrated([0.2, 0.9]).sample(5, rng=1)
        >>> y, p
        (array([1, 1, 0, 1, 1]), array([0.9, 0.9, 0.2, 0.9, 0.2]))
        >>> round(generators.calibrated().truth("brier"), 12)  # E[v (1 - v)] = 1/6
        0.166666666667

    Every distance from calibration is 0, and the curve is the diagonal.

    Parameters
    ----------
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The distribution of v on [0, 1]: uniform; continuous, such as ``scipy.stats.beta(0.1, 0.1)``; equally likely
        values; or a mapping from value to probability.

    Raises
    ------
    ValueError
        If the distribution reaches outside [0, 1] or probabilities do not sum to 1.
    """

    distribution: Scores = "uniform"


@register
@dataclass(frozen=True, repr=False)
class temperature(_Named):
    """Over- or under-confidence: v from any distribution, y ~ Bernoulli(v), reported v^beta / (v^beta + (1 - v)^beta).

        >>> from calibstat import generators
        >>> generators.temperature(2).curve([0.2, 0.5, 0.8]).round(3)
        array([0.333, 0.5  , 0.667])
        >>> round(generators.temperature(2).truth("ece", n_bins=2), 6)  # ln(2)/2 - 1/4
        0.096574

    The log-odds of v are multiplied by beta: 1 is calibrated, more is over-confident, less is under-confident. The
    curve is the inverse map, with 1/beta for beta (Błasiok et al. 2023, section 10.1, arXiv:2211.16886).

    Parameters
    ----------
    beta : float
        Inverse temperature, positive.
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The distribution of v, not of the predictions; as for `calibrated`.

    Raises
    ------
    ValueError
        If `beta` is not positive and finite, or the distribution is wrong.
    """

    beta: float
    distribution: Scores = "uniform"

    def __post_init__(self) -> None:
        if not 0 < self.beta < np.inf:
            raise ValueError(f"expected beta positive and finite, found {self.beta!r}")
        super().__post_init__()

    @cached_property
    def _own(self) -> tuple[Distortion, ...]:
        return (Distortion(temperature=float(self.beta)),)


@register
@dataclass(frozen=True, repr=False)
class shift(_Named):
    """A wrong intercept: v from any distribution, y ~ Bernoulli(v), reported 1 / (1 + exp(-(logit(v) + delta))).

        >>> from calibstat import generators
        >>> generators.shift(0.5).curve([0.2, 0.5, 0.8]).round(3)
        array([0.132, 0.378, 0.708])

    A positive delta makes all predictions too high, events less frequent than predicted, a negative one too low. The
    curve is the shift by -delta, so Cox's calibration intercept is -delta. The alternative "shift=0.5" of `power` and
    `sample_size` has the other sign: it moves the true probabilities, so events are more frequent than predicted.

    Parameters
    ----------
    delta : float
        The number added to the log-odds of the true probability.
    distribution : "uniform", frozen scipy.stats distribution, sequence or mapping
        The distribution of v, not of the predictions; as for `calibrated`.

    Raises
    ------
    ValueError
        If `delta` is not finite, or the distribution is not as described.
    """

    delta: float
    distribution: Scores = "uniform"

    def __post_init__(self) -> None:
        if not np.isfinite(self.delta):
            raise ValueError(f"expected delta finite, found {self.delta!r}")
        super().__post_init__()

    @cached_property
    def _own(self) -> tuple[Distortion, ...]:
        return (Distortion(shift=float(self.delta)),)


class _TwoNormals(Density):
    """An equal mixture of N(-1, 1) and N(1, 1); 1e-19 of it is outside the grid."""

    @property
    def grid(self) -> np.ndarray:
        """Ends of equal panels, so narrow that predictions with a slope of 3 are smooth on each."""
        return np.linspace(-10, 10, 2049)

    def density(self, s: np.ndarray) -> np.ndarray:
        """Return the mean of the two densities."""
        return (np.exp(-((s - 1) ** 2) / 2) + np.exp(-((s + 1) ** 2) / 2)) / np.sqrt(8 * np.pi)

    def draw(self, n: int, random: Random) -> np.ndarray:
        """Draw n scores."""
        return random.standard_normal(n) + random.choice([-1.0, 1.0], n)


@register
@dataclass(frozen=True, repr=False)
class gaussian_mixture(ScoreGenerator):
    """Two normal classes and a logistic model: X | Y ~ N(Y, 1), Y = -1 or 1 equally likely.

        >>> from calibstat import generators
        >>> generators.gaussian_mixture(0, -2).curve([0.2, 0.5]).round(12)
        array([0.2, 0.5])

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
    """

    beta0: float
    beta1: float

    def __post_init__(self) -> None:
        if not (np.isfinite(self.beta0) and np.isfinite(self.beta1)):
            raise ValueError(f"expected finite coefficients, found {self.beta0!r} and {self.beta1!r}")

    @cached_property
    def _score_distribution(self) -> Points | Density:
        # with slope 0 all rows have one prediction, and half of them outcome 1, as at X = 0
        return _TwoNormals() if self.beta1 else Points(np.zeros(1), np.ones(1))

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


@register
@dataclass(frozen=True, repr=False)
class high_frequency(ScoreGenerator):
    """Errors that alternate: v uniform, E[y | v] = v + amplitude exp(-64 (v - 1/2)²) sin(2 pi k v), reported v.

        >>> from calibstat import generators
        >>> generators.high_frequency(2).curve([0.375, 0.5, 0.625]).round(4)
        array([0.2278, 0.5   , 0.7722])
        >>> [round(generators.high_frequency(k).truth("kernel_ce", kernel="gaussian"), 6) for k in (4, 8)]
        [0.001487, 2e-06]

    As k grows the errors of neighbours cancel: the smooth calibration error and the Laplace kernel's fall like
    1 / k, the Gaussian kernel's exponentially, so that it is not a consistent measure (Błasiok et al. 2023,
    theorem 8.6, arXiv:2211.16886). The unbinned error stays near amplitude / sqrt(16 pi).

    Parameters
    ----------
    k : int
        Number of waves from 0 to 1, at least 1, at most 1000.
    amplitude : float
        The largest error, above 0, at most 0.49: beyond, true probabilities would leave [0, 1].

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """

    k: int
    amplitude: float = 0.4

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or self.k != int(self.k) or not 1 <= self.k <= 1000:
            raise ValueError(f"expected k to be a whole number from 1 to 1000, found {self.k!r}")
        if not 0 < self.amplitude <= 0.49:
            raise ValueError(f"expected amplitude above 0 and at most 0.49, found {self.amplitude!r}")

    @cached_property
    def _score_distribution(self) -> Density:
        return Uniform(pieces=8 * int(self.k))  # panels on which a wave is smooth

    def _chance(self, t: np.ndarray) -> np.ndarray:
        error = self.amplitude * np.exp(-64 * (t - 0.5) ** 2) * np.sin(2 * np.pi * self.k * t)
        return np.clip(t + error, 0, 1)  # the sine vanishes at 0 and 1 so that only rounding is clipped
