"""Rows of any generator: independent or in clusters, with or without weights."""

from __future__ import annotations

import numpy as np

from calibstat.generators.distributions import Random, Seed
from calibstat.generators.row_clusters import Clusters, Shares, Sizes, find_clusters, shared_uniform
from calibstat.generators.row_weights import Weights, find_weights
from calibstat.generators.sampled_rows import SampledRows

Pairs = tuple[np.ndarray, np.ndarray]


def drawing(n: int, rng: Seed) -> tuple[int, Random]:
    """Check the number of rows and return it with the random generator."""
    if isinstance(n, bool) or n != int(n) or n < 1:
        raise ValueError(f"expected n to be a whole number of at least 1, found {n!r}")
    return int(n), np.random.default_rng(rng)


class Simulator:
    """The base of all generators, which draws rows of a known distribution of prediction and outcome."""

    def sample(
        self,
        n: int,
        rng: Seed = None,
        *,
        clusters: int | None = None,
        size: Sizes = "equal",
        share: Shares = 1.0,
        alike: Shares = 0.0,
        weights: str | Weights | None = None,
    ) -> SampledRows:
        """Draw rows: independent ones, or in clusters.

            >>> from calibstat import generators
            >>> family = generators.calibrated([0.2, 0.9])
            >>> rows = family.sample(6, rng=1, clusters=2, weights="independent")
            >>> rows.y, rows.p, rows.cluster
            (array([1, 1, 1, 1, 0, 0]), array([0.9, 0.9, 0.2, 0.9, 0.2, 0.2]), array([0, 0, 0, 1, 1, 1]))

        Parameters
        ----------
        n : int
            Number of rows, at least 1.
        rng : None, int, SeedSequence or Generator
            As for `numpy.random.default_rng`.
        clusters : int, optional
            Number of clusters, at most `n`; by default rows are independent.
        size : {"equal", "geometric", "one_giant"} or sequence of int
            Sizes of the clusters, of at least one row each: as equal as they can be; geometric, which is to say that
            every way to cut `n` rows into clusters is equally likely; one of half of the rows beside others of equal
            sizes; or the size of each, which add up to `n`.
        share : float or sequence of float
            The probability that the outcomes of a cluster are alike: one uniform number decides all of them. One for
            all clusters, or for each its own.
        alike : float or sequence of float
            The probability that all rows of a cluster have one prediction, likewise; by default predictions
            are independent.
        weights : {"independent", "related", "determined"} or Weights, optional
            Weights of rows: exponential variables, such variables times factors of prediction and outcome, or these
            factors alone. `calibstat.generators.Weights` makes others. They do not change how rows are drawn.

        Returns
        -------
        SampledRows
            The tuple (y, p), or with `clusters` or `weights` (y, p, cluster, weight), whose parts have these names:
            outcomes, 0 or 1, or classes, from 0 to K - 1; predicted probabilities of outcome 1, or of all classes, rows
            of which sum to 1 up to rounding; the number of the cluster of each row, and its weight, or None.

        Raises
        ------
        ValueError
            If `n` is not a whole number of at least 1, or another argument is not as described.

        Notes
        -----
        In clusters, each row alone has exactly the distribution of a row without them, whatever `size`, `share` and
        `alike` are, and clusters are independent. So `truth` holds. Rows are the same with and without `weights`, and
        predictions with and without clusters, if `alike` is 0.
        """
        n, random = drawing(n, rng)
        grouped = find_clusters(n, clusters, size, share, alike)
        weighted = None if weights is None else find_weights(weights, self._classes)
        y, p = self._pairs(n, random)
        cluster = None
        if grouped is not None:
            cluster, y, p = self._in_clusters(y, p, grouped, random)
        return SampledRows(y, p, cluster, None if weighted is None else weighted.draw(y, p, random))

    def _in_clusters(self, y: np.ndarray, p: np.ndarray, grouped: Clusters, random: Random) -> tuple[np.ndarray, ...]:
        """Put independent rows into clusters, and draw again what is alike."""
        size, together, alike = grouped.kinds(random)
        cluster = np.repeat(np.arange(size.size), size)
        first = size.cumsum() - size
        copied = np.where(alike[cluster], first[cluster], np.arange(y.size))
        y, p = y[copied], p[copied]
        chance = self._chance_given(p)
        # the probability given a prediction is not known where rounding took the prediction out of reach: then the
        # outcome that was drawn with it stays, for all rows with this prediction
        known = ~np.isnan(chance).reshape(y.size, -1).any(axis=1)
        again = known & (together | alike)[cluster]
        uniform = shared_uniform(random, cluster, together)
        y[again] = self._outcome(chance[again], uniform[again])
        return cluster, y, p

    @property
    def _classes(self) -> int:
        """The number of outcomes."""
        raise NotImplementedError

    def _pairs(self, n: int, random: Random) -> Pairs:
        """Draw independent outcomes and predictions."""
        raise NotImplementedError

    def _chance_given(self, p: np.ndarray) -> np.ndarray:
        """Return the probability of outcome 1, or of each class, given the prediction."""
        raise NotImplementedError

    def _outcome(self, chance: np.ndarray, uniform: np.ndarray) -> np.ndarray:
        """Return the outcomes that uniform numbers decide."""
        raise NotImplementedError
