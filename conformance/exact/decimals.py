"""Functions that fractions do not have, in decimal arithmetic of 120 digits, of which 40 are stored."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction

getcontext().prec = 120
Real = Fraction | Decimal
ENOUGH = Decimal(10) ** -110  # terms below this change no stored digit


def decimal(x: Real | int) -> Decimal:
    """Return a number as a decimal."""
    return Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction | int) else x


def root(x: Real) -> Real:
    """Return the square root: a fraction if it is one."""
    if isinstance(x, Fraction):
        over, under = decimal(x.numerator).sqrt(), decimal(x.denominator).sqrt()
        if over == int(over) and under == int(under):
            return Fraction(int(over), int(under))
    return decimal(x).sqrt()


def entropy_term(share: Fraction, of: Fraction) -> Decimal:
    """Return -share * log(of), with 0 log 0 = 0; infinite if what is certain not to happen has a share."""
    if share == 0:
        return Decimal(0)
    return -decimal(share) * decimal(of).ln() if of else Decimal("Infinity")


def pi() -> Decimal:
    """Return pi, by Machin's formula."""

    def arctan_of_inverse(n: int) -> Decimal:
        power, total, k = Decimal(1) / n, Decimal(0), 0
        while power > ENOUGH:
            total += power / (2 * k + 1) * (-1) ** k
            power /= n * n
            k += 1
        return total

    return 4 * (4 * arctan_of_inverse(5) - arctan_of_inverse(239))


PI = pi()


def erfc(x: Decimal) -> Decimal:
    """Return the complementary error function of x >= 0, by a series of which no term is negative."""
    term = total = x
    k = 0
    while term > ENOUGH:
        k += 1
        term *= 2 * x * x / (2 * k + 1)
        total += term
    return 1 - 2 / PI.sqrt() * (-x * x).exp() * total


def normal_tail(z: Decimal) -> Decimal:
    """Return the probability that a standard normal variable exceeds z."""
    half = erfc(abs(z) / Decimal(2).sqrt()) / 2
    return half if z >= 0 else 1 - half


def chi_square_tail(x: Decimal, df: int) -> Decimal:
    """Return the probability that a chi-square variable of whole degrees of freedom exceeds x, in closed form."""
    half = x / 2
    if df % 2 == 0:
        term, total = Decimal(1), Decimal(0)
        for k in range(df // 2):
            total += term
            term *= half / (k + 1)
        return total * (-half).exp()
    total, term = erfc(half.sqrt()), (-half).exp() * half.sqrt() * 2 / PI.sqrt()  # half^(1/2) / Gamma(3/2)
    for k in range(1, (df - 1) // 2 + 1):
        total += term
        term *= half / (k + Decimal(1) / 2)
    return total


def brownian_maximum(x: Decimal) -> Decimal:
    """Return the probability that a Brownian motion on [0, 1] exceeds x in absolute value: a series of normal tails."""
    total, k = Decimal(0), 0
    while True:
        tail = normal_tail((2 * k + 1) * x)
        total += 4 * (-1) ** k * tail
        k += 1
        if tail < Decimal(10) ** -60:
            return total


def brownian_range(x: Decimal) -> Decimal:
    """Return the probability that a Brownian motion on [0, 1] has a range above x (Feller 1951)."""
    total, k = Decimal(0), 1
    while True:
        tail = k * normal_tail(k * x)
        total += 8 * (-1) ** (k - 1) * tail
        k += 1
        if tail < Decimal(10) ** -60:
            return total
