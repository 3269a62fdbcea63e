"""The calibration belt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CalibrationBelt(Result):
    """What `calibration_belt` found.

    Attributes
    ----------
    statistic : float
        Twice the log-likelihood of the selected polynomial over that of the predictions.
    pvalue : float
        Probability, if the null hypothesis holds, of a statistic at least as large among polynomials of this degree.
    degree : int
        The selected degree.
    coefficients : ndarray, shape (degree + 1,)
        Of the polynomial in the logit of the prediction, the constant first.
    prediction, curve : ndarray, shape (g,)
        Predictions from the smallest to the largest, and the fitted probability at each.
    confidence_levels : tuple of float
        Levels of the bands, ascending.
    low, high : ndarray, shape (levels, g)
        Ends of the band of each level.
    held_out : bool
        Whether the rows were kept from the fit (external validation) or are those of the fit (internal).
    null_hypothesis : str
        What was tested, in one sentence.
    lens : str
        What was predicted.
    n : int
        Rows.
    """

    statistic: float
    pvalue: float
    degree: int
    coefficients: np.ndarray
    prediction: np.ndarray
    curve: np.ndarray
    confidence_levels: tuple[float, ...]
    low: np.ndarray
    high: np.ndarray
    held_out: bool
    null_hypothesis: str
    lens: str
    n: int

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row for each prediction of the curve."""
        import pandas as pd

        bands: dict[str, np.ndarray] = {}
        for level, low, high in zip(self.confidence_levels, self.low, self.high, strict=True):
            bands |= {f"low_{100 * level:g}": low, f"high_{100 * level:g}": high}
        return pd.DataFrame({"prediction": self.prediction, "curve": self.curve, **bands})

    def departures(self, level: int = -1) -> list[tuple[str, float, float]]:
        """Return where a band leaves the diagonal: "above" or "below" it, from one prediction to another."""
        above, below = self.low[level] > self.prediction, self.high[level] < self.prediction
        side = above.astype(int) - below
        start = np.flatnonzero(np.diff(side, prepend=0))
        stop = np.append(start[1:], side.size) - 1 if start.size else start
        return [
            ("above" if side[i] > 0 else "below", float(self.prediction[i]), float(self.prediction[j]))
            for i, j in zip(start, stop, strict=True)
            if side[i] != 0
        ]

    def __str__(self) -> str:
        where = " and ".join(f"{side} it from {a:.3g} to {b:.3g}" for side, a, b in self.departures())
        kind = "external" if self.held_out else "internal"
        return (
            f"GiViTI calibration belt of degree {self.degree}, {kind} validation, {self.lens}, n = {self.n}: "
            f"likelihood ratio {self.statistic:.4g}, "
            f"p = {self.pvalue:.3g} (approximate, corrected for the choice of degree).\n"
            f"The {100 * self.confidence_levels[-1]:.4g} % band "
            f"{'contains the diagonal everywhere' if not where else f'leaves the diagonal, {where}'}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )
