"""The error of the mean: how far the mean outcome is from the mean prediction."""

from __future__ import annotations

import numpy as np

from calibstat.data.sample import Sample
from calibstat.measures.kinds.binary_kinds import Binned, OfResiduals
from calibstat.measures.kinds.one_sided import OneSidedCells
from calibstat.measures.kinds.population_value import NO_EDGES
from calibstat.measures.kinds.registry import measure

COX = "Cox 1958, Two further applications of a model for binary regression, doi:10.1093/biomet/45.3-4.562"


@measure(
    "mean",
    title="Error of the mean",
    formula=r"\Bigl|\frac1n \sum_i (y_i - v_i)\Bigr|",
    reference=COX,
    bounds=(0, 1),
    sound=False,
    continuous=True,
)
class Mean(Binned):
    """The gap between the mean outcome and the mean prediction: calibration in the large, `ece` over one bin.

    No options. Its test compares the number of events with the expected number. It sees a shift of all predictions
    best, and errors that cancel in the mean not at all. Cost: one pass.
    """

    is_l1 = True

    def population_edges(self) -> tuple[np.ndarray, str]:
        return NO_EDGES, "uniform"

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return np.zeros(value.size, np.int64)

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return np.abs(residual).sum(axis=-1)


class OneSidedMean(OneSidedCells, of=Mean):
    """The number of events less the expected number, with the sign of the side, over n."""

    def of_residual(self, count: np.ndarray, value: np.ndarray) -> OfResiduals:
        return lambda residual: self.sign * residual.sum(axis=-1)

    def largest(self, sample: Sample) -> None:
        return None
