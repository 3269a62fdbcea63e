"""The registry: what a measure is, how one is added, and how it is looked up."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from calibstat.compiled import jit
from calibstat.data.checks import short, unknown_option
from calibstat.data.clipping import uncertain
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample


@dataclass(frozen=True)
class WitnessInterval:
    """How the honest interval of a seminorm is made from its witness.

    `kappa` is the step of the numerical delta method; below `floor` standard errors the upper end uses the largest
    standard deviation that any witness can have.
    """

    kappa: float
    floor: float


@dataclass(frozen=True)
class BinnedInterval:
    """The honest interval of an L1 error over bins: bias band below, spread inversion above."""


@dataclass(frozen=True)
class MeanInterval:
    """The interval of a mean of per-row losses."""


@dataclass(frozen=True)
class NormInterval:
    """How the honest interval is made of `scale` times the sum of absolute residuals over cells and classes.

    `kappa` and `floor` are those of `WitnessInterval`.
    """

    scale: float
    kappa: float = 20.0
    floor: float = 2.0


@dataclass(frozen=True)
class FixedPointInterval:
    """The honest interval of a norm at the bandwidth that equals it, by inversion; `floor` as in `WitnessInterval`."""

    floor: float


HonestRecipe = WitnessInterval | BinnedInterval | MeanInterval | NormInterval | FixedPointInterval


@dataclass(frozen=True)
class Measure:
    """One measure of calibration: a function, what is known about it, and what it can do beyond a number.

    Attributes
    ----------
    name, title, formula, reference : str
        Its name in `calibstat.MEASURES`, its name in prose, its definition in LaTeX, and its source.
    bounds : tuple of two floats
        The range of the estimate.
    tail : {"greater", "two-sided"}
        Which values speak against calibration.
    function : callable
        ``f(value, count, positives, **options)``; ``f(value, residual, **options)`` if `norm`; and
        ``f(count, residual, value, **options)`` over the last axis of arrays of cells, which broadcast, if `cells` is
        given. Of vectors: see `of`.
    of : {"events", "vectors"}
        What it is a measure of: predictions of one event, as above, or whole predicted vectors of K classes. Of
        vectors it is ``f(prob, label, **options)`` on arrays of shape (n, K) and (n,), the labels int64 from 0 to
        K - 1; and ``f(count, residual, value, **options)`` on arrays of shape (..., C), (..., C, K) and (..., C, K) if
        ``cells(prob, **options)``, the cell from 0 to C - 1 of each row, is given.
    batch : callable or None
        Of vectors: ``batch(prob, labels, **options)``, its value for each row of labels of shape (B, n), where that is
        faster than one at a time.
    vectors : Measure or None
        Its form for whole predicted vectors, of a measure of events that has one.
    norm : bool
        Whether the function takes the residual measure, of which it is then a seminorm.
    cells : callable or None
        ``cells(value, count, **options)``, the cell of each distinct prediction, for a binned measure.
    rows : callable or None
        ``rows(y, p, **options)``, count, residual / n and prediction / n summed in each cell straight from rows, or
        None where these rows need sorting (or hold a bad one, which sorting then names).
    columns : callable or None
        ``columns(prob, label, **options)``, the same for the event of every class at once, each of shape (K, cells).
    hold : callable or None
        ``hold(value, count, **options) -> dict``, the options that keep the cells of this sample where they are, of a
        measure of events whose options make cells from a sample.
    moving : callable or None
        Of vectors: ``moving(**options)``, whether resampled rows get cells of their own.
    ordered : callable or None
        Of vectors: ``ordered(**options)``, whether it depends on the order of the rows, which is then left as it is.
    detail : callable or None
        ``detail(value, count, positives, **options) -> dict``, what the measure knows beyond its value.
    honest : callable or None
        ``honest(**options)``, the recipe of its honest interval, or None where none is known.
    complete, sound, continuous : bool
        Zero if calibrated; zero only if calibrated; continuous in the predictions.
    symmetric : bool
        Unchanged when outcomes and predictions are both reversed; of vectors, when the classes are put in another order
        (but for ties).
    resolution : float
        The largest jump that a vanishing change of the predictions may cause in a continuous measure (0 but for
        grids).
    steep : callable or None
        ``steep(**options)``, whether certain predictions, exactly 0 or 1, have no finite value under these options, so
        that its option `clip` has to move them.
    costly_above : float
        Of more rows than this a test or an interval by it takes so long that whatever runs over all measures leaves it
        out, and says so; 0: always.
    resamples : int
        How often a test or an interval by it draws unless it is asked for another number.
    largest : int or None
        The most distinct predictions of which it has a value; of more it raises, and `detail` knows only a bracket.
    """

    name: str
    title: str
    formula: str
    reference: str
    bounds: tuple[float, float]
    function: Callable[..., Any]
    of: Literal["events", "vectors"] = "events"
    batch: Callable[..., np.ndarray] | None = None
    vectors: Measure | None = None
    tail: Literal["greater", "two-sided"] = "greater"
    norm: bool = False
    cells: Callable[..., np.ndarray] | None = None
    rows: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray] | None] | None = None
    columns: Callable[..., tuple[np.ndarray, np.ndarray, np.ndarray] | None] | None = None
    hold: Callable[..., dict[str, Any]] | None = None
    moving: Callable[..., bool] | None = None
    ordered: Callable[..., bool] | None = None
    detail: Callable[..., dict[str, Any]] | None = None
    honest: Callable[..., HonestRecipe | None] | None = None
    complete: bool = True
    sound: bool = True
    continuous: bool = False
    symmetric: bool = True
    resolution: float = 0.0
    steep: Callable[..., bool] | None = None
    costly_above: float = math.inf
    resamples: int = 999
    largest: int | None = None

    @property
    def options(self) -> dict[str, Any]:
        """The options by name, with their defaults."""
        functions = (self.cells, self.function) if self.cells else (self.function,)
        return {name: default for f in functions for name, default in _keywords(f).items()}

    def bind(self, options: Mapping[str, Any]) -> BoundMeasure:
        """Fix the options; a ValueError names the ones there are if another is given."""
        known = self.options
        for name in options:
            if name not in known:
                raise unknown_option(f"measure {self.name!r}", name, known)
        plain = {name: _plain(value) for name, value in options.items()}
        return BoundMeasure(self, {**known, **plain})


@dataclass(frozen=True)
class BoundMeasure:
    """A measure with its options fixed: what estimation, tests and intervals work with."""

    measure: Measure
    options: dict[str, Any]

    def __str__(self) -> str:
        default = self.measure.options
        given = [f"{k}={v!r}" for k, v in self.options.items() if v != default[k]]
        return f"{self.measure.name}({', '.join(given)})" if given else self.measure.name

    def cells(self, *predictions: np.ndarray) -> np.ndarray:
        """The cell of each distinct prediction (of `value` and `count`), or of each row of vectors."""
        return self._call(self.measure.cells, *predictions)

    def held(self, value: np.ndarray, count: np.ndarray) -> BoundMeasure:
        """The measure over the cells that this sample makes, wherever they are made of it."""
        if self.measure.hold is None:
            return self
        held = self._call(self.measure.hold, value, count)
        return BoundMeasure(self.measure, {**self.options, **held}) if held else self

    @property
    def makes_cells(self) -> bool:
        """Whether the cells depend on the sample: there is then something to hold on two rows."""
        return self.held(np.array([0.0, 1.0]), np.ones(2)) is not self

    @property
    def cells_move(self) -> bool:
        """Whether resampled rows get cells of their own."""
        return self.measure.moving is not None and bool(self._call(self.measure.moving))

    def draws(self, n_resamples: int | None) -> int:
        """How often to draw: as often as asked, or as is usual for the measure."""
        return self.measure.resamples if n_resamples is None else n_resamples

    @property
    def goes_by_order(self) -> bool:
        """Whether the measure depends on the order of the rows."""
        return self.measure.ordered is not None and bool(self._call(self.measure.ordered))

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> Any:
        """The statistic of a binned measure from the sums in its cells, over the last axis."""
        return self._call(self.measure.function, count, residual, value)

    def statistic(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        """The measure of a summary: the estimate, and what the test compares with its null distribution."""
        if self.measure.cells is not None:
            return float(self.reduce(*cell_sums(self.cells(value, count), value, count, positives)))
        if self.measure.norm:
            return self.seminorm(value, (positives - count * value) / count.sum())
        return float(self._call(self.measure.function, value, count, positives))

    def seminorm(self, value: np.ndarray, residual: np.ndarray) -> float:
        """The measure as a seminorm of a residual measure."""
        return float(self._call(self.measure.function, value, residual))

    def of_vectors(self, prob: np.ndarray, label: np.ndarray) -> float:
        """The measure of whole predicted vectors."""
        if self.measure.cells is not None:
            return float(self.reduce(*vector_sums(self.cells(prob), prob, label)))
        return float(self._call(self.measure.function, prob, label))

    def of_many(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """The measure of whole predicted vectors for each row of labels."""
        if self.measure.batch is not None:
            return np.asarray(self._call(self.measure.batch, prob, labels))
        return np.array([self.of_vectors(prob, label) for label in labels])

    def of_whole_vectors(self) -> BoundMeasure | None:
        """The measure in its form for whole predicted vectors, or None if it has none."""
        if self.measure.of == "vectors":
            return self
        form = self.measure.vectors
        return None if form is None else form.bind(self.options)

    @property
    def is_steep(self) -> bool:
        """Whether certain predictions have no finite value under these options."""
        return self.measure.steep is not None and bool(self._call(self.measure.steep))

    def check_rows(self, prob: np.ndarray) -> None:
        """Raise if a row holds a certain prediction that has no finite value under these options."""
        if self.is_steep:
            uncertain(prob, self.options["clip"], str(self))

    def estimate(self, sample: Sample) -> float:
        """The measure of a sample."""
        return self.statistic(*sample.arrays)

    def estimate_rows(self, y: np.ndarray, p: np.ndarray) -> float:
        """The measure of rows, without sorting them where it can."""
        sums = self._call(self.measure.rows, y, p) if self.measure.rows else None
        return self.estimate(Sample.from_rows(y, p)) if sums is None else float(self.reduce(*sums))

    def columns(self, predictions: Predictions) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
        """The sums in the cells of every class straight from rows, or None where columns need sorting."""
        if self.measure.columns is None:
            return None
        return self._call(self.measure.columns, predictions.prob, predictions.label)

    def of_classes(self, predictions: Predictions) -> np.ndarray:
        """The statistic of the event of each class, of shape (K,)."""
        sums = self.columns(predictions)
        if sums is not None:
            return np.asarray(self.reduce(*sums), np.float64)
        columns = ((predictions.label == k, predictions.prob[:, k]) for k in range(predictions.n_classes))
        return np.array([self.statistic(*Sample.from_rows(y, p).arrays) for y, p in columns])

    def has_value(self, sample: Sample) -> bool:
        """Whether there is an estimate, or only a bracket."""
        return self.measure.largest is None or sample.value.size <= self.measure.largest

    def detail(self, sample: Sample) -> dict[str, Any]:
        """What the measure knows of a sample beyond its value."""
        return self._call(self.measure.detail, *sample.arrays) if self.measure.detail else {}

    def part(self, name: str, sample: Sample) -> np.ndarray:
        """A field of the detail that an interval is made of."""
        fields = self.detail(sample)
        if name not in fields:
            found = ", ".join(fields) or "none"
            raise ValueError(f"expected a field {name!r} in the detail of measure {self.measure.name!r}, found {found}")
        return fields[name]

    def detail_of_vectors(self, predictions: Predictions) -> dict[str, Any]:
        """What a measure of whole vectors knows of predictions beyond its value."""
        return self._call(self.measure.detail, predictions.prob, predictions.label) if self.measure.detail else {}

    @property
    def honest(self) -> HonestRecipe | None:
        """The recipe of the honest interval under these options, or None."""
        return self._call(self.measure.honest) if self.measure.honest else None

    def _call(self, function: Callable[..., Any] | None, *arrays: Any) -> Any:
        assert function is not None
        try:
            return function(*arrays, **{name: self.options[name] for name in _keywords(function)})
        except Exception as error:
            error.add_note(f"raised by calibstat measure {self.measure.name!r}")
            raise


_REGISTRY: dict[str, Measure] = {}
MEASURES: Mapping[str, Measure] = MappingProxyType(_REGISTRY)


def everyday_measures(rows: float = 1) -> list[str]:
    """Name the measures that whatever runs over all of them can afford on so many rows."""
    return [name for name in event_measures() if is_affordable(name, rows) and MEASURES[name].largest is None]


def is_affordable(name: str, rows: float) -> bool:
    """Whether whatever runs over all measures can afford this one on so many rows."""
    return rows <= MEASURES[name].costly_above


def event_measures() -> list[str]:
    """Name the measures of predictions of one event; the others are of whole predicted vectors alone."""
    return [name for name, entry in MEASURES.items() if entry.of == "events"]


def measure(
    name: str, *, title: str, formula: str, reference: str, bounds: tuple[float, float], **properties: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as a measure, which every verb then knows by its name.

    Parameters
    ----------
    name : str
        The name to use as ``measure=name``. Registering a name again replaces the entry, as re-running a notebook
        cell does, but only from the module that made it.
    title, formula, reference : str
        Its name in prose, its definition in LaTeX, and its source with DOI or arXiv number.
    bounds : tuple of two floats
        The range of its values.
    **properties
        Any other field of `Measure`: `tail`, `norm`, `cells`, `detail`, and the claims that tests check.

    Returns
    -------
    callable
        A decorator that returns the function unchanged.

    Raises
    ------
    ValueError
        If the name is taken by another module, the function has no docstring, or an option has no default.

    Examples
    --------
    >>> import calibstat as cs
    >>> @cs.measure("mean_residual", title="Calibration in the large", formula="|E[y - v]|",
    ...             reference="Cox 1958, doi:10.1093/biomet/45.3-4.562", bounds=(0, 1), norm=True, sound=False)
    ... def mean_residual(value, residual):
    ...     '''Return the absolute mean residual.'''
    ...     return abs(residual.sum())
    >>> cs.estimate([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], measure="mean_residual")
    0.25
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        if not function.__doc__:
            raise ValueError(f"expected a docstring on measure {name!r}, found none")
        taken = _REGISTRY.get(name)
        if taken is not None and taken.function.__module__ != function.__module__:
            raise ValueError(f"expected a new name, found {name!r}, which {taken.function.__module__} has registered")
        entry = Measure(name, title, formula, reference, bounds, function, **properties)
        _ = entry.options  # raises now, not at the first call, if an option has no default
        if entry.honest is not None:
            _check_recipe(entry)
        _REGISTRY[name] = entry
        return function

    return register


def _check_recipe(entry: Measure) -> None:
    """Raise if a measure names an honest interval and lacks what that is made of."""
    if not callable(entry.honest):
        raise ValueError(f"expected honest, a function of the options of {entry.name!r}, found {entry.honest!r}")
    recipe = entry.bind({}).honest
    lacking: dict[type, list[tuple[str, Any]]] = {
        WitnessInterval: [("norm=True", entry.norm), ("detail with a field 'witness'", entry.detail)],
        BinnedInterval: [("cells", entry.cells)],
        MeanInterval: [("detail with the losses", entry.detail)],
    }
    for needed, there in lacking.get(type(recipe), []):
        if not there:
            raise ValueError(f"expected {needed} of measure {entry.name!r}, which {recipe} is made of, found none")


def find_measure(name: str, options: Mapping[str, Any]) -> BoundMeasure:
    """Look a measure up by name and fix its options."""
    if name not in MEASURES:
        raise ValueError(f"expected a measure, one of {', '.join(MEASURES)}; found {short(name)}")
    return MEASURES[name].bind(options)


@jit
def cell_sums(cell, value, count, positives):  # type: ignore[no-untyped-def]
    """Add up rows, residuals and predictions in each cell: counts, and the two others divided by n."""
    count_b, positives_b, value_b = np.zeros((3, cell[-1] + 1))
    for j in range(cell.size):
        b = cell[j]
        count_b[b] += count[j]
        positives_b[b] += positives[j]
        value_b[b] += count[j] * value[j]
    n = count_b.sum()
    return count_b, (positives_b - value_b) / n, value_b / n


@jit
def vector_sums(cell, prob, label):  # type: ignore[no-untyped-def]
    """Add up rows, residuals and predictions of each class in each cell: counts, and the two others divided by n."""
    n, classes = prob.shape
    cells = cell.max() + 1
    count = np.zeros(cells)
    value = np.zeros((cells, classes))
    residual = np.zeros((cells, classes))
    for i in range(n):
        b = cell[i]
        count[b] += 1.0
        for k in range(classes):
            value[b, k] += prob[i, k]
        residual[b, label[i]] += 1.0
    for b in range(cells):
        for k in range(classes):
            residual[b, k] = (residual[b, k] - value[b, k]) / n
            value[b, k] /= n
    return count, residual, value


def _plain(value: Any) -> Any:
    """Return a sequence of numbers, such as cuts, as a tuple of plain ones, which can be compared and printed."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        return tuple(value.tolist())
    if isinstance(value, tuple):
        return tuple(map(_plain, value))
    return value.item() if isinstance(value, np.generic) else value


@cache
def _keywords(function: Callable[..., Any]) -> dict[str, Any]:
    """The keyword-only parameters of a function and their defaults."""
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.default is parameter.empty:
                raise ValueError(f"expected a default for option {parameter.name!r} of {function.__name__}")
            found[parameter.name] = parameter.default
    return found
