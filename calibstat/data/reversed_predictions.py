"""Predictions that look reversed: lower where the outcome was observed, beyond noise."""

from __future__ import annotations

import numpy as np

SIGMAS = 5.0  # standard errors below 1/2 of an AUC that is no chance: one in 3 million without any association


def auc(count: np.ndarray, positives: np.ndarray) -> tuple[float, float]:
    """Return the AUC of distinct ascending predictions, given by counts, and its distance from 1/2 in standard errors.

    The standard error belongs to Mann and Whitney's statistic without ties, if outcomes had nothing to do with
    predictions. It is too large where there are ties, so that few events among equal predictions are no evidence. Both
    numbers are nan unless both outcomes were observed.
    """
    negatives = count - positives
    one, zero = positives.sum(), negatives.sum()
    if not (one and zero):
        return np.nan, np.nan
    below = np.cumsum(negatives) - negatives
    area = float(positives @ (below + negatives / 2) / (one * zero))
    return area, (area - 0.5) * float(np.sqrt(12 * one * zero / (one + zero + 1)))


def note_if_reversed(count: np.ndarray, positives: np.ndarray, outcome: str) -> str:
    """Return a sentence if the predictions of an outcome look reversed, else an empty text."""
    area, distance = auc(count, positives)
    if not distance < -SIGMAS:
        return ""
    return (
        f"The predictions look reversed: predictions of {outcome} are mostly lower where it was observed "
        f"(AUC {area:.2g}, {-distance:.2g} standard errors below 1/2). Check which column or label is which."
    )


def may_be_reversed(prob: np.ndarray, is_observed: np.ndarray) -> bool:
    """Whether predictions are on average lower where the outcome was observed, and these are enough to say more.

    It spares a sort. The AUC of few events is never 5 standard errors below 1/2, not even if it is 0.
    """
    one = np.count_nonzero(is_observed)
    zero = is_observed.size - one
    if 3 * one * zero <= SIGMAS**2 * (one + zero + 1):
        return False
    return bool(prob[is_observed].mean(dtype=np.float64) < prob.mean(dtype=np.float64))
