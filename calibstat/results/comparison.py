"""What comparisons of models found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Comparison(Result):
    """What `compare` found.

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
    method : {"bootstrap", "swap"}
        How it was made.
    paired : bool
        Whether all models were asked about the same rows.
    adjust : {"holm", "bh"}
        How p-values were adjusted.
    confidence_level : float
        The probability with which each interval is meant to cover its difference.
    null_hypothesis : str
        What is tested of each pair, in one sentence.
    measure, lens : str
        The measure with its options, and what was looked at.
    n : tuple of int, length M
        Rows of each.
    n_resamples : int
        Resamples.
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
    measure: str
    lens: str
    n: tuple[int, ...]
    n_resamples: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each pair."""
        import pandas as pd

        names = {"first": [a for a, _ in self.pairs], "second": [b for _, b in self.pairs]}
        columns = ("difference", "low", "high", "pvalue", "pvalue_adjusted")
        return pd.DataFrame({**names, **{name: getattr(self, name) for name in columns}})

    def __str__(self) -> str:
        several = len(self.pairs) > 1
        rows = f"n = {self.n[0]}" if self.paired else "n = " + " and ".join(map(str, self.n))
        measured = ", ".join(f"{name} {value:.4g}" for name, value in zip(self.names, self.estimates, strict=True))
        lines = [f"{self.measure}, {self.lens}, {rows}: {measured}."]
        for i, (a, b) in enumerate(self.pairs):
            interval = "" if self.method == "swap" else f", {self.confidence_level:.4g} confidence interval "
            interval += "" if self.method == "swap" else f"[{self.low[i]:.4g}, {self.high[i]:.4g}]"
            adjusted = f", {self.pvalue_adjusted[i]:.3g} adjusted for {len(self.pairs)} pairs" if several else ""
            lines.append(f"{a} - {b} = {self.difference[i]:.4g}{interval}; p = {self.pvalue[i]:.3g}{adjusted}.")
        kind = "exact" if self.method == "swap" else "approximate"
        return "\n".join([*lines, f"Null hypothesis of each pair: {self.null_hypothesis} ({kind})."])
