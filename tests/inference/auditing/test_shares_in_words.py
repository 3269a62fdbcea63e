"""Shares, differences and ratios in words: enough digits, and none overstated."""

import math

import pytest

from calibstat.inference.auditing.shares_in_words import between, least, percent, points, ratio, rows_in_words


@pytest.mark.parametrize(
    ("share", "gap", "text"),
    [
        (0.123, 0.07, "12 %"),
        (0.123, 0.007, "12.3 %"),
        (0.0004, 0.0003, "0.040 %"),
        (0.003, 0, "0.30 %"),
        (0.02, 0, "2 %"),
        (1, 0, "100 %"),
        (0, 1e-9, "0.0000 %"),
    ],
)
def test_percentages(share, gap, text):
    assert percent(share, gap) == text


def test_bounds_are_never_overstated():
    assert [least(x) for x in (0.0317, 0.03, 0.1299, 0.01)] == ["3.1 points", "3 points", "12 points", "1 point"]
    assert [points(x, -1) for x in (-0.0123, 0.0)] == ["−1.3", "0"]
    assert [points(x, 1) for x in (0.0345, -0.0123, 1.0)] == ["+3.5", "−1.2", "+100"]
    assert between(1.2345, 2.2222) == "1.23 to 2.23"
    assert between(0.0, math.inf) == "0.00 to ∞"
    assert [ratio(x, 1) for x in (2.0, 2.001, 12.1, 0.0123, 1e-9)] == ["2.00", "2.01", "13", "0.013", "0.0001"]
    assert [ratio(x, -1) for x in (2.009, 12.9, 0.0129, 1e-9)] == ["2.00", "12", "0.012", "0.0000"]
    assert [ratio(x) for x in (0.456, 12.6, 12345.6, 0.01268)] == ["0.46", "13", "12,346", "0.013"]


def test_rows():
    assert [rows_in_words(n) for n in (1, 1234)] == ["1 row", "1,234 rows"]
