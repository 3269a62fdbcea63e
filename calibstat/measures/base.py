"""What every measure has, and what is known about one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.measures.linear_form import Form, RowForm
from calibstat.measures.population_value import VectorPopulation


@dataclass(frozen=True)
class Info:
    """What is known about a measure; tests check the claims of those that calibstat registers.

    Attributes
    ----------
    title, formula, reference : str
        Its name in prose, its definition in LaTeX, and its source with DOI or arXiv number.
    bounds : tuple of two floats
        The range of its values.
    tail : {"greater", "two-sided"}
        Which values speak against calibration.
    complete, sound, continuous : bool
        Zero if calibrated; zero only if calibrated; continuous in the predictions.
    symmetric : bool
        Unchanged when outcomes and predictions are both reversed; of a multiclass measure, when the classes are put in
        another order (but for ties).
    resolution : float
        The largest jump that a vanishing change of the predictions may cause in a continuous measure (0 but for
        grids).
    slow_above : float
        Of more observations than this a test or an interval by it takes minutes, so that a loop over all measures
        leaves it out, and says so; 0: always.
    resamples : int
        How often a test or an interval by it draws by default.
    """

    title: str = ""
    formula: str = ""
    reference: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    tail: Literal["greater", "two-sided"] = "greater"
    complete: bool = True
    sound: bool = True
    continuous: bool = False
    symmetric: bool = True
    resolution: float = 0.0
    slow_above: float = math.inf
    resamples: int = 999


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measure of calibration: a frozen class whose fields are its options.

    Attributes
    ----------
    name : str
        Its name in `calibstat.MEASURES`.
    info : Info
        What is known about it.
    options : dict
        Its options by name; `defaults` gives those of the class.
    has_form : bool
        Whether an honest interval is known.
    makes_cells : bool
        Whether the cells depend on the sample, and can be held.
    """

    name: ClassVar[str] = ""
    info: ClassVar[Info] = Info()
    is_mean: ClassVar[bool] = False  # whether it is a mean of losses
    takes_logarithms: ClassVar[bool] = False  # of probabilities, for its value on a population

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            object.__setattr__(self, name, _plain(value))
        self.check()

    def check(self) -> None:
        """Raise a ValueError if an option is wrong."""

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the options by name, with their defaults.

        Returns
        -------
        dict

        Examples
        --------
        >>> import calibstat as cs
        >>> cs.MEASURES["ece"].defaults()
        {'n_bins': 15, 'strategy': 'uniform', 'norm': 'l1'}
        """
        return {field.name: field.default for field in fields(cls)}

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"

    def with_options(self, options: dict[str, Any]) -> Self:
        """Return the measure with these options changed."""
        return replace(self, **options) if options else self

    def __str__(self) -> str:
        default = self.defaults()
        given = [f"{name}={value!r}" for name, value in self.options.items() if value != default[name]]
        return f"{self.name}({', '.join(given)})" if given else self.name

    def draws(self, n_resamples: int | None) -> int:
        """Return how often to draw: as often as asked, or as is usual for the measure."""
        return self.info.resamples if n_resamples is None else n_resamples

    def check_probabilities(self, prob: np.ndarray) -> None:
        """Raise if these predictions, of any shape, have no finite value under these options."""

    @property
    def has_form(self) -> bool:
        """Whether an honest interval is known."""
        return False

    @property
    def makes_cells(self) -> bool:
        """Whether the cells depend on the sample, and can be held."""
        return False

    def multiclass(self) -> MulticlassMeasure | None:
        """Return its form for whole predicted vectors, or None if it has none."""
        return None


class MulticlassMeasure(Measure, ABC):
    """A measure of predictions of K classes, shape (n, K), and labels, shape (n,), int64 from 0 to K - 1."""

    @abstractmethod
    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        """Return the measure."""

    def batch(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the measure for each row of labels, shape (B, n)."""
        return np.array([self.evaluate(prob, label) for label in labels])

    def detail(self, prob: np.ndarray, label: np.ndarray) -> dict[str, Any]:
        """Return what the measure knows beyond its value."""
        return {}

    @property
    def depends_on_order(self) -> bool:
        """Whether the measure depends on the order of the rows, which is then left as it is."""
        return False

    @property
    def refits_cells(self) -> bool:
        """Whether there are cells of which resampled rows get their own."""
        return False

    def population_value(self, population: VectorPopulation) -> float:
        """Return what estimates tend to as n grows, or raise NotImplementedError with the reason why it is unknown."""
        raise NotImplementedError("it is not a sum over cells that are the same for every sample")

    def multiclass(self) -> MulticlassMeasure | None:
        return self

    @property
    def has_form(self) -> bool:
        """Whether an honest interval is known."""
        return False

    def linear_form(self, predictions: Predictions) -> Form:
        """Return what the honest interval is made of."""
        raise NotImplementedError(f"no honest interval is known for {self}")

    def row_form(self, predictions: Predictions) -> RowForm | None:
        """Return the same row by row, for clusters and for comparisons of models."""
        return None


def _plain(value: Any) -> Any:
    """Return a sequence of numbers, such as cuts, as a tuple of plain ones, which can be compared and printed."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
