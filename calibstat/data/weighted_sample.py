"""Binary outcomes and predictions of rows with weights: a summary that keeps its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.data.sample import Sample
from calibstat.data.validation import as_vector, check_all


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class WeightedSample(Sample):
    """A sample of rows with weights, which tests and bootstraps draw row by row.

    Weights are divided by a number that makes their sum equal to the sum of their squares: the effective number of
    rows, of which an unweighted mean would be about as exact. So rows of equal weight count 1 each.

    Attributes
    ----------
    cell : ndarray of int64, shape (n,)
        The place in `value` of the prediction of each row, ascending.
    outcome, weight : ndarray of float64, shape (n,)
        The outcome 0 or 1 of each row, and its weight.
    """

    cell: np.ndarray
    outcome: np.ndarray
    weight: np.ndarray

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return self.cell.size

    @property
    def weighted(self) -> WeightedSample:
        """Itself, as it keeps its rows."""
        return self

    @property
    def keeps_rows(self) -> bool:
        """Whether rows can be drawn: they are kept with their weights."""
        return True

    @property
    def squares(self) -> np.ndarray:
        """The sums of the squares of weight times residual, shape (m,)."""
        return np.bincount(self.cell, (self.weight * (self.outcome - self.prediction)) ** 2)

    @property
    def prediction(self) -> np.ndarray:
        """The prediction of each row, shape (n,)."""
        return self.value[self.cell]


def weighted_sample(y: np.ndarray, p: np.ndarray, weight: np.ndarray) -> WeightedSample:
    """Return the sample of checked rows with weights of `as_weights`; rows of weight 0 are left out and counted."""
    kept = weight > 0
    y, p, weight = y[kept].astype(np.float64), p[kept] + 0.0, weight[kept]  # + 0.0 turns -0.0 into 0.0
    order = np.lexsort((weight, y, p))  # by what rows hold, so that draws do not depend on their order
    return sample_of_ordered_rows(y[order], p[order], weight[order], int(kept.size - kept.sum()))


def sample_of_ordered_rows(y: np.ndarray, p: np.ndarray, weight: np.ndarray, n_zero_weight: int = 0) -> WeightedSample:
    """Return the sample of rows with positive weights in this order, which is one of ascending predictions."""
    first = np.diff(p, prepend=-1.0) > 0
    cell = np.cumsum(first) - 1
    return WeightedSample(
        value=p[first],
        count=np.bincount(cell, weight),  # added up in the order of the rows, as draws are
        positives=np.bincount(cell, weight * y),
        kind="weights",
        n_zero_weight=n_zero_weight,
        cell=cell,
        outcome=y,
        weight=weight,
    )


def as_weights(sample_weight: object, n: int) -> np.ndarray:
    """Return one checked weight for each row, scaled so that their sum is the effective number of rows."""
    weight = as_vector(sample_weight, "sample_weight")
    if weight.size != n:
        raise ValueError(f"expected one weight a row, found {weight.size} weights for {n} rows")
    check_all(np.isfinite(weight) & (weight >= 0), "a finite weight of at least 0", weight, "sample_weight")
    positive = weight > 0
    if not positive.any():
        raise ValueError("expected at least one row of positive weight, found none: every weight is zero")
    scaled = weight / weight.max()
    if not (scaled > 0)[positive].all():
        raise ValueError(
            "expected weights within a factor of 1e308 of each other, found "
            f"{weight[positive].min():g} and {weight.max():g}"
        )
    ordered = np.sort(scaled[positive])  # so that the last digit does not depend on the order of the rows
    return scaled * (ordered.sum() / (ordered @ ordered))
