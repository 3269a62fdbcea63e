"""Resampling: the only place where inference draws random numbers."""

from calibstat.resampling.draw import draw
from calibstat.resampling.resample import resample
from calibstat.resampling.row_order import canonical_order, in_order
from calibstat.resampling.schemes import (
    Clusters,
    Consistency,
    Draws,
    Labels,
    Pairs,
    Scheme,
    Signs,
    Stage,
    Swap,
    check_resamples,
)
from calibstat.resampling.sources import CellSums, ClassSamples, ModelPair, RowSums, VectorSums
from calibstat.resampling.streams import key_of

__all__ = ["Clusters", "Consistency", "Draws", "Labels", "Pairs", "Scheme", "Signs", "Stage", "Swap"]
__all__ += ["CellSums", "ClassSamples", "ModelPair", "RowSums", "VectorSums"]
__all__ += ["canonical_order", "check_resamples", "draw", "in_order", "key_of", "resample"]
