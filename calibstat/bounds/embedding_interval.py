"""Interval of the norm of a mean of embeddings of rows in a Hilbert space, from the products of pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibstat import resampling
from calibstat.bounds.intervals import CLASSES_STEP, DirectionalInterval
from calibstat.bounds.joint_moments import largest_eigenpair
from calibstat.bounds.skewness import Sums
from calibstat.bounds.tail_bound import Allowance, TailBound
from calibstat.data.predictions import Predictions
from calibstat.in_order import RELATIVE
from calibstat.resampling import Draws, Pairs, Stream


@dataclass(frozen=True, eq=False)
class EmbeddingInterval(DirectionalInterval):
    """The norm of the mean of the embeddings of rows: theta is how often each row is drawn, once in the data.

    ``products(times)``, shape (n, B), applies the matrix of the scalar products of all pairs of rows to columns, and
    `largest` is the largest norm that the embedding of a row may have.
    """

    step = CLASSES_STEP
    products: Callable[[np.ndarray], np.ndarray]
    predictions: Predictions
    largest: float

    @cached_property
    def theta(self) -> np.ndarray:
        return np.ones(self.predictions.n)

    def resampled(self, draws: Draws) -> np.ndarray:
        def times(rows: np.ndarray, label: np.ndarray) -> np.ndarray:
            return np.bincount(rows, minlength=self.predictions.n).astype(np.float64)

        counts = resampling.draw(self.predictions, Pairs(), times, draws, Stream.ROWS)
        return np.asarray(self.directional(counts))

    @cached_property
    def estimate(self) -> float:
        return float(self.value(self.theta))

    def value(self, theta: np.ndarray) -> np.ndarray:
        columns = np.atleast_2d(theta).T
        squares = np.einsum("ij,ij->j", columns, self.products(columns))
        return np.sqrt(np.maximum(squares, 0.0)).reshape(theta.shape[:-1]) / self.theta.size

    def below(self, tail: float) -> Allowance:
        return Allowance.of_rows(self._parts[0], self.largest, tail)

    def high(self, tail: float) -> float:
        """Return the largest bound over the unit ball, split into the witness of the data and what is orthogonal to it.

        With a share a of the first, the mean is a * total and the standard deviation at most a times the witness's
        plus sqrt(1 - a**2) times the largest one of the rest.

        Statement and argument: docs/evidence/proofs/several-classes.md.
        """
        n, tail_bound = self.theta.size, TailBound.of_rows(tail).times(self.largest)
        along, beyond = self._parts
        centred = along - along.mean()
        sums = Sums(n * self.estimate, float((centred**2).sum()), float((along**3).sum()))
        excess = (
            np.sqrt((sums.total + tail_bound.z * np.sqrt(sums.variance)) ** 2 + tail_bound.z**2 * beyond) - sums.total
        )
        end = sums.total + float(
            tail_bound.widen(excess, tail_bound.rate(sums.variance, sums.up_if_unsure(tail_bound.z)))
        )
        return max(end, tail_bound.of_either_sign(sums)) / n

    @cached_property
    def _parts(self) -> tuple[np.ndarray, float]:
        """The products of rows with the witness, and the largest variance of products with a rest of norm 1.

        Where the mean is 0 up to rounding the direction of most variance stands for the witness.
        """
        n = self.theta.size

        def centred_products(share: np.ndarray) -> np.ndarray:
            product = self.products((share - share.mean())[:, None])[:, 0]
            return np.asarray(product - product.mean())

        if self.estimate > RELATIVE:
            along = self.products(self.theta[:, None])[:, 0] / (n * self.estimate)
        else:
            value, vector = largest_eigenpair(centred_products, n)
            along = np.sqrt(value) * vector
        centred = along - along.mean()

        def rest(share: np.ndarray) -> np.ndarray:
            return centred_products(share) - centred * (centred @ share)

        return along, largest_eigenpair(rest, n)[0]
