"""Sums over the rows of a period of the Brier scores of two models, and of what their difference varies by."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import AboutRows, Data, Models, no_models
from calibstat.data.checks import is_whole, quoted, short
from calibstat.inference.designs.question_of_rows import Asked, question_of_all
from calibstat.monitoring.by_segment import BySegment, need_segments, rows_of_segments
from calibstat.monitoring.period import MOST_UNITS, UNIT, check_sums, rows_of_monitors


@dataclass(frozen=True)
class PairSums:
    """Sums over rows: of Brier scores, and of squares of their differences.

    Attributes
    ----------
    rows : int
        Rows.
    brier_a, brier_b, squares : int
        Sums of both Brier scores and of the squared differences, in units of 1e-9, the last rounded up.
    """

    rows: int
    brier_a: int
    brier_b: int
    squares: int

    def __post_init__(self) -> None:
        check_sums(self.rows)
        if not (self.rows >= 1 and all(0 <= each <= self.rows * MOST_UNITS for each in astuple(self)[1:])):
            raise ValueError(f"expected at least 1 row, and sums from 0 to 1 a row; found {short(astuple(self))}")

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> PairSums:
        """Return the sums of the Brier scores of rows by two models."""
        squares = math.ceil(math.fsum((a - b) ** 2) / UNIT)
        return cls(a.size, round(math.fsum(a) / UNIT), round(math.fsum(b) / UNIT), squares)

    def __add__(self, other: PairSums) -> PairSums:
        if not isinstance(other, PairSums):
            return NotImplemented
        return PairSums(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def to_list(self) -> list[Any]:
        """Return rows and sums as whole numbers."""
        return list(astuple(self))

    @classmethod
    def from_list(cls, entry: object) -> PairSums:
        """Return the sums of `to_list`; a ValueError if it cannot have written them."""
        if not isinstance(entry, list) or len(entry) != 4 or not all(is_whole(x, 0) for x in entry) or not entry[0]:
            raise ValueError(f"expected rows and three sums as whole numbers, found {short(entry)}")
        return cls(*entry)


@dataclass(frozen=True, eq=False)
class PairSummary(BySegment[PairSums]):
    """The rows of a period, or of a part of them, summed up for a `BrierMonitor`.

    Make one with `BrierMonitor.summarize`. Summaries of parts (shards) of a period add up with ``+``, in any order, and
    go to JSON and back with `to_dict` and `from_dict`.

    Attributes
    ----------
    segments : mapping from str to PairSums
        The sums of each segment; of rows without segments under the name "".
    """

    @classmethod
    def from_dict(cls, segments: object) -> PairSummary:
        """Return the summary of `to_dict`; a ValueError if it cannot have written it."""
        return cls.of({name: PairSums.from_list(numbers) for name, numbers in need_segments(segments).items()})

    def __repr__(self) -> str:
        rows = self.total.rows
        segments = f", {len(self.names)} segments" if self.names else ""
        return f"PairSummary({rows:,} row{'s' * (rows != 1)}{segments})"


@question_of_all(because=rows_of_monitors("cs.compare(y, models, measure='brier'", "(1 - confidence_level)"))
def summarize(
    models: Data | Models, /, *, names: tuple[str, str], segment: ArrayLike | None = None, **about: Unpack[AboutRows]
) -> PairSummary:
    """Return the summary of rows of two models; `segment` names the segment of each row, or of all."""
    if isinstance(models, Data):
        raise no_models(models)
    if {*models} != {*names}:
        raise ValueError(f"expected the models {quoted(names)}, found {models!r}")
    a, b = ((p - y) ** 2 for y, p in (models[name].rows.binary for name in names))
    return summarize_pair(a, b, segment)


cast(Asked, summarize).__name__ = "a monitor"  # what errors call it, which `update` raises too


def summarize_pair(a: np.ndarray, b: np.ndarray, segment: ArrayLike | None) -> PairSummary:
    """Return the summary of the Brier scores of rows by two models; `segment` names the one of each row, or of all."""
    return PairSummary.of({name: PairSums.of(a[of], b[of]) for name, of in rows_of_segments(segment, a.size).items()})
