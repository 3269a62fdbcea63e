"""Errors over bins."""

from __future__ import annotations

from fractions import Fraction

from exact.decimals import Real, root
from exact.rows import Rows, cells_of, total


def gaps(rows: Rows, options: dict) -> list[tuple[Fraction, Fraction]]:
    """Return the share of the rows of each bin and the gap between its mean outcome and its mean prediction."""
    cells = [total(cell) for cell in cells_of(rows.levels(), **options)]
    return [(cell.count / rows.n, abs(cell.residual) / cell.count) for cell in cells]


def ece(rows: Rows, **options: object) -> Fraction:
    """Return the mean gap."""
    return sum((share * gap for share, gap in gaps(rows, options)), Fraction(0))


def rmsce(rows: Rows, **options: object) -> Real:
    """Return the root of the mean square of the gaps."""
    return root(sum((share * gap**2 for share, gap in gaps(rows, options)), Fraction(0)))


def mce(rows: Rows, **options: object) -> Fraction:
    """Return the largest gap."""
    return max(gap for _, gap in gaps(rows, options))


def average_ce(rows: Rows, **options: object) -> Fraction:
    """Return the unweighted mean of the gaps of bins that hold rows."""
    found = [gap for _, gap in gaps(rows, options)]
    return sum(found, Fraction(0)) / len(found)


def ece_width(rows: Rows, n_bins: int = 15) -> Fraction:
    """Return the mean gap plus the width of a bin."""
    return ece(rows, n_bins=n_bins) + Fraction(1, n_bins)


def ece_debiased(rows: Rows, variant: str = "unbiased", **options: object) -> Real:
    """Return the signed root of the mean square of the gaps less its bias; bins of one row are left out."""
    square = Fraction(0)
    for cell in cells_of(rows.levels(), **options):
        whole = total(cell)
        if whole.count < 2:
            continue
        gap, rate = whole.residual / whole.count, whole.ones / whole.count
        spread = sum(level.square for level in cell) / whole.count - gap**2
        variance = spread if variance_of_residuals(variant) else rate * (1 - rate)
        square += whole.count / rows.n * (gap**2 - variance / (whole.count - 1))
    found = root(abs(square))
    return found if square >= 0 else -found


def variance_of_residuals(variant: str) -> bool:
    """Whether the bias is the variance of the residuals, and not of the outcomes."""
    return {"unbiased": True, "kumar": False}[variant]


def t_cal_squared_error(rows: Rows, n_bins: int = 15) -> Fraction:
    """Return the sum over bins of (squared sum of residuals - sum of their squares) / rows, over n."""
    cells = cells_of(rows.levels(), n_bins)
    parts = [(total(cell).residual ** 2 - sum(x.square for x in cell)) / total(cell).count for cell in cells]
    return sum(parts, Fraction(0)) / rows.n
