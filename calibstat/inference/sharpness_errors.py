"""Standard errors of a calibration error by kernel regression and of the sharpness gap beside it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.measures.bregman import Bregman
from calibstat.measures.regression_ce import kernel_sums


@dataclass(frozen=True)
class LossRows:
    """Rows, or groups of equal ones: each with its distinct prediction, outcome, loss and number.

    Attributes
    ----------
    cell : ndarray of int, shape (m,)
        Which of the distinct ascending predictions it has.
    outcome, loss, count : ndarray, shape (m,)
        Whether the outcome is 1, its divergence from the prediction, or of the vectors, and how many rows there are.
    """

    cell: np.ndarray
    outcome: np.ndarray
    loss: np.ndarray
    count: np.ndarray

    @property
    def of_predictions(self) -> np.ndarray:
        """The total loss at each distinct prediction."""
        return np.bincount(self.cell, self.count * self.loss)


def standard_errors(
    rows: LossRows, value: np.ndarray, predicted: np.ndarray, phi: Bregman, kernel: str, bandwidth: float
) -> dict[str, float] | None:
    """Return the standard error of the calibration error, the sharpness gap and the total divergence.

    They are by the infinitesimal jackknife: each row's influence on an estimate is its derivative by the row's weight.
    The error is the mean of d(m(v), v) over rows, m the regression. A row with outcome y at x adds d(m(x), x) and
    moves m(v) by K(x - v) (y - m(v)) / S(v), S the sum of the kernel weights of rows around v. So its influence is

        d(m(x), x) - error + y A(x) - B(x),  A(x) = sum over rows of d'(m, v) K(x - v) / S(v),

    d' the derivative by m and B as A with m(v) as a factor: two more sums of the kernel. None for a single row.
    """
    n = float(rows.count.sum())
    if n < 2:
        return None
    count, positives = np.bincount(rows.cell, rows.count), np.bincount(rows.cell, rows.count * rows.outcome)
    near, ones = kernel_sums(value, value, np.stack((count, positives)), kernel, bandwidth)
    frequency = np.clip(ones / near, 0, 1)
    # where all outcomes near a prediction are alike, none of them moves the regression
    inside = (frequency > 0) & (frequency < 1)
    slope = np.zeros(value.size)
    slope[inside] = phi.gradient(frequency[inside]) - phi.gradient(predicted[inside])
    pull = count * slope / near
    rising, falling = kernel_sums(value, value, np.stack((pull, pull * frequency)), kernel, bandwidth)
    divergence = phi.loss(frequency, predicted)
    error = (divergence - falling)[rows.cell] + rows.outcome * rising[rows.cell]
    influences = {
        "calibration_error": error,
        "sharpness_gap": rows.loss - error,
        "total_divergence": rows.loss,
    }
    return {name: _standard_error(influence, rows.count, n) for name, influence in influences.items()}


def _standard_error(influence: np.ndarray, count: np.ndarray, n: float) -> float:
    """Return the standard error of a mean over rows, from what each row adds up to a constant."""
    centred = influence - float(np.einsum("i,i->", count, influence)) / n
    return float(np.sqrt(np.einsum("i,i,i->", count, centred, centred) / (n * (n - 1))))
