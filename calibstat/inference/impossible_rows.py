"""Rows that were predicted to be impossible and happened, beside a test, and the same test without certain rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from calibstat.data.certain_rows import CertainRows
from calibstat.data.checked_rows import Data
from calibstat.data.views import View
from calibstat.digits import settled
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.result import Result

if TYPE_CHECKING:
    from calibstat.inference.calibration_test_results import CalibrationTestResult


@dataclass(frozen=True, eq=False)
class ImpossibleRows(Result):
    """Rows that were predicted to be impossible and happened: predicted 0 with outcome 1, or 1 with outcome 0.

    Attributes
    ----------
    number : int
        How many; of several classes the rows whose observed class had probability 0.
    first : int or None
        The first of them, counted from 0; None of a `Sample`, in which rows cannot be told apart.
    total_certain : int
        The rows with a prediction of exactly 0 or 1, right or wrong; of several classes with any such prediction.
    pvalue : float or None
        P-value of the same test of the other rows alone, from draws of its own, and as exact as the test of all rows.
        None if there is no other row, or no such test of them.
    approximate : bool
        Whether the test is approximate, as with clusters.
    """

    number: int
    first: int | None
    total_certain: int
    pvalue: float | None
    approximate: bool

    def __str__(self) -> str:
        return f"{impossible_in_words(self.number, self.where)}; {self.others}."

    @property
    def where(self) -> str:
        """The first of the rows, in words; empty of a `Sample`."""
        if self.first is None:
            return ""
        return f"row {self.first}" if self.number == 1 else f"the first is row {self.first}"

    @property
    def others(self) -> str:
        """What the other rows say."""
        if self.pvalue is None:
            return "without rows predicted 0 or 1 there is no test"
        approximate = " (approximate)" if self.approximate else ""
        return f"without rows predicted 0 or 1 p = {settled(self.pvalue):.3g}{approximate}"


def impossible_in_words(number: int, where: str) -> str:
    """Say how many rows were predicted to be impossible and happened, and where the first is, if that is known."""
    rows = "1 row was" if number == 1 else f"{number:,} rows were"
    return f"{rows} predicted to be impossible and happened{f' ({where})' if where else ''}"


def with_impossible_rows(
    result: CalibrationTestResult, data: Data, view: View, test: Callable[[Data], CalibrationTestResult]
) -> CalibrationTestResult:
    """Return the result of a test with what is to be said of impossible rows; `test` asks the same of other rows."""
    found = CertainRows.of(view)
    if not found.number:
        return result
    pvalue = _of_others(data, found, test)
    said = ImpossibleRows(found.number, found.first, found.total, pvalue, result.resample != "labels")
    # certain rows are no part of what a deviation describes: it drove the test if the other rows reject, too
    drove = result.deviation if pvalue is not None and pvalue <= CLAIM_LEVEL else None
    return replace(result, impossible=said, deviation=drove)


def _of_others(data: Data, found: CertainRows, test: Callable[[Data], CalibrationTestResult]) -> float | None:
    """Return the p-value of the rows that are not certain, None if there is no test of them."""
    if found.certain.all():
        return None
    try:
        return test(data.part(~found.certain)).pvalue
    except ValueError:  # too few rows for this measure, or weights of 0 alone: all rows have been tested nevertheless
        return None
