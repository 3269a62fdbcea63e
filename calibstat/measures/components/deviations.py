"""Deviations from calibration of three kinds: smooth, scattered and local, and all three in one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.in_order import first_largest
from calibstat.measures.components.local_components import Scales
from calibstat.measures.components.smooth_components import Components, standardised_sums

DIAGNOSED_CELLS = 1024  # of equal time; rows in one of them count as if their predictions were equal
SCATTERED, LOCAL = 1.0, 4.0  # what the two local parts lose, so that all three matter about equally
COMPONENTS = ("smooth", "scattered", "local")
GRADUAL = 8  # components, or parts of the range, of a pattern that is called smooth
LONGEST = 2**16  # terms of a sum that are in memory at once
BLOCK = 64  # sets of labels that are looked at together, so that they stay in the cache
DIAGNOSED = 16  # fixed predictions whose diagnostics are kept, such as each of ten classes for its labels and its draws
CERTAIN = 1e-300, 1e-15  # a mean of predictions that is so close to 0 is 0, and to 1 is 1


def time_of(value: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Return where each distinct prediction lies between 0 and 1: half by information, half by rank."""
    return (_middles(count * value * (1 - value)) + _middles(count)) / 2


def cells_of_time(value: np.ndarray, count: np.ndarray, most: int = DIAGNOSED_CELLS) -> np.ndarray:
    """Return a cell for each distinct prediction, or `most` cells of equal time where there are more predictions.

    Of arrays of shape (m,), ascending; the cells are numbered from 0. Predictions of 0 and 1 have cells of their own.
    """
    if value.size <= most:
        return np.arange(value.size)
    inner = slice(np.searchsorted(value, 0, "right"), np.searchsorted(value, 1))
    information = _information(value[inner], count[inner])
    cell = np.empty(value.size, np.int64)
    _number(value, count, information, float(count[inner].sum()), most, cell)
    return cell


def _information(value: np.ndarray, count: np.ndarray) -> float:
    """Return the sum of count * value * (1 - value), halved as NumPy halves long sums, without holding all terms."""
    if value.size <= LONGEST:
        return float((count * value * (1 - value)).sum())
    half = value.size // 2 - value.size // 2 % 8
    return _information(value[:half], count[:half]) + _information(value[half:], count[half:])


def _numbered_in_arrays(
    value: np.ndarray, count: np.ndarray, information: float, rows: float, most: int, cell: np.ndarray
) -> None:
    inside = (value != 0) & (value != 1)
    tells = np.where(inside, count * value * (1 - value), 0.0)
    told, seen = np.cumsum(tells), np.cumsum(np.where(inside, count, 0.0))
    time = ((told - tells / 2) / information + (seen - count / 2) / rows) / 2
    place = np.where(value == 0, -1, most)
    place[inside] = np.minimum((time[inside] * most).astype(np.int64), most - 1)
    cell[:] = np.append(0, np.cumsum(np.diff(place) != 0))


@first_calls(2e-8, _numbered_in_arrays)
@jit
def _number(value: np.ndarray, count: np.ndarray, information: float, rows: float, most: int, cell: np.ndarray) -> None:
    """Number the cells in one pass; `information` and `rows` are the sums strictly between 0 and 1."""
    told, seen = 0.0, 0.0
    last = np.int64(0)
    number = np.int64(-1)
    for j in range(value.size):
        if value[j] == 0:
            place = np.int64(-1)
        elif value[j] == 1:
            place = np.int64(most)
        else:
            tells = count[j] * value[j] * (1 - value[j])
            told += tells
            seen += count[j]
            time = ((told - tells / 2) / information + (seen - count[j] / 2) / rows) / 2
            place = min(np.int64(time * most), np.int64(most - 1))
        if j == 0 or place != last:
            number += 1
            last = place
        cell[j] = number


def _middles(weight: np.ndarray) -> np.ndarray:
    """Return the share of the weight below the middle of each entry."""
    return (np.cumsum(weight) - weight / 2) / weight.sum()


@dataclass(frozen=True)
class Deviations:
    """The three parts of the statistic for B sets of labels; every array but the first has shape (B,).

    Attributes
    ----------
    sums : ndarray, shape (B, D - 1), or None
        Standardised sums of the squared roots of the first 2, 3, ... components; None of one side, whose statistic has
        the other two parts alone: the weights of components have both signs.
    scattered, parts : ndarray
        The largest standardised sum of the deviances of all cells of a scale, and into how many parts it cuts the time.
    local, cell : ndarray
        The most surprising single cell, as minus the logarithm of its p-value less a penalty, and its number.
    """

    sums: np.ndarray | None
    scattered: np.ndarray
    parts: np.ndarray
    local: np.ndarray
    cell: np.ndarray

    @property
    def smooth(self) -> np.ndarray:
        """The largest of these sums."""
        assert self.sums is not None
        return np.asarray(self.sums.max(axis=1))

    @property
    def components(self) -> np.ndarray:
        """The number of components of this sum."""
        assert self.sums is not None
        return np.asarray(2 + first_largest(self.sums))

    @property
    def shares(self) -> np.ndarray:
        """The numbers that are compared: one column for each part, shape (B, 3), of one side (B, 2)."""
        if self.sums is None:  # the p-value of a cell is of one tail, half of the p-value of both
            return np.stack([self.scattered - SCATTERED, self.local + math.log(2) - LOCAL], axis=1)
        return np.stack([self.smooth, self.scattered - SCATTERED, self.local - LOCAL], axis=1)

    @property
    def kinds(self) -> list[str]:
        """The largest share in words, of B sets of labels: what takes few components or parts is smooth, by any share.

        A large smooth error has its largest share in few wide parts, and errors in many places take many components.
        """
        gradual, wide = self.components <= GRADUAL, self.parts <= GRADUAL
        shares = self.shares
        shares[:, 0] = np.where(gradual, shares[:, 0], -np.inf)
        largest = first_largest(shares)
        return [COMPONENTS[0 if kind == 1 and few else kind] for kind, few in zip(largest, wide, strict=True)]

    @property
    def statistic(self) -> np.ndarray:
        """The logarithm of the sum of the exponential functions of the shares."""
        return np.asarray(np.logaddexp.reduce(self.shares, axis=1))


@dataclass(frozen=True)
class Diagnostics:
    """The statistic prepared for fixed predictions: all that depends on them alone.

    Cells with predictions of exactly 0 or 1 take no part; a label that they forbid makes the statistic infinite.

    Attributes
    ----------
    n : float
        Number of rows.
    value, count : ndarray, shape (m,)
        Mean prediction and rows of every cell.
    components, scales : Components and Scales, or None
        Of the cells with predictions strictly between 0 and 1; None if there are no such cells. Of one side there are
        no components.
    sign : float
        1 or -1 if more, or fewer, events than expected are looked for alone; 0 if both are.
    """

    n: float
    value: np.ndarray
    count: np.ndarray
    components: Components | None
    scales: Scales | None
    sign: float = 0.0

    @classmethod
    def of(cls, count: np.ndarray, value: np.ndarray, sign: float = 0.0) -> Diagnostics:
        """Return the diagnostics of cells with these sums of rows and of predictions / n, each of shape (m,).

        The last ones are kept, because observed labels and drawn labels share them.
        """
        return _diagnostics(np.ascontiguousarray(count).tobytes(), np.ascontiguousarray(value).tobytes(), sign)

    @classmethod
    def at(cls, count: np.ndarray, value: np.ndarray, sign: float = 0.0) -> Diagnostics:
        """Return the diagnostics as `of` does, without keeping them."""
        n = float(count.sum())
        mean = np.divide(value * n, count, out=np.zeros_like(value), where=count > 0)
        mean[mean < CERTAIN[0]] = 0.0
        mean[mean > 1 - CERTAIN[1]] = 1.0
        inner = (mean > 0) & (mean < 1)
        if not inner.any():
            return cls(n, mean, count, None, None, sign)
        v, c = mean[inner], count[inner]
        time = time_of(v, c)
        components = None if sign else Components.of(time, v, c)
        return cls(n, mean, count, components, Scales.of(time, v, c, sign), sign)

    @cached_property
    def whole(self) -> bool:
        """Whether rows are counted, and not weighted."""
        return bool(np.all(self.count == np.rint(self.count)))

    @cached_property
    def inner(self) -> np.ndarray:
        """Whether a prediction is strictly between 0 and 1, shape (m,)."""
        return (self.value > 0) & (self.value < 1)

    def positives(self, residual: np.ndarray) -> np.ndarray:
        """Return the rows with outcome 1, from residuals / n, so that equal labels give equal numbers."""
        positives = np.multiply(residual, self.n, order="C")
        positives += self.count * self.value
        return np.rint(positives, out=positives) if self.whole else positives

    def _inside(self, positives: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return positives and residuals of the cells with predictions strictly between 0 and 1."""
        inside = positives if self.inner.all() else np.ascontiguousarray(positives[:, self.inner])
        return inside, inside - (self.count * self.value)[self.inner]

    def sums(self, residual: np.ndarray) -> np.ndarray:
        """Return the residuals themselves, of cells with predictions strictly between 0 and 1, from residuals / n."""
        return self._inside(self.positives(residual))[1]

    def roots(self, residual: np.ndarray, first: int | None = None) -> np.ndarray:
        """Return the roots of all components or the first ones, shape (B, D), of residuals / n in cells, (B, m)."""
        assert self.components is not None
        components = self.components if first is None else self.components.leading(first)
        blocks = range(0, len(residual), BLOCK)
        return np.concatenate([components.roots_of(self.sums(residual[i : i + BLOCK])) for i in blocks])

    def deviations(self, positives: np.ndarray) -> Deviations:
        """Return what the parts say of positives in cells, shape (B, m)."""
        assert self.scales is not None
        inside, residual = self._inside(positives)
        sums = None if self.components is None else standardised_sums(self.components.roots_of(residual))
        scattered, parts, local, cell = self.scales.parts_of(inside).T
        return Deviations(sums, scattered, parts.astype(np.int64), local, cell.astype(np.int64))

    def statistic(self, residual: np.ndarray) -> np.ndarray:
        """Return the statistic of residuals / n in cells, shape (B, m)."""
        blocks = range(0, len(residual), BLOCK)
        return np.concatenate([self._statistic(residual[i : i + BLOCK]) for i in blocks])

    def _statistic(self, residual: np.ndarray) -> np.ndarray:
        positives = self.positives(residual)
        statistic = np.zeros(len(positives)) if self.scales is None else self.deviations(positives).statistic
        # of one side an outcome that the other side forbids is allowed, and no evidence
        never, always = (self.value == 0) & (self.sign >= 0), (self.value == 1) & (self.sign <= 0)
        forbidden = (positives[:, never] > 0).any(axis=1) | (positives[:, always] < self.count[always]).any(axis=1)
        return np.where(forbidden, np.inf, statistic)

    def largest_cells(self, residual: np.ndarray) -> tuple[int, int]:
        """Return the first and the last cell of the most surprising deviation, of residuals / n, shape (m,)."""
        if self.scales is None:
            return 0, residual.size - 1
        cell = int(self.deviations(self.positives(residual[None])).cell[0])
        found = np.flatnonzero(self.inner)[self.scales.within(cell)]
        return int(found[0]), int(found[-1])

    def detail(self, residual: np.ndarray) -> dict[str, Any]:
        """Return the parts and the roots of one set of residuals / n, shape (m,), by name; nothing without cells."""
        if self.components is None or self.scales is None:
            return {}
        positives = self.positives(residual[None])
        deviations, inside = self.deviations(positives), self._inside(positives)[0][0]
        within = self.scales.within(int(deviations.cell[0]))
        value, rows = self.value[self.inner][within], self.count[self.inner][within]
        return {
            "kind": deviations.kinds[0],
            "smooth": float(deviations.smooth[0]),
            "components": int(deviations.components[0]),
            "scattered": float(deviations.scattered[0]),
            "parts": int(deviations.parts[0]),
            "local": float(deviations.local[0]),
            "local_low": float(value.min()),
            "local_high": float(value.max()),
            "local_rows": float(rows.sum()),
            "local_predicted": float(rows @ value / rows.sum()),
            "local_observed": float(inside[within].sum() / rows.sum()),
            "roots": self.roots(residual[None])[0],
        }


@lru_cache(maxsize=DIAGNOSED)
def _diagnostics(count: bytes, value: bytes, sign: float) -> Diagnostics:
    return Diagnostics.at(np.frombuffer(count), np.frombuffer(value), sign)
