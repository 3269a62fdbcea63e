"""Errors that are sums of residuals: over ranges of predictions, and over pairs of rows by kernels."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from exact.decimals import Real, decimal, root
from exact.rows import Rows


def ks(rows: Rows) -> Fraction:
    """Return the largest absolute sum of residuals of predictions up to a threshold, over n."""
    running, largest = Fraction(0), Fraction(0)
    for _, residual in rows.residuals():
        running += residual
        largest = max(largest, abs(running))
    return largest


def kuiper(rows: Rows) -> Fraction:
    """Return the largest absolute sum of residuals over a range of predictions, over n."""
    found = [residual for _, residual in rows.residuals()]
    return max(abs(sum(found[i:j], Fraction(0))) for i in range(len(found)) for j in range(i + 1, len(found) + 1))


def decision_loss(rows: Rows) -> Fraction:
    """Return the largest gain by acting from another threshold on, over every range of predictions.

    Who acts from t on gains y - t of a row. Acting on a range too gains most if t is just above its largest
    prediction, not acting on it if t is its smallest.
    """
    levels, best = rows.levels(), Fraction(0)
    for i in range(len(levels)):
        for j in range(i, len(levels)):
            count, ones = (sum(getattr(x, name) for x in levels[i : j + 1]) for name in ("count", "ones"))
            best = max(best, ones - levels[j].value * count, levels[i].value * count - ones)
    return best / rows.n


def two_bin_ce(rows: Rows) -> Real:
    """Return the root of the mean product of residuals times 1 - |u - v|, over all pairs of rows."""
    found = rows.residuals()
    return root(sum((r * s * (1 - abs(u - v)) for u, r in found for v, s in found), Fraction(0)))


def similarity(distance: Real, kernel: str, bandwidth: float) -> Decimal:
    """Return exp(-u) or exp(-u**2 / 2) of a distance of u bandwidths."""
    u = decimal(distance) / decimal(Fraction(bandwidth))
    return (-u).exp() if kernel == "laplace" else (-u * u / 2).exp()


def kernel_ce(rows: Rows, kernel: str = "laplace", bandwidth: float = 1.0) -> Decimal:
    """Return the root of the mean product of residuals times a kernel, over all pairs of rows."""
    found = rows.residuals()
    return sum(decimal(r * s) * similarity(abs(u - v), kernel, bandwidth) for u, r in found for v, s in found).sqrt()


def kernel_ce_squared(rows: Rows, kernel: str = "laplace", bandwidth: float = 1.0) -> Decimal:
    """Return the mean product of residuals times a kernel over pairs of different rows; 0 of one row."""
    each = [(p, y - p) for y, p in zip(rows.y, rows.p, strict=True)]
    pairs = [(a, b) for i, a in enumerate(each) for j, b in enumerate(each) if i != j]
    if not pairs:
        return Decimal(0)
    return sum(decimal(r * s) * similarity(abs(u - v), kernel, bandwidth) for (u, r), (v, s) in pairs) / len(pairs)
