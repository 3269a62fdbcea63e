"""Certain predictions, exactly 0 or 1, which have no finite logit: an error, or clipping."""

from __future__ import annotations

import numpy as np

from calibstat.data.checks import is_number
from calibstat.digits import settled

LEAST_SINGLE = 2.0**-24  # half a step of float32 below 1: where a single-precision prediction is rounded to 1
LEAST_CLIP = 2.0**-53  # below it 1 - clip is 1


class NeedsClip(ValueError):
    """Raised for a prediction of exactly 0 or 1 by what takes its logarithm: with a `clip` it would take it."""


def check_clip(clip: object) -> float | None:
    """Return the option `clip` as a float, or None; raise a ValueError if it is out of range."""
    if clip is None:
        return None
    if not is_number(clip) or not LEAST_CLIP <= clip < 0.5:
        raise ValueError(f"expected clip None or a number from 2**-53 to below 1/2, found {clip!r}")
    return float(clip)


def clipped(prob: np.ndarray, clip: float | None) -> np.ndarray:
    """Return the predictions moved into [clip, 1 - clip], or unchanged if clip is None."""
    clip = check_clip(clip)
    return prob if clip is None else np.clip(prob.astype(np.float64), clip, 1 - clip)


def uncertain(
    prob: np.ndarray, clip: float | None, what: str, *, one: bool = True, rows: np.ndarray | None = None
) -> np.ndarray:
    """Return predictions strictly between 0 and 1: clipped, or if clip is None, raise if one is certain.

    The message names `what` takes logarithms and the first row with a certain prediction, and suggests a `clip`. `prob`
    has shape (n,) or (n, K), a row for each row of the data; if it has not, `rows` are the predictions row by row. With
    `one` false a probability of 1 is allowed.
    """
    out = clipped(prob, clip)
    certain = (out == 0) | (out == 1) if one else out == 0
    if not certain.any():
        return out
    given = prob if rows is None else rows
    index = np.argwhere((given == 0) | (given == 1) if one else given == 0)[0]
    where = f"class {index[1]} at row {index[0]}" if index.size == 2 else f"row {index[0]}"
    bounds = "above 0 and below 1" if one else "above 0"
    raise NeedsClip(
        f"expected probabilities {bounds} for {what}, which takes their logarithms; found {given[tuple(index)]:g} for "
        f"{where}; {advice(given)}"
    )


def advice(prob: np.ndarray) -> str:
    """Return the advice of an error message: a value of `clip` for these predictions."""
    return f"clip={_in_words(suggested(prob))} moves predictions that far from 0 and 1"


def suggested(prob: np.ndarray) -> float:
    """Return half the least distance from 0 or 1 of the predictions strictly between them, at least 2**-24.

    Clipped by that, a certain prediction remains the most certain of all. If all are certain it is 1 / (2 n + 2),
    as n rows without a failure show only that failures are rarer than about 1 in n.
    """
    prob = np.asarray(prob, np.float64)
    inside = prob[(prob > 0) & (prob < 1)]
    if inside.size == 0:
        return max(1 / (2 * len(prob) + 2), LEAST_SINGLE)
    return max(float(np.minimum(inside, 1 - inside).min()) / 2, LEAST_SINGLE)


def needed(prob: np.ndarray) -> float | None:
    """Return the suggested `clip` if some prediction is certain, else None."""
    return suggested(prob) if has_certain(prob) else None


def default_clip(prob: np.ndarray) -> float | None:
    """Return the same as messages suggest it, with two digits: by default maps are chosen and fitted with it."""
    return float(_in_words(suggested(prob))) if has_certain(prob) else None


def has_certain(prob: np.ndarray) -> bool:
    """Whether some prediction is exactly 0 or 1."""
    return bool(((prob == 0) | (prob == 1)).any())


def moved_rows(prob: np.ndarray, clip: float | None) -> int:
    """Return how many rows, (n,) or (n, K), a `clip` moves: with any prediction that is nearer to 0 or 1."""
    if clip is None:
        return 0
    moved = (prob < clip) | (prob > 1 - clip)
    return int(np.count_nonzero(moved if moved.ndim == 1 else moved.any(axis=1)))


def _in_words(clip: float) -> str:
    return f"{settled(clip):.2g}"
