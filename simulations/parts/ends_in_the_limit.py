"""Upper ends of errors under cross-validation as n grows: cells with independent normal noise.

In units of one over the root of n the residuals of the rows add S = mu + G in the cells, where G is noise of known
standard deviations and mu the error of the models, which may follow the noise. The ends are those of
docs/evidence/proofs/fold-ends.md, written a second time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

TAIL = 0.025
Z = 1.959963984540054
CAP = max(2.0, Z)  # standard deviations by which a cell's error may exceed what is observed, at most
NEAR = np.concatenate([np.linspace(0, 6, 97), np.geomspace(6.2, 400, 40)])  # errors of cells, in standard deviations
BANDWIDTH = 1.0
MEASURES = "ece", "ks", "kernel_ce"


@dataclass(frozen=True, eq=False)
class Ends:
    """The upper ends by one measure.

    Attributes
    ----------
    measure : str
        One of `MEASURES`; each cell is a bin of `ece`, and a group of equal predictions of the others.
    place : ndarray, shape (cells,)
        Predictions, ascending.
    spread : ndarray, shape (cells,)
        Standard deviations of the noise.
    """

    measure: str
    place: np.ndarray
    spread: np.ndarray

    @cached_property
    def kernel(self) -> np.ndarray:
        """The Laplace kernel of the cells."""
        return np.exp(-np.abs(self.place[:, None] - self.place) / BANDWIDTH)

    def norm(self, sums: np.ndarray) -> np.ndarray:
        """Return the error, over the last axis."""
        if self.measure == "ece":
            return np.asarray(np.abs(sums).sum(axis=-1))
        if self.measure == "ks":
            return np.asarray(np.abs(np.cumsum(sums, axis=-1)).max(axis=-1))
        return np.sqrt(np.maximum(((sums @ self.kernel) * sums).sum(axis=-1), 0))

    def as_is(self, seen: np.ndarray) -> np.ndarray:
        """Return the high ends of the honest interval of independent rows, for sums of shape (data sets, cells)."""
        if self.measure == "ece":
            of_all = np.abs(seen.sum(axis=1)) + Z * math.sqrt(float(self.spread @ self.spread))
            return np.maximum(self._of_absolute_sums(seen), of_all)
        if self.measure == "ks":
            reach = Z * np.sqrt(np.cumsum(self.spread**2))
            return np.asarray((np.abs(np.cumsum(seen, axis=1)) + reach).max(axis=1))
        by_kernel = np.minimum(self._of_kernel_norm(seen), self._of_kernel_square(seen))
        return np.maximum(by_kernel, self._of_mean(seen))

    def _of_mean(self, seen: np.ndarray) -> np.ndarray:
        """Return the end of the absolute mean residual over the norm of the function 1, which is at most the error."""
        norm_of_one = math.sqrt(1 + float(np.ptp(self.place)) / (2 * BANDWIDTH))
        return (np.abs(seen.sum(axis=1)) + Z * math.sqrt(float(self.spread @ self.spread))) / norm_of_one

    def _of_absolute_sums(self, seen: np.ndarray) -> np.ndarray:
        """Return the largest sum of absolute errors, each of t spreads or at its cap, that the observed one allows."""
        total = np.abs(seen).sum(axis=1)
        cap = np.abs(seen) / self.spread + CAP
        mean, variance = folded(NEAR)
        most, largest = folded(cap)
        t = np.minimum(cap[:, None], NEAR[:, None])
        means = np.minimum(most[:, None], mean[:, None]) @ self.spread
        least = means - Z * np.sqrt(np.minimum(largest[:, None], variance[:, None]) @ self.spread**2)
        allowed = least <= total[:, None]
        last = NEAR.size - 1 - allowed[:, ::-1].argmax(axis=1)
        last = np.where(allowed.any(axis=1), last, 0)
        after = np.minimum(last + 1, NEAR.size - 1)
        row = np.arange(total.size)
        step = least[row, after] - least[row, last]
        share = np.where(step > 0, (total - least[row, last]) / np.where(step > 0, step, 1), 0).clip(0, 1)
        errors = t @ self.spread
        beyond = np.maximum(total - least[:, -1], 0)
        return errors[row, last] + share * (errors[row, after] - errors[row, last]) + beyond

    def _of_kernel_norm(self, seen: np.ndarray) -> np.ndarray:
        norm = self.norm(seen)[:, None]
        witness = seen @ self.kernel / np.maximum(norm, 1e-300)
        along = Z * np.sqrt(witness**2 @ self.spread**2)
        beyond = np.maximum(1 - witness**2, 0) @ self.spread**2
        return np.sqrt((norm[:, 0] + along) ** 2 + Z**2 * beyond)

    def _of_kernel_square(self, seen: np.ndarray) -> np.ndarray:
        smooth = seen @ self.kernel
        along = smooth * self.spread**2
        estimate = (smooth * seen).sum(axis=1) - (self.spread**2).sum()
        linear = 4 * (smooth * along).sum(axis=1)
        bend = 4 * ((along @ self.kernel) * along).sum(axis=1) / np.maximum(linear, 1e-300)
        pairs = 2 * float(self.spread**2 @ self.kernel**2 @ self.spread**2)
        return np.sqrt(np.maximum(estimate + Z * np.sqrt(linear + 2 * pairs) + Z**2 * bend, 0))


def folded(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and variance of the absolute value of a normal variable with mean t and variance 1."""
    from scipy.special import ndtr

    mean = np.sqrt(2 / np.pi) * np.exp(-(t**2) / 2) + t * (2 * ndtr(t) - 1)
    return mean, np.maximum(1 + t**2 - mean**2, 0)


def place_of_quantile(draws: int) -> int:
    """Return which of so many ordered draws is the quantile."""
    return min(int(np.ceil((1 - TAIL) * (draws + 1))), draws) - 1
