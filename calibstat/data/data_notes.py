"""Notes on outcomes, predictions and weights that look like a mistake, which results print."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.digits import settled
from calibstat.in_order import first_largest

PART_ROWS = 2**16  # predictions whose pairs are counted together
SIGMAS = 5.0  # standard errors below 1/2 of an AUC that is no chance: one in 3 million without any association
APART = 0.95  # AUC of weights for an outcome, above which they nearly tell the outcomes apart
NO_CHANCE = 2.5  # standard errors from 1/2 of that AUC: about 1 in 100 or less of weights without any association
SHIFTED = 3.0  # standard errors by which probabilities of the class before have to be higher
NOTHING_PREDICTED = (
    "Every prediction is 0 or 1: they look like labels from predict; use the probabilities from predict_proba."
)


def note_of_certainty(prob: np.ndarray) -> str:
    """Say so if all predictions, of whatever shape, are exactly 0 or 1."""
    certain = all(bool(((part == 0) | (part == 1)).all()) for part in (prob[:1], prob))  # mostly the first row is not
    return NOTHING_PREDICTED if certain else ""


def note_of_classes(predictions: Predictions) -> str:
    """Say of the first class whose predictions look reversed that they do; else whether classes count from 1."""
    for k in classes_maybe_reversed(predictions):
        sample = Sample.from_rows(predictions.label == k, predictions.prob[:, k])
        note = note_if_reversed(sample.count, sample.positives, f"class {predictions.names[k]}")
        if note:
            return note + note_of_numbers(predictions, " ")
    return note_of_numbers(predictions)


def classes_maybe_reversed(predictions: Predictions) -> np.ndarray:
    """Return the classes of which `may_be_reversed` holds, in one pass over the rows."""
    label, n = predictions.label, predictions.n
    of_observed = predictions.prob[np.arange(n), label].astype(np.float64)
    one = np.bincount(label, minlength=predictions.n_classes)
    total = np.bincount(label, of_observed, predictions.n_classes)
    lower = total * n < predictions.prob.sum(axis=0, dtype=np.float64) * one
    return np.flatnonzero(_are_enough(one, n) & lower)


def _are_enough(one: int | np.ndarray, n: int) -> Any:
    """Whether an AUC of so many events may be 5 standard errors below 1/2: of few events it never is, even if it is 0.

    `one` is a number, or an array of numbers.
    """
    return 3 * one * (n - one) > SIGMAS**2 * (n + 1)


def note_of_numbers(predictions: Predictions, start: str = "") -> str:
    """Say so if class 0 of more than two is never observed, and probabilities fit classes numbered from 1 better."""
    label, k = predictions.label, predictions.n_classes
    if k < 3 or label.min() == 0 or predictions.names != tuple(range(k)):
        return ""
    row = np.arange(label.size)
    gain = predictions.prob[row, label - 1].astype(np.float64) - predictions.prob[row, label]
    if not gain.sum() > SHIFTED * np.sqrt(gain @ gain):
        return ""
    return (
        f"{start}Class 0 is never observed, and the predictions fit better if classes are numbered from 1: then name "
        f"them with labels=range(1, {k + 1})."
    )


def note_of_cells(moved: float, count: np.ndarray) -> str:
    """Say what holds of results if predictions were summed up in the cells of `Sample.from_frame`; "" if none moved."""
    if moved == 0:
        return ""
    share = count.max() / count.sum()
    return (
        f"Predictions were summed up in cells of width 1/153,600, which moved them by at most {settled(moved):.1e}. "
        "Errors over 10, 15, 20, 25, 50 or 100 bins of equal width are exact; a measure that is 1-Lipschitz in the "
        f"predictions is off by at most {settled(moved):.1e}. Cumulative sums are known at ends of cells: ks may be "
        "too small "
        f"by up to {settled(share):.1e}, the largest share of observations in a cell, and kuiper by twice as much."
    )


def note_of_weights(weight: np.ndarray, is_whole: bool, separating: str) -> str:
    """Say how many rows there are, as how many of equal weight they count, and what whole or separating ones may be."""
    rows = int(np.count_nonzero(weight))
    count = f"By their weights {rows:,} rows count" if rows != 1 else "By its weight 1 row counts"
    sentence = f"{count} as {settled(weight.sum()):,.0f} of equal weight (effective n)"
    sentence += ", in which the rows of bins and ranges are counted."
    if separating:
        return f"{sentence}\n{separating}"
    whole = " The weights are whole numbers: if they count repeated rows, give a Sample with these counts."
    return sentence + whole * is_whole


def note_if_outcomes_apart(weight: np.ndarray, outcome: np.ndarray, prob: np.ndarray) -> str:
    """Say so if weights of rows nearly tell outcomes 0 and 1 apart, so that a test with these weights is blind.

    Where one outcome was not observed, and weights are equal, its own weight may be another one.
    """
    kept = weight > 0
    seen = np.unique(outcome[kept])
    if seen.size == 1 and np.count_nonzero(kept) > 1 and np.ptp(weight[kept]) == 0:
        return (
            f"No row has outcome {1 - int(seen[0])}, and all weights are equal. If weights depend on the outcome, and "
            "rows of that outcome weigh more, intervals are too short: they know of no larger weight than was seen."
        )
    k = _told_apart(weight, outcome.astype(np.int64), prob[:, None])
    if k < 0:
        return ""
    return (
        f"{_blind('outcome 1')} correct the predictions for what was kept: q = p / (p + (1 - p) * rate), with rate the "
        "weight of a row with outcome 1 divided by the weight of a row with outcome 0, and give q without weights."
    )


def note_if_classes_apart(weight: np.ndarray, predictions: Predictions) -> str:
    """Say so if weights of rows nearly tell a class from the others, so that a test with these weights is blind."""
    if predictions.n_classes == 2:
        return note_if_outcomes_apart(weight, predictions.label, predictions.prob[:, 1])
    k = _told_apart(weight, predictions.label, predictions.prob)
    if k < 0:
        return ""
    return (
        f"{_blind(f'class {predictions.names[k]}')} correct the predictions for what was kept: divide the probability "
        "of each class by the weight of its rows, let each row sum to 1 again, and give them without weights."
    )


def _blind(of: str) -> str:
    return (
        f"The weights nearly determine {of}. If rows were kept or left out by their outcome, a test that keeps these "
        "weights fixed is blind to errors:"
    )


def _told_apart(weight: np.ndarray, label: np.ndarray, prob: np.ndarray) -> int:
    """Return the class of which weights have the highest AUC, or lowest, if they nearly tell it apart; else -1.

    Class k has the probabilities in column k; outcomes 0 and 1 have one column, of outcome 1. Weights that depend on
    the predictions alone tell no more than these, unless they tell all.
    """
    kept = weight > 0
    weight, label, prob = weight[kept], label[kept], prob[kept]
    _, index, count = np.unique(weight, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[index]
    binary = prob.shape[1] == 1
    rows, ranks = (np.bincount(label, w, minlength=prob.shape[1] + binary) for w in (None, rank))
    rows, ranks = rows[int(binary) :].astype(np.float64), ranks[int(binary) :]
    others = label.size - rows
    pairs = np.maximum(rows * others, 1.0)
    area = np.where(rows * others > 0, (ranks - rows * (rows + 1) / 2) / pairs, 0.5)
    apart = np.abs(area - 0.5)
    beyond = apart * np.sqrt(12 * pairs / (label.size + 1)) > NO_CHANCE
    k = int(first_largest(np.where(beyond, apart, 0.0)))
    if not (beyond[k] and apart[k] > APART - 0.5):
        return -1
    if apart[k] < 0.5:
        sample = Sample.from_rows(label == (1 if binary else k), prob[:, k])
        if not apart[k] > abs(auc(sample.count, sample.positives)[0] - 0.5):
            return -1
    return k


# --- predictions that look reversed: lower where the outcome was observed, beyond noise -------------------------------


def auc(count: np.ndarray, positives: np.ndarray) -> tuple[float, float]:
    """Return the AUC of distinct ascending predictions, given by counts, and its distance from 1/2 in standard errors.

    The standard error belongs to Mann and Whitney's statistic without ties, if outcomes had nothing to do with
    predictions. It is too large where there are ties, so that few events among equal predictions are no evidence. Both
    numbers are nan unless both outcomes were observed.
    """
    one, zero, pairs = positives.sum(), 0.0, 0.0
    for first in range(0, count.size, PART_ROWS):
        events = positives[first : first + PART_ROWS]
        negatives = count[first : first + PART_ROWS] - events
        below = np.cumsum(negatives) - negatives / 2 + zero
        pairs += float(events @ below)
        zero += negatives.sum()
    if not (one and zero):
        return np.nan, np.nan
    area = float(pairs / (one * zero))
    return area, (area - 0.5) * float(np.sqrt(12 * one * zero / (one + zero + 1)))


def note_if_reversed(count: np.ndarray, positives: np.ndarray, outcome: str) -> str:
    """Return a sentence if the predictions of an outcome look reversed, else an empty text."""
    area, distance = auc(count, positives)
    if not distance < -SIGMAS:
        return ""
    return (
        f"The predictions look reversed: predictions of {outcome} are mostly lower where it was observed "
        f"(AUC {settled(area):.2g}, {settled(-distance):.2g} standard errors below 1/2). Check which column or "
        "label is which."
    )


def may_be_reversed(prob: np.ndarray, is_observed: np.ndarray) -> bool:
    """Whether predictions are on average lower where the outcome was observed, and these are enough to say more.

    It spares a sort.
    """
    if not _are_enough(int(np.count_nonzero(is_observed)), is_observed.size):
        return False
    return bool(prob[is_observed].mean(dtype=np.float64) < prob.mean(dtype=np.float64))
