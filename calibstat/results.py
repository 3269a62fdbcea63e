"""Frozen results, one class for each question. Nothing here computes anything random."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd


def plain(value: Any) -> Any:
    """Turn arrays and numpy scalars into what JSON knows."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    return value


def read_only(array: np.ndarray) -> np.ndarray:
    """Return the array, which can no longer be written to."""
    array.flags.writeable = False
    return array


@dataclass(frozen=True)
class Result:
    """What all results can do."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the scalar fields as a data frame of one row."""
        import pandas as pd

        return pd.DataFrame([{k: v for k, v in self.to_dict().items() if not isinstance(v, list | dict)}])


@dataclass(frozen=True)
class CalibrationTestResult(Result):
    """What `calibration_test` found.

    Attributes
    ----------
    statistic : float
        The measure on the data, in the form that was tested.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as extreme. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    null_distribution : ndarray, shape (n_resamples,)
        The statistic of every resample, read-only.
    null_hypothesis : str
        What was tested, in one sentence.
    measure, lens : str
        The measure with its options, and the event whose probability was predicted.
    tail : {"greater", "two-sided"}
        Which values count as extreme.
    resample : {"labels", "both"}
        What was drawn.
    n, n_resamples : int
        Rows and resamples.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    null_distribution: np.ndarray
    null_hypothesis: str
    measure: str
    lens: str
    tail: str
    resample: str
    n: int
    n_resamples: int

    def __str__(self) -> str:
        approximate = "" if self.resample == "labels" else " (approximate)"
        return (
            f"Test of calibration by {self.measure} = {self.statistic:.4g}, {self.lens}, n = {self.n}: "
            f"p = {self.pvalue:.3g}{approximate}, {self.n_resamples} resamples.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )


@dataclass(frozen=True)
class ConfidenceInterval(Result):
    """What `confidence_interval` found.

    Attributes
    ----------
    low, high : float
        The ends.
    estimate : float
        The measure on the data.
    confidence_level : float
        The probability with which the interval is meant to cover the estimand.
    method : {"honest", "percentile", "basic", "bca"}
        How it was made.
    estimand : str
        What it covers, in one sentence.
    measure, lens : str
        The measure with its options, and the event whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str
    estimand: str
    measure: str
    lens: str
    n: int
    n_resamples: int

    def __str__(self) -> str:
        return (
            f"{self.measure} = {self.estimate:.4g}, {self.confidence_level:.4g} confidence interval "
            f"[{self.low:.4g}, {self.high:.4g}] ({self.method}), {self.lens}, n = {self.n}.\n"
            f"Estimand: {self.estimand}"
        )


@dataclass(frozen=True)
class MeasureDetail(Result):
    """What a measure knows of a sample beyond its value.

    Attributes
    ----------
    measure : str
        The measure with its options.
    estimate : float
        Its value; nan where it has none on so many distinct predictions.
    n : int or float
        Rows, or total weight.
    fields : dict
        What else it knows, by name; each measure's page says what these are. Also readable as ``detail["name"]``.
    """

    measure: str
    estimate: float
    n: int | float
    fields: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def __str__(self) -> str:
        return f"{self.measure} = {self.estimate:.4g}, n = {self.n}; fields: {', '.join(self.fields) or 'none'}"


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
        Edges of each bin; for quantile bins its smallest and its largest prediction.
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
    strategy : {"uniform", "quantile"}
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
