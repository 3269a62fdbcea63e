"""Blocks of neighbouring days, which are clusters of days that depend on each other."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import described, refuse_lazy, short
from calibstat.data.days.order_of_labels import places
from calibstat.data.numbered_labels import as_labels, missing

FEWEST_DAYS = 20  # two for each block
FEWEST_BLOCKS = 10  # with fewer, intervals of clusters are not studied


def blocks(day: ArrayLike) -> np.ndarray:
    """Return the number of the block of neighbouring days of each row, for ``cluster=cs.blocks(day)``.

        >>> import calibstat as cs
        >>> import numpy as np
        >>> day = np.arange("2026-01-01", "2028-01-01", dtype="datetime64[D]")
        >>> block = cs.blocks(day)
        >>> len(day), len(set(block.tolist()))
        (730, 32)
        >>> sorted(set(np.bincount(block).tolist()))  # days of a block
        [22, 23]

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
    """
    refuse_lazy("day", day)
    labels = as_labels("day", day)
    if labels.ndim != 1:
        raise ValueError(f"expected one day a row, shape (n,), found {described(day)}")
    if (gone := missing(labels)).any():
        raise ValueError(f"expected no missing days, found one at row {int(np.argmax(gone))}")
    place = places(_whole_days(labels)) if labels.size else labels
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


def _without_order(labels: np.ndarray) -> str:
    """Name the first label in an error, and the first one of another type; say how text becomes dates."""
    found = labels.tolist()
    other = next((row for row, label in enumerate(found) if type(label) is not type(found[0])), None)
    beside = "" if other is None else f" and {short(found[other], 40)} at row {other}"
    advice = "; pandas.to_datetime(day) makes dates of text" if isinstance(found[0], str) else ""
    return f"{short(found[0], 40)} at row 0{beside}{advice}"
