"""Linear form of the mean or the maximum over all classes of a binary measure of each class against the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.bounds.directional_form import STEP, ByRows
from calibstat.bounds.linear_form import Allowance, LinearForm, upper_quantile
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample

REDUCTIONS: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "max": np.max}


@dataclass(frozen=True, eq=False)
class AllClassesForm(ByRows):
    """The mean or the maximum of the forms of all classes, which is a seminorm of all their sums together.

    `cells[k]`, shape (n,), is where each row adds in the sums of class k.
    """

    estimate: float
    forms: list[LinearForm]
    cells: list[np.ndarray]
    predictions: Predictions
    reduce: Callable[[Any], Any]

    def of_rows(self, rows: np.ndarray, label: np.ndarray) -> float:
        """Return the directional bootstrap of the measure in one resample."""
        found = []
        for k, form in enumerate(self.forms):
            residual = (label == k) - self.predictions.prob[rows, k].astype(np.float64)
            theta = np.bincount(self.cells[k][rows], residual, form.theta.size) / rows.size
            found.append(form.norm(form.theta + STEP * (theta - form.theta)))
        return float((self.reduce(found) - self.estimate) / STEP)

    def moves(self, theta: np.ndarray) -> np.ndarray:
        return theta

    def low(self, draw: Callable[[], np.ndarray], tail: float) -> float:
        below = [form.below(tail) for form in self.forms]
        normal, skewness = self.reduce([b.normal for b in below]), self.reduce([b.skewness for b in below])
        return self.estimate - Allowance(float(normal), float(skewness)).extend(upper_quantile(draw(), tail))

    def high(self, tail: float) -> float:
        """Return the mean or the maximum of the high ends of the classes.

        The class that is worst in the population is a fixed one. Of a mean with fixed weights the standard deviation
        is at most the mean of those of the classes, and so are its third moment and the size of an event.

        Statement and argument: docs/proofs.md, section 6.
        """
        return float(self.reduce([form.high(tail) for form in self.forms]))


def of_all_classes(form_of: Callable[[Sample], LinearForm], predictions: Predictions, reduce: str) -> AllClassesForm:
    """Return the form from that of one class, ``form_of(sample)``."""
    forms, cells = [], []
    for k in range(predictions.n_classes):
        value, count, cell = predictions.distinct(k)
        form = form_of(Sample(value, count, np.bincount(cell, predictions.label == k, value.size)))
        forms.append(form)
        cells.append(cell if form.cell is None else form.cell[cell])
    together = REDUCTIONS[reduce]
    return AllClassesForm(float(together([form.estimate for form in forms])), forms, cells, predictions, together)
