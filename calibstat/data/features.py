"""Columns of a data frame as levels: texts as they are, numbers cut at quantiles, dates cut into calendar periods."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_CEILING, Context, Decimal
from itertools import pairwise
from numbers import Number

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checks import need_text, short
from calibstat.data.numbered_labels import missing as missing_of

MOST_PERIODS = 36  # of a column of dates: the finest of day, month, quarter and year with no more
CATEGORIES = ("categor", "enum")  # names of types of columns that are taken as they are, numbers too
PLAIN_DIGITS = 16  # digits of a number that is written without an exponent


def levels(
    name: str, column: ArrayLike, n_quantiles: int, count: np.ndarray | None = None
) -> tuple[list[str], np.ndarray]:
    """Return the names in words of the levels of a column, and the number of the level of each row.

    What is cut depends on the values of the column alone. Missing values are the last level. `count` says how many rows
    have each value, by default one.
    """
    values, missing = values_of(name, column)
    kept, code = values[~missing], np.empty(values.size, np.int64)
    names: list[str] = []
    if kept.size and kept.dtype.kind == "M":
        periods, code[~missing] = _periods(kept)
        names = [f"{name} = {period}" for period in periods]
    elif kept.size:
        number = np.ones(values.size) if count is None else count
        cut = _numbers(name, kept, number[~missing], n_quantiles) if kept.dtype.kind in "iuf" else _texts(name, kept)
        names, code[~missing] = cut
    code[missing] = len(names)
    return names + [f"{name} missing"] * bool(missing.any()), code


def values_of(name: str, column: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the values of a column as numbers, dates or what they are, and which are missing."""
    values = np.asarray(column)
    if values.ndim != 1:
        raise ValueError(f"expected columns of different names, found {short(name)} more than once")
    if values.dtype.kind in "mc":
        raise ValueError(f"expected text, booleans, numbers or dates in column {short(name)}, found {values.dtype}")
    missing = missing_of(values)
    if str(getattr(column, "dtype", "")).lower().startswith(CATEGORIES):
        return values.astype(object), missing
    kept = values[~missing].tolist() if values.dtype.kind == "O" else []
    if kept and all(isinstance(value, date) for value in kept):
        filled = np.full(values.size, "NaT", "datetime64[D]")
        filled[~missing] = [value.isoformat()[:10] for value in kept]  # the date where the clock was
        return filled, missing
    if kept and all(isinstance(value, Number) and not isinstance(value, bool | complex) for value in kept):
        filled = np.full(values.size, np.nan)
        filled[~missing] = kept
        return filled, missing
    return values, missing


def _texts(name: str, values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Every value is a level."""
    import pandas as pd

    need_text(f"column {short(name)}", values)
    code, levels = pd.factorize(np.array([str(value) for value in values.tolist()], object), sort=True)
    return [f"{name} = {level}" for level in levels], code


def _numbers(name: str, values: np.ndarray, number: np.ndarray, n_quantiles: int) -> tuple[list[str], np.ndarray]:
    """Every value is a level if there are few, else they are cut at quantiles, of which some may be equal."""
    distinct, code = np.unique(values, return_inverse=True)
    if distinct.size <= n_quantiles:
        return [f"{name} = {shortest(value, value)}" for value in distinct], code
    share = np.cumsum(np.bincount(code, number)) / number.sum()
    last = np.searchsorted(share, np.arange(1, n_quantiles) / n_quantiles - 1e-12)  # of the values up to each cut
    last = np.unique(np.minimum(last, distinct.size - 2))  # where most values are the largest, a cut below that
    cuts = [shortest(distinct[k], np.nextafter(float(distinct[k + 1]), -np.inf)) for k in last]
    between = [f"{a} < {name} <= {b}" for a, b in pairwise(cuts)]
    return [f"{name} <= {cuts[0]}", *between, f"{name} > {cuts[-1]}"], np.searchsorted(last, code)


def shortest(low: np.integer | np.floating, high: float) -> str:
    """Write a number from `low` to `high` with few digits: a cut there does the same, and its name is exact."""
    number = Decimal(repr(low.item()))
    for digits in range(1, 18) if number.is_finite() else ():
        text = f"{Context(digits, ROUND_CEILING).create_decimal(number).normalize() + 0:f}"  # + 0: no -0
        if low <= float(text) <= high and len(text) < PLAIN_DIGITS:
            return text
    return repr(low.item())


def _periods(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the periods that occur: the finest of days, months, quarters and years that makes no more than 36."""
    for unit in "DMQY":
        number = values.astype(f"datetime64[{unit.replace('Q', 'M')}]").astype(np.int64) // (3 if unit == "Q" else 1)
        distinct, code = np.unique(number, return_inverse=True)
        if distinct.size <= MOST_PERIODS:
            break
    if unit == "Q":
        return [f"{1970 + q // 4} Q{q % 4 + 1}" for q in distinct.tolist()], code
    return np.datetime_as_string(distinct.astype(f"datetime64[{unit}]")).tolist(), code
