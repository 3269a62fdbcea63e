"""Reliability diagrams as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Reliability(Result):
    """What `reliability` found: a reliability diagram as numbers.

    Attributes
    ----------
    mean_prediction, frequency : ndarray, shape (n_bins_used,)
        Mean prediction and observed frequency of outcome 1 in each bin that holds rows, ascending.
    count : ndarray, shape (n_bins_used,)
        Rows (or weight) in each bin.
    left, right : ndarray, shape (n_bins_used,)
        Edges of each bin; unless of equal width, its smallest and its largest prediction.
    low, high : ndarray, shape (n_bins_used,), or None
        Ends of the bars, as frequencies: for `band` "consistency" where the frequency of a calibrated model would
        lie, for "confidence" where the true frequency lies.
    band : {"consistency", "confidence"} or None
        What the bars mean.
    band_level : float or None
        The probability that each bar, on its own, covers.
    deviation : bool
        Whether to draw frequency minus mean prediction.
    corp_value, corp_frequency : ndarray, shape (n_corners,)
        The CORP curve: predictions at the ends of every flat piece of their isotonic recalibration, and its value.
    strategy : {"uniform", "quantile", "given", "one-prediction"}
        How the bins were cut.
    lens : str
        The event whose probability was predicted.
    n : int or float
        Rows, or total weight.
    n_resamples : int
        Resamples behind the bars (0 if none were drawn).
    """

    mean_prediction: np.ndarray
    frequency: np.ndarray
    count: np.ndarray
    left: np.ndarray
    right: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    band: str | None
    band_level: float | None
    deviation: bool
    corp_value: np.ndarray
    corp_frequency: np.ndarray
    strategy: str
    lens: str
    n: int | float
    n_resamples: int

    @property
    def inside(self) -> np.ndarray | None:
        """Whether a calibrated bin would look like this one: the bar holds what it is compared with, up to rounding.

        Consistency bars are compared with the observed frequency, confidence bars with the mean prediction.
        """
        if self.low is None or self.high is None:
            return None
        inner = self.frequency if self.band == "consistency" else self.mean_prediction
        return (self.low - 1e-9 <= inner) & (inner <= self.high + 1e-9)

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each bin."""
        import pandas as pd

        columns = ("left", "right", "count", "mean_prediction", "frequency", "low", "high", "inside")
        return pd.DataFrame({name: getattr(self, name) for name in columns if getattr(self, name) is not None})

    def __str__(self) -> str:
        bins = self.count.size
        text = f"Reliability in {bins} {self.strategy} bin{'s' * (bins != 1)}, {self.lens}, n = {self.n:.10g}"
        if self.inside is None or self.band_level is None:
            return f"{text}."
        consistency = self.band == "consistency"
        return (
            f"{text}: {'observed frequency' if consistency else 'mean prediction'} outside its {self.band_level:.4g} "
            f"{self.band} bar in {np.sum(~self.inside)} of {bins}.\n"
            f"Each bar stands alone: all {bins} hold {'a calibrated model' if consistency else 'the true frequencies'} "
            f"with probability of only about {self.band_level:.4g}^{bins} = {self.band_level**bins:.2g}"
            f"{', more if bins hold few rows' if consistency else ''}."
        )
