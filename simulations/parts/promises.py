"""What honest intervals promise, and which rows of a table break a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibstat.study import most_rejections

if TYPE_CHECKING:
    import pandas as pd

FALSE_ALARM = 1e-3  # of a whole study, if all its promises are kept
CONFIDENCE = 0.95
COVERAGE = 0.94  # the least of honest intervals at that confidence


def more_often(table: pd.DataFrame, observed: pd.Series, promise: float) -> pd.DataFrame:
    """Return the rows in which something was observed in more data sets than a promised probability allows."""
    limit = [most_rejections(promise, int(r), FALSE_ALARM / len(table)) for r in table["replicates"]]
    return table[observed > limit]


def missed_too_often(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of honest intervals that miss the truth more often than the promise allows."""
    promised = table[table["method"] == "honest"]
    return more_often(promised, promised["replicates"] - promised["covered"], 1 - COVERAGE)
