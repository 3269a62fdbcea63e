"""The results of `reliability`: binary, class-wise and canonical reliability diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Reliability(Result):
    """Result of `reliability` for a binary outcome: a reliability diagram as numbers.

    Attributes
    ----------
    mean_prediction, frequency : ndarray, shape (n_bins_used,)
        Mean prediction and observed frequency of outcome 1 in each bin that holds rows, ascending.
    count : ndarray, shape (n_bins_used,)
        Rows (or weight) in each bin.
    left, right : ndarray, shape (n_bins_used,)
        Edges of each bin; unless of equal width, its smallest and its largest prediction.
    low, high : ndarray, shape (n_bins_used,), or None
        Ends of the bars: with `band` "consistency" for the frequency of a calibrated model, with "confidence" for the
        true frequency.
    band : {"consistency", "confidence"} or None
        The kind of bars.
    band_level : float or None
        The probability of each bar, taken alone.
    corp_value, corp_frequency : ndarray, shape (n_corners,)
        The CORP curve: predictions at the ends of every flat piece of their isotonic recalibration, and its value.
    strategy : {"uniform", "quantile", "given", "one-prediction"}
        How the bins were cut.
    lens : str
        The outcome whose probability was predicted.
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
    corp_value: np.ndarray
    corp_frequency: np.ndarray
    strategy: str
    lens: str
    n: int | float
    n_resamples: int

    @property
    def inside(self) -> np.ndarray | None:
        """Whether each bar contains what it is compared with, up to rounding.

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


MANY = 20  # classes, above which only the WORST are printed
WORST = 10


@dataclass(frozen=True)
class ClassWiseReliability(Result):
    """A reliability diagram for each class, as numbers.

    Attributes
    ----------
    diagrams : tuple of Reliability, length K
        The diagram of each class against the rest.
    names : tuple, length K
        The classes.
    error : ndarray, shape (K,)
        The expected calibration error (ECE) of each diagram.
    lens : str
        The outcomes whose probabilities were predicted.
    n : int
        Rows.
    """

    diagrams: tuple[Reliability, ...]
    names: tuple
    error: np.ndarray
    lens: str
    n: int

    @property
    def frequency(self) -> np.ndarray:
        """Share of the rows that are of each class."""
        return np.array([np.average(found.frequency, weights=found.count) for found in self.diagrams])

    @property
    def mean_prediction(self) -> np.ndarray:
        """Mean prediction of each class."""
        return np.array([np.average(found.mean_prediction, weights=found.count) for found in self.diagrams])

    def worst(self, k: int) -> np.ndarray:
        """Indices of the k classes with the largest errors, largest first; among equals the first class first."""
        return np.argsort(-self.error, kind="stable")[:k]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        import pandas as pd

        columns = {"frequency": self.frequency, "mean_prediction": self.mean_prediction, "error": self.error}
        return pd.DataFrame({"class": [*self.names], **columns})

    def __str__(self) -> str:
        many = len(self.names) > MANY
        shown = self.worst(WORST) if many else np.arange(len(self.names))
        frequency, predicted = self.frequency, self.mean_prediction
        width = max(5, *(len(str(self.names[k])) for k in shown))
        lines = [f"Reliability of {len(self.names)} classes, {self.lens}, n = {self.n}"]
        lines[0] += f"; the {WORST} with the largest ECE:" if many else ":"
        lines += [f"{'class':{width}}  share of rows  mean prediction       ECE"]
        for k in shown:
            lines += [f"{self.names[k]!s:{width}}  {frequency[k]:13.4f}  {predicted[k]:15.4f}  {self.error[k]:8.4f}"]
        if many:
            lines += [f"and {len(self.names) - WORST} more, each with ECE at most {self.error[shown[-1]]:.4f}"]
        return "\n".join(lines)


@dataclass(frozen=True)
class SimplexReliability(Result):
    """Reliability of the predictions of K classes in cells of the simplex.

    Attributes
    ----------
    mean_prediction, frequency : ndarray, shape (n_cells, K)
        Mean prediction and observed frequency of each class in each cell that holds rows.
    count : ndarray, shape (n_cells,)
        Rows in each cell.
    names : tuple, length K
        The classes, in the order of the columns.
    strategy : str
        How the simplex was cut.
    lens : str
        The outcomes whose probabilities were predicted.
    n : int
        Rows.

    Notes
    -----
    In a cell of few rows, frequency and mean prediction differ much even if the model is calibrated, and so the mean of
    `distance` over all cells is above 0. Test calibration by `calibration_test`.
    """

    mean_prediction: np.ndarray
    frequency: np.ndarray
    count: np.ndarray
    names: tuple
    strategy: str
    lens: str
    n: int

    @property
    def distance(self) -> np.ndarray:
        """Total variation distance of mean prediction and frequency in each cell, between 0 and 1."""
        return np.abs(self.frequency - self.mean_prediction).sum(axis=1) / 2

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each cell."""
        import pandas as pd

        columns = {"count": self.count}
        for title, part in (("prediction", self.mean_prediction), ("frequency", self.frequency)):
            columns |= {f"{title}[{name}]": part[:, k] for k, name in enumerate(self.names)}
        return pd.DataFrame({**columns, "total_variation": self.distance})

    def __str__(self) -> str:
        cells = self.count.size
        share = self.count / self.count.sum()
        where = f"{cells} cells, the largest with {share.max():.3g} of the rows" if cells > 1 else "one cell"
        return (
            f"Reliability of {len(self.names)} classes ({', '.join(map(str, self.names))}), {self.lens}, n = {self.n}, "
            f"in {where} ({self.strategy}).\nThe mean total variation distance between mean prediction and observed "
            f"frequency is {share @ self.distance:.3g}."
        )
