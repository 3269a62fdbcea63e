"""Calibration error by kernel regression of the outcomes on the predictions."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from calibstat.compiled import jit
from calibstat.data.checks import is_among, is_number, short
from calibstat.data.clipping import check_clip, uncertain
from calibstat.digits import settled
from calibstat.measures.bregman import BRIER, LOG_LOSS, Bregman
from calibstat.measures.kinds.binary_kinds import Statistic
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure

REFERENCE = (
    "Chidambaram, Ge 2024, Reassessing How to Compare and Improve the Calibration of Machine Learning Models, "
    "arXiv:2406.04068"
)
DIVERGENCES = {score.name: score for score in (BRIER, LOG_LOSS)}
ESTIMATOR_NAMES = ("direct", "plug_in")

# The Gaussian kernel is summed in blocks of half a bandwidth: a block of predictions enters through its moments, and
# its effect on another block is a polynomial (Greengard, Strain 1991, doi:10.1137/0912004). The error of
# 16 terms each way, and of leaving out blocks nine bandwidths apart or more, is below 1e-15 for every pair; at the
# narrowest bandwidths, where predictions are thousands of bandwidths from 0, their rounding makes it 1e-12.
TERMS = 16
FAR_BLOCKS = 18  # blocks

LEAST_BANDWIDTH = 1e-4
LEAST_SHARE = 0.01  # with a smaller sum of kernel weights near a point there is no regression


@jit
def _gaussian_sums(
    point: np.ndarray, value: np.ndarray, weight: np.ndarray, bandwidth: float, table: np.ndarray
) -> np.ndarray:
    """Return sum_k w_k exp(-((x - v_k) / bandwidth)**2 / 2) for each point x and each row of weights."""
    rows = weight.shape[0]
    blocks = int(2.0 / bandwidth) + 1
    terms = table.shape[1]
    furthest = table.shape[0] // 2
    moment, occupied = _moments(value, weight, bandwidth, blocks, terms)
    wanted = np.zeros(blocks, np.bool_)
    for i in range(point.size):
        wanted[int(2.0 * point[i] / bandwidth)] = True
    series = np.zeros((rows, blocks, terms))
    for b in range(blocks):
        if not wanted[b]:
            continue
        for other in range(max(b - furthest, 0), min(b + furthest + 1, blocks)):
            if not occupied[other]:
                continue
            for r in range(rows):
                for p in range(terms):
                    total = 0.0
                    for q in range(terms):
                        total += table[b - other + furthest, p, q] * moment[r, other, q]
                    series[r, b, p] += total
    return _at_points(point, series, bandwidth)


@jit
def _moments(
    value: np.ndarray, weight: np.ndarray, bandwidth: float, blocks: int, terms: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the moments of the weights in each block, shape (rows, blocks, terms), and which blocks have rows."""
    rows, size = weight.shape
    moment = np.zeros((rows, blocks, terms))
    occupied = np.zeros(blocks, np.bool_)
    for j in range(size):
        place = 2.0 * value[j] / bandwidth
        b = int(place)
        t = 0.5 * (place - b - 0.5)  # from the middle of the block, in bandwidths
        occupied[b] = True
        for r in range(rows):
            w = weight[r, j]
            for q in range(terms):
                moment[r, b, q] += w
                w *= t
    return moment, occupied


@jit
def _at_points(point: np.ndarray, series: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return the polynomial of the block of each point, for each row of weights."""
    rows, _, terms = series.shape
    out = np.empty((rows, point.size))
    for i in range(point.size):
        place = 2.0 * point[i] / bandwidth
        b = int(place)
        t = 0.5 * (place - b - 0.5)
        for r in range(rows):
            total = 0.0
            for p in range(terms - 1, -1, -1):
                total = total * t + series[r, b, p]
            out[r, i] = total
    return out


@jit
def _epanechnikov_sums(point: np.ndarray, value: np.ndarray, weight: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return sum_k w_k max(1 - ((x - v_k) / bandwidth)**2, 0) for each point x and each row of weights; both ascend.

    Points are taken in blocks of one bandwidth. The window of a point contains its whole block, the more of the top of
    the block below the lower the point is, and the more of the bottom of the block above the higher it is. So moments
    are only added to, and never subtracted.
    """
    out = np.zeros((weight.shape[0], point.size))
    for r in range(weight.shape[0]):
        first = low = 0
        while first < point.size:
            b = int(point[first] / bandwidth)
            last = first
            while last < point.size and int(point[last] / bandwidth) == b:
                last += 1
            while low < value.size and int(value[low] / bandwidth) < b:
                low += 1
            high = _add_block_and_below(point[first:last], value, weight[r], bandwidth, b, low, out[r, first:last])
            _add_above(point[first:last], value, weight[r], bandwidth, b, high, out[r, first:last])
            first = last
            low = high
    return out


@jit
def _add_block_and_below(
    point: np.ndarray, value: np.ndarray, weight: np.ndarray, bandwidth: float, b: int, low: int, out: np.ndarray
) -> int:
    """Fill in the sums at the points of block b over the rows in it, from `low`, and below; return where it ends."""
    high = low
    middle = (b + 0.5) * bandwidth
    m0 = m1 = m2 = 0.0
    while high < value.size and int(value[high] / bandwidth) == b:
        t = (value[high] - middle) / bandwidth
        w = weight[high]
        m0 += w
        m1 += w * t
        m2 += w * t * t
        high += 1
    edge = b * bandwidth
    k = low - 1
    n0 = n1 = n2 = 0.0
    for i in range(point.size - 1, -1, -1):
        while k >= 0 and value[k] > point[i] - bandwidth:
            t = (edge - value[k]) / bandwidth
            n0 += weight[k]
            n1 += weight[k] * t
            n2 += weight[k] * t * t
            k -= 1
        s = (point[i] - middle) / bandwidth
        d = (point[i] - edge) / bandwidth
        out[i] = (1.0 - s * s) * m0 + 2.0 * s * m1 - m2 + (1.0 - d * d) * n0 - 2.0 * d * n1 - n2
    return high


@jit
def _add_above(
    point: np.ndarray, value: np.ndarray, weight: np.ndarray, bandwidth: float, b: int, high: int, out: np.ndarray
) -> None:
    """Add to the sums at the points of block b those over the rows above the block, from `high`."""
    edge = (b + 1) * bandwidth
    k = high
    n0 = n1 = n2 = 0.0
    for i in range(point.size):
        while k < value.size and value[k] < point[i] + bandwidth:
            t = (value[k] - edge) / bandwidth
            n0 += weight[k]
            n1 += weight[k] * t
            n2 += weight[k] * t * t
            k += 1
        d = (edge - point[i]) / bandwidth
        out[i] += (1.0 - d * d) * n0 - 2.0 * d * n1 - n2


@lru_cache(maxsize=1)
def _expansion() -> np.ndarray:
    """Return the effect of moment q of a block on coefficient p of the block d above it, as [d, p, q]; read-only."""
    from scipy.special import factorial

    distance = np.arange(-FAR_BLOCKS, FAR_BLOCKS + 1) / 2
    hermite = [np.exp(-(distance**2) / 2), distance * np.exp(-(distance**2) / 2)]
    for n in range(1, 2 * TERMS - 2):
        hermite.append(distance * hermite[n] - n * hermite[n - 1])
    p = np.arange(TERMS)[:, None]
    q = np.arange(TERMS)
    return np.ascontiguousarray(np.stack(hermite, axis=1)[:, p + q] * (-1.0) ** p / (factorial(p) * factorial(q)))


def check_kernel(kernel: str, bandwidth: float) -> None:
    """Raise a ValueError if the kernel or the bandwidth is invalid."""
    if not is_among(kernel, ("gaussian", "epanechnikov")):
        raise ValueError(f"expected kernel 'gaussian' or 'epanechnikov', found {short(kernel)}")
    if not (is_number(bandwidth) and LEAST_BANDWIDTH <= bandwidth <= 1):
        raise ValueError(f"expected a bandwidth from {LEAST_BANDWIDTH:g} to 1, found {bandwidth!r}")


def kernel_sums(point: np.ndarray, value: np.ndarray, weight: np.ndarray, kernel: str, bandwidth: float) -> np.ndarray:
    """Return the kernel-weighted sums of each row of weights at each point, with a kernel that is 1 at distance 0.

    Points and predictions ascend. Sums by the Epanechnikov kernel are exact up to rounding; with the Gaussian kernel
    the weight of every pair is right to 1e-12.
    """
    if kernel == "gaussian":
        return _gaussian_sums(point, value, weight, float(bandwidth), _expansion())
    return _epanechnikov_sums(point, value, weight, float(bandwidth))


def density_scale(kernel: str, bandwidth: float) -> float:
    """Return the integral of the kernel that is 1 at distance 0."""
    return bandwidth * (math.sqrt(2 * math.pi) if kernel == "gaussian" else 4 / 3)


def regression(
    value: np.ndarray, count: np.ndarray, positives: np.ndarray, kernel: str, bandwidth: float
) -> np.ndarray:
    """Return the Nadaraya-Watson regression of the outcomes at each distinct prediction, all of which have rows."""
    check_kernel(kernel, bandwidth)
    rows, ones = kernel_sums(value, value, np.stack((count, positives)), kernel, bandwidth)
    return np.clip(ones / rows, 0, 1)  # outside by rounding only


def find_divergence(divergence: str) -> Bregman:
    """Return the divergence of this name."""
    if not is_among(divergence, DIVERGENCES):
        raise ValueError(f"expected divergence {' or '.join(map(repr, DIVERGENCES))}, found {divergence!r}")
    return DIVERGENCES[divergence]


@measure(
    "regression_ce",
    title="Kernel regression calibration error",
    formula=r"\frac1n \sum_i d_\varphi\bigl(\hat m(v_i), v_i\bigr),"
    r"\quad \hat m(x) = \frac{\sum_i K_\sigma(x - v_i)\,y_i}{\sum_i K_\sigma(x - v_i)}",
    reference=REFERENCE,
    bounds=(-1, math.inf),
    complete=False,
    sound=False,
    continuous=True,
    slow_above=10_000,
    no_interval="it is the error of a smoother, whose bias is not known",
)
class RegressionCE(Statistic):
    """The mean divergence of the observed frequency, smoothed by a kernel, from the prediction.

    Options: `divergence`, of a score, "brier" for (m - v)² or "log_loss" for the Kullback-Leibler divergence of
    the two probabilities; `kernel`, "gaussian" for exp(-u²/2) or "epanechnikov" for 1 - u² within one bandwidth, of the
    distance u in bandwidths; `bandwidth`, from 0.0001 to 1; `rate`, from 0 to 2: with n rows (or `Sample.n`, with
    weights) the bandwidth is bandwidth / n**rate; `estimator`, "direct" for the formula, never below 0, or "plug_in"
    for the mean of φ(m(v)) - φ(v) - φ'(v) (y - v) (Chidambaram, Ge, equation C.3), which has the same limit as n grows
    and the bandwidth shrinks; `clip`, for "log_loss" only, by which predictions are moved into [clip, 1 - clip] before
    their logarithms are taken.

    For K classes with the top-label lens it is the confidence calibration error of that paper, a lower bound on the
    error of all classes jointly. With "log_loss" a certain prediction, exactly 0 or 1, would have an infinite loss, so
    that it raises a ValueError if there is no `clip`.

    Smoothing has a bias, so the error of a calibrated model is not quite 0: with predictions spread evenly over [0, 1]
    and "brier" it tends to .63 σ³, from near 0 and 1, which is 8e-5 by default. For the same reason it can be 0 where
    errors cancel with errors of neighbours: at σ = .34, predictions of .25 with outcome 0 and as many of .75 with
    outcome 1. A test takes the first into account; a narrower kernel makes both smaller. The plug-in estimator has more
    bias: it tends to -1.39 σ² + 2.6 σ³, which is -.003, is below 0 for nearly every calibrated sample of 1000, and
    changes when outcomes and predictions are both reversed ("brier").

    With a `rate` between 0 and 1/2 the limit is the expected divergence of the probability of outcome 1, given the
    prediction, from the prediction (theorem 4.9): its value on a population, which is taken for rates up to 1 although
    the theorem does not cover 1/2 and above. At a rate of 1 as many rows are near each
    prediction however large n is, and the estimate tends to a larger number.

    No honest interval is known: the regression is a quotient of two smoothed sums, which depend on the same rows, and
    the mean of its divergence is neither a norm of sums nor a mean over rows.

    Cost: one sort of the rows and one pass; Epanechnikov exact by moments that are only added to, Gaussian by a series
    in which the weight of every pair of rows is right to 1e-12.
    """

    plugs_in = True

    divergence: str = "brier"
    kernel: str = "gaussian"
    bandwidth: float = 0.05
    rate: float = 0.0
    estimator: str = "direct"
    clip: float | None = None

    def check(self) -> None:
        check_kernel(self.kernel, self.bandwidth)
        if not (is_number(self.rate) and 0 <= self.rate <= 2):
            raise ValueError(f"expected a rate from 0 to 2, found {self.rate!r}")
        phi = find_divergence(self.divergence)
        if not is_among(self.estimator, ESTIMATOR_NAMES):
            raise ValueError(f"expected estimator 'direct' or 'plug_in', found {short(self.estimator)}")
        phi.takes(check_clip(self.clip))

    @property
    def is_steep(self) -> bool:
        """Whether a certain prediction may have an infinite loss."""
        return find_divergence(self.divergence).is_steep

    def _bandwidth_of(self, n: float) -> float:
        """Return the bandwidth for n rows."""
        bandwidth = self.bandwidth / n**self.rate
        if not LEAST_BANDWIDTH <= bandwidth <= 1:
            shrunk = f"{settled(bandwidth):.3g}, which is {self.bandwidth:g} / {n:g}**{self.rate:g}"
            raise ValueError(f"expected a bandwidth from {LEAST_BANDWIDTH:g} to 1 for these rows, found {shrunk}")
        return bandwidth

    def population_value(self, population: BinaryPopulation) -> float:
        clip = find_divergence(self.divergence).clip_of_population(self.clip, population.finite)
        measure = replace(self, clip=clip)
        return measure._limit(population) if self.rate else measure.plug_in(population)

    def _limit(self, population: BinaryPopulation) -> float:
        """Return the expected divergence of the calibration curve from the prediction."""
        if self.rate >= 1:
            raise NotImplementedError("a bandwidth that shrinks as fast as 1 / n leaves no rows to smooth over")
        if population.scattered:
            raise NotImplementedError("its limit is known where the true probability is a function of the prediction")
        value, count, positives = population.summary().arrays
        phi = find_divergence(self.divergence)
        return float(count @ phi.loss(positives / count, phi.inside(value, self.clip)) / count.sum())

    def check_probabilities(self, prob: np.ndarray) -> None:
        if self.is_steep:
            uncertain(prob, self.clip, str(self))

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        phi = find_divergence(self.divergence)
        if not count.all():
            value, count, positives = (part[count > 0] for part in (value, count, positives))
        smoothed = regression(value, count, positives, self.kernel, self._bandwidth_of(count.sum()))
        v = phi.inside(value, self.clip)
        if self.estimator == "direct":
            total = count @ phi.loss(smoothed, v)
        else:
            total = count @ (phi.phi(smoothed) - phi.phi(v)) - phi.gradient(v) @ (positives - count * v)
        return float(total / count.sum())

    def detail(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> dict[str, Any]:
        """Return the regression of the outcomes at each distinct prediction, NaN at predictions that have no rows."""
        present = count > 0
        out = np.full(value.size, np.nan)
        bandwidth = self._bandwidth_of(count.sum())
        out[present] = regression(value[present], count[present], positives[present], self.kernel, bandwidth)
        return {"regression": out}
