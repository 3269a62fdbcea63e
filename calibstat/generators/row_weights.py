"""Weights of rows: noise, and factors that depend on prediction and outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.data.checks import is_number, short
from calibstat.generators.distributions import Random


@dataclass(frozen=True)
class Weights:
    """Weights that are a product: noise, a function of the prediction, and a factor of the outcome.

        >>> from calibstat import generators
        >>> bank = generators.calibrated([0.1, 0.3])
        >>> bank.sample(5, rng=1, weights=generators.Weights(outcome=(10, 1))).weight
        array([10., 10., 10., 10.,  1.])

    The weight of a row of prediction p and outcome y is ``noise * exp(prediction * p) * outcome[y]``. All parts are
    positive, and the noise depends on nothing.

    Parameters
    ----------
    cv : float
        The coefficient of variation of the noise, at least 0: a gamma variable of mean 1. At 0 there is no noise.
    prediction : float or sequence of K floats
        The coefficient of the predicted probability of outcome 1, or of the last class; or one for each class, whose
        products with the predicted probabilities are added up.
    outcome : sequence of K floats, optional
        A positive factor for each outcome: ``(10, 1)`` where only one in ten of the rows of outcome 0 was kept. By
        default all are 1.

    Raises
    ------
    ValueError
        If a number is not finite or out of range.

    See Also
    --------
    reweighted : The population in which rows count by such weights, whose `truth` weighted estimates tend to.
    reweighted_classes : The same of K classes.
    """

    cv: float = 0.0
    prediction: float | Sequence[float] = 0.0
    outcome: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if not is_number(self.cv) or not 0 <= self.cv < np.inf:
            raise ValueError(f"expected cv of at least 0 and finite, found {short(self.cv)}")
        for name in ("prediction", "outcome"):
            given = getattr(self, name)
            if given is None and name == "outcome":
                continue
            try:
                number = np.asarray(given, np.float64)
            except (TypeError, ValueError):
                raise ValueError(f"expected {name} of numbers, found {short(given)}") from None
            if number.ndim != 1 and (number.ndim or name == "outcome"):
                raise ValueError(f"expected {name} of a number for each class, found {short(given)}")
            if not np.all(np.isfinite(number)) or (name == "outcome" and not np.all(number > 0)):
                positive = " and positive" if name == "outcome" else ""
                raise ValueError(f"expected {name} of finite{positive} numbers, found {short(given)}")
            object.__setattr__(self, name, tuple(number.tolist()) if number.ndim else float(number))

    def draw(self, y: np.ndarray, p: np.ndarray, random: Random) -> np.ndarray:
        """Draw the weights of rows."""
        weight = np.exp(self.exponent(p)) * np.array(self.factors(p.shape[1] if p.ndim > 1 else 2))[y]
        return weight * random.gamma(1 / self.cv**2, self.cv**2, y.size) if self.cv else weight

    def exponent(self, p: np.ndarray) -> np.ndarray:
        """Return the logarithm of the factor of the prediction."""
        coefficients = np.array(self.coefficients(p.shape[1] if p.ndim > 1 else 2))
        return p @ coefficients if p.ndim > 1 else (1 - p) * coefficients[0] + p * coefficients[1]

    def coefficients(self, classes: int) -> tuple[float, ...]:
        """Return the coefficient of the predicted probability of each class."""
        if isinstance(self.prediction, tuple):
            return self._of_classes("prediction", self.prediction, classes)
        assert isinstance(self.prediction, float)
        return (*(0.0,) * (classes - 1), self.prediction)

    def factors(self, classes: int) -> tuple[float, ...]:
        """Return the factor of each outcome."""
        given = (1.0,) * classes if self.outcome is None else tuple(self.outcome)
        return self._of_classes("outcome", given, classes)

    def check(self, classes: int) -> None:
        """Raise unless there is a number for each class."""
        self.coefficients(classes), self.factors(classes)

    @staticmethod
    def _of_classes(name: str, given: tuple[float, ...], classes: int) -> tuple[float, ...]:
        if len(given) != classes:
            raise ValueError(f"expected {name} of {classes} numbers, one for each class, found {len(given)}")
        return given


def find_weights(given: str | Weights, classes: int) -> Weights:
    """Return the weights of a name for so many classes, or those given, or raise."""
    rising = tuple(np.linspace(1, 2, classes).tolist())
    named = {
        "independent": Weights(cv=1.0),
        "related": Weights(cv=1.0, prediction=1.0, outcome=rising),
        "determined": Weights(prediction=1.0, outcome=rising),
    }
    if isinstance(given, str) and given in named:
        return named[given]
    if not isinstance(given, Weights):
        raise ValueError(f"expected weights 'independent', 'related', 'determined' or Weights, found {short(given)}")
    given.check(classes)
    return given
