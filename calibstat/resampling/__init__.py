"""The only place that draws: labels, rows with labels, and rows."""

from calibstat.resampling.events import SCHEMES, draw, draw_cells, resample
from calibstat.resampling.order import canonical_order, in_order
from calibstat.resampling.shared import draw_shared, draw_swaps
from calibstat.resampling.vectors import (
    cells_of_classes,
    draw_labels,
    draw_residuals,
    draw_rows,
    resample_classes,
    resample_vectors,
    signs,
)
from calibstat.resampling.words import check_resamples, key_of

__all__ = ["SCHEMES", "check_resamples", "draw", "draw_cells", "draw_labels", "draw_rows", "key_of"]
__all__ += ["canonical_order", "cells_of_classes", "draw_residuals", "in_order"]
__all__ += ["resample", "resample_classes", "resample_vectors", "signs"]
__all__ += ["draw_shared", "draw_swaps"]
