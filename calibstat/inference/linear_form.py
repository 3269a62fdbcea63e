"""Measures as functions of the rows: what comparisons of models, and clusters of rows, draw together.

The measure of a model is a seminorm of theta, the residuals summed in cells over n, or a mean of losses; its witness w
has it as the sum of w * theta. G* = theta* - theta is the bootstrap, and (||theta + kappa G*|| - ||theta||) / kappa its
directional form: see `honest`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.data.clipping import advice
from calibstat.data.sample import Sample, check_rows
from calibstat.inference.honest import FEW_ROWS, largest_bias, need_rows_in_cells
from calibstat.inference.problem import EventProblem, Problem, VectorProblem
from calibstat.measures.registry import BinnedInterval, BoundMeasure, MeanInterval, WitnessInterval

FEWEST_CLUSTERS = 30  # below it the bootstrap of clusters is not to be trusted
KAPPA = 3.0  # at least: without an exact test a smaller step takes the bias of a calibrated model for an error


@dataclass(frozen=True)
class RowWise:
    """A measure of one model, by rows.

    Attributes
    ----------
    estimate : float
        Its value.
    cell, residual : ndarray, shape (n,)
        Where each row adds, and what.
    theta, witness : ndarray, shape (n_cells,)
        The sums over n, and the weights.
    norm : callable
        ``norm(theta)``, the measure, over the last axis.
    kappa, floor : float
        As in `WitnessInterval`.
    squared : bool
        Whether its square is a squared norm of a Hilbert space, so that its bias is known.
    variance : ndarray, shape (n_cells,), or None
        Of an L1 error over bins: the variance of theta that predictions speak of, 0 where there are rows enough.
    mean : bool
        Whether it is a mean of losses.
    """

    estimate: float
    cell: np.ndarray
    residual: np.ndarray
    theta: np.ndarray
    witness: np.ndarray
    norm: Callable[[np.ndarray], np.ndarray]
    kappa: float
    floor: float
    squared: bool = False
    variance: np.ndarray | None = None
    mean: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.cell.size


def row_contents(problem: Problem) -> tuple[np.ndarray, ...]:
    """Return all that draws see of a row: outcome and prediction of an event, or the loss of a whole vector.

    Empty for a measure that is neither a seminorm with a witness nor a mean of losses.
    """
    recipe = problem.bound.honest
    if isinstance(problem, EventProblem) and isinstance(recipe, MeanInterval | BinnedInterval | WitnessInterval):
        return event_rows(problem)
    if isinstance(problem, VectorProblem) and isinstance(recipe, MeanInterval):
        return (problem.bound.detail_of_vectors(problem.predictions)["loss"],)
    return ()


def row_wise(problem: Problem, order: np.ndarray | slice = slice(None)) -> RowWise | None:
    """Return the measure by rows, put in this order, or None where it has no such form."""
    bound, recipe = problem.bound, problem.bound.honest
    contents = row_contents(problem)
    if not contents:
        return None
    if not isinstance(problem, EventProblem):
        assert isinstance(problem, VectorProblem)
        return _mean_of(bound, contents[0], problem.predictions.prob, order)
    y, p = contents
    sample = Sample.from_rows(y, p)
    if isinstance(recipe, MeanInterval):
        cell, loss = np.searchsorted(sample.value, p), bound.detail(sample)
        return _mean_of(bound, np.where(y == 1, loss["loss_positive"][cell], loss["loss_negative"][cell]), p, order)
    y, p = y[order], p[order]
    cell = np.searchsorted(sample.value, p)
    if isinstance(recipe, BinnedInterval):
        cell = bound.cells(*sample.arrays[:2])[cell]
        need_rows_in_cells(bound, p.size, np.unique(cell).size)
        variance = np.where(np.bincount(cell) < FEW_ROWS, np.bincount(cell, p * (1 - p)) / p.size**2, 0.0)
        model = _model(cell, y - p, _signs, lambda theta: np.abs(theta).sum(axis=-1), 1.0, 2.0)
        return replace(model, variance=variance)
    assert isinstance(recipe, WitnessInterval)
    witness = bound.part("witness", sample)

    def norm(theta: np.ndarray) -> np.ndarray:
        return np.apply_along_axis(lambda part: bound.seminorm(sample.value, part.copy()), -1, theta)

    squared = bound.measure.name == "kernel_ce"
    return _model(cell, y - p, lambda _: witness, norm, recipe.kappa, recipe.floor, squared)


def event_rows(problem: EventProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of an event; a summary has none."""
    if problem.seen.rows is None:
        raise ValueError("expected rows, y_true and y_prob, found a Sample, in which rows cannot be told apart")
    y, p = problem.seen.rows
    check_rows(y, p)
    return y.astype(np.float64), p + 0.0


def _signs(theta: np.ndarray) -> np.ndarray:
    """Return the sign of each cell, 0 where residuals cancel up to rounding."""
    return np.sign(theta.round(12))


def _mean_of(bound: BoundMeasure, loss: np.ndarray, prob: np.ndarray, order: np.ndarray | slice) -> RowWise:
    if not np.isfinite(loss).all():
        row = int(np.argmin(np.isfinite(loss)))
        raise ValueError(
            f"expected a finite {bound}; it is infinite at row {row}, where what happened had probability 0; "
            f"{advice(prob)}"
        )
    model = _model(np.zeros(loss.size, np.int64), loss[order], np.ones_like, lambda theta: theta[..., 0], 1.0, 0.0)
    return replace(model, mean=True)


def _model(
    cell: np.ndarray,
    residual: np.ndarray,
    witness: Callable[[np.ndarray], np.ndarray],
    norm: Callable[[np.ndarray], np.ndarray],
    kappa: float,
    floor: float,
    squared: bool = False,
) -> RowWise:
    theta = np.bincount(cell, residual) / cell.size
    return RowWise(float(norm(theta)), cell, residual, theta, witness(theta), norm, kappa, floor, squared)


def moves(models: list[RowWise], sums: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return for resamples and models the directional bootstrap, the sum of w * G*, and the measure, (..., M, 3)."""
    found = np.empty((rows.size, len(models), 3))
    begin = 0
    for m, model in enumerate(models):
        drawn = sums[:, begin : begin + model.theta.size] / rows[:, None]
        begin += model.theta.size
        step = drawn - model.theta
        found[:, m, 0] = (model.norm(model.theta + model.kappa * step) - model.estimate) / model.kappa
        found[:, m, 1] = (step * model.witness).sum(axis=-1)  # @ rounds by how many resamples there are
        found[:, m, 2] = model.norm(drawn)
    return found


def most_bias(model: RowWise, unit: np.ndarray | None) -> float:
    """Return by how much an L1 error over bins may be too large on average; `unit` numbers the cluster of each row."""
    assert model.variance is not None
    unit = np.arange(model.n) if unit is None else unit
    size = np.bincount(unit)
    full, place = np.unique(unit * model.theta.size + model.cell, return_inverse=True)
    total, unit, cell = np.bincount(place, model.residual), *divmod(full, model.theta.size)
    # the sum over clusters of (their residuals in a cell - their rows * theta)**2, most of which have none in it
    squares = np.bincount(cell, total * (total - 2 * size[unit] * model.theta[cell]), model.theta.size)
    variance = (squares + (size @ size) * model.theta**2) / model.n**2
    return largest_bias(np.abs(model.theta), np.sqrt(np.maximum(variance, model.variance)))


def with_most_bias(model: RowWise, moved: np.ndarray, unit: np.ndarray | None) -> np.ndarray:
    """Move the directional bootstrap of an L1 error up to the bias that the error may have.

    Resamples understate the bias of a sum of absolute values, the more so the more bins there are.
    """
    return moved if model.variance is None else moved + max(most_bias(model, unit) - float(moved.mean()), 0.0)


def side_by_side(models: list[RowWise]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells, each model's after those of the one before, and the residuals, of shape (n, M)."""
    begin = np.cumsum([0, *(model.theta.size for model in models[:-1])])
    cell = np.column_stack([model.cell + b for model, b in zip(models, begin, strict=True)]).astype(np.int64)
    return np.ascontiguousarray(cell), np.ascontiguousarray(np.column_stack([model.residual for model in models]))


def as_clusters(cluster: Any, n: int) -> np.ndarray | None:
    """Return the number of each row's cluster, from 0 in the order of their first rows; warn if there are few."""
    import warnings

    import pandas as pd

    if cluster is None:
        return None
    names = np.asarray(cluster)
    if names.shape != (n,):
        raise ValueError(f"expected one cluster a row, shape ({n},), found shape {names.shape}")
    unit, found = pd.factorize(names)
    if (unit < 0).any():
        raise ValueError(f"expected no missing clusters, found one at row {int(np.argmin(unit))}")
    if len(found) < 2:
        raise ValueError("expected at least 2 clusters, found 1")
    if len(found) < FEWEST_CLUSTERS:
        warnings.warn(
            f"{len(found)} clusters are few: below {FEWEST_CLUSTERS}, intervals are too short and p-values too small",
            UserWarning,
            stacklevel=4,  # at the line that calls the verb
        )
    return unit.astype(np.int64)
