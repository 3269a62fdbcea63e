"""Four claims that tables 1 to 6 of Chidambaram and Ge (2024) make of recalibrations, judged of any table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calibstat.papers.parts.recalibrations import BEFORE, REPLACED

SCALED, BY_HISTOGRAM, MONOTONE = "temperature", "histogram, by class", "isotonic"
CLAIMED = ("ece", "average_ce", "smooth_ece")
EQUAL = 1e-12  # of accuracies, which are shares

LOWEST = f"{REPLACED} has the smallest ECE, average CE and SmoothECE"
SAME_ACCURACY = f"{REPLACED} keeps the accuracy"
WORSE = f"{REPLACED} has a larger log loss and Brier score than temperature scaling"
UNBOUNDED = "histogram binning by class and isotonic regression have an infinite log loss"


def claims(values: Mapping[str, Mapping[str, float]]) -> dict[str, bool]:
    """Return whether each claim holds of measures by model and name, of those whose models are there."""
    found: dict[str, bool] = {}
    if REPLACED in values:
        replaced, others = values[REPLACED], [own for name, own in values.items() if name != REPLACED]
        found[LOWEST] = all(replaced[measure] < own[measure] for own in others for measure in CLAIMED)
        found[SAME_ACCURACY] = abs(replaced["accuracy"] - values[BEFORE]["accuracy"]) <= EQUAL
        if SCALED in values:
            found[WORSE] = all(replaced[score] > values[SCALED][score] for score in ("log_loss", "brier"))
    if {BY_HISTOGRAM, MONOTONE} <= set(values):
        found[UNBOUNDED] = all(np.isinf(values[name]["log_loss"]) for name in (BY_HISTOGRAM, MONOTONE))
    return found
