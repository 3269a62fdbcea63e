"""Shares, differences and ratios of groups in words, none of them overstated."""

from __future__ import annotations

import math

import numpy as np

from calibstat.digits import settled

ROUNDING = 1e-9  # of a number that is rounded up or down
GAP_ROUNDING = 1e-12  # a gap below it comes from rounding
SHARE_DIGITS = 4  # behind the point of a ratio


def rows_in_words(n: int | np.integer) -> str:
    """Write a number of rows."""
    return f"{n:,} {'row' if n == 1 else 'rows'}"


def percent(share: float, gap: float) -> str:
    """Write a share as a percentage, to the first digit in which a gap shows, and one below 1 % to two digits."""
    share, gap = settled(share), settled(gap)
    small = min(each for each in (gap, share / 10 if share < 0.01 else 1.0, 1.0) if each > GAP_ROUNDING)
    digits = min(max(-math.floor(math.log10(100 * small)), 0), 4)
    return f"{settled(100 * share):.{digits}f} %"


def points(share: float, away: int) -> str:
    """Write a share in points of a percentage, to two digits, rounded down (-1) or up (1), with its sign."""
    exact = 100 * settled(share)
    if abs(exact) <= GAP_ROUNDING:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(abs(exact))) - 1)
    rounded = (math.ceil(exact / unit - ROUNDING) if away > 0 else math.floor(exact / unit + ROUNDING)) * unit
    return f"{settled(rounded):+.6g}".replace("-", "−") if rounded else "0"


def least(share: float) -> str:
    """Write a share above 0 in points, to two digits, never rounded up."""
    number = points(share, -1).removeprefix("+")
    return f"{number} {'point' if number == '1' else 'points'}"


def ratio(value: float, away: int = 0) -> str:
    """Write a ratio: from 0.1 to 10 to two digits behind the point, and others to two digits or to the whole number.

    It is rounded down (-1), up (1) or to the nearest number.
    """
    if math.isinf(value):
        return "∞"
    value = settled(value)
    small = 0 < value < 0.1
    digits = min(1 - math.floor(math.log10(value)), SHARE_DIGITS) if small else 2 if value < 10 else 0
    exact = settled(value * 10**digits)
    whole = math.ceil(exact - ROUNDING) if away > 0 else math.floor(exact + ROUNDING) if away else round(exact)
    return f"{settled(whole / 10**digits):,.{digits}f}"


def between(low: float, high: float) -> str:
    """Write the ends of an interval of ratios, the low one never rounded up, nor the high one down."""
    return f"{ratio(low, -1)} to {ratio(high, 1)}"
