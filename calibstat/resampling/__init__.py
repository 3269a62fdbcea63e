"""Resampling: the only place where inference draws random numbers."""

from calibstat.data.predictions import in_order, taken
from calibstat.data.row_order import canonical_order
from calibstat.resampling.draw import draw
from calibstat.resampling.folds import folds
from calibstat.resampling.future_draws import planned_key, planned_rows
from calibstat.resampling.group_sums import packed, positives_of_rows
from calibstat.resampling.resample import Resampler, resample, resampler
from calibstat.resampling.row_sums import weighted_counts
from calibstat.resampling.schemes import (
    Clusters,
    Consistency,
    Draws,
    Labels,
    LabelsOfClusters,
    Pairs,
    Scheme,
    Signs,
    Stage,
    Swap,
    check_resamples,
)
from calibstat.resampling.sources import CellSums, ClassSamples, GroupSums, ModelPair, RowLabels, RowSums, VectorSums
from calibstat.resampling.streams import key_of

__all__ = [
    "Clusters",
    "Consistency",
    "Draws",
    "Labels",
    "LabelsOfClusters",
    "Pairs",
    "Scheme",
    "Signs",
    "Stage",
    "Swap",
]
__all__ += ["CellSums", "ClassSamples", "GroupSums", "ModelPair", "RowLabels", "RowSums", "VectorSums"]
__all__ += ["Resampler", "canonical_order", "check_resamples", "draw", "folds", "in_order", "key_of"]
__all__ += ["packed", "planned_key", "planned_rows", "positives_of_rows", "resample", "resampler", "taken"]
__all__ += ["weighted_counts"]
