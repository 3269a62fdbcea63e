"""The results of `reliability`: binary, class-wise and canonical reliability diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.named_lens import NamedLens
from calibstat.digits import settled
from calibstat.in_order import smallest_first, without_rounding
from calibstat.inference.bands.bands import BANDS, CALIBRATED
from calibstat.inference.bands.reliability_bands import Steps
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.output.wording import level_text, percent
from calibstat.result import NotedResult

if TYPE_CHECKING:
    import pandas as pd

CURVES = {"frequency": "observed frequencies", "mean_prediction": "mean predictions"}


@dataclass(frozen=True, eq=False)
class Reliability(NotedResult):
    """Result of `reliability` for a binary outcome: a reliability diagram as numbers.

    Attributes
    ----------
    mean_prediction, frequency : ndarray, shape (n_bins_used,)
        Mean prediction and observed frequency of outcome 1 in each bin that holds rows, ascending.
    count : ndarray, shape (n_bins_used,)
        Rows in each bin; of rows with weights, the part of the effective number of rows that is in it.
    left, right : ndarray, shape (n_bins_used,)
        Edges of each bin; unless of equal width, its smallest and its largest prediction.
    low, high : ndarray, shape (n_bins_used,), or None
        Ends of the band in each bin: of a consistency band for the frequency of a calibrated model, of a confidence
        band for the average outcome probability. None with `band` "monotone" or None.
    curve_value, curve_low, curve_high : ndarray, shape (n_places,), or None
        Ends of the band of a curve at some of the predictions, ascending: with `band` "consistency" of the CORP curve
        of a calibrated model (at all predictions, if at most 50 are distinct), with "monotone" of the outcome
        probability. Else None. Between two of these predictions
        the lower end belongs to the left one and the upper end to the right one; see `curve_at`.
    band : str or None
        The kind of band, as for `reliability`.
    band_level : float or None
        The probability of the whole band; if pointwise, of each bar taken alone.
    corp_value, corp_frequency, corp_count : ndarray, shape (n_corners,)
        The CORP curve: predictions at the ends of every flat piece of their isotonic recalibration, its value, and the
        rows of the piece, counted likewise.
    strategy : {"uniform", "quantile", "tree", "given", "one-prediction"}
        How the bins were cut.
    lens : NamedLens
        The outcome whose probability was predicted.
    n : int or float
        Rows, or total weight.
    n_resamples : int
        Resamples behind the band of the CORP curve, or behind pointwise consistency bars (0 if none were drawn).
    interval : ConfidenceInterval or None
        The honest interval of `error`, which pictures state; None if not wanted, of a `Sample` with real-valued
        counts, or of more than 100 bins of fewer than 3 rows on average.
    clusters : str
        The number of clusters and of their rows, in words; empty if rows were taken as independent.
    without_bins : ConfidenceInterval or None
        The honest interval of the error without bins, `l1`, with its condition; None without `shape`.
    calibration_map : str
        The calibration map by which the band is drawn, in words; empty if by calibration.
    expected : ndarray, shape (n_bins_used,), or None
        Mean of that map over the rows of each bin; None without a map.
    """

    mean_prediction: np.ndarray
    frequency: np.ndarray
    count: np.ndarray
    left: np.ndarray
    right: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    curve_value: np.ndarray | None
    curve_low: np.ndarray | None
    curve_high: np.ndarray | None
    band: str | None
    band_level: float | None
    corp_value: np.ndarray
    corp_frequency: np.ndarray
    corp_count: np.ndarray
    strategy: str
    lens: NamedLens
    n: int | float
    n_resamples: int
    interval: ConfidenceInterval | None = None
    clusters: str = ""
    without_bins: ConfidenceInterval | None = None
    calibration_map: str = ""
    expected: np.ndarray | None = None

    @property
    def headline(self) -> tuple[str, ...]:
        """The expected calibration error and the ends of its interval, if it is known."""
        return () if self.interval is None else ("interval.estimate", "interval.low", "interval.high")

    @property
    def error(self) -> float:
        """The expected calibration error (ECE) over these bins."""
        return float(np.average(np.abs(self.frequency - self.mean_prediction), weights=self.count))

    @property
    def inside(self) -> np.ndarray | None:
        """Whether the band contains, in each bin, what it is compared with, up to rounding.

        Consistency bands are compared with the observed frequency, confidence bands with the mean prediction.
        """
        if self.band is None or self.low is None or self.high is None:
            return None
        compared = getattr(self, BANDS[self.band].compared or "")
        return (self.low - 1e-9 <= compared) & (compared <= self.high + 1e-9)

    @property
    def corp_inside(self) -> bool | None:
        """Whether the CORP curve lies in its consistency band everywhere, up to rounding; None without that band."""
        if self.band != "consistency" or self.curve_value is None or self.curve_low is None or self.curve_high is None:
            return None
        fitted = np.interp(self.curve_value, self.corp_value, self.corp_frequency)
        return bool(((self.curve_low - 1e-9 <= fitted) & (fitted <= self.curve_high + 1e-9)).all())

    @property
    def crosses(self) -> bool | None:
        """Whether the lower line of the band of a curve is above the upper one somewhere; None without such a band.

        Where the band of the outcome probability crosses, this probability decreases somewhere, at the level
        1 - `band_level`.
        """
        if self.curve_low is None or self.curve_high is None:
            return None
        return bool((self.curve_low > self.curve_high).any())

    @property
    def steps(self) -> Steps | None:
        """The band of a curve."""
        if self.curve_value is None or self.curve_low is None or self.curve_high is None:
            return None
        return Steps(self.curve_value, self.curve_low, self.curve_high)

    def curve_at(self, prediction: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return the lower and the upper end of the band of a curve at any predictions.

        Raises
        ------
        ValueError
            If the band has no curve.
        """
        if self.steps is None:
            raise ValueError(f"expected a band of a curve, 'consistency' or 'monotone', found {self.band!r}")
        return self.steps.at(np.asarray(prediction, dtype=float))

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each bin."""
        import pandas as pd

        columns = ("left", "right", "count", "mean_prediction", "expected", "frequency", "low", "high", "inside")
        return pd.DataFrame({name: getattr(self, name) for name in columns if getattr(self, name) is not None})

    def __str__(self) -> str:
        of_curves = "" if self.without_bins is None else f"\n{self.without_bins.of_curves()}"
        return f"{self._of_bins()}{of_curves}"

    def _of_bins(self) -> str:
        """Say how many bins are outside of the band, and what it promises."""
        bins = self.count.size
        rows = f"{bins} {self.strategy} bin{'s' * (bins != 1)}, {self.lens}, n = {settled(self.n):.10g}"
        rows += f" in {self.clusters}" if self.clusters else ""
        if self.band is None or self.band_level is None:
            return f"Reliability in {rows}."
        kind = BANDS[self.band]
        model = f"a model that {self.calibration_map} explains" if self.calibration_map else CALIBRATED
        in_clusters = kind.of_clusters if self.clusters else None
        of_rows = kind.promise(self.band_level, bins, model)
        promise = of_rows if in_clusters is None else in_clusters(self.band_level, bins)
        band = f"{level_text(self.band_level)} {kind.name}"
        found = f"The {band}" if kind.compared is None else f"{self._where(CURVES[kind.compared])} the {band}"
        if self.corp_inside is not None:
            where = "lies inside" if self.corp_inside else "leaves"
            promise += f" The step curve (CORP) {where} its own {level_text(self.band_level)} band."
        elif self.crosses:
            promise += (
                f" Its lines cross, so the probability does fall somewhere (level {level_text(1 - self.band_level)})."
            )
        return f"{found}.\n{promise}\nReliability in {rows}."

    def _where(self, compared: str) -> str:
        """Say how many of what is compared with the band lie outside."""
        assert self.inside is not None
        outside = int(np.sum(~self.inside))
        if not outside:
            return f"All {compared} lie inside"
        return f"{outside} of {self.inside.size} {compared} {'lies' if outside == 1 else 'lie'} outside"


_MANY_CLASSES = 20  # classes, above which only the WORST are printed
WORST = 10


@dataclass(frozen=True, eq=False)
class ClassWiseReliability(NotedResult):
    """A reliability diagram for each class, as numbers.

    Attributes
    ----------
    diagrams : tuple of Reliability, length K
        The diagram of each class against the rest.
    names : tuple, length K
        The classes.
    error : ndarray, shape (K,)
        The expected calibration error (ECE) of each diagram.
    lens : NamedLens
        The outcomes whose probabilities were predicted.
    n : int
        Rows.
    """

    diagrams: tuple[Reliability, ...]
    names: tuple
    error: np.ndarray
    lens: NamedLens
    n: int

    @property
    def frequency(self) -> np.ndarray:
        """Share of the rows that are of each class."""
        return np.array([np.average(diagram.frequency, weights=diagram.count) for diagram in self.diagrams])

    @property
    def mean_prediction(self) -> np.ndarray:
        """Mean prediction of each class."""
        return np.array([np.average(diagram.mean_prediction, weights=diagram.count) for diagram in self.diagrams])

    def largest_errors(self, k: int) -> np.ndarray:
        """Indices of the k classes with the largest errors, largest first; among equals the first class first."""
        return smallest_first(-without_rounding(self.error))[:k]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each class."""
        import pandas as pd

        columns = {"frequency": self.frequency, "mean_prediction": self.mean_prediction, "error": self.error}
        return pd.DataFrame({"class": [*self.names], **columns})

    def __str__(self) -> str:
        many = len(self.names) > _MANY_CLASSES
        shown = self.largest_errors(WORST) if many else np.arange(len(self.names))
        frequency, predicted = self.frequency, self.mean_prediction
        width = max(5, *(len(str(self.names[k])) for k in shown))
        lines = [f"Reliability of {len(self.names)} classes, {self.lens}, n = {self.n}"]
        lines[0] += f"; the {WORST} with the largest ECE:" if many else ":"
        lines += [f"{'class':{width}}  share of rows  mean prediction       ECE"]
        for k in shown:
            lines += [
                f"{self.names[k]!s:{width}}  {settled(frequency[k]):13.4f}  {settled(predicted[k]):15.4f}  "
                f"{settled(self.error[k]):8.4f}"
            ]
        if many:
            lines += [f"and {len(self.names) - WORST} more, each with ECE at most {settled(self.error[shown[-1]]):.4f}"]
        lines += self._bands()
        return "\n".join(lines)

    def _bands(self) -> list[str]:
        """Say in how many classes nothing leaves the band of the class."""
        first, inside = self.diagrams[0], [diagram.inside for diagram in self.diagrams]
        if first.band is None or first.band_level is None:
            return []
        band = f"Each class has its own {level_text(first.band_level)} {BANDS[first.band].name}"
        compared = CURVES.get(BANDS[first.band].compared or "")
        if compared is None:
            return [f"{band}."]
        kept = sum(bool(np.all(each)) for each in inside)
        return [f"{band}; all {compared} lie inside in {kept} of {len(inside)} classes."]


@dataclass(frozen=True, eq=False)
class SimplexReliability(NotedResult):
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
    lens : NamedLens
        The outcomes whose probabilities were predicted.
    n : int
        Rows.
    low, high : ndarray, shape (n_cells,), or None
        With `band` "confidence" limits that hold, of all cells at once, the total variation distance of the average
        outcome probabilities of the rows of the cell from their mean prediction.
    band_level : float or None
        The probability with which all of them hold.
    lower, upper : ndarray, shape (n_cells, K), or None
        The cell has the vectors whose coordinates are above `lower` and at most `upper`; None of level sets.

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
    lens: NamedLens
    n: int
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    band_level: float | None = None
    lower: np.ndarray | None = None
    upper: np.ndarray | None = None

    @property
    def worst(self) -> tuple[float, float] | None:
        """Limits of the largest distance of all cells, at the level of the band; None without limits.

        A low end above 0 rejects calibration at the level 1 - `band_level`. It is also a low end for the largest
        distance of all predictions, which is at least as large as the largest distance of the cells.
        """
        return None if self.low is None or self.high is None else (float(self.low.max()), float(self.high.max()))

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
        limits = {} if self.low is None else {"low": self.low, "high": self.high}
        return pd.DataFrame({**columns, "total_variation": self.distance, **limits})

    def __str__(self) -> str:
        cells = self.count.size
        share = self.count / self.count.sum()
        where = f"{cells} cells, the largest with {percent(share.max())} of the rows" if cells > 1 else "one cell"
        return (
            f"Reliability of {len(self.names)} classes ({', '.join(map(str, self.names))}), {self.lens}, n = {self.n}, "
            f"in {where} ({self.strategy}).\nThe mean total variation distance between mean prediction and observed "
            f"frequency is {settled(share @ self.distance):.3g}.{self._of_worst()}"
        )

    def _of_worst(self) -> str:
        """Say between what limits the largest distance of a cell is."""
        if self.worst is None or self.band_level is None:
            return ""
        low, high = self.worst
        more = (
            ""
            if low == 0
            else " A calibrated model has a low end above 0 with probability at most "
            f"{level_text(1 - self.band_level)}."
        )
        return (
            "\nThe largest distance of the outcome probabilities of a cell is between "
            f"{settled(low):.3g} and "
            f"{settled(high):.3g}, with probability at least {level_text(self.band_level)} if outcomes are "
            f"independent.{more}"
        )
