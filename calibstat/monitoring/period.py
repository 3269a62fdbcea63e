"""Sums over the rows of a period, which are all that a monitor needs and which add up over shards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import AboutRows, Data, named
from calibstat.data.checks import is_among, is_whole, short
from calibstat.data.lenses import AnyLens
from calibstat.data.numbered_labels import as_labels
from calibstat.data.sample import Sample
from calibstat.data.words.side import TOO, Side
from calibstat.inference.designs.question_of_rows import Asked, Question, Reason, question
from calibstat.monitoring.by_segment import BySegment, need_segments, rows_of_segments, segment_name
from calibstat.monitoring.directions import DIRECTIONS_OF, impossible, log_likelihood_ratios

# Whole numbers make sums exact: shards give the same numbers in any order, and JSON is short. Only the summary of a
# shard is rounded. Its log-likelihood ratios are rounded down, to units of 1e-6, so that evidence is never overstated
# (the bets then lose a little in the mean, and the bounds hold); squared residuals are rounded up, to units of 1e-9, so
# that confidence sequences are rather too long; predictions are rounded to the nearest unit of 1e-9.
RATIO_UNIT = 1e-6
UNIT, UNITS = 1e-9, 10**9
LARGEST_SUM = 2**62  # in units; beyond it sums of two would leave the range of 64-bit integers
MOST_UNITS = UNITS + 10  # units of a row in a sum of what is 0 to 1, with more than rounding can add


def rows_of_monitors(ask: str, share: str) -> dict[str, Reason]:
    """Say why a monitor takes neither clusters nor weights, and what to `ask` instead, with a `share` of its level."""
    by_period = f"=...) of each period by itself, at the level {share} / number of periods"
    return {
        "cluster": Reason(
            "a monitor multiplies the evidence of rows, and the product over the rows of a cluster, which depend on "
            "each other, is not an e-value",
            "feed one row of each cluster in its first period, the first or one drawn at random; or ask "
            f"{ask}, cluster{by_period}",
        ),
        "sample_weight": Reason("a monitor sums up rows that count once", f"ask {ask}, sample_weight{by_period}"),
    }


def check_sums(*sums: int) -> None:
    """Raise if sums are too large to be added up."""
    for each in sums:
        if not -LARGEST_SUM < each < LARGEST_SUM:
            raise ValueError(f"expected sums below 2**62, found {short(each)}")


def for_side(side: Side | None) -> str:
    """Name in an error the side that a summary was made for."""
    return "for both sides" if side is None else f"for side {side!r}"


def same_side(sums: Iterable[SegmentSums]) -> Side | None:
    """Return the side that all sums were made for; a ValueError if there are several, whose bets cannot be added up."""
    first, *others = dict.fromkeys(each.side for each in sums)
    if others:
        raise ValueError(
            f"expected summaries for one side, found one {for_side(first)} and one {for_side(others[0])}: summarize "
            "all rows with monitors of the same side"
        )
    return first


@dataclass(frozen=True, eq=False)
class SegmentSums:
    """Sums over the rows of a segment in a period.

    Attributes
    ----------
    rows, positives, impossible : int
        Rows, those with outcome 1, and outcomes that had probability 0; with a side those that are evidence for it.
    predicted, squares : int
        The sums of the predictions and of the squared residuals, in units of 1e-9.
    ratios : ndarray of int64
        The log-likelihood ratio of each direction, in units of 1e-6.
    side : {"over", "under"} or None
        The side that they were made for; None for both.
    """

    rows: int
    positives: int
    impossible: int
    predicted: int
    squares: int
    ratios: np.ndarray
    side: Side | None = None

    def __post_init__(self) -> None:
        counts = (self.rows, self.positives, self.impossible, self.predicted, self.squares)
        check_sums(self.rows, *self.ratios.tolist())
        if not (0 <= self.positives <= self.rows and 0 <= self.impossible <= self.rows and self.rows >= 1):
            raise ValueError(f"expected at least 1 row, and no more positive ones than rows; found {short(counts)}")
        if not all(0 <= each <= self.rows * MOST_UNITS for each in (self.predicted, self.squares)):
            raise ValueError(f"expected sums of predictions and squares from 0 to 1 a row, found {short(counts)}")

    @classmethod
    def of(cls, sample: Sample, side: Side | None = None) -> SegmentSums:
        """Return the sums of a sample of whole-number counts, for a side or for both."""
        value, count, positives = sample.arrays
        squares = math.fsum(positives * (1 - value) ** 2 + (count - positives) * value**2)
        ratios = np.floor(log_likelihood_ratios(value, count, positives, side) / RATIO_UNIT)
        if not np.all(np.abs(ratios) < LARGEST_SUM):
            raise ValueError(f"expected fewer rows of so extreme predictions, found {sample.n:,}")
        return cls(
            rows=int(sample.n),
            positives=int(positives.sum()),
            impossible=impossible(value, count, positives, side),
            predicted=round(math.fsum(count * value) / UNIT),
            squares=math.ceil(squares / UNIT),
            ratios=ratios.astype(np.int64),
            side=side,
        )

    def __add__(self, other: SegmentSums) -> SegmentSums:
        side = same_side((self, other))
        names = ("rows", "positives", "impossible", "predicted", "squares")
        sums = {name: getattr(self, name) + getattr(other, name) for name in names}
        return SegmentSums(**sums, ratios=self.ratios + other.ratios, side=side)

    @property
    def log_ratios(self) -> np.ndarray:
        """The log-likelihood ratio of each direction; infinite after an outcome that had probability 0."""
        return np.full(self.ratios.size, np.inf) if self.impossible else self.log_ratios_of_others

    @property
    def log_ratios_of_others(self) -> np.ndarray:
        """The same of the rows predicted neither 0 nor 1, always finite."""
        return self.ratios * RATIO_UNIT

    def to_list(self) -> list[Any]:
        """Return the sums as whole numbers, the ratios last; before them the side, if they were made for one."""
        side = [] if self.side is None else [self.side]
        return [*side, self.rows, self.positives, self.impossible, self.predicted, self.squares, *self.ratios.tolist()]

    @classmethod
    def from_list(cls, numbers: object) -> SegmentSums:
        """Return the sums of `to_list`; a ValueError if it cannot have written them."""
        side, numbers = _side_of(numbers)
        size = 5 + len(DIRECTIONS_OF[side].each)
        if not isinstance(numbers, list) or len(numbers) != size:
            raise ValueError(f"expected {size} numbers of a segment, found {short(numbers)}")
        if not all(is_whole(x, -(2**63)) for x in numbers):
            raise ValueError(f"expected whole numbers of a segment, found {short(numbers)}")
        rows, positives, none, predicted, squares, *ratios = numbers
        check_sums(*ratios)  # which int64 has to hold
        return cls(rows, positives, none, predicted, squares, np.array(ratios, np.int64), side)


def _side_of(entry: object) -> tuple[Side | None, object]:
    """Return the side that the list of a segment names, and what else it holds."""
    if isinstance(entry, list) and entry and is_among(entry[0], TOO):
        return entry[0], entry[1:]
    return None, entry


@dataclass(frozen=True, eq=False)
class PeriodSummary(BySegment[SegmentSums]):
    """The rows of a period, or of a part of them, summed up for a `Monitor`.

        >>> import calibstat as cs
        >>> monitor = cs.Monitor()
        >>> monitor.summarize([1, 0], [0.8, 0.3]) + monitor.summarize([1], [0.6])
        PeriodSummary(3 rows, 2 positive)

    Make one with `Monitor.summarize`. Summaries of parts (shards) of a period add up with ``+``, in any order, and go
    to JSON and back with `to_dict` and `from_dict`.

    Attributes
    ----------
    segments : mapping from str to SegmentSums
        The sums of each segment; of rows without segments under the name "".
    """

    def __post_init__(self) -> None:
        _ = self.side  # which is one

    @property
    def side(self) -> Side | None:
        """The side of the monitor that made it; None for both."""
        return same_side(self.segments.values())

    @classmethod
    def from_dict(cls, segments: object) -> PeriodSummary:
        """Return the summary of `to_dict`; a ValueError if it cannot have written it."""
        return cls.of({name: SegmentSums.from_list(numbers) for name, numbers in need_segments(segments).items()})

    @property
    def models(self) -> dict[str, PeriodSummary]:
        """This summary, of one model, by no name; of several see `ModelsSummary`."""
        return {"": self}

    def __repr__(self) -> str:
        total = self.total
        segments = f", {len(self.names)} segments" if self.names else ""
        return f"PeriodSummary({total.rows:,} row{'s' * (total.rows != 1)}, {total.positives:,} positive{segments})"


@dataclass(frozen=True)
class ModelsSummary:
    """The same of several models; it adds up, and goes to JSON and back, as the summary of one.

    Attributes
    ----------
    models : dict of PeriodSummary
        The summary of each model, by its name.
    """

    models: dict[str, PeriodSummary]

    def __add__(self, other: ModelsSummary) -> ModelsSummary:
        if not isinstance(other, ModelsSummary):
            return NotImplemented
        if {*self.models} != {*other.models}:
            raise ValueError(f"expected summaries of the same models, found {[*self.models]} and {[*other.models]}")
        return ModelsSummary({name: summary + other.models[name] for name, summary in self.models.items()})

    def to_dict(self) -> dict[str, dict[str, list[int]]]:
        """Return the summary of each model by its name, ready for JSON."""
        return {name: summary.to_dict() for name, summary in self.models.items()}

    @classmethod
    def from_dict(cls, models: object) -> ModelsSummary:
        """Return the summary of `to_dict`; a ValueError if it cannot have written it."""
        if not isinstance(models, dict) or not models:
            raise ValueError(f"expected the summary of each model, found {short(models)}")
        return cls(named(PeriodSummary.from_dict, models))


def _summarizing(side: Side | None) -> Question[..., PeriodSummary]:
    """Return the function that sums up rows for a side, or for both; `segment` names the one of each row, or of all."""

    @question(because=rows_of_monitors("cs.calibration_test(y, p", "alpha"))
    def summarize(
        rows: Data, /, segment: ArrayLike | None = None, *, lens: AnyLens = None, **about: Unpack[AboutRows]
    ) -> PeriodSummary:
        view = rows.view().one_event()
        if segment is None or as_labels("segment", segment).ndim == 0:
            name = "" if segment is None else segment_name(segment)
            return PeriodSummary.of({name: SegmentSums.of(view.counted("a monitor"), side)})
        y, p = view.float_rows()
        parts = rows_of_segments(segment, p.size)
        return PeriodSummary.of(
            {name: SegmentSums.of(Sample.from_rows(y[of], p[of]), side) for name, of in parts.items()}
        )

    cast(Asked, summarize).__name__ = "a monitor"  # what errors call it, which `update` raises too
    return summarize


SUMMARIZE = {side: _summarizing(side) for side in DIRECTIONS_OF}
