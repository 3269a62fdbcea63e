"""The two worlds behind rows: domains of covariates at the least and at the largest possible distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.sample import as_sample
from calibstat.generators.finite import domain
from calibstat.generators.nearest_law import nearest_law

SLIVER = 1e-10  # shares of rows below it, which are errors of the solver, go with other rows of the same prediction


def worlds(y: ArrayLike, p: ArrayLike) -> tuple[domain, domain]:
    """Return two domains with the predictions and outcomes of these rows, one as near to calibration as can be.

        >>> from calibstat import generators
        >>> near, far = generators.worlds([0, 1, 0, 1], [0.4, 0.4, 0.6, 0.6])  # 1/2 - a and 1/2 + a with a = .1
        >>> round(near.distance(), 9), round(far.distance(), 9)  # 2 a**2 / (1 + 2 a), and a
        (0.016666667, 0.1)
        >>> near.truth("ece") == far.truth("ece")
        True

    Both have the law of the rows: the same share of rows at each prediction, and the same frequency there. In the first
    the true distance from calibration is the lower distance of the rows, in the second the upper distance: no measure
    of predictions and outcomes can tell which of them the rows are from (Błasiok, Gopalan, Hu, Nakkiran 2023,
    theorem 5.5, arXiv:2211.16886).

    Parameters
    ----------
    y : array_like, shape (n,)
        Outcomes, 0 or 1.
    p : array_like, shape (n,)
        Predictions in [0, 1].

    Returns
    -------
    near : domain
        A point for each prediction and each place to which the cheapest coupling moves some of its rows.
    far : domain
        A point for each distinct prediction, so that rows with equal predictions are alike.

    Raises
    ------
    ValueError
        If a row is invalid.

    Notes
    -----
    The near world comes from a linear programme, whose points are refined until its value is within 2e-10 of the lower
    distance. Its masses are right to about 1e-10, and shares below 1e-10 are merged with others, so that the distance
    of the near world is the lower distance to 1e-6 and not equal to it. The programme of 300 distinct predictions takes
    about a second. `distance` of a domain compares all partitions, for at most 12 points.
    """
    sample = as_sample(y, p)
    share, hits, misses = (
        each / sample.n for each in (sample.count, sample.positives, sample.count - sample.positives)
    )
    _, point, mass = nearest_law(sample.value, share, hits)
    ones = _transport(hits, mass * point)
    zeros = _transport(misses, mass * (1 - point))
    for row_ones, row_zeros in zip(ones, zeros, strict=True):
        thin = row_ones + row_zeros < SLIVER
        most = np.argmax(row_ones + row_zeros)
        for row in (row_ones, row_zeros):
            row[most] += row[thin].sum()
            row[thin] = 0.0
    total = ones + zeros
    at, to = np.nonzero(total)
    weight = total[at, to]
    near = (weight / weight.sum(), np.minimum(ones[at, to] / weight, 1), sample.value[at])
    far = (share, hits / share, sample.value)
    return domain(*(tuple(column.tolist()) for column in near)), domain(*(tuple(column.tolist()) for column in far))


def _transport(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the cheapest transport on a line: the share that goes from each source to each target.

    Both ascend along the line. Of all ways that cost the distance, it is the one that keeps the order.
    """
    out = np.zeros((source.size, target.size))
    if source.sum() == 0:
        return out
    end, until = np.cumsum(source), np.cumsum(target)
    until = np.minimum(until * (end[-1] / until[-1]), end[-1])
    until[-1] = end[-1]
    cut = np.unique(np.concatenate([[0.0], end, until]))
    middle = (cut[:-1] + cut[1:]) / 2
    np.add.at(out, (np.searchsorted(end, middle), np.searchsorted(until, middle)), np.diff(cut))
    return out
