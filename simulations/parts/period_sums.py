"""Sums over the rows of each period of a stream, for many copies of its outcomes, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from scipy.special import chdtri, logit

from calibstat.generators import stream
from calibstat.generators.simulator import drawing
from calibstat.monitoring.directions import log_likelihood_ratios

Columns = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""What a row adds, from predictions and true probabilities (m,): shape (2, m, K), of outcome 0 and of outcome 1."""


def period_sums(model: stream, last: int, copies: int, columns: Columns, rng: np.random.SeedSequence) -> np.ndarray:
    """Return the sums of periods 1 to `last`, shape (copies, last, K): the same predictions, new outcomes for each."""
    rows, outcomes = rng.spawn(2)
    _, random = drawing(1, outcomes)
    found = []
    for period, _, p in model.periods(1, last, rows):
        value, count = np.unique(p, return_counts=True)
        generator = model.generator(period)
        chance = value if generator.is_calibrated else generator.curve(value)
        negative, positive = columns(value, chance)
        positives = random.binomial(count, chance, (copies, value.size))
        found.append(count @ negative + positives @ (positive - negative))
    return np.stack(found, axis=1)


def monitored(value: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the log-likelihood ratios of a monitor, and the columns of the Cox test."""
    return _monitored(value.tobytes())


@lru_cache(2048)  # tied predictions come again
def _monitored(given: bytes) -> np.ndarray:
    value, one = np.frombuffer(given), np.ones(1)
    ratios = [[log_likelihood_ratios(value[j : j + 1], one, y * one) for j in range(value.size)] for y in (0, 1)]
    return np.concatenate([ratios, cox_columns(value, value)], axis=2)


def cox_columns(value: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """Return the sums of the Cox test: the score of intercept and slope, and the information on both."""
    inner = (value > 0) & (value < 1)
    x = np.zeros_like(value)
    x[inner] = logit(value[inner])
    information = value * (1 - value) * np.stack([np.ones_like(x), x, x * x])
    score = [inner * (y - value) * np.stack([np.ones_like(x), x]) for y in (0, 1)]
    return np.stack([np.concatenate([part, information]).T for part in score])


def cox_statistic(sums: np.ndarray) -> np.ndarray:
    """Return the score statistic of intercept 0 and slope 1, 0 where the information on one of them is none."""
    u, w, a, b, c = np.moveaxis(sums, -1, 0)
    determinant = a * c - b * b
    some = determinant > 1e-9 * a * c
    return np.where(some, (c * u * u - 2 * b * u * w + a * w * w) / np.where(some, determinant, 1), 0)


def cox_limit(level: float) -> float:
    """Return the value that the statistic exceeds with probability `level` in the limit of many rows."""
    return float(chdtri(2, level))


def first_time(event: np.ndarray) -> np.ndarray:
    """Return the number, from 1, of the first period with an event along the last axis, inf if there is none."""
    return np.where(event.any(axis=-1), event.argmax(axis=-1) + 1.0, np.inf)
