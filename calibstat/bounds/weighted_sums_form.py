"""Linear form of a weighted sum of absolute residuals, to which each class of a row may add in a place of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.bounds.directional_form import PlaceForm
from calibstat.bounds.score_bound import ScoreBound
from calibstat.compiled import jit
from calibstat.data.predictions import Predictions

MANY_PLACES = 2000  # with more there is no matrix of their products
SLOPES = 2.0 ** (np.arange(16) / 2)  # of lines above the square root, over that which touches it at its largest value


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightedSumsForm(PlaceForm):
    """A sum of absolute residuals with `weight`, one for each place; `largest` is the most that one row may add."""

    predictions: Predictions
    weight: np.ndarray

    def by_row(self) -> np.ndarray:
        return self._rows(np.where(self.theta < 0, -1.0, 1.0))[0]

    def high(self, tail: float) -> float:
        """Return the largest bound of any signs.

        The standard deviation is at most slope * variance + 1 / (4 slope). To turn the sign of a sum, by a step d from
        0 to 2, costs d times its absolute value. With the matrix M of the products of sums it adds at most twice d
        times the excess of the row sum of abs(M) over that of M with signs to the variance, so that each sum is best
        by itself.

        Statement and argument: docs/proofs.md, section 6.
        """
        score = ScoreBound.of_rows(tail).times(self.largest)
        sign = np.where(self.theta < 0, -1.0, 1.0)
        row, most, number = self._rows(sign)
        value, n = float(row.sum()), row.size
        excess = score.z * np.sqrt(most)
        used = int(number.max()) + 1
        if 0 < used <= MANY_PLACES and most > 0:
            products = _products(*self._data, self.weight, number, used)
            kept = number >= 0
            sign, absolute = sign[kept], n * np.abs(self.weight * self.theta)[kept]
            along = sign * (products @ sign)
            gained = np.abs(products).sum(axis=1) - along
            slope = score.z * SLOPES / (2 * np.sqrt(most))
            turned = np.maximum(2 * slope[:, None] * gained - absolute, 0.0).sum(axis=1)
            excess = min(excess, float((slope * along.sum() + score.z**2 / (4 * slope) + 2 * turned).min()))
        variance, third = float((row**2).sum() - row.sum() ** 2 / n), float((row**3).sum())
        return (value + float(score.widen(excess, score.rate(max(variance, 0.0), third)))) / n

    def _rows(self, sign: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Return what each row adds with these signs, the largest variance, and a number for each place that is used.

        The number of others is -1.
        """
        row, absolute, used = _row_sums(*self._data, self.weight, sign)
        return row, float((absolute**2).sum()), np.where(used, np.cumsum(used) - 1, -1)

    @property
    def _data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        return self.predictions.prob, self.predictions.label, self.place, self.along


def of_weighted_sums(
    predictions: Predictions, place: np.ndarray, along: int, weight: np.ndarray, largest: float
) -> WeightedSumsForm:
    """Return the form of the sum over places of weight times absolute residual / n.

    Class k of row i adds to the place ``place[i, k] + k * along``.
    """
    theta = _sums(predictions.prob, predictions.label, place, along, weight.size) / predictions.n

    def norm(theta: np.ndarray) -> np.ndarray:
        return np.abs(theta) @ weight

    return WeightedSumsForm(
        estimate=float(norm(theta)),
        theta=theta,
        norm=norm,
        place=place,
        along=along,
        predictions=predictions,
        weight=weight,
        largest=largest,
    )


# --- kernels ---------------------------------------------------------------------------------------------------------


@jit
def _sums(prob: np.ndarray, label: np.ndarray, place: np.ndarray, along: int, size: int) -> np.ndarray:
    """Return the sum of the residuals at each place."""
    out = np.zeros(size)
    for i in range(prob.shape[0]):
        for k in range(prob.shape[1]):
            out[place[i, k] + k * along] += np.float64(label[i] == k) - prob[i, k]
    return out


@jit
def _row_sums(
    prob: np.ndarray, label: np.ndarray, place: np.ndarray, along: int, weight: np.ndarray, sign: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each row the sums of what it adds with signs and without, and which places hold residuals."""
    row, absolute = np.zeros((2, prob.shape[0]))
    used = np.zeros(weight.size, np.bool_)
    for i in range(prob.shape[0]):
        for k in range(prob.shape[1]):
            j = place[i, k] + k * along
            part = weight[j] * (np.float64(label[i] == k) - prob[i, k])
            if part != 0.0:
                used[j] = True
                row[i] += sign[j] * part
                absolute[i] += abs(part)
    return row, absolute, used


@jit
def _products(
    prob: np.ndarray,
    label: np.ndarray,
    place: np.ndarray,
    along: int,
    weight: np.ndarray,
    number: np.ndarray,
    size: int,
) -> np.ndarray:
    """Return the sums over rows of the products of what two classes add, at the numbers of their places."""
    out = np.zeros((size, size))
    classes = prob.shape[1]
    at = np.empty(classes, np.int64)
    part = np.empty(classes)
    for i in range(prob.shape[0]):
        kept = 0
        for k in range(classes):
            j = place[i, k] + k * along
            if number[j] >= 0:
                at[kept] = number[j]
                part[kept] = weight[j] * (np.float64(label[i] == k) - prob[i, k])
                kept += 1
        for a in range(kept):
            for b in range(kept):
                out[at[a], at[b]] += part[a] * part[b]
    return out
