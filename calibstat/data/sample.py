"""Binary outcomes and predictions, summarised as distinct predictions with counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from calibstat.compiled import first_calls, jit
from calibstat.data.checks import described
from calibstat.data.labels import OutcomeNames, check_row_names, labels_or_positive
from calibstat.data.validation import as_rows, as_vector, check_all, check_rows
from calibstat.digits import settled

if TYPE_CHECKING:
    from calibstat.data.engines.cell_table import GroupCells

By: TypeAlias = str | Sequence[str]
LARGEST_COUNT = 2.0**53  # above it a float64 no longer counts every row
ORDINARY = 2.0**500  # real-valued weights up to it, and down to its inverse, can be added up and multiplied


class WeightedRows(Protocol):
    """Rows that a summary keeps with their weights, all of shape (n,)."""

    @property
    def cell(self) -> np.ndarray:
        """The place in `value` of the prediction of each row, ascending."""
        ...

    @property
    def outcome(self) -> np.ndarray:
        """The outcome 0 or 1 of each row."""
        ...

    @property
    def weight(self) -> np.ndarray:
        """The weight of each row."""
        ...

    @property
    def prediction(self) -> np.ndarray:
        """The prediction of each row."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Binary outcomes and predictions, summarised: the distinct predictions with their numbers of rows and positives.

        >>> import calibstat as cs
        >>> cs.Sample.from_rows([1, 0, 1, 1], [0.8, 0.3, 0.8, 0.3])
        Sample(4 rows, 3 positive, 2 distinct predictions from 0.3 to 0.8)
        >>> a = cs.Sample.from_counts([0.3, 0.8], [2, 2], [1, 2])
        >>> (a + a).count
        array([4., 4.])

    The summary holds all that binary calibration of one model needs, except clusters. Ties are exact, whole-number
    weights cost nothing, two samples merge with ``+``, and the result of a ``GROUP BY`` in a database is valid input.
    Make one with `Sample.from_rows` or `Sample.from_counts`; do not write to its arrays.

    Attributes
    ----------
    value : ndarray of float64, shape (m,)
        The distinct predictions in [0, 1], ascending.
    count : ndarray of float64, shape (m,)
        Rows (or total weight, in units of `unit`) at each, positive. Whole numbers up to 2**53 if `kind` is "counts".
    positives : ndarray of float64, shape (m,)
        Rows (or weight) with outcome 1 at each, between 0 and `count`.
    kind : {"counts", "weights"}
        "counts" if every weight is a whole number. Tests and bootstraps need counts.
    n_zero_weight : int
        Number of rows of weight zero, which are left out.
    unit : float
        The weight that 1 in `count` and `positives` stands for: 1, or, where the largest weight is above 3e150 or
        below 3e-151 and the total might not be a number, the largest.
    n_repeated : int
        Number of rows that whole-number weights, taken as counts, made into `n` repeated rows; 0 if there were no
        weights, or all were 0 or 1.
    moved : float
        The largest distance between a prediction and the one in `value` that stands for it: 0, or of a sample of
        `from_frame` or `from_cells` at most 1/153,600.
    """

    value: np.ndarray
    count: np.ndarray
    positives: np.ndarray
    kind: str = "counts"
    n_zero_weight: int = 0
    unit: float = 1.0
    n_repeated: int = 0
    moved: float = 0.0

    @classmethod
    def from_rows(
        cls,
        y_true: ArrayLike,
        y_prob: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        labels: OutcomeNames = None,
        pos_label: object = None,
    ) -> Sample:
        """Make a sample from rows of outcomes and predictions.

            >>> import calibstat as cs
            >>> cs.Sample.from_rows(["no", "yes"], [0.2, 0.7], labels=["no", "yes"])
            Sample(2 rows, 1 positive, 2 distinct predictions from 0.2 to 0.7)

        Parameters
        ----------
        y_true : array_like, shape (n,) or (n, 1)
            Outcomes: 0 and 1, booleans, or any two values named by `labels`.
        y_prob : array_like, shape (n,), (n, 1) or (n, 2)
            Predicted probability of outcome 1, in [0, 1]; with two columns, of outcome 0 and of outcome 1.
        sample_weight : array_like, shape (n,), optional
            Non-negative weights. Whole numbers mean repeated rows.
        labels : sequence of two, optional
            The values in `y_true` that mean outcome 0 and outcome 1, in this order.
        pos_label : object, optional
            Instead of `labels`: the one of two values that means outcome 1.

        Returns
        -------
        Sample

        Raises
        ------
        ValueError
            If the sample is empty, lengths differ, an outcome is not 0 or 1 (or not in `labels`), a probability is
            missing or outside [0, 1], a row of two columns does not sum to 1, a weight is negative, infinite, missing
            or less than 1e-308 of the largest, or the two arguments look swapped. The message names the first
            offending row.

        Notes
        -----
        O(n log n): one sort of 64-bit keys.
        """
        y, p = as_rows(y_true, y_prob, labels_or_positive(labels, pos_label))
        if sample_weight is None:
            check_rows(y, p)
            return sample_of_rows(y, p)
        check_row_names(y_true, sample_weight, ("y_true", "sample_weight"))
        weight = as_vector(sample_weight, "sample_weight")
        if weight.size != p.size:
            raise ValueError(f"expected one weight a row, found {weight.size} weights for {p.size} rows")
        check_rows(y, p)
        check_all(np.isfinite(weight) & (weight >= 0), "a finite weight of at least 0", weight, "sample_weight")
        sample = _summarise(p, weight, weight * y)
        counts = sample.kind == "counts" and bool(weight.max() > 1)
        return replace(sample, n_repeated=int(np.count_nonzero(weight))) if counts else sample

    @classmethod
    def from_counts(cls, value: ArrayLike, count: ArrayLike, positives: ArrayLike) -> Sample:
        """Make a sample from predictions with their numbers of rows and of positive rows.

            >>> import calibstat as cs
            >>> cs.Sample.from_counts([0.8, 0.3], [2, 1], [2, 0])
            Sample(3 rows, 2 positive, 2 distinct predictions from 0.3 to 0.8)

        Parameters
        ----------
        value : array_like, shape (m,)
            Predictions in [0, 1], in any order; equal ones are merged.
        count : array_like, shape (m,)
            Rows (or weight) at each, at least 0.
        positives : array_like, shape (m,)
            Rows (or weight) with outcome 1 at each, from 0 to `count`.

        Returns
        -------
        Sample

        Raises
        ------
        ValueError
            If the sample is empty, lengths differ or a number is out of range; the first offending entry is named.
        """
        v, c, a = as_vector(value, "value"), as_vector(count, "count"), as_vector(positives, "positives")
        if not v.size == c.size == a.size:
            raise ValueError(
                f"expected three arrays of one length, found {v.size} values, {c.size} counts, {a.size} positives"
            )
        check_all((v >= 0) & (v <= 1), "a probability from 0 to 1", v, "value")
        check_all(np.isfinite(c) & (c >= 0), "a finite count of at least 0", c, "count")
        check_all((a >= 0) & (a <= c), "positives from 0 to count", a, "positives")
        return _summarise(v, c, a)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        label: str,
        prob: str,
        by: By | None = None,
        weight: str | None = None,
        cells: str | None = None,
    ) -> SampleOrSamples:
        """Make a sample from a frame of any engine, which does the GROUP BY and hands over the summary alone.

            >>> import calibstat as cs
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"y": [1, 0, 1, 1], "p": [0.8, 0.3, 0.8, 0.3], "site": ["a", "a", "b", "b"]})
            >>> cs.Sample.from_frame(frame, "y", "p")
            Sample(4 rows, 3 positive, 2 distinct predictions from 0.3 to 0.8)
            >>> cs.Sample.from_frame(frame, "y", "p", by="site")["b"]
            Sample(2 rows, 2 positive, 2 distinct predictions from 0.3 to 0.8)

        Predictions are summed up in 153,600 cells, the rule of bins of equal width. Where each cell holds one distinct
        prediction, as fractions k/m with m up to 200 do, the sample equals `from_rows`. Otherwise the exact mean of the
        predictions in a cell stands for them: binned errors of 10, 15, 20, 25, 50 or 100 equal bins stay the same up to
        rounding, and `moved` is the largest change of a prediction, at most 1/153,600.

        Parameters
        ----------
        frame : data frame
            Of pandas, Polars (lazy ones too), PyArrow, DuckDB (a relation), Dask, Spark, or another engine of narwhals.
        label : str
            The column of outcomes: 0 and 1, or booleans.
        prob : str
            The column of predicted probabilities of outcome 1, in [0, 1]; single precision is converted first.
        by : str or sequence of str, optional
            Columns of groups: one sample is made for each distinct value, or tuple of values.
        weight : str, optional
            The column of whole weights from 0 to 2**31, which count repeated rows. Other weights do not add up to the
            same sums in every engine, and are refused; give their rows with `sample_weight=`.
        cells : "distinct", optional
            Keep every distinct prediction, however many there are; by default 153,600 cells.

        Returns
        -------
        Sample or dict of Sample
            With `by` a dictionary from value, or from tuple if `by` is a sequence, to sample, in ascending order.

        Raises
        ------
        ValueError
            If there is no row, a column is missing or is not numeric, an outcome is not 0 or 1, a probability is
            missing or outside [0, 1], a weight is not a whole number from 0 to 2**31, or with `by` a group is missing
            or has one row. One message names all columns and how many rows are wrong in each.
        ImportError
            If narwhals is not installed; ``pip install calibstat[frames]`` brings it.

        Notes
        -----
        One query. Its answer has at most 153,600 rows a group, whatever the number of rows.
        """
        from calibstat.data.engines.frame_cells import groups_of_frame

        return _of_groups(groups_of_frame(frame, (label, prob, weight), by, cells), by)

    @classmethod
    def from_cells(cls, answer: object, by: By | None = None) -> SampleOrSamples:
        """Make a sample from the answer of a database to the query of `calibstat.sql`.

            >>> import sqlite3
            >>> import calibstat as cs
            >>> database = sqlite3.connect(":memory:")
            >>> _ = database.execute("CREATE TABLE scored (y, p)")
            >>> _ = database.executemany("INSERT INTO scored VALUES (?, ?)", [(1, 0.8), (0, 0.3), (1, 0.8)])
            >>> answer = database.execute(cs.sql("y", "p", table="scored", dialect="sqlite"))
            >>> names = [column[0] for column in answer.description]
            >>> cs.Sample.from_cells(dict(zip(names, zip(*answer))))
            Sample(3 rows, 2 positive, 2 distinct predictions from 0.3 to 0.8)
            >>> database.close()

        Parameters
        ----------
        answer : data frame or mapping
            The answer, of any engine of `from_frame`, or a mapping from the names of its columns to their values.
        by : str or sequence of str, optional
            The columns of groups of the query.

        Returns
        -------
        Sample or dict of Sample
            The same as `from_frame` makes of the table.

        Raises
        ------
        ValueError
            If a column of the query is missing or sums are rounded, and as for `from_frame`.
        """
        from calibstat.data.engines.cell_table import groups_of_table

        if isinstance(answer, Mapping):
            columns = answer
        else:
            from calibstat.data.engines.frame_cells import columns_of

            columns = columns_of(answer)
        return _of_groups(groups_of_table(columns, by, ("label", "prob", "weight")), by)

    def __add__(self, other: Sample) -> Sample:
        if not isinstance(other, Sample):
            return NotImplemented
        unit = max(self.unit, other.unit)
        size = self.value.size + other.value.size
        merged = np.empty(size), np.empty(size), np.empty(size)
        m = _merge(*self._in(unit), *other._in(unit), *merged)
        value, count, positives = merged if m == size else (part[:m].copy() for part in merged)
        whole = self.kind == other.kind == "counts"
        count, positives, unit = _in_ordinary_units(count, positives, unit, whole)
        kind = "counts" if whole else "weights"
        moved = max(self.moved, other.moved)
        joined = Sample(value, count, positives, kind, self.n_zero_weight + other.n_zero_weight, unit, moved=moved)
        if not whole or not (self.n_repeated or other.n_repeated):
            return joined
        return replace(joined, n_repeated=int(sum(part.n_repeated or part.n for part in (self, other))))

    def _in(self, unit: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the arrays, counted in another unit."""
        if unit == self.unit:
            return self.arrays
        return self.value, _in_units(self.count, unit / self.unit), self.positives / (unit / self.unit)

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """`value`, `count` and `positives`, the arguments of every binary measure."""
        return self.value, self.count, self.positives

    @property
    def n(self) -> int | float:
        """Number of rows, or the total weight in units of `unit`."""
        total = float(self.count.sum())
        return int(total) if self.kind == "counts" else total

    @property
    def n_rows(self) -> int | float:
        """Number of rows, of which each is drawn by itself."""
        return self.n

    @property
    def weighted(self) -> WeightedRows | None:
        """The rows, if they are kept with their weights."""
        return None

    @property
    def keeps_rows(self) -> bool:
        """Whether rows can be drawn: they are counted, or kept with their weights."""
        return self.kind == "counts"

    @property
    def residual(self) -> np.ndarray:
        """The residuals (positives - count * value) / n at the distinct predictions, shape (m,)."""
        return (self.positives - self.count * self.value) / self.count.sum()

    @property
    def squares(self) -> np.ndarray:
        """The sums of the squares of what rows add to count times `residual`, shape (m,)."""
        return self.positives * (1 - self.value) ** 2 + (self.count - self.positives) * self.value**2

    def __repr__(self) -> str:
        size = f"{self.n} rows" if self.kind == "counts" else f"total weight {self.n:g}"
        size += f" times {self.unit:g}" if self.unit != 1 else ""
        left_out = f", {self.n_zero_weight} rows of weight 0 left out" if self.n_zero_weight else ""
        m, low, high = self.value.size, self.value[0], self.value[-1]
        what = "cells of predictions" if self.moved else "distinct predictions"
        one = "1 cell of predictions" if self.moved else "1 distinct prediction"
        values = f"{m} {what} from {low:g} to {high:g}" if m > 1 else f"{one}, {low:g}"
        return f"Sample({size}, {self.positives.sum():g} positive, {values}{left_out})"


if TYPE_CHECKING:

    class SampleOrSamples(Sample, dict[Any, Sample]):
        """To type checkers both: which of the two a result is depends on `by`."""

else:
    SampleOrSamples = Sample | dict[Any, Sample]


def _of_groups(groups: Mapping[Any, GroupCells], by: By | None) -> Any:
    """Return the sample of the cells of each group, or of the only one if there are no groups."""
    samples = {}
    for key, cells in groups.items():
        sample = _summarise(cells.value, cells.count, cells.positives)
        samples[key] = replace(
            sample, n_zero_weight=cells.n_zero_weight, n_repeated=cells.n_repeated, moved=cells.moved
        )
    return samples[()] if by is None else samples


def as_sample(
    y_true: Any,
    y_prob: Any = None,
    sample_weight: ArrayLike | None = None,
    labels: OutcomeNames = None,
) -> Sample:
    """Return the sample given to a public function, as a `Sample` or as rows."""
    if isinstance(y_true, Sample):
        if y_prob is not None or sample_weight is not None or labels is not None:
            raise ValueError("expected a Sample alone, found a Sample and further data beside it")
        return y_true
    if y_prob is None:
        raise ValueError(
            "expected outcomes and predicted probabilities (y_true, y_prob), or a Sample; found one "
            f"{described(y_true)}"
        )
    return Sample.from_rows(y_true, y_prob, sample_weight, labels=labels)


def sample_of_rows(y: np.ndarray, p: np.ndarray) -> Sample:
    """Return the sample of checked outcomes and predictions, one sort of 64-bit keys."""
    return _of_keys(_keys(y, p))


def sample_of_batches(batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Sample:
    """Return the sample of the rows of all batches, of which one is in memory at a time; raise for a bad row."""
    keys = []
    for y, p in batches:
        check_rows(y, p)
        keys.append(_keys(y, p))
    if not any(key.size for key in keys):
        raise ValueError("expected at least one row, found none")
    key = np.concatenate(keys)
    keys.clear()  # each is as long as its rows
    return _of_keys(key)


def _keys(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return a sortable integer for each row, prediction first, outcome in the last bit.

    The bits of non-negative floats sort like the floats; the shift drops the sign, so that -0.0 becomes 0.0.
    """
    key = p.view(np.uint64) << np.uint64(1)
    key |= y == 1
    return key


def _of_keys(key: np.ndarray) -> Sample:
    """Return the sample of rows that were packed into integers; its predictions take the memory of these."""
    key.sort()
    value, count, positives = key.view(np.float64), np.empty(key.size), np.empty(key.size)
    m = _collapse(key, key, count, positives)
    if m == key.size:
        return Sample(value, count, positives)
    return Sample(value[:m].copy(), count[:m].copy(), positives[:m].copy())


def need_counts(sample: Sample, what: str) -> None:
    """Raise unless rows are counted, or kept with their weights, because `what` draws rows."""
    if not sample.keeps_rows:
        raise ValueError(
            f"{what} needs whole-number counts of independent rows, found a Sample with real-valued weights; give rows "
            "with their weights as (y_true, y_prob, sample_weight=...)"
        )


def _summarise(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Sample:
    """Sort by prediction and add up ties. Tied rows are sorted too, so that sums do not depend on the order of rows."""
    kept = count > 0
    if not kept.any():
        raise ValueError("expected at least one row of positive weight, found none")
    value, count, positives = value[kept] + 0.0, count[kept], positives[kept]  # + 0.0 turns -0.0 into 0.0
    order = np.lexsort((positives, count, value))
    value, count, positives = value[order], count[order], positives[order]
    first = np.flatnonzero(np.diff(value, prepend=-1.0))
    whole = bool(np.all(count == np.floor(count)) and np.all(positives == np.floor(positives)))
    count, positives, unit = _in_ordinary_units(count, positives, 1.0, whole)
    sums = value[first], np.add.reduceat(count, first), np.add.reduceat(positives, first)
    return Sample(*sums, "counts" if whole else "weights", int(kept.size - kept.sum()), unit)


def _in_ordinary_units(
    count: np.ndarray, positives: np.ndarray, unit: float, whole: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return counts that can be added up exactly, or weights in a unit in which they can be added up and multiplied."""
    with np.errstate(over="ignore"):
        total = count.sum()
    if whole and total > LARGEST_COUNT:
        raise ValueError(f"expected at most 2**53 rows, found {settled(total):.0f}")
    largest = float(count.max())
    if 1 / ORDINARY <= largest <= ORDINARY:
        return count, positives, unit
    return _in_units(count, largest), positives / largest, unit * largest


def _in_units(count: np.ndarray, unit: float) -> np.ndarray:
    """Return positive weights divided by a unit; raise if one would become 0."""
    multiple = count / unit
    if not np.all(multiple > 0):
        raise ValueError(f"expected weights within a factor of 1e308 of each other, found {count.min():g} and {unit:g}")
    return multiple


def _collapsed_in_arrays(key: np.ndarray, bits: np.ndarray, count: np.ndarray, positives: np.ndarray) -> int:
    label = key & np.uint64(1)
    of_row = key >> np.uint64(1)
    first = np.flatnonzero(np.append(True, of_row[1:] != of_row[:-1]))
    bits[: first.size] = of_row[first]
    count[: first.size] = np.diff(first, append=key.size)
    positives[: first.size] = np.add.reduceat(label, first)
    return first.size


@first_calls(1e-8, _collapsed_in_arrays)
@jit
def _collapse(key: np.ndarray, bits: np.ndarray, count: np.ndarray, positives: np.ndarray) -> int:
    """Summarise sorted keys, write the bits of the distinct predictions, and return how many there are.

    `bits` may be `key`: what is written lies before what is read.
    """
    m = 0
    previous = key[0] >> np.uint64(1)
    c = 0
    a = np.int64(0)
    for i in range(key.size):
        code = key[i]
        current = code >> np.uint64(1)
        if current != previous:
            bits[m] = previous
            count[m] = c
            positives[m] = a
            m += 1
            previous = current
            c = 0
            a = np.int64(0)
        c += 1
        a += np.int64(code & np.uint64(1))
    bits[m] = previous
    count[m] = c
    positives[m] = a
    return m + 1


@jit
def _merge(
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    other_value: np.ndarray,
    other_count: np.ndarray,
    other_positives: np.ndarray,
    all_values: np.ndarray,
    all_counts: np.ndarray,
    all_positives: np.ndarray,
) -> int:
    """Fill in the sums at the predictions of two samples, in one pass, and return how many are distinct."""
    i = j = m = 0
    while i < value.size or j < other_value.size:
        here = i < value.size and (j == other_value.size or value[i] <= other_value[j])
        there = j < other_value.size and (i == value.size or other_value[j] <= value[i])
        all_values[m] = value[i] if here else other_value[j]
        all_counts[m] = (count[i] if here else 0.0) + (other_count[j] if there else 0.0)
        all_positives[m] = (positives[i] if here else 0.0) + (other_positives[j] if there else 0.0)
        i, j, m = i + here, j + there, m + 1
    return m
