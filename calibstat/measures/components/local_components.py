"""Local deviations from calibration: likelihood ratios of cells at several scales, added up and scanned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.in_order import RELATIVE

FINEST_CELLS = 128  # cells at the finest scale
SCANNED = 64  # cells at the finest scale at which single cells are looked at
FEWEST = 4  # cells of a scale that is looked at however little information there is
SINGLE_VALUES = 32  # predictions, of which a one-sided test looks at each by itself, as of grades
EIGHTHS = np.arange(1, 8) * (FINEST_CELLS // 8)  # ends of the beginnings and ends that it looks at
# the mean and the variance of a deviance: about the square of a standard normal number, of one side its positive part
MOMENTS, MOMENTS_OF_ONE_SIDE = (1.0, 2.0), (0.5, 1.25)
# square root of half a deviance from which the tail of the normal distribution is taken from its expansion
_FAR_TAIL = 25.0
NEAR = 0.5  # share of the expected events within which logarithms are taken of what they are off by
REACH = 4.0  # standard deviations: deviances of events that are so close to the expected ones are computed once


@dataclass(frozen=True)
class Scales:
    """Cells that cut the time into 2, 4, ... equal parts, and whole ones moved by half a cell, fixed before the labels.

    Of one side also all rows, beginnings and ends in eighths, and each of a few predictions by itself.

    Attributes
    ----------
    index : ndarray, shape (m,)
        The finest cell of each cell of the data.
    parts : ndarray, shape (C,)
        Into how many parts the scale of a cell cuts the time, ascending.
    begin, end : ndarray, shape (C,)
        Its first finest cell, and the first after it.
    aligned : ndarray, shape (C,)
        Whether it is not moved.
    rows, events, others : ndarray, shape (C,)
        Rows in it, and how many of them to expect with outcomes 1 and 0.
    sign : float
        1 or -1 if only cells with more, or fewer, events than expected count, and 0 if all do.
    """

    index: np.ndarray
    parts: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    aligned: np.ndarray
    rows: np.ndarray
    events: np.ndarray
    others: np.ndarray
    sign: float = 0.0

    @classmethod
    def of(cls, time: np.ndarray, value: np.ndarray, count: np.ndarray, sign: float = 0.0) -> Scales:
        """Return the cells that hold rows, for cells of the data at these times, with predictions between 0 and 1."""
        information = float((count * value * (1 - value)).sum())
        index = np.minimum((time * FINEST_CELLS).astype(np.int64), FINEST_CELLS - 1)
        of_cells = count, count * value, count * (1 - value)
        in_finest = [np.bincount(index, each, FINEST_CELLS) for each in of_cells]
        scales = []
        for parts in 2 ** np.arange(0 if sign else 1, int(np.log2(FINEST_CELLS)) + 1):
            if parts > max(FEWEST, information):
                break
            width = FINEST_CELLS // parts
            for moved in (False, True) if parts <= SCANNED else (False,):
                begin = np.arange(parts - moved) * width + moved * width // 2
                inside = begin[:, None] + np.arange(width)
                sums = [each[inside].sum(axis=1) for each in in_finest]
                scales.append([np.full(begin.size, parts), begin, begin + width, np.full(begin.size, not moved), *sums])
            if sign and parts == 2:
                begin = np.append(np.zeros(EIGHTHS.size, np.int64), EIGHTHS)
                end = np.append(EIGHTHS, np.full(EIGHTHS.size, FINEST_CELLS))
                sums = [np.array([each[a:b].sum() for a, b in zip(begin, end, strict=True)]) for each in in_finest]
                scales.append([np.full(begin.size, parts), begin, end, np.zeros(begin.size, bool), *sums])
        if sign and value.size <= SINGLE_VALUES:
            for scale in scales:
                scale[1:3] = (np.searchsorted(index, each) for each in scale[1:3])
            index = np.arange(value.size)
            alone = [np.full(value.size, value.size), index, index + 1, np.zeros(value.size, bool)]
            scales.append([*alone, *of_cells])
        columns = [np.concatenate(column) for column in zip(*scales, strict=True)]
        full = columns[4] > 0
        part, begin, end, aligned, rows, events, others = [column[full] for column in columns]
        return cls(index, part, begin, end, aligned, rows, events, others, sign)

    def within(self, cell: int) -> np.ndarray:
        """Return which cells of the data are in this one, shape (m,)."""
        return np.asarray((self.index >= self.begin[cell]) & (self.index < self.end[cell]))

    def parts_of(self, positives: np.ndarray) -> np.ndarray:
        """Return `largest_of` the deviances of positives in cells of the data, shape (B, m)."""
        deviance = np.empty((len(positives), self.parts.size))
        cells = self.begin, self.end, self.rows, self.events, self.others
        sums = np.empty(int(self.end.max()) + 1)
        _deviances(positives, self.index, *cells, self.sign, *self.tables, sums, deviance)
        return self.largest_of(deviance)

    def sums_of(self, cells: np.ndarray) -> np.ndarray:
        """Return the sums in cells of the scales, shape (B, C), of numbers in cells of the data, shape (B, m)."""
        upto = np.zeros((len(cells), FINEST_CELLS + 1))
        filled = np.flatnonzero(np.diff(self.index, prepend=-1))
        upto[:, self.index[filled] + 1] = np.add.reduceat(cells, filled, axis=1)
        np.cumsum(upto, axis=1, out=upto)
        return np.subtract(upto[:, self.end], upto[:, self.begin], order="C")

    def largest_of(self, deviance: np.ndarray) -> np.ndarray:
        """Return four numbers for each row of deviances of the cells of the scales: shapes (B, C) and (B, 4).

        The largest standardised sum of deviances over a scale, and the number of parts of that scale; the largest
        single one, as minus the logarithm of its p-value with a penalty for the scale, and the number of its cell.
        """
        most = np.empty((len(deviance), 4))
        mean, variance = MOMENTS_OF_ONE_SIDE if self.sign else MOMENTS
        _largest(deviance, self.parts, self.aligned, mean, variance, most)
        return most

    @cached_property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The least number of events in the table of each cell, where the table starts, and the deviances of all.

        The last of the starts is where all end. Deviances are not a number until they are needed.
        """
        reach = REACH * np.sqrt(self.events * self.others / self.rows) + 1
        least = np.maximum(np.floor(self.events - reach), 0.0)
        size = np.minimum(np.ceil(self.events + reach), self.rows) - least + 1
        start = np.append(0, np.cumsum(size.astype(np.int64)))
        return least, start, np.full(start[-1], np.nan)


def _deviance_of(events: float, others: float, expected_events: float, expected_others: float, sign: float) -> float:
    """Return twice the log-likelihood ratio of the rate of events in a cell against the expected one.

    With a sign it is 0 unless there are more events than expected, or with a negative one fewer: so it never rises, or
    never falls, with an event.
    """
    off = events - expected_events
    if sign * off < 0.0:
        return 0.0
    half = 0.0
    if sign != 0.0 and abs(off) < NEAR * min(expected_events, expected_others):
        # of 10**9 rows the logarithms below lose more to rounding than one row changes
        half = events * math.log1p(off / expected_events) + others * math.log1p(-off / expected_others)
        return max(2.0 * half, 0.0)
    if events > 0.0:
        half += events * math.log(events / expected_events)
    if others > 0.0:
        half += others * math.log(others / expected_others)
    return max(2.0 * half, 0.0)


def _surprise_of(deviance: float) -> float:
    """Return minus the logarithm of the two-sided p-value of a deviance."""
    x = math.sqrt(deviance / 2)
    if x > _FAR_TAIL:
        return x * x + math.log(x * math.sqrt(math.pi)) - math.log1p(-0.5 / (x * x))
    return -math.log(math.erfc(x))


_deviance, _surprise = jit(_deviance_of), jit(_surprise_of)


def _deviances_in_arrays(
    positives: np.ndarray,
    index: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    rows: np.ndarray,
    expected_events: np.ndarray,
    expected_others: np.ndarray,
    sign: float,
    least: np.ndarray,
    start: np.ndarray,
    known: np.ndarray,
    sums: np.ndarray,
    deviance: np.ndarray,
) -> None:
    upto = np.zeros((sums.size, len(positives)))
    np.add.at(upto, index + 1, positives.T)
    np.cumsum(upto, axis=0, out=upto)
    events = (upto[end] - upto[begin]).T
    whole = (events - least).astype(np.int64)
    kept = (whole == events - least) & (whole >= 0) & (whole < np.diff(start))
    place = np.where(kept, start[:-1] + whole, 0)
    for at in np.unique(place[kept & np.isnan(known[place])]).tolist():
        c = int(np.searchsorted(start, at, "right")) - 1
        number = float(least[c] + (at - start[c]))
        known[at] = _deviance_of(number, rows[c] - number, expected_events[c], expected_others[c], sign)
    deviance[:] = known[place]
    for b, c in np.argwhere(~kept).tolist():
        number = events[b, c]
        deviance[b, c] = _deviance_of(number, rows[c] - number, expected_events[c], expected_others[c], sign)
    sums[:] = upto[:, -1]


@first_calls(lambda positives, index, begin, *_: 1e-7 * len(positives) * begin.size, _deviances_in_arrays)
@jit
def _deviances(
    positives: np.ndarray,
    index: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    rows: np.ndarray,
    expected_events: np.ndarray,
    expected_others: np.ndarray,
    sign: float,
    least: np.ndarray,
    start: np.ndarray,
    known: np.ndarray,
    sums: np.ndarray,
    deviance: np.ndarray,
) -> None:
    """Fill in the deviance of each cell for each row of positives; `sums` is room for events up to finest cells.

    Whole numbers of events near the expected one have a place in `known`, where their deviance is kept once computed.
    """
    for b in range(positives.shape[0]):
        for i in range(sums.size):
            sums[i] = 0.0
        for j in range(index.size):
            sums[index[j] + 1] += positives[b, j]
        for i in range(1, sums.size):
            sums[i] += sums[i - 1]
        for c in range(begin.size):
            events = sums[end[c]] - sums[begin[c]]
            place = start[c] + int(events - least[c])
            kept = events - least[c] == place - start[c] and start[c] <= place < start[c + 1]
            z = known[place] if kept else math.nan
            if math.isnan(z):
                z = _deviance(events, rows[c] - events, expected_events[c], expected_others[c], sign)
                if kept:
                    known[place] = z
            deviance[b, c] = z


def _largest_in_arrays(
    deviance: np.ndarray, parts: np.ndarray, aligned: np.ndarray, mean: float, variance: float, most: np.ndarray
) -> None:
    scattered, local = np.full((2, len(deviance)), -math.inf)
    for first, last in pairwise(np.append(np.flatnonzero(np.diff(parts, prepend=0)), parts.size)):
        z, fixed = deviance[:, first:last], aligned[first:last]
        if fixed.any():
            total, seen = np.cumsum(z[:, fixed], axis=1)[:, -1], float(fixed.sum())
            standardised = (total - mean * seen) / np.sqrt(variance * seen)
            most[_rises(standardised, scattered), 1] = parts[first]
            scattered = np.fmax(scattered, standardised)
        if parts[first] <= SCANNED:
            largest, where = np.full(len(z), -1.0), np.zeros(len(z))
            for c, one in enumerate(z.T):
                where[(one > largest) & (one - largest > RELATIVE * one)] = first + c
                largest = np.maximum(largest, one)
            single = np.array([_surprise_of(each) for each in largest.tolist()]) - math.log(parts[first])
            rises = _rises(single, local)
            most[rises, 3] = where[rises]
            local = np.fmax(local, single)
    most[:, 0], most[:, 2] = scattered, local


def _rises(one: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return whether a number is larger than the one before by more than rounding."""
    return (one > before) & ~(one - before <= RELATIVE * abs(one))


@first_calls(lambda deviance, *_: 1e-7 * deviance.size, _largest_in_arrays)
@jit
def _largest(
    deviance: np.ndarray, parts: np.ndarray, aligned: np.ndarray, mean: float, variance: float, most: np.ndarray
) -> None:
    """Go through the scales for each row of deviances, which have this mean and variance."""
    for b in range(deviance.shape[0]):
        scattered = local = -math.inf
        total, largest = 0.0, -1.0
        seen, where = 0, 0
        for c in range(parts.size):
            z = deviance[b, c]
            if aligned[c]:
                total += z
                seen += 1
            if z > largest:
                if z - largest > RELATIVE * z:
                    where = c
                largest = z
            if c + 1 < parts.size and parts[c + 1] == parts[c]:
                continue
            if seen > 0:
                standardised = (total - mean * seen) / math.sqrt(variance * seen)
                if standardised > scattered:
                    if not standardised - scattered <= RELATIVE * abs(standardised):
                        most[b, 1] = parts[c]
                    scattered = standardised
            if parts[c] <= SCANNED:
                single = _surprise(largest) - math.log(parts[c])
                if single > local:
                    if not single - local <= RELATIVE * abs(single):
                        most[b, 3] = where
                    local = single
            total, largest = 0.0, -1.0
            seen = 0
        most[b, 0] = scattered
        most[b, 2] = local
