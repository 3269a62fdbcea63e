"""Names of periods: text, whole numbers and dates."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest

from calibstat.monitoring.period_labels import as_label, date_of, new_label, wider


@pytest.mark.parametrize(
    ("period", "label"),
    [
        ("first", "first"),
        (7, 7),
        (np.int64(-3), -3),
        (date(2026, 11, 22), "2026-11-22"),
        (datetime(2026, 11, 22), "2026-11-22"),
        (datetime(2026, 11, 22, 6, 30), "2026-11-22T06:30:00"),
        (datetime(2026, 11, 22, tzinfo=UTC), "2026-11-22"),
        (pd.Timestamp("2026-11-22T06:30", tz="Asia/Tokyo"), "2026-11-21T21:30:00"),
        ("May", "May"),
        ("day 1", "day 1"),
        ("7", "7"),
        ("2026-1-2", "2026-1-2"),
        ("2026-13", "2026-13"),
        ("2026-02-30", "2026-02-30"),
        ("0001-01-01T00:00+01:00", "0001-01-01T00:00+01:00"),  # a year before the first
        (202611, 202611),
        (20261322, 20261322),
        (18991231, 18991231),
        (pd.Timestamp("2026-11-22"), "2026-11-22"),
        (np.datetime64("2026-11-22"), "2026-11-22"),
        (np.datetime64("2026-11-22T06:30:00", "ns"), "2026-11-22T06:30:00"),
    ],
)
def test_labels(period, label):
    assert as_label(period) == label
    assert type(as_label(period)) is type(label)


@pytest.mark.parametrize("period", [True, 1.5, "", None, float("nan"), pd.NaT, np.datetime64("NaT", "D"), ["a"]])
def test_other_values_are_refused(period):
    with pytest.raises(ValueError, match="expected a period as text, a whole number or a date; found"):
        as_label(period)


@pytest.mark.parametrize(
    "spellings",
    [
        [
            *("2026-01-12", "2026-01-12 00:00:00", "2026-01-12T00:00", "2026-01-12T00:00:00Z", "20260112", 20260112),
            *("2026-01-12T01:00+01:00", "2026-01-11T19:00:00.000-05:00", " 2026-01-12 ", "2026-W03-1", "2026W031"),
            *(np.int64(20260112), date(2026, 1, 12), datetime(2026, 1, 12), pd.Timestamp("2026-01-12", tz="UTC")),
            np.datetime64("2026-01-12T00:00:00", "ns"),
        ],
        ["2026-01-11T23:30", "2026-01-12T00:30+01:00", "2026-01-11T23:30+00:00", "2026-01-11 23:30:00Z"],
        ["2026-W03", "2026W03", " 2026-W03"],
        ["2026-01", "2026-01 "],
    ],
)
def test_a_period_has_one_name_in_all_spellings(spellings):
    assert {as_label(spelling) for spelling in spellings} == {as_label(spellings[0])}
    for spelling in spellings:
        with pytest.raises(ValueError, match=r"expected a new period, found .* again"):
            new_label(spelling, {as_label(spellings[0]): 0}, {}, 1)
        assert as_label(as_label(spelling)) == as_label(spelling)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026-01", "2026-01-01"),
        ("2026-01", "2026-01-31T23:30"),
        ("2026-01", "2026-W01"),
        ("2025-12", "2026-W01"),
        ("2026-W03", "2026-01-18"),
        ("2026-W03", 20260112),
    ],
)
def test_a_part_of_a_period_is_not_another_one(one, other):
    for first, second in ((one, other), (other, one)):
        label = as_label(first)
        holding = dict.fromkeys(wider(label), label)
        with pytest.raises(ValueError, match=r"expected a new period, found .*, which shares days with '.*', fed "):
            new_label(second, {label: 0}, holding, 1)


def test_periods_beside_each_other_are_different():
    known, holding = {}, {}
    for n, period in enumerate(["2026-01", "2026-02-01", "2026-W07", "2026-02-16", "2026-02-16T01:00", "9999-W52"]):
        label = new_label(period, known, holding, n)
        known[label] = 0
        holding |= dict.fromkeys(wider(label), label)
    assert list(known) == ["2026-01", "2026-02-01", "2026-W07", "2026-02-16", "2026-02-16T01:00:00", "9999-W52"]


def test_text_that_names_a_date():
    assert date_of("2026-11") == date_of("2026-11-01") == datetime(2026, 11, 1)
    assert date_of("2026-W09") == datetime(2026, 2, 23)
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        date_of("May")


def test_a_period_is_new():
    assert new_label(None, {"a": 0}, {}, 1) == 2
    assert new_label("b", {"a": 0}, {}, 1) == "b"
    with pytest.raises(ValueError, match=r"found '2026-11-22' again: .* add the summaries of its parts first"):
        new_label(date(2026, 11, 22), {"2026-11-22": 0}, {}, 1)
