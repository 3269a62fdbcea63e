"""Synthetic families of predictions and outcomes that know their truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from calibstat.laws import PANELS, Density, Points, law_of, same
from calibstat.measures.binned import number_of_bins
from calibstat.measures.registry import BoundMeasure, find_measure
from calibstat.sample import Sample

# Consistent plug-ins: their value on the population is what the estimate tends to. Seminorms need no entry.
PLUG_IN = frozenset({"ece", "ece_width", "kernel_ce", "smooth_ece", "mcb", "brier"})


class Generator:
    """What all families share: a law of a hidden score t, the prediction made from t, and the chance of outcome 1."""

    def sample(self, n: int, rng: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            Whatever `numpy.random.default_rng` takes.

        Returns
        -------
        y : ndarray of int64, shape (n,)
            Outcomes, 0 or 1.
        p : ndarray of float64, shape (n,)
            Predicted probabilities of outcome 1.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1.
        """
        if isinstance(n, bool) or n != int(n) or n < 1:
            raise ValueError(f"expected n to be a whole number of at least 1, found {n!r}")
        random = np.random.default_rng(rng)
        t = self._law().draw(int(n), random)
        y = random.random(int(n)) < self._chance(t)
        return y.astype(np.int64), self._predict(t)

    def truth(self, measure: str = "ece", **options: Any) -> float:
        """Return the measure of the population, which an estimate from n rows tends to as n grows.

        Parameters
        ----------
        measure : str
            A name in `calibstat.MEASURES`: any seminorm of the residual measure, and every measure that comes with
            calibstat.
        **options
            Options of the measure.

        Returns
        -------
        float
            For `ece_debiased` the binned L2 error; for the U-statistic of `kernel_ce` the squared kernel error.

        Raises
        ------
        ValueError
            If the measure or an option is unknown, or an option depends on n, as ``n_bins="cube_root"`` does.
        NotImplementedError
            If nobody has said what the population value of a registered measure is.

        Notes
        -----
        Finite laws are summed exactly. Other laws are integrated with Gauss-Legendre rules of 8 nodes on 512 panels
        and more, cut where the calibration curve crosses the diagonal and at the edges of bins, and narrowing where
        logarithms are singular. Bin sums, partial sums, `ks`, `kuiper`, `mcb` (all curves here are monotone) and mean
        scores are then off by less than 1e-9. The Laplace kernel has a kink within panels, and `smooth_ece` shares
        nodes out to a grid: both are off by less than 1e-5 for a bandwidth of at least 0.02.

        The log loss is that of exact arithmetic. Where a confident family makes predictions that round to 1 (at
        temperature 5, one row in 1e7 does and is wrong) estimates of it can be infinite; other measures see ties.
        """
        bound = find_measure(measure, options)
        bins = bound.options.get("n_bins")
        if isinstance(bins, str):
            raise ValueError(f"expected a number of bins, found {bins!r}, which depends on the number of rows")
        if measure == "ece_debiased":
            shared = {k: v for k, v in bound.options.items() if k in ("n_bins", "strategy")}
            return self.truth("ece", norm="l2", **shared)
        if measure == "kernel_ce" and bound.options["statistic"] == "U":
            return self.truth("kernel_ce", **{**bound.options, "statistic": "V"}) ** 2
        if measure == "log_loss":
            return self._log_loss()
        if measure not in PLUG_IN and not bound.measure.norm:
            known = "neither a seminorm of the residual measure nor one that comes with calibstat"
            raise NotImplementedError(f"the population value of measure {measure!r} is not known: it is {known}")
        return bound.estimate(self._population(bound))

    def curve(self, v: Any) -> np.ndarray:
        """Return the calibration curve, the probability of outcome 1 given the prediction.

        Parameters
        ----------
        v : array_like
            Predictions in [0, 1].

        Returns
        -------
        ndarray of float64
            Of the shape of `v`; nan at predictions that have no curve because the family never makes them.

        Raises
        ------
        ValueError
            If a prediction is not in [0, 1].
        """
        f = np.asarray(v, np.float64)
        if not np.all((f >= 0) & (f <= 1)):
            raise ValueError("expected predictions from 0 to 1")
        return np.asarray(self._curve(f), np.float64)

    def _law(self) -> Points | Density:
        raise NotImplementedError

    def _curve(self, f: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _predict(self, t: np.ndarray) -> np.ndarray:
        return t

    def _log_odds(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        return logit(self._predict(t))

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return t  # the score is the true probability, unless a family says otherwise

    def _population(self, bound: BoundMeasure) -> Sample:
        """Summarise the population by points and weights on which the measure takes its population value."""
        bins = number_of_bins(bound.options.get("n_bins", 1), np.nan)
        t, weight = self._law().nodes(self._predict, self._chance, bins, bound.options.get("strategy", "uniform"))
        return Sample.from_counts(self._predict(t), weight, weight * self._chance(t))

    def _log_loss(self) -> float:
        """Average the log loss on the scale of log-odds, on which a prediction near 1 does not round to 1."""
        t, weight = self._law().nodes(self._predict, self._chance, 1, "uniform")
        odds, chance = self._log_odds(t), self._chance(t)
        with np.errstate(invalid="ignore"):  # no chance of an infinite loss is no loss
            positive = np.where(chance > 0, chance * np.logaddexp(0, -odds), 0)
            negative = np.where(chance < 1, (1 - chance) * np.logaddexp(0, odds), 0)
        return float(weight @ (positive + negative) / weight.sum())


class _Scored(Generator):
    """A family whose scores, the true probabilities of outcome 1, follow a law that the user names."""

    distribution: Any

    def __post_init__(self) -> None:
        if isinstance(self.distribution, Sequence | np.ndarray) and not isinstance(self.distribution, str):
            object.__setattr__(self, "distribution", tuple(float(v) for v in np.ravel(self.distribution)))
        self._law()

    def _line(self) -> tuple[float, float]:
        """Slope and intercept from the log-odds of the score to those of the prediction."""
        return 1.0, 0.0

    def _law(self) -> Points | Density:
        return law_of(self.distribution)

    def _log_odds(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import logit

        slope, intercept = self._line()
        return intercept + slope * logit(t)

    def _predict(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        # to log-odds and back rounds, and a calibrated family would no longer be so
        return t if self._line() == (1.0, 0.0) else expit(self._log_odds(t))

    def _curve(self, f: np.ndarray) -> np.ndarray:
        from scipy.special import expit, logit

        slope, intercept = self._line()
        return f if (slope, intercept) == (1.0, 0.0) else expit((logit(f) - intercept) / slope)


@dataclass(frozen=True)
class calibrated(_Scored):
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


@dataclass(frozen=True)
class temperature(_Scored):
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

    def _line(self) -> tuple[float, float]:
        return float(self.beta), 0.0


@dataclass(frozen=True)
class shift(_Scored):
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

    def _line(self) -> tuple[float, float]:
        return 1.0, float(self.delta)


@dataclass(frozen=True)
class gaussian_mixture(Generator):
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

    def _law(self) -> Density:
        from scipy.special import ndtr

        return Density(
            np.linspace(-10, 10, PANELS + 1),  # 1e-19 of the mass lies outside
            same,
            lambda x: (np.exp(-((x - 1) ** 2) / 2) + np.exp(-((x + 1) ** 2) / 2)) / np.sqrt(8 * np.pi),
            lambda x: (ndtr(x - 1) + ndtr(x + 1)) / 2,
            lambda n, random: random.standard_normal(n) + random.choice([-1.0, 1.0], n),
        )

    def _log_odds(self, t: np.ndarray) -> np.ndarray:
        return self.beta0 + self.beta1 * t

    def _predict(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return expit(self._log_odds(t))

    def _chance(self, t: np.ndarray) -> np.ndarray:
        from scipy.special import expit

        return expit(-2 * t)

    def _curve(self, f: np.ndarray) -> np.ndarray:
        from scipy.special import expit, logit

        if self.beta1 == 0:
            return np.where(f == self._predict(np.zeros(1)), 0.5, np.nan)
        return expit(-2 * (logit(f) - self.beta0) / self.beta1)


@dataclass(frozen=True)
class hidden(Generator):
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

    def _law(self) -> Points:
        return Points(np.array([0.52, 0.58]), np.array([450.0, 550.0]))

    def _chance(self, t: np.ndarray) -> np.ndarray:
        return self._curve(t)

    def _curve(self, f: np.ndarray) -> np.ndarray:
        return np.select([f == 0.52, f == 0.58], [0.0, 1.0], np.nan)


GENERATORS: Mapping[str, type[Generator]] = MappingProxyType(
    {family.__name__: family for family in (calibrated, temperature, shift, gaussian_mixture, hidden)}
)
