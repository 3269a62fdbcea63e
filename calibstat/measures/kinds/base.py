"""Base classes of measures, and the record of their known properties."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np

from calibstat.bounds.absolute_norms import OfClasses
from calibstat.bounds.intervals import Interval
from calibstat.bounds.mean_interval import RowLosses
from calibstat.data.predictions import Predictions
from calibstat.data.retired_words import refuse_retired_members
from calibstat.data.sample import Sample
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.population_value import VectorPopulation

Honest = Literal["norm", "mean", "own", "proven", ""]


@dataclass(frozen=True)
class Info:
    """Known properties of a measure; tests check them for the measures of calibstat.

    Attributes
    ----------
    title, formula, reference : str
        The name in prose, the definition in LaTeX, and the source with DOI or arXiv number.
    bounds : tuple of two floats
        The range of the values.
    tail : {"greater", "two-sided"}
        Which values are evidence against calibration.
    complete, sound, continuous : bool
        Zero if calibrated; zero only if calibrated; continuous in the predictions.
    symmetric : bool
        Unchanged when outcomes and predictions are both reversed, y to 1 - y and v to 1 - v; for a multiclass measure,
        when the classes are permuted (except for ties).
    resolution : float
        The largest jump that a vanishing change of the predictions may cause in a continuous measure; 0 unless it is
        computed on a grid.
    slow_above : float
        The number of observations above which a test or an interval takes minutes, so that a loop over all measures
        leaves this one out, and says so; 0: always.
    resamples : int
        The default number of resamples of a test or an interval.
    no_interval : str
        Why no honest interval is known.
    larger_is_better : bool
        Whether larger values are better, as of a net benefit.
    for_tests_only : bool
        Whether the value is a number with no unit that does not say how far predictions are off: only its p-value is
        reported, and what drove it.
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
    no_interval: str = ""
    larger_is_better: bool = False
    for_tests_only: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Measure:
    """A measure of calibration: a frozen class whose fields are its options.

    This is the base of all kinds; define a measure by a kind of it, such as `Statistic`, `Seminorm`, `Binned`,
    `MeanLoss`, `VectorStatistic` or `VectorBinned`.

    Attributes
    ----------
    name : str
        The name in `calibstat.MEASURES`.
    info : Info
        Its known properties.
    options : dict
        The options by name; `defaults` gives the class's.
    honest : {"norm", "mean", "own", "proven", ""}
        How the honest interval is made: a norm on sums of residuals, a mean of losses, an interval of its own, or one
        of its own that also has a high end proven for any number of rows; "" where none is known.
    has_form : bool
        Whether an honest interval is known.
    has_cells_of_data : bool
        Whether the cells depend on the sample, so that resamples can keep the cells of the data.
    """

    name: ClassVar[str] = ""
    info: ClassVar[Info] = Info()
    is_proper: ClassVar[bool] = (
        False  # a proper score: a calibration error plus what predictions of any size tell apart
    )
    takes_logarithms: ClassVar[bool] = False  # its value on a population needs the logarithms of probabilities
    # distinct predictions from which its power is computed, of more from groups of close ones: half a per cent of the
    # largest sums of `ks`
    most_values: ClassVar[int] = 8192

    def __init_subclass__(cls) -> None:
        refuse_retired_members(cls)

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

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the values with these options, of a mean of losses the range of a row's loss."""
        return self.info.bounds

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({written_options(self.options)})"

    @property
    def named(self) -> NamedMeasure:
        """The measure as results name it."""
        default = self.defaults()
        given = {name: value for name, value in self.options.items() if value != default[name]}
        return NamedMeasure(self.name, written_options(given), self.info.title, self.has_form)

    def __str__(self) -> str:
        return str(self.named)

    def draws(self, n_resamples: int | None) -> int:
        """Return the number of resamples: the given one, or the default of the measure."""
        return self.info.resamples if n_resamples is None else n_resamples

    def check_probabilities(self, prob: np.ndarray) -> None:
        """Raise a ValueError if the measure of these predictions, of any shape, is not finite under the options."""

    @property
    def honest(self) -> Honest:
        """The way in which the honest interval is made; "" where none is known."""
        return ""

    @property
    def has_form(self) -> bool:
        """Whether an honest interval is known."""
        return self.honest != ""

    @property
    def has_cells_of_data(self) -> bool:
        """Whether the cells depend on the sample, so that resamples can keep the cells of the data."""
        return False

    @property
    def why_no_interval(self) -> str:
        """The reason why no honest interval is known under these options, for messages."""
        return self.info.no_interval

    @property
    def condition(self) -> str:
        """The condition on these rows under which the honest interval holds, for the sentence on its aim."""
        return ""

    def multiclass(self) -> MulticlassMeasure | None:
        """Return the measure of several classes jointly that belongs to this one, or None."""
        return None


class MulticlassMeasure(Measure, ABC):
    """A measure of predictions of K classes, shape (n, K), and labels, shape (n,), int64 from 0 to K - 1.

    This is the base of the multiclass kinds. A measure has to define `evaluate`; the other methods have
    defaults, to be overridden where more is known.
    """

    why_no_weights: ClassVar[str] = "it is not known for rows that count differently"

    @abstractmethod
    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        """Return the measure of predictions, shape (n, K), and labels, shape (n,)."""

    def weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray, cell: np.ndarray | None) -> float:
        """Return the measure of rows with weights, over these cells of the rows if it has any that are kept.

        It is asked only if `why_no_weights` is empty.
        """
        raise NotImplementedError(f"{self} of rows with weights: {self.why_no_weights}")

    def batch(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the measure for each of B draws of the labels, shape (B, n); the result has shape (B,)."""
        return np.array([self.evaluate(prob, label) for label in labels])

    def of_labels(self, prob: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """Return `batch` as a function of the labels alone; what depends on the predictions alone is computed once."""
        return lambda labels: self.batch(prob, labels)

    def detail(self, prob: np.ndarray, label: np.ndarray) -> dict[str, Any]:
        """Return further results beside the value, such as a table of cells, by name."""
        return {}

    def strongest_part(self, predictions: Predictions) -> tuple[Any, Sample, int | None] | None:
        """Return the binary measure and sample that drive the measure, and of which class; None if unknown.

        The class None is the most likely one of each row.
        """
        return None

    @property
    def depends_on_order(self) -> bool:
        """Whether the measure depends on the order of the rows, which is then kept."""
        return False

    @property
    def refits_cells(self) -> bool:
        """Whether resampled rows are cut into new cells, instead of keeping the cells of the data."""
        return False

    def population_value(self, population: VectorPopulation) -> float:
        """Return the limit of estimates as n grows; raise NotImplementedError with the reason if it is not known."""
        raise NotImplementedError("it is not a sum over cells that are the same for every sample")

    def multiclass(self) -> MulticlassMeasure | None:
        return self

    def interval(self, predictions: Predictions) -> Interval:
        """Return the honest interval: a norm on the sums of rows and classes, of a mean, or an interval of its own."""
        raise NotImplementedError(f"no honest interval is known for {self}")

    def interval_of_sums(self, predictions: Predictions, weight: np.ndarray | None = None) -> OfClasses:
        """Return the interval of a norm on sums of rows and classes, and their table; rows may have a weight."""
        raise NotImplementedError(f"{self} is not a norm of sums of residuals")

    def losses(self, predictions: Predictions, weight: np.ndarray | None = None) -> RowLosses:
        """Return the loss of each row, which may have a weight, of which the measure is the mean."""
        raise NotImplementedError(f"{self} is not a mean of losses")


AT_LEAST_THIS = "; without bins the error is at least this"
STRATEGIES_IN_WORDS = {"uniform": "equal width", "quantile": "equally many rows"}


def in_prose(measure: Measure | MulticlassMeasure) -> str:
    """Return the name of a measure in prose, with its bins in words, and with other options that are not defaults."""
    default, options = measure.defaults(), dict(measure.options)
    bins = ""
    number, strategy = options.get("n_bins"), options.get("strategy")
    if isinstance(number, int) and isinstance(strategy, str) and strategy in STRATEGIES_IN_WORDS:
        bins = f" over {number} bins of {STRATEGIES_IN_WORDS[strategy]}"
        del options["n_bins"], options["strategy"]
    further = written_options({name: value for name, value in options.items() if value != default.get(name)})
    return f"{measure.info.title}{bins}{f' ({further})' if further else ''}"


def written_options(options: Mapping[str, object]) -> str:
    """Return options as they are written in a call."""
    return ", ".join(f"{name}={_written(value)}" for name, value in options.items())


def _written(value: object) -> str:
    """Return the text of an option: a function by its name, since its address is another one in each run."""
    if isinstance(value, tuple) and any(map(callable, value)):
        return f"({', '.join(map(_written, value))})"
    return str(getattr(value, "__name__", value)) if callable(value) else repr(value)


def _plain(value: object) -> Any:
    """Return a sequence of numbers, such as cuts, as a tuple of Python numbers, which compares and prints well."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value
