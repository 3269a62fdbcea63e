"""Alternatives to calibration: the probabilities that labels have, given the predictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import UnknownOption, is_among, short
from calibstat.digits import settled
from calibstat.generators.distortion import Distortion
from calibstat.generators.generator import Generator
from calibstat.generators.multiclass_generator import MulticlassGenerator

SLACK = 1e-6  # by which the probabilities of the classes may miss a sum of 1


@dataclass(frozen=True, eq=False)
class Alternative:
    """Probabilities of labels given the predictions.

    Attributes
    ----------
    words : str
        What it is, in words.
    of_predictions : callable
        The probability of outcome 1 for each prediction, shape (m,), or of each class, shape (n, K).
    """

    words: str
    of_predictions: Callable[[np.ndarray], np.ndarray]

    def truth(self, predicted: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Return the checked probabilities at these predictions; `rows` are all rows' predictions, if any."""
        return checked(self.of_predictions(predicted), predicted, self.words)

    def take(self, rows: np.ndarray) -> Alternative:
        """Return the alternative for these rows of the predictions."""
        return self


@dataclass(frozen=True, eq=False)
class GivenProbabilities(Alternative):
    """Given true probabilities, one for each row, or for each distinct prediction of a `Sample`.

    Rows with the same prediction get the mean of theirs, which is the calibration curve there.
    """

    given: np.ndarray

    def truth(self, predicted: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        given = self.given
        if rows is not None and predicted.ndim == 1:
            if given.shape != rows.shape:
                raise ValueError(f"expected true probabilities of shape {rows.shape}, found shape {given.shape}")
            index = np.searchsorted(predicted, rows)
            given = np.bincount(index, checked(given, rows, self.words)) / np.bincount(index)
        return checked(given, predicted, self.words)

    def take(self, rows: np.ndarray) -> GivenProbabilities:
        return GivenProbabilities(self.words, self.of_predictions, self.given[rows])


def checked(truth: ArrayLike, predicted: np.ndarray, words: str) -> np.ndarray:
    """Return true probabilities as float64; raise if they are of another shape, not probabilities, or do not sum to 1.

    Probabilities of K classes keep the type of the predictions, as labels are drawn from either by the same kernel.
    """
    prob = np.asarray(truth, np.float64)
    if prob.shape != predicted.shape:
        raise ValueError(f"expected true probabilities of shape {predicted.shape} from {words}, found {prob.shape}")
    bad = ~((prob >= 0) & (prob <= 1))
    if bad.any():
        first = np.unravel_index(int(bad.argmax()), bad.shape)
        raise ValueError(
            f"expected probabilities from 0 to 1 from {words}, found {prob[first]} at prediction {predicted[first]}"
        )
    if prob.ndim == 2:
        off = np.abs(prob.sum(axis=1) - 1)
        if off.max() > max(SLACK, 4 * prob.shape[1] * np.finfo(predicted.dtype).eps):
            row = int(off.argmax())
            total = prob[row].sum()
            raise ValueError(f"expected probabilities that sum to 1 from {words}, found {total} at row {row}")
    return np.ascontiguousarray(prob, predicted.dtype)


def size(truth: np.ndarray, predicted: np.ndarray, count: np.ndarray | None = None) -> float:
    """Return the ECE of an alternative: the mean of abs(q - v) over the rows, or of half its sum over K classes."""
    off = np.abs(truth - predicted)
    return float(np.average(off if off.ndim == 1 else off.sum(axis=1) / 2, weights=count))


def distorted(temperature: float = 1.0, shift: float = 0.0) -> Alternative:
    """Return the alternative whose log-odds are the predictions' log-odds / `temperature` + `shift`.

    A temperature above 1 means that the predictions are over-confident, a shift above 0 that events are more frequent
    than predicted (`generators.shift` moves the predictions, so its sign is the opposite one). Predictions of 0 and 1
    stay. Of K classes the probabilities are proportional to v**(1 / temperature); of more than two there is no shift,
    which is of one outcome.
    """
    if not isinstance(temperature, int | float | np.number) or not 0 < temperature < np.inf:
        raise ValueError(f"expected temperature positive and finite, found {short(temperature)}")
    if not isinstance(shift, int | float | np.number):
        raise ValueError(f"expected shift finite, found {short(shift)}")
    temperature, shift = float(temperature), float(shift)
    one = Distortion(temperature=1 / temperature, shift=shift)
    parts = [f"temperature {settled(temperature):.3g}"] * (temperature != 1) + [f"shift {settled(shift):.3g}"] * (
        shift != 0
    )

    def of_predictions(predicted: np.ndarray) -> np.ndarray:
        from scipy.special import expit, logit

        if one.trivial:
            return predicted
        if predicted.ndim == 1:
            return expit(one.apply(logit(predicted)))
        if predicted.shape[1] == 2:
            first = expit(-one.apply(logit(predicted[:, 1].astype(np.float64))))
            return np.stack([first, 1 - first], axis=1)
        if shift != 0:
            raise ValueError("expected a temperature alone for several classes, found a shift, which is of one outcome")
        powers = predicted.astype(np.float64)
        powers /= powers.max(axis=1, keepdims=True)
        powers **= one.temperature
        return powers / powers.sum(axis=1, keepdims=True)

    return Alternative(", ".join(parts) or "calibrated", of_predictions)


@dataclass(frozen=True)
class Family:
    """Alternatives of one kind and direction, by their strength: 0 is calibrated.

    Attributes
    ----------
    name : str
        Its name in `ALTERNATIVES`.
    words : str
        What is wrong with the predictions then, up to the number.
    parameter : str
        "temperature" or "shift".
    sign : int
        The direction: the logarithm of the temperature, or the shift, is sign * strength.
    largest : float
        The largest strength that is tried.
    """

    name: str
    words: str
    parameter: str
    sign: int
    largest: float

    def value(self, strength: float) -> float:
        """Return the parameter at this strength."""
        return float(np.exp(self.sign * strength)) if self.parameter == "temperature" else self.sign * strength

    def say(self, strength: float) -> str:
        """Return the alternative in words, with two digits of what sets it apart from calibration."""
        value, calibrated = self.value(strength), self.value(0.0)
        off = abs(value - calibrated)
        finest = min(abs(value), off) or 1.0
        return f"{self.words} {settled(round(value, 1 - math.floor(math.log10(finest)))):.6g}"

    def at(self, strength: float) -> Alternative:
        """Return the alternative of this strength."""
        return distorted(**{self.parameter: self.value(strength)})


# To add a family of alternatives, add a line here.
ALTERNATIVES: Mapping[str, Family] = MappingProxyType(
    {
        family.name: family
        for family in (
            Family("over_confidence", "an over-confidence of temperature", "temperature", 1, 7.0),
            Family("under_confidence", "an under-confidence of temperature", "temperature", -1, 7.0),
            Family("shift_up", "a shift of", "shift", 1, 20.0),
            Family("shift_down", "a shift of", "shift", -1, 20.0),
        )
    }
)
SHOWN_FAMILIES = ("over_confidence", "shift_up")


def find_families(names: str | Sequence[str] | None, *, of_classes: bool) -> list[Family]:
    """Return the families of these names; by default over-confidence and, of a binary outcome, a shift upwards."""
    if names is None:
        names = SHOWN_FAMILIES[:1] if of_classes else SHOWN_FAMILIES
    names = list(names) if isinstance(names, Iterable) and not isinstance(names, str) else [names]
    for name in names:
        if not is_among(name, ALTERNATIVES):
            raise ValueError(f"expected families, some of {', '.join(ALTERNATIVES)}; found {short(name)}")
        if of_classes and ALTERNATIVES[name].parameter == "shift":
            raise ValueError(f"expected families of temperatures for several classes, found {name!r}")
    if not names:
        raise ValueError("expected at least one family, found none")
    return [ALTERNATIVES[name] for name in names]


GivenAlternative: TypeAlias = (
    str
    | Mapping[str, float]
    | ArrayLike
    | Callable[[np.ndarray], Any]
    | Generator
    | MulticlassGenerator
    | Alternative
    | None
)


def as_alternative(given: GivenAlternative) -> Alternative:
    """Return the alternative of a text, a mapping, a generator, an array or a callable, or an alternative itself."""
    if isinstance(given, Alternative):
        return given
    if given is None:
        raise ValueError("expected an alternative, such as 'temperature=1.4', for given predictions; found None")
    if isinstance(given, Generator):
        return Alternative(f"the calibration curve of {given!r}", given.curve)
    if isinstance(given, MulticlassGenerator):
        return Alternative(f"the outcome probabilities of {given!r}", _of_all_classes(given))
    if isinstance(given, str):
        return distorted(**_read(given))
    if isinstance(given, Mapping):
        for name in given:
            if name not in ("temperature", "shift"):
                raise UnknownOption("an alternative", name, ("temperature", "shift"))
        return distorted(**given)
    if callable(given):
        return Alternative(getattr(given, "__name__", "a function of the predictions"), given)
    try:
        array = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        array = np.array(0.0)
    if array.ndim not in (1, 2):
        raise ValueError(
            "expected an alternative such as 'temperature=1.4', {'shift': 0.3}, a generator, a function of the "
            f"predictions or an array of true probabilities; found {short(given)}"
        )
    return GivenProbabilities("the given probabilities", lambda predicted: array, array)


def _of_all_classes(generator: MulticlassGenerator) -> Callable[[np.ndarray], np.ndarray]:
    def conditional(predicted: np.ndarray) -> np.ndarray:
        if predicted.ndim == 1:
            raise ValueError(
                "expected a lens that shows all classes, 'canonical' or 'class_wise', for the outcome probabilities of "
                "a multiclass generator, found one of a single outcome"
            )
        return generator.conditional(predicted)

    return conditional


def _read(text: str) -> dict[str, float]:
    """Read a text such as "temperature=1.4, shift=0.3"."""
    values: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = (each.strip() for each in part.partition("="))
        try:
            if name not in ("temperature", "shift") or name in values:
                raise ValueError
            values[name] = float(value)
        except ValueError:
            raise ValueError(
                f"expected an alternative such as 'temperature=1.4' or 'shift=0.3', found {short(text)}"
            ) from None
    return values
