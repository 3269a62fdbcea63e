"""Decompositions of scores of several classes jointly, over cells of the simplex."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from calibstat.data.cell_sums import vector_sums
from calibstat.data.checks import unknown_name
from calibstat.data.views import MulticlassView
from calibstat.measures.bregman import BREGMANS, Bregman
from calibstat.measures.canonical_ce import CanonicalCE
from calibstat.measures.kinds.registry import find_measure

Function = Callable[..., np.ndarray]


@dataclass(frozen=True)
class VectorScore:
    """A proper score of vectors of K probabilities, over the last axis.

    Attributes
    ----------
    divergence : callable
        ``divergence(x, v)``, the excess mean loss of predicting v if the classes have frequencies x.
    entropy : callable
        ``entropy(x)``, the mean loss of predicting x if the classes have frequencies x.
    is_steep : bool
        Whether a class that was predicted with probability 0 and observed has an infinite loss.
    """

    divergence: Function
    entropy: Function
    is_steep: bool


def _relative_entropy(x: np.ndarray, v: np.ndarray) -> np.ndarray:
    from scipy.special import kl_div

    return kl_div(x, v).sum(axis=-1)  # of terms that are at least 0, so that nothing cancels


def _entropy(x: np.ndarray) -> np.ndarray:
    from scipy.special import entr

    return entr(x).sum(axis=-1)


VECTOR_SCORES: Mapping[str, VectorScore] = MappingProxyType(
    {
        "brier": VectorScore(
            lambda x, v: np.square(x - v).sum(axis=-1), lambda x: 1 - np.square(x).sum(axis=-1), is_steep=False
        ),
        "log_loss": VectorScore(_relative_entropy, _entropy, is_steep=True),
    }
)


@dataclass(frozen=True)
class Cells:
    """Rows in cells of the simplex.

    Attributes
    ----------
    cell : ndarray of int, shape (n,)
        The cell of each row.
    share : ndarray, shape (cells,)
        The share of the rows in each cell.
    frequency, mean : ndarray, shape (cells, K)
        Frequency and mean prediction of each class in each cell.
    prob : ndarray of float64, shape (n, K)
        The predictions.
    weight : ndarray, shape (n,)
        Weights of the rows, with sum 1.
    """

    cell: np.ndarray
    share: np.ndarray
    frequency: np.ndarray
    mean: np.ndarray
    prob: np.ndarray
    weight: np.ndarray


def by_cell(score: VectorScore, given: float, rows: Cells) -> dict[str, float]:
    """Return score = calibration_error + sharpness_gap + smoothing, with the frequencies of the cell of each row."""
    error = float(rows.weight @ score.divergence(rows.frequency[rows.cell], rows.prob))
    gap = float(rows.share @ score.entropy(rows.frequency))
    return {"calibration_error": error, "sharpness_gap": gap, "smoothing": given - error - gap}


def murphy_of_vectors(score: VectorScore, given: float, rows: Cells) -> dict[str, float]:
    """Return score = reliability - resolution + uncertainty + within_bins."""
    overall = rows.share @ rows.frequency
    reliability = float(rows.share @ score.divergence(rows.frequency, rows.mean))
    at_means = reliability + float(rows.share @ score.entropy(rows.frequency))
    return {
        "reliability": reliability,
        "resolution": float(rows.share @ score.divergence(rows.frequency, overall)),
        "uncertainty": float(score.entropy(overall)),
        "within_bins": given - at_means,
    }


METHODS_OF_VECTORS: Mapping[str, Callable[[VectorScore, float, Cells], dict[str, float]]] = MappingProxyType(
    {"sharpness": by_cell, "murphy": murphy_of_vectors}
)


def options_of_cells(
    *, strategy: str = "tree", n_bins: int | str | None = 15, threshold: str = "mean", min_size: int = 100
) -> CanonicalCE:
    """Return the measure whose cells these are."""
    return CanonicalCE(strategy=strategy, n_bins=n_bins, threshold=threshold, min_size=min_size)


def decompose_vectors(
    score: Bregman, method: str, view: MulticlassView, options: Mapping[str, Any]
) -> tuple[float, dict[str, float]]:
    """Return the mean score of the vectors and its parts, which add up to it."""
    name = score.name
    if name not in VECTOR_SCORES or BREGMANS[name] is not score:
        raise unknown_name("a score of several classes", repr(score), VECTOR_SCORES)
    of_vectors, predictions = VECTOR_SCORES[name], view.predictions
    prob, label = predictions.prob, predictions.label
    if of_vectors.is_steep and not prob.all():
        row, k = (int(i[0]) for i in np.nonzero(prob == 0))
        raise ValueError(
            f"expected probabilities above 0 for the {name} score of several classes; found 0 for row {row}, class "
            f"{view.class_names[k]!r}"
        )
    weight = np.ones(label.size) if view.weight is None else view.weight
    cell = options_of_cells(**options).cells(prob)
    count, residual, value = vector_sums(cell, prob, label, weight)
    share = count / count.sum()
    full = share > 0  # weights may be 0
    inverse = np.divide(1, share, out=np.zeros(share.size), where=full)[:, None]
    mean = value * inverse
    rows = Cells(
        cell=cell,
        share=share,
        frequency=np.clip((residual + value) * inverse, 0, 1),  # only rounding leaves [0, 1]
        mean=mean,
        prob=prob.astype(np.float64),
        weight=weight / weight.sum(),
    )
    loss: Any = find_measure(name, {})
    given = float(rows.weight @ loss.vector_loss(prob, label))
    return given, METHODS_OF_VECTORS[method](of_vectors, given, rows)
