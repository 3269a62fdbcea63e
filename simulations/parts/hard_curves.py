"""Predictions and calibration curves that are hard for an upper end of the error without bins."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import beta, binom

from calibstat import Sample, Slope, Variation
from calibstat.bounds.curves.curve_interval import CurveBound, proven_exponent, studied_exponent
from calibstat.bounds.curves.curve_shapes import Shape, shape_of
from calibstat.bounds.curves.runs_of_rows import Runs
from calibstat.generators.distributions import Random

EXPONENTS = {"honest": studied_exponent, "proven": proven_exponent}
LEVELS = 201  # of the curves that the programme makes
HALVINGS = 22


def predictions(name: str, n: int, random: Random | None = None) -> np.ndarray:
    """Return n ascending predictions of a population, at its quantiles or drawn."""
    share = (np.arange(n) + 0.5) / n if random is None else np.sort(random.random(n))
    if name.endswith(" values"):
        values = int(name.removesuffix(" values"))
        return np.asarray(np.floor(share * values).clip(0, values - 1) / (values - 1))
    if name == "half sure":
        sure = np.where(share < 0.25, 0.001, 0.999)
        return np.sort(np.where((share < 0.25) | (share > 0.75), sure, 2 * share - 0.5))
    laws = {
        "uniform": beta(1, 1),
        "ends": beta(0.5, 0.5),
        "rare .02": beta(0.5, 24.5),
        "rare .005": beta(0.5, 99.5),
        "low": beta(2, 18),
        "middle": beta(20, 20),
        ".50 to .52": beta(1, 1, 0.5, 0.02),
    }
    return np.asarray(laws[name].ppf(share))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with given predictions, whose outcomes are not yet drawn.

    Attributes
    ----------
    prediction : ndarray, shape (n,)
        Ascending.
    shape : str or Shape
        What is said of the curve.
    """

    prediction: np.ndarray
    shape: str | Shape = "nondecreasing"

    @cached_property
    def bound(self) -> CurveBound:
        """The bounds, of which only the sum of distances depends on outcomes."""
        value, count = np.unique(self.prediction, return_counts=True)
        sample = Sample.from_counts(value, count, np.zeros(value.size))
        return CurveBound(sample, Runs.of(sample.value, sample.count), shape_of(self.shape), 1)

    @cached_property
    def cell(self) -> np.ndarray:
        """The run of each row."""
        return np.asarray(self.bound.runs.cell[np.searchsorted(self.bound.sample.value, self.prediction)])

    def exponent(self, method: str, tail: float) -> float:
        """Return the exponent of a method."""
        return EXPONENTS[method](self.bound.runs, 1, tail)

    def truth(self, curve: np.ndarray) -> float:
        """Return the error at these predictions of a curve."""
        return float(np.abs(curve - self.prediction).mean())

    def least_sum(self, truth: float, exponent: float) -> float:
        """Return the sum of distances up to which the end is below this truth; 0 if it never is."""
        bound = self.bound
        if bound.end(exponent, bound.expected) >= truth:
            return 0.0
        low, high = bound.expected, float(self.prediction.size)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if bound.end(exponent, middle) < truth else (low, middle)
        return low

    def sums(self, random: Random, curve: np.ndarray, data_sets: int) -> np.ndarray:
        """Return the sums of distances of data sets."""
        starts = np.flatnonzero(np.diff(self.cell, prepend=-1))
        expected = np.add.reduceat(self.prediction, starts)
        found = np.empty(data_sets)
        for i in range(data_sets):
            outcome = random.random(curve.size) < curve
            found[i] = np.abs(np.add.reduceat(outcome, starts, dtype=np.float64) - expected).sum()
        return found

    def function(self, curve: np.ndarray) -> np.ndarray:
        """Return a curve with one value at each prediction: the mean of the rows with this prediction."""
        place = np.searchsorted(self.bound.sample.value, self.prediction)
        return np.asarray((np.bincount(place, curve) / self.bound.sample.count)[place])

    def curves(self, random: Random) -> Iterator[tuple[str, np.ndarray]]:
        """Yield curves of the shape, by name: the largest of the programme, and others that it does not know."""
        for label, curve in self._curves(random):
            yield label, self.made(curve)

    def made(self, curve: np.ndarray) -> np.ndarray:
        """Return a curve of the shape: ordered, or as far on the way from calibrated to this curve as the shape goes.

        It has one value at each prediction.
        """
        v, curve = self.prediction, np.clip(curve, 0.0, 1.0)
        if isinstance(self.shape, str):
            return self.function(np.maximum.accumulate(curve))
        curve = self.function(curve)
        step, gap = np.abs(np.diff(curve - v)), np.diff(v)
        beyond = 1.0  # how many times as far as the shape goes
        if isinstance(self.shape, Variation):
            beyond = max(step.sum() / self.shape.most, 1.0)
        elif isinstance(self.shape, Slope):
            beyond = max((step[gap > 0] / gap[gap > 0]).max(initial=0.0) / self.shape.most, 1.0)
        return np.asarray(v + (curve - v) / beyond)

    def _curves(self, random: Random) -> Iterator[tuple[str, np.ndarray]]:
        v, n = self.prediction, self.prediction.size
        error = math.sqrt(max(float((v * (1 - v)).mean()), 1e-4) / (n / self.bound.runs.rows.size))
        local = error * np.sqrt(v * (1 - v) / max(float((v * (1 - v)).mean()), 1e-4))
        for theta in (0.25, 0.45, 0.8):
            for eta in (0.4, 0.55, 0.7, 0.85):
                largest = self.largest(theta, eta)
                for times in (1.0, 1.2):
                    yield f"largest {theta:g} {eta:g} x {times:g}", v + times * (largest - v)
        for stairs in (1, 2, 3, 4, 6, 9, 14, 20, 30):
            edges = (np.arange(n) * stairs) // n
            means = np.bincount(edges, v) / np.bincount(edges)
            yield f"{stairs} stairs", means[edges]
            yield f"{stairs} stairs, higher", means[edges] + error / 2
            waves = error * np.sin(2 * math.pi * stairs * np.arange(n) / n)
            yield f"{stairs} waves", v + waves
            yield f"{stairs} waves of 2 errors", v + 2 * waves
        for gap in (0.5, 0.8, 1.2, 1.8, 2.5):
            yield f"above by {gap:g} errors", v + gap * error
            yield f"below by {gap:g} errors", v - gap * error
            yield f"above by {gap:g} errors there", v + gap * local
            yield f"below by {gap:g} errors there", v - gap * local
            for length in (1, 2, 4):
                sign = np.where((self.cell // length) % 2, 1, -1)
                yield f"saw of {length} runs, {gap:g} errors", v + gap * error * sign
        for factor in (0.6, 0.8, 1.3, 1.7):
            odds = np.clip(v, 1e-9, 1 - 1e-9) / (1 - np.clip(v, 1e-9, 1 - 1e-9))
            yield f"odds to the power {factor:g}", odds**factor / (1 + odds**factor)
            yield f"odds times {factor:g}", factor * odds / (1 + factor * odds)
        for _ in range(10):
            yield "random steps", v + error * np.repeat(random.normal(0, 1.5, 8), -(-n // 8))[:n]

    def largest(self, theta: float, eta: float) -> np.ndarray:
        """Return the largest curve of a programme of cells in which curves are constant.

        Rates are in units of the mean standard deviation of a run, and of theta.
        """
        runs, level = self.bound.runs, np.sin(np.linspace(0, math.pi / 2, LEVELS)) ** 2
        deviation = math.sqrt(max(float((runs.rows * runs.mean * (1 - runs.mean)).mean()), 1e-3))
        theta, eta = theta / deviation, eta * theta / deviation
        best, froms = np.zeros(LEVELS), []
        for b, n in enumerate(runs.rows):
            v = self.prediction[self.cell == b]
            y = np.arange(n + 1)
            hidden = np.log(np.exp(-theta * np.abs(y - v.sum())) @ binom.pmf(y[:, None], n, level) + 1e-300)
            below = np.maximum.accumulate(best)
            froms.append(np.maximum.accumulate(np.where(best == below, np.arange(LEVELS), 0)))
            best = below + hidden + eta * np.abs(level[:, None] - v).sum(axis=1)
        at, steps = int(best.argmax()), []
        for each in reversed(froms):
            steps.append(level[at])
            at = int(each[at])
        return np.asarray(np.array(steps[::-1])[self.cell])


def changed(random: Random, curve: np.ndarray) -> np.ndarray:
    """Return a curve beside another: a part of it moved, stretched or flattened."""
    n = curve.size
    start, stop = np.sort(random.integers(0, n + 1, 2))
    new = curve.copy()
    kind = random.integers(3)
    spread = max(float(np.ptp(curve)), 0.01)
    if kind == 0:
        new[start:stop] += random.normal(0, 0.05 * spread)
    elif kind == 1:
        new = new + random.normal(0, 0.1) * (new - new.mean())
    elif stop > start:
        new[start:stop] = new[start:stop].mean()
    return new
