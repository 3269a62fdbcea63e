"""The result of comparisons, and what it prints."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.size_of_error import LOW
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.output.wording import level_text, percent
from calibstat.result import NotedResult

if TYPE_CHECKING:
    import pandas as pd

MOST_LISTED = 3  # models by name; of more it is said how many


@dataclass(frozen=True, eq=False)
class Comparison(NotedResult):
    """Result of `compare`.

    Attributes
    ----------
    names : tuple of str, length M
        The models, or the samples.
    estimates : ndarray, shape (M,)
        The measure of each.
    pairs : tuple of pairs of names, length n_pairs
        What was compared: the first minus the second.
    difference, low, high : ndarray, shape (n_pairs,)
        The difference of the measure, 0 if it is rounding alone, and the ends of its interval, nan for `method` "swap",
        which gives none.
    pvalue, pvalue_adjusted : ndarray, shape (n_pairs,)
        Probability, if the null hypothesis holds, of a difference at least as extreme; and adjusted for the number of
        pairs.
    method : {"bootstrap", "swap", "folds"}
        The method of comparison; "folds" of predictions out of fold.
    paired : bool
        Whether all models predict the same rows.
    adjust : {"holm", "bh"}
        How p-values were adjusted.
    confidence_level : float
        The nominal coverage probability of each interval.
    null_hypothesis : str
        The null hypothesis for each pair, in one sentence.
    measure : NamedMeasure
        The measure with its options.
    lens : NamedLens
        The lens.
    n : tuple of int, length M
        Rows of each; with a judge all of them, labelled or not.
    n_resamples : int
        Resamples.
    rows : Rows
        How the rows came about, in words, with what only such rows have: `ClustersOfRows`, `Folds`, `ComparedLabels`.
    errors, errors_low, errors_high : ndarray, shape (M,), or None
        Of `kernel_ce_squared`, and `kernel_ce` without clusters: the kernel error of each model, which is the root of
        the unbiased estimate of its square (0 where this is negative), and the ends of its interval, without draws. Of
        classes it is the root of the mean over the classes.
    same_order : tuple of bool, length n_pairs
        Whether the measure is a proper score of one event, and one prediction of the pair is a strictly increasing
        function of the other on these rows, equal predictions to equal ones. Then both models tell the same rows apart,
        and the difference of the score is a difference of calibration.
    at_least : ndarray, shape (n_pairs,), or None
        By how much the two errors of a pair differ at least, where the p-value is at most 1 - `confidence_level`; else
        0.
    remarks : tuple of str, length n_pairs or 0
        What is to be said of each pair beside the numbers, such as that a plain interval of clusters leaves out 0.
    rates, mean_predictions : ndarray, shape (M,), or None
        Of models with outcomes of their own: the share of outcome 1 of each, which is its accuracy where that means
        right, and its mean prediction.
    """

    names: tuple[str, ...]
    estimates: np.ndarray
    pairs: tuple[tuple[str, str], ...]
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    pvalue: np.ndarray
    pvalue_adjusted: np.ndarray
    method: str
    paired: bool
    adjust: str
    confidence_level: float
    null_hypothesis: str
    measure: NamedMeasure
    lens: NamedLens
    n: tuple[int, ...]
    n_resamples: int
    rows: Rows
    errors: np.ndarray | None = None
    errors_low: np.ndarray | None = None
    errors_high: np.ndarray | None = None
    at_least: np.ndarray | None = None
    same_order: tuple[bool, ...] = ()
    remarks: tuple[str, ...] = ()
    rates: np.ndarray | None = None
    mean_predictions: np.ndarray | None = None

    @property
    def answer(self) -> str:
        """The models that differ, in one sentence: by pairs with an (adjusted) p-value of at most .05."""
        p, k = self.pvalue_adjusted, len(self.pairs)
        shown = [i for i in range(k) if p[i] <= LOW]
        if not shown:
            where = f"between {' and '.join(self.pairs[0])}" if k == 1 else f"for any of {k} pairs of models"
            least = f"{'smallest ' * (k > 1)}{self._p}{settled(np.nanmin(p)):.2g}"
            return f"No difference is shown {where} by {self._by} ({least})."
        ordered = [self.pairs[i] if self.difference[i] < 0 else self.pairs[i][::-1] for i in shown]
        upto = "up to " * (len(shown) > 1)
        return f"{self._shown(ordered)} ({self._p}{upto}{settled(p[shown].max()):.2g})."

    @property
    def _by(self) -> str:
        return "calibration" if self.errors is not None else self.measure.name

    @property
    def _p(self) -> str:
        return "adjusted p " if len(self.pairs) > 1 else "p = "

    def _shown(self, ordered: list[tuple[str, str]]) -> str:
        """Say between which models differences are shown, of each pair the one with the smaller measure first."""
        smaller, larger = dict.fromkeys(a for a, _ in ordered), dict.fromkeys(b for _, b in ordered)
        if len(ordered) == 1:
            return f"{ordered[0][0]} {self._less} than {ordered[0][1]}"
        apart = not smaller.keys() & larger.keys() and len(ordered) == len(smaller) * len(larger)
        if apart and len(smaller) + len(larger) == len(self.names):
            rest = "; within groups no difference is shown" if len(larger) > 1 else "; else no difference is shown"
            return f"{_listed(larger)} {self._more(len(larger))} than {_listed(smaller)}{rest}"
        never = [name for name in smaller if name not in larger]
        best = max(never, key=[a for a, _ in ordered].count) if never else ""
        which = f"; {best} is never worse" if best else ""
        return f"Differences by {self._by} are shown for {len(ordered)} of {len(self.pairs)} pairs{which}"

    @property
    def _less(self) -> str:
        return "is better calibrated" if self.errors is not None else f"has a smaller {self.measure.name}"

    def _more(self, models: int) -> str:
        if self.errors is not None:
            return f"{'is' if models == 1 else 'are'} worse calibrated"
        return f"{'has' if models == 1 else 'have'} a larger {self.measure.name}"

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each pair."""
        import pandas as pd

        names = {"first": [a for a, _ in self.pairs], "second": [b for _, b in self.pairs]}
        columns = ["difference", "low", "high", "pvalue", "pvalue_adjusted"]
        columns += ["at_least"] * (self.at_least is not None)
        return pd.DataFrame({**names, **{name: getattr(self, name) for name in columns}})

    def __str__(self) -> str:
        rows = f"n = {self.n[0]}" if self.paired else "n = " + " and ".join(map(str, self.n))
        measured = ", ".join(
            f"{name} {settled(value):.4g}" for name, value in zip(self.names, self.estimates, strict=True)
        )
        errors, measures = self._errors_in_words(), [f"{self.measure}, {self.lens}, {rows}: {measured}."]
        kind = "exact" if self.method == "swap" else "approximate"
        lines = [self.answer, *(errors or measures)]
        for i in range(len(self.pairs)):
            lines.append(self._pair_in_words(i))
            lines += [self.remarks[i]] if self.remarks and self.remarks[i] else []
        lines += self._rates_in_words()
        lines += [*(measures if errors else []), *self.rows.cautions]
        lines.append(f"Null hypothesis of each pair: {self.null_hypothesis} ({kind}).")
        return "\n".join([*lines, *([self.rows.compared] if self.rows.compared else [])])

    def beside_tables(self) -> list[str]:
        """Return what is to be said beside tables of the numbers."""
        told = (*self._rates_in_words(), *self.remarks, self.rows.compared, self.note)
        return [each for each in told if each]

    def _pair_in_words(self, i: int) -> str:
        """Say the difference of a pair with its interval, if there is one, and its p-value."""
        a, b = self.pairs[i]
        interval = ""
        if self.method != "swap":
            ends = f"[{settled(self.low[i]):.4g}, {settled(self.high[i]):.4g}]"
            interval = f", {level_text(self.confidence_level)} confidence interval {ends}"
        k = len(self.pairs)
        adjusted = f", {settled(self.pvalue_adjusted[i]):.2g} adjusted for {k} pairs" if k > 1 else ""
        of = " (of squares)" if self.errors is not None else ""
        return (
            f"{a} - {b} = {settled(self.difference[i]):.4g}{of}{interval}; p = {settled(self.pvalue[i]):.2g}{adjusted}."
            f"{self._conclusion(i)}"
        )

    def _errors_in_words(self) -> list[str]:
        """Say the kernel error of each model with its interval, in a line, if they are known."""
        if self.errors is None or self.errors_low is None or self.errors_high is None:
            return []
        each = zip(self.names, self.errors, self.errors_low, self.errors_high, strict=True)
        errors = "; ".join(
            f"{name}: {settled(error):.3g} [{settled(low):.3g}, {settled(high):.3g}]" for name, error, low, high in each
        )
        of = ", root mean squares over the classes," if self.lens.reduce else ""
        return [f"Kernel errors{of} with {level_text(self.confidence_level)} confidence intervals: {errors}."]

    def _rates_in_words(self) -> list[str]:
        """Say how often each model has outcome 1 and what it predicts, in a line, if each has outcomes of its own."""
        if self.rates is None or self.mean_predictions is None:
            return []
        each = zip(self.names, self.rates, self.mean_predictions, strict=True)
        what = self.lens.subject
        rates = (
            f"{name}: {what} in {percent(rate)} of rows, mean prediction {percent(mean)}" for name, rate, mean in each
        )
        return [f"{'; '.join(rates)}."]

    def _conclusion(self, i: int) -> str:
        """Say of a pair which error is smaller and by how much at least, if known; or that a score compares errors."""
        if self.same_order and self.same_order[i]:
            return " Both order all rows alike, so that this is a difference of calibration."
        if self.at_least is None or not self.at_least[i] > 0:
            return ""
        better = self.pairs[i][0 if self.difference[i] < 0 else 1]
        return f" The error of {better} is smaller, by at least {settled(self.at_least[i]):.2g}."


def _listed(names: Iterable[str]) -> str:
    """Write names with commas and "and"; of many how many."""
    every = [*names]
    if len(every) > MOST_LISTED:
        return f"the other {len(every)}"
    return " and ".join([", ".join(every[:-1]), every[-1]] if len(every) > 1 else every)
