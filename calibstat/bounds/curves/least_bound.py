"""The least upper bound of the error over two rates of exponential moments."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from calibstat.bounds.curves.runs_of_rows import Runs

STRIDE_UNIT = 0.15  # of the search, on the scale of logarithms
STRIDES = (2, 1)  # of it
LONGEST = 18  # trials


def expected_sum(runs: Runs, power: int) -> float:
    """Return the mean sum of distances of a calibrated model, or slightly more.

    Of absolute sums by de Moivre's formula for binomial numbers, which vary more than rows of unequal probability.
    """
    if power == 2:
        return float((runs.mean * (1 - runs.mean)).sum())
    from scipy.special import gammaln, xlog1py, xlogy

    n, p = runs.rows, runs.mean
    k = np.minimum(np.floor(n * p) + 1, n)
    log = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k + 1, -p)
    return float((2 * k * np.exp(log)).sum())


def least(bound: Callable[[float, float], float], deviation: float, n: float) -> tuple[float, float]:
    """Return the rates theta and eta with the least bound that a short search finds.

    Any rates would do: the bound holds for all of them at once. `deviation` is the unit of 1 / theta.
    """
    known: dict[tuple[int, int], float] = {}
    first = 0.55 / deviation * (max(n, 100) / 1000) ** -0.15  # about the best of predictions that are spread evenly

    def rates(x: int, y: int) -> tuple[float, float]:
        theta = first * math.exp(x * STRIDE_UNIT)
        return theta, 0.55 * theta * math.exp(y * STRIDE_UNIT)

    def at(place: tuple[int, int]) -> float:
        if place not in known:
            known[place] = bound(*rates(*place))
        return known[place]

    place = (0, 0)
    for step in STRIDES:
        moved = True
        while moved and len(known) < LONGEST:
            x, y = place
            place = min((place, (x + step, y), (x - step, y), (x, y + step), (x, y - step)), key=at)
            moved = place != (x, y)
    return rates(*place)
