"""Predictions in which every class counts by a factor, divided by their sums again."""

from __future__ import annotations

import numpy as np

from calibstat.recalibration.formula import Expression, quotient, total
from calibstat.recalibration.one_against_rest import columns_of

STILL = 1e-10  # a step of a logarithm below which the next one would be rounding
LARGEST_LAST = 1e-3  # step of a logarithm that a search may end with, if it has a maximum
MOST_STEPS = 25  # where the best factor is 0 each step divides it by e: no digits are lost yet
FLAT = 1e-14  # of the largest curvature, below which there is none
SMALLEST_CHANGE = 1e-12  # of a share, by a step of the EM algorithm that is the last
MOST_LOST = 0.9  # of a share by one step of Newton's method
NEXT_TO_NOTHING = 1e-8  # share of a class below which it is on its way to 0
MOST_ROUNDS = 1000

LARGEST_EXPONENT = 700.0  # of a number that a double holds


def reweighted(prob: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Return rows of p_k times the factor of class k, divided by their sums; exact 0 and 1 stay as they are."""
    scores = prob * factor
    total = scores.sum(axis=1, keepdims=True)
    return np.divide(scores, total, out=prob.copy(), where=total > 0)


def reweighted_formulas(prob: list[Expression], factor: np.ndarray) -> list[Expression]:
    """Return the same as expressions, of class 1 of two or of each."""
    scores = [float(each) * p for each, p in zip(factor, prob, strict=True)]
    return [quotient(scores[k], total(scores), prob[k]) for k in columns_of(len(prob))]


def factors_of(log_factor: np.ndarray) -> np.ndarray:
    """Return factors, of which only the ratios matter, so that none is infinite."""
    return np.exp(log_factor - max(float(log_factor.max()) - LARGEST_EXPONENT, 0.0))


def likeliest_factors(prob: np.ndarray, share: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the logarithms of the factors of least log loss, whose mean is 0, and whether there is an optimum.

    `share` has the observed shares of the classes, `weight` of the rows sums to 1. The log loss is convex in the
    logarithms, and at its minimum the mean reweighted prediction of each class is its share. Newton's method.
    """

    def at(log_factor: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean log loss, less what it is without factors, and the sum of each row."""
        with np.errstate(over="ignore", divide="ignore"):  # a step too far is taken back
            total = prob @ np.exp(log_factor)
            return float(weight @ np.log(total) - share @ log_factor), total

    log_factor, step = np.zeros(share.size), np.full(share.size, np.inf)
    loss, total = at(log_factor)
    for _ in range(MOST_STEPS):
        if np.abs(step).max() <= STILL:
            break
        with np.errstate(all="ignore"):  # of factors that grow without an end
            factor, part = np.exp(log_factor), weight / total
            mean = factor * (part @ prob)
            curvature = np.diag(mean) - factor * (((part / total)[:, None] * prob).T @ prob) * factor[:, None]
        if not np.isfinite(curvature).all():
            break
        bend, direction = np.linalg.eigh(curvature)
        told = bend > FLAT * max(bend[-1], FLAT)
        along = direction.T @ (share - mean)
        step = 2 * direction @ np.divide(along, bend, out=np.zeros(bend.size), where=told)
        if not np.isfinite(step).all():
            break
        while True:
            step = step / 2
            there, total = at(log_factor + step)
            if -np.inf < there <= loss + STILL * abs(loss) or np.abs(step).max() <= STILL:  # or the loss has no value
                break
        log_factor, loss = log_factor + step, there
    return log_factor - log_factor.mean(), bool(np.abs(step).max() <= LARGEST_LAST)


def estimated_shares(prob: np.ndarray, before: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, bool]:
    """Return the likeliest shares of the classes among rows without outcomes, and whether the search ended.

    The predictions are for shares `before`; `weight` of the rows sums to 1. The log-likelihood, the mean of log
    sum_k share_k p_k / before_k, is concave. Each step of the EM algorithm is followed by one of Newton's method, cut
    where a share would lose nine tenths of itself, unless it is not an improvement.
    """
    relative = np.ascontiguousarray((prob / before).T)
    share, total = before, before @ relative
    for _ in range(MOST_ROUNDS):
        part = weight / total
        gradient = relative @ part
        em = share * gradient
        if np.abs(em - share).max() <= SMALLEST_CHANGE:
            return em, True
        free = (share > NEXT_TO_NOTHING) | (gradient > 1)
        kept = relative if free.all() else relative[free]
        bend = (kept * (part / total)) @ kept.T
        step = np.linalg.lstsq(bend, gradient[free] - 1, rcond=None)[0]  # shares sum to 1 at the maximum
        lost = (-step / share[free]).max()
        newton = em * (1 - MOST_LOST)
        newton[free] = share[free] + step * min(1.0, MOST_LOST / lost if lost > 0 else 1.0)
        newton = newton / newton.sum()
        tried = [(each, each @ relative) for each in (em, newton)]
        share, total = max(tried, key=lambda each: float(weight @ np.log(each[1])))
    return share, False
