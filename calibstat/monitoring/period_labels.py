"""Names of periods: text, whole numbers or dates, each of which occurs once, in one spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import Any

import numpy as np

from calibstat.data.checks import is_whole, short

Label = int | str

MONTH = re.compile(r"\d{4}-\d{2}")
WEEK = re.compile(r"(\d{4})-?W(\d{2})")
DAYS = range(19000101, 22000101)  # whole numbers that may be meant as days, 20261122


def as_label(period: object) -> Label:
    """Return a period as a whole number or text, a date in one spelling of ISO 8601.

    A time with a zone is brought to UTC, a time at midnight is its day, and so is a whole number such as 20261122.
    """
    if isinstance(period, np.datetime64):
        period = period.astype("datetime64[us]").item()
    if isinstance(period, date) and period == period:  # no NaT
        return _spelled(period)
    if is_whole(period, -(2**63)):
        return _day_of(int(period))
    if isinstance(period, str) and period:
        return _spelled_text(str(period))
    raise ValueError(f"expected a period as text, a whole number or a date; found {short(period)}")


def date_of(label: str) -> datetime:
    """Return the date that text in ISO 8601 names, of a month or week its first day; a ValueError if it is none.

    A time with a zone is brought to UTC, and has none then.
    """
    moment = datetime.fromisoformat(f"{label}-01" if MONTH.fullmatch(label) else label)
    return moment if moment.tzinfo is None else _in_utc(moment)


def wider(label: Label) -> tuple[str, ...]:
    """Return the months and weeks that share days with a period: of a day or time both, of a week its months."""
    if not isinstance(label, str) or MONTH.fullmatch(label):
        return ()
    try:
        first = date_of(label)
        last = date.fromisocalendar(*first.isocalendar()[:2], 7)
    except ValueError:  # no date, or the last week of 9999
        return ()
    if not WEEK.fullmatch(label):
        return _month(first), _week(first)
    return tuple(sorted({_month(first), _month(last)}))


def new_label(period: object, known: Mapping[Label, Any], holding: Mapping[str, Label], n: int) -> Label:
    """Return the name of a period that follows n others, by default n + 1.

    It must be new, and share no day with a period of another length; `holding` has the months and weeks in which known
    periods lie.
    """
    label = n + 1 if period is None else as_label(period)
    other = same_days(label, known, holding)
    if other == label:
        raise ValueError(
            f"expected a new period, found {label!r} again: a period is fed once, when it is complete; add the "
            "summaries of its parts first, summarize(...) + summarize(...)"
        )
    if other is not None:
        raise ValueError(f"expected a new period, found {label!r}, which shares days with {other!r}, fed before")
    return label


def same_days(label: Label, known: Mapping[Label, Any], holding: Mapping[str, Label]) -> Label | None:
    """Return the known period that is this one, or shares days with it; None if it is new."""
    if label in known:
        return label
    longer = [each for each in wider(label) if each in known]
    return longer[0] if longer else holding.get(str(label)) if isinstance(label, str) else None


def _spelled(moment: date) -> str:
    """Return a date, or a time in UTC without its zone, at midnight without the time."""
    if not isinstance(moment, datetime):
        return moment.isoformat()
    if moment.tzinfo is not None:
        moment = _in_utc(moment)
    return (moment.date() if moment.time() == datetime.min.time() else moment).isoformat()


def _spelled_text(text: str) -> str:
    week = WEEK.fullmatch(text.strip())
    if week:
        return f"{week[1]}-W{week[2]}"
    try:
        return text.strip() if MONTH.fullmatch(text.strip()) else _spelled(datetime.fromisoformat(text.strip()))
    except ValueError:  # any other name
        return text


def _day_of(number: int) -> Label:
    """Return a whole number, or the day that it names."""
    if number in DAYS:
        try:
            return date.fromisoformat(str(number)).isoformat()
        except ValueError:
            return number
    return number


def _in_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        raise ValueError(f"expected a time from year 1 to 9999, found {moment.isoformat()}") from None


def _month(day: date) -> str:
    return f"{day.year:04}-{day.month:02}"


def _week(day: date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"
