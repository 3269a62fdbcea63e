"""T-Cal: an exact test by the debiased squared calibration error at several numbers of bins."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self, Unpack

import numpy as np

from calibstat import resampling
from calibstat.classical.binary_input import binary_input
from calibstat.compiled import jit
from calibstat.data.checked_rows import AboutRows, Data
from calibstat.data.checks import short
from calibstat.data.lenses import AnyLens
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.in_order import first_smallest
from calibstat.inference.designs.question_of_rows import question
from calibstat.inference.p_values import tie
from calibstat.measures.bins import uniform_cells
from calibstat.resampling.rng import Rng
from calibstat.result import Result, read_only


@dataclass(frozen=True, eq=False)
class TCalResult(Result):
    """Result of `t_cal`.

    Attributes
    ----------
    statistic : float
        The smallest p-value of a single scale.
    pvalue : float
        Probability, if the null hypothesis holds, of a smallest p-value at most as large. Never 0.
    pvalue_error : float
        Monte Carlo standard error of `pvalue`.
    n_bins : ndarray of int, shape (scales,)
        Equal-width bins of each scale.
    squared_error : ndarray, shape (scales,)
        The debiased squared calibration error at each scale, which may be negative.
    scale_pvalue : ndarray, shape (scales,)
        The p-value of each scale by itself, not adjusted for the number of scales.
    null_distribution : ndarray, shape (n_resamples,)
        The smallest p-value of every resample, read-only.
    null_hypothesis : Null
        The null hypothesis; as text one sentence.
    lens : NamedLens
        The outcome whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    """

    statistic: float
    pvalue: float
    pvalue_error: float
    n_bins: np.ndarray
    squared_error: np.ndarray
    scale_pvalue: np.ndarray
    null_distribution: np.ndarray
    null_hypothesis: Null
    lens: NamedLens
    n: int
    n_resamples: int

    def __str__(self) -> str:
        best = int(first_smallest(self.scale_pvalue))
        return (
            f"T-Cal over {self.n_bins.size} scales of {self.n_bins[0]} to {self.n_bins[-1]} bins, {self.lens}, "
            f"n = {self.n}: p = {settled(self.pvalue):.3g}, {self.n_resamples} resamples; the scale with the smallest "
            f"p-value has {self.n_bins[best]} bins, squared error {settled(self.squared_error[best]):.4g}.\n"
            f"Null hypothesis: {self.null_hypothesis}"
        )


@question()
def t_cal(
    rows: Data,
    /,
    *,
    n_bins: Sequence[int] | None = None,
    n_resamples: int = 999,
    rng: Rng = None,
    n_jobs: int = 1,
    lens: AnyLens = None,
    **about: Unpack[AboutRows],
) -> TCalResult:
    """Test calibration by the debiased squared calibration error at several scales at once (adaptive T-Cal).

    >>> import calibstat as cs
    >>> y, p = cs.generators.high_frequency(8, 0.3).sample(2000, rng=1)
    >>> result = cs.classical.t_cal(y, p, rng=1)
    >>> result.pvalue < 0.05, result.n_bins[:4].tolist()
    (True, [2, 4, 8, 16])

    Parameters
    ----------
    y_true, y_prob, **about
        As for `estimate`.
    n_bins : sequence of int, optional
        Equal-width bins of each scale, each at least 1. Default: 2, 4, 8 and so on up to 2**B, where B is the whole
        part of 2 log2(n / sqrt(log n)), as in the paper; but no further than the first scale that separates all
        distinct predictions, because finer ones have the same bins.
    n_resamples : int
        Number of resamples, at least 1.
    rng : None, int, SeedSequence or Generator
        Seed or generator; the same int gives the same numbers for any number of threads.
    n_jobs : int
        Number of threads; -1 for one per core.
    lens : str or Lens, optional
        A lens with a binary outcome. Default: outcome 1 of two classes, "top_label" of more.

    Returns
    -------
    TCalResult
        `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If there are fewer than two rows, `n_bins` is not a sequence of whole numbers of at least 1, the data are not as
        described (the first offending row is named), have real-valued weights, or the lens has no binary outcome.

    Notes
    -----
    Null hypothesis: given the predictions, every outcome is 1 independently with its predicted probability. For
    held-out rows only.

    At each scale the statistic is (1 / n) Σ_b [(Σ r)² - Σ r²] / n_b, the sums over the residuals r in bin b: an
    estimate of the squared calibration error between bins, without bias if calibrated, and so perhaps negative. The
    smallest p-value over the scales is compared with the smallest p-values of the resamples, each of them ranked among
    all the others; so P(p <= a) <= a exactly, for every n and any ties. Where a deviation shows at one scale alone p
    cannot be much below scales / (1 + n_resamples): for smaller p-values take more resamples or fewer scales. Cost: one
    sort, and for each resample one pass over the distinct predictions and one over the bins of all scales that hold
    several of them.

    References
    ----------
    Lee, Huang, Hassani, Dobriban 2023, T-Cal: An optimal test for the calibration of predictive models,
    arXiv:2203.01850.
    """
    draws = resampling.Draws.of(rng, n_resamples, n_jobs)
    seen, sample = binary_input(rows, "T-Cal")
    if sample.n < 2:
        raise ValueError("expected at least two rows for T-Cal, whose statistic is of pairs; found 1")
    scales, statistic = over_scales(sample, n_bins)
    drawn = resampling.draw(sample, resampling.Labels(), statistic, draws, resampling.Stream.LABELS)
    table = np.concatenate([statistic(*sample.arrays)[None], drawn])
    scale_pvalue = ranks(table)
    smallest = scale_pvalue.min(axis=1)
    pvalue = rank_of_smallest(scale_pvalue)
    return TCalResult(
        statistic=float(smallest[0]),
        pvalue=pvalue,
        pvalue_error=math.sqrt(pvalue * (1 - pvalue) / n_resamples),
        n_bins=read_only(np.array(scales, np.int64)),
        squared_error=read_only(table[0].copy()),
        scale_pvalue=read_only(scale_pvalue[0].copy()),
        null_distribution=read_only(smallest[1:].copy()),
        null_hypothesis=replace(seen.null, exact=True),
        lens=seen.lens,
        n=int(sample.n),
        n_resamples=n_resamples,
    )


def over_scales(
    sample: Sample, n_bins: Sequence[int] | None = None
) -> tuple[list[int], Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]]:
    """Return the numbers of bins, and the debiased squared errors at them as a function of value, count, positives."""
    scales = _scales(n_bins) if n_bins is not None else _powers_of_two(sample.value, int(sample.n))
    cells = [uniform_cells(sample.value, sample.count, n_bins=int(bins)) for bins in scales]
    return scales, partial(_of_scales, Bins.of(cells))


class Bins(NamedTuple):
    """The bins of every scale that hold several distinct predictions.

    The bins of scale k have the numbers begin[k] to begin[k + 1] - 1. Bin b holds the predictions first[b] to
    last[b] - 1.
    """

    first: np.ndarray
    last: np.ndarray
    begin: np.ndarray

    @classmethod
    def of(cls, cells: Sequence[np.ndarray]) -> Self:
        """Return the bins of cells of the ascending predictions, at each of some scales."""
        ends = [np.flatnonzero(np.diff(cell, prepend=-1, append=-1)) for cell in cells]
        several = [np.diff(end) > 1 for end in ends]
        first = [end[:-1][some] for end, some in zip(ends, several, strict=True)]
        last = [end[1:][some] for end, some in zip(ends, several, strict=True)]
        return cls(np.concatenate(first), np.concatenate(last), np.cumsum([0, *map(len, first)]))


def rank_of_smallest(scale_pvalue: np.ndarray) -> float:
    """Return the share of rows whose smallest p-value is at most the first row's: the p-value of the test."""
    return float(ranks(-scale_pvalue.min(axis=1)[:, None])[0, 0])


def _scales(n_bins: Sequence[int]) -> list[int]:
    """Check the numbers of bins."""
    scales = list(n_bins) if np.ndim(n_bins) == 1 else []
    whole = [isinstance(bins, int | np.integer) and not isinstance(bins, bool) and bins >= 1 for bins in scales]
    if not scales or not all(whole):
        raise ValueError(f"expected n_bins to be a sequence of whole numbers of at least 1, found {short(n_bins)}")
    return [int(bins) for bins in scales]


def _powers_of_two(value: np.ndarray, n: int) -> list[int]:
    """Return the numbers of bins of the paper, up to the first that separates all distinct predictions."""
    most = int(2 * math.log2(n / math.sqrt(math.log(n))))
    scales = []
    for b in range(1, most + 1):
        scales.append(2**b)
        if (np.diff(uniform_cells(value, np.ones_like(value), n_bins=2**b)) > 0).all():
            break
    return scales


def ranks(table: np.ndarray) -> np.ndarray:
    """Return in each column the share of entries that are at least as large, up to rounding, of those in each row.

    Each column of statistics thus becomes one of p-values, of the data in the first row and of every resample.
    """
    rank = np.empty(table.shape)
    for k, column in enumerate(table.T):
        rank[:, k] = (column.size - np.searchsorted(np.sort(column), column - tie(column))) / column.size
    return rank


def _of_scales(bins: Bins, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Return the debiased squared error at every scale."""
    statistic = np.empty(bins.begin.size - 1)
    debiased_squares(bins.first, bins.last, bins.begin, value, count, positives, statistic)
    return statistic


@jit
def debiased_squares(
    first: np.ndarray,
    last: np.ndarray,
    begin: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    statistic: np.ndarray,
) -> None:
    """Fill in, for each scale, the sum over bins of (squared sum of residuals - sum of squares) / rows, over n.

    Of the distinct predictions one by one it is the same at every scale; each bin of several puts them together, and
    takes what it needs from sums over the predictions below its first and its last.
    """
    m = value.size
    rows, residual, square, alone = np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1), np.zeros(m + 1)
    for j in range(m):
        v = value[j]
        r = positives[j] - count[j] * v
        q = positives[j] * (1.0 - v) ** 2 + (count[j] - positives[j]) * v**2
        rows[j + 1] = rows[j] + count[j]
        residual[j + 1] = residual[j] + r
        square[j + 1] = square[j] + q
        alone[j + 1] = alone[j] + (r * r - q) / count[j]
    for k in range(begin.size - 1):
        total = alone[m]
        for b in range(begin[k], begin[k + 1]):
            i, j = first[b], last[b]
            r, q = residual[j] - residual[i], square[j] - square[i]
            total += (r * r - q) / (rows[j] - rows[i]) - (alone[j] - alone[i])
        statistic[k] = total / rows[m]
