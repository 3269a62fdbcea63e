"""The fields of a report that meet a condition, such as ``ece.low > 0.02``, for scripts that must stop."""

from __future__ import annotations

import math
from typing import Any

from calibstat.data.checks import short
from calibstat.digits import settled
from calibstat.inference.choosing.condition import Condition
from calibstat.reporting.fields_of_any_report import INNER, USUAL, instead_of
from calibstat.reporting.report_fields import ReportFields

OTHER_END = {"low": "high", "high": "low"}


def sentences_of(condition: Condition, report: ReportFields) -> list[str]:
    """Return a sentence for each field that meets a condition."""
    sentences = []
    for key, value in fields_of(report, condition.field, condition.sign).items():
        number = next((each for each in numbers_of(key, value) if condition.is_met(each)), None)
        if number is not None:
            sentences.append(
                f"{key} is {settled(number):.6g}, and {settled(number):.6g} {condition.sign} {condition.number:g}"
            )
    return sentences


def not_shown(condition: Condition, report: ReportFields) -> tuple[list[str], list[str]]:
    """Return a sentence for each field that does not meet a condition: those that are shown not to, and the others.

    An end of an interval that does not meet a condition leaves it open if the other end does: then the rows cannot
    tell. Any other number that does not meet it fails.
    """
    failed, unclear = [], []
    known = report.to_dict()
    for key, value in fields_of(report, condition.field, condition.sign).items():
        name, _, end = key.rpartition(".")
        other = known.get(f"{name}.{OTHER_END[end]}") if end in OTHER_END else None
        numbers = numbers_of(key, value)
        others = numbers if other is None else numbers_of(key, other)
        for number, beside in zip(numbers, others, strict=True):
            if condition.is_met(number):
                continue
            sentence = f"{key} is {settled(number):.6g}, and {condition} is not shown"
            if condition.is_met(beside):
                unclear.append(f"{sentence}: these rows cannot tell, because {OTHER_END[end]} is {settled(beside):.6g}")
            else:
                failed.append(sentence)
    return failed, unclear


def fields_of(report: ReportFields, field: str, sign: str = "<=") -> dict[str, Any]:
    """Return the fields that a name means in a condition: the key itself, or the key of every model."""
    known = report.to_dict()
    if field in known:
        return {field: known[field]}
    for inner in INNER:
        wanted = {f"models.{name}.{inner}{field}" for name in report.models}
        if found := {key: value for key, value in known.items() if key in wanted}:
            return found
    there = {_short_name(report, key) for key in known}
    several = ", ".join(name for name in USUAL if name in there)
    raise ValueError(
        f"expected a field of the report, such as {several}, found {short(field)}{instead_of(field, sign)}"
    )


def _short_name(report: ReportFields, key: str) -> str:
    """Return a key without the name of the model."""
    for name in report.models:
        if key.startswith(f"models.{name}."):
            return key.removeprefix(f"models.{name}.").removeprefix("measures.")
    return key


def numbers_of(key: str, value: object) -> list[float]:
    """Return the numbers of a field: of a list all, and none that is missing."""
    entries: list[Any] = value if isinstance(value, list) else [value]
    try:
        numbers = [float(entry) for entry in entries if entry is not None]
    except (TypeError, ValueError):
        raise ValueError(f"expected a field that is a number, found {key}, which is {short(value)}") from None
    if not numbers or any(math.isnan(number) for number in numbers):
        raise ValueError(f"expected a field that is a number, found {key}, which is missing")
    return numbers
