"""Resamples of a measure, by the cheapest draw for its kind and the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from calibstat.data.cell_sums import cell_sums, vector_sums
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.kinds.base import MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Binned, Statistic
from calibstat.measures.kinds.multiclass_kinds import VectorBinned
from calibstat.resampling.draw import driver_of
from calibstat.resampling.schemes import Draws, Labels, OfRows, RowLabels
from calibstat.resampling.sources import ClassCells, ClassSamples, InOnePass, Source, in_cells

Resampler = Callable[[Draws], np.ndarray]


def resampler(
    measure: Statistic | MulticlassMeasure,
    data: Sample | Predictions,
    scheme: OfRows,
    stream: int,
    weight: np.ndarray | None = None,
) -> Resampler:
    """Return what draws resamples of a measure, again and again; what all of them share is computed once.

    It returns an array of shape (B,), or (B, K) of the K classes with a binary measure: all classes of a resample share
    the same draw. The cells of the data are kept, unless the measure refits them. `weight` is the weight of each row of
    `Predictions`.
    """
    if isinstance(measure, MulticlassMeasure):
        assert isinstance(data, Predictions)
        vectors = _of_vectors(measure, data, scheme) if weight is None else _of_weighted(measure, data, scheme, weight)
        source, statistic = vectors
    elif isinstance(data, Sample):
        source, statistic = _of_sample(measure, data, scheme)
    else:
        source, statistic = _of_classes(measure, data, scheme, weight)
    return partial(driver_of(source, scheme), source, scheme, statistic, stream=stream)


def _of_sample(measure: Statistic, sample: Sample, scheme: OfRows) -> tuple[Source, Any]:
    """Return the source and the statistic of a binary measure."""
    fixed = measure.with_fixed_cells(sample.value, sample.count)
    if isinstance(scheme, RowLabels):
        return sample, fixed.evaluate
    if not isinstance(fixed, Binned):
        one_pass = None
        if isinstance(scheme, Labels):
            one_pass = fixed.one_pass(sample.value, sample.count, scheme.chances(sample.value))
        return (sample, fixed.evaluate) if one_pass is None else (InOnePass(sample), one_pass)
    cell = fixed.cells(sample.value, sample.count)
    if not isinstance(scheme, Labels):
        return in_cells(sample, cell), fixed.reduce
    count, _, value = cell_sums(cell, *sample.arrays)
    of_residual = fixed.of_residual(count, value)
    return in_cells(sample, cell), lambda _, residual, __: of_residual(residual)


def _of_vectors(
    measure: MulticlassMeasure, predictions: Predictions, scheme: OfRows
) -> tuple[Source, Callable[..., Any]]:
    """Return the source and the statistic of a multiclass measure."""
    prob = predictions.prob
    binned = measure if isinstance(measure, VectorBinned) else None
    if not isinstance(scheme, Labels):
        cell = None if binned is None or binned.refits_cells else binned.cells(prob)

        def of_rows(rows: np.ndarray, label: np.ndarray) -> float:
            if binned is None or cell is None:
                return measure.evaluate(prob[rows], label)
            return float(binned.reduce(*vector_sums(cell[rows], prob[rows], label)))

        return predictions, of_rows
    if binned is None:
        return predictions, measure.of_labels(prob)
    cell = binned.cells(prob)
    count, _, value = vector_sums(cell, prob, predictions.label)
    source = ClassCells(predictions, cell[:, None] * predictions.n_classes, 1, value.size)

    def of_residual(residual: np.ndarray) -> np.ndarray:
        return np.asarray(binned.reduce(count[None], residual, value[None]))

    return source, _of_observed(of_residual, predictions.n, value)


def _of_weighted(
    measure: MulticlassMeasure, predictions: Predictions, scheme: OfRows, weight: np.ndarray
) -> tuple[Source, Callable[..., Any]]:
    """Return the source and the statistic of a multiclass measure of rows with weights, which are held fixed."""
    prob, draws_rows = predictions.prob, not isinstance(scheme, Labels)
    kept = isinstance(measure, VectorBinned) and not (draws_rows and measure.refits_cells)
    cell = measure.cells(prob) if isinstance(measure, VectorBinned) and kept else None

    def of_rows(rows: slice | np.ndarray, label: np.ndarray) -> float:
        return measure.weighted(prob[rows], label, weight[rows], None if cell is None else cell[rows])

    if draws_rows:
        return predictions, of_rows
    return predictions, lambda labels: np.array([of_rows(slice(None), label) for label in labels])


def _of_classes(
    measure: Statistic, predictions: Predictions, scheme: OfRows, weight: np.ndarray | None
) -> tuple[Source, Callable[..., Any]]:
    """Return the source and the statistic of a binary measure of each class."""
    if isinstance(measure, Binned) and isinstance(scheme, Labels) and weight is None:
        index, count, value = measure.class_cells(predictions)
        source = ClassCells(predictions, index, value.shape[1], value.size)
        return source, _of_observed(measure.of_residual(count, value), predictions.n, value)

    def of_class(value: np.ndarray, count: np.ndarray) -> Callable[..., float]:
        return measure.with_fixed_cells(value, count).evaluate

    return ClassSamples(predictions, weight), of_class


def _of_observed(
    of_residual: Callable[[np.ndarray], np.ndarray], n: int, value: np.ndarray
) -> Callable[[np.ndarray], np.ndarray]:
    """Return a binned measure as a function of the number of draws of each class in each cell."""

    def statistic(observed: np.ndarray) -> np.ndarray:
        residual = observed.reshape(-1, *value.shape) / n
        residual -= value  # in place: of many classes these are the largest arrays
        return np.asarray(of_residual(residual))

    return statistic
