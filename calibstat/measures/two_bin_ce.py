"""Averaged two-bin calibration error: two bins, with the edge anywhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.compiled import jit
from calibstat.measures.kernel_ce import KernelSeminorm
from calibstat.measures.kinds.registry import measure
from calibstat.resampling.one_pass import OnePass

HARTLINE = "Hartline, Hu, Wu 2025, A perfectly truthful calibration measure, PMLR 336:3185-3223, arXiv:2508.13100"


@jit
def _add_gaps(state: np.ndarray, value: np.ndarray, residual: np.ndarray) -> None:
    """Go on with each resample's partial sums, and their integrals and squared integrals up to the last prediction."""
    total = state[0]
    once = state[1]
    squared = state[2]
    last = state[3]
    for j in range(value.size):
        gap = value[j] - last[0]
        for b in range(total.size):
            now = total[b]
            once[b] += gap * now
            squared[b] += gap * now * now
            total[b] = now + residual[j, b]
        last[0] = value[j]


@dataclass(frozen=True, eq=False)
class _TwoBins(OnePass):
    """The root of the mean over edges of the squared sums on both sides."""

    value: np.ndarray
    size = 4

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        _add_gaps(state, self.value[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        total, once, squared, _ = state
        return np.asarray(np.sqrt(np.maximum(total * (total - 2 * once) + 2 * squared, 0.0)))


@measure(
    "two_bin_ce",
    title="Averaged two-bin calibration error",
    formula=r"\Bigl(\frac1{n^2} \sum_{i,j} (y_i - v_i)\,(y_j - v_j)\,(1 - |v_i - v_j|)\Bigr)^{1/2}",
    reference=HARTLINE,
    bounds=(0, 1),
    continuous=True,
    slow_above=500_000,
)
class TwoBinCE(KernelSeminorm):
    """The root of the mean square of the residuals' sums in two bins, over all edges between 0 and 1.

    No options: no bandwidth, and no bins to choose. With S(t) the mean residual of predictions up to t, over all rows,
    its square is the mean over t of S(t)² + (S(1) - S(t))². That square is truthful: whatever the sample size, its mean
    is smallest if predictions are the true probabilities; so is the mean square of `kernel_ce`. It is the kernel error
    of the kernel 1 - |u - v|, at most the root of 2 times the Kuiper error (each side of an edge is an interval), and
    biased upwards like `kernel_ce`.

    Exact. Cost: one sort of the rows, then one pass.
    """

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _TwoBins(value)

    def square(self, value: np.ndarray, residual: np.ndarray) -> float:
        below = np.cumsum(residual)
        above = below[-1] - below
        return max(float(below[-1] ** 2 - 2 * np.diff(value) @ (below * above)[:-1]), 0.0)

    def smoothed(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        below = np.cumsum(residual)
        steps = np.diff(value) * (below[-1] - 2 * below[:-1])
        first = below[-1] - residual @ (value - value[0])
        return np.asarray(first + np.append(0.0, np.cumsum(steps)))

    def fixed_weights(self, value: np.ndarray) -> np.ndarray:
        return np.full((1, value.size), np.sqrt(1 - np.ptp(value) / 2))  # the function 1 over its norm
