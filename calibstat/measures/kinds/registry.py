"""The registry of measures: the decorator that adds one, and look-up by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields, make_dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar, dataclass_transform

from calibstat.data.checks import UnknownOption, check_switch, described, short, unknown_name
from calibstat.measures.kinds.base import Info, Measure, MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Binned, Seminorm, Statistic
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.measures.kinds.multiclass_kinds import VectorBinned, VectorStatistic
from calibstat.measures.kinds.row_statistic import RowStatistic

_REGISTRY: dict[str, type[Measure]] = {}
MEASURES: Mapping[str, type[Measure]] = MappingProxyType(_REGISTRY)
KINDS = (Measure, Statistic, RowStatistic, Seminorm, Binned, MeanLoss, MulticlassMeasure, VectorStatistic, VectorBinned)
OF_ROWS: Mapping[tuple[str, ...], tuple[type[Measure], str]] = {  # outcomes and predictions, by what packages call them
    (y, p): (RowStatistic, "of_rows") for y in ("y", "y_true") for p in ("p", "y_prob", "y_proba", "y_pred", "y_score")
}
KIND_OF_FUNCTION: Mapping[tuple[str, ...], tuple[type[Measure], str]] = MappingProxyType(
    {  # by its parameters without a default
        ("value", "count", "positives"): (Statistic, "evaluate"),
        ("value", "residual"): (Seminorm, "norm"),
        ("prob", "label"): (VectorStatistic, "evaluate"),
        **OF_ROWS,
    }
)
T = TypeVar("T", bound=Callable[..., Any])


@dataclass_transform(frozen_default=True, kw_only_default=True)
def measure(name: str, *, plugs_in: bool | None = None, **info: Any) -> Callable[[T], T]:
    """Register a class of one of the kinds in `calibstat.measures`, or a plain function, as a measure.

        >>> import calibstat as cs
        >>> @cs.measure("mean_residual", bounds=(0, 1))
        ... def mean_residual(value, residual):
        ...     return abs(residual.sum())
        >>> cs.estimate([1, 0, 1, 1], [0.5, 0.5, 0.5, 0.5], measure="mean_residual")
        0.25

        >>> @cs.measure("power_loss", bounds=(0, 1), tail="two-sided")
        ... class PowerLoss(cs.measures.MeanLoss):
        ...     power: float = 1.0
        ...
        ...     def loss(self, value):
        ...         return value**self.power, (1 - value) ** self.power
        >>> cs.estimate([1, 0], [0.75, 0.75], measure="power_loss")
        0.5
        >>> cs.estimate([1, 0], [0.75, 0.75], measure=PowerLoss(power=2.0))
        0.3125

    Parameters
    ----------
    name : str
        The name to use as ``measure=name``. Registering a name again replaces the entry, as re-running a notebook
        cell does, but only from the module that made it.
    plugs_in : bool, optional
        Of a binary measure: whether its estimates tend, as n grows, to the measure of the population, so that
        generators know its true value. By default what its class says; of a function of rows or of a summary False.
    **info
        Known properties of the measure, the fields of `calibstat.measures.Info`: `title`, `formula`, `reference`,
        `bounds`, `tail`, ... All may be left out.

    Returns
    -------
    callable
        A decorator. It returns a function unchanged, and a class as a frozen dataclass, whose fields are the options.

    Raises
    ------
    ValueError
        If the name is taken by another module, a field is unknown, an option has no default or a default that the
        measure refuses, a function takes other arguments than those below, or a class lacks a method of its kind; if
        `plugs_in` is said of a multiclass measure.

    Notes
    -----
    The parameters of a function decide its kind; those that are keyword-only or have a default are the options.

    - ``f(y, p)`` is a function of rows: of outcomes 0 and 1, and predictions, in ascending order of the predictions.
      ``(y_true, y_prob)`` will do as well. It takes no weights of rows, and the longest to resample.
    - ``f(value, residual)`` is a `Seminorm`: of the residuals divided by n at each distinct prediction, ascending.
    - ``f(value, count, positives)`` is a `Statistic`: of the distinct predictions, ascending, their numbers of
      rows and of rows with outcome 1.
    - ``f(prob, label)`` is a `VectorStatistic`: of predictions of K classes, shape (n, K), and labels from 0 to K - 1.

    A class can define more: the cells of a binned measure, the loss of a mean, the witness of a seminorm.
    """

    def register(entry: T) -> T:
        cls: Any = class_of(name, entry)
        taken = _REGISTRY.get(name)
        if taken is not None and taken.__module__ != cls.__module__:
            raise ValueError(f"expected a new name, found {name!r}, which {taken.__module__} has registered")
        known = [*(each.name for each in fields(Info)), "plugs_in"]
        for given in info:
            if given not in known:
                raise UnknownOption("cs.measure", given, known)
        cls.name, cls.info = name, Info(**{"title": name, **info})
        if plugs_in is not None:
            cls.plugs_in = _checked(name, cls, plugs_in)
        cls()  # raises now, not at the first call, if a default is wrong
        _REGISTRY[name] = cls
        return entry if inspect.isfunction(entry) else cls

    return register


def _checked(name: str, cls: type[Measure], plugs_in: object) -> bool:
    """Return whether a measure's estimates tend to it, which a binary measure alone may say."""
    if not issubclass(cls, Statistic):
        raise ValueError(f"expected plugs_in of a binary measure, found it of {name!r}, a measure of K classes")
    return check_switch("plugs_in", plugs_in)


def class_of(name: str, entry: Any) -> type[Measure]:
    """Return the measure that a class or a function defines, as a frozen dataclass with a default for every field."""
    cls: Any = entry if inspect.isclass(entry) else _of_function(name, entry)
    if not issubclass(cls, Measure):
        raise ValueError(f"expected a class of one of the kinds in calibstat.measures for {name!r}, found {short(cls)}")
    if "__dataclass_params__" not in vars(cls):
        cls = dataclass(frozen=True, kw_only=True, eq=False, repr=False)(cls)  # `Measure` has both
    for option in fields(cls):
        if option.default is MISSING:
            raise ValueError(f"expected a default for option {option.name!r} of measure {name!r}")
        if any(option.name in vars(kind) for kind in KINDS if issubclass(cls, kind)):
            raise ValueError(
                f"expected another name for option {option.name!r} of measure {name!r}, which its kind has"
            )
    if inspect.isabstract(cls):
        lacking = ", ".join(sorted(cls.__abstractmethods__))
        raise ValueError(f"expected measure {name!r} to define {lacking}, as its kind requires; found none")
    return cls


def _of_function(name: str, function: Any) -> type[Measure]:
    """Return the measure that a function computes, of the kind that its parameters decide."""
    if not callable(function):
        raise ValueError(f"expected a function or a class for measure {name!r}, found {short(function)}")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # compiled in C, and without names
        raise ValueError(
            f"expected a function that names its parameters for measure {name!r}, found {short(function)}; "
            "write lambda y, p: ... around it"
        ) from None
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes = tuple(p.name for p in named if p.kind is not p.KEYWORD_ONLY and p.default is p.empty)
    if takes not in KIND_OF_FUNCTION:
        first: dict[object, tuple[str, ...]] = {}  # of several names of the same parameters, the first
        for names, made in KIND_OF_FUNCTION.items():
            first.setdefault(made, names)
        known = ", ".join(f"({', '.join(names)})" for names in first.values())
        raise ValueError(f"expected measure {name!r} to take one of {known}; found ({', '.join(takes)})")
    kind, method = KIND_OF_FUNCTION[takes]

    def call(self: Measure, *arrays: Any) -> Any:
        try:
            found = function(*arrays, **vars(self))
        except Exception as error:
            error.add_note(f"raised by calibstat measure {name!r}")
            raise
        if getattr(found, "ndim", 0) or not hasattr(type(found), "__float__"):
            raise ValueError(f"expected a number from measure {name!r}, found {described(found)}")
        return found

    options: list[Any] = [
        (p.name, Any) if p.default is p.empty else (p.name, Any, field(default=p.default))
        for p in named
        if p.name not in takes and p.kind is not p.POSITIONAL_ONLY
    ]
    namespace = {method: call, "_made_of": staticmethod(function), "__doc__": function.__doc__}
    cls = make_dataclass(
        name, options, bases=(kind,), namespace=namespace, frozen=True, kw_only=True, eq=False, repr=False
    )
    cls.__module__ = function.__module__
    return cls


def find_measure(measure: str | Measure | type[Measure], options: Mapping[str, Any]) -> Measure:
    """Return the measure of this name or class with these options, or the given measure."""
    if isinstance(measure, str) and measure in MEASURES:
        measure = MEASURES[measure]
    if isinstance(measure, Measure):
        for option in options:
            if option not in measure.defaults():
                raise UnknownOption(f"measure {measure.name!r}", option, measure.defaults())
        if options:
            raise ValueError(f"expected no options beside the measure {measure}, found {short(dict(options))}")
        return measure
    if isinstance(measure, list | tuple | set):
        raise ValueError(
            f"expected one measure, found {described(measure)}; ask for each in turn, or tabulate the usual ones by "
            'calibstat.summarize(y_true, {"model": y_prob})'
        )
    if not (inspect.isclass(measure) and issubclass(measure, Measure)):
        raise unknown_measure(measure)
    try:
        return _made(measure, **options)  # type: ignore[arg-type]  # a class is hashable
    except TypeError:
        pass  # there is no such option, or it cannot be hashed
    known = measure.defaults()
    for option in options:
        if option not in known:
            raise UnknownOption(f"measure {measure.name!r}", option, known)
    return measure(**options)


def unknown_measure(measure: object) -> ValueError:
    """Return the error that says what another name of a measure means here, or which known one is spelled like it."""
    from calibstat.data.words.names_elsewhere import call_meant, letters

    titles = {MEASURES[name].info.title: name for name in MEASURES}
    call = "" if letters(measure) in map(letters, titles) else call_meant(measure)
    advice = f"; {measure!r} is {call}" if call else ""
    return unknown_name("a measure", measure, MEASURES, titles=titles, advice=advice)


@lru_cache(maxsize=256, typed=True)
def _made(measure: type[Measure], **options: Any) -> Measure:
    """Return the one measure of a class with these options: making it takes as long as estimating from a few rows."""
    return measure(**options)


def everyday_measures(rows: float = 1) -> list[str]:
    """List the binary measures of error or loss that a loop over all of them can afford on this many rows."""
    return [name for name in binary_measures() if is_affordable(name, rows) and not MEASURES[name].info.for_tests_only]


def is_affordable(name: str, rows: float) -> bool:
    """Whether a loop over all measures can afford this one on this many rows."""
    return rows <= MEASURES[name].info.slow_above


def binary_measures() -> list[str]:
    """List the binary measures."""
    return [name for name, entry in MEASURES.items() if issubclass(entry, Statistic)]


def measures_by_rows() -> list[str]:
    """List the binary measures that comparisons of models offer, with their default options."""
    entries = ((name, MEASURES[name]()) for name in binary_measures())
    return [name for name, entry in entries if entry.honest in ("norm", "mean")]


def multiclass_measures() -> list[str]:
    """List the multiclass measures, and the binary ones that have a multiclass form."""
    return [name for name, entry in MEASURES.items() if entry().multiclass() is not None]
