"""Measures of the cumulative sum of residuals, such as Kolmogorov-Smirnov: no bins, no bandwidth."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.binary_kinds import Seminorm
from calibstat.measures.registry import measure

ARRIETA = "Arrieta-Ibarra et al. 2022, Metrics of calibration for probabilistic predictions, arXiv:2205.09680"
GUPTA = "Gupta et al. 2021, Calibration of Neural Networks using Splines, arXiv:2006.12800"


@jit
def _extremes(residual: np.ndarray) -> tuple[float, float]:
    """Return the smallest and the largest partial sum, the empty one included."""
    low = 0.0
    high = 0.0
    total = 0.0
    for j in range(residual.size):
        total += residual[j]
        low = min(low, total)
        high = max(high, total)
    return low, high


def _curve(residual: np.ndarray) -> np.ndarray:
    """Return the partial sums of the residuals, from the empty one on."""
    return np.append(0.0, np.cumsum(residual))


def _cumulative(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
    """Return the curve of partial sums, for `detail`."""
    return {"cumulative": np.cumsum((positives - count * value) / count.sum())}


@measure(
    "ks",
    title="Kolmogorov–Smirnov calibration error",
    formula=r"\max_t \Bigl|\frac1n \sum_{i:\,v_i \le t} (y_i - v_i)\Bigr|",
    reference=GUPTA,
    bounds=(0, 1),
    slow_above=500_000,
    symmetric=False,
)
class KS(Seminorm):
    """The largest absolute sum of residuals over predictions up to some threshold, divided by n.

    No options. It has no bins and no bandwidth, and is most sensitive to a shift or a slope. Sums start at 0, so it
    changes when outcomes and predictions are reversed (`kuiper` does not). It jumps when two predictions with
    opposite errors merge. Cost: one sort of the rows, then one pass.
    """

    weak = True

    step = 2.0

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        low, high = _extremes(residual)
        return max(high, -low)

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return 1 or -1 up to the largest partial sum and 0 after it."""
        curve = _curve(residual)
        end = int(np.argmax(np.abs(curve)))
        witness = np.zeros(value.size)
        witness[:end] = np.sign(curve[end])
        return witness

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return super().detail(value, count, positives) | _cumulative(value, count, positives)


@measure(
    "kuiper",
    title="Kuiper calibration error (ECCE-R)",
    formula=r"\max_{s \le t} \Bigl|\frac1n \sum_{i:\,s \le v_i \le t} (y_i - v_i)\Bigr|",
    reference=ARRIETA,
    bounds=(0, 1),
    slow_above=500_000,
)
class Kuiper(Seminorm):
    """The largest absolute sum of residuals over an interval of predictions, divided by n.

    No options. It has no bins and no bandwidth. It is at least the Kolmogorov–Smirnov error and at most the unbinned
    calibration error, and jumps when two predictions with opposite errors merge. Cost: one sort of the rows, then one
    pass.
    """

    weak = True

    floor = 0.0

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        low, high = _extremes(residual)
        return high - low

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return 1 or -1 between the two extreme partial sums and 0 outside."""
        curve = _curve(residual)
        low, high = int(np.argmin(curve)), int(np.argmax(curve))
        witness = np.zeros(value.size)
        witness[min(low, high) : max(low, high)] = 1.0 if low < high else -1.0
        return witness

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        return super().detail(value, count, positives) | _cumulative(value, count, positives)
