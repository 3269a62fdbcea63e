"""Rows of groups that were predicted to be impossible and happened, and which groups are significant without them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.in_order import smallest_first
from calibstat.inference.impossible_rows import first_row, impossible_in_words
from calibstat.result import Result

NAMED = 10  # significant groups in the sentence


@dataclass(frozen=True, eq=False)
class ImpossibleInGroups(Result):
    """Rows that were predicted to be impossible and happened, and the p-values of groups without certain rows.

    Attributes
    ----------
    names : tuple of str, length G
        The groups, as in the audit; the first is all rows.
    number : ndarray of int, shape (G,)
        How many such rows each group has.
    first : int or None
        The first of them, counted from 0; None of samples, in which rows cannot be told apart.
    total_certain : int
        All rows with a prediction of exactly 0 or 1, right or wrong.
    pvalue, pvalue_adjusted : ndarray, shape (G,)
        As in the audit, by the rows predicted neither 0 nor 1 alone, from the same draws, and as exact.
    level : float
        Groups are significant if their adjusted p-value is at most this.
    """

    names: tuple[str, ...]
    number: np.ndarray
    first: int | None
    total_certain: int
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    level: float

    @property
    def found(self) -> np.ndarray:
        """The numbers of the groups that are significant without rows predicted 0 or 1, by adjusted p-value."""
        order = smallest_first(self.pvalue_adjusted)
        return order[: np.count_nonzero(self.pvalue_adjusted <= self.level)]

    def __str__(self) -> str:
        total, groups = int(self.number[0]), int(np.count_nonzero(self.number))
        rows = impossible_in_words(total, first_row(total, self.first))
        return f"{rows}, in {groups:,} group{'s' * (groups > 1)}; {self.others}."

    @property
    def others(self) -> str:
        """The groups that are significant by the other rows, in words."""
        return f"without rows predicted 0 or 1 {self._significant}"

    @property
    def _significant(self) -> str:
        found = [self.names[g] for g in self.found]
        if not found:
            return "no group is significant"
        more = f" and {len(found) - NAMED:,} more" if len(found) > NAMED else ""
        verb = "are" if len(found) > 1 else "is"
        return f"{', '.join(found[:NAMED])}{more} {verb} significant"
