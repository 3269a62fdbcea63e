"""Tables of studies: writing them, and the most rejections that a promised rate allows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from calibstat.output.csv_text import SixDigits, as_csv

if TYPE_CHECKING:
    import pandas as pd


def most_rejections(level: float, replicates: int, false_alarm: float) -> int:
    """Return the most rejections that are still compatible with a promised rate.

        >>> import calibstat as cs
        >>> cs.study.most_rejections(0.05, 2000, 1e-4)
        138

    Parameters
    ----------
    level : float
        The promise: each replicate is a rejection (or a miss, for an interval) with at most this probability.
    replicates : int
        Independent replicates.
    false_alarm : float
        The probability with which a kept promise may be called broken. For many cells, divide it by their number.

    Returns
    -------
    int
        The smallest k with P(X > k) <= false_alarm for X ~ Binomial(replicates, level).
    """
    from scipy.stats import binom

    return int(binom.isf(false_alarm, replicates, level))


def write_table(frame: pd.DataFrame, path: str | Path, **facts: object) -> None:
    """Write a study as CSV under one comment line of facts, such as the command and the seed that made it.

    Parameters
    ----------
    frame : pandas.DataFrame
        What `run` returned. Text that a spreadsheet would take for a formula is written after an apostrophe.
    path : str or Path
        The file; folders above it are made.
    **facts
        What to say in the first line, after ``#``. Read the file with ``pandas.read_csv(path, comment="#")``.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    header = "; ".join(f"{key}: {value}" for key, value in facts.items())
    path.write_text(f"# {header}\n{as_csv(frame, SixDigits)}", encoding="utf-8")
