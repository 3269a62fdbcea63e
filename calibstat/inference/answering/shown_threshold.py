"""The confidence from which on answers are shown to be wrong seldom enough, over all confidences looked at."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.number_of_events import most_likely_tail
from calibstat.in_order import is_larger
from calibstat.inference.answering.answered_rows import AnsweredRows


def shown_threshold(seen: AnsweredRows, most: float, miss: float) -> int | None:
    """Return the place of the smallest confidence that is shown to have errors of at most `most`; None if none is.

    Confidences are tested one after the other from the largest on, each by the exact binomial test of what is answered
    from it on. Tests begin anew at several starts, each of which brings an equal part of `miss`; a confidence that
    passes hands the level of its test on to the next one, and one that fails leaves nothing.

    Statement and argument: docs/evidence/proofs/error-threshold.md.
    """
    sizes = starts(int(seen.n), most, miss)
    first = np.searchsorted(seen.answered, sizes)
    end_of = np.append(first, seen.answered.size)[1:]
    level, last = 0.0, None
    for begin, end in zip(first, end_of, strict=False):
        level += miss / len(sizes)
        answered = seen.answered[begin:end]
        tail = most_likely_tail(answered - seen.errors[begin:end], answered, np.full(answered.size, 1 - most))
        failed = np.flatnonzero(is_larger(tail, level))
        passed = int(failed[0]) if failed.size else answered.size
        last = int(begin) + passed - 1 if passed else last
        level = 0.0 if failed.size else level
    return last


def starts(n: int, most: float, miss: float) -> list[int]:
    """Return the numbers of rows at which tests begin, ascending: all, half, a quarter ... of the rows.

    Not so few that they could not pass even if none is wrong, and none if all rows are so few.
    """
    sizes: list[int] = []
    size = n
    while size and not is_larger((1 - most) ** size, miss / (len(sizes) + 1)):
        sizes.insert(0, size)
        size //= 2
    return sizes


def least_rows(most: float, miss: float) -> int:
    """Return the least number of rows of which any confidence could be shown, if none of them is wrong."""
    rows = int(np.log(miss) / np.log1p(-most))
    return rows if starts(rows, most, miss) else rows + 1
