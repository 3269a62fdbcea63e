"""Reliability of each class by itself, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibstat.results.base import Result
from calibstat.results.reliability import Reliability

if TYPE_CHECKING:
    import pandas as pd

MANY = 20  # classes, above which only the WORST are printed
WORST = 10


@dataclass(frozen=True)
class ClassWiseReliability(Result):
    """A reliability diagram for each class, as numbers.

    Attributes
    ----------
    diagrams : tuple of Reliability, length K
        The diagram of the event "the label is this class", for each class.
    names : tuple, length K
        The classes.
    error : ndarray, shape (K,)
        The expected calibration error (ECE) of each diagram.
    lens : str
        The events whose probabilities were predicted.
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

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain Python values, ready for JSON; a list of dictionaries for `diagrams`."""
        return {**super().to_dict(), "diagrams": [found.to_dict() for found in self.diagrams]}

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
