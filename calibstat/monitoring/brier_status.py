"""A monitor of two models after the latest period: the difference of their Brier scores with a confidence sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.digits import settled
from calibstat.monitoring.monitor_status import ALL_ROWS
from calibstat.monitoring.period_labels import Label
from calibstat.output.wording import level_text, number_of
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class BrierStatus(Result):
    """State of a `BrierMonitor` after its latest period, since its last `restart`: of all rows, or of a segment.

    Attributes
    ----------
    difference, low, high : float or None
        Mean Brier score of the first model minus the second's over all rows, and the ends of the confidence
        sequence for the mean of its expectation in each row given the past. None before the first period.
    decided_period : int, str or None
        The first period after which the confidence sequence left out 0.
    better : str or None
        The model that the sequence now says has been better on average, if it leaves out 0.
    names : tuple of str
        The two models.
    confidence_level : float
        The probability that the sequences of all rows and of all segments are right in all periods at once is at least
        this.
    level : float
        The same of this sequence by itself: larger than `confidence_level` if there are segments.
    rows : int
        Rows so far.
    periods : tuple of int or str
        The periods so far, of a segment those in which it had rows.
    differences, lows, highs : ndarray, shape (T,)
        The difference and the ends of the sequence after each period.
    segment : str
        The segment, or "all rows".
    segments : dict of BrierStatus
        The state of each segment by its name, if there are segments.
    """

    difference: float | None
    low: float | None
    high: float | None
    decided_period: Label | None
    better: str | None
    names: tuple[str, str]
    confidence_level: float
    level: float
    rows: int
    periods: tuple[Label, ...]
    differences: np.ndarray
    lows: np.ndarray
    highs: np.ndarray
    segment: str
    segments: dict[str, BrierStatus]

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each period: the difference and its confidence sequence.

        With segments the rows of each segment follow, and a column "segment" names it.
        """
        import pandas as pd

        columns = {"period": list(self.periods), "difference": self.differences, "low": self.lows, "high": self.highs}
        own = pd.DataFrame(columns)
        if not self.segments:
            return own
        parts = [self, *self.segments.values()]
        frames = [own, *(part.to_frame() for part in self.segments.values())]
        named = [frame.assign(segment=part.segment) for frame, part in zip(frames, parts, strict=True)]
        return pd.concat([frame for frame in named if len(frame)] or named[:1], ignore_index=True)

    @property
    def answer(self) -> str:
        """The model that is shown to be better, in one sentence or two."""
        where = "all rows so far" if self.segment == ALL_ROWS else f"segment {self.segment}"
        if self.better is None:
            sentence = f"Neither model is shown to be better{'' if self.segment == ALL_ROWS else f' in {where}'}."
        else:
            over = "Over" if self.segment == ALL_ROWS else "In"
            sentence = f"{over} {where} {self.better} is shown to be better on average."
        if self.decided_period is not None:
            sentence += f" The sequence first excluded 0 in period {self.decided_period}."
        return sentence

    def __str__(self) -> str:
        if self.difference is None:
            return "No period so far."
        a, b = self.names
        assert self.low is not None
        assert self.high is not None
        sequence = f"{level_text(self.level)} confidence sequence {settled(self.low):+.3g} to {settled(self.high):+.3g}"
        difference = f"{settled(self.difference):+.3g} over {number_of('row', self.rows)}, {sequence}"
        first = f"Brier score of {a} minus Brier score of {b}: {difference}."
        shown = [part.answer for part in self.segments.values() if part.decided_period is not None]
        others = len(self.segments) - len(shown)
        if others:
            none = (
                "No segment shows" if not shown else f"The other {'segment shows' if others == 1 else 'segments show'}"
            )
            shown.append(f"{none} {'a' if not shown else 'no'} better model.")
        which = "All sequences are" if self.segments else "It is"
        right = (
            f"{which} right in all periods at once with probability of at least {level_text(self.confidence_level)}."
        )
        return "\n".join([self.answer, *shown, first, right])
