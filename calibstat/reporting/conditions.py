"""Conditions on the fields of a report, such as ``ece.low > 0.02``, for scripts that must stop."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import Any

from calibstat.data.checks import nearest, short
from calibstat.reporting.report_fields import ReportFields

COMPARISONS = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
SIGN = re.compile("|".join(COMPARISONS))
# `float` also takes nan, 1_0 and the digits of other scripts
NUMBER = re.compile(r"[+-]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|inf(inity)?)", re.IGNORECASE)
LONGEST = 1000  # characters of a condition
INNER = ("", "measures.")  # of a model: what a short name may leave out


@dataclass(frozen=True)
class Condition:
    """A comparison of a field of a report with a number.

    Attributes
    ----------
    field : str
        A key of `Report.to_dict`, or what follows the name of the model in one: then it is asked of every model.
    sign : str
        One of <, <=, >, >=, == and !=.
    number : float
        What is compared with.
    """

    field: str
    sign: str
    number: float

    @classmethod
    def read(cls, text: str) -> Condition:
        """Read a condition; nothing of it is ever run as code."""
        signs = [*SIGN.finditer(text[:LONGEST])]
        if len(text) <= LONGEST and signs:
            field, sign, number = text[: signs[-1].start()].strip(), signs[-1][0], text[signs[-1].end() :].strip()
            if field and field[-1] not in "<>=!" and NUMBER.fullmatch(number):
                limit = float(number)
                if math.isfinite(limit) or "inf" in number.lower():
                    return cls(field, sign, limit)
        raise ValueError(
            f"expected a field, a comparison and a number, such as 'ece.low > 0.02', in at most {LONGEST} characters; "
            f"found {short(text)}"
        )

    def met(self, report: ReportFields) -> list[str]:
        """Return a sentence for each field that meets the condition."""
        sentences = []
        for key, value in fields_of(report, self.field).items():
            for number in _numbers(key, value):
                if COMPARISONS[self.sign](number, self.number):
                    sentences.append(f"{key} is {number:.6g}, and {number:.6g} {self.sign} {self.number:g}")
                    break
        return sentences


def fields_of(report: ReportFields, field: str) -> dict[str, Any]:
    """Return the fields that a name means: the key itself, or the key of every model."""
    known = report.to_dict()
    if field in known:
        return {field: known[field]}
    for inner in INNER:
        wanted = {f"models.{name}.{inner}{field}" for name in report.models}
        if found := {key: value for key, value in known.items() if key in wanted}:
            return found
    numbers = {_short_name(report, key): 0 for key, value in known.items() if isinstance(value, int | float | str)}
    several = ", ".join(name for name in ("test.pvalue", "ece.estimate", "ece.low", "ece.high") if name in numbers)
    raise ValueError(
        f"expected a field of the report, such as {several}, found {short(field)}{nearest(field, [*numbers])}"
    )


def _short_name(report: ReportFields, key: str) -> str:
    """Return a key without the name of the model."""
    for name in report.models:
        if key.startswith(f"models.{name}."):
            return key.removeprefix(f"models.{name}.").removeprefix("measures.")
    return key


def _numbers(key: str, value: object) -> list[float]:
    """Return the numbers of a field: of a list all, and none that is missing."""
    entries: list[Any] = value if isinstance(value, list) else [value]
    try:
        numbers = [float(entry) for entry in entries if entry is not None]
    except (TypeError, ValueError):
        raise ValueError(f"expected a field that is a number, found {key}, which is {short(value)}") from None
    if not numbers or any(math.isnan(number) for number in numbers):
        raise ValueError(f"expected a field that is a number, found {key}, which is missing")
    return numbers
