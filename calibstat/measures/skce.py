"""Squared kernel calibration error of several classes jointly, with kernel k(p, p') times the identity matrix.

Every sum runs over pairs of rows i > j, tile by tile, so that no n x n array is stored. Predictions and
weights are passed column by column, shape (K, n), because the compiler then makes vector code over the rows j.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import ClassVar, TypeAlias

import numpy as np

from calibstat.bounds import mean_interval
from calibstat.bounds.embedding_interval import EmbeddingInterval
from calibstat.bounds.intervals import Interval, MappedInterval
from calibstat.bounds.laplace import signed_pairs
from calibstat.compiled import jit, short_calls, without_numba
from calibstat.data.checks import is_among, is_number, short
from calibstat.data.predictions import Predictions
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.multiclass_kinds import VectorStatistic
from calibstat.measures.kinds.population_value import VectorPopulation
from calibstat.measures.kinds.registry import measure

TILE_ROWS, COLUMNS = 8, 256  # a tile of the kernel: the first-level cache holds it
LABELS_A_STEP = 8  # labels of a row that are compared in the time of one class of the kernel
MOST_PAIRED = 2**12  # points of a continuous population whose pairs are summed: the first of a Sobol net
LARGEST_RESIDUAL = math.sqrt(2)  # the largest length of a one-hot label less a prediction
KEPT_ROWS = 2**12  # up to so many rows the matrix of all pairs is kept
Kernel: TypeAlias = tuple[bool, bool, float]  # whether it is Gaussian and its distance Euclidean, and its bandwidth
FINEST = 2.0**50  # kernel values become multiples of 1 / FINEST: a tile of them, each at most 2, adds up in 63 bits


def _row_in_arrays(
    prob: np.ndarray,
    weight: np.ndarray,
    i: int,
    first: int,
    kernel: Kernel,
    out: np.ndarray,
) -> None:
    gaussian, euclidean, bandwidth = kernel
    others = slice(first, first + out.size)
    apart = prob[:, others] - prob[:, i, None]
    distance = (apart**2).sum(axis=0) if euclidean else 0.5 * np.abs(apart).sum(axis=0)
    if gaussian:
        distance = 0.5 * distance / bandwidth
    elif euclidean:
        distance = np.sqrt(distance)
    out[:] = (weight[:, i] @ weight[:, others]) * np.exp(-distance / bandwidth)


@without_numba(_row_in_arrays)
@jit
def _row(
    prob: np.ndarray,
    weight: np.ndarray,
    i: int,
    first: int,
    kernel: Kernel,
    out: np.ndarray,
) -> None:
    """Fill `out` with k(p_i, p_j) <w_i, w_j> for j = first, first + 1, ..."""
    gaussian, euclidean, bandwidth = kernel
    distance = np.zeros(out.size)
    out[:] = 0.0
    for c in range(prob.shape[0]):
        own, others = prob[c, i], prob[c, first : first + out.size]
        if euclidean:
            for j in range(out.size):
                distance[j] += (others[j] - own) * (others[j] - own)
        else:
            for j in range(out.size):
                distance[j] += 0.5 * abs(others[j] - own)
    for c in range(weight.shape[0]):
        own, others = weight[c, i], weight[c, first : first + out.size]
        for j in range(out.size):
            out[j] += own * others[j]
    if gaussian:
        for j in range(out.size):
            out[j] *= math.exp(-0.5 * distance[j] / bandwidth / bandwidth)
    elif euclidean:
        for j in range(out.size):
            out[j] *= math.exp(-math.sqrt(distance[j]) / bandwidth)
    else:
        for j in range(out.size):
            out[j] *= math.exp(-distance[j] / bandwidth)


def pair_sums(prob: np.ndarray, weight: np.ndarray, size: int, kernel: Kernel) -> np.ndarray:
    """Return the sum of k(p_i, p_j) <w_i, w_j> over the pairs i > j of each whole block of `size` rows."""
    sums = np.zeros(prob.shape[1] // size)
    for strips in _strips(prob, size, len(prob)):
        _add_pairs(prob, weight, size, kernel, *strips, sums)
    return sums


def _strips(prob: np.ndarray, size: int, steps: int) -> list[tuple[int, int]]:
    """Cut all strips into calls of a kernel that takes so many steps for a pair of rows.

    A strip is the pairs of `COLUMNS` rows of a block with those below them. Strips count through all blocks.
    """
    of_block = -(-size // COLUMNS)
    return short_calls(prob.shape[1] // size * of_block, size * min(size, COLUMNS) * steps)


@jit
def _begin(strip: int, size: int) -> tuple[int, int]:
    """Return the first row of a strip, and the end of its block."""
    of_block = (size + COLUMNS - 1) // COLUMNS
    block = strip // of_block
    return block * size + strip % of_block * COLUMNS, (block + 1) * size


@jit
def _add_pairs(
    prob: np.ndarray,
    weight: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
    sums: np.ndarray,
) -> None:
    """Add what `pair_sums` returns of strips low..high."""
    row = np.empty(COLUMNS)
    for strip in range(low, high):
        first, stop = _begin(strip, size)
        block = first // size
        for i in range(first + 1, stop):
            part = row[: min(COLUMNS, i - first)]
            _row(prob, weight, i, first, kernel, part)
            sums[block] += part.sum()


def matched_sums(
    prob: np.ndarray,
    weight: np.ndarray,
    labels: np.ndarray,
    size: int,
    kernel: Kernel,
) -> np.ndarray:
    """Return the sum of k(p_i, p_j) <w_i, w_j> over the pairs i > j of equal label in all whole blocks of `size` rows.

    One sum for each row of `labels`, shape (B, n). The kernel is evaluated once for all of them.
    """
    sums = np.zeros(labels.shape[0])
    for strips in _strips(prob, size, len(prob) + len(labels) // LABELS_A_STEP):
        _add_matched(prob, weight, labels, size, kernel, *strips, sums)
    return sums


def _matched_in_arrays(
    prob: np.ndarray,
    weight: np.ndarray,
    labels: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
    sums: np.ndarray,
) -> None:
    for i, first, part in _parts(prob, weight, size, kernel, low, high):
        before = labels[:, first : first + part.size]
        sums += (before == labels[:, i, None]) @ (np.rint(part * FINEST) / FINEST)


def _parts(
    prob: np.ndarray,
    weight: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield each row of strips with the first row of its strip and what the kernel makes of it and the rows there."""
    for strip in range(low, high):
        first, stop = _begin(strip, size)
        for i in range(first + 1, stop):
            part = np.empty(min(COLUMNS, i - first))
            _row(prob, weight, i, first, kernel, part)
            yield i, first, part


@without_numba(_matched_in_arrays)
@jit
def _add_matched(
    prob: np.ndarray,
    weight: np.ndarray,
    labels: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
    sums: np.ndarray,
) -> None:
    """Add what `matched_sums` returns of strips low..high."""
    row = np.empty(COLUMNS)
    tile = np.empty((TILE_ROWS, COLUMNS), np.int64)
    for strip in range(low, high):
        first, stop = _begin(strip, size)
        for top in range(first, stop, TILE_ROWS):
            bottom = min(top + TILE_ROWS, stop)
            for i in range(top, bottom):
                part = row[: min(COLUMNS, i - first)]
                _row(prob, weight, i, first, kernel, part)
                for j in range(part.size):
                    tile[i - top, j] = np.int64(np.rint(part[j] * FINEST))
            for b in range(sums.size):
                label = labels[b]
                total = np.int64(0)
                for i in range(top, bottom):
                    last = min(first + COLUMNS, i)
                    total += np.int64(_agreeing(tile[i - top], label[first:last], label[i]))
                sums[b] += total / FINEST


@jit
def _agreeing(value: np.ndarray, label: np.ndarray, own: int) -> np.int64:
    """Add up the values with this label; sums of integers can be reordered into vector code by the compiler."""
    total = np.int64(0)
    for j in range(label.size):
        total += value[j] if label[j] == own else np.int64(0)
    return total


def signed_sums(predictions: Predictions, signs: np.ndarray, arguments: Kernel) -> np.ndarray:
    """Return the sum of s_i s_j k(p_i, p_j) <w_i, w_j> over the pairs i > j of residuals w, for every set of signs.

    The signs of a set are the bits of a row of `signs`, shape (B, n / 8), as packed by ``np.packbits``. Laplace kernels
    of two classes take one pass over the sorted predictions, others all pairs, for which the first signs are all equal.
    """
    prob, residual, n = columns(predictions.prob), residuals(predictions.prob, predictions.label), predictions.n
    gaussian, euclidean, bandwidth = arguments
    if len(prob) == 2 and not gaussian:
        value, part = (prob[1] - prob[0]) / 2, (residual[1] - residual[0]) / 2
        place = np.argsort(value, kind="stable")
        # with p = (1 - v, v) and w = (-r, r) the distance is abs(v - v'), or sqrt(2) times that, and <w, w'> is 2 r r'
        if euclidean:
            bandwidth /= math.sqrt(2)
        return 2 * signed_pairs(value[place], part[place], place, signs, bandwidth)
    labels = np.unpackbits(signs, axis=1, count=n)
    agreeing = matched_sums(prob, residual, labels, n, arguments)
    # the product of two signs is 1 where they agree and -1 elsewhere: twice the sum where they agree, less all of it
    return 2 * agreeing - agreeing[0]


def _smoothed(prob: np.ndarray, size: int, kernel: Kernel) -> np.ndarray:
    """Return the sum of k(p_i, p_j) p_j over the other rows j of the block of row i, shape (K, n)."""
    smoothed = np.zeros(prob.shape)
    for strips in _strips(prob, size, len(prob)):
        _add_smoothed(prob, size, kernel, *strips, smoothed)
    return smoothed


def _smoothed_in_arrays(
    prob: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
    smoothed: np.ndarray,
) -> None:
    one = np.ones((1, prob.shape[1]))
    for i, first, part in _parts(prob, one, size, kernel, low, high):
        before = slice(first, first + part.size)
        smoothed[:, i] += prob[:, before] @ part
        smoothed[:, before] += prob[:, i, None] * part


@without_numba(_smoothed_in_arrays)
@jit
def _add_smoothed(
    prob: np.ndarray,
    size: int,
    kernel: Kernel,
    low: int,
    high: int,
    smoothed: np.ndarray,
) -> None:
    """Add what `_smoothed` returns of strips low..high."""
    one = np.ones((1, prob.shape[1]))
    row = np.empty(COLUMNS)
    for strip in range(low, high):
        first, stop = _begin(strip, size)
        for i in range(first + 1, stop):
            part = row[: min(COLUMNS, i - first)]
            _row(prob, one, i, first, kernel, part)
            for c in range(prob.shape[0]):
                own = prob[c, i]
                total = 0.0
                for j in range(part.size):
                    total += part[j] * prob[c, first + j]
                for j in range(part.size):
                    smoothed[c, first + j] += part[j] * own
                smoothed[c, i] += total


@jit
def _fill_gram(prob: np.ndarray, weight: np.ndarray, first: int, kernel: Kernel, out: np.ndarray) -> None:
    """Fill `out` with k(p_i, p_j) <w_i, w_j> for i = first, first + 1, ... and all j."""
    for i in range(out.shape[0]):
        for start in range(0, out.shape[1], COLUMNS):
            part = out[i, start : start + COLUMNS]
            _row(prob, weight, first + i, start, kernel, part)


def gram_products(prob: np.ndarray, weight: np.ndarray, arguments: Kernel) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function that multiplies the matrix of k(p_i, p_j) <w_i, w_j> with columns, shape (n, B).

    The matrix is kept if it is small, else its rows are computed in blocks each time.
    """
    n = prob.shape[1]
    height = n if n <= KEPT_ROWS else max(KEPT_ROWS**2 // n, 1)

    def block(first: int) -> np.ndarray:
        out = np.empty((min(height, n - first), n))
        _fill_gram(prob, weight, first, arguments, out)
        return out

    if height == n:
        kept = block(0)
        return lambda columns: kept @ columns
    return lambda columns: np.concatenate([block(first) @ columns for first in range(0, n, height)])


def columns(prob: np.ndarray) -> np.ndarray:
    """Return the predictions column by column, in double precision."""
    return np.ascontiguousarray(prob.T, np.float64)


def residuals(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return one-hot labels minus predictions, column by column."""
    residual = -columns(prob)
    residual[label, np.arange(label.size)] += 1
    return residual


def kernel_arguments(kernel: str, distance: str, bandwidth: float) -> Kernel:
    """Check the options of the kernel and return them as arguments of the compiled functions."""
    if not is_among(kernel, ("laplace", "gaussian")):
        raise ValueError(f"expected kernel 'laplace' or 'gaussian', found {short(kernel)}")
    if not is_among(distance, ("total_variation", "euclidean")):
        raise ValueError(f"expected distance 'total_variation' or 'euclidean', found {short(distance)}")
    if kernel == "gaussian" and distance != "euclidean":
        raise ValueError(f"expected distance 'euclidean' with kernel 'gaussian', found {distance!r}")
    if not (is_number(bandwidth) and 0 < bandwidth < math.inf):
        raise ValueError(f"expected a bandwidth above 0, found {bandwidth!r}")
    return kernel == "gaussian", distance == "euclidean", float(bandwidth)


def check_blocks(statistic: str, block_size: int | str) -> None:
    """Raise a ValueError unless these options define which pairs of rows are summed."""
    if not is_among(statistic, ("V", "U", "block", "linear")):
        raise ValueError(f"expected statistic 'V', 'U', 'block' or 'linear', found {short(statistic)}")
    whole = isinstance(block_size, int | np.integer) and not isinstance(block_size, bool) and block_size >= 2
    if block_size != "square_root" and not whole:
        raise ValueError(f"expected block_size 'square_root' or a whole number of at least 2, found {block_size!r}")


def rows_of_block(n: int, statistic: str, block_size: int | str) -> int:
    """Return the number of rows of a block: n for the statistics of all pairs."""
    check_blocks(statistic, block_size)
    if statistic == "V":
        return n
    rows = {"U": n, "linear": 2, "block": max(2, math.isqrt(n)) if block_size == "square_root" else int(block_size)}
    least = max(2, rows[statistic])
    if n < least:
        raise ValueError(f"expected at least {least} rows for statistic {statistic!r}, found {n}")
    return rows[statistic]


def block_values(prob: np.ndarray, label: np.ndarray, size: int, arguments: Kernel) -> np.ndarray:
    """Return the U-statistic of each whole block of `size` rows."""
    return pair_sums(columns(prob), residuals(prob, label), size, arguments) * (2 / (size * (size - 1)))


@measure(
    "skce",
    title="Squared kernel calibration error",
    formula=r"\frac1{n^2} \sum_{i,j} k(p_i, p_j)\,(e_{y_i} - p_i)^\top (e_{y_j} - p_j)",
    reference="Widmann, Lindsten, Zachariah 2019, arXiv:1910.11385; of blocks, the same 2021, arXiv:2210.13355",
    bounds=(-2, 2),
    slow_above=0,
    continuous=True,
)
class SKCE(VectorStatistic):
    """The squared kernel calibration error: large where residual vectors of nearby predictions agree.

    Options: `kernel`, "laplace" for k = exp(-u) or "gaussian" for k = exp(-u²/2), u = d / bandwidth; `distance` d,
    "total_variation", half the sum of absolute differences, or "euclidean", the only one with the Gaussian kernel, as
    others are not known to give a valid kernel; `bandwidth`, above 0; `statistic`, "V" for the mean over all pairs
    of rows, which is at least 0; "U" for the mean over pairs of different rows, "block" for the mean of the
    U-statistics of consecutive blocks of `block_size` rows, "linear" for blocks of two: these three estimate the
    square without bias and may be negative; `block_size`, a whole number of at least 2 or "square_root" of the rows,
    rounded down, for "block" alone.

    "block" and "linear" depend on the order of the rows. As in the papers, they use whole blocks only: rows after the
    last block, fewer than `block_size`, are left out. If there is no whole block, as for fewer than two rows, a
    ValueError is raised.

    The honest interval of "V", "U" and "block" is the same, as they have the same limit: the squares of the ends of one
    for the root, which is a norm; its time is quadratic in n. The interval of "linear" is one for the mean of its
    blocks, at no more cost than the estimate, and several times wider.

    For two classes and total variation it is twice the square of `kernel_ce`. Exact. Cost: time quadratic in n ("V",
    "U"), n times `block_size` ("block"), linear ("linear"), each times the classes; memory linear in n times the
    classes.
    """

    why_no_weights: ClassVar[str] = "it is a mean over pairs of rows, whose moments are of pairs that count alike"

    kernel: str = "laplace"
    distance: str = "total_variation"
    bandwidth: float = 1.0
    statistic: str = "V"
    block_size: int | str = "square_root"

    def check(self) -> None:
        kernel_arguments(self.kernel, self.distance, self.bandwidth)
        check_blocks(self.statistic, self.block_size)

    @property
    def depends_on_order(self) -> bool:
        return self.statistic in ("block", "linear")  # blocks are of consecutive rows

    def population_value(self, population: VectorPopulation) -> float:
        """Return E k(p, p') <q - p, q' - p'> of two independent rows, the limit of every statistic."""
        weight, prob = population.weight, population.prob
        size = weight.size if population.finite else min(weight.size, MOST_PAIRED)
        share = weight[:size] / weight[:size].sum()
        residual = columns(share[:, None] * (population.chance - prob)[:size])
        arguments = kernel_arguments(self.kernel, self.distance, self.bandwidth)
        pairs = pair_sums(columns(prob[:size]), residual, size, arguments)[0]
        return float(2 * pairs + (residual**2).sum())  # two independent rows may be at one point

    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        arguments = kernel_arguments(self.kernel, self.distance, self.bandwidth)
        n = label.size
        size = rows_of_block(n, self.statistic, self.block_size)
        if self.statistic != "V":
            return float(block_values(prob, label, size, arguments).mean())
        residual = residuals(prob, label)
        total = 2 * pair_sums(columns(prob), residual, size, arguments)[0] + (residual**2).sum()
        return max(float(total), 0.0) / n**2  # only rounding makes it negative

    @property
    def honest(self) -> Honest:
        return "own"

    def interval(self, predictions: Predictions) -> Interval:
        """Return the mean of many blocks of two rows, else the square of a norm in the space of the kernel.

        All statistics have the same limit. A block may be worth up to 2, so that the mean of few has a wide interval.
        """
        prob, label = predictions.prob, predictions.label
        arguments = kernel_arguments(self.kernel, self.distance, self.bandwidth)
        if self.statistic == "linear":
            size = rows_of_block(predictions.n, self.statistic, self.block_size)
            values = block_values(prob, label, size, arguments)
            return mean_interval.of_vector_losses(str(self), values, lambda: values, self.info.bounds)
        products = gram_products(columns(prob), residuals(prob, label), arguments)
        root = EmbeddingInterval(products, predictions, LARGEST_RESIDUAL)
        return MappedInterval(self.evaluate(prob, label), root, np.square)

    def batch(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the measure for each row of labels, shape (B, n).

        With e_y one-hot, <e_y - p, e_z - q> = 1[y = z] - p_z - q_y + <p, q>. Summed over ordered pairs, the last term
        is the same for all labels and the two before it take the smoothed predictions of each row's own label alone,
        so that only the pairs of equal label have to be summed anew.
        """
        arguments = kernel_arguments(self.kernel, self.distance, self.bandwidth)
        n, classes = prob.shape
        size = rows_of_block(n, self.statistic, self.block_size)
        used = n // size * size
        by_column, rows = columns(prob), np.arange(used)
        small = labels.astype(np.min_scalar_type(classes - 1))
        total = 2 * matched_sums(by_column, np.ones((1, n)), small, size, arguments)
        near = _smoothed(by_column, size, arguments)
        if self.statistic == "V":  # a row and itself, at distance 0
            near += by_column
            total += n
        total += (near * by_column).sum() - 2 * np.array([near[label[:used], rows].sum() for label in labels])
        if self.statistic == "V":
            return np.maximum(total, 0) / n**2
        return total / (used * (size - 1))
