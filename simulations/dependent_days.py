"""How often do intervals of the mean of a series of days miss, where neighbouring days are alike?

A day has one number, such as its mean residual, with mean 0 in truth. It depends on the day before: with a correlation
from 0 to .9, or as wet and dry spells last, or skewed, with an exponential law. Intervals are Student's t of the sums
of days, weeks, 28 days, and of `cs.blocks`, and those by Newey and West, who add up covariances of lags: few lags, as
textbooks have it, and many. Both sides are counted: a truth below the interval, and one above it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr
from scipy.stats import norm
from scipy.stats import t as student

import calibstat as cs
from calibstat.generators.distributions import Random
from calibstat.generators.simulator import drawing
from calibstat.study import Study
from calibstat.study.question import rate_of
from calibstat.study.stored_rows import Row

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SEED = 20943
LEVEL = 0.95
DAYS = (100, 365, 730)
REPLICATES = 10_000
SPELL, WET = 7, 1 / 3  # days that a wet spell lasts on average, and the share of wet days


@dataclass(frozen=True)
class Series:
    """Days in a row, of which the mean is 0 in truth."""

    label: str
    correlation: float
    sample: Callable[[Random, int, int], np.ndarray]


def normal(correlation: float, random: Random, replicates: int, days: int) -> np.ndarray:
    """Draw series of standard normal numbers, each with this correlation with the day before."""
    own = np.sqrt(1 - correlation**2)
    drawn = random.standard_normal((replicates, days))
    drawn[:, 0] /= own  # the first day has no day before, and the same variance
    return np.asarray(lfilter([own], [1, -correlation], drawn))


def skewed(correlation: float, random: Random, replicates: int, days: int) -> np.ndarray:
    """Draw series with an exponential law, less their mean."""
    return -np.log(ndtr(-normal(correlation, random, replicates, days))) - 1


def wet(random: Random, replicates: int, days: int) -> np.ndarray:
    """Draw series of 1 on a wet day and 0 on a dry one, less their mean."""
    uniform = random.random((replicates, days))
    found = np.empty((replicates, days))
    found[:, 0] = uniform[:, 0] < WET
    begins = WET / (1 - WET) / SPELL
    for day in range(1, days):
        found[:, day] = uniform[:, day] < np.where(found[:, day - 1] > 0, 1 - 1 / SPELL, begins)
    return found - WET


SERIES = [
    *(Series(f"correlation {each:g}", each, partial(normal, each)) for each in (0, 0.3, 0.6, 0.8, 0.9)),
    Series("wet spells", 1 - 1 / SPELL - WET / (1 - WET) / SPELL, wet),
    Series("skewed, correlation 0.6", 0.6, partial(skewed, 0.6)),
]


def of_sums(length: int | None, series: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the mean of each series, half the width of its t interval of sums of days, and the number of sums.

    A sum is of so many days, or of a block. The variance is of what a sum differs from its days times the mean.
    """
    days = series.shape[1]
    unit = cs.blocks(np.arange(days)) if length is None else np.arange(days) // length
    first, size = np.unique(unit, return_index=True, return_counts=True)[1:]
    mean = series.mean(axis=1)
    added = np.add.reduceat(series, first, axis=1) - size * mean[:, None]
    error = np.sqrt(size.size / (size.size - 1) * (added**2).sum(axis=1)) / days
    return mean, float(student.ppf((1 + LEVEL) / 2, size.size - 1)) * error, size.size


def newey_west(lags: Callable[[int], float], series: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the mean of each series, half the width of its normal interval by weighted lags, and their number."""
    days = series.shape[1]
    number = int(lags(days))
    mean = series.mean(axis=1)
    rest = series - mean[:, None]
    variance = np.einsum("ij,ij->i", rest, rest)
    for lag in range(1, number + 1):
        variance += 2 * (1 - lag / (number + 1)) * np.einsum("ij,ij->i", rest[:, lag:], rest[:, :-lag])
    return mean, float(norm.ppf((1 + LEVEL) / 2)) * np.sqrt(variance) / days, number


METHODS: dict[str, Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, int]]] = {
    "days": partial(of_sums, 1),
    "weeks": partial(of_sums, 7),
    "28 days": partial(of_sums, 28),
    "cs.blocks": partial(of_sums, None),
    "Newey-West, few lags": partial(newey_west, lambda days: 0.75 * days ** (1 / 3)),
    "Newey-West, many lags": partial(newey_west, lambda days: 1.3 * days**0.5),
}


def table(*, quick: bool, n_jobs: int | None = None) -> pd.DataFrame:
    """Ask all methods about all series."""
    import pandas as pd
    from joblib import Parallel, delayed

    replicates = 200 if quick else REPLICATES
    cells = [(days, number) for days in DAYS for number in range(len(SERIES))]
    found = Parallel(n_jobs=n_jobs)(delayed(rows_of)(*cell, replicates) for cell in cells)
    return pd.DataFrame([row for rows in found for row in rows])


def rows_of(days: int, number: int, replicates: int) -> list[Row]:
    """Count how often each method misses on either side in series of a kind, and how wide it is."""
    _, random = drawing(replicates, np.random.SeedSequence([SEED, days, number]))
    kind = SERIES[number]
    series = kind.sample(random, replicates, days)
    rows = []
    for name, method in METHODS.items():
        mean, half, parts = method(series)
        below, above = mean - half > 0, mean + half < 0
        row = {"question": "misses", "generator": kind.label, "n": days, "correlation": kind.correlation}
        row |= {"method": name, "parts": parts, "level": LEVEL, "replicates": replicates}
        row |= {"missed_below": int(below.sum()), "missed_above": int(above.sum())}
        rows.append(row | rate_of("missed", below | above) | {"mean_width": float(2 * half.mean())})
    return rows


def figures(table: pd.DataFrame) -> Mapping[str, Figure]:
    """Draw how often each method misses, on either side together, for each kind of series."""
    from matplotlib.figure import Figure

    from calibstat.plots.style import colors

    figure = Figure(figsize=(9, 4.6), layout="constrained")
    numbers = sorted(table["n"].unique())
    for ax, days in zip(figure.subplots(1, len(numbers), sharey=True), numbers, strict=True):
        part = table[table["n"] == days]
        for (name, rows), hue, marker in zip(
            part.groupby("method", sort=False), colors().values(), "os^vD<", strict=False
        ):
            place = np.arange(len(rows))
            reach = [rows["rate"] - rows["low"], rows["high"] - rows["rate"]]
            ax.errorbar(place, rows["rate"], yerr=reach, fmt=f"{marker}-", ms=4, lw=1, color=hue, label=str(name))
        ax.axhline(1 - LEVEL, color="black", ls="--", lw=1)
        ax.set_xticks(place, part["generator"].unique(), rotation=40, ha="right", fontsize="small")
        ax.set_title(f"{days} days", fontsize="medium")
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.supylabel("share of series whose mean is missed", fontsize="medium")
    return {"": figure}


study = Study(
    question="How often do intervals of the mean of a series of days miss, where neighbouring days are alike?",
    seed=SEED,
    runtime_hours=0.01,
    table=table,
    figures=figures,
)
