"""The function that draws resamples, and the table of its implementations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.data.weighted_sample import WeightedSample
from calibstat.resampling.atom_sums import positives_of_atoms
from calibstat.resampling.binary_cells import (
    labels_in_cells,
    labels_row_by_row,
    pairs_in_cells,
    pairs_in_weighted_cells,
)
from calibstat.resampling.binary_labels import labels_in_one_pass, labels_of_sample
from calibstat.resampling.binary_pairs import pairs_of_sample
from calibstat.resampling.class_samples import samples_of_classes
from calibstat.resampling.group_sums import positives_of_groups
from calibstat.resampling.model_pair import permuted_models
from calibstat.resampling.multiclass_labels import labels_of_event_rows, labels_of_predictions
from calibstat.resampling.multiclass_pairs import pairs_of_predictions
from calibstat.resampling.schemes import Clusters, Consistency, Draws, Labels, Pairs, RowLabels, Scheme, Swap
from calibstat.resampling.sources import (
    AtomSums,
    CellSums,
    ClassCells,
    ClassSamples,
    GroupSums,
    InOnePass,
    ModelPair,
    Source,
    WeightedCellSums,
)
from calibstat.resampling.vector_sums import labels_of_vectors
from calibstat.resampling.weighted_rows import resamples_of_weighted_rows

Driver = Callable[..., np.ndarray]  # of a source, a scheme, a statistic, draws, and a stream
DRIVERS: dict[tuple[type, type], Driver] = {
    (Sample, Labels): labels_of_sample,
    (InOnePass, Labels): labels_in_one_pass,
    (Sample, RowLabels): labels_of_event_rows,
    (WeightedSample, RowLabels): labels_of_event_rows,
    (Sample, Pairs): pairs_of_sample,
    (Sample, Consistency): pairs_of_sample,
    (WeightedSample, Labels): resamples_of_weighted_rows,
    (WeightedSample, Pairs): resamples_of_weighted_rows,
    (WeightedSample, Clusters): resamples_of_weighted_rows,
    (WeightedSample, Consistency): resamples_of_weighted_rows,
    (CellSums, Labels): labels_in_cells,
    (CellSums, Pairs): pairs_in_cells,
    (CellSums, Consistency): pairs_in_cells,
    (WeightedCellSums, Labels): labels_row_by_row,
    (WeightedCellSums, Pairs): pairs_in_weighted_cells,
    (WeightedCellSums, Clusters): pairs_in_weighted_cells,
    (WeightedCellSums, Consistency): pairs_in_weighted_cells,
    (Predictions, Labels): labels_of_predictions,
    (Predictions, Pairs): pairs_of_predictions,
    (Predictions, Clusters): pairs_of_predictions,
    (Predictions, Consistency): pairs_of_predictions,
    (ClassCells, Labels): labels_of_vectors,
    (ClassSamples, Labels): samples_of_classes,
    (ClassSamples, Pairs): samples_of_classes,
    (ClassSamples, Clusters): samples_of_classes,
    (ClassSamples, Consistency): samples_of_classes,
    (GroupSums, Labels): positives_of_groups,
    (AtomSums, Labels): positives_of_atoms,
    (ModelPair, Swap): permuted_models,
}


def draw(source: Source, scheme: Scheme, statistic: Any, draws: Draws, stream: int) -> np.ndarray:
    """Return the statistic of every resample of data, along the first axis; tables of residuals draw themselves.

    The arguments of the statistic depend on the source. Its arrays are overwritten by later resamples:

    * `Sample` or `WeightedSample`: ``statistic(value, count, positives)`` of each resample.
    * `InOnePass`: a `OnePass`.
    * `CellSums` or `WeightedCellSums`: ``statistic(count, residual, value)``, sums of rows, residuals / n and
      predictions / n in cells, along the last axis. An axis of resamples may precede it, of length 1 for arrays that
      all resamples share.
    * `Predictions`: with `Labels` ``statistic(labels)``, shape (B, n), of B resamples at a time; else
      ``statistic(rows, label)`` of each resample.
    * `ClassCells`: ``statistic(observed)``, how often a drawn class falls at each place, shape (B, size).
    * `ClassSamples`: ``statistic(value, count)``, of the data, returns for each class a function of the (value, count,
      positives) of its resamples; the result has shape (n, K).
    * `GroupSums` or `AtomSums`: ``statistic(positives)``, rows with outcome 1 of groups and strata, shape (B, G, S), of
      B resamples.
    * `ModelPair`: ``statistic(count, positives)`` of each model; their difference is returned.
    """
    return driver_of(source, scheme)(source, scheme, statistic, draws, stream)


def driver_of(source: Source, scheme: Scheme) -> Driver:
    """Return the function that draws by this scheme from this source."""
    driver = DRIVERS.get((type(source), type(scheme)))
    if driver is None:
        known = ", ".join(s.__name__ for of, s in DRIVERS if of is type(source)) or "none"
        raise TypeError(
            f"expected a scheme that draws from {type(source).__name__}, one of {known}; found {type(scheme).__name__}"
        )
    return driver
