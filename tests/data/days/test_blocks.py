"""Blocks of neighbouring days: nearly equal, in order, of days of every kind, and errors."""

import datetime
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import calibstat as cs
from calibstat.data.days.blocks import number_of_blocks

DAYS = np.arange("2026-01-01", "2028-01-01", dtype="datetime64[D]")


def rooted(days):
    """The largest whole number that is at most 0.4 days**(2/3), by its cube, in fractions."""
    return max(k for k in range(100) if Fraction(5 * k, 2) ** 3 <= days**2)


def faults(day, block):
    """What is wrong with blocks of days: a day in two, blocks out of order or with gaps, or unequal ones."""
    days = sorted(set(day))
    of = {each: {int(b) for d, b in zip(day, block, strict=True) if d == each} for each in days}
    if any(len(each) > 1 for each in of.values()):
        return "a day in two blocks"
    numbers = [min(of[each]) for each in days]
    if any(later - earlier not in (0, 1) for earlier, later in pairwise(numbers)) or numbers[0] != 0:
        return "not neighbours"
    sizes = np.bincount(numbers)
    return "unequal" if sizes.max() - sizes.min() > 1 else ""


@given(st.data())
def test_blocks_are_of_neighbouring_days_and_nearly_equal(data):
    days = data.draw(st.lists(st.integers(-500, 500) | st.floats(-9, 9), min_size=20, max_size=150, unique=True))
    day = data.draw(st.permutations(days + data.draw(st.lists(st.sampled_from(days), max_size=30))))
    block = cs.blocks(day)
    assert faults(day, block) == ""
    assert block.max() + 1 == max(10, rooted(len(days)))
    order = data.draw(st.permutations(range(len(day))))
    assert np.array_equal(cs.blocks(np.array(day, float)[order]), block[order])


@pytest.mark.parametrize(
    ("day", "block", "fault"),
    [
        (range(4), [0, 1, 1, 0], "not neighbours"),
        (range(4), [1, 1, 2, 2], "not neighbours"),
        (range(4), [0, 0, 2, 2], "not neighbours"),
        (range(7), [0, 0, 0, 0, 0, 1, 1], "unequal"),
        ([1, 1, 2], [0, 1, 1], "a day in two blocks"),
        ([2, 1, 2, 0], [1, 0, 1, 0], ""),
    ],
)
def test_blocks_that_are_wrong_are_found(day, block, fault):
    assert faults(day, block) == fault


def test_the_number_of_blocks():
    """0.4 D**(2/3): of 730 days 32.43, of 365 20.4, of 100 8.6; of 125 and 1000, 25 and 100, exactly 10 and 40."""
    assert [number_of_blocks(days) for days in (20, 100, 125, 365, 730, 999, 1000)] == [10, 10, 10, 20, 32, 39, 40]
    assert [number_of_blocks(days) for days in range(125, 2000, 97)] == [rooted(days) for days in range(125, 2000, 97)]


def test_two_years_make_32_blocks_of_23_or_22_days():
    """730 = 26 x 23 + 6 x 22."""
    block = cs.blocks(DAYS)
    assert (block.dtype, block.shape) == (np.int64, (730,))
    assert sorted(np.bincount(block)) == [22] * 6 + [23] * 26
    assert np.all(np.diff(block) >= 0)


@pytest.mark.parametrize(
    "form",
    [
        list, pd.Series, pd.DatetimeIndex, lambda day: pd.PeriodIndex(day, freq="D"), lambda day: day.astype(object),
        lambda day: pd.DatetimeIndex(day).tz_localize("Europe/Berlin"), lambda day: pd.Series(day).astype("category"),
        lambda day: day.astype("datetime64[ns]") + np.arange(730) % 24 * np.timedelta64(1, "h"),
        lambda day: [datetime.datetime(2026, 1, 1, 23) + datetime.timedelta(k) for k in range(730)],
        lambda day: pd.period_range("2026-01-01T07", periods=730, freq="24h"),
        lambda day: np.arange(730) - 400.5, lambda day: pd.array(range(730), dtype="Int64"),
        lambda day: np.arange(730) * np.timedelta64(1, "D"), lambda day: [10**20 * k for k in range(730)],
    ],
)  # fmt: skip
def test_days_of_every_kind(form):
    assert np.array_equal(cs.blocks(form(DAYS)), cs.blocks(DAYS))


def test_days_without_a_row_are_not_counted():
    some = DAYS[::7]
    assert np.array_equal(cs.blocks(some), cs.blocks(range(len(some))))


@pytest.mark.parametrize(
    ("day", "message"),
    [
        (range(12), "expected at least 20 days to make blocks of, found 12; cluster=day takes each day as a cluster"),
        ([3] * 40, "at least 20 days .* found 1;"),
        ([], "at least 20 days .* found 0;"),
        (DAYS[:3].astype("datetime64[h]") + np.arange(24)[:, None] * np.timedelta64(1, "h"), "one day a row, shape"),
        ((DAYS[:3].astype("datetime64[h]") + np.arange(24)[:, None] * np.timedelta64(1, "h")).ravel(), "found 3;"),
        (["2026-01-01"] * 40, r"have an order, found '2026-01-01' at row 0; pandas.to_datetime\(day\) makes dates"),
        (np.arange(40) > 3, "as numbers or as dates, which have an order, found False at row 0$"),
        ([datetime.date(2026, 1, 1), 7] * 20, r"found datetime.date\(2026, 1, 1\) at row 0 and 7 at row 1$"),
        ([*range(30), float("nan")], "expected no missing days, found one at row 30"),
        ([*DAYS[:3].tolist(), None], "expected no missing days, found one at row 3"),
        (pd.to_datetime(["2026-01-01", None]), "expected no missing days, found one at row 1"),
        (np.ma.masked_array(range(30), np.arange(30) == 4), "found a masked entry in days at row 4"),
        (5, r"expected one day a row, shape \(n,\), found int 5"),
        (np.zeros((30, 2)), r"expected one day a row, shape \(n,\), found ndarray of shape \(30, 2\)"),
        ([[1], [2, 3]], "found list of length 2 with entries of different shapes"),
        ([1 + 1j] * 30, "which have an order"),
        ([len] * 30, "which have an order"),
    ],
)
def test_days_that_make_no_blocks(day, message):
    with pytest.raises(ValueError, match=message):
        cs.blocks(day)


def test_blocks_are_clusters_of_every_question():
    world = cs.generators.calibrated()
    y, p = world.sample(730, rng=1)
    test = cs.calibration_test(y, p, measure="ks", cluster=cs.blocks(np.arange(730)[::-1]), n_resamples=9, rng=1)
    assert "32 clusters of 22 to 23 rows" in " ".join(str(test.null_hypothesis).split())
