"""Rows that were predicted to be impossible and happened, beside a test, and the same test without certain rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from calibstat.data.checked_rows import Data
from calibstat.data.views import View
from calibstat.data.words.side import Side
from calibstat.digits import settled
from calibstat.inference.problems.certain_rows import CertainRows
from calibstat.output.wording import number_of
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class ImpossibleRows(Result):
    """Rows that were predicted to be impossible and happened: predicted 0 with outcome 1, or 1 with outcome 0.

    Attributes
    ----------
    number : int
        How many; of several classes the rows whose observed class had probability 0.
    first : int or None
        The first of them, counted from 0; None of a `Sample`, in which rows cannot be told apart.
    total_certain, total_others : int
        The rows with a prediction of exactly 0 or 1, right or wrong, of several classes with any such prediction; and
        the other rows.
    pvalue : float or None
        P-value of the same test of the other rows alone, from draws of its own, and as exact as the test of all rows.
        None if there is no other row, or no such test of them.
    approximate : bool
        Whether the test is approximate, as with clusters.
    """

    number: int
    first: int | None
    total_certain: int
    total_others: int
    pvalue: float | None
    approximate: bool

    def __str__(self) -> str:
        return f"{impossible_in_words(self.number, first_row(self.number, self.first))}; {self.others}."

    @property
    def others(self) -> str:
        """The p-value of the other rows, in words."""
        if not self.total_others:
            return "no row is predicted neither 0 nor 1, so that no other test can be made"
        if self.pvalue is None:
            return f"{number_of('row', self.total_others)} predicted neither 0 nor 1 are too few for this test"
        approximate = " (approximate)" if self.approximate else ""
        return f"without rows predicted 0 or 1 p = {settled(self.pvalue):.3g}{approximate}"


def impossible_in_words(number: int, where: str) -> str:
    """Say how many rows were predicted to be impossible and happened, and where the first is, if that is known."""
    rows = "1 row was" if number == 1 else f"{number:,} rows were"
    return f"{rows} predicted to be impossible and happened{f' ({where})' if where else ''}"


def first_row(number: int, first: int | None) -> str:
    """Name the first of so many rows; nothing of a `Sample`, in which rows cannot be told apart."""
    return "" if first is None else f"{'the first is ' * (number > 1)}row {first}"


def impossible_rows(
    data: Data, view: View, pvalue: Callable[[Data], float], approximate: bool, side: Side | None
) -> ImpossibleRows | None:
    """Return what is to be said of impossible rows that a lens shows; `pvalue` is of the same test of other rows."""
    found = CertainRows.of(view, side)
    if not found.number:
        return None
    of_others = _of_others(data.part(~found.certain), pvalue) if found.others else None
    return ImpossibleRows(found.number, found.first, found.total, found.others, of_others, approximate)


def _of_others(others: Data, pvalue: Callable[[Data], float]) -> float | None:
    """Return the p-value of other rows, None if there is no test of them."""
    try:
        return pvalue(others)
    except ValueError:  # too few rows for this measure; all rows have been tested nevertheless
        return None
