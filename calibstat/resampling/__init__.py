"""Resampling: the only place where inference draws random numbers."""

from calibstat.data.predictions import in_order, take
from calibstat.data.row_order import canonical_order
from calibstat.resampling.binary_pairs import pairs_of_sample, residuals_of_pairs
from calibstat.resampling.draw import draw
from calibstat.resampling.fold_signs import centring, repeat_key, sums_of_fold_signs
from calibstat.resampling.folds import fit_seeds, folds, random_order, repeated_folds
from calibstat.resampling.future_draws import planned_key, planned_rows
from calibstat.resampling.group_sums import packed
from calibstat.resampling.one_pass import OnePass
from calibstat.resampling.one_pass_pairs import pairs_in_one_pass
from calibstat.resampling.random_subsets import sums_of_subsets
from calibstat.resampling.row_labels import sums_of_class_labels, sums_of_row_labels, sums_of_signs
from calibstat.resampling.row_sums import Column, UnitCounts, products_of_counts, random_signs, sums_of_counts
from calibstat.resampling.schemes import (
    Clusters,
    Consistency,
    Draws,
    GivenPredictions,
    Labels,
    Pairs,
    RowLabels,
    Scheme,
    Stream,
    Swap,
    check_resamples,
)
from calibstat.resampling.sources import CellSums, ClassCells, ClassSamples, GroupSums, ModelPair, in_cells
from calibstat.resampling.streams import key_of
from calibstat.resampling.vector_sums import pairs_of_vectors

__all__ = [
    "CellSums",
    "ClassCells",
    "ClassSamples",
    "Clusters",
    "Column",
    "Consistency",
    "Draws",
    "GivenPredictions",
    "GroupSums",
    "Labels",
    "ModelPair",
    "OnePass",
    "Pairs",
    "RowLabels",
]
__all__ += ["Scheme", "Stream", "Swap", "UnitCounts", "canonical_order", "centring", "check_resamples", "draw"]
__all__ += ["fit_seeds", "folds", "in_cells", "in_order", "key_of", "packed", "pairs_in_one_pass"]
__all__ += ["pairs_of_sample", "pairs_of_vectors", "planned_key", "planned_rows", "products_of_counts"]
__all__ += [
    "random_order",
    "random_signs",
    "repeat_key",
    "repeated_folds",
    "residuals_of_pairs",
    "sums_of_class_labels",
]
__all__ += ["sums_of_counts", "sums_of_fold_signs", "sums_of_row_labels", "sums_of_signs", "sums_of_subsets"]
__all__ += ["take"]
