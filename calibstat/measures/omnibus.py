"""The omnibus statistic: smooth, scattered and local deviations from calibration in one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Never, TypeVar

import numpy as np

from calibstat.compiled import jit
from calibstat.data.cell_sums import cell_sums
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.in_order import first_largest
from calibstat.measures.components.deviations import BLOCK, DIAGNOSED, DIAGNOSED_CELLS, Diagnostics, cells_of_time
from calibstat.measures.components.local_components import FINEST_CELLS
from calibstat.measures.kinds.base import MulticlassMeasure
from calibstat.measures.kinds.binary_kinds import Binned, NotOfResiduals, OfResiduals
from calibstat.measures.kinds.cache import Cache
from calibstat.measures.kinds.named_measure import NamedMeasure
from calibstat.measures.kinds.one_sided import OneSidedCells
from calibstat.measures.kinds.population_value import BinaryPopulation, VectorPopulation
from calibstat.measures.kinds.registry import measure
from calibstat.progress import announced

T = TypeVar("T")
CELLS_OF_CLASSES = 2**16  # of all classes together, where there are many
GROWS = "it is the statistic of a test, which grows with the number of rows"


_diagnostics_of_classes, _statistic_of_classes = Cache(), Cache()


def most_cells(classes: int) -> int:
    """Return the largest number of cells of each class: fewer of many classes, but as many as the finest scale has."""
    return min(DIAGNOSED_CELLS, max(FINEST_CELLS, CELLS_OF_CLASSES // classes))


@measure(
    "omnibus",
    title="Omnibus statistic",
    formula=r"\log\bigl(e^{A} + e^{M - 1} + e^{G - 4}\bigr)",
    reference="Ledwina 1994, Data-driven version of Neyman's smooth test of fit, doi:10.1080/01621459.1994.10476834",
    bounds=(-1, math.inf),
    complete=False,
    sound=False,
    symmetric=False,
    no_interval="it is the statistic of a test, and no error of predictions",
    for_tests_only=True,
)
class Omnibus(Binned):
    """Evidence against calibration of any shape: the default of `calibration_test`.

    No options. It joins three parts: A, the largest of the standardised sums of the first 2, 3, ... squared smooth
    components of the residuals; M, the largest over scales of the standardised sum of the deviances of all cells; and
    G, the most surprising single cell. It is a number for tests, with no unit and no meaning as an error. A label
    that a prediction of 0 or 1 forbids makes it infinite. Cost: one sort of the rows; then at most 1024 cells of them,
    64 components and 7 scales, whatever the number of rows. More than 64 classes have fewer cells each, 65,536 in all
    or 128 of each.
    """

    most_values = DIAGNOSED_CELLS  # as many as it has cells

    def cells(self, value: np.ndarray, count: np.ndarray) -> np.ndarray:
        return cells_of_time(value, count)

    def cells_of_class(self, value: np.ndarray, count: np.ndarray, classes: int) -> np.ndarray:
        return cells_of_time(value, count, most_cells(classes))

    def estimate_classes(self, predictions: Predictions) -> np.ndarray:
        n, classes = predictions.prob.shape
        if most_cells(classes) == DIAGNOSED_CELLS:
            return super().estimate_classes(predictions)
        index, count, value = self.class_cells(predictions)
        observed = np.zeros(value.shape)
        np.add.at(observed, (predictions.label, index[np.arange(n), predictions.label]), 1)
        return self.reduce(count, observed / n - value, value)

    def of_residual(self, count: np.ndarray, value: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        given = value
        count, value = np.broadcast_arrays(count, value)
        *lead, cells = count.shape
        sums = list(zip(count.reshape(-1, cells), value.reshape(-1, cells), strict=True))
        diagnostics = (
            [Diagnostics.of(*each) for each in sums]
            if len(sums) <= DIAGNOSED
            else _diagnostics_of_classes.of(given, lambda: [Diagnostics.at(*each) for each in _preparing(sums)])
        )

        def statistic(residual: np.ndarray) -> np.ndarray:
            shape = np.broadcast_shapes(residual.shape[:-1], tuple(lead))
            residuals = np.broadcast_to(residual, (*shape, cells)).reshape(-1, len(diagnostics), cells)
            statistics = [each.statistic(residuals[:, k]) for k, each in enumerate(diagnostics)]
            return np.stack(statistics, axis=1).reshape(shape)

        return statistic

    def reduce(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> np.ndarray:
        return self.of_residual(count, value)(residual)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        cell = self.cells(value, count)
        rows, residual, sums = cell_sums(cell, value, count, positives)
        return Diagnostics.of(rows, sums).detail(residual)

    def population_value(self, population: BinaryPopulation) -> float:
        raise NotImplementedError(GROWS)

    def diagnose(self, sample: Sample) -> tuple[np.ndarray, Diagnostics] | None:
        cell = self.cells(sample.value, sample.count)
        count, _, value = cell_sums(cell, *sample.arrays)
        return cell, Diagnostics.of(count, value)

    def of_residuals(self, sample: Sample) -> Never:
        raise NotOfResiduals("its components are in units of how far the clusters of one event spread, not of several")

    def multiclass(self) -> MulticlassMeasure | None:
        return OmnibusOfClasses(self)


class OneSidedOmnibus(OneSidedCells, of=Omnibus):
    """The omnibus statistic without its smooth part, of cells with fewer (or more) events than expected.

    Statement and power: the page "One side".
    """

    def of_residual(self, count: np.ndarray, value: np.ndarray) -> OfResiduals:
        diagnostics = Diagnostics.of(count, value, self.sign)
        return lambda residual: diagnostics.statistic(np.atleast_2d(residual)).reshape(residual.shape[:-1])

    def largest_cells(self, count: np.ndarray, residual: np.ndarray, value: np.ndarray) -> tuple[int, int]:
        return Diagnostics.of(count, value, self.sign).largest_cells(residual)


@dataclass(frozen=True)
class OmnibusOfClasses(MulticlassMeasure):
    """The omnibus statistic of K classes: of each class against the rest and of the most likely class, together.

    It is the logarithm of the sum of their exponential functions.
    """

    why_no_weights: ClassVar[str] = "its scales are cut by counts of rows"

    single: Omnibus

    def check(self) -> None:
        """Take over the name and the known properties."""
        object.__setattr__(self, "name", self.single.name)
        object.__setattr__(self, "info", replace(self.single.info, symmetric=False))

    @property
    def options(self) -> dict[str, Any]:
        return self.single.options

    @property
    def named(self) -> NamedMeasure:
        return self.single.named

    def population_value(self, population: VectorPopulation) -> float:
        raise NotImplementedError(GROWS)

    def evaluate(self, prob: np.ndarray, label: np.ndarray) -> float:
        return float(self.batch(prob, label[None])[0])

    def batch(self, prob: np.ndarray, labels: np.ndarray) -> np.ndarray:
        return self.of_labels(prob)(labels)

    def strongest_part(self, predictions: Predictions) -> tuple[Omnibus, Sample, int | None]:
        label = predictions.label
        samples: list[tuple[Sample, int | None]]
        samples = [(Sample.from_rows(label == k, column), k) for k, column in enumerate(predictions.prob.T)]
        samples.append((Sample.from_rows(label == predictions.top, predictions.largest), None))
        best, k = samples[first_largest([self.single.estimate(sample) for sample, _ in samples])]
        return self.single, best, k

    def of_labels(self, prob: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        statistic: Callable[[np.ndarray], np.ndarray] = _statistic_of_classes.of(prob, lambda: self._of_labels(prob))
        return statistic

    def _of_labels(self, prob: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        n, classes = prob.shape
        top = prob.argmax(axis=1)
        columns = [*prob.T, prob[np.arange(n), top]]
        index = np.empty((n, classes + 1), np.int32)
        diagnostics, first = [], [0]
        for k, column in enumerate(_preparing(columns)):
            value, where, count = np.unique(column.astype(np.float64) + 0.0, return_inverse=True, return_counts=True)
            cell = self.single.cells_of_class(value, count.astype(np.float64), classes)
            rows, _, sums = cell_sums(cell, value, count.astype(np.float64), np.zeros(value.size))
            diagnostics.append(Diagnostics.at(rows, sums))
            index[:, k] = first[-1] + cell[where]
            first.append(first[-1] + rows.size)
        expected = np.concatenate([each.count * each.value for each in diagnostics])

        def statistic(labels: np.ndarray) -> np.ndarray:
            joined = np.empty(len(labels))
            for i in range(0, len(labels), BLOCK):
                part = labels[i : i + BLOCK]
                residual = (_positives_of(part, index, top, first[-1]) - expected) / n
                of_class = [
                    each.statistic(residual[:, a:b]) for each, (a, b) in zip(diagnostics, pairwise(first), strict=True)
                ]
                joined[i : i + BLOCK] = np.logaddexp.reduce(of_class, axis=0)
            return joined

        return statistic


def _preparing(classes: Sequence[T]) -> Iterator[T]:
    """Yield each class, and say how long all take if that is long."""
    return announced(classes, [1] * len(classes), f"the components of {len(classes):,} classes, before the draws")


@jit
def _positives_of(labels: np.ndarray, index: np.ndarray, top: np.ndarray, size: int) -> np.ndarray:
    """Count the rows of each class, and those whose most likely class is observed, at their places."""
    positives = np.zeros((labels.shape[0], size))
    last = index.shape[1] - 1
    for b in range(labels.shape[0]):
        for i in range(top.size):
            k = labels[b, i]
            positives[b, index[i, k]] += 1.0
            if k == top[i]:
                positives[b, index[i, last]] += 1.0
    return positives
