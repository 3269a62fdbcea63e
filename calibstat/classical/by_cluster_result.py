"""The table of clusters, such as hospitals, that a validation has: numbers of each, their means and their spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.classical.mean_over_clusters import Interval, MeanOverClusters
from calibstat.digits import settled, writer
from calibstat.output.visible_text import aligned, visible
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

MOST_PRINTED = 20
LETTERS = 24  # of a name in the printed table
OF_EACH = ("ratio", "difference", "in_the_large", "slope")
HEADS = ("O/E", "O - E per row", "in the large", "slope")


@dataclass(frozen=True, eq=False)
class ByCluster(Result):
    """Numbers of each cluster, such as a hospital, in the field `by_cluster` of a `Validation`.

    >>> import numpy as np
    >>> import calibstat as cs
    >>> y, p = cs.generators.temperature(2.0).sample(1200, rng=1)
    >>> table = cs.validate(y, p, cluster=np.repeat(np.arange(30), 40)).by_cluster
    >>> table.names[:3], table.ratio[:3].round(2)
    ((0, 1, 2), array([1.12, 0.98, 0.86]))
    >>> print(table.mean_ratio)
    1.02 (0.974 to 1.07); spread between clusters, tau: 0; a further cluster: 0.974 to 1.07 (approximate)

    Attributes
    ----------
    names : tuple
        The labels of the k clusters, in their order; what is neither a number nor a text is written as text.
    n, events : ndarray of int64, shape (k,)
        Rows, and those with outcome 1.
    expected : ndarray, shape (k,)
        The expected number of events, the sum of the predictions.
    ratio, difference, in_the_large, slope : ndarray, shape (k,)
        O/E; (O - E) / n, observed minus expected events per row; the intercept of Cox's recalibration if the slope is
        1; and its slope. 1, 0, 0 and 1 if calibrated; nan where there is none, see `missing`.
    ratio_interval, difference_interval, in_the_large_interval, slope_interval : ndarray, shape (k, 2)
        The intervals of each cluster by itself, of rows that are independent within it, as `validate` has them of
        these rows alone. They do not hold for all clusters at once.
    missing : tuple of str
        Why numbers of each cluster are nan; "" if none is.
    mean_ratio, mean_in_the_large : MeanOverClusters
        The mean over clusters of O/E, and approximately of calibration in the large, with the spread between clusters.
    ratio_of_rows : float
        O/E of all rows, the `ratio` of the validation: the mean over patients, where `mean_ratio` is over hospitals.
    ratio_of_rows_interval : tuple of two floats
        Its interval, of clusters that are independent.
    confidence_level : float
        Of all intervals.
    """

    names: tuple[int | float | str, ...]
    n: np.ndarray
    events: np.ndarray
    expected: np.ndarray
    ratio: np.ndarray
    ratio_interval: np.ndarray
    difference: np.ndarray
    difference_interval: np.ndarray
    in_the_large: np.ndarray
    in_the_large_interval: np.ndarray
    slope: np.ndarray
    slope_interval: np.ndarray
    missing: tuple[str, ...]
    mean_ratio: MeanOverClusters
    mean_in_the_large: MeanOverClusters
    ratio_of_rows: float
    ratio_of_rows_interval: Interval
    confidence_level: float

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each cluster, numbers with the ends of their intervals beside them."""
        import pandas as pd

        columns = {"cluster": self.names, "n": self.n, "events": self.events, "expected": self.expected}
        for name in OF_EACH:
            ends = getattr(self, f"{name}_interval")
            columns |= {name: getattr(self, name), f"{name}_low": ends[:, 0], f"{name}_high": ends[:, 1]}
        return pd.DataFrame({**columns, "missing": self.missing})

    @property
    def answer(self) -> str:
        """The mean over clusters, and the mean over rows, in a line each."""
        write = writer(".3g")
        low, high = map(write, self.ratio_of_rows_interval)
        return (
            f"O/E, mean over {len(self.names):,} clusters: {self.mean_ratio}.\n"
            f"O/E of all rows, which weighs every row alike: {write(self.ratio_of_rows)} ({low} to {high})."
        )

    @property
    def table(self) -> str:
        """The first clusters, a line each, and how many there are more."""
        shown = range(min(len(self.names), MOST_PRINTED))
        lines: list[tuple[str, ...]] = [("cluster", "rows", "O", "E", *HEADS)]
        for c in shown:
            numbers = (_with_ends(getattr(self, each)[c], getattr(self, f"{each}_interval")[c]) for each in OF_EACH)
            expected = f"{settled(self.expected[c]):.1f}"
            lines.append((short_name(self.names[c]), f"{self.n[c]:,}", f"{self.events[c]:,}", expected, *numbers))
        more = len(self.names) - len(shown)
        return "\n".join(aligned(lines) + [f"and {more:,} more clusters: to_frame() has all."] * (more > 0))

    def __str__(self) -> str:
        level = f"{settled(100 * self.confidence_level):.4g} %"
        dashes = [f"A dash: {why}." for why in sorted(set(self.missing[:MOST_PRINTED]) - {""})]
        return "\n".join(
            [
                self.answer,
                f"Calibration in the large, mean over clusters, approximate: {self.mean_in_the_large}.",
                f"Each cluster by itself, {level} intervals of rows that are independent within it:",
                self.table,
                *dashes,
            ]
        )


def short_name(name: int | float | str) -> str:
    """Return the name of a cluster in one line, cut if it is long."""
    text = " ".join(visible(str(name)).split())
    return text if len(text) <= LETTERS else f"{text[: LETTERS - 1]}…"


def _with_ends(number: float, ends: np.ndarray) -> str:
    """Write a number with its interval, or a dash."""
    if np.isnan(number):
        return "-"
    low, high = (f"{settled(end):.2f}" for end in ends)
    return f"{settled(number):.2f} ({low} to {high})"
