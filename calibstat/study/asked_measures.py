"""The measures that a study is asked about: each by its name, with options, itself, or as a plain function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from calibstat.data.checks import short
from calibstat.measures.kinds.base import Info, Measure, MulticlassMeasure
from calibstat.measures.kinds.registry import MEASURES, class_of
from calibstat.study.coverage_questions import VERB_SETTINGS, bound_to
from calibstat.study.estimate_questions import written
from calibstat.study.question import Entry

Asked = str | Measure | type[Measure] | Callable[..., Any]
Measures = Sequence[object] | Mapping[str, object]  # of `Asked` and pairs with options; mixed ones are objects
FORMS = "a name, (name, options), a measure such as cs.measures.ECE(n_bins=5), or a function of (y, p)"


def asked_measures(measures: Measures) -> dict[str, Entry]:
    """Give every measure a label; raise if a measure or an option is unknown, or two measures have one label."""
    if isinstance(measures, str) or not isinstance(measures, Sequence | Mapping):
        kind = "the string " if isinstance(measures, str) else ""
        raise ValueError(
            'expected a sequence of measures, such as ["ece", "ks"], or a mapping from label, such as '
            f'{{"mine": lambda y, p: ...}}, found {kind}{short(measures)}'
        )
    if isinstance(measures, Mapping):
        return {label: _entry(str(label), each) for label, each in measures.items()}
    entries: dict[str, Entry] = {}
    for each in measures:
        label, entry = _labelled(each)
        if label in entries:
            raise ValueError(
                f"expected every measure once, found two that are called {label!r}; give a mapping from label to each"
            )
        entries[label] = entry
    return entries


def _labelled(asked: object) -> tuple[str, Entry]:
    """Return what a measure is called if nobody gives it a label, and itself."""
    measure = asked[0] if _is_pair(asked) else asked
    name = getattr(measure, "__name__", type(measure).__name__).strip("<>") if _is_function(measure) else short(measure)
    entry = _entry(name, asked)
    return written(entry), entry


def _entry(label: str, asked: object) -> Entry:
    """Return the name of a measure with its options, or the measure itself if it is not registered."""
    if isinstance(asked, list | tuple | dict) and not _is_pair(asked):
        raise ValueError(f"expected {FORMS} for measure {label!r}, found {short(asked)}")
    pair: tuple[Any, Mapping[str, Any]] = asked if _is_pair(asked) else (asked, {})
    measure, options = pair
    if _is_function(measure):
        measure = _measure_of(label, measure)
    bound = bound_to(measure, options)
    if isinstance(measure, str):
        return measure, dict(options)
    settings = {option: value for option, value in options.items() if option in VERB_SETTINGS}
    if MEASURES.get(bound.name) is not type(bound):
        return bound, settings
    defaults = bound.defaults()
    return bound.name, {k: value for k, value in bound.options.items() if value != defaults[k]} | settings


def _is_pair(asked: object) -> TypeGuard[tuple[Any, Mapping[str, Any]]]:
    return isinstance(asked, Sequence) and len(asked) == 2 and isinstance(asked[1], Mapping)


def _is_function(measure: object) -> TypeGuard[Callable[..., Any]]:
    return callable(measure) and not inspect.isclass(measure) and not isinstance(measure, Measure)


def _measure_of(label: str, function: Callable[..., Any]) -> type[Measure]:
    """Return the measure that a function computes, which is the registered one if the function is registered."""
    for known in MEASURES.values():
        if getattr(known, "_made_of", None) is function:
            return known
    made = class_of(label, function)
    made.name, made.info = label, Info(title=label)
    return made


def check_classes(measures: Mapping[str, Entry], generators: Mapping[str, Any]) -> None:
    """Raise if a measure of K classes is asked of a binary generator."""
    for label, (measure, options) in measures.items():
        if isinstance(bound_to(measure, options), MulticlassMeasure):
            for where, generator in generators.items():
                if getattr(generator, "n_classes", None) is None:
                    raise ValueError(
                        f"expected a generator of several classes, which says n_classes, for measure {label!r}, which "
                        f"is one of K classes, as every function of (prob, label) is; found {where!r}, whose outcome "
                        "is 0 or 1: ask such generators in a study of their own, or write a function of (y, p)"
                    )


def descriptions(measures: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """Yield what a store has to know of every measure, by label; raise if a function has no name of its own."""
    for label, (measure, options) in measures.items():
        if isinstance(measure, str):
            yield label, repr((measure, options))
            continue
        of = getattr(type(measure), "_made_of", type(measure))
        name = getattr(of, "__qualname__", "<>")
        if name.endswith(">"):
            raise ValueError(
                f"expected measures that have a name, which a store has to know, found {short(of)} for {label!r}; "
                f"write def name(y, p): return ... for it, or give it a name by cs.measure({label!r})(...)"
            )
        yield label, f"{of.__module__}.{name}, {measure.options!r}, {options!r}"
