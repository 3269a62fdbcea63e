"""Populations in which intervals have failed: rival sums, rare outcomes, certain groups, ends, and waves.

Those whose errors are of the size of the noise, or that have a few events, depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibstat import generators

from .cases import Clusters
from .class_cases import few_vectors

AROUND = np.array([0.6, 0.8, 1, 1.2, 1.4])  # five predictions about one
POINTS = 1000  # of a curve
WAVES = 15
ROWS_OF_CLUSTER = 20


def atoms(probability: Sequence[float], chance: Any, prediction: Any) -> generators.domain:
    """Return a population of few predictions."""
    weight = np.array(probability) / np.sum(probability)
    return generators.domain(*(np.asarray(each, np.float64).tolist() for each in (weight, chance, prediction)))


def noise_unit(prediction: float, rows: float) -> float:
    """Return the standard error of the observed frequency of so many rows."""
    return float(np.sqrt(prediction * (1 - prediction) / rows))


def rivals(n: int, units: float) -> generators.domain:
    """Half predicted .1, never happen; the others too low, so that two sums of residuals tie within so many units."""
    too_low = 0.2 + units * noise_unit(0.4, n / 2)  # the first half adds -.05, the second takes it to .05
    rest = 0.4 * AROUND
    return atoms([5, *[1] * 5], [0, *(rest + too_low)], [0.1, *rest])


def certain_high(n: int) -> generators.domain:
    """A quarter predicted .95, always happen; the rest predicted .6, off by .3 noise units."""
    return atoms([1, 3], [1, 0.6 - 0.3 * noise_unit(0.6, 0.75 * n)], [0.95, 0.6])


def certain_low(n: int) -> generators.domain:
    """Of 100 rows 18 predicted .06, never happen; the rest predicted .9, off by .3 noise units."""
    return atoms([18, 82], [0, 0.9 + 0.3 * noise_unit(0.9, 0.82 * n)], [0.06, 0.9])


def few_events(n: int) -> dict[str, Any]:
    """Return one prediction with two events expected, calibrated and half, and rare events beside rare non-events."""
    two = 2 / n
    return {
        "2 events, one prediction": atoms([1], [two], [two]),
        "2 events, predicted half": atoms([1], [two], [two / 2]),
        "2 events and 2 non-events": atoms([1, 1], [2 * two, 1 - 2 * two], [2 * two, 1 - 2 * two]),
    }


def at_noise(n: int) -> dict[str, Any]:
    """Return the populations that depend on the number of rows."""
    several = {f"rivals {units:g}": rivals(n, units) for units in (0, 0.5, 1)}
    return several | {"certain .95": certain_high(n), "certain .06": certain_low(n)} | few_events(n)


def rare() -> dict[str, Any]:
    """Return rare outcomes, calibrated and predicted a third."""
    found = {}
    for prevalence in (0.01, 0.001):
        chance = prevalence * AROUND
        label = f"rare {prevalence:g}".replace("0.", ".")
        found[f"{label}, calibrated"] = atoms([1] * 5, chance, chance)
        found[f"{label}, a third"] = atoms([1] * 5, chance, (chance / 3).round(7))
    return found


def waves() -> generators.domain:
    """Uniform predictions v, off by .95 min(v, 1 - v) sin(15 pi v): quantile bins move beside the waves."""
    v = (np.arange(POINTS) + 0.5) / POINTS
    return atoms([1] * POINTS, v + 0.95 * np.minimum(v, 1 - v) * np.sin(WAVES * np.pi * v), v)


def at_ends() -> generators.domain:
    """Of ten rows 4 predicted 0, which happen in .002, and 4 predicted 1, in .998."""
    return atoms([4, 2, 4], [0.002, 0.5, 0.998], [0, 0.5, 1])


def rival_classes(n: int, units: float) -> few_vectors:
    """Three classes, of which the first is off by .05, and the others by .05 within so many noise units."""
    error = 0.05 + 2 * units * noise_unit(0.5, n / 2)
    second = round(0.5 + error, 9), round(0.45 - error, 9)
    return few_vectors((1, 1), ((1.0, 0.0, 0.0), (0.05, *second)), ((0.9, 0.05, 0.05), (0.05, 0.5, 0.45)))


def few_clusters() -> dict[str, Clusters]:
    """Return few clusters whose outcomes are comonotone, calibrated and predicted too low."""
    return {
        f"{number} clusters, prevalence {chance:g}, {label}": Clusters(
            number, (1,), (ROWS_OF_CLUSTER,), 1.0, (chance,), (round(chance * factor, 6),)
        )
        for number in (15, 40)
        for chance in (0.3, 0.01)
        for label, factor in (("calibrated", 1), ("predicted two thirds", 2 / 3))
    }
