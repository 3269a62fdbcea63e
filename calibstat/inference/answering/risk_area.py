"""Interval of the area under a curve of risk and coverage."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, of_counted_losses
from calibstat.bounds.tail_bound import UNSEEN
from calibstat.inference.answering.answered_rows import AnsweredRows


def risk_area(seen: AnsweredRows) -> MeanInterval:
    """Return the area with its interval: of a mean over rows of what each of them adds, to first order.

    A row that is wrong adds to the error at each confidence up to its own. Any row counts in the mean over rows, and is
    one more answer at each confidence up to its own.

    Rows that were not observed may be more confident than all others, which may be equally confident: so the least and
    the most that a row may add allow for two right rows, or two wrong ones, above all others.

    Statement and argument: docs/evidence/proofs/risk-area.md.
    """
    if_wrong = _from_here_on(seen.rows / seen.answered)
    in_any_case = seen.share - _from_here_on(seen.rows * seen.share / seen.answered)
    added = np.concatenate([in_any_case, in_any_case + if_wrong])
    count = np.concatenate([seen.rows - seen.wrong, seen.wrong])
    below = seen.rows / (seen.answered + UNSEEN)
    above_all = -float(below @ seen.share), 1 + float(below @ (1 - seen.share))
    bounds = min(float(added.min()), above_all[0]), max(float(added.max()), above_all[1])
    return of_counted_losses("area", added, count, lambda: added, bounds)


def _from_here_on(part: np.ndarray) -> np.ndarray:
    return np.cumsum(part[::-1])[::-1]
