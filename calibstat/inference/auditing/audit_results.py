"""Results of audits of groups, and what they print."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.data.named_lens import NamedLens
from calibstat.data.words.side import MORE_EVENTS, OTHER, TOO, Side
from calibstat.digits import settled
from calibstat.in_order import smallest_first, without_rounding
from calibstat.inference.auditing.beyond_results import MOST_PRINTED, Beyond
from calibstat.inference.auditing.clusters_of_groups import ClustersOfGroups
from calibstat.inference.auditing.impossible_in_groups import ImpossibleInGroups
from calibstat.inference.auditing.learned_results import Learned
from calibstat.inference.auditing.shares_in_words import between, least, percent, points, ratio, rows_in_words
from calibstat.inference.deviation import SLOPE, SLOPE_WORDS
from calibstat.output.wording import level_text
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

RARE_MEAN = 0.1  # mean prediction of all rows, below which sentences and pictures have ratios
SIZE_COLUMNS = ("rows", "predicted", "observed", "error", "low", "high", "ratio", "ratio_low", "ratio_high")
COLUMNS = (*SIZE_COLUMNS, "root", "slope", "pvalue", "pvalue_adjusted")


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """Result of `audit`; the first group is all rows.

    Attributes
    ----------
    names : tuple of str, length G
        What the rows of each group have in common.
    rows : ndarray of int, shape (G,)
        Rows of each group.
    predicted, observed : ndarray, shape (G,)
        Mean prediction, and frequency of outcome 1.
    error : ndarray, shape (G,)
        Observed minus predicted: above 0 if the predictions are too low.
    low, high : ndarray, shape (G,), or None
        Interval for the mean outcome probability of the rows minus their mean prediction. With probability of at least
        `confidence_level` all G intervals hold at once, whatever the outcome probabilities. Of one side only the end
        that shows it: `high` of predictions too high, `low` of those too low; the other is None.
    root : ndarray, shape (G,)
        Evidence for an error of the mean: about standard normal if the group is calibrated, with the sign of the error;
        infinite if an observed outcome had probability 0.
    slope : ndarray, shape (G,), or None
        With ``shape=True``, the same for the slope on the logit scale: below 0 if predictions are too far apart, above
        0 if too close together.
    pvalue : ndarray, shape (G,)
        P-value of each group by itself, from the same draws: not adjusted for the number of groups.
    pvalue_adjusted : ndarray, shape (G,)
        P-value of each group, adjusted for all groups.
    beyond : Beyond or None
        Which groups deviate otherwise than the other rows with the same predictions do; None of one side.
    null_hypothesis : str
        The null hypothesis of all groups together, in one sentence.
    lens : NamedLens
        The outcome whose probability was predicted.
    left_out : str
        What made no group: levels with few rows, and groups with the same rows; empty if nothing.
    n, n_resamples : int
        Rows, and draws.
    confidence_level : float
        Of all intervals at once; groups are significant if their adjusted p-value is at most one minus it.
    impossible : ImpossibleInGroups or None
        Rows that were predicted to be impossible and happened, and which groups are significant without rows predicted
        0 or 1; None if there are none.
    side : str or None
        "over" if only predictions too high were looked for, "under" if too low; None if both were.
    clusters : ClustersOfGroups or None
        The clusters of the rows and of each group; None if rows are independent.
    learned : Learned or None
        The learner that found the groups on other rows, and what all rows say; None of groups that were given.
    """

    names: tuple[str, ...]
    rows: np.ndarray
    predicted: np.ndarray
    observed: np.ndarray
    error: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    root: np.ndarray
    slope: np.ndarray | None
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    beyond: Beyond | None
    null_hypothesis: str
    lens: NamedLens
    left_out: str
    n: int
    n_resamples: int
    confidence_level: float
    impossible: ImpossibleInGroups | None = None
    side: Side | None = None
    clusters: ClustersOfGroups | None = None
    learned: Learned | None = None

    @property
    def ratio(self) -> np.ndarray:
        """Observed divided by predicted (O/E), shape (G,); nan where the mean prediction is 0."""
        return self.relative(self.error)

    @property
    def ratio_low(self) -> np.ndarray | None:
        """The low end of the interval for the mean outcome probability divided by the mean prediction, shape (G,)."""
        return None if self.low is None else self.relative(self.low)

    @property
    def ratio_high(self) -> np.ndarray | None:
        """The high end likewise; all intervals of ratios hold at once, as the intervals of differences do."""
        return None if self.high is None else self.relative(self.high)

    @property
    def drawn(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends, with the error itself in place of one that is not there, for pictures, shape (G,) each."""
        return self.error if self.low is None else self.low, self.error if self.high is None else self.high

    def relative(self, difference: np.ndarray) -> np.ndarray:
        """Return one plus a difference as a share of the mean prediction, at least 0."""
        there = self.predicted > 0
        with np.errstate(over="ignore"):  # a share of the smallest predictions is infinite
            share = np.divide(difference, self.predicted, out=np.full(there.size, np.nan), where=there)
        return np.maximum(1 + share, 0.0)

    @property
    def is_rare(self) -> bool:
        """Whether so few outcomes 1 are predicted for all rows that ratios say more than differences."""
        return bool(self.predicted[0] < RARE_MEAN)

    @property
    def statistic(self) -> np.ndarray:
        """The absolute root, or with the slope the larger of the two; of one side its signed root, shape (G,)."""
        if self.side is not None:
            return MORE_EVENTS[self.side] * self.root
        return np.abs(self.root) if self.slope is None else np.maximum(np.abs(self.root), np.abs(self.slope))

    @property
    def order(self) -> np.ndarray:
        """The numbers of all groups, sorted by adjusted p-value, ties by the statistic, the largest first."""
        return smallest_first(self.pvalue_adjusted, -without_rounding(self.statistic))

    @property
    def found(self) -> np.ndarray:
        """The numbers of the significant groups, sorted likewise: adjusted p-value at most 1 - `confidence_level`."""
        return self.order[: np.count_nonzero(self.pvalue_adjusted <= self.level)]

    @property
    def level(self) -> float:
        """The largest probability that any group is significant which is calibrated."""
        return round(1 - self.confidence_level, 15)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each group, sorted like `found`."""
        import pandas as pd

        columns = {name: getattr(self, name) for name in COLUMNS if getattr(self, name) is not None}
        columns |= {} if self.clusters is None else {"clusters": self.clusters.number}
        beyond = {} if self.beyond is None else self.beyond.columns
        frame = pd.DataFrame({"group": self.names, **columns, **beyond})
        return frame.iloc[self.order].reset_index(drop=True)

    def sentence(self, g: int) -> str:
        """Say of a group what was predicted and observed, its adjusted p-value, and what is shown of its error."""
        return f"{self.names[g]} ({self._rows_of(g)}): {self.numbers(g)}; {self.claim(g)}"

    def _rows_of(self, g: int) -> str:
        """Count the rows of a group, and its clusters where these have several of them."""
        return rows_in_words(self.rows[g]) + ("" if self.clusters is None else self.clusters.in_words(g))

    def numbers(self, g: int) -> str:
        """Say what was predicted and observed in a group, and its adjusted p-value."""
        gap = abs(self.error[g])
        shares = f"predicted {percent(self.predicted[g], gap)}, observed {percent(self.observed[g], gap)}"
        if self.is_rare and self.predicted[g] > 0:
            shares += f", O/E {settled(self.ratio[g]):.2f} ({self._ratios(g)})"
        return f"{shares}, adjusted p = {settled(self.pvalue_adjusted[g]):.2g}"

    def _ratios(self, g: int) -> str:
        """Write the ends of the interval of the ratio."""
        if self.ratio_low is None or self.ratio_high is None:
            ends = ("at most", self.ratio_high, 1) if self.ratio_low is None else ("at least", self.ratio_low, -1)
            words, end, away = ends
            assert end is not None
            return f"{words} {ratio(end[g], away)}"
        return between(self.ratio_low[g], self.ratio_high[g])

    def claim(self, g: int) -> str:
        """Say what the interval and the roots of a group show."""
        claims: list[str] = []
        impossible = 0 if self.impossible is None else self.impossible.number[g]
        if impossible:
            claims.append(f"{rows_in_words(impossible)} predicted to be impossible happened")
        if self.low is not None and self.low[g] > 0:
            claims.append(f"{self._mean}at least {least(self.low[g])} too low")
        elif self.high is not None and self.high[g] < 0:
            claims.append(f"{self._mean}at least {least(-self.high[g])} too high")
        elif self.low is not None and self.high is not None:
            between = f"between {points(self.low[g], -1)} and {points(self.high[g], 1)} points"
            claims.append(f"mean error {between}")
        elif self.side is not None and not impossible:
            found = self.pvalue_adjusted[g] <= self.level
            some = f"some of its predictions are {TOO[self.side]}"
            claims.append(some if found else f"it is not shown that {some.replace('some', 'any', 1)}")
        if self.slope is not None and self._by_slope(g) and self.pvalue_adjusted[g] <= self.level:
            claims.append(f"predictions {SLOPE_WORDS[SLOPE[int(self.slope[g] > 0)]]}")
        if self.clusters is not None and self.side is None and self.clusters.too_few(g, self.level) and not impossible:
            claims.append(self.clusters.too_few(g, self.level))
        return ", ".join(claims)

    @property
    def _mean(self) -> str:
        """The subject of a limit, where a p-value of one side says something else: that some predictions are wrong."""
        return "" if self.side is None else "the mean prediction is "

    @property
    def answer(self) -> str:
        """The groups with a significant deviation, in one line."""
        deviating, groups = self.found.size, f"{len(self.names):,} group{'s' * (len(self.names) > 1)}"
        if deviating and self.side is not None:
            have = "has" if deviating == 1 else "have"
            return f"{deviating:,} of {groups} {have} some predictions that are {TOO[self.side]}:"
        if deviating:
            return f"{deviating:,} of {groups} deviate{'s' * (deviating == 1)} significantly from the predictions:"
        if (1 + self.n_resamples) * self.level < 1 and self.clusters is None:
            return f"No group can be significant: with {self.n_resamples} draws every p-value is above {self.level:g}."
        first = self.order[0]
        nearest = f"{self.names[first]}, adjusted p = {settled(self.pvalue_adjusted[first]):.2g}"
        if self.side is not None:
            where = "the group" if len(self.names) == 1 else f"any of {groups}"
            shown = f"It is not shown that any predictions of {where} are {TOO[self.side]}"
            other = f"Predictions that are {TOO[OTHER[self.side]]} were not looked for"
            return f"{shown} ({self._rows_of(0)}). {other}. Closest: {nearest}."
        subject = "The group is not" if len(self.names) == 1 else f"None of {groups} is"
        unable = "" if self.clusters is None else self.clusters.unable(self.level)
        return f"{subject} shown to deviate from the predictions ({self._rows_of(0)}). Closest: {nearest}.{unable}"

    @property
    def significant(self) -> list[str]:
        """A sentence for each significant group, of many the first."""
        return [f"{self.sentence(g)}." for g in self.found[:MOST_PRINTED]]

    @property
    def sentences(self) -> list[str]:
        """The sentences of a report: the answer, one for each significant group, and one if any row was impossible.

        How many rows were impossible a report says once, of its test.
        """
        lines = [*self.on_learner, self.answer, *self.significant]
        if self.impossible is None:
            return lines
        others = self.impossible.others
        return [*lines, f"{others[0].upper()}{others[1:]}."]

    @property
    def on_impossible(self) -> list[str]:
        """The sentence on rows that were predicted to be impossible and happened, if there are any."""
        return [] if self.impossible is None else [str(self.impossible)]

    @property
    def on_learner(self) -> list[str]:
        """The answer of all rows, and the rows on which groups were looked for, if a learner found them."""
        return [] if self.learned is None else [self.learned.answer, self.learned.split]

    @property
    def groups(self) -> str:
        """The answer, the significant groups beside all rows, and those that deviate beyond the total."""
        return self.groups_and("to_frame() has all")

    def groups_and(self, where: str) -> str:
        """Return the same; if there are too many groups to print, `where` says which way to see the others."""
        found = self.found
        lines = [*self.on_learner, self.answer, *(f"  {sentence}" for sentence in self.significant)]
        if found.size > MOST_PRINTED:
            lines.append(f"  and {found.size - MOST_PRINTED:,} more: {where}.")
        lines += self.on_impossible
        if 0 not in found[:MOST_PRINTED]:
            lines.append(f"  For comparison, {self.sentence(0)}.")
        return "\n".join([*lines, *([] if self.beyond is None else self.beyond.lines(where))])

    @property
    def beyond_found(self) -> int:
        """The number of groups that deviate otherwise than the other rows do."""
        return 0 if self.beyond is None else int(self.beyond.found.size)

    @property
    def beyond_sentences(self) -> list[str]:
        """The sentences of a report about these groups."""
        return [] if self.beyond is None else self.beyond.sentences

    @property
    def promise(self) -> str:
        """The joint test of the groups, and its promise for all of them."""
        by, right, ends = "bias and slope" if self.slope is not None else "bias", "are right", "intervals"
        if self.side is not None:
            by = f"bias, side fixed beforehand: {self.side}"
            right, ends = f"are right or {TOO[OTHER[self.side]]}", "limits"
        beyond = "" if self.beyond is None else self.beyond.promise
        how = f", {self.n_resamples} draws of labels" if self.clusters is None else f", {self.clusters.of_rows}"
        exact = self.clusters is None or self.side is not None or self.clusters.apart.all()
        at_most = f"at most {level_text(self.level)}" if exact else f"about {level_text(self.level)} at most"
        clusters = "" if self.clusters is None else self.clusters.how(self.side is not None, self.n_resamples)
        whether = "" if self.learned is None else self.learned.promise
        return (
            f"The chance to find any group whose predictions {right} is {at_most}; all "
            f"{ends} hold at once with {level_text(self.confidence_level)} confidence (tested together by {by}"
            f"{self.lens.with_comma}{how}).{clusters}{self._wider}{beyond}{whether}"
        )

    @property
    def _wider(self) -> str:
        """Say why an interval can hold 0 in a significant group; nothing where none does."""
        if self.low is None or self.high is None:
            return ""
        certain = np.zeros(len(self.names)) if self.impossible is None else self.impossible.number
        wide = [g for g in self.found if self.low[g] <= 0 <= self.high[g] and not certain[g] and not self._by_slope(g)]
        return " Intervals assume less than p-values, so that one may hold 0 where p is small." if wide else ""

    def _by_slope(self, g: int) -> bool:
        """Whether the slope of a group is further from what is predicted than its mean is."""
        return self.slope is not None and bool(abs(self.slope[g]) > abs(self.root[g]))

    def __str__(self) -> str:
        left_out = [f"Left out: {self.left_out}."] if self.left_out else []
        return "\n".join([self.groups, self.promise, *left_out, f"Null hypothesis: {self.null_hypothesis}"])
