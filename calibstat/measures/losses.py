"""Proper scores: means of a loss over the rows. They weigh calibration and sharpness together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.clipping import clipped
from calibstat.measures.registry import HonestRecipe, MeanInterval, Measure, measure

BRIER = "Brier 1950, Verification of forecasts expressed in terms of probability"
BRIER += ", doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2"
GNEITING = "Gneiting, Raftery 2007, Strictly Proper Scoring Rules, Prediction, and Estimation"
GNEITING += ", doi:10.1198/016214506000001437"


@jit
def _squared_error(value, count, positives):  # type: ignore[no-untyped-def]
    """Return the mean of (y - v)**2."""
    total = 0.0
    n = 0.0
    for j in range(value.size):
        v = value[j]
        total += positives[j] * (1.0 - v) ** 2 + (count[j] - positives[j]) * v**2
        n += count[j]
    return total / n


@jit
def _negative_log_likelihood(value, count, positives):  # type: ignore[no-untyped-def]
    """Return the mean of -log of the probability that the outcome had; no rows with an outcome add nothing."""
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


def brier_detail(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
    """Return the loss at each distinct prediction if the outcome is 1 and if it is 0."""
    return {"loss_positive": (1 - value) ** 2, "loss_negative": value**2}


def log_loss_detail(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, clip: float | None = None
) -> dict[str, Any]:
    """Return the loss at each distinct prediction if the outcome is 1 and if it is 0."""
    value = clipped(value, clip)
    with np.errstate(divide="ignore"):
        return {"loss_positive": 0.0 - np.log(value), "loss_negative": 0.0 - np.log1p(-value)}


def normalized(loss: float, rate: float) -> float:
    """Divide a mean log loss by the entropy of the rate of the outcome; without both outcomes it is infinite, or 0."""
    if 0 < rate < 1:
        return loss / -(rate * math.log(rate) + (1 - rate) * math.log1p(-rate))
    return math.inf if loss > 0 else 0.0


def _honest_mean() -> HonestRecipe:
    return MeanInterval()


def _brier_losses(prob: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Return the squared distance of one-hot class and prediction, row by row."""
    happened = prob[np.arange(label.size), label].astype(np.float64)
    return np.einsum("ij,ij->i", prob, prob, dtype=np.float64) + 1 - 2 * happened


def log_losses(prob: np.ndarray, label: np.ndarray, *, clip: float | None = None) -> np.ndarray:
    """Return -log of the probability that what happened had, row by row."""
    with np.errstate(divide="ignore"):
        return 0.0 - np.log(clipped(prob[np.arange(label.size), label].astype(np.float64), clip))


def vector_brier(prob: np.ndarray, label: np.ndarray) -> float:
    """Return the mean squared distance of one-hot class and predicted vector, from 0 to 2."""
    return float(_brier_losses(prob, label).mean())


def vector_log_loss(prob: np.ndarray, label: np.ndarray, *, clip: float | None = None) -> float:
    """Return the mean negative log-likelihood of the classes."""
    return float(log_losses(prob, label, clip=clip).mean())


VECTOR_BRIER = Measure(
    "brier",
    title="Brier score",
    formula=r"\frac1n \sum_i \sum_k (1[y_i = k] - p_{ik})^2",
    reference=BRIER,
    bounds=(0, 2),
    function=vector_brier,
    of="vectors",
    tail="two-sided",
    detail=lambda prob, label: {"loss": _brier_losses(prob, label)},
    honest=_honest_mean,
    complete=False,
    continuous=True,
)
VECTOR_LOG_LOSS = Measure(
    "log_loss",
    title="Logarithmic loss",
    formula=r"-\frac1n \sum_i \log p_{i y_i}",
    reference=GNEITING,
    bounds=(0, math.inf),
    function=vector_log_loss,
    of="vectors",
    tail="two-sided",
    detail=lambda prob, label, *, clip=None: {"loss": log_losses(prob, label, clip=clip)},
    honest=_honest_mean,
    complete=False,
    continuous=True,
)


@measure(
    "brier",
    title="Brier score",
    formula=r"\frac1n \sum_i (y_i - v_i)^2",
    reference=BRIER,
    bounds=(0, 1),
    vectors=VECTOR_BRIER,
    tail="two-sided",
    detail=brier_detail,
    honest=_honest_mean,
    complete=False,
    continuous=True,
)
def brier(value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
    """Return the mean squared difference of outcome and prediction.

    No options. A proper score: a calibrated model has the score that its predictions imply, not 0, so a test looks at
    both tails. Of whole vectors (lens "canonical") it is the squared distance of one-hot class and prediction, from 0
    to 2: for two classes twice the above. Cost: one sort of the rows, then one pass.
    """
    return _squared_error(value, count, positives)


@measure(
    "log_loss",
    title="Logarithmic loss",
    formula=r"-\frac1n \sum_i \bigl(y_i \log v_i + (1 - y_i) \log (1 - v_i)\bigr)",
    reference=GNEITING,
    bounds=(0, math.inf),
    vectors=VECTOR_LOG_LOSS,
    tail="two-sided",
    detail=log_loss_detail,
    honest=_honest_mean,
    complete=False,
    continuous=True,
)
def log_loss(value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, clip: float | None = None) -> float:
    """Return the mean negative log-likelihood of the outcomes, in natural units, with 0 log 0 = 0.

    Option: `clip`, by which predictions are moved into [clip, 1 - clip]; by default none is. Then it is infinite as
    soon as an outcome that was given probability 0 happens, and so is the mean of the population these rows are from.

    A proper score: a calibrated model has the score that its predictions imply, not 0, so a test looks at both tails.
    Of whole vectors (lens "canonical") it is that of the class that happened. Cost: one sort of the rows, then one
    pass.
    """
    return _negative_log_likelihood(clipped(value, clip), count, positives)


@measure(
    "normalized_log_loss",
    title="Normalized cross entropy",
    formula=r"\frac{\text{log loss}}{-\bar y \log \bar y - (1 - \bar y) \log (1 - \bar y)}",
    reference="He et al. 2014, Practical lessons from predicting clicks on ads, doi:10.1145/2648584.2648589",
    bounds=(0, math.inf),
    tail="two-sided",
    complete=False,
    continuous=True,
)
def normalized_log_loss(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, *, clip: float | None = None
) -> float:
    """Return the mean log loss over that of always predicting the observed frequency of the outcome.

    Option: `clip`, as of `log_loss`. Below 1 for predictions that say more than the frequency does, 1 for the frequency
    itself; one minus it is the normalized cross entropy of Siu, Gish and Richardson (1997). It weighs calibration and
    sharpness together, as the log loss does: a calibrated model has the value that its predictions imply, not 0, so a
    test looks at both tails.

    Where only one outcome occurs, the frequency has no loss: the value is then 0 if the predictions have none either,
    else infinite. Without `clip` it is infinite as soon as an outcome that was given probability 0 happens. Cost: one
    sort of the rows, then one pass.
    """
    loss = _negative_log_likelihood(clipped(value, clip), count, positives)
    return normalized(loss, float(positives.sum() / count.sum()))
