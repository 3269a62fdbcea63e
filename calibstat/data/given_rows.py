"""Outcomes and predictions of one model as they were given, and what a lens shows of them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data import lenses
from calibstat.data.calibration_map import CalibrationMap
from calibstat.data.lenses import AnyLens, Lens, OfEachClass, find_lens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import EVENT
from calibstat.data.null_hypothesis import EVENT_NULL
from calibstat.data.observations import BinaryData, ClassWiseData, MulticlassData, Observations
from calibstat.data.predictions import Predictions, as_predictions
from calibstat.data.sample import Sample, as_sample, sample_of_rows
from calibstat.data.validation import as_rows, check_rows, n_columns
from calibstat.data.weighted_sample import as_weights


class GivenRows:
    """Outcomes and predictions as they were given; what is checked or made of them is kept."""

    def __init__(
        self,
        y_true: ArrayLike | Sample | Predictions,
        y_prob: Predicted,
        sample_weight: ArrayLike | None,
        labels: ArrayLike | None,
    ) -> None:
        self.y_true, self.y_prob, self.sample_weight, self.labels = y_true, y_prob, sample_weight, labels

    @cached_property
    def summary(self) -> Sample:
        """The rows of a binary outcome as a `Sample`."""
        return as_sample(self.y_true, self.y_prob, self.sample_weight, self.labels)

    @cached_property
    def binary(self) -> tuple[np.ndarray, np.ndarray]:
        """Outcomes and predictions of outcome 1."""
        y, p = as_rows(self.y_true, self.y_prob, self.labels)
        check_rows(y, p)
        return y, p

    @cached_property
    def predictions(self) -> Predictions:
        """The classes and their predictions."""
        return as_predictions(self.y_true, self.y_prob, self.labels)

    @cached_property
    def all_binary_rows(self) -> Sample:
        """The rows of a binary outcome without their weights."""
        return sample_of_rows(*self.binary)

    @cached_property
    def are_of_classes(self) -> bool:
        """Whether there are several columns of predictions."""
        return isinstance(self.y_true, Predictions) or (self.y_prob is not None and n_columns(self.y_prob) > 2)

    @cached_property
    def n_classes(self) -> int:
        """Number of classes, 2 of a binary outcome."""
        return self.predictions.n_classes if self.are_of_classes else 2

    def weight(self, n: int) -> tuple[np.ndarray | None, bool]:
        """Return the checked weights of so many rows, or None, and whether they look like counts."""
        if self.sample_weight is None:
            return None, False
        weight = as_weights(self.sample_weight, n)
        given = np.asarray(self.sample_weight, np.float64)
        return weight, bool((given == np.floor(given)).all() and (given > 1).any())

    def seen(self, lens: AnyLens, canonical: bool) -> Observations:
        """Return what a lens shows of the rows.

        Without a lens these are outcome 1 of two classes, or the most likely one of more; if `canonical`, all classes
        jointly.
        """
        if isinstance(self.y_true, Sample):
            if lens is not None or canonical:
                wanted = "a multiclass measure" if canonical else "a lens"
                raise ValueError(f"expected rows or Predictions for {wanted}, found a Sample, which is binary")
            return BinaryData(EVENT, EVENT_NULL, None, self.summary)
        if not self.are_of_classes and lens is None and not canonical:
            if self.y_prob is None:
                return BinaryData(EVENT, EVENT_NULL, None, self.summary)
            return BinaryData(EVENT, EVENT_NULL, self.binary, None, None, *self.weight(self.binary[0].size))
        predictions, seen = self.predictions, self._lens(lens, canonical)
        is_event = lens is None and predictions.n_classes == 2 and not canonical
        named, null = (EVENT, EVENT_NULL) if is_event else (seen.named, seen.hypothesis)
        if isinstance(seen, OfEachClass):
            weight, is_whole = self.weight(predictions.n)
            return ClassWiseData(named, null, predictions, seen.reduce, weight=weight, weight_is_whole=is_whole)
        outcomes, scores = seen.rows(predictions)
        if scores.ndim == 1:
            rows = as_rows(outcomes, scores)
            check_rows(*rows)
            return BinaryData(
                named, null, rows, None, predictions, *self.weight(rows[0].size), confidences=seen.confidences
            )
        shown, (weight, is_whole) = seen.vectors(predictions, outcomes, scores), self.weight(predictions.n)
        return MulticlassData(named, null, shown, weight=weight, weight_is_whole=is_whole, confidences=seen.confidences)

    def _lens(self, lens: AnyLens, canonical: bool) -> Lens | OfEachClass:
        """Return the given lens of classes, or without one the lens that functions use by default."""
        if lens is not None:
            return find_lens(lens)
        if canonical:
            return lenses.canonical
        return lenses.one_class(1) if self.predictions.n_classes == 2 else lenses.top_label

    def chances(self, of: CalibrationMap, seen: Observations, lens: AnyLens, canonical: bool) -> np.ndarray:
        """Return the probabilities from which outcomes come if a calibration map is right.

        Of an event that was predicted as such, one for each distinct prediction, shape (m,); of what a lens shows of
        classes, one for each row and outcome of the lens, shape (n, L).
        """
        if isinstance(seen, BinaryData) and seen.predictions is None:
            return of.of_event(seen.predicted)
        prob, shown = self.predictions.prob, self._lens(lens, canonical)
        chance = of.of_vectors(prob)
        if isinstance(shown, OfEachClass):
            return chance
        return shown.chances(prob, chance, 2 if seen.kind == "binary" else seen.predicted.shape[1])
