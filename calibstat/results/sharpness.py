"""The calibration-sharpness diagram as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CalibrationSharpness(Result):
    """What `sharpness` found: the calibration-sharpness diagram as numbers.

    Attributes
    ----------
    grid : ndarray, shape (n_points,)
        Predictions, evenly spaced from 0 to 1.
    curve : ndarray, shape (n_points,)
        The calibration curve there: frequency of the event near the prediction; nan where there are no rows near it.
    gap : ndarray, shape (n_points,)
        The pointwise sharpness gap, at least 0: the divergence near the prediction that no recalibration of it could
        remove; nan where there are no rows near it.
    density : ndarray, shape (n_points,)
        Kernel density of the predictions.
    calibration_error : float
        The `regression_ce` of the same divergence, kernel and bandwidth.
    total_divergence : float
        Mean divergence of the outcomes from the predictions, of the whole vectors if several classes were predicted.
    divergence : {"brier", "log_loss"}
        The divergence.
    kernel : {"gaussian", "epanechnikov"}
        The kernel.
    bandwidth : float
        Its bandwidth.
    lens : str
        The event whose probability was predicted.
    n : int or float
        Rows, or total weight.
    """

    grid: np.ndarray
    curve: np.ndarray
    gap: np.ndarray
    density: np.ndarray
    calibration_error: float
    total_divergence: float
    divergence: str
    kernel: str
    bandwidth: float
    lens: str
    n: int | float

    @property
    def low(self) -> np.ndarray:
        """Lower edge of the band of length density times gap that is centred on the curve, cut off at 0."""
        return np.maximum(self.curve - self.density * self.gap / 2, 0)

    @property
    def high(self) -> np.ndarray:
        """Upper edge of the band, which may lie above 1."""
        return self.curve + self.density * self.gap / 2

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each point of the grid."""
        import pandas as pd

        columns = ("grid", "curve", "gap", "density", "low", "high")
        return pd.DataFrame({name: getattr(self, name) for name in columns})

    def __str__(self) -> str:
        return (
            f"Calibration error {self.calibration_error:.4g} of a total divergence of {self.total_divergence:.4g} "
            f"({self.divergence}; {self.kernel} kernel, bandwidth {self.bandwidth:.4g}), {self.lens}, "
            f"n = {self.n:.10g}."
        )
