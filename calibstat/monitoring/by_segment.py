"""Sums of each segment of a period, which add up over shards, and the names of segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import need_text, quoted, short
from calibstat.data.numbered_labels import as_labels, coded


class Sums(Protocol):
    """Sums over rows that add up with other sums."""

    def __add__(self, other: Self, /) -> Self:
        """Return the sums over the rows of both."""
        ...

    def to_list(self) -> list[Any]:
        """Return the sums as whole numbers."""
        ...


S = TypeVar("S", bound=Sums)


@dataclass(frozen=True, eq=False)
class BySegment(Generic[S]):
    """The sums of each segment of a period, or of a part of it, by its name; of rows without segments under ""."""

    segments: Mapping[str, S]

    @classmethod
    def of(cls, segments: Mapping[str, S]) -> Self:
        """Return the sums by name, in the order of the names."""
        return cls(MappingProxyType(dict(sorted(segments.items()))))

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        if ("" in self.segments) != ("" in other.segments):
            raise ValueError("expected both summaries with segments, or both without; found one of each")
        merged = dict(self.segments)
        for name, sums in other.segments.items():
            merged[name] = merged[name] + sums if name in merged else sums
        return type(self).of(merged)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy the sums as a dict, since a read-only mapping can be neither pickled nor copied."""
        return type(self).of, (dict(self.segments),)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    @cached_property
    def total(self) -> S:
        """The sums over all rows."""
        first, *others = self.segments.values()
        for sums in others:
            first = first + sums
        return first

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the segments; empty without segments."""
        return tuple(name for name in self.segments if name)

    def to_dict(self) -> dict[str, list[int]]:
        """Return a mapping from the name of each segment to its sums, ready for JSON."""
        return {name: sums.to_list() for name, sums in self.segments.items()}


def need_segments(segments: object) -> dict[str, Any]:
    """Return what `to_dict` may have written: sums of each segment, or of all rows under ""; else raise."""
    if not isinstance(segments, dict) or not segments or ("" in segments and len(segments) > 1):
        raise ValueError(f"expected the sums of each segment, or of all rows under '', found {short(segments)}")
    return segments


def rows_of_segments(segment: ArrayLike | None, n: int) -> dict[str, np.ndarray]:
    """Return the rows of each segment by its name; of no segments all rows under "".

    `segment` names the segment of each of n rows, or of all.
    """
    if as_labels("segment", segment).ndim == 0:
        return {"" if segment is None else segment_name(segment): np.arange(n)}
    number, distinct = coded("segment", segment, n)
    names = [segment_name(entry) for entry in distinct]
    if len(set(names)) < len(names):
        raise ValueError(f"expected segments of different names, found {short(distinct)}")
    rows = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
    return dict(zip(names, rows, strict=True))


def segment_name(entry: object) -> str:
    """Return the name of a segment as text; it must not be empty."""
    need_text("names of segments", [entry])
    name = str(entry)
    if entry is None or entry != entry or not name:
        raise ValueError(f"expected the name of a segment, found {short(entry)}")
    return name


def segment_names(names: object) -> tuple[str, ...]:
    """Return the names of the segments as sorted text."""
    if isinstance(names, str) or not isinstance(names, Sequence | np.ndarray) or not len(names):
        raise ValueError(f"expected segments, a sequence of names, found {short(names)}")
    segments = sorted(segment_name(name) for name in names)
    if len(set(segments)) < len(segments):
        raise ValueError(f"expected segments of different names, found {short(list(names))}")
    return tuple(segments)


def saved_segments(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the segments of a saved state: None if they are not fixed yet, and empty if there are none."""
    return None if names is None else () if names == [] else segment_names(names)


def check_segments(summary: BySegment[Any], segments: tuple[str, ...]) -> None:
    """Raise unless the segments of a period are among those fixed beforehand."""
    if segments and not summary.names:
        raise ValueError(f"expected a segment for each row, one of {quoted(segments, 10)}; found none")
    for name in summary.names:
        if name not in segments:
            fixed = quoted(segments, 10) if segments else "none"
            raise ValueError(
                f"expected segments fixed before the first period ({fixed}), found {short(name)}: the chance of a "
                "false alarm is bounded for weights that no outcome has seen; give all segments= to a new monitor"
            )
