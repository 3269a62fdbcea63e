"""Names of periods: text, whole numbers or dates, each of which occurs once."""

from __future__ import annotations

import re
from collections.abc import Container
from datetime import date, datetime
from typing import Any

import numpy as np

from calibstat.data.checks import is_whole, short

Label = int | str


def as_label(period: Any) -> Label:
    """Return a period as a whole number or text; a date as in ISO 8601, without the time at midnight."""
    if isinstance(period, np.datetime64):
        period = period.astype("datetime64[us]").item()
    if isinstance(period, datetime) and period == period:  # no NaT
        midnight = period.tzinfo is None and period.time() == datetime.min.time()
        return period.date().isoformat() if midnight else period.isoformat()
    if isinstance(period, date) and period == period:
        return period.isoformat()
    if is_whole(period, -(2**63)):
        return int(period)
    if isinstance(period, str) and period:
        return str(period)
    raise ValueError(f"expected a period as text, a whole number or a date; found {short(period)}")


def date_of(label: str) -> datetime:
    """Return the date that text in ISO 8601 names, of a month or week its first day; a ValueError if it is none."""
    return datetime.fromisoformat(f"{label}-01" if re.fullmatch(r"\d{4}-\d{2}", label) else label)


def new_label(period: Any, known: Container[Label], n: int) -> Label:
    """Return the name of a period that follows n others, by default n + 1; it must be new."""
    label = n + 1 if period is None else as_label(period)
    if label in known:
        raise ValueError(
            f"expected a new period, found {label!r} again: a period is fed once, when it is complete; add the "
            "summaries of its parts first, summarize(...) + summarize(...)"
        )
    return label
