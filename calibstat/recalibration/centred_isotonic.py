"""Centred isotonic regression: lines between the centres of the constant pieces of isotonic regression."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.isotonic_interval import pooled
from calibstat.data.sample import Sample
from calibstat.recalibration.formula import Expression
from calibstat.recalibration.isotonic_regression import interpolated, interpolated_formulas, interpolated_rows
from calibstat.recalibration.one_against_rest import columns_of, rows_of
from calibstat.recalibration.recalibrator import Recalibrator, counted


class CentredIsotonic(Recalibrator):
    """Map predictions by isotonic regression without its steps: lines between the centres of its constant pieces.

        >>> from calibstat.recalibration import CentredIsotonic
        >>> fitted = CentredIsotonic().fit([0.1, 0.2, 0.4, 0.6, 0.9], [0, 1, 0, 0, 1])  # .2, .4 and .6 become 1/3 at .4
        >>> fitted.predict_proba([0.1, 0.25, 0.4, 0.9]).round(3)
        array([0.   , 0.167, 0.333, 1.   ])

    With more than two classes one function for each class against the rest; rows are then divided by their
    sums.

    Attributes
    ----------
    knots_ : list of (ndarray, ndarray)
        For each class, or for class 1 of two: the points between which the map is linear, ascending, and what they
        become.

    Notes
    -----
    A piece between 0 and 1 is shrunk to the mean of its predictions. One at 0 or 1 is kept from its first to its last
    prediction, as the authors do. Beyond the first and the last point the map is constant. So it rises strictly between
    them, and keeps the order of different predictions where isotonic regression makes ties. A row of which every class
    becomes 0 turns uniform. Probabilities of exactly 0 and 1 come from pieces at 0 and 1 alone. With more than two
    classes the accuracy can change. Cost: a sort and one pass for each class.

    References
    ----------
    Oron, Flournoy 2017, Centered isotonic regression: point and interval estimation for dose-response studies,
    doi:10.1080/19466315.2017.1286256, arXiv:1701.05964.
    """

    knots_: list[tuple[np.ndarray, np.ndarray]]

    def _fit_weighted(self, prob: np.ndarray, label: np.ndarray, weight: np.ndarray | None) -> str | None:
        part = None if weight is None else counted(weight, label.size)
        samples = [Sample.from_rows(label == k, prob[:, k], part) for k in columns_of(prob.shape[1])]
        self.knots_ = [_centres(*sample.arrays) for sample in samples]
        return None

    def _map(self, prob: np.ndarray) -> np.ndarray:
        return rows_of(interpolated_rows(prob, self.knots_))

    def _event(self, prob: np.ndarray) -> np.ndarray:
        return interpolated(prob[:, 1], *self.knots_[0])

    def _formula(self, prob: list[Expression]) -> list[Expression]:
        return interpolated_formulas(prob, self.knots_)


def _centres(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres of the pieces, of pieces at 0 and 1 their ends, and the levels there."""
    level, stop = pooled(count, positives)
    new = np.concatenate(([True], level[1:] > level[:-1]))  # neighbours of one level are one piece
    first = np.concatenate(([0], stop[:-1]))[new]
    last = np.append(first[1:], value.size) - 1
    level = level[new]
    centre = np.add.reduceat(count * value, first) / np.add.reduceat(count, first)
    centre = np.clip(centre, value[first], value[last])  # where rounding leaves the piece
    kept = (level == 0) | (level == 1)
    at = np.stack((np.where(kept, value[first], centre), np.where(kept, value[last], centre)), axis=1).ravel()
    different = np.concatenate(([True], at[1:] > at[:-1]))
    return at[different], np.repeat(level, 2)[different]
