"""Conditions on a named number, such as ``ece.low > 0.02``: one grammar for reports and for the choice of a model."""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from typing import Self

from calibstat.data.checks import short
from calibstat.in_words import InWords

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
WRITTEN_SHARE = re.compile(r"([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+))\s*%")
LONGEST = 1000  # characters of a condition


@dataclass(frozen=True)
class Condition(InWords):
    """A comparison of a named number with a limit.

    Attributes
    ----------
    field : str
        The name of the number: a key of `Report.to_dict`, or what follows the name of the model in one; of a choice a
        measure and its high end, such as "kernel_ce.high".
    sign : str
        One of <, <=, >, >=, == and !=.
    number : float
        The limit.
    """

    field: str
    sign: str
    number: float

    @classmethod
    def read(cls, text: str) -> Self:
        """Read a condition, a limit such as 2 % as 0.02; nothing of it is ever run as code."""
        signs = [*SIGN.finditer(text[:LONGEST])]
        if len(text) <= LONGEST and signs:
            field, sign, number = text[: signs[-1].start()].strip(), signs[-1][0], text[signs[-1].end() :].strip()
            if share := WRITTEN_SHARE.fullmatch(number):
                number = f"{share[1]}e-2"
            if field and field[-1] not in "<>=!" and NUMBER.fullmatch(number):
                limit = float(number)
                if math.isfinite(limit) or "inf" in number.lower():
                    return cls(field, sign, limit)
        raise ValueError(
            f"expected a field, a comparison and a number, such as 'ece.low > 0.02', in at most {LONGEST} characters; "
            f"found {short(text)}"
        )

    def is_met(self, number: float) -> bool:
        """Whether a number compares with the limit as the condition says."""
        return bool(COMPARISONS[self.sign](number, self.number))

    def __str__(self) -> str:
        return f"{self.field} {self.sign} {self.number:g}"
