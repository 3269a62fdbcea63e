"""The guess of outcomes from predictions and a judge's answers: what the judge says beyond the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROUPS = 20  # of predictions, in which the mean and the variance of the judge's answers are taken
SLOPES = 4  # groups of predictions with a slope of their own
PULL = 25.0  # the slope of a group is shrunk to the common slope as if by so many labelled rows
FEWEST_EVENTS = 10  # labelled rows of either outcome, seen and expected, below which a judge is not used
NO_VARIANCE = 1e-20  # answers so alike differ by rounding


@dataclass(frozen=True, eq=False)
class Guess:
    """The guesses of all rows.

    Statement and argument: docs/proofs.md, section 16.

    Attributes
    ----------
    outcome : ndarray, shape (n,)
        The guess of the outcome of each row, in [0, 1]. The guess of a labelled row does not depend on its outcome,
        except through groups of predictions and the cuts at 0 and 1.
    calibrated : ndarray, shape (n,)
        The probability of outcome 1 given prediction and answer if the predictions are calibrated, as estimated.
    slopes : ndarray, shape (4,)
        How much of the judge's answer is believed, in four groups of ascending predictions: of answers 0 and 1 about
        sensitivity + specificity - 1. 0 where the judge is not used.
    is_used : bool
        Whether there were events enough to use the judge.
    """

    outcome: np.ndarray
    calibrated: np.ndarray
    slopes: np.ndarray
    is_used: bool

    @classmethod
    def unused(cls, prediction: np.ndarray) -> Guess:
        """Return the predictions as guesses: the rectified residuals of labelled rows are then y - v, of others 0."""
        return cls(prediction, prediction, np.zeros(SLOPES), False)

    @classmethod
    def of(
        cls,
        outcome: np.ndarray,
        prediction: np.ndarray,
        proxy: np.ndarray,
        labelled: np.ndarray,
        unit: np.ndarray,
        weight: np.ndarray,
    ) -> Guess:
        """Return the guesses from all rows, of which those with `labelled` have outcomes.

        `unit` numbers the cluster of each row from 0, or the row: slopes of a row leave out all of its cluster.
        `weight` weighs the rows in the slopes.
        """
        if fewest_events(outcome, prediction, labelled, unit) < FEWEST_EVENTS:
            return cls.unused(prediction)
        contrast = contrast_of(prediction, proxy)
        group = groups_of(prediction, SLOPES)
        spread = float((contrast**2).mean())
        fitted = Slopes.of(
            (outcome - prediction)[labelled],
            contrast[labelled],
            group[labelled],
            np.unique(unit[labelled], return_inverse=True)[1],
            weight[labelled] / max(weight[labelled].mean(), NO_VARIANCE),
            spread,
        )
        guess = fitted.mean_of_guesses(prediction, contrast, group)
        of_labelled = fitted.left_out_of_rows * contrast[labelled]
        guess[labelled] = np.clip(prediction[labelled] + of_labelled, 0, 1)
        informed = np.clip(prediction + fitted.kept * fitted.full[group] * contrast, 0, 1)
        return cls(guess, informed, fitted.full, True)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Least squares slopes of residuals on contrasts in groups, shrunk to a common one.

    Attributes
    ----------
    full : ndarray, shape (4,)
        The slopes of all labelled rows.
    left_out : ndarray, shape (4, units)
        The slopes without the rows of each unit.
    rows : ndarray, shape (units,)
        The labelled rows of each unit.
    left_out_of_rows : ndarray, shape (labelled,)
        The slope of each labelled row, without its unit.
    kept : float
        The share of the fitted slopes that is confirmed by left-out ones, from 0 to 1.
    """

    full: np.ndarray
    left_out: np.ndarray
    rows: np.ndarray
    left_out_of_rows: np.ndarray
    kept: float

    @classmethod
    def of(
        cls,
        residual: np.ndarray,
        contrast: np.ndarray,
        group: np.ndarray,
        unit: np.ndarray,
        weight: np.ndarray,
        spread: float,
    ) -> Slopes:
        """Fit them; `spread` is the mean square of the contrasts of all rows, labelled or not."""
        units = int(unit.max()) + 1
        if spread == 0:
            nothing = np.zeros(residual.size)
            return cls(np.zeros(SLOPES), np.zeros((SLOPES, units)), np.bincount(unit), nothing, 0.0)
        at, shape = group * units + unit, (SLOPES, units)
        product = np.bincount(at, weight * contrast * residual, SLOPES * units).reshape(shape)
        square = np.bincount(at, weight * contrast**2, SLOPES * units).reshape(shape)

        def slopes(products: np.ndarray, squares: np.ndarray) -> np.ndarray:
            common = products.sum(axis=0) / (squares.sum(axis=0) + spread)
            return np.asarray((products + PULL * spread * common) / (squares + PULL * spread))

        of_group = product.sum(axis=1, keepdims=True), square.sum(axis=1, keepdims=True)
        full = slopes(*of_group)[:, 0]
        left_out = slopes(of_group[0] - product, of_group[1] - square)
        of_rows = left_out[group, unit]
        in_sample = float((weight * full[group] * contrast * residual).sum())
        confirmed = float((weight * of_rows * contrast * residual).sum())
        kept = min(max(confirmed / in_sample, 0.0), 1.0) if in_sample > 0 else 0.0
        return cls(full, left_out, np.bincount(unit), of_rows, kept)

    def mean_of_guesses(self, prediction: np.ndarray, contrast: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return the mean over labelled rows of the guesses, cut to [0, 1], by the slopes without each of them."""
        guess, rows = prediction.copy(), self.rows / self.rows.sum()
        for k, slopes in enumerate(self.left_out):
            order = np.argsort(slopes, kind="stable")
            weight, product = (np.append(0.0, np.cumsum(part[order])) for part in (rows, rows * slopes))
            at = np.flatnonzero((group == k) & (contrast != 0))
            p, h = prediction[at], contrast[at]
            ends = np.sort([-p / h, (1 - p) / h], axis=0)
            low, high = np.searchsorted(slopes[order], ends[0]), np.searchsorted(slopes[order], ends[1], "right")
            above = np.where(h > 0, 1 - weight[high], weight[low])  # the share of guesses that are cut to 1
            inside = (weight[high] - weight[low]) * p + (product[high] - product[low]) * h
            guess[at] = np.clip(inside + above, 0, 1)
        return guess


def groups_of(prediction: np.ndarray, most: int) -> np.ndarray:
    """Number groups of about equal size of ascending predictions from 0; equal predictions are in one group."""
    _, at, count = np.unique(prediction, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - count / 2
    return np.minimum((middle * most / prediction.size).astype(np.int64), most - 1)[at]


def contrast_of(prediction: np.ndarray, proxy: np.ndarray) -> np.ndarray:
    """Return what the judge says beyond the prediction, in units in which a perfect judge of labels has slope 1.

    It is 0 where all answers of a group of predictions are the same.
    """
    group = groups_of(prediction, GROUPS)
    rows = np.maximum(np.bincount(group, minlength=GROUPS), 1)
    centred = proxy - (np.bincount(group, proxy, GROUPS) / rows)[group]
    variance = (np.bincount(group, centred**2, GROUPS) / rows)[group]
    varies = variance > NO_VARIANCE
    return np.divide(centred * prediction * (1 - prediction), variance, out=np.zeros(proxy.size), where=varies)


def fewest_events(outcome: np.ndarray, prediction: np.ndarray, labelled: np.ndarray, unit: np.ndarray) -> float:
    """Return the least of the clusters of labelled rows with outcome 1, with outcome 0, and expected to have either."""
    y, p, unit = outcome[labelled] == 1, prediction[labelled], unit[labelled]
    clusters = np.unique(unit, return_inverse=True)[1]
    mean = np.bincount(clusters, p) / np.bincount(clusters)
    return float(min(np.unique(unit[y]).size, np.unique(unit[~y]).size, mean.sum(), (1 - mean).sum()))
