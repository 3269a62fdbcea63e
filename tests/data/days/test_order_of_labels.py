"""The order of labels: numbers, dates and periods have one, and text, booleans and mixtures have none."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from calibstat.data.days.order_of_labels import places

DATE, MOMENT = datetime.date(2026, 1, 3), datetime.datetime(2026, 1, 3, 12)


def objects(*entries):
    """An array of objects, one for each entry."""
    array = np.empty(len(entries), object)
    array[:] = entries
    return array


@pytest.mark.parametrize(
    "labels",
    [
        np.array([5, 2, 9, 2]), np.array([0.5, -np.inf, 7, -np.inf]), np.array([5, 2, 9, 2], "datetime64[D]"),
        np.array([5, 2, 9, 2], "timedelta64[h]"), objects(5, 2.5, Decimal(9), 2.5), objects(10**30, 1, 10**31, 1),
        objects(DATE, DATE.replace(day=1), DATE.replace(year=2027), DATE.replace(day=1)),
        objects(MOMENT, MOMENT.replace(hour=1), pd.Timestamp("2026-01-04"), MOMENT.replace(hour=1)),
        np.asarray(pd.PeriodIndex(["2026-02", "2026-01", "2026-03", "2026-01"], freq="M")),
    ],
)  # fmt: skip
def test_places_by_hand(labels):
    assert places(labels).tolist() == [1, 0, 2, 0]


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["1", "2"]), np.array([b"1"]), np.array([True, False]), np.array([1 + 1j]), objects("a", "b"),
        objects(1, "a"), objects(2, True), objects(DATE, MOMENT), objects(DATE, 1), objects([1], [2]), objects({1}, 2),
        objects(pd.Timestamp("2026-01-01"), pd.Timestamp("2026-01-01", tz="UTC")),
        objects(pd.Period("2026-01", freq="M"), pd.Period("2026-01-01", freq="D")), objects((1, 2), (3, 4)),
    ],
)  # fmt: skip
def test_labels_without_an_order(labels):
    assert places(labels) is None
