"""Calibration in the large and slope of each of many clusters, with profile-likelihood intervals.

`line_numbers` has these numbers of one cluster in about 3 ms, most of which are calls. Here Newton's steps of all small
clusters are taken together. Clusters of many rows, and those in which a step leads nowhere, are left to `line_numbers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from calibstat.classical.cox import Numbers, line_numbers, profile_ends
from calibstat.classical.logistic import NEAR_SOLUTION
from calibstat.data.sample import sample_of_rows

FEWEST = 10  # events, and rows without, below which a cluster has no slope
MOST_TOGETHER = 2000  # rows of a cluster whose steps are taken with those of others
STEPS, HALVINGS = 15, 100  # of Newton for all clusters together, and of an interval in which a root lies
_RIGHT = 1e-4  # of the drop of twice the log-likelihood at an end, relative


@dataclass(frozen=True, eq=False)
class RowsByCluster:
    """Rows in the order of their clusters, and in each ascending by prediction.

    Attributes
    ----------
    outcome, prediction, inside, logit : ndarray of float64, shape (n,)
        Outcome, prediction, the prediction moved by `clip` to between 0 and 1, and the logit of that.
    n : ndarray of int64, shape (k,)
        The number of rows of each cluster, at least 1.
    """

    outcome: np.ndarray
    prediction: np.ndarray
    inside: np.ndarray
    logit: np.ndarray
    n: np.ndarray

    @classmethod
    def of(cls, outcome: np.ndarray, prediction: np.ndarray, inside: np.ndarray, place: np.ndarray) -> RowsByCluster:
        """Return rows in the order of the places of their clusters, and of what they hold."""
        from scipy.special import logit

        order = np.lexsort((outcome, prediction, place))
        inside = inside[order]
        return cls(outcome[order], prediction[order], inside, logit(inside), np.bincount(place))

    def sums(self, of_rows: np.ndarray) -> np.ndarray:
        """Return the sums over the rows of each cluster."""
        return np.asarray(np.add.reduceat(of_rows, self.start))

    def each_row(self, of_clusters: np.ndarray) -> np.ndarray:
        """Return for each row what its cluster has."""
        return np.repeat(of_clusters, self.n, axis=0)

    def some(self, chosen: np.ndarray) -> RowsByCluster:
        """Return the rows of the clusters chosen."""
        kept = self.each_row(chosen)
        outcome, prediction, inside, logit = (
            each[kept] for each in (self.outcome, self.prediction, self.inside, self.logit)
        )
        return RowsByCluster(outcome, prediction, inside, logit, self.n[chosen])

    def line(self, c: int, confidence_level: float) -> Numbers:
        """Return the numbers of Cox's recalibration of one cluster, as `validate` has them of its rows alone."""
        rows = slice(self.start[c], self.start[c] + self.n[c])
        sample = sample_of_rows(self.outcome[rows], self.inside[rows])
        try:
            return line_numbers(sample, "validation", partial(profile_ends, confidence_level=confidence_level))
        except ValueError:  # predictions so near to 0 and 1 that there is no line
            return {}

    @property
    def start(self) -> np.ndarray:
        """The place of the first row of each cluster."""
        return np.cumsum(self.n) - self.n


def intercepts(rows: RowsByCluster, events: np.ndarray) -> np.ndarray:
    """Return what to add to the logits of each cluster so that as many events are expected, above 0 and below n.

    The root is between those of the least and the largest logit of the cluster alone.
    """
    from scipy.special import expit, logit

    wished = logit(events / rows.n)
    low = wished - np.maximum.reduceat(rows.logit, rows.start)
    high = wished - np.minimum.reduceat(rows.logit, rows.start)
    at = np.clip(0.0, low, high)
    for _ in range(HALVINGS):
        chance = expit(rows.logit + rows.each_row(at))
        missing = events - rows.sums(chance)
        low, high = np.where(missing >= 0, at, low), np.where(missing <= 0, at, high)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            there = at + missing / rows.sums(chance * (1 - chance))
        inside = (low <= there) & (there <= high)
        moved = np.where(inside, there, (low + high) / 2)
        done = bool((np.abs(moved - at) <= 1e-13 * np.maximum(np.abs(at), 1)).all())
        at = moved
        if done:
            break
    return at


def lines(rows: RowsByCluster, confidence_level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return calibration in the large and slope of each cluster, shape (k, 3): the number and the ends of its interval.

    nan where there is none: of one outcome alone, and slopes with fewer than `FEWEST` of an outcome, of equal
    predictions, and of predictions that separate the outcomes.
    """
    events = rows.sums(rows.outcome)
    least = np.minimum(events, rows.n - events)
    large, slope = np.full((2, rows.n.size, 3), np.nan)
    small = rows.n <= MOST_TOGETHER
    for number, chosen, slopes in ((large, least > 0, False), (slope, least >= FEWEST, True)):
        if (together := chosen & small).any():
            number[together] = _together(rows.some(together), slopes, confidence_level)
    for c in np.flatnonzero((least > 0) & np.isnan(large[:, 0]) | (least >= FEWEST) & np.isnan(slope[:, 0])):
        found = rows.line(int(c), confidence_level)
        for name, number, chosen in (("in_the_large", large, True), ("slope", slope, least[c] >= FEWEST)):
            if name in found and chosen:
                number[c] = found[name][0], *found[name][1]
    return large, slope


def _together(rows: RowsByCluster, slopes: bool, confidence_level: float) -> np.ndarray:
    """Return intercept or slope of clusters with both outcomes, with the ends; nan where Newton's steps lead nowhere.

    The ends are those of Venzon and Moolgavkar 1988, as in `LogitPolynomial.farthest`, here without its safeguards.
    """
    from scipy.special import chdtri

    spread = np.ones(rows.n.size)
    basis = [np.ones(rows.logit.size)]
    if slopes:
        centred = rows.logit - rows.each_row(rows.sums(rows.logit) / rows.n)
        equal = rows.logit[rows.start] == rows.logit[rows.start + rows.n - 1]
        spread = np.where(equal, np.nan, np.sqrt(rows.sums(centred**2) / rows.n))
        basis.append(centred / rows.each_row(spread))
    start = np.zeros((rows.n.size, len(basis)))
    start[:, 0] = intercepts(rows, rows.sums(rows.outcome))
    drop = float(chdtri(1, 1 - confidence_level))
    with np.errstate(all="ignore"):  # what is no number is left out below
        top = _maxima(rows, basis, start)
        ends = [_ends(rows, basis, top, sign, drop) for sign in (-1, 1)]
        found = np.stack([each[:, -1] for each in (top, *ends)], axis=1) / spread[:, None] + slopes
    found[~((found[:, 1] < found[:, 0]) & (found[:, 0] < found[:, 2]))] = np.nan
    return found


def _maxima(rows: RowsByCluster, basis: list[np.ndarray], start: np.ndarray) -> np.ndarray:
    """Return the coefficients with the largest likelihood, nan where so many steps do not reach them."""
    at, close = start, np.zeros(rows.n.size, bool)
    for _ in range(STEPS):
        _, gradient, information = _derivatives(rows, basis, at)
        step = _solved(information, gradient)
        close = (gradient * step).sum(axis=1) < NEAR_SOLUTION
        at = at + step
        if close.all():
            break
    return np.where(close[:, None], at, np.nan)


def _ends(rows: RowsByCluster, basis: list[np.ndarray], top: np.ndarray, sign: int, drop: float) -> np.ndarray:
    """Return where the last coefficient is farthest with 2 * log-likelihood at most `drop` below its maximum."""
    best, _, information = _derivatives(rows, basis, top)
    direction = np.zeros_like(top)
    direction[:, -1] = sign
    flat = _solved(information, direction)
    at = top + flat * np.sqrt(drop / np.abs(flat[:, -1:]))
    for _ in range(STEPS):
        value, gradient, information = _derivatives(rows, basis, at)
        to_top, flat = _solved(information, gradient), _solved(information, direction)
        room = np.maximum(2 * (value - best) + drop + (gradient * to_top).sum(axis=1), 0.0)
        step = to_top + flat * np.sqrt(room / np.abs(flat[:, -1]))[:, None]
        at = at + step
        size = np.einsum("ka,kab,kb->k", step, information, step)
        if not (size >= NEAR_SOLUTION * drop).any():
            break
    right = (size < NEAR_SOLUTION * drop) & (np.abs(2 * (best - value) - drop) < _RIGHT * drop)
    return np.where(right[:, None], at, np.nan)


def _derivatives(
    rows: RowsByCluster, basis: list[np.ndarray], coefficient: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log-likelihood of each cluster, its gradient and the information: shapes (k,), (k, d), (k, d, d)."""
    eta = rows.logit.copy()
    for column, of_clusters in zip(basis, coefficient.T, strict=True):
        eta += column * rows.each_row(of_clusters)
    e = np.exp(-np.abs(eta))
    chance = np.where(eta > 0, 1.0, e) / (1 + e)
    value = rows.sums(rows.outcome * eta - np.maximum(eta, 0) - np.log1p(e))
    residual, weight = rows.outcome - chance, e / (1 + e) ** 2
    gradient = np.stack([rows.sums(residual * column) for column in basis], axis=1)
    d = len(basis)
    information = np.empty((rows.n.size, d, d))
    for a in range(d):
        for b in range(a + 1):
            information[:, a, b] = information[:, b, a] = rows.sums(weight * basis[a] * basis[b])
    return value, gradient, information


def _solved(information: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the solutions of these equations, one or two unknowns each; not finite where there is none."""
    if right.shape[1] == 1:
        return right / information[:, 0]
    (a, b), (_, d) = information.transpose(1, 2, 0)
    other = np.stack([d * right[:, 0] - b * right[:, 1], a * right[:, 1] - b * right[:, 0]], axis=1)
    return other / (a * d - b * b)[:, None]
