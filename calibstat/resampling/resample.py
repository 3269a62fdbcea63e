"""Resamples of a measure, by the cheapest draw for its kind and the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.base import MulticlassMeasure
from calibstat.measures.binary_kinds import Binned, Statistic
from calibstat.measures.cell_sums import vector_sums
from calibstat.measures.multiclass_kinds import VectorBinned
from calibstat.resampling.draw import draw
from calibstat.resampling.schemes import Draws, Labels, OfRows
from calibstat.resampling.sources import CellSums, ClassSamples, VectorSums


def resample(
    measure: Statistic | MulticlassMeasure, data: Sample | Predictions, scheme: OfRows, draws: Draws, stage: int
) -> np.ndarray:
    """Return the measure of every resample: shape (B,), or (B, K) of the K classes with a binary measure.

    The cells of the data are kept, unless the measure refits them. All classes of a resample share the same draw.
    """
    if isinstance(measure, MulticlassMeasure):
        assert isinstance(data, Predictions)
        return _of_vectors(measure, data, scheme, draws, stage)
    if isinstance(data, Sample):
        return _of_sample(measure, data, scheme, draws, stage)
    return _of_classes(measure, data, scheme, draws, stage)


def _of_sample(measure: Statistic, sample: Sample, scheme: OfRows, draws: Draws, stage: int) -> np.ndarray:
    """Return a binary measure of every resample."""
    held = measure.held(sample.value, sample.count)
    if not isinstance(held, Binned):
        return draw(sample, scheme, held.evaluate, draws, stage)
    return draw(CellSums(sample, held.cells(sample.value, sample.count)), scheme, held.reduce, draws, stage)


def _of_vectors(
    measure: MulticlassMeasure, predictions: Predictions, scheme: OfRows, draws: Draws, stage: int
) -> np.ndarray:
    """Return a multiclass measure of every resample."""
    prob = predictions.prob
    binned = measure if isinstance(measure, VectorBinned) else None
    if not isinstance(scheme, Labels):
        cell = None if binned is None or binned.refits_cells else binned.cells(prob)

        def of_rows(rows: np.ndarray, label: np.ndarray) -> float:
            if binned is None or cell is None:
                return measure.evaluate(prob[rows], label)
            return float(binned.reduce(*vector_sums(cell[rows], prob[rows], label)))

        return draw(predictions, scheme, of_rows, draws, stage)
    if binned is None:
        return draw(predictions, scheme, lambda labels: measure.batch(prob, labels), draws, stage)
    cell = binned.cells(prob)
    count, _, value = vector_sums(cell, prob, predictions.label)
    source = VectorSums(predictions, cell[:, None] * predictions.n_classes, 1, value.size)
    return draw(source, scheme, _of_observed(binned.reduce, predictions.n, count, value), draws, stage)


def _of_classes(measure: Statistic, predictions: Predictions, scheme: OfRows, draws: Draws, stage: int) -> np.ndarray:
    """Return a binary measure for each class in every resample."""
    if isinstance(measure, Binned) and isinstance(scheme, Labels):
        place, count, value = measure.class_cells(predictions)
        source = VectorSums(predictions, place, value.shape[1], value.size)
        return draw(source, scheme, _of_observed(measure.reduce, predictions.n, count, value), draws, stage)

    def of_class(value: np.ndarray, count: np.ndarray) -> Callable[..., float]:
        return measure.held(value, count).evaluate

    return draw(ClassSamples(predictions), scheme, of_class, draws, stage)


def _of_observed(
    reduce: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray], n: int, count: np.ndarray, value: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a binned measure as a function of the number of draws of each class in each cell."""

    def statistic(observed: np.ndarray) -> np.ndarray:
        return np.asarray(reduce(count[None], observed.reshape(-1, *value.shape) / n - value, value[None]))

    return statistic
