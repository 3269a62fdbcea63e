"""The mean of a number over clusters, how far clusters spread about it, and where a further cluster may lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibstat.digits import writer
from calibstat.result import Result

Interval = tuple[float, float]
NOTHING = (np.nan, np.nan)
FOR_PREDICTION = 3  # clusters, fewer of which have no degree of freedom left for a further one


@dataclass(frozen=True, eq=False)
class MeanOverClusters(Result):
    """A number of each cluster, as the mean over clusters and the spread between them.

    Attributes
    ----------
    mean : float
        The mean over clusters, in which each counts by 1 / (v + tau²), v the variance of its number given the cluster:
        about alike if clusters differ more than chance explains.
    interval : tuple of two floats
        The confidence interval of the mean.
    tau : float
        The standard deviation between clusters of what their numbers are estimates of; 0 if chance explains all.
    prediction_interval : tuple of two floats
        Where what a further cluster's number estimates may lie, approximately; nan of two clusters.
    missing : str
        Why numbers are nan; "" if none is.
    """

    mean: float
    interval: Interval
    tau: float
    prediction_interval: Interval
    missing: str = ""

    def __str__(self) -> str:
        write = writer(".3g")
        if np.isnan(self.mean):
            return f"none, {self.missing}"
        low, high = map(write, self.interval)
        spread = f"{write(self.mean)} ({low} to {high}); spread between clusters, tau: {write(self.tau)}"
        ends = " to ".join(map(write, self.prediction_interval))
        return f"{spread}; a further cluster: {self.missing or f'{ends} (approximate)'}"


def no_mean(why: str) -> MeanOverClusters:
    """Return the answer of clusters that have no mean."""
    return MeanOverClusters(np.nan, NOTHING, np.nan, NOTHING, why)


def mean_over_clusters(
    number: np.ndarray, variance: np.ndarray, confidence_level: float, least: float = -np.inf
) -> MeanOverClusters:
    """Return the mean over at least 2 clusters of a number that is at least `least`.

    The variances are those of the numbers given their clusters, above 0. They must not depend on the outcomes of the
    cluster itself: an estimate that chooses its own weight, as one does whose variance is small where it is, is biased.

    The model is normal effects of clusters. tau² is Paule and Mandel's: the sum of the weighted squares is then k - 1.
    The error of the mean is the larger of the one by the weights and the one of Hartung and Knapp, by the squares,
    which is 0 if clusters happen to agree.
    """
    from scipy.special import stdtrit

    k, miss = number.size, (1 - confidence_level) / 2
    between = _variance_between(number, variance)
    weight = 1 / (variance + between)
    mean = float(weight @ number / weight.sum())
    squares = float(weight @ (number - mean) ** 2) / (k - 1)
    error = np.sqrt(max(squares, 1.0) / weight.sum())

    def around(reach: float) -> Interval:
        return max(mean - reach, least), mean + reach

    further, missing = NOTHING, f"an interval needs {FOR_PREDICTION} clusters"
    if k >= FOR_PREDICTION:
        further, missing = around(float(-stdtrit(k - 2, miss) * np.sqrt(between + error**2))), ""
    return MeanOverClusters(
        mean, around(float(-stdtrit(k - 1, miss) * error)), float(np.sqrt(between)), further, missing
    )


def _variance_between(number: np.ndarray, variance: np.ndarray) -> float:
    """Return Paule and Mandel's variance between clusters.

    `combine_effects` of statsmodels 0.14 finds it by steps that end at 0 if rounding takes the last of them too far, as
    it did with 730 clusters in 8 of 5000 data sets.
    """
    from scipy.optimize import brentq

    def excess(between: float) -> float:
        weight = 1 / (variance + between)
        mean = weight @ number / weight.sum()
        return float(weight @ (number - mean) ** 2 - (number.size - 1))

    if excess(0.0) <= 0:
        return 0.0
    most = float(((number - number.mean()) ** 2).sum() / (number.size - 1))  # if the variances are 0
    return float(brentq(excess, 0.0, 2 * most, xtol=1e-300, rtol=1e-12))
