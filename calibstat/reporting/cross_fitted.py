"""Recalibration on held-out folds: predictions of each fold from a map fitted on the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibstat.data.checked_rows import Data, Models
from calibstat.data.clipping import default_clip
from calibstat.data.folds_of_rows import FEWEST_ROWS
from calibstat.data.predictions import Predictions
from calibstat.data.validation import n_columns
from calibstat.digits import settled
from calibstat.inference.bands.reliability import reliability
from calibstat.inference.bands.reliability_diagrams import Reliability
from calibstat.inference.compare import compare
from calibstat.inference.comparison_results import Comparison
from calibstat.inference.confidence_interval import confidence_interval
from calibstat.inference.confidence_interval_results import ConfidenceInterval
from calibstat.inference.designs.design_of import design_of
from calibstat.output.wording import number
from calibstat.recalibration.held_out import held_out_predictions
from calibstat.recalibration.platt_scaling import PlattScaling
from calibstat.recalibration.recalibrator import Recalibrator
from calibstat.recalibration.temperature_scaling import TemperatureScaling
from calibstat.reporting.report_measures import beside
from calibstat.resampling import key_of, repeated_folds
from calibstat.result import Result

FOLDS, REPEATS = 5, 3
FOLDS_NOTE = (
    "The interval after recalibration is for the {folds} fitted maps on new rows; there is no guarantee for a map "
    "refitted on all rows. Folds were dealt {repeats} times."
)
AS_IF_FRESH = (
    "The interval after recalibration is for the {folds} fitted maps together. It is approximate, because rows share "
    "fitted maps, and may be further off for a map with many free values, such as bins of few rows."
)


@dataclass(frozen=True, eq=False)
class CrossFitted(Result):
    """A model before and after recalibration on held-out folds.

    Attributes
    ----------
    recalibrator : str
        The calibration map.
    folds, repeats : int
        Number of folds, dealt at random, and how many times; each fold is predicted by a map that was fitted on the
        others.
    before, after : ConfidenceInterval
        The primary calibration error. After recalibration it is the error of the maps, for each row one of them at
        random. Of one event it is of predictions out of folds, by the method for the kind of map. Of several classes,
        and of fewer than ten clusters, it is approximate, as if the rows were fresh: their own errors partly cancel
        between folds.
    brier : Comparison
        The Brier score before and after, and the paired difference.
    diagram : Reliability or None
        The reliability diagram after recalibration, of a binary outcome, by the first time that folds were dealt.
    """

    recalibrator: str
    folds: int
    repeats: int
    before: ConfidenceInterval
    after: ConfidenceInterval
    brier: Comparison
    diagram: Reliability | None

    def __str__(self) -> str:
        before, after = self.before, self.after
        change, low, high = (
            number(-each) for each in (self.brier.difference[0], self.brier.high[0], self.brier.low[0])
        )
        caveat = FOLDS_NOTE if self.repeats > 1 else AS_IF_FRESH
        caveat = caveat.format(repeats=self.repeats, folds=self.folds)
        return (
            f"{self.recalibrator} takes {before.measure} from {settled(before.estimate):.4f} "
            f"[{settled(before.low):.4f}, {settled(before.high):.4f}] to {settled(after.estimate):.4f} "
            f"[{settled(after.low):.4f}, {settled(after.high):.4f}]. The Brier score goes from "
            f"{settled(self.brier.estimates[0]):.4f} to {settled(self.brier.estimates[1]):.4f}, a change of {change} "
            f"[{low}, {high}]. Each of {self.folds} random parts of the rows is recalibrated by a map fitted on the "
            f"others. {caveat}{self._remarks}"
        )

    @property
    def _remarks(self) -> str:
        parts = (("Before", self.before), ("After", self.after))
        return "".join(f" {name}: {error.remark(number)}" for name, error in parts if error.remark())


def default_recalibrator(data: Predictions) -> Recalibrator:
    """Return Platt scaling of two classes, temperature scaling of more; predictions of 0 and 1 are moved a little."""
    clip = default_clip(data.prob)
    return PlattScaling(clip=clip) if data.n_classes == 2 else TemperatureScaling(clip=clip)


@dataclass(frozen=True)
class _BeforeAndAfter:
    """Predictions before and after recalibration, and how the ones after it are judged."""

    models: Models
    first: Data  # after recalibration, by the folds that were dealt first
    judged_by: dict[str, Any]


def _by_folds(data: Data, key: np.uint64, recalibrator: Recalibrator) -> _BeforeAndAfter:
    """Recalibrate by folds dealt several times; of one event, of which intervals with folds are studied."""
    given, names = data.predictions, np.array(data.predictions.names, dtype=object)
    rows: dict[str, Any] = {"labels": [*given.names], "cluster": design_of(data).unit}
    fold = repeated_folds(key, given.label, FOLDS, REPEATS, rows["cluster"])
    after = np.column_stack([held_out_predictions(given, column, recalibrator)[:, 1] for column in fold.T])
    before = np.repeat(given.prob[:, 1:], REPEATS, axis=1)
    models = Models(names[given.label], {"before": before, "after": after}, folds=fold, **rows)
    judged_by = {"method": recalibrator.interval_method}
    return _BeforeAndAfter(models, Data(names[given.label], after[:, 0], **rows), judged_by)


def _as_if_fresh(data: Data, key: np.uint64, recalibrator: Recalibrator) -> _BeforeAndAfter:
    """Recalibrate by folds dealt once; of several classes and of few clusters, of which no study has folds."""
    given, names = data.predictions, np.array(data.predictions.names, dtype=object)
    rows: dict[str, Any] = {"labels": [*given.names], "cluster": design_of(data).unit}
    fold = repeated_folds(key, given.label, FOLDS, 1, rows["cluster"])[:, 0]
    before, after = given.prob, held_out_predictions(given, fold, recalibrator)
    if given.n_classes == 2 and (data.rows.y_prob is None or n_columns(data.rows.y_prob) == 1):
        before, after = before[:, 1], after[:, 1]
    models = Models(names[given.label], {"before": before, "after": after}, **rows)
    return _BeforeAndAfter(models, models["after"], {})


def cross_fitted(
    data: Data,
    recalibrator: Recalibrator | None,
    error_before: ConfidenceInterval,
    primary: dict[str, Any],
    score: dict[str, Any],
    settings: dict[str, Any],
    band: Mapping[str, Any] | None,
) -> CrossFitted:
    """Recalibrate a model on held-out folds, and measure it after; `error_before` is its primary error."""
    recalibrator = default_recalibrator(data.predictions) if recalibrator is None else recalibrator
    of_one_event = data.predictions.n_classes == 2 and data.lens is None
    unit = design_of(data).unit
    enough = unit is None or int(unit.max()) + 1 >= FEWEST_ROWS * FOLDS
    recalibrate = _by_folds if of_one_event and enough else _as_if_fresh
    both = recalibrate(data, key_of(settings["rng"]), recalibrator)
    after = both.models["after"].through(primary["lens"])
    error = confidence_interval(after, **beside(primary), **both.judged_by, **settings)
    diagram = None
    if band is not None:
        diagram = reliability(both.first.through(data.lens), interval=False, **band)
    return CrossFitted(
        recalibrator=repr(recalibrator),
        folds=FOLDS,
        repeats=REPEATS if both.judged_by else 1,
        before=error_before,
        after=error,
        brier=compare(both.models.through(score["lens"]), **beside(score), **settings),
        diagram=None if diagram is None else replace(diagram, interval=error),
    )
