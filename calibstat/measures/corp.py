"""CORP miscalibration: the gain in Brier score by the best monotone recalibration."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibstat.bounds.intervals import Interval
from calibstat.bounds.isotonic_gain import largest_gain
from calibstat.bounds.isotonic_interval import IsotonicInterval, recalibrated
from calibstat.bounds.residual_tables import RowTable
from calibstat.data.sample import Sample
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import OfResiduals, Statistic
from calibstat.measures.kinds.registry import measure
from calibstat.measures.losses import Brier

CORP = "Dimitriadis, Gneiting, Jordan 2021, Stable reliability diagrams for probabilistic classifiers"
CORP += ", doi:10.1073/pnas.2016191118"


@measure(
    "mcb",
    title="CORP miscalibration of the Brier score",
    formula=r"\frac1n \sum_i (y_i - v_i)^2 - \min_{\kappa\ \text{non-decreasing}} \frac1n \sum_i (y_i - \kappa(v_i))^2",
    reference=CORP,
    bounds=(0, 1),
    slow_above=100_000,
)
class MCB(Statistic):
    """The gain in the Brier score by the best non-decreasing recalibration.

    No options. The recalibration is chosen on the same rows, so the estimate is above 0 for a calibrated model; a
    test takes that into account. It jumps when two predictions with opposite errors merge. Cost: one sort of the
    rows, then one pass (pool adjacent violators).
    """

    plugs_in = True

    def of_residuals(self, sample: Sample) -> tuple[None, OfResiduals]:
        value, count, n = sample.value, sample.count, float(sample.count.sum())

        def of(residual: np.ndarray) -> np.ndarray:
            rows = np.atleast_2d(residual)
            gains = np.array([self.evaluate(value, count, count * value + n * one) for one in rows])
            return gains.reshape(residual.shape[:-1])

        return None, of

    @property
    def honest(self) -> Honest:
        return "own"

    def interval(self, sample: Sample) -> Interval:
        return IsotonicInterval(self.estimate(sample), sample)

    def interval_by_rows(self, sample: Sample, table: RowTable) -> Interval:
        return IsotonicInterval(self.estimate(sample), sample, table)

    @property
    def condition(self) -> str:
        return ", at the predictions of these rows"

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        # the identity is non-decreasing too, so that the difference is below 0 by rounding alone
        return max(float(largest_gain(value, count, positives) / count.sum()), 0.0)

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the decomposition score = mcb - dsc + unc, and the recalibration of each distinct prediction."""
        rate = positives.sum() / count.sum()
        score = Brier().evaluate(value, count, positives)
        miscalibration = self.evaluate(value, count, positives)
        uncertainty = rate * (1 - rate)
        return {
            "score": score,
            "mcb": miscalibration,
            "dsc": miscalibration + uncertainty - score,
            "unc": uncertainty,
            "recalibrated": recalibrated(value, count, positives),
        }
