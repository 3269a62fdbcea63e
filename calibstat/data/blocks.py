"""Days in a row: blocks of neighbouring days as clusters, and how alike neighbouring clusters are."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import described, is_real, refuse_lazy, short
from calibstat.data.numbered_labels import as_labels, missing

FEWEST_DAYS = 20  # two for each block
FEWEST_BLOCKS = 10  # with fewer, intervals of clusters are not studied
FEWEST_NEIGHBOURS = 10  # clusters of which neighbours are compared


def blocks(day: ArrayLike) -> np.ndarray:
    """Return the number of the block of neighbouring days of each row, for ``cluster=cs.blocks(day)``.

    Days in a row are often alike: a wet week, a strike. Blocks of many days hardly depend on each other.

    Parameters
    ----------
    day : array_like, shape (n,)
        The day of each row, in any order: numbers, or dates of NumPy, pandas or `datetime`, of which a time of day is
        left out. A period of pandas that is longer than a day counts as one.

    Returns
    -------
    ndarray of int64, shape (n,)
        Numbers from 0, ascending in time.

    Raises
    ------
    ValueError
        If there are fewer than 20 different days, a day is missing, or days have no order, as text has none.

    Notes
    -----
    D different days make max(10, floor(0.4 D**(2/3))) blocks [1]_, of which no two differ by more than one day. Days
    without a row are not counted: a block has neighbours among the days that are there. Cost: O(n log n).

    References
    ----------
    .. [1] Lazarus, Lewis, Stock, Watson (2018), HAR inference: recommendations for practice, Journal of Business &
       Economic Statistics. doi:10.1080/07350015.2018.1506926

    Examples
    --------
    >>> import calibstat as cs
    >>> import numpy as np
    >>> day = np.arange("2026-01-01", "2028-01-01", dtype="datetime64[D]")
    >>> block = cs.blocks(day)
    >>> len(day), len(set(block.tolist()))
    (730, 32)
    >>> sorted(set(np.bincount(block).tolist()))  # days of a block
    [22, 23]
    """
    refuse_lazy("day", day)
    labels = as_labels("day", day)
    if labels.ndim != 1:
        raise ValueError(f"expected one day a row, shape (n,), found {described(day)}")
    if (gone := missing(labels)).any():
        raise ValueError(f"expected no missing days, found one at row {int(np.argmax(gone))}")
    place = _places(_whole_days(labels)) if labels.size else labels
    if place is None:
        raise ValueError(f"expected days as numbers or as dates, which have an order, found {_without_order(labels)}")
    days = int(place.max()) + 1 if place.size else 0
    if days < FEWEST_DAYS:
        raise ValueError(
            f"expected at least {FEWEST_DAYS} days to make blocks of, found {days}; cluster=day takes each day as a "
            "cluster, which is right where days do not depend on each other"
        )
    return (place * number_of_blocks(days) // days).astype(np.int64)


def number_of_blocks(days: int) -> int:
    """Return max(10, floor(0.4 days**(2/3))), in whole numbers: of 1000 days the root would be rounded to below 40."""
    number = FEWEST_BLOCKS
    while 125 * (number + 1) ** 3 <= 8 * days**2:
        number += 1
    return number


class Neighbours(NamedTuple):
    """The correlation of what neighbouring clusters add, and the limit of what chance shows."""

    correlation: float
    limit: float

    @property
    def alike(self) -> bool:
        """Whether neighbours are more alike than chance makes clusters that do not depend on each other."""
        return self.correlation > self.limit

    @property
    def sentence(self) -> str:
        """The sentence on clusters whose neighbours are alike, with the way out; "" of others."""
        if not self.alike:
            return ""
        found = f"correlation {self.correlation:.2f}"
        return f"Neighbouring clusters are alike ({found}): use cluster=cs.blocks(day)."


def correlation_of_neighbours(total: ArrayLike, size: ArrayLike, label: ArrayLike) -> Neighbours | None:
    """Return the correlation of what each cluster adds with what the next one adds, in the order of their labels.

    Cluster c of `size` m_c, with the sum `total` Y_c, adds X_c = Y_c - m_c t, t = sum(Y) / sum(m), which sums to 0. The
    correlation is sum(X_c X_{c+1}) / sum(X_c**2). Of G clusters that do not depend on each other it is about normal
    with standard deviation 1 / sqrt(G), so that the limit, 2 / sqrt(G), is passed in 2 % of samples.

    Parameters
    ----------
    total, size : array_like, shape (G,)
        Sum of the rows of each cluster, and their number or the sum of their weights.
    label : array_like, shape (G,)
        The label of each cluster, in any order of clusters, none twice.

    Returns
    -------
    Neighbours or None
        None if labels have no order, as text has none, if there are fewer than 10 clusters, or if all have one mean.
    """
    y, m = np.asarray(total, np.float64), np.asarray(size, np.float64)
    place = _places(as_labels("label", label))
    if place is None or y.size < FEWEST_NEIGHBOURS:
        return None
    added = np.empty(y.size)
    added[place] = y - m * (y.sum() / m.sum())
    squares = float(added @ added)
    if squares <= (1e-12 * float(np.abs(y).sum())) ** 2:  # nothing but rounding is left
        return None
    return Neighbours(float(added[1:] @ added[:-1]) / squares, 2 / math.sqrt(y.size))


def _whole_days(labels: np.ndarray) -> np.ndarray:
    """Return days without a time of day; other labels as they are."""
    if labels.dtype.kind == "M":
        return labels.astype("datetime64[D]")
    if labels.dtype.kind != "O":
        return labels
    try:
        known = {label: _day_of(label) for label in set(labels.tolist())}
    except TypeError:  # a label without a hash
        return labels
    days = np.empty(labels.size, object)
    days[:] = [known[label] for label in labels.tolist()]
    return days


def _day_of(label: Any) -> Any:
    """Return the date of a moment, and the first of a period of pandas; another label as it is."""
    label = getattr(label, "start_time", label)
    return label.date() if isinstance(label, datetime) else label


def _places(labels: np.ndarray) -> np.ndarray | None:
    """Return the place of each label in their order, from 0, the same of equal ones; None if they have no order."""
    import pandas as pd

    if labels.dtype.kind in "iufmM":
        return np.unique(labels, return_inverse=True)[1]
    if labels.dtype.kind != "O":
        return None
    try:
        code, names = pd.factorize(labels)
        return np.unique(names, return_inverse=True)[1][code] if _have_order(names.tolist()) else None
    except (TypeError, ValueError):  # without a hash; dates with and without a time or a zone; periods of two lengths
        return None


def _have_order(labels: list[Any]) -> bool:
    """Whether all labels are numbers, all are dates, or all are periods of pandas."""
    import pandas as pd

    if all(is_real(label) and not isinstance(label, bool | np.bool_) for label in labels):
        return True
    return any(all(isinstance(label, kind) for label in labels) for kind in (date, pd.Period))


def _without_order(labels: np.ndarray) -> str:
    """Name the first label in an error, and the first one of another type; say how text becomes dates."""
    found = labels.tolist()
    other = next((row for row, label in enumerate(found) if type(label) is not type(found[0])), None)
    beside = "" if other is None else f" and {short(found[other], 40)} at row {other}"
    advice = "; pandas.to_datetime(day) makes dates of text" if isinstance(found[0], str) else ""
    return f"{short(found[0], 40)} at row 0{beside}{advice}"
