"""Honest intervals over several classes: sums or maxima of absolute residuals in cells, and means of losses.

The constructions are those of `honest`, for the residual measure of vectors: theta holds the residual / n of every cell
and class, the error is a seminorm of it, and its witness w has the error as the sum of w * theta.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat import resampling
from calibstat.inference.calibration_test import LABELS_STAGE, p_value
from calibstat.inference.honest import ROWS_STAGE, upper_quantile
from calibstat.inference.problem import ClassProblem, EventProblem, Problem, VectorProblem
from calibstat.measures.registry import BinnedInterval, MeanInterval, NormInterval, vector_sums


def is_honest(problem: Problem) -> bool:
    """Whether an honest interval is known."""
    if isinstance(problem, ClassProblem):
        return isinstance(problem.bound.honest, BinnedInterval)
    return problem.bound.honest is not None


def honest_interval_of_classes(
    problem: VectorProblem | ClassProblem, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[float, float]:
    """Return the ends of the honest interval."""
    from scipy.special import ndtri

    recipe = problem.bound.honest
    if isinstance(recipe, MeanInterval):
        return _mean_interval(problem, alpha)
    if isinstance(problem, ClassProblem):
        recipe = NormInterval(1 / problem.predictions.n_classes if problem.reduce == "mean" else 1.0)
        cells = _of_classes(problem, recipe.scale)
    else:
        assert isinstance(recipe, NormInterval)
        cells = _of_vectors(problem, recipe.scale)
    theta = cells.theta
    estimate = float(cells.error(theta))
    drawn = resampling.draw_residuals(
        problem.predictions, cells.place, cells.along, theta.size, n_resamples, key, ROWS_STAGE, n_jobs
    )
    moved = cells.error(theta + recipe.kappa * (drawn - theta))
    low = estimate - upper_quantile((moved - estimate) / recipe.kappa, alpha / 2)
    largest = cells.largest / np.sqrt(problem.predictions.n)
    spread = largest if estimate < recipe.floor * largest else _spread(problem, cells)
    high = estimate + float(ndtri(1 - alpha / 2)) * spread
    if low <= 0:
        return 0.0, high
    # The gate: a low end above 0 denies calibration, so the exact test has to deny it too.
    null = problem.resample("labels", n_resamples, key, LABELS_STAGE, n_jobs)
    return (0.0 if p_value(problem.estimate(), null, "greater") > alpha / 2 else low), high


@dataclass(frozen=True)
class _Cells:
    """Residuals in cells: class k in row i adds to ``theta[place[i, k] + k * along]``, place shared if it is narrow.

    The error is `scale` times the sum of their absolute values, or the largest such sum of a class. `largest` is the
    greatest root mean square over the rows that the sum of w * residuals can have for a witness w.
    """

    theta: np.ndarray
    place: np.ndarray
    along: int
    scale: float
    classes: int | None
    largest: float

    def error(self, theta: np.ndarray) -> np.ndarray:
        """Return the error of residuals, over the last axis."""
        if self.classes is None:
            return self.scale * np.abs(theta).sum(axis=-1)
        return np.abs(theta).reshape(*theta.shape[:-1], self.classes, -1).sum(axis=-1).max(axis=-1)

    def witness(self) -> np.ndarray:
        """Return w of the data."""
        sign = np.sign(self.theta)
        if self.classes is None:
            return self.scale * sign
        by_class = np.abs(self.theta).reshape(self.classes, -1).sum(axis=1)
        chosen = np.zeros((self.classes, self.theta.size // self.classes))
        chosen[by_class.argmax()] = 1
        return chosen.ravel() * sign


def _of_vectors(problem: VectorProblem, scale: float) -> _Cells:
    prob, label = problem.predictions.prob, problem.predictions.label
    cell = problem.bound.cells(prob)
    _, residual, _ = vector_sums(cell, prob, label)
    missed = 1 - _chosen(problem)  # half the L1 distance of one-hot class and prediction
    largest = float(np.sqrt(np.mean((2 * scale * missed) ** 2)))
    return _Cells(residual.ravel(), cell[:, None] * prob.shape[1], 1, scale, None, largest)


def _of_classes(problem: ClassProblem, scale: float) -> _Cells:
    predictions = problem.predictions
    n, classes = predictions.prob.shape
    place, _, value = resampling.cells_of_classes(problem.bound, predictions)
    cells = value.shape[1]
    hits = np.zeros(value.shape)
    np.add.at(hits, (predictions.label, place[np.arange(n), predictions.label]), 1.0)
    theta = (hits / n - value).ravel()
    if problem.reduce == "mean":
        largest = float(np.sqrt(np.mean((2 * scale * (1 - _chosen(problem))) ** 2)))
        return _Cells(theta, place, cells, scale, None, largest)
    squares = (predictions.prob.astype(np.float64) ** 2).sum(axis=0)
    for k in range(classes):
        of_class = predictions.prob[predictions.label == k, k].astype(np.float64)
        squares[k] += ((1 - of_class) ** 2 - of_class**2).sum()
    return _Cells(theta, place, cells, scale, classes, float(np.sqrt(squares.max() / n)))


def _chosen(problem: VectorProblem | ClassProblem) -> np.ndarray:
    """Return the predicted probability of what happened."""
    prob, label = problem.predictions.prob, problem.predictions.label
    return prob[np.arange(len(label)), label].astype(np.float64)


def _spread(problem: VectorProblem | ClassProblem, cells: _Cells) -> float:
    """Return the standard error of the sum of w * residuals, w the witness of the data."""
    prob, label = problem.predictions.prob, problem.predictions.label
    w = cells.witness()
    n = len(label)
    expected = np.zeros(n)
    for k in range(prob.shape[1]):
        expected += prob[:, k] * w[cells.place[:, min(k, cells.place.shape[1] - 1)] + k * cells.along]
    column = 0 if cells.place.shape[1] == 1 else label
    happened = w[cells.place[np.arange(n), column] + label * cells.along]
    return float((happened - expected).std() / np.sqrt(n))


def _mean_interval(problem: VectorProblem | ClassProblem, alpha: float) -> tuple[float, float]:
    """Return mean -+ t s / sqrt(n) for a mean of per-row losses."""
    from scipy.special import stdtrit

    assert not isinstance(problem, EventProblem)
    n, loss = problem.predictions.n, problem.bound.detail_of_vectors(problem.predictions)["loss"]
    if n < 2:
        raise ValueError(f"expected at least 2 rows for an interval of {problem.bound}, found {n}")
    mean = float(loss.mean())
    reach = float(stdtrit(n - 1, 1 - alpha / 2)) * loss.std(ddof=1) / np.sqrt(n)
    return mean - reach, mean + reach
