"""An error about rows, which is said in the words of a function with arguments, or of a file with columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias


class Given(Enum):
    """The subject of an error, or the thing that it asks for; as text in the words of Python."""

    OUTCOMES = "y_true"
    PREDICTIONS = "y_prob"
    ROW_OF_PREDICTIONS = "a row of y_prob"
    FROM_LOGITS = "calibstat.from_logits(y_prob)"
    DIVIDED = "y_prob / y_prob.sum(axis=1, keepdims=True), or of a data frame y_prob.div(y_prob.sum(axis=1), axis=0)"
    SHARES = (
        "; shares of events among several rows are given as Sample.from_counts(y_prob, rows, events), with the "
        "number of rows and of events at each prediction"
    )
    PROXY = (
        "; where few rows have an outcome, confidence_interval and calibration_test take a judge's answers: "
        "judge=cs.Judge(answers)"
    )

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Entry:
    """A row of an argument, and if it has several columns one of them; None where the argument was named before."""

    of: Given | str | None
    row: int
    column: int | None = None

    def __str__(self) -> str:
        named = "" if self.of is None else f"{self.of} "
        column = "" if self.column is None else f", column {self.column}"
        return f"{named}at row {self.row}{column}"


Part: TypeAlias = str | Given | Entry


class RowsError(ValueError):
    """An error whose message is made of texts and of what they are about."""

    def __init__(self, *parts: Part) -> None:
        super().__init__(*parts)

    def said(self, words: Callable[[Given | Entry], str]) -> str:
        """Return the message, with these words for what it is about."""
        return "".join(part if isinstance(part, str) else words(part) for part in self.args)

    def __str__(self) -> str:
        return self.said(str)
