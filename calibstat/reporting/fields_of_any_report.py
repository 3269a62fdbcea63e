"""The fields that a report can have, known from the classes of results before one is made."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from calibstat.data.checks import nearest, short
from calibstat.digits import settled
from calibstat.inference.choosing.condition import Condition
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.cross_validated import CrossValidated
from calibstat.inference.designs.design import Design
from calibstat.inference.designs.independent import Independent
from calibstat.inference.designs.judged_labels import Judged
from calibstat.reporting.report_fields import ModelReport, ReportFields
from calibstat.reporting.report_measures import OF_ALL_CLASSES, REPORT_SCORES, affordable
from calibstat.result import Result

ANY_NAME = r"[\s\S]+"
NUMBERS = (int, float, bool, np.ndarray)
INNER = ("", "measures.")  # of a model: what a short name may leave out
SHOWN_BY = {"<": "high", "<=": "high", ">": "low", ">=": "low"}  # the end of an interval that proves a condition
USUAL = ("test.pvalue", "ece.estimate", "ece.low", "ece.high")


class Key(NamedTuple):
    """A key of the dictionary of a result, as a pattern, and whether a number can stand there."""

    pattern: str
    is_number: bool


def measures_of_reports() -> list[str]:
    """Return the measures that a report on rows of some kind has."""
    errors = [name for each in (Independent, Clustered, CrossValidated, Judged) for name in each.sections.errors]
    return [*dict.fromkeys([*errors, OF_ALL_CLASSES, *REPORT_SCORES])]


def need_field(condition: Condition) -> None:
    """Raise unless a report can have the number that a condition is about; of a model its name may be left out."""
    found = keys_that_match(condition.field)
    if not found:
        raise ValueError(
            f"expected a field of the report, such as {', '.join(USUAL)}, found {short(condition.field)}"
            f"{instead_of(condition.field, condition.sign)}"
        )
    if not any(each.is_number for each in found):
        raise ValueError(f"expected a field that is a number, found {condition.field}, which is none")


def need_measure(condition: Condition, design: Design) -> None:
    """Raise if a condition is about a measure that the report of these rows leaves out."""
    name, inside, _ = condition.field.removeprefix("measures.").partition(".")
    of_rows: dict[str, dict[str, Any]] = {
        each: {} for each in (*design.sections.errors, OF_ALL_CLASSES, *REPORT_SCORES)
    }
    if not inside or name not in measures_of_reports() or name in ModelReport.__dataclass_fields__:
        return
    if name not in affordable(of_rows, design.n):
        why = f": it is costly on {settled(design.n):,.0f} rows" if name in of_rows else ""
        there = ", ".join(each for each in affordable(of_rows, design.n) if each != OF_ALL_CLASSES)
        raise ValueError(f"expected a measure that the report of these rows has ({there}), found {name}{why}")


def instead_of(field: str, sign: str) -> str:
    """Say what to write in place of a field that no report has: what proves it, or what is spelled nearly so."""
    end = SHOWN_BY.get(sign)
    if end and _is_number(f"{field}.{end}"):
        return f"; write {field}.{end} (shown) or {field}.estimate (by chance)"
    if _is_number(f"{field}.pvalue"):
        return f"; write {field}.pvalue"
    return nearest(field, _short_names())


def keys_that_match(field: str) -> list[Key]:
    """Return the keys that a name can mean: of a report, or of each model in one."""
    of_report, of_model = _keys()
    found = [each for each in of_report if _compiled(each.pattern).fullmatch(field)]
    return found + [each for each in of_model for inner in INNER if _compiled(each.pattern).fullmatch(inner + field)]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern compiled once: there are more than Python keeps."""
    return re.compile(pattern)


def _is_number(field: str) -> bool:
    return any(each.is_number for each in keys_that_match(field))


@cache
def _keys() -> tuple[list[Key], list[Key]]:
    """Return the keys of a report, and those of a model in one."""
    return [*keys_of(ReportFields)], [*keys_of(ModelReport)]


def _short_names() -> list[str]:
    """Return the numbers of a model by their shortest names, the usual ones first."""
    ends = [f"{name}.{end}" for name in measures_of_reports() for end in ("estimate", "low", "high")]
    plain = [each.pattern.replace(r"\.", ".") for each in _keys()[1] if each.is_number]
    return [*dict.fromkeys([*USUAL, *ends, *(name for name in plain if re.fullmatch(r"[\w.]+", name))])]


def keys_of(kind: type[Result], before: str = "", within: tuple[type, ...] = ()) -> Iterator[Key]:
    """Yield the keys of the dictionary of a result; of what may hold results of its own class any name."""
    hints = get_type_hints(kind)
    for each in fields(kind):
        if type(None) in get_args(hints[each.name]):
            yield Key(f"{before}{each.name}", False)
        for option in _options(hints[each.name]):
            yield from _keys_of_one(f"{before}{each.name}", option, (*within, kind))


def _keys_of_one(key: str, option: Any, within: tuple[type, ...]) -> Iterator[Key]:
    """Yield the keys that a value of one type makes."""
    if option is Any or option in within:
        yield Key(rf"{key}(\.{ANY_NAME})?", True)
    elif get_origin(option) is dict:
        named = "|".join(measures_of_reports()) if key == "measures" or key.endswith(r"\.measures") else ANY_NAME
        for inner in _options(get_args(option)[1]):
            yield from _keys_of_one(rf"{key}\.(?:{named})", inner, within)
    elif isinstance(option, type) and issubclass(option, Result):
        for made in _with_those_made_from(option):
            yield from keys_of(made, rf"{key}\.", within)
    else:
        several = get_origin(option) is tuple
        inside = [part for part in get_args(option) if part is not Ellipsis] if several else [option]
        yield Key(key, any(part in NUMBERS for part in inside))


def _with_those_made_from(kind: type[Result]) -> Iterator[type[Result]]:
    """Yield a class of results, and all that are made from it."""
    yield kind
    for each in kind.__subclasses__():
        yield from _with_those_made_from(each)


def _options(hint: Any) -> tuple[Any, ...]:
    """Return the types that a value may have."""
    parts = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return tuple(part for part in parts if part is not type(None))
