"""Exact p-values: the probability of all outcomes that are at least as extreme, one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

from exact.rows import Rows


def exact_pvalue(rows: Rows, statistic: Callable[[Rows], Fraction]) -> Fraction:
    """Return the probability of a statistic at least as large if every outcome has its predicted probability.

    All vectors of outcomes are gone through: 2**n of them for n rows, less those that a prediction of 0 or 1 forbids.
    """
    seen = statistic(rows)
    found = Fraction(0)
    choices = [[(y, q) for y, q in ((0, 1 - p), (1, p)) if q] for p in rows.p]
    for drawn in product(*choices):
        if statistic(Rows([y for y, _ in drawn], rows.p, rows.weights)) >= seen:
            found += prod((q for _, q in drawn), start=Fraction(1))
    return found
