"""Recalibration on held-out folds: predictions of each fold from a map fitted on the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.data.checked_rows import Data, Models
from calibstat.data.clipping import needed
from calibstat.data.predictions import Predictions
from calibstat.data.validation import n_columns
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.comparing.compare import Comparison, compare
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.output.wording import number
from calibstat.recalibration.held_out import held_out_predictions
from calibstat.recalibration.platt_scaling import PlattScaling
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.recalibration.temperature_scaling import TemperatureScaling
from calibstat.reporting.report_measures import beside
from calibstat.resampling import folds, key_of
from calibstat.resampling.rng import Rng
from calibstat.result import Result

FOLDS = 5


@dataclass(frozen=True, eq=False)
class CrossFitted(Result):
    """A model before and after recalibration on held-out folds.

    Attributes
    ----------
    recalibrator : str
        The calibration map.
    folds : int
        Number of folds, dealt at random; each is predicted by a map that was fitted on the others.
    before, after : ConfidenceInterval
        The primary calibration error. After recalibration it is the error of the maps taken together, each for its
        fold, and its interval is approximate: rows share fitted maps, whose own errors partly cancel between folds.
    brier : Comparison
        The Brier score before and after, and the paired difference.
    diagram : Reliability or None
        The reliability diagram after recalibration, of a binary outcome.
    """

    recalibrator: str
    folds: int
    before: ConfidenceInterval
    after: ConfidenceInterval
    brier: Comparison
    diagram: Reliability | None

    def __str__(self) -> str:
        before, after = self.before, self.after
        change, low, high = (
            number(-each) for each in (self.brier.difference[0], self.brier.high[0], self.brier.low[0])
        )
        return (
            f"{self.recalibrator}, fitted on {self.folds - 1} of {self.folds} random parts of the rows and applied "
            f"to the other one, each in turn: {before.measure} {before.estimate:.4f} "
            f"[{before.low:.4f}, {before.high:.4f}] before, "
            f"{after.estimate:.4f} [{after.low:.4f}, {after.high:.4f}] after. Brier score "
            f"{self.brier.estimates[0]:.4f} before, {self.brier.estimates[1]:.4f} after, a change of {change} "
            f"[{low}, {high}]. Intervals are approximate, because rows share fitted maps: they are of the "
            f"{self.folds} maps together, and a map of many free values, such as bins of few rows, may be further off."
            f"{self._remarks}"
        )

    @property
    def _remarks(self) -> str:
        parts = (("Before", self.before), ("After", self.after))
        return "".join(f" {name}: {error.remark(number)}" for name, error in parts if error.remark())


def folds_of(n: int, unit: np.ndarray | None, rng: Rng) -> np.ndarray:
    """Return the fold of each of n rows, dealt at random; all rows of a cluster go to one.

    It depends on the seed, the positions of the rows and which of them share a cluster, never on what they contain.
    """
    if unit is None:
        return folds(key_of(rng), n, FOLDS)
    _, first, unit = np.unique(unit, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # clusters by their first rows, whatever their names
    return folds(key_of(rng), first.size, FOLDS)[rank][unit]


def default_recalibrator(data: Predictions) -> Recalibrator:
    """Return Platt scaling of two classes, temperature scaling of more; predictions of 0 and 1 are moved a little."""
    clip = needed(data.prob)
    clip = None if clip is None else float(f"{clip:.2g}")
    return PlattScaling(clip=clip) if data.n_classes == 2 else TemperatureScaling(clip=clip)


def cross_fitted(
    data: Data,
    recalibrator: Recalibrator | None,
    error_before: ConfidenceInterval,
    primary: dict[str, Any],
    score: dict[str, Any],
    settings: dict[str, Any],
    band: Any,
) -> CrossFitted:
    """Recalibrate a model on held-out folds, and measure it after; `error_before` is its primary error."""
    given = data.predictions
    recalibrator = default_recalibrator(given) if recalibrator is None else recalibrator
    before, after = given.prob, held_out_predictions(given, folds_of(given.n, data.unit, settings["rng"]), recalibrator)
    if given.n_classes == 2 and (data.rows.y_prob is None or n_columns(data.rows.y_prob) == 1):
        before, after = before[:, 1], after[:, 1]
    names = np.array(given.names, dtype=object)
    rows: dict[str, Any] = {"labels": [*given.names], "cluster": data.unit}
    both = Models(names[given.label], {"before": before, "after": after}, **rows)
    new = both["after"]
    error = confidence_interval(new.through(primary["lens"]), **beside(primary), **settings)
    diagram = None
    if band is not None:
        diagram = reliability(new.through(data.lens), interval=False, **band)
    return CrossFitted(
        recalibrator=repr(recalibrator),
        folds=FOLDS,
        before=error_before,
        after=error,
        brier=compare(both.through(score["lens"]), **beside(score), **settings),
        diagram=None if diagram is None else replace(diagram, interval=error),
    )
