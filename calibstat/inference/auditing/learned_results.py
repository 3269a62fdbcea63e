"""The learner that found the groups of an audit, and its answer from all rows: are any predictions wrong?"""

from __future__ import annotations

from dataclasses import dataclass

from calibstat.digits import settled
from calibstat.inference.auditing.shares_in_words import rows_in_words
from calibstat.inference.problems.impossible_rows import impossible_in_words
from calibstat.output.wording import level_text
from calibstat.result import Result


@dataclass(frozen=True, eq=False)
class Learned(Result):
    """The learner that found the groups of an `audit`, and its answer from all rows.

    Attributes
    ----------
    pvalue : float or None
        Of all rows, by the learner fitted to them and to draws of their labels. Null hypothesis: given the predictions
        and the features of all rows, every outcome is 1 independently with its predicted probability. Exact. It says
        that predictions are wrong, and not where. None of one side, which has no such test.
    pvalue_uncertain : float or None
        The same by the rows predicted neither 0 nor 1; None likewise.
    impossible : int
        Rows that were predicted to be impossible and happened: one is enough for the smallest p-value.
    n_fits : int
        Draws of labels to which the learner was fitted.
    learner : str
        What looked for groups.
    n, n_seen : int
        All rows, and those on which it looked for the groups that are tested on the others.
    level : float
        The p-value is small if it is at most this.
    """

    pvalue: float | None
    pvalue_uncertain: float | None
    impossible: int
    n_fits: int
    learner: str
    n: int
    n_seen: int
    level: float

    @property
    def answer(self) -> str:
        """Say whether the predictions are shown to be wrong given these features."""
        if self.pvalue is None:
            return "Whether any predictions are wrong given these features is not tested: this test has no side."
        p = f"(p = {settled(self.pvalue):.3g}, {rows_in_words(self.n)})"
        if (1 + self.n_fits) * self.level < 1:
            never = f"with {self.n_fits} draws p is never {level_text(self.level)} or less"
            return f"No error can be shown given these features: {never}."
        if self.impossible and self.pvalue_uncertain is not None:
            rows = impossible_in_words(self.impossible, "")
            others = f"without rows predicted 0 or 1 p = {settled(self.pvalue_uncertain):.3g}"
            return f"Given these features, predictions are wrong {p}: {rows}; {others}."
        if self.pvalue <= self.level:
            return f"Given these features, predictions are wrong {p}."
        return f"It is not shown that predictions are wrong given these features {p}. Another learner may show it."

    @property
    def split(self) -> str:
        """Say on which rows groups were looked for, and on which they are tested."""
        looked = f"{self.learner[0].upper()}{self.learner[1:]} looked for groups on {rows_in_words(self.n_seen)}"
        return f"{looked}. The other {self.n - self.n_seen:,}, which it did not see, say where:"

    @property
    def promise(self) -> str:
        """Say how the p-value of all rows is made, and what it promises."""
        if self.pvalue is None:
            return ""
        level = level_text(self.level)
        return (
            f" If all predictions are right given these features, the p-value of all rows is at most {level} with a "
            f"probability of at most {level} (the learner was fitted to {self.n_fits} draws of their outcomes too)."
        )

    def __str__(self) -> str:
        return f"{self.answer}\n{self.split}"
