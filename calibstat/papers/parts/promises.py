"""The promises of honest intervals, and the rows of a table that break one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibstat.study import most_rejections

if TYPE_CHECKING:
    import pandas as pd

FALSE_ALARM = 1e-3  # of a whole study, if all its promises are kept
PROMISED = 0.95
COVERAGE = 0.94  # the least of honest intervals at that confidence
MORE_MISSES = 1.2  # times the nominal probability, at any confidence


def more_often(table: pd.DataFrame, observed: pd.Series, promise: float, rows: int | None = None) -> pd.DataFrame:
    """Return the rows in which something was observed in more data sets than a promised probability allows.

    The false alarm is that of a table of so many `rows`, by default of those given.
    """
    share = FALSE_ALARM / max(len(table) if rows is None else rows, 1)
    limit = [most_rejections(promise, int(r), share) for r in table["replicates"]]
    return table[observed > limit]


def missed_too_often(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of honest intervals that miss the truth more often than the promise allows, at their level."""
    import pandas as pd

    promised = table[table["method"] == "honest"]
    parts = [promised.iloc[:0]]
    for level, rows in promised.groupby("level", sort=False):
        most = MORE_MISSES * (1 - float(level))  # type: ignore[arg-type]
        parts.append(more_often(rows, rows["replicates"] - rows["covered"], most, len(promised)))
    return pd.concat(parts)
