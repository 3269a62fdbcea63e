"""Binary proper scores, each given as the Bregman divergence of a convex function.

A proper score is the distance of a convex function phi from its tangent: the loss of predicting v when y is observed is
d(y, v) = phi(y) - phi(v) - phi'(v) (y - v). If the outcome has frequency x, the mean loss of predicting v exceeds that
of predicting x by d(x, v).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from calibstat.data.checks import unknown_name
from calibstat.data.clipping import LEAST_CLIP, clipped, uncertain

Function = Callable[[np.ndarray], np.ndarray]
HALVINGS = 60  # of [0, 1], until a prediction is known to the last digits


@dataclass(frozen=True, repr=False)
class Bregman:
    """A binary proper score, given by a convex function.

        A score with large losses for missed rare outcomes (the divergence of Itakura and Saito, shifted to be finite):

        >>> import numpy as np
        >>> import calibstat as cs
        >>> rare = cs.Bregman("rare", lambda x: -np.log(x + 0.01), lambda x: -1 / (x + 0.01))
        >>> rare.loss(np.array([0.0, 1.0]), np.array([0.1, 0.1])).round(2)
        array([1.49, 5.96])

    Attributes
    ----------
    name : str
        The name, printed with every result.
    phi : callable
        ``phi(x)``, a convex function of an array of probabilities in [0, 1], finite everywhere.
    gradient : callable
        ``gradient(x)``, the derivative of `phi`; it may be infinite at 0 and 1.
    exact : callable or None
        ``exact(x, v)``, the divergence in a form without cancellation, or None if there is none.
    inverse : callable or None
        ``inverse(u)``, the prediction at which `gradient` is u, or None to search for it.
    """

    name: str
    phi: Function
    gradient: Function
    exact: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    inverse: Function | None = None

    def __repr__(self) -> str:
        return f"Bregman({self.name})"

    def loss(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return d(x, v), the excess mean loss of predicting v if the outcome has frequency x."""
        if self.exact is not None:
            return self.exact(x, v)
        x, v = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(v, np.float64))
        same = x == v
        with np.errstate(divide="ignore"):
            slope = self.gradient(v)
        gap = np.where(same, 0.0, self.phi(x) - self.phi(v))
        step = np.where(same, 0.0, x - v)
        return np.maximum(gap - np.multiply(slope, step, out=np.zeros(x.shape), where=~same), 0.0)

    def prediction(self, u: np.ndarray) -> np.ndarray:
        """Return the prediction at which the gradient is u; 0 or 1 beyond its range."""
        if self.inverse is not None:
            return self.inverse(u)
        low, high = np.zeros(u.shape), np.ones(u.shape)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            above = self.gradient(middle) > u
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (low + high) / 2

    def spread(self, u: np.ndarray) -> np.ndarray:
        """Return the derivative of the prediction by the gradient there, by a central difference."""
        step = 1e-6 / self.usual_spread
        return (self.prediction(u + step) - self.prediction(u - step)) / (2 * step)

    @property
    def usual_spread(self) -> float:
        """The mean of this derivative over the middle half of predictions."""
        low, high = self.gradient(np.array([0.25, 0.75]))
        return 0.5 / float(high - low)

    def gain(self, before: np.ndarray, after: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
        """Return by how much the total loss at each prediction falls."""
        if self.is_quadratic:
            return (before - after) * (count * (before + after) - 2 * positives)
        return total_loss(self, before, count, positives) - total_loss(self, after, count, positives)

    @property
    def is_quadratic(self) -> bool:
        """Whether the divergence is the squared difference."""
        return self.exact is _squared_difference

    @property
    def is_steep(self) -> bool:
        """Whether a certain prediction that is wrong has an infinite loss."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return not np.isfinite(self.gradient(np.array([0.0, 1.0]))).all()

    def inside(self, value: np.ndarray, clip: float | None, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the predictions clipped; raise if a certain one that may have an infinite loss is left.

        `rows` are the predictions row by row, for the message, if `value` is not.
        """
        return uncertain(value, clip, f"the {self.name} score", rows=rows) if self.takes(clip) else value

    def moved(self, value: np.ndarray, clip: float | None) -> np.ndarray:
        """Return the predictions clipped; certain ones may be left."""
        return clipped(value, clip) if self.takes(clip) else value

    def clip_of_population(self, clip: float | None, finite: bool) -> float | None:
        """Return the clip for a population: in a continuous one predictions of 0 and 1 are rounded, not certain."""
        return LEAST_CLIP if self.is_steep and not finite and clip is None else clip

    def takes(self, clip: float | None) -> bool:
        """Whether certain predictions can have an infinite loss; raise if they cannot and a `clip` is given."""
        if clip is not None and not self.is_steep:
            raise ValueError(f"expected no clip with the {self.name} score, finite at 0 and 1; found clip={clip!r}")
        return self.is_steep


def _squared_difference(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (x - v) ** 2


def _relative_entropy(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of two Bernoulli distributions, in two terms of at least 0: nothing cancels."""
    x, v = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(v, np.float64))
    return _entropy_term(x, v) + _entropy_term(1 - x, 1 - v)


def _entropy_term(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return x log(x / v) - x + v, from its deviation where the two are close."""
    from scipy.special import xlogy

    close = np.abs(v - x) < x / 2
    deviation = np.divide(v - x, x, out=np.zeros(x.shape), where=close)
    apart = v - x + xlogy(x, x) - xlogy(x, v)
    return np.maximum(np.where(close, x * (deviation - np.log1p(deviation)), apart), 0.0)


def _negative_entropy(x: np.ndarray) -> np.ndarray:
    from scipy.special import xlog1py, xlogy

    return xlogy(x, x) + xlog1py(1 - x, -x)


def _log_odds(x: np.ndarray) -> np.ndarray:
    from scipy.special import logit

    return logit(x)


def _length(x: np.ndarray) -> np.ndarray:
    return np.hypot(x, 1 - x)


def _chord(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return the length of (x, 1 - x) times 1 minus the cosine of its angle to (v, 1 - v)."""
    cross = x - v  # x (1 - v) - v (1 - x)
    dot = x * v + (1 - x) * (1 - v)
    product = _length(x) * _length(v)
    return cross**2 / (_length(v) * (product + dot))


def _of_log_odds(u: np.ndarray) -> np.ndarray:
    from scipy.special import expit

    return np.asarray(expit(u))


def _of_spherical(u: np.ndarray) -> np.ndarray:
    """Return (1 + t) / 2, where u = t / sqrt((1 + t**2) / 2)."""
    u = np.clip(u, -1, 1)
    return (1 + u / np.sqrt(2 - u * u)) / 2


BRIER = Bregman("brier", np.square, lambda x: 2 * x, _squared_difference)
LOG_LOSS = Bregman("log_loss", _negative_entropy, _log_odds, _relative_entropy, _of_log_odds)
SPHERICAL = Bregman("spherical", _length, lambda x: (2 * x - 1) / _length(x), _chord, _of_spherical)
BREGMANS: Mapping[str, Bregman] = MappingProxyType({entry.name: entry for entry in (BRIER, LOG_LOSS, SPHERICAL)})


def find_score(score: object) -> Bregman:
    """Return the score of this name, or the score itself."""
    if isinstance(score, Bregman):
        return score
    if isinstance(score, str) and score in BREGMANS:
        return BREGMANS[score]
    raise unknown_name("a score", score, BREGMANS, " or a Bregman")


def total_loss(score: Bregman, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the total loss at each distinct prediction; an outcome without rows adds 0."""
    negatives = count - positives
    total = np.zeros(np.shape(value))
    for rows, outcome in ((positives, 1.0), (negatives, 0.0)):
        present = rows > 0
        total[present] += rows[present] * score.loss(np.full(present.sum(), outcome), value[present])
    return total
