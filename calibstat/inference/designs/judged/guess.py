"""The guess of outcomes from predictions and a judge's answers: what the judge says beyond the prediction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROUPS = 20  # of predictions, in which the mean and the variance of the judge's answers are taken
SLOPES = 4  # groups of predictions with a slope of their own
PULL = 25.0  # the slopes of a group are shrunk to the common ones as if by so many labelled rows
FEWEST_EVENTS = 10  # labelled rows of either outcome, seen and expected, below which a judge is not used
NO_VARIANCE = 1e-20  # answers so alike differ by rounding
GUESSES_HELD = 2**22  # guesses that are held together


@dataclass(frozen=True, eq=False)
class Guess:
    """The guesses of all rows.

    Statement and argument: docs/evidence/proofs/few-labels.md.

    Attributes
    ----------
    outcome : ndarray, shape (n,)
        The guess of the outcome of each row, in [0, 1]. The guess of a labelled row does not depend on its outcome.
    calibrated : ndarray, shape (n,)
        The probability of outcome 1 given prediction and answer if the predictions are calibrated, as estimated.
    slopes : ndarray, shape (4,)
        By how much the guess rises from an answer 0 to an answer 1, in four groups of ascending predictions: 1 for a
        perfect judge, 0 for a useless one, -1 for one that is always wrong. 0 where the judge is not used.
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
        contrasts, group = contrasts_of(prediction, proxy), groups_of(prediction, SLOPES)
        fitted = Slopes.of(
            (outcome - prediction)[labelled],
            contrasts[:, labelled],
            group[labelled],
            np.unique(unit[labelled], return_inverse=True)[1],
            weight[labelled] / max(weight[labelled].mean(), NO_VARIANCE),
        )
        guess = fitted.mean_of_guesses(prediction, contrasts, group)
        guess[labelled] = np.clip(prediction[labelled] + fitted.left_out_moves, 0, 1)
        move = (fitted.full[group].T * contrasts).sum(axis=0)
        informed = np.clip(prediction + fitted.kept * move, 0, 1)
        return cls(guess, informed, _slopes_on_answers(move, centred_answers(prediction, proxy), group), True)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Least squares slopes of residuals on two contrasts in groups, shrunk to common ones.

    Attributes
    ----------
    full : ndarray, shape (4, 2)
        The slopes of all labelled rows.
    left_out : ndarray, shape (4, units, 2)
        The slopes without the rows of each unit.
    rows : ndarray, shape (units,)
        The labelled rows of each unit.
    left_out_moves : ndarray, shape (labelled,)
        What the guess of each labelled row adds to its prediction, by the slopes without its unit.
    kept : float
        The share of the fitted slopes that is confirmed by left-out ones, from 0 to 1.
    """

    full: np.ndarray
    left_out: np.ndarray
    rows: np.ndarray
    left_out_moves: np.ndarray
    kept: float

    @classmethod
    def of(
        cls, residual: np.ndarray, contrasts: np.ndarray, group: np.ndarray, unit: np.ndarray, weight: np.ndarray
    ) -> Slopes:
        """Fit them to labelled rows; the contrasts of all rows have a mean square of 1 or are 0."""
        units = int(unit.max()) + 1
        at = group * units + unit

        def added(row: np.ndarray) -> np.ndarray:
            return np.bincount(at, weight * row, SLOPES * units).reshape(SLOPES, units)

        product = np.stack([added(each * residual) for each in contrasts], axis=-1)
        square = np.stack([np.stack([added(a * b) for b in contrasts], axis=-1) for a in contrasts], axis=-1)
        one_row = np.eye(len(contrasts))

        def slopes(products: np.ndarray, squares: np.ndarray) -> np.ndarray:
            common = solved(squares.sum(axis=0) + one_row, products.sum(axis=0))
            return solved(squares + PULL * one_row, products + PULL * common)

        of_group = product.sum(axis=1, keepdims=True), square.sum(axis=1, keepdims=True)
        full = slopes(*of_group)[:, 0]
        left_out = slopes(of_group[0] - product, of_group[1] - square)
        moves = (left_out[group, unit].T * contrasts).sum(axis=0)
        in_sample = float((weight * (full[group].T * contrasts).sum(axis=0) * residual).sum())
        confirmed = float((weight * moves * residual).sum())
        kept = min(max(confirmed / in_sample, 0.0), 1.0) if in_sample > 0 else 0.0
        return cls(full, left_out, np.bincount(unit), moves, kept)

    def mean_of_guesses(self, prediction: np.ndarray, contrasts: np.ndarray, group: np.ndarray) -> np.ndarray:
        """Return the mean over labelled rows of the guesses, cut to [0, 1], by the slopes without each of them.

        Where none of the guesses of a row is cut, or all are at the same end, it is the guess by the mean slopes.
        """
        guess, share = prediction.copy(), self.rows / self.rows.sum()
        for k, slopes in enumerate(self.left_out):
            at = np.flatnonzero((group == k) & contrasts.any(axis=0))
            p, x = prediction[at], contrasts[:, at]
            guess[at] = np.clip(p + (share @ slopes) @ x, 0, 1)
            ends = np.stack([x * each[:, None] for each in (slopes.min(axis=0), slopes.max(axis=0))])
            least, most = p + ends.min(axis=0).sum(axis=0), p + ends.max(axis=0).sum(axis=0)
            of_both = np.flatnonzero(((least < 0) & (most > 0)) | ((least < 1) & (most > 1)))
            for some in np.array_split(of_both, of_both.size * share.size // GUESSES_HELD + 1):
                guess[at[some]] = share @ np.clip(p[some] + slopes @ x[:, some], 0, 1)
        return guess


def solved(squares: np.ndarray, products: np.ndarray) -> np.ndarray:
    """Return the solutions of linear equations, of any number of them."""
    return np.asarray(np.linalg.solve(squares, products[..., None])[..., 0])


def _slopes_on_answers(move: np.ndarray, answer: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the slopes of what guesses add to predictions on centred answers in each group, 0 if these are alike."""
    square = np.bincount(group, answer**2, SLOPES)
    return np.divide(np.bincount(group, move * answer, SLOPES), square, out=np.zeros(SLOPES), where=square > 0)


def groups_of(prediction: np.ndarray, most: int) -> np.ndarray:
    """Number groups of about equal size of ascending predictions from 0; equal predictions are in one group."""
    _, at, count = np.unique(prediction, return_inverse=True, return_counts=True)
    middle = np.cumsum(count) - count / 2
    return np.minimum((middle * most / prediction.size).astype(np.int64), most - 1)[at]


def centred_answers(prediction: np.ndarray, proxy: np.ndarray) -> np.ndarray:
    """Return answers less their line in predictions in each group of these; 0 where a group's are all on its line."""
    return _centred(prediction, proxy)[0]


def contrasts_of(prediction: np.ndarray, proxy: np.ndarray) -> np.ndarray:
    """Return what the judge says beyond the prediction, as two contrasts of a mean square of 1: shape (2, n).

    The first are the centred answers. The second are these times v (1 - v) over their variance in a group: the best
    guess of a calibrated model adds sensitivity + specificity - 1 times it to v, if answers are 0 and 1. They hold no
    outcome, and do not depend on which rows are labelled.

    Statement and argument: docs/evidence/proofs/few-labels.md.
    """
    centred, variance = _centred(prediction, proxy)
    of_calibrated = np.divide(
        centred * prediction * (1 - prediction), variance, out=np.zeros(proxy.size), where=variance > 0
    )
    contrasts = np.stack([centred, of_calibrated])
    size = np.sqrt((contrasts**2).mean(axis=1, keepdims=True))
    return np.divide(contrasts, size, out=np.zeros(contrasts.shape), where=size > 0)


def _centred(prediction: np.ndarray, proxy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return centred answers with their variances in groups of predictions, both 0 where all answers are on a line."""
    group = groups_of(prediction, GROUPS)
    rows = np.maximum(np.bincount(group, minlength=GROUPS), 1)

    def mean(of_rows: np.ndarray) -> np.ndarray:
        return (np.bincount(group, of_rows, GROUPS) / rows)[group]

    answer, along = proxy - mean(proxy), prediction - mean(prediction)
    square = mean(along**2)
    slope = np.divide(mean(answer * along), square, out=np.zeros(proxy.size), where=square > NO_VARIANCE)
    centred = answer - slope * along
    variance = mean(centred**2)
    varies = variance > NO_VARIANCE
    return np.where(varies, centred, 0.0), np.where(varies, variance, 0.0)


def fewest_events(outcome: np.ndarray, prediction: np.ndarray, labelled: np.ndarray, unit: np.ndarray) -> float:
    """Return the least of the clusters of labelled rows with outcome 1, with outcome 0, and expected to have either."""
    y, p, unit = outcome[labelled] == 1, prediction[labelled], unit[labelled]
    clusters = np.unique(unit, return_inverse=True)[1]
    mean = np.bincount(clusters, p) / np.bincount(clusters)
    return float(min(np.unique(unit[y]).size, np.unique(unit[~y]).size, mean.sum(), (1 - mean).sum()))
