"""Proper scores: Brier score, log loss, normalized log loss. They measure calibration and sharpness together."""

from __future__ import annotations

import math

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.data.clipping import check_clip, clipped
from calibstat.data.sample import Sample
from calibstat.measures.kinds.binary_kinds import OfResiduals, Statistic
from calibstat.measures.kinds.mean_loss import MeanLoss
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure

BRIER_1950 = "Brier 1950, Verification of forecasts expressed in terms of probability"
BRIER_1950 += ", doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2"
DIGITS = 12  # of a rate that is a sum of residuals: without an event it is 0
GNEITING = "Gneiting, Raftery 2007, Strictly Proper Scoring Rules, Prediction, and Estimation"
GNEITING += ", doi:10.1198/016214506000001437"


@first_calls()
@jit
def _squared_error(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return the mean of (y - v)**2."""
    total = 0.0
    n = 0.0
    for j in range(value.size):
        v = value[j]
        total += positives[j] * ((1.0 - v) * (1.0 - v)) + (count[j] - positives[j]) * (v * v)
        n += count[j]
    return total / n


@jit
def _negative_log_likelihood(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return the mean of -log of the probability of the outcome; an outcome without rows adds 0."""
    total = 0.0
    n = 0.0
    for j in range(value.size):
        v = value[j]
        negatives = count[j] - positives[j]
        n += count[j]
        if positives[j] > 0.0:
            total -= positives[j] * (math.log(v) if v > 0.0 else -math.inf)
        if negatives > 0.0:
            total -= negatives * (math.log1p(-v) if v < 1.0 else -math.inf)
    return total / n


def normalized(loss: float, rate: float) -> float:
    """Divide a mean log loss by the entropy of the rate of outcome 1; for a rate of 0 or 1 it is infinite, or 0."""
    if 0 < rate < 1:
        return loss / -(rate * math.log(rate) + (1 - rate) * math.log1p(-rate))
    return math.inf if loss > 0 else 0.0


@measure(
    "brier",
    title="Brier score",
    formula=r"\frac1n \sum_i (y_i - v_i)^2",
    reference=BRIER_1950,
    bounds=(0, 1),
    tail="two-sided",
    complete=False,
    continuous=True,
)
class Brier(MeanLoss):
    """The mean squared difference of outcome and prediction.

    No options. A proper score: a calibrated model has the score that its predictions imply, not 0, so a test is
    two-sided. For several classes (lens "canonical") it is the squared distance of one-hot class and prediction, from 0
    to 2: with two classes twice the binary score. Cost: one sort of the rows, then one pass.
    """

    is_proper = True
    vector_bounds = (0.0, 2.0)

    def loss(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return value**2, (1 - value) ** 2

    def bounds_over_classes(self, classes: int) -> tuple[float, float]:
        return 0.0, self.vector_bounds[1] / classes

    def vector_loss(self, prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return the squared distance of one-hot class and prediction, row by row."""
        observed = prob[np.arange(label.size), label].astype(np.float64)
        return np.einsum("ij,ij->i", prob, prob, dtype=np.float64) + 1 - 2 * observed

    def class_losses(self, prob: np.ndarray, log_prob: np.ndarray | None) -> np.ndarray:
        return np.einsum("ij,ij->i", prob, prob)[:, None] + 1 - 2 * prob

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return _squared_error(value, count, positives)


@measure(
    "log_loss",
    title="Logarithmic loss",
    formula=r"-\frac1n \sum_i \bigl(y_i \log v_i + (1 - y_i) \log (1 - v_i)\bigr)",
    reference=GNEITING,
    bounds=(0, math.inf),
    tail="two-sided",
    complete=False,
    continuous=True,
)
class LogLoss(MeanLoss):
    """The mean negative log-likelihood of the outcomes, in natural units, with 0 log 0 = 0.

    Option: `clip`, by which predictions are moved into [clip, 1 - clip]; by default none is moved. Then the loss is
    infinite as soon as an outcome of predicted probability 0 is observed, and so is its mean over the population.

    A proper score: a calibrated model has the score that its predictions imply, not 0, so a test is two-sided.
    For several classes (lens "canonical") it scores the observed class. Cost: one sort of the rows, then one pass.
    """

    is_proper = True

    takes_logarithms = True
    clip: float | None = None

    def check(self) -> None:
        check_clip(self.clip)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.info.bounds if self.clip is None else (-math.log1p(-self.clip), -math.log(self.clip))

    def outcome_losses(self, value: np.ndarray, log_prob: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        loss = self.class_losses(value, log_prob)
        return loss[:, 0], loss[:, 1]

    def class_losses(self, prob: np.ndarray, log_prob: np.ndarray | None) -> np.ndarray:
        assert log_prob is not None
        return -(log_prob if self.clip is None else np.clip(log_prob, math.log(self.clip), math.log1p(-self.clip)))

    def loss(self, value: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        value = clipped(value, self.clip)
        with np.errstate(divide="ignore"):
            return 0.0 - np.log1p(-value), 0.0 - np.log(value)

    def vector_loss(self, prob: np.ndarray, label: np.ndarray) -> np.ndarray:
        """Return -log of the probability of the observed class, row by row."""
        with np.errstate(divide="ignore"):
            return 0.0 - np.log(clipped(prob[np.arange(label.size), label].astype(np.float64), self.clip))

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        return _negative_log_likelihood(clipped(value, self.clip), count, positives)


@measure(
    "normalized_log_loss",
    title="Normalized cross entropy",
    formula=r"\frac{\text{log loss}}{-\bar y \log \bar y - (1 - \bar y) \log (1 - \bar y)}",
    reference="He et al. 2014, Practical lessons from predicting clicks on ads, doi:10.1145/2648584.2648589",
    bounds=(0, math.inf),
    tail="two-sided",
    complete=False,
    continuous=True,
    no_interval="it is a ratio of two means, of which one has no bound",
)
class NormalizedLogLoss(Statistic):
    """The mean log loss divided by the log loss of always predicting the observed frequency of the outcome.

    Option: `clip`, as of `log_loss`. It is below 1 for predictions that are more informative than the frequency, and 1
    for the frequency itself; one minus it is the normalized cross entropy of Siu, Gish and Richardson (1997). It
    measures calibration and sharpness together, as the log loss does: a calibrated model has the value that its
    predictions imply, not 0, so a test is two-sided.

    If only one outcome is observed, always predicting its frequency has no loss: the value is then 0 if the predictions
    have none either, else infinite. Without `clip` it is infinite as soon as an outcome of predicted probability 0 is
    observed. Cost: one sort of the rows, then one pass.
    """

    takes_logarithms = True
    clip: float | None = None

    def check(self) -> None:
        check_clip(self.clip)

    def population_value(self, population: BinaryPopulation) -> float:
        return normalized(population.mean(LogLoss(clip=self.clip)), population.rate())

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        loss = _negative_log_likelihood(clipped(value, self.clip), count, positives)
        return normalized(loss, float(positives.sum() / count.sum()))

    def of_residuals(self, sample: Sample) -> tuple[None, OfResiduals]:
        _, loss = LogLoss(clip=self.clip).of_residuals(sample)
        expected = float(sample.count @ sample.value / sample.count.sum())

        def of(residual: np.ndarray) -> np.ndarray:
            pairs = zip(np.ravel(loss(residual)), np.ravel(residual.sum(axis=-1)), strict=True)
            ratios = np.array(
                [normalized(float(mean), round(expected + float(excess), DIGITS)) for mean, excess in pairs]
            )
            return ratios.reshape(residual.shape[:-1])

        return None, of
