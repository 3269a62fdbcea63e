"""Every test of calibration on offer, as p-values of many drawn data sets with the same predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibstat import MEASURES, Sample
from calibstat.classical.logistic import LogitPolynomial
from calibstat.classical.t_cal import over_scales
from calibstat.data.checked_rows import Data
from calibstat.inference.p_values import p_values
from calibstat.inference.problems.pose import problem_of
from calibstat.measures.kinds.registry import find_measure
from calibstat.papers.parts.grid import every_test
from calibstat.planning.test_names import CLASSICAL
from calibstat.resampling import Draws, Labels, Stream, draw

CLIP = 1e-6  # of predictions of 0 and 1, for tests that take logits
OF_SUMS = {
    "Spiegelhalter": "spiegelhalter",
    "Hosmer–Lemeshow": "hosmer_lemeshow",
    "Kolmogorov–Smirnov, limit": "kolmogorov_smirnov",
    "Kuiper, limit": "kuiper_limit",
}
ROUNDING = 100 * np.finfo(float).eps


@dataclass(frozen=True)
class Drawing:
    """Fixed predictions, and the draws of the null distribution."""

    sample: Sample
    null: Draws

    def outcomes(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Draw the positives at each distinct prediction, of shape (draws, m)."""
        return draw(self.sample, Labels(truth), lambda _, __, positives: positives.copy(), draws, Stream.LABELS)


class Offered(ABC):
    """A test; `exact` ones keep their level by theory, others have a size to be measured."""

    exact: bool = True

    @abstractmethod
    def pvalues(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the p-value of every data set drawn from these probabilities, by default the predictions."""


@dataclass
class ByMeasure(Offered):
    """The test of a measure: its statistic among those of resamples, which all data sets share."""

    drawing: Drawing
    measure: str
    options: dict[str, Any]

    def statistics(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the statistic of every data set."""
        problem = problem_of(Data(self.drawing.sample), find_measure(self.measure, self.options))
        return problem.resampler(Labels(truth), Stream.LABELS)(draws)

    @cached_property
    def null(self) -> np.ndarray:
        """The statistics of the null distribution."""
        return self.statistics(None, self.drawing.null)

    def pvalues(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the p-values, as `calibration_test` defines them."""
        return p_values(self.statistics(truth, draws), self.null, MEASURES[self.measure].info.tail)


@dataclass
class ByScales(Offered):
    """T-Cal: the smallest p-value of several scales among those of the resamples, which all data sets share."""

    drawing: Drawing

    def statistics(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the debiased squared errors of every data set at every scale."""
        sample = self.drawing.sample
        return draw(sample, Labels(truth), over_scales(sample)[1], draws, Stream.LABELS)

    @cached_property
    def null(self) -> tuple[np.ndarray, np.ndarray]:
        """The null distribution at every scale, and how many of it are at least as large as each."""
        table = self.statistics(None, self.drawing.null)
        return table, np.stack([_at_least(column, column) for column in table.T], axis=1)

    def pvalues(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the p-values, as `t_cal` defines them."""
        table, rank = self.null
        of_data = self.statistics(truth, draws)
        least = np.stack([_at_least(a, b) for a, b in zip(table.T, of_data.T, strict=True)], axis=1).min(axis=1) + 1
        known = table - ROUNDING * np.maximum(1.0, np.abs(table))
        # the data count among what is at least as large as a resample
        first = [np.count_nonzero((rank + (x >= known)).min(axis=1) <= k) for x, k in zip(of_data, least, strict=True)]
        return (1 + np.array(first)) / (1 + len(table))


def _at_least(table: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return how many entries of a table are at least as large as each value, up to rounding."""
    return table.size - np.searchsorted(np.sort(table), value - ROUNDING * np.maximum(1.0, np.abs(value)))


@dataclass
class Classical(Offered):
    """A test by its own approximate p-value; NaN where it refuses the data, which is no rejection."""

    drawing: Drawing
    pvalue: Callable[[Sample], float]
    takes_logits: bool = False
    exact = False

    def pvalues(self, truth: np.ndarray | None, draws: Draws) -> np.ndarray:
        """Return the p-values."""
        value, count, _ = self.drawing.sample.arrays
        if self.takes_logits and (value[0] == 0 or value[-1] == 1):
            value = np.clip(value, CLIP, 1 - CLIP)

        def of(positives: np.ndarray) -> float:
            try:
                return self.pvalue(Sample(value, count, positives))
            except ValueError:  # outcomes are separated, or a group has no variance
                return np.nan

        return np.array([of(positives) for positives in self.drawing.outcomes(truth, draws)])


def cox_pvalue(sample: Sample) -> float:
    """Return the p-value of Cox's joint test, intercept 0 and slope 1, without the intervals."""
    from scipy.special import chdtrc

    model = LogitPolynomial.of(sample, 1, "Cox's test")
    gain = model.fit(1).log_likelihood - model.derivatives(np.zeros(2))[0]
    return float(chdtrc(2, max(2 * gain, 0.0)))


def on_offer(drawing: Drawing) -> dict[str, Offered]:
    """Return every test: those of all measures that this many rows allow, T-Cal, and the approximate ones."""
    n = drawing.sample.n
    found: dict[str, Offered] = {
        label: ByMeasure(drawing, name, options)
        for label, (name, options) in every_test().items()
        if n <= MEASURES[name].info.slow_above
    }
    found["t_cal"] = ByScales(drawing)
    found["cox"] = Classical(drawing, cox_pvalue, takes_logits=True)
    found["calibration belt"] = Classical(drawing, CLASSICAL["calibration_belt"].pvalue, takes_logits=True)
    for label, name in OF_SUMS.items():
        found[label] = Classical(drawing, CLASSICAL[name].pvalue)
    return found
