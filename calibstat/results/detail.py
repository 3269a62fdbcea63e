"""What a measure knows of a sample beyond its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibstat.results.base import Result


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
