"""Statistics and p-values of classical tests, by the limit distributions that they are defined by."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from exact.decimals import (
    Real,
    brownian_maximum,
    brownian_range,
    chi_square_tail,
    decimal,
    normal_tail,
    root,
)
from exact.rows import Rows, cells_of
from exact.sums_of_residuals import ks, kuiper


def groups(rows: Rows, n_groups: int, strategy: str) -> list[Fraction]:
    """Return (observed - expected)**2 / variance of each group."""
    cells = cells_of(rows.levels(), n_groups, strategy)
    return [sum(x.residual for x in c) ** 2 / sum(x.count * x.value * (1 - x.value) for x in c) for c in cells]


def hosmer_lemeshow(rows: Rows, n_groups: int = 10, strategy: str = "quantile") -> Fraction:
    """Return the sum over groups of (observed - expected)**2 / variance."""
    return sum(groups(rows, n_groups, strategy), Fraction(0))


def hosmer_lemeshow_pvalue(
    rows: Rows, n_groups: int = 10, strategy: str = "quantile", fitted_params: int = 0
) -> Decimal:
    """Return the tail of chi-square with as many degrees of freedom as groups, less 2 if two or more were fitted."""
    found = groups(rows, n_groups, strategy)
    return chi_square_tail(decimal(sum(found, Fraction(0))), len(found) - min(fitted_params, 2))


def spiegelhalter_z(rows: Rows) -> Real:
    """Return the sum of (y - v) (1 - 2 v) over the root of the sum of (1 - 2 v)**2 v (1 - v)."""
    above = sum(x.residual * (1 - 2 * x.value) for x in rows.levels())
    variance = sum(x.count * (1 - 2 * x.value) ** 2 * x.value * (1 - x.value) for x in rows.levels())
    return decimal(above) / decimal(root(variance))


def spiegelhalter_pvalue(rows: Rows) -> Decimal:
    """Return the two-sided p-value of z."""
    return 2 * normal_tail(abs(decimal(spiegelhalter_z(rows))))


def in_sigmas(rows: Rows, error: Fraction) -> Decimal:
    """Return an error in units of the root of the variance of the mean residual."""
    return decimal(error * rows.n) / decimal(sum(x.count * x.value * (1 - x.value) for x in rows.levels())).sqrt()


def ks_pvalue(rows: Rows) -> Decimal:
    """Return the probability that a Brownian motion goes further than the cumulative residuals."""
    return brownian_maximum(in_sigmas(rows, ks(rows)))


def kuiper_pvalue(rows: Rows) -> Decimal:
    """Return the probability that a Brownian motion has a larger range than the cumulative residuals."""
    return brownian_range(in_sigmas(rows, kuiper(rows)))


def logit(v: Fraction) -> Decimal:
    """Return the log-odds."""
    return (decimal(v) / decimal(1 - v)).ln()


def line(rows: Rows, fitted_slope: bool) -> tuple[Decimal, Decimal]:
    """Return the maximum likelihood intercept and slope of the log-odds, or slope 1: Newton's method with halved steps.

    It starts from the predictions themselves, and stops where the gradient has no digit left that is stored.
    """
    levels = [(logit(x.value), decimal(x.count), decimal(x.ones)) for x in rows.levels()]
    a, b = Decimal(0), Decimal(1)

    def likelihood(a: Decimal, b: Decimal) -> Decimal:
        return sum(ones * (a + b * x) - count * (1 + (a + b * x).exp()).ln() for x, count, ones in levels)

    for _ in range(200):
        rate = [1 / (1 + (-(a + b * x)).exp()) for x, _, _ in levels]
        left = [(x, ones - count * q, count * q * (1 - q)) for (x, count, ones), q in zip(levels, rate, strict=True)]
        g, h = sum(r for _, r, _ in left), sum(r * x for x, r, _ in left)
        if abs(g) + (abs(h) if fitted_slope else 0) < Decimal(10) ** -80:
            return a, b
        if abs(b) > 50:
            break
        w, wx, wxx = (sum(v * x**k for x, _, v in left) for k in range(3))
        determinant = w * wxx - wx * wx
        step = ((wxx * g - wx * h) / determinant, (w * h - wx * g) / determinant) if fitted_slope else (g / w, 0)
        size, before = Decimal(1), likelihood(a, b)
        while likelihood(a + size * step[0], b + size * step[1]) < before - Decimal(10) ** -90:
            size /= 2
        a, b = a + size * step[0], b + size * step[1]
    raise ArithmeticError("no maximum was found: the predictions separate the outcomes")


def calibration_in_the_large(rows: Rows) -> Decimal:
    """Return the intercept of the log-odds if the slope is 1."""
    return line(rows, False)[0]


def cox_intercept(rows: Rows) -> Decimal:
    """Return the intercept of the log-odds beside the slope."""
    return line(rows, True)[0]


def cox_slope(rows: Rows) -> Decimal:
    """Return the slope of the log-odds."""
    return line(rows, True)[1]


def cox_pvalue(rows: Rows) -> Decimal:
    """Return the p-value of the likelihood ratio of that line and the predictions, with 2 degrees of freedom."""
    a, b = line(rows, True)
    gain = Decimal(0)
    for x in rows.levels():
        at = logit(x.value)
        moved = a + b * at
        gain += decimal(x.ones) * (moved - at) - decimal(x.count) * ((1 + moved.exp()) / (1 + at.exp())).ln()
    return chi_square_tail(2 * gain, 2)
