"""Linear form of the norm of a mean of embeddings of rows in a Hilbert space, from the products of pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat.bounds.directional_form import ByRows, DirectionalForm
from calibstat.bounds.moments import largest_eigenvalue
from calibstat.bounds.score_bound import ScoreBound


@dataclass(frozen=True, eq=False, kw_only=True)
class EmbeddingForm(DirectionalForm, ByRows):
    """The norm of the mean of the embeddings of rows: theta is how often each row is drawn, once in the data.

    ``products(times)``, shape (n, B), applies the matrix of the scalar products of all pairs of rows to columns, and
    `largest` is the largest norm that the embedding of a row may have.
    """

    products: Callable[[np.ndarray], np.ndarray]

    def by_row(self) -> np.ndarray:
        return self._parts[0]

    def of_rows(self, rows: np.ndarray, label: np.ndarray) -> np.ndarray:
        return np.bincount(rows, minlength=self.theta.size).astype(np.float64)

    def high(self, tail: float) -> float:
        """Return the largest bound over the unit ball, split into the witness of the data and what is orthogonal to it.

        With a share a of the first, the mean is a * total and the standard deviation at most a times that of the
        witness plus sqrt(1 - a**2) times the largest one of the rest.

        Statement and argument: docs/proofs.md, section 6.
        """
        n, score = self.theta.size, ScoreBound.of_rows(tail).times(self.largest)
        along, beyond = self._parts
        total, centred = n * self.estimate, along - along.mean()
        variance, third = float((centred**2).sum()), float((along**3).sum())
        excess = np.sqrt((total + score.z * np.sqrt(variance)) ** 2 + score.z**2 * beyond) - total
        return (total + float(score.widen(excess, score.rate(variance, third)))) / n

    @cached_property
    def _parts(self) -> tuple[np.ndarray, float]:
        """The products of rows with the witness, and the largest variance of products with a rest of norm 1."""
        n = self.theta.size
        along = np.zeros(n)
        if self.estimate > 0:
            along = self.products(self.theta[:, None])[:, 0] / (n * self.estimate)
        centred = along - along.mean()

        def rest(share: np.ndarray) -> np.ndarray:
            found = self.products((share - share.mean())[:, None])[:, 0]
            return found - found.mean() - centred * (centred @ share)

        return along, largest_eigenvalue(rest, n)


def of_embedding(products: Callable[[np.ndarray], np.ndarray], n: int, largest: float) -> EmbeddingForm:
    """Return the form of the norm of a mean of `n` embeddings."""

    def norm(times: np.ndarray) -> np.ndarray:
        columns = np.atleast_2d(times).T
        squares = np.einsum("ij,ij->j", columns, products(columns))
        return np.sqrt(np.maximum(squares, 0.0)).reshape(times.shape[:-1]) / n

    once = np.ones(n)
    return EmbeddingForm(estimate=float(norm(once)), theta=once, norm=norm, products=products, largest=largest)
