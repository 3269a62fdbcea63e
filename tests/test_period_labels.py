"""Names of periods: text, whole numbers and dates."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest

from calibstat.monitoring.period_labels import as_label, date_of, new_label


@pytest.mark.parametrize(
    ("period", "label"),
    [
        ("first", "first"),
        (7, 7),
        (np.int64(-3), -3),
        (date(2026, 11, 22), "2026-11-22"),
        (datetime(2026, 11, 22), "2026-11-22"),
        (datetime(2026, 11, 22, 6, 30), "2026-11-22T06:30:00"),
        (datetime(2026, 11, 22, tzinfo=UTC), "2026-11-22T00:00:00+00:00"),
        (pd.Timestamp("2026-11-22"), "2026-11-22"),
        (np.datetime64("2026-11-22"), "2026-11-22"),
        (np.datetime64("2026-11-22T06:30:00", "ns"), "2026-11-22T06:30:00"),
    ],
)
def test_labels(period, label):
    assert as_label(period) == label
    assert type(as_label(period)) is type(label)


@pytest.mark.parametrize("period", [True, 1.5, "", None, float("nan"), pd.NaT, np.datetime64("NaT"), ["a"]])
def test_other_values_are_refused(period):
    with pytest.raises(ValueError, match="expected a period as text, a whole number or a date; found"):
        as_label(period)


def test_text_that_names_a_date():
    assert date_of("2026-11") == date_of("2026-11-01") == datetime(2026, 11, 1)
    assert date_of("2026-W09") == datetime(2026, 2, 23)
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        date_of("May")


def test_a_period_is_new():
    assert new_label(None, {"a": 0}, 1) == 2
    assert new_label("b", {"a": 0}, 1) == "b"
    with pytest.raises(ValueError, match=r"found '2026-11-22' again: .* add the summaries of its parts first"):
        new_label(date(2026, 11, 22), {"2026-11-22": 0}, 1)
