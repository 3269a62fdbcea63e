"""Computed numbers for text, with the same digits on every processor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import SupportsFloat

SIGNIFICANT = 9
ROUNDING = 1e-12


def settled(number: SupportsFloat) -> float:
    """Return a number rounded to nine significant digits, so that its last bits do not decide how a text rounds it.

    What lies below 0 by rounding alone is 0. Whole numbers stay what they are, because they count something.
    """
    number = float(number)
    if -ROUNDING < number < 0:
        return 0.0
    if not math.isfinite(number) or number == round(number):
        return number
    return float(f"{number:.{SIGNIFICANT}g}")


def writer(form: str) -> Callable[[SupportsFloat], str]:
    """Return a function that writes settled numbers in a form, such as ".3g"."""
    return lambda number: format(settled(number), form)
