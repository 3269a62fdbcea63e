"""One class against the rest: what maps of two classes become with more of them."""

from __future__ import annotations

import numpy as np

from calibstat.data.clipping import clipped
from calibstat.recalibration.formula import Expression, log, total
from calibstat.recalibration.recalibrator import Recalibrator, finite_logs, normalised


def columns_of(classes: int) -> list[int]:
    """Return the classes that are mapped: class 1 of two, or each."""
    return [1] if classes == 2 else list(range(classes))


def rows_of(score: np.ndarray) -> np.ndarray:
    """Return rows of probabilities, shape (n, K), from mapped classes: of one column class 1 of two, or each class."""
    return np.column_stack((1 - score, score)) if score.shape[1] == 1 else normalised(score)


def two_logs(prob: np.ndarray, clip: float | None, who: Recalibrator) -> tuple[np.ndarray, np.ndarray]:
    """Return the logarithms of each mapped class and of all others together, a column for each mapped class."""
    logs = finite_logs(prob, clip, who)
    if prob.shape[1] == 2:
        return logs[:, 1:], logs[:, :1]
    others = prob.sum(axis=1, keepdims=True) - prob
    # of the most likely class the difference may lose all digits; the sum of the others keeps them
    top, rest = (np.arange(len(prob)), prob.argmax(axis=1)), prob.copy()
    rest[top] = 0
    others[top] = rest.sum(axis=1)
    return logs, np.log(clipped(others, clip))


def log_formulas(prob: list[Expression], clip: float | None) -> tuple[list[Expression], list[Expression]]:
    """Return the same logarithms as expressions."""
    if len(prob) == 2:
        return [log(prob[1], clip)], [log(prob[0], clip)]
    others = [total([other for j, other in enumerate(prob) if j != k]) for k in range(len(prob))]
    return [log(p, clip) for p in prob], [log(each, clip) for each in others]
