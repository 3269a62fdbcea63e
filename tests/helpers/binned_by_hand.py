"""Binned errors row by row, as the tests of the five papers take them: slow, and straight from the definitions."""

from fractions import Fraction

import numpy as np


def even_bin(v, bins):
    """The bin of a number, from 0: bin b is (b / bins, (b + 1) / bins], the first closed at 0."""
    return next(b for b in range(bins) if v <= (b + 1) / bins or b == bins - 1)


def adaptive_bins(values, bins):
    """The bins of distinct numbers: cuts after the rank that is nearest to b n / bins, of two the smaller."""
    n = len(values)
    cuts = [min(range(n + 1), key=lambda rank: (abs(rank - Fraction(b * n, bins)), rank)) for b in range(1, bins)]
    rank = np.argsort(np.argsort(values))
    return [sum(r >= cut for cut in cuts) for r in rank]


def in_bins(hits, values, bin_of_row):
    """The share of rows, the frequency of hits and the mean value of each bin that holds rows."""
    found = []
    for b in sorted(set(bin_of_row)):
        rows = [i for i, each in enumerate(bin_of_row) if each == b]
        hit, value = (sum(float(column[i]) for i in rows) / len(rows) for column in (hits, values))
        found.append((len(rows) / len(values), hit, value))
    return found


def binned_error(hits, values, bins, power=1):
    """The mean over even bins of the gap between frequency and mean value to a power, and its root."""
    cells = in_bins(hits, values, [even_bin(v, bins) for v in values])
    return sum(share * abs(hit - value) ** power for share, hit, value in cells) ** (1 / power)


def hits_and_confidence(label, prob):
    """Whether the most likely class of each row was observed, and its probability."""
    top = [max(range(len(row)), key=lambda k: row[k]) for row in prob]  # of equal ones the first
    return [int(t == y) for t, y in zip(top, label, strict=True)], [row[t] for row, t in zip(prob, top, strict=True)]
