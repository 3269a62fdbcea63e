"""Several models on the same rows, which are independent or in clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.data.clusters import Unseen
from calibstat.inference.comparing.differences import ComparedModels, Way
from calibstat.inference.comparing.squares import by_bootstrap
from calibstat.inference.comparing.swap import BySwap
from calibstat.inference.designs.several_models import (
    BOOTSTRAP,
    SWAP,
    HowToCompare,
    SeveralModels,
    equal_measures,
    in_same_order,
)
from calibstat.inference.rows_of_results import ClustersOfRows, Rows
from calibstat.inference.words_on_clusters import of_neighbours
from calibstat.measures.kinds.base import Measure
from calibstat.resampling import Draws


class Paired(SeveralModels):
    """Models on the same rows, which do not depend on each other, with weights or without."""

    methods = (BOOTSTRAP, SWAP)

    def way(self, compared: ComparedModels, method: str) -> Way:
        return BySwap(compared) if method == SWAP else by_bootstrap(compared)

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        return Rows(n[0])

    def null(self, compared: ComparedModels, method: str, rows: Rows) -> str:
        return _exchangeable("row") if method == SWAP else equal_measures(compared)

    def note(self, compared: ComparedModels, how: HowToCompare, rows: Rows) -> str:
        return compared.first.view.weights_note()

    def same_order(self, compared: ComparedModels, a: int, b: int) -> bool:
        return in_same_order(compared, a, b)


class PairedClusters(Paired):
    """Models on the same rows, whole clusters of which are independent."""

    @property
    def units(self) -> np.ndarray:
        """The number of the cluster of each row."""
        assert self.first.cluster is not None
        return self.first.cluster

    def pose(self, measure: Measure, draws: Draws) -> ComparedModels:
        return replace(super().pose(measure, draws), unit=self.units)

    def way(self, compared: ComparedModels, method: str) -> Way:
        return BySwap(compared) if method == SWAP else by_bootstrap(compared, unseen=self.first.unseen)

    def described(self, compared: ComparedModels, n: tuple[int, ...], how: HowToCompare) -> Rows:
        rows = ClustersOfRows.of(n[0], self.units, compared.first.weight)
        if how.method == SWAP:
            return rows
        unseen = Unseen(self.first.unseen, compared.first.view.rarest(self.units).count)
        return rows.supposing(unseen, how.confidence_level, further=self._alike(compared, how))

    def _alike(self, compared: ComparedModels, how: HowToCompare) -> list[str]:
        """Return warnings where neighbouring clusters are alike in the difference of the losses of a pair."""
        if not compared.first.is_mean:
            return []
        loss = [each.losses().loss for each in compared.problems]
        weight = compared.first.weight
        found = [of_neighbours(loss[a] - loss[b], self.units, self.first.cluster_names, weight) for a, b in how.pairs]
        return [*dict.fromkeys(sentence for each in found for sentence in each)]

    def null(self, compared: ComparedModels, method: str, rows: Rows) -> str:
        if method == SWAP:
            return _exchangeable(f"one of {rows}")
        return equal_measures(compared, sampled=f" these {rows} are an independent sample of")


def _exchangeable(each: str) -> str:
    """Return the null hypothesis of permutations."""
    return f"in every {each} the two models can be exchanged without changing the distribution of the data"
