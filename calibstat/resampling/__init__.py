"""The only place that draws: labels, rows with labels, and rows."""

from calibstat.resampling.draw_binary import SCHEMES, draw, draw_cells, resample
from calibstat.resampling.draw_multiclass import (
    cells_of_classes,
    draw_labels,
    draw_residuals,
    draw_rows,
    resample_classes,
    resample_vectors,
    signs,
)
from calibstat.resampling.draw_units import draw_shared, draw_swaps
from calibstat.resampling.row_order import canonical_order, in_order
from calibstat.resampling.streams import check_resamples, key_of

__all__ = ["SCHEMES", "check_resamples", "draw", "draw_cells", "draw_labels", "draw_rows", "key_of"]
__all__ += ["canonical_order", "cells_of_classes", "draw_residuals", "in_order"]
__all__ += ["resample", "resample_classes", "resample_vectors", "signs"]
__all__ += ["draw_shared", "draw_swaps"]
