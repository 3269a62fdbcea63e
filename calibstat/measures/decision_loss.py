"""Decision loss: the largest gain that anyone with any cost ratio could make by acting at another threshold."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.decision_gains import largest_gain
from calibstat.bounds.decision_norm import DecisionNorm, summary_by_outcome, sums_by_outcome
from calibstat.bounds.intervals import Interval, SeminormInterval
from calibstat.bounds.norms import Norm
from calibstat.bounds.over_classes import OneByOneInterval
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import OfResiduals, Statistic, samples_of_classes
from calibstat.measures.kinds.registry import measure

REFERENCE = "Hu, Wu 2024, Predict to minimize swap regret for all payoff-bounded tasks, arXiv:2404.13503"


@measure(
    "decision_loss",
    title="Decision loss",
    formula=r"\max_{t,\,t'} \frac1n \sum_i (y_i - t)\,\bigl(1\{v_i \ge t'\} - 1\{v_i \ge t\}\bigr)",
    reference=REFERENCE,
    bounds=(0, 1),
    slow_above=100_000,
)
class DecisionLoss(Statistic):
    """The largest gain that anyone, with any cost ratio, could make by acting at another threshold.

    No options. Who acts on a row gains 1 - t if its outcome is 1 and loses t if it is 0: t is their cost of acting in
    vain, as a share of what is at stake, and they act where the prediction is at least t. The decision loss is what the
    one with the most to gain would gain, in the mean over all rows, by acting from another threshold t' on. With a gain
    and a cost in units of one's own it is multiplied by their sum: see `calibstat.decision_loss`. It has no bins and no
    bandwidth, is at most the Kuiper error, and is 0 in the population only if the model is calibrated. It jumps when
    two predictions with opposite errors merge.

    Exact. Cost: one sort of the rows, then one pass.
    """

    plugs_in = True

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return largest_gain(value, count - positives, positives).gain / float(count.sum())

    def of_residuals(self, sample: Sample) -> tuple[None, OfResiduals]:
        value, share = sample.value, sample.count / sample.n
        norm = DecisionNorm(value)

        def of(residual: np.ndarray) -> np.ndarray:
            return norm.value(sums_by_outcome(np.broadcast_to(share, residual.shape), residual + share * value))

        return None, of

    @property
    def honest(self) -> Honest:
        return "norm"

    def norm_on(self, value: np.ndarray, count: np.ndarray) -> Norm:
        return DecisionNorm(value)

    def interval(self, sample: Sample) -> SeminormInterval:
        return self.interval_on(summary_by_outcome(sample), DecisionNorm(sample.value))

    def interval_over_classes(
        self, predictions: Predictions, reduce: str, weight: np.ndarray | None = None
    ) -> Interval:
        parts = (self.interval(sample) for sample in samples_of_classes(predictions, weight))
        return OneByOneInterval.of(parts, reduce, predictions, weight)
