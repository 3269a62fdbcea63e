"""Other ways to choose how many of the most confident answers are given, and other intervals of the area."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import betainc
from scipy.stats import chi2

MISS = 0.05
SHARES = 20


def tails(errors: np.ndarray, rows: np.ndarray, most: float) -> np.ndarray:
    """Return the probability of so few errors or fewer in so many rows if each has probability `most`."""
    return np.asarray(np.where(errors >= rows, 1.0, betainc(np.maximum(rows - errors, 1e-9), errors + 1, 1 - most)))


def observed(errors: np.ndarray, rows: np.ndarray, most: float) -> int:
    """Return the last place at which the observed error is small enough, as somebody would without a bound."""
    return _last(errors <= most * rows)


def each(errors: np.ndarray, rows: np.ndarray, most: float) -> int:
    """Return the last place that passes the test by itself, as if it were the only one that is looked at."""
    return _last(tails(errors, rows, most) <= MISS)


def one_start(errors: np.ndarray, rows: np.ndarray, most: float) -> int:
    """Return the place before the first that fails, from the fewest rows on that could pass."""
    passed = tails(errors, rows, most) <= MISS
    first = int(np.searchsorted(tails(0 * rows, rows, most) <= MISS, True))
    failed = np.flatnonzero(~passed[first:])
    count = int(failed[0]) if failed.size else passed.size - first
    return first + count - 1 if count else -1


def union(errors: np.ndarray, rows: np.ndarray, most: float) -> int:
    """Return the last of 20 shares that passes at a twentieth of the level."""
    places = np.unique(np.ceil(np.arange(1, SHARES + 1) / SHARES * rows.size).astype(int)) - 1
    found = _last(tails(errors[places], rows[places], most) <= MISS / places.size)
    return int(places[found]) if found >= 0 else -1


def halving(errors: np.ndarray, rows: np.ndarray, most: float) -> int:
    """Return the last place that passes in a search by halves, at the level over its steps (Geifman, El-Yaniv 2017)."""
    steps = int(np.ceil(np.log2(rows.size)))
    low, high, found = 0, rows.size - 1, -1
    for _ in range(steps):
        middle = (low + high + 1) // 2
        if tails(errors[middle], rows[middle], most) <= MISS / steps:
            low, found = middle, middle
        else:
            high = max(middle - 1, low)
    return found


RULES: Mapping[str, Callable[[np.ndarray, np.ndarray, float], int]] = {
    "observed error": observed,
    "each by itself": each,
    "one start": one_start,
    "union of 20": union,
    "search by halves": halving,
}


def _last(passed: np.ndarray) -> int:
    places = np.flatnonzero(passed)
    return int(places[-1]) if places.size else -1


# --- intervals of the area, of rows that all have different confidences, the most confident first ---------------------


def area_ends(wrong: np.ndarray, random: Any, resamples: int) -> dict[str, tuple[float, float]]:
    """Return the ends by the normal distribution, by the gamma distribution (Fay, Feuer 1997), and of a bootstrap."""
    n = wrong.size
    rank = np.arange(1, n + 1)
    share = np.cumsum(wrong) / rank
    area, weight = float(share.mean()), np.cumsum(1 / rank[::-1])[::-1]
    added = wrong * weight + share - np.cumsum((share / rank)[::-1])[::-1] - area
    variance, tail = float(added @ added) / n**2, MISS / 2
    ends = {"normal": (area - 1.96 * variance**0.5, area + 1.96 * variance**0.5)}
    one_more = float(weight[0]) / n
    above, spread = area + one_more, variance + one_more**2
    low = variance / (2 * area) * float(chi2.ppf(tail, 2 * area**2 / variance)) if variance > 0 else 0.0
    ends["gamma"] = low, spread / (2 * above) * float(chi2.ppf(1 - tail, 2 * above**2 / spread))
    if resamples:
        count = random.multinomial(n, np.full(n, 1 / n), resamples)
        rows = np.maximum(np.cumsum(count, axis=1), 1)
        areas = (count * np.cumsum(count * wrong, axis=1) / rows).sum(axis=1) / n
        first, last = np.quantile(areas, [tail, 1 - tail])
        ends["bootstrap"] = float(first), float(last)
    return ends
