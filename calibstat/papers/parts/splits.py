"""Every split of every file, and means over splits and over files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.cli.terminal import late_bar
from calibstat.study.stored_rows import stored

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]

EVERY = "all files"


def every_split(
    sources: Mapping[str, Any], splits: int, ask: Callable[[Any, int], list[Row]], n_jobs: int | None
) -> list[Row]:
    """Return the rows of ``ask(source, split)`` for every split of every source, with its name as the file."""
    from joblib import Parallel, delayed

    tasks = [(name, source, split) for name, source in sources.items() for split in range(splits)]
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    rows: list[Row] = []
    with late_bar(len(tasks)) as show:
        parts = parallel(delayed(ask)(source, split) for _, source, split in tasks)
        for done, ((name, _, _), part) in enumerate(zip(tasks, parts, strict=True), 1):
            rows += [{"file": name, **row} for row in part]
            show(done, f"{name}: splits")
    return rows


def stored_split(
    store: Path | None, ask: Callable[[Any, int, Row], list[Row]], options: Row, source: Any, split: int
) -> list[Row]:
    """Return the rows of ``ask(source, split, options)``, from the store if they are there."""
    return stored(store, (source, split, sorted(options.items())), lambda: ask(source, split, options))


def table_of_splits(rows: Sequence[Row], texts: Row, labels: Sequence[str], questions: Sequence[str]) -> pd.DataFrame:
    """Return the means of the rows of `every_split`, over splits and, of these questions, over files.

    `texts` are labels that a row need not have.
    """
    import pandas as pd

    frame = pd.DataFrame([{**texts, **row} for row in rows])
    frame = frame.reindex(columns=[*labels, "value", "low", "high", "rank", "n"])
    return over_files(averaged(frame, labels), frame, labels, questions)


def averaged(rows: pd.DataFrame, labels: Sequence[str]) -> pd.DataFrame:
    """Average rows of the same labels over the splits, and count those in which an interval is on one side of 0.

    A claim is counted likewise, if its low and high end are there.
    """
    rows = rows.assign(below=rows["high"] < 0, above=rows["low"] > 0)
    compared = rows["question"].isin(("difference", "claim")) & rows["low"].notna()
    rows[["below", "above"]] = rows[["below", "above"]].astype(float).where(compared)
    parts = rows.groupby(list(labels), sort=False, dropna=False)
    found = parts.agg(
        splits=("value", "size"),
        mean=("value", "mean"),
        sd=("value", spread),
        low=("low", "mean"),
        high=("high", "mean"),
        below=("below", "sum"),
        above=("above", "sum"),
        rank=("rank", "mean"),
    )
    sides = ["below", "above"]
    found[sides] = found[sides].where(parts["above"].count() == found["splits"])  # nan if a split has no interval
    return found.reset_index()


def over_files(
    found: pd.DataFrame, rows: pd.DataFrame, labels: Sequence[str], questions: Sequence[str]
) -> pd.DataFrame:
    """Add means over the files of each block of several, and standard deviations over these files.

    `found` are means over splits of `rows` by the labels, of which "classes" and "file" are left out of the groups, and
    "reason", if it is one; `questions` are those that are asked of all files.
    """
    import pandas as pd

    n = rows.groupby("file", sort=False)["n"].max()
    found = found.drop(columns="rank").assign(files=1, n=found["file"].map(n))
    of = [name for name in labels if name not in ("classes", "file", "at", "reason")]
    parts = [found]
    for classes, block in found[found["classes"] > 0].groupby("classes", sort=False):
        if block["file"].nunique() < 2:
            continue
        groups = block[block["question"].isin(questions)].groupby(of, sort=False)["mean"]
        means = groups.agg(files="size", mean="mean", sd=spread).reset_index()
        parts.append(means.assign(classes=classes, file=EVERY, reason=""))
    return pd.concat(parts, ignore_index=True)


def spread(values: pd.Series) -> float:
    """Return the standard deviation, nan of one value or if some value is infinite."""
    numbers = values.to_numpy()
    return float(numbers.std(ddof=1)) if numbers.size > 1 and np.isfinite(numbers).all() else np.nan
