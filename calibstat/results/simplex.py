"""Reliability of whole predicted vectors in cells of the simplex, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


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
        The events whose probabilities were predicted.
    n : int
        Rows.

    Notes
    -----
    A cell of few rows lies far from its mean prediction even if the model is calibrated, and so does the mean of
    `distance` over all cells: only a test says whether it is too far.
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
