"""What a proper score is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibstat.results.base import Result

if TYPE_CHECKING:
    import pandas as pd


NOT_MOVED = ("clip", None)  # goes without saying


@dataclass(frozen=True)
class Decomposition(Result):
    """What `decompose` found: a proper score and the parts that it is the sum of.

    Attributes
    ----------
    score : float
        The mean loss of the rows.
    parts : dict of float
        The parts by name. Also readable as ``found["mcb"]``.
    signs : dict of int
        1 for a part that is added, -1 for one that is taken away: the score is the sum of signs times parts.
    low, high : dict of float, or None
        Percentiles of the score and of each part under a bootstrap of the rows, by name.
    confidence_level : float or None
        The share of the bootstrap samples between the two.
    loss : str
        The name of the score.
    method : {"corp", "sharpness", "murphy"}
        How it was decomposed.
    options : dict
        The options of the method.
    lens : str
        The event whose probability was predicted.
    n : int or float
        Rows, or total weight.
    n_resamples : int
        Bootstrap samples behind the percentiles (0 if none were drawn).
    why_infinite : str
        Of an infinite score, the row that made it so; else empty.
    """

    score: float
    parts: dict[str, float]
    signs: dict[str, int]
    low: dict[str, float] | None
    high: dict[str, float] | None
    confidence_level: float | None
    loss: str
    method: str
    options: dict[str, float | int | str | None]
    lens: str
    n: int | float
    n_resamples: int
    why_infinite: str = ""

    def __getitem__(self, name: str) -> float:
        return self.parts[name]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for the score and one for each part."""
        import pandas as pd

        columns = {
            "part": ["score", *self.parts],
            "sign": [1, *self.signs.values()],
            "value": [self.score, *self.parts.values()],
        }
        for end in ("low", "high"):
            ends = getattr(self, end)
            if ends is not None:
                columns[end] = list(ends.values())
        return pd.DataFrame(columns)

    def __str__(self) -> str:
        terms = [f"{'+' if self.signs[name] > 0 else '-'} {name} {part:.4g}" for name, part in self.parts.items()]
        options = "".join(f", {name}={value!r}" for name, value in self.options.items() if (name, value) != NOT_MOVED)
        text = (
            f"{self.loss} score {self.score:.4g} = {' '.join(terms).removeprefix('+ ')} "
            f"({self.method}{options}), {self.lens}, n = {self.n:.10g}."
        )
        text += f" Infinite: {self.why_infinite}." if self.why_infinite else ""
        if self.low is None or self.high is None:
            return text
        ends = ", ".join(f"{name} [{self.low[name]:.4g}, {self.high[name]:.4g}]" for name in self.low)
        return (
            f"{text}\nMiddle {self.confidence_level:.4g} of {self.n_resamples} bootstrap samples: {ends}.\n"
            "Parts that cannot be negative are overestimated: their ranges are not confidence intervals near 0."
        )
