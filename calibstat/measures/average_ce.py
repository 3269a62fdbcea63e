"""Average calibration error: the unweighted mean of the gaps of bins."""

from __future__ import annotations

import numpy as np

from calibstat.measures.binned import UniformBins
from calibstat.measures.kinds.registry import measure

NEUMANN = (
    "Neumann, Zisserman, Vedaldi 2018, Relaxed Softmax: Efficient Confidence Auto-Calibration for Safe Pedestrian "
    "Detection; the column ACE of Chidambaram, Ge 2024, arXiv:2406.04068, behaves like it"
)


@measure(
    "average_ce",
    title="Average calibration error",
    formula=r"\frac{1}{\#\{b : n_b > 0\}} \sum_{b : n_b > 0} \bigl|\bar y_b - \bar v_b\bigr|",
    reference=NEUMANN,
    bounds=(0, 1),
    sound=False,
    symmetric=False,
    no_interval="a bin of few rows counts as much as the others",
)
class AverageCE(UniformBins):
    """The mean over non-empty equal-width bins of the gap between mean outcome and mean prediction.

    Option: `n_bins`, as for `ece`, None for level sets. Not the adaptive calibration error of
    Nixon et al., which is also called ACE: that is `gce` with ``binning="adaptive"``.

    Every bin has the same weight, with a single row as with thousands, so that the value is mostly the noise of sparse
    bins: a calibrated model is far from 0 until every bin has many rows. If all predictions are in one bin, it equals
    `ece`. Cost: O(n) on rows, else one sort.
    """

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        full = count > 0
        mean = np.divide(residual, count, out=np.zeros_like(residual), where=full)
        return np.abs(mean).sum(axis=-1) * count.sum(axis=-1) / full.sum(axis=-1)
