"""Isotonic regression: a non-decreasing map of the predictions of each class."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.isotonic_interval import recalibrated
from calibstat.compiled import jit
from calibstat.data.sample import Sample
from calibstat.recalibration.formula import Expression, lines, shares
from calibstat.recalibration.one_against_rest import columns_of, rows_of
from calibstat.recalibration.recalibrator import Recalibrator, counted


class IsotonicRegression(Recalibrator):
    """Map predictions by the non-decreasing function that is nearest to the outcomes in mean square.

        >>> from calibstat.recalibration import IsotonicRegression
        >>> fitted = IsotonicRegression().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
        >>> fitted.predict_proba([0.0, 0.25, 0.5, 0.9])
        array([0.  , 0.25, 0.5 , 1.  ])

    With more than two classes one function for each class against the rest; rows are then divided by their
    sums.

    Attributes
    ----------
    knots_ : list of (ndarray, ndarray)
        For each class, or for class 1 of two: the predictions of the calibration rows at which a constant piece begins
        or ends, ascending, and what they become.

    Notes
    -----
    Between two predictions of the calibration rows the map is linear, outside them constant. A row of which every class
    becomes 0 turns uniform. Divided by their sums, more than two classes need not keep their order, and the accuracy
    can change; probabilities of exactly 0 are common, so that the log loss of new rows is often infinite. Cost: a sort
    and one pass (pool adjacent violators) for each class.

    References
    ----------
    Zadrozny, Elkan 2002, Transforming classifier scores into accurate multiclass probability estimates,
    doi:10.1145/775047.775151.
    """

    interval_method = "mirror"
    knots_: list[tuple[np.ndarray, np.ndarray]]

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        part = None if weight is None else counted(weight, label.size)
        samples = [Sample.from_rows(label == k, prob[:, k], part) for k in columns_of(prob.shape[1])]
        self.knots_ = [_ends_of_pieces(sample.value, recalibrated(*sample.arrays)) for sample in samples]
        return None

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return rows_of(interpolated_rows(prob, self.knots_))

    def _event(self, prob: np.ndarray) -> np.ndarray:
        return interpolated(prob[:, 1], *self.knots_[0])

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return interpolated_formulas(prob, self.knots_)


def interpolated_rows(prob: np.ndarray, knots: list[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return what the piecewise linear maps of the mapped classes make of rows, a column for each."""
    classes = columns_of(prob.shape[1])
    return np.stack([interpolated(prob[:, k], *each) for k, each in zip(classes, knots, strict=True)], axis=1)


def interpolated_formulas(prob: list[Expression], knots: list[tuple[np.ndarray, np.ndarray]]) -> list[Expression]:
    """Return the recalibrated probabilities as expressions, of class 1 of two or of each."""
    return shares([lines(prob[k], *each) for k, each in zip(columns_of(len(prob)), knots, strict=True)])


def _ends_of_pieces(value: np.ndarray, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out the points inside of constant pieces, between which the map is known from their ends."""
    rises = np.concatenate(([True], level[1:] > level[:-1], [True]))
    ends = rises[1:] | rises[:-1]
    return value[ends], level[ends]


def interpolated(p: np.ndarray, knot: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return the map at predictions, as `numpy.interp` does, but only knots of the same part of [0, 1] are searched."""
    parts = 4 * knot.size
    p = np.ascontiguousarray(p)  # a column would be compiled anew
    return _interpolated(p, knot, level, np.searchsorted((knot * parts).astype(np.int64), np.arange(parts + 2)))


@jit
def _interpolated(p: np.ndarray, knot: np.ndarray, level: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Interpolate linearly, constant beyond the ends; `first` has the first knot of each part of [0, 1] or after it."""
    parts = first.size - 2
    out = np.empty(p.size)
    for i in range(p.size):
        v = p[i]
        low = first[int(v * parts)] - 1  # the last knot at or below v
        high = first[int(v * parts) + 1]  # the first knot above it
        while high - low > 1:
            middle = (low + high) // 2
            if knot[middle] <= v:
                low = middle
            else:
                high = middle
        if low < 0:
            out[i] = level[0]
        elif high == knot.size or v == knot[low]:
            out[i] = level[low]
        else:  # the slope between tiny predictions may be infinite
            rise = (level[high] - level[low]) / (knot[high] - knot[low]) * (v - knot[low])
            out[i] = min(level[low] + rise, level[high])
    return out
