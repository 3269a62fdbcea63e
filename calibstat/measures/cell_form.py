"""Linear forms of sums of absolute residuals over cells: binary, class-wise and multiclass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.cell_sums import cell_sums, vector_sums
from calibstat.measures.linear_form import LinearForm, RowForm, squared_residuals

MANY_CELLS = 100  # with more cells than this
ROWS_IN_A_CELL = 3  # so many rows a cell are needed, or the interval of an L1 error is too often below the truth
FEW_ROWS = 30  # below it a bin's observed variance is not trusted alone
VECTOR_STEP, VECTOR_FLOOR = 20.0, 2.0


def _absolute_sum(theta: np.ndarray) -> np.ndarray:
    return np.abs(theta).sum(axis=-1)


# --- binary ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class CellForm(LinearForm):
    """A sum of absolute residuals over cells: low end by a bound on the bias, high end by inversion of the spread.

    `gap` and `gap_spread` hold the absolute residual of each cell with rows, and its standard error.
    """

    gap: np.ndarray
    gap_spread: np.ndarray
    n: float
    title: str

    def moves(self, theta: np.ndarray) -> np.ndarray:
        return self.directional(theta - self.theta)[..., None]

    def missing_bias(self, directional: np.ndarray) -> float:
        return largest_bias(self.gap, self.gap_spread) - float(directional.mean())

    def spread(self, drawn: np.ndarray) -> float:
        return self.worst_spread  # not used: the inversion has the spread of each cell

    def high(self, z: float, spread: float) -> float:
        return spread_inversion(self.estimate, self.gap, self.gap_spread, z)

    def ends(self, draw: Callable[[], np.ndarray], alpha: float) -> tuple[float, float]:
        need_rows_in_cells(self.title, int(self.n), self.gap.size)
        return super().ends(draw, alpha)


def of_cells(title: str, cell: np.ndarray, sample: Sample) -> CellForm:
    """Return the form over these cells of the distinct predictions."""
    count, residual, _ = cell_sums(cell, *sample.arrays)
    full = count > 0
    size, n = count.size, sample.n
    variance = (np.bincount(cell, squared_residuals(sample), size) / n - residual**2) / n
    model = np.bincount(cell, sample.count * sample.value * (1 - sample.value), size) / n**2
    variance = np.where(count < FEW_ROWS, np.maximum(variance, model), variance)
    gap = np.abs(residual[full])
    return CellForm(
        estimate=float(gap.sum()),
        theta=residual,
        witness=np.sign(residual),
        norm=_absolute_sum,
        step=1.0,
        floor=0.0,
        worst_spread=0.0,
        cell=cell,
        gap=gap,
        gap_spread=np.sqrt(np.maximum(variance[full], 0.0)),
        n=n,
        title=title,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class CellRowForm(RowForm):
    """The same row by row. `model_variance` is the variance of theta if calibrated, 0 in cells of many rows."""

    model_variance: np.ndarray | None = None

    def for_comparison(self, unit: np.ndarray | None) -> Self:
        return replace(self, unit=unit)  # `missing_bias` replaces a larger step

    def missing_bias(self, directional: np.ndarray) -> float:
        """Return the bias of absolute values that resamples miss: the more cells, the more."""
        assert self.model_variance is not None
        unit = np.arange(self.n) if self.unit is None else self.unit
        size = np.bincount(unit)
        full, place = np.unique(unit * self.theta.size + self.cell, return_inverse=True)
        total, unit, cell = np.bincount(place, self.residual), *divmod(full, self.theta.size)
        # the sum over clusters of (their residuals in a cell - their rows * theta)**2, most of which have none in it
        squares = np.bincount(cell, total * (total - 2 * size[unit] * self.theta[cell]), self.theta.size)
        variance = (squares + (size @ size) * self.theta**2) / self.n**2
        bias = largest_bias(np.abs(self.theta), np.sqrt(np.maximum(variance, self.model_variance)))
        return max(bias - float(directional.mean()), 0.0)


def rows_of_cells(title: str, cell: np.ndarray, y: np.ndarray, p: np.ndarray) -> CellRowForm:
    """Return the form row by row: each row adds its residual in its cell."""
    need_rows_in_cells(title, p.size, np.unique(cell).size)
    theta = np.bincount(cell, y - p) / p.size
    model = np.where(np.bincount(cell) < FEW_ROWS, np.bincount(cell, p * (1 - p)) / p.size**2, 0.0)
    return CellRowForm(
        estimate=float(_absolute_sum(theta)),
        theta=theta,
        witness=np.sign(theta.round(12)),
        norm=_absolute_sum,
        step=1.0,
        floor=2.0,
        worst_spread=0.0,
        cell=cell,
        residual=y - p,
        model_variance=model,
    )


def need_rows_in_cells(title: str, n: int, cells: int) -> None:
    """Raise if there are many cells of few rows, whose absolute residuals are not nearly folded normal.

    The gap of a cell of one row is |y - v|, however small the error of the cell is.
    """
    if cells > MANY_CELLS and n < ROWS_IN_A_CELL * cells:
        raise ValueError(
            f"no honest interval is known for {title} where most rows are alone in their cell: expected at least "
            f"{ROWS_IN_A_CELL} rows a cell on average in more than {MANY_CELLS} cells, found {n} rows in {cells}"
        )


def largest_bias(gap: np.ndarray, spread: np.ndarray) -> float:
    """Return a bound on the bias of the sum of absolute gaps: its bias if each gap is one spread nearer to zero."""
    noisy = spread > 0
    return float((spread[noisy] * folded_bias(np.maximum(gap[noisy] / spread[noisy] - 1, 0))).sum())


def folded_bias(t: np.ndarray) -> np.ndarray:
    """Return E|Z + t| - t for a standard normal Z and t >= 0."""
    from scipy.special import ndtr

    return 2 * np.exp(-t * t / 2) / np.sqrt(2 * np.pi) + t * (2 * ndtr(t) - 1) - t


def spread_inversion(estimate: float, gap: np.ndarray, spread: np.ndarray, z: float) -> float:
    """Return the largest sum of true gaps for which the estimate is not more than z standard errors too small.

    The mean of a folded normal is convex in its centre, so for a given sum of true gaps the mean estimate is least if
    all standardised gaps are equal. Each is capped at two spreads beyond the observed gap.
    """
    certain, noisy = gap[spread == 0].sum(), spread > 0
    gap, spread = gap[noisy], spread[noisy]
    if gap.size == 0:
        return float(certain)
    cap = gap / spread + 2

    def smallest_likely(tau: float) -> float:
        t = np.minimum(cap, tau)
        mean = folded_bias(t) + t
        return float(certain + spread @ mean - z * np.sqrt((spread**2 * (1 + t * t - mean * mean)).sum()))

    tau = bisect(smallest_likely, estimate, 0.0, float(cap.max()))
    return float(certain + spread @ np.minimum(cap, tau))


def bisect(function: Callable[[float], float], target: float, low: float, high: float) -> float:
    """Return the largest argument in [low, high] at which a non-decreasing function is not above the target.

    Loading the root finders of SciPy would take longer than the first interval does.
    """
    if function(high) <= target:
        return high
    while high - low > 1e-12 * max(1.0, high):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) <= target else (low, middle)
    return low


# --- class-wise and multiclass ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class VectorForm(LinearForm):
    """A sum of absolute residuals over cells and classes, times `scale`, or the largest such sum of a class.

    Class k in row i adds to ``theta[place[i, k] + k * along]``; if `place` has one column, all classes share it.
    """

    predictions: Predictions
    place: np.ndarray
    along: int

    def moves(self, theta: np.ndarray) -> np.ndarray:
        return self.directional(theta - self.theta)[..., None]

    def spread(self, drawn: np.ndarray) -> float:
        """Return the standard error of the sum of w * residuals over rows, with the witness w of the data."""
        prob, label = self.predictions.prob, self.predictions.label
        assert self.witness is not None
        w, n = self.witness, len(label)
        expected = np.zeros(n)
        for k in range(prob.shape[1]):
            expected += prob[:, k] * w[self.place[:, min(k, self.place.shape[1] - 1)] + k * self.along]
        column = 0 if self.place.shape[1] == 1 else label
        observed = w[self.place[np.arange(n), column] + label * self.along]
        return float((observed - expected).std() / np.sqrt(n))


def of_vector_cells(scale: float, cell: np.ndarray, predictions: Predictions) -> VectorForm:
    """Return the form of `scale` times a sum over cells of the simplex and classes."""
    _, residual, _ = vector_sums(cell, predictions.prob, predictions.label)
    classes = predictions.n_classes
    return _summed(predictions, residual.ravel(), cell[:, None] * classes, 1, scale)


def of_classes(place: np.ndarray, value: np.ndarray, predictions: Predictions, reduce: str) -> VectorForm:
    """Return the form of the mean or the maximum over the classes.

    `place`, shape (n, K), is the cell of each row for each class; `value`, shape (K, cells), holds the predictions / n
    summed in these cells.
    """
    n, classes = predictions.prob.shape
    observed = np.zeros(value.shape)
    np.add.at(observed, (predictions.label, place[np.arange(n), predictions.label]), 1.0)
    theta = (observed / n - value).ravel()
    if reduce == "mean":
        return _summed(predictions, theta, place, value.shape[1], 1 / classes)

    def largest(theta: np.ndarray) -> np.ndarray:
        return np.abs(theta).reshape(*theta.shape[:-1], classes, -1).sum(axis=-1).max(axis=-1)

    by_class = np.abs(theta).reshape(classes, -1).sum(axis=1)
    chosen = np.zeros((classes, theta.size // classes))
    chosen[by_class.argmax()] = 1
    squares = (predictions.prob.astype(np.float64) ** 2).sum(axis=0)
    for k in range(classes):
        of_class = predictions.prob[predictions.label == k, k].astype(np.float64)
        squares[k] += ((1 - of_class) ** 2 - of_class**2).sum()
    return VectorForm(
        estimate=float(largest(theta)),
        theta=theta,
        witness=chosen.ravel() * np.sign(theta),
        norm=largest,
        step=VECTOR_STEP,
        floor=VECTOR_FLOOR,
        worst_spread=float(np.sqrt(squares.max() / n)) / np.sqrt(n),
        predictions=predictions,
        place=place,
        along=value.shape[1],
    )


def _summed(predictions: Predictions, theta: np.ndarray, place: np.ndarray, along: int, scale: float) -> VectorForm:
    """Return the form of `scale` times the sum of all absolute residuals."""
    prob, label = predictions.prob, predictions.label
    missed = 1 - prob[np.arange(label.size), label].astype(np.float64)  # half the L1 distance of label and prediction

    def norm(theta: np.ndarray) -> np.ndarray:
        return scale * np.abs(theta).sum(axis=-1)

    return VectorForm(
        estimate=float(norm(theta)),
        theta=theta,
        witness=scale * np.sign(theta),
        norm=norm,
        step=VECTOR_STEP,
        floor=VECTOR_FLOOR,
        worst_spread=float(np.sqrt(np.mean((2 * scale * missed) ** 2))) / np.sqrt(label.size),
        predictions=predictions,
        place=place,
        along=along,
    )
