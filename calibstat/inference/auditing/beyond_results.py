"""The groups of an audit that deviate otherwise than the other rows, and what is printed of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled
from calibstat.in_order import smallest_first
from calibstat.inference.auditing.shares_in_words import between, percent, ratio, rows_in_words
from calibstat.output.wording import level_text
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

MOST_PRINTED = 10  # groups
GROUPS_NULL = (
    "of each group: given the predictions and the groups, outcomes are independent, and at neighbouring predictions "
    "the log-odds of the rows of the group and of all other rows differ from the predicted ones by the same amount"
)


@dataclass(frozen=True, eq=False)
class Beyond(Result):
    """The groups of an `audit` that deviate beyond the total: otherwise than the other rows at the same predictions.

    All arrays have shape (G,) and begin with all rows, which have no other rows: nan.

    Attributes
    ----------
    names : tuple of str, length G
        The groups.
    rows : ndarray of int
        Rows of each group.
    observed : ndarray
        Frequency of outcome 1.
    expected : ndarray
        The frequency that is expected in the group if all rows at the same predictions deviate alike.
    odds_ratio, low, high : ndarray
        The odds of outcome 1 in the group divided by the odds that the deviation of the other rows gives, and their
        interval: above 1 if the group has more outcomes 1. With probability of at least `confidence_level` all
        intervals hold at once.
    pvalue, pvalue_adjusted : ndarray
        P-value of each group by itself, without draws, not below 1e-20, and adjusted for all groups by Holm's steps.
    null_hypothesis : str
        The null hypothesis, in one sentence.
    confidence_level : float
        Of all intervals at once; groups are found if their adjusted p-value is at most one minus it.
    """

    names: tuple[str, ...]
    rows: np.ndarray
    observed: np.ndarray
    expected: np.ndarray
    odds_ratio: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    null_hypothesis: str
    confidence_level: float

    @property
    def level(self) -> float:
        """The largest probability that any group is found which deviates as the other rows do."""
        return round(1 - self.confidence_level, 15)

    @property
    def order(self) -> np.ndarray:
        """The numbers of all groups but all rows, sorted by p-value."""
        return 1 + smallest_first(self.pvalue_adjusted[1:], self.pvalue[1:])

    @property
    def found(self) -> np.ndarray:
        """The numbers of the groups that deviate otherwise than the other rows, sorted likewise."""
        return self.order[: np.count_nonzero(self.pvalue_adjusted[1:] <= self.level)]

    @property
    def compared(self) -> np.ndarray:
        """A mask of the groups that have other rows at neighbouring predictions; nothing is known of the others."""
        return ~np.isnan(self.odds_ratio) & ~((self.low == 0) & np.isinf(self.high))

    @property
    def columns(self) -> dict[str, np.ndarray]:
        """The columns of the table of an audit."""
        ends = {"odds_ratio": self.odds_ratio, "odds_ratio_low": self.low, "odds_ratio_high": self.high}
        return {"expected": self.expected, **ends, "pvalue_beyond": self.pvalue_adjusted}

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each group but all rows, sorted like `found`."""
        import pandas as pd

        names = ("rows", "observed", "expected", "odds_ratio", "low", "high", "pvalue", "pvalue_adjusted")
        frame = pd.DataFrame({"group": self.names, **{name: getattr(self, name) for name in names}})
        return frame.iloc[self.order].reset_index(drop=True)

    def sentence(self, g: int) -> str:
        """Say what was observed in a group, what the deviation of the other rows makes one expect, and the odds."""
        gap = abs(self.observed[g] - self.expected[g])
        alike = f"{percent(self.expected[g], gap)} if it were like the others"
        odds = f"odds {ratio(self.odds_ratio[g])} times theirs ({between(self.low[g], self.high[g])})"
        observed = f"observed {percent(self.observed[g], gap)}, {alike}; {odds}"
        adjusted = f"adjusted p = {settled(self.pvalue_adjusted[g]):.2g}"
        return f"{self.names[g]} ({rows_in_words(self.rows[g])}): {observed}, {adjusted}"

    @property
    def answer(self) -> str:
        """The number of groups that deviate beyond the total, in one line; empty without groups beside all rows."""
        groups = len(self.names) - 1
        if not groups:
            return ""
        if found := self.found.size:
            which = f"{found:,} of {groups:,} group{'s' * (groups > 1)} stand{'s' * (found == 1)} out"
            return f"Apart from the overall error {which}, compared with other rows at the same predictions:"
        if not self.compared.any():
            return (
                "Whether a group stands out apart from the overall error cannot be told: no group has predictions near "
                "those of other rows, with both outcomes there."
            )
        first = next(g for g in self.order if self.compared[g])
        nearest = f"{self.names[first]}, adjusted p = {settled(self.pvalue_adjusted[first]):.2g}"
        return f"Apart from the overall error no group stands out (closest: {nearest})."

    def lines(self, where: str) -> list[str]:
        """Return the answer and the first groups; if there are more, `where` says which way to see them."""
        lines = [self.answer] if self.answer else []
        lines += [f"  {sentence}" for sentence in self.significant]
        more = self.found.size - MOST_PRINTED
        return lines + [f"  and {more:,} more: {where}."] * (more > 0)

    @property
    def significant(self) -> list[str]:
        """A sentence for each group found, of many the first."""
        return [f"{self.sentence(g)}." for g in self.found[:MOST_PRINTED]]

    @property
    def sentences(self) -> list[str]:
        """The answer, if there is one, and these sentences."""
        return [each for each in (self.answer, *self.significant) if each]

    @property
    def promise(self) -> str:
        """The promise about the groups found, in one sentence; empty if there are no groups beside all rows."""
        if len(self.names) == 1:
            return ""
        return (
            f" The chance that any group stands out by mistake is at most {level_text(self.level)} (conditional "
            "logistic regression, Holm's steps)."
        )

    def __str__(self) -> str:
        return "\n".join([*self.lines("to_frame() has all"), f"Null hypothesis {self.null_hypothesis}."])
