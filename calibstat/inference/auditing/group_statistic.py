"""Signed roots of likelihood ratios of groups of rows: is it too many or too few events, and are logits too far apart.

All that depends on labels is how many rows of a group have outcome 1, in strata of predictions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.measures.components.deviations import time_of
from calibstat.measures.components.smooth_components import LOGIT, TILTS, interpolated, orthonormal, roots

STRATA = 8  # of equal information, for the slope
BEYOND = 10.0  # units of the logit past 1/2, to which the largest tilt reaches
ROUGH_UNITS = 0.25  # units of the logit, between which roots are read with an error of a few per cent
CELLS = 128  # of equal time, in which the predictions of a group count as equal; as few distinct ones stay apart


@dataclass(frozen=True)
class Strata:
    """Strata of rows, ascending by prediction, and finer cells: the first stratum is predictions of 0, the last of 1.

    Attributes
    ----------
    stratum, cell : ndarray, shape (n,)
        The stratum and the cell of each row, ascending; every cell lies in one stratum.
    size : int
        Number of strata; some may have no rows.
    logit : ndarray, shape (size,)
        Mean logit of the predictions of each stratum.
    """

    stratum: np.ndarray
    cell: np.ndarray
    size: int
    logit: np.ndarray

    @classmethod
    def of(cls, prediction: np.ndarray, number: np.ndarray, inner: int) -> Strata:
        """Return `inner` strata of equal information, of the predictions strictly between 0 and 1, ascending.

        `number` is how many rows have each of these predictions, of which some may be equal.
        """
        value, place = np.unique(prediction, return_inverse=True)
        count = np.bincount(place, number)
        stratum, cell = np.where(value == 1, inner + 1, 0), np.arange(value.size)
        inside = (value > 0) & (value < 1)
        if inside.any():
            information = count[inside] * value[inside] * (1 - value[inside])
            middle = (np.cumsum(information) - information / 2) / information.sum()
            stratum[inside] = 1 + np.minimum((middle * inner).astype(np.int64), inner - 1)
            if value.size > CELLS:
                time = np.where(value == 1, CELLS, -1)
                time[inside] = np.minimum(time_of(value[inside], count[inside]) * CELLS, CELLS - 1).astype(np.int64)
                cell = np.cumsum(np.append(0, (np.diff(time) > 0) | (np.diff(stratum) > 0)))
        clipped = np.clip(value, LOGIT, 1 - LOGIT)
        rows = np.bincount(stratum, count, inner + 2)
        logit = np.bincount(stratum, count * np.log(clipped / (1 - clipped)), inner + 2) / np.maximum(rows, 1)
        return cls(stratum[place], cell[place], inner + 2, logit)


@dataclass(frozen=True)
class GroupRoots:
    """The statistic of groups, fixed before labels are seen.

    Attributes
    ----------
    rows, expected : ndarray, shape (G, S)
        Rows of each group in each stratum, and the sum of their predictions.
    weight : ndarray, shape (G, K, S)
        What a residual of a stratum adds to each component of a group: K is 1, or with the slope 2.
    score, root : ndarray, shape (G * K, 61)
        Ascending values of each component, and its root at each.
    side : str or None
        The side that is looked at alone.
    """

    rows: np.ndarray
    expected: np.ndarray
    weight: np.ndarray
    score: np.ndarray
    root: np.ndarray
    side: Side | None

    @classmethod
    def of(
        cls,
        prediction: np.ndarray,
        number: np.ndarray,
        strata: Strata,
        masks: Iterable[np.ndarray],
        shape: bool,
        side: Side | None,
    ) -> GroupRoots:
        """Return the statistic for predictions, ascending, and masks of groups; with `shape` the slope too.

        `number` is how many rows have each prediction.
        """
        first = np.flatnonzero(np.diff(strata.cell, prepend=-1))
        stratum = strata.stratum[first]
        of_groups = [_of_group(prediction, number * mask, first, stratum, strata, 1 + shape) for mask in masks]
        rows, expected, weight, score, root = zip(*of_groups, strict=True)
        sums = np.stack(rows), np.stack(expected), np.stack(weight)
        return cls(*sums, np.concatenate(score), np.concatenate(root), side)

    def largest(self, roots: np.ndarray) -> np.ndarray:
        """Return the evidence of each group, of roots of shape (..., K): of one side the roots to this side alone."""
        if self.side is None:
            return np.asarray(np.abs(roots).max(axis=-1))
        return np.asarray(MORE_EVENTS[self.side] * roots[..., 0])

    def __call__(self, positives: np.ndarray) -> np.ndarray:
        """Return the roots of all groups, (B, G, K), of rows with outcome 1 in groups and strata, (B, G, S).

        A label that a prediction of 0 or 1 forbids makes the first one of its groups infinite.
        """
        roots = self.of_uncertain(positives)
        too_many = (positives[..., 0] > 0) & (self.side != "over")
        too_few = (positives[..., -1] < self.rows[:, -1]) & (self.side != "under")
        residual = positives - self.expected
        forbidden = np.where(too_many & too_few, np.sign(residual.sum(axis=-1)) + 0.5, 1.0 * too_many - too_few)
        roots[..., 0] = np.where(too_many | too_few, np.copysign(np.inf, forbidden), roots[..., 0])
        return roots

    def of_uncertain(self, positives: np.ndarray) -> np.ndarray:
        """Return the same of the rows that are predicted neither 0 nor 1, all finite."""
        component = np.einsum("bgs,gks->bgk", positives - self.expected, self.weight)
        return interpolated(component.reshape(len(positives), -1), self.score, self.root).reshape(component.shape)

    def of_group(self, g: int, ones: np.ndarray) -> np.ndarray:
        """Return the roots of one group for numbers of outcomes 1 among its uncertain rows; not beside slopes."""
        inside = slice(1, -1)
        component = (ones - self.expected[g, inside].sum()) * self.weight[g, 0, 1]
        return interpolated(np.ascontiguousarray(component[:, None]), self.score[g, None], self.root[g, None])[:, 0]

    def impossible(self, positives: np.ndarray) -> np.ndarray:
        """Return how many outcomes of each group had probability 0, of rows with outcome 1, (G, S)."""
        too_many, too_few = positives[:, 0], self.rows[:, -1] - positives[:, -1]
        return np.asarray(too_many * (self.side != "over") + too_few * (self.side != "under")).astype(np.int64)


def _of_group(
    prediction: np.ndarray, number: np.ndarray, first: np.ndarray, stratum: np.ndarray, strata: Strata, size: int
) -> tuple[np.ndarray, ...]:
    """Return the entries of one group, which has so many rows with each prediction."""
    count = np.add.reduceat(number, first)
    total = np.add.reduceat(prediction * number, first)
    rows, expected = (np.bincount(stratum, each, strata.size) for each in (count, total))
    inside = (count > 0) & (stratum > 0) & (stratum < strata.size - 1)
    weight = np.zeros((size, strata.size))
    if not inside.any():
        none = np.zeros((size, 61))
        return rows, expected, weight, none, none
    count, at = count[inside], stratum[inside]
    value = np.maximum(total[inside] / count, np.finfo(float).tiny)  # of smaller numbers there is no inverse
    functions = np.stack([np.ones(at.size), strata.logit[at]])[:size]
    basis = orthonormal(functions, count * value * (1 - value))
    weight[:, at] = basis.T
    return rows, expected, weight, *roots(basis, value, count, _scale(basis, value))


def _scale(basis: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return by how much tilts have to shrink in a group that expects hardly an event, or hardly a row without one.

    The constant function is then so large that the first tilt moves all logits by more than `ROUGH_UNITS`. The largest
    tilt need only move them from the smallest chance to beyond 1/2: by `BEYOND` more.
    """
    constant, scale = float(np.abs(basis[:, 0]).max()), 1.0
    if TILTS[0] * constant > ROUGH_UNITS:
        least = float(np.maximum(np.minimum(value, 1 - value), np.finfo(float).tiny).min())
        scale = min((BEYOND - math.log(least)) / (TILTS[-1] * constant), 1.0)
    return np.full(basis.shape[1], scale)
