"""Smooth deviations from calibration: orthogonal components, their likelihood-ratio roots, and sums of these.

They are the components of an adaptive Neyman test (Ledwina 1994, doi:10.1080/01621459.1994.10476834) in the
information that the predictions carry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibstat.compiled import first_calls, jit

FEWEST, MOST_COMPONENTS = 16, 64  # components
PER_ROOT_INFORMATION = 8.0  # components for each unit of the root of the information
CHEAP, PENALTY = 20, 0.2  # sums of more components than these are worth less by this
VANISHES = 1e-3  # of the norm of a function, below which what is left of it is not the same on every processor
LOGIT = 1e-6  # predictions are at least this far from 0 and 1 where logits are taken
TILTS = np.sinh(np.linspace(0, 5, 31)[1:]) / 4  # at which the roots are computed; with both signs, and 0


@dataclass(frozen=True)
class Components:
    """Components of the residuals over cells, fixed before labels are seen.

    Attributes
    ----------
    basis : ndarray, shape (m, D)
        Functions of the cells, orthonormal in the information; those that ties leave nothing of are 0.
    score, root : ndarray, shape (D, 61)
        Ascending values of a component, and its root at each.
    """

    basis: np.ndarray
    score: np.ndarray
    root: np.ndarray

    @classmethod
    def of(cls, time: np.ndarray, value: np.ndarray, count: np.ndarray) -> Components:
        """Return the components for cells at these times, with predictions strictly between 0 and 1."""
        information = count * value * (1 - value)
        size = int(np.clip(np.floor(PER_ROOT_INFORMATION * np.sqrt(information.sum())), FEWEST, MOST_COMPONENTS))
        clipped = np.clip(value, LOGIT, 1 - LOGIT)
        waves = np.cos(np.pi * np.arange(1, size - 1)[:, None] * time)
        basis = orthonormal(np.vstack([np.ones_like(time), np.log(clipped / (1 - clipped)), waves]), information)
        score, root = roots(basis, value, count)
        return cls(basis, score, root)

    def leading(self, number: int) -> Components:
        """Return the first so many components, whose roots are those that they have among all."""
        return Components(np.ascontiguousarray(self.basis[:, :number]), self.score[:number], self.root[:number])

    def roots_of(self, residual: np.ndarray) -> np.ndarray:
        """Return the root of each component, shape (B, D), of sums of residuals in cells, shape (B, m)."""
        return interpolated(products(residual, self.basis), self.score, self.root)


# Sums of products are compiled here and not left to BLAS: its threads wait for each other on a busy machine, and its
# results depend on how many draws come together. The innermost loop goes along memory and becomes vector code.


def orthonormal(functions: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return functions, shape (D, m), made orthonormal in the weighted sum by Gram and Schmidt, each twice: (m, D)."""
    basis = np.zeros_like(functions)
    for k, left in enumerate(functions):
        before = _norm(weight, left)
        for _ in range(2):
            left = left - np.einsum("i,ij->j", _sums(basis[:k], weight * left), basis[:k])
        after = _norm(weight, left)
        if after > VANISHES * before:
            basis[k] = left / after
    return np.ascontiguousarray(basis.T)


def _norm(weight: np.ndarray, function: np.ndarray) -> float:
    return math.sqrt(float(np.einsum("j,j,j->", weight, function, function)))


def products(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the matrix product."""
    n, entries = rows.shape
    pairs, fours = n + n % 2, -(-entries // 4) * 4
    products = np.zeros((pairs, columns.shape[1]))
    _add_products(_with_zeros(rows, pairs, fours), _with_zeros(columns, fours, columns.shape[1]), products)
    return products[:n]


def _with_zeros(matrix: np.ndarray, *shape: int) -> np.ndarray:
    """Return the matrix with as many more rows and columns of zeros as make it this large."""
    if matrix.shape == shape:
        return matrix
    larger = np.zeros(shape)
    larger[: matrix.shape[0], : matrix.shape[1]] = matrix
    return larger


def _products_in_arrays(rows: np.ndarray, columns: np.ndarray, products: np.ndarray) -> None:
    for entry, column in zip(rows.T, columns, strict=True):
        products += entry[:, None] * column


@first_calls(lambda rows, columns, products: len(columns) * (1.6e-6 + 4e-10 * products.size), _products_in_arrays)
@jit
def _add_products(rows: np.ndarray, columns: np.ndarray, products: np.ndarray) -> None:
    """Add the matrix product of an even number of rows of a multiple of four entries, in the order of their entries.

    Two rows at a time read each of the columns once, and four entries at a time read and write each sum once.
    """
    for b in range(0, rows.shape[0], 2):
        one, other = products[b], products[b + 1]
        x, y = rows[b], rows[b + 1]
        for j in range(0, rows.shape[1], 4):
            c, d, e, f = columns[j], columns[j + 1], columns[j + 2], columns[j + 3]
            for k in range(columns.shape[1]):
                one[k] = one[k] + x[j] * c[k] + x[j + 1] * d[k] + x[j + 2] * e[k] + x[j + 3] * f[k]
                other[k] = other[k] + y[j] * c[k] + y[j + 1] * d[k] + y[j + 2] * e[k] + y[j + 3] * f[k]


def roots(
    basis: np.ndarray, value: np.ndarray, count: np.ndarray, scale: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return values of each component, ascending, and the signed root of the likelihood ratio at each.

    Let K(t) be the sum over cells of count (log(1 - v + v exp(t b)) - t b v). If all logits are moved by t b, the
    component is K'(t) where that is most likely, and the root there is sign(t) sqrt(2 (t K'(t) - K(t))). Each pair t
    and -t shares its exponential functions, whose arguments are kept below 0. The tilts t of each component are
    multiplied by `scale`, which is 1 by default.
    """
    cells, size = basis.shape
    score, root = np.zeros((2, size, 2 * TILTS.size + 1))
    e, total, inverse = np.empty((3, TILTS.size, cells))
    for k, b in enumerate(basis.T):
        tilts = TILTS if scale is None else TILTS * scale[k]
        up = b > 0
        u, rest = np.where(up, value, 1 - value), np.where(up, 1 - value, value)  # 1 - u would lose small values
        size_of, moved = np.abs(b), count * b * value
        np.exp(np.multiply(-tilts[:, None], size_of, out=e), out=e)
        for sign, first, second in ((1, u, rest), (-1, rest, u)):
            grows = up if sign > 0 else ~up  # the argument of the exponential is positive: divided by it
            np.add(np.multiply(e, second, out=total), first, out=total)
            np.divide(1.0, total, out=inverse)
            x = _sums(inverse, np.where(grows, moved, 0.0))
            x += _sums(np.multiply(e, inverse, out=inverse), np.where(grows, 0.0, moved)) - moved.sum()
            cumulant = _sums(np.log(total, out=total), count)
            cumulant += tilts * (count[grows] @ size_of[grows] - sign * moved.sum())
            at = TILTS.size + sign * np.arange(1, TILTS.size + 1)
            score[k, at] = x
            root[k, at] = sign * np.sqrt(np.maximum(2 * (sign * tilts * x - cumulant), 0.0))
    return score, root


def _sums(table: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the weighted sum of each row."""
    return np.einsum("tj,j->t", table, weight)


def interpolated(x: np.ndarray, score: np.ndarray, root: np.ndarray) -> np.ndarray:
    """Read the root of each component at its value; it stays what it is at both ends."""
    value = np.empty_like(x)
    _interpolate(x, score, root, value)
    return value


def _interpolated_in_arrays(x: np.ndarray, score: np.ndarray, root: np.ndarray, value: np.ndarray) -> None:
    for k, (z, known, at) in enumerate(zip(x.T, score, root, strict=True)):
        low = np.clip(np.searchsorted(known, z, "right") - 1, 0, known.size - 2)
        step = known[low + 1] - known[low]
        share = np.where(step > 0.0, (z - known[low]) / step, 0.0)
        value[:, k] = at[low] + np.clip(share, 0.0, 1.0) * (at[low + 1] - at[low])


@first_calls(5e-8, _interpolated_in_arrays)
@jit
def _interpolate(x: np.ndarray, score: np.ndarray, root: np.ndarray, value: np.ndarray) -> None:
    """Fill in the roots."""
    last = score.shape[1] - 1
    for k in range(x.shape[1]):
        for b in range(x.shape[0]):
            z = x[b, k]
            low, left = 0, last
            while left > 1:  # halved without a branch, which would be mispredicted every other time
                half = left // 2
                low += half * (score[k, low + half] <= z)
                left -= half
            high = low + 1
            step = score[k, high] - score[k, low]
            share = (z - score[k, low]) / step if step > 0.0 else 0.0
            value[b, k] = root[k, low] + min(max(share, 0.0), 1.0) * (root[k, high] - root[k, low])


def standardised_sums(root: np.ndarray) -> np.ndarray:
    """Return the standardised sums of the first 2, 3, ... squared roots, of shape (B, D - 1) for roots of (B, D)."""
    d = np.arange(1, root.shape[1] + 1)
    sums = np.cumsum(root * root, axis=1)
    sums -= d
    sums /= np.sqrt(2 * d)
    sums -= PENALTY * (d > CHEAP)
    return sums[:, 1:]
