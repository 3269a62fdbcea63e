"""Kernel calibration error: a norm of the residuals in a reproducing kernel Hilbert space."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np

from calibstat.bounds.intervals import Interval, MappedInterval, SeminormInterval
from calibstat.bounds.laplace import laplace_decays, laplace_smoothed, laplace_square, laplace_squares
from calibstat.bounds.moments import Moments
from calibstat.bounds.norms import Norm, SeminormOn
from calibstat.bounds.residual_tables import RowTable, SummaryTable, Table
from calibstat.bounds.square_bound import SquareBound, bound_of_sample
from calibstat.bounds.tail_bound import TailBound
from calibstat.compiled import first_calls, jit, without_numba
from calibstat.data.checks import is_among, is_number, short
from calibstat.data.sample import Sample
from calibstat.in_order import RELATIVE
from calibstat.measures.kinds.base import Honest
from calibstat.measures.kinds.binary_kinds import OfResiduals, Seminorm, Statistic
from calibstat.measures.kinds.population_value import BinaryPopulation
from calibstat.measures.kinds.registry import measure
from calibstat.resampling.one_pass import OnePass, add_weighted

REFERENCE = (
    "Kumar, Sarawagi, Jain 2018, Trainable calibration measures for neural networks from kernel mean embeddings; "
    "Widmann, Lindsten, Zachariah 2019, arXiv:1910.11385; Błasiok et al. 2023, arXiv:2211.16886"
)

KERNEL_POINTS = 9  # of the predictions around which sums bound the high end from below


def _smoothed_in_arrays(value: np.ndarray, residual: np.ndarray, bandwidth: float) -> np.ndarray:
    return np.array([np.exp(-0.5 * ((value - v) / bandwidth) ** 2) @ residual for v in value])


@without_numba(_smoothed_in_arrays)
@jit
def _gaussian_smoothed(value: np.ndarray, residual: np.ndarray, bandwidth: float) -> np.ndarray:
    """Return sum_k r_k exp(-((v_j - v_k) / bandwidth)**2 / 2) for every j, pair by pair."""
    out = residual.copy()
    for j in range(value.size):
        for k in range(j):
            near = math.exp(-0.5 * ((value[j] - value[k]) / bandwidth) ** 2)
            out[j] += near * residual[k]
            out[k] += near * residual[j]
    return out


def _check(kernel: str, bandwidth: float) -> None:
    if not is_among(kernel, ("laplace", "gaussian")):
        raise ValueError(f"expected kernel 'laplace' or 'gaussian', found {short(kernel)}")
    if not (is_number(bandwidth) and 0 < bandwidth < math.inf):
        raise ValueError(f"expected a bandwidth above 0, found {bandwidth!r}")


def _square(value: np.ndarray, residual: np.ndarray, kernel: str, bandwidth: float) -> float:
    """Return sum_jk r_j r_k K(v_j, v_k), at least 0 up to rounding."""
    if kernel == "laplace":
        return max(laplace_square(value, residual, float(bandwidth)), 0.0)
    return max(float(residual @ _gaussian_smoothed(value, residual, float(bandwidth))), 0.0)


def _pairs_in_arrays(state: np.ndarray, value: np.ndarray, residual: np.ndarray, bandwidth: float) -> None:
    total, near, last = state[:3]
    falls = (-np.diff(value, prepend=last[0]) / bandwidth).tolist()
    for decay, one in zip(map(math.exp, falls), residual, strict=True):
        near *= decay
        total += one * (one + 2.0 * near)
        near += one
    last[0] = value[-1]


@first_calls(lambda state, value, residual, _: 2e-6 * value.size + 3e-9 * residual.size, _pairs_in_arrays)
@jit
def _add_pairs(state: np.ndarray, value: np.ndarray, residual: np.ndarray, bandwidth: float) -> None:
    """Go on with `laplace_square` of each resample: the sum, what lies near, and the last prediction."""
    total = state[0]
    near = state[1]
    last = state[2]
    for j in range(value.size):
        decay = math.exp((last[0] - value[j]) / bandwidth)
        for b in range(total.size):
            one = residual[j, b]
            before = near[b] * decay
            total[b] += one * (one + 2.0 * before)
            near[b] = before + one
        last[0] = value[j]


@dataclass(frozen=True, eq=False)
class _LaplaceSquare(OnePass):
    """The sum over pairs of products of residuals with the Laplace kernel."""

    value: np.ndarray
    bandwidth: float
    size = 3

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        _add_pairs(state, self.value[rows], residual, self.bandwidth)

    def result(self, state: np.ndarray) -> np.ndarray:
        return np.maximum(state[0], 0.0)


class _LaplaceNorm(_LaplaceSquare):
    """The root of this sum."""

    def result(self, state: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(super().result(state)))


@dataclass(frozen=True, eq=False)
class _UnbiasedSquare(_LaplaceSquare):
    """The mean of the products over pairs of different rows, of `n` rows.

    What a row adds with itself is (1 - v)**2 or v**2. Its sum is the expected one, `expected`, and n times the sum of
    1 - 2 v times residual / n.
    """

    n: float
    expected: float
    size = 4

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        super().add(state, rows, residual)
        add_weighted(state[3], 1 - 2 * self.value[rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        same_row = self.expected + self.n * state[3]
        return np.asarray((self.n * super().result(state) - same_row / self.n) / (self.n - 1))


@dataclass(frozen=True, eq=False)
class LaplaceSeminorm(SeminormOn):
    """The error by the Laplace kernel at these predictions; how the kernel decays between them is computed once."""

    bandwidth: float

    @cached_property
    def _decay(self) -> np.ndarray:
        return laplace_decays(self.prediction, self.bandwidth)

    def value(self, theta: np.ndarray) -> np.ndarray:
        square = laplace_squares(self._decay, np.ascontiguousarray(theta).reshape(-1, self.prediction.size))
        return np.sqrt(np.maximum(square, 0.0)).reshape(theta.shape[:-1])


@dataclass(frozen=True, eq=False)
class LaplaceInterval(SeminormInterval):
    """The interval of the error by the Laplace kernel, with the high ends of its square and of the mean residual."""

    bound: Callable[[], SquareBound]

    @cached_property
    def square(self) -> SquareBound:
        """The bound of the square."""
        return self.bound()

    def high(self, tail: float) -> float:
        """Return min(bound of the norm, sqrt(U + R + m / 2)), but at least the floor of the norm.

        Half of what one further row may add is m / 2: few rows of few kinds make a lattice of estimates.

        Statement and argument: docs/evidence/proofs/kernel-ce.md.
        """
        by_square = math.sqrt(max(self.square.high(tail) + self.square.most / 2, 0.0))
        moments, norm = self.table.moments, cast("LaplaceSeminorm", self.norm)
        floor = (
            cast("KernelSeminorm", norm.seminorm).floor(norm.prediction, moments, moments.tail_bound(tail)) / moments.n
        )
        return min(super().high(tail), max(by_square, floor))


class KernelSeminorm(Seminorm):
    """The root of a quadratic form of the residuals whose kernel is 1 at distance 0."""

    weak = True
    step = 2.0

    @abstractmethod
    def square(self, value: np.ndarray, residual: np.ndarray) -> float:
        """Return sum_jk r_j r_k K(v_j, v_k), at least 0.

        It is truthful: docs/evidence/proofs/truthful.md.
        """

    @abstractmethod
    def smoothed(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return sum_k r_k K(v_j, v_k) for every j."""

    @abstractmethod
    def fixed_weights(self, value: np.ndarray) -> np.ndarray:
        """Return functions of the unit ball that depend on the range of the predictions alone, shape (functions, m)."""

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound over the unit ball, split into the witness of the data and what is orthogonal to it.

        With a share a of the first, the mean is a * total and the standard deviation at most a times the one of the
        witness plus sqrt(1 - a**2) times the largest one of the rest.

        Statement and argument: docs/evidence/proofs/kernel-ce.md.
        """
        witness = self._known_witness(value, moments)
        sums = moments.of(witness)
        variance, spread = max(sums.variance, 0.0), tail_bound.z * math.sqrt(max(sums.variance, 0.0))
        beyond = moments.remainder(witness, lambda weighted: self.smoothed(value, weighted))
        excess = math.sqrt((sums.total + spread) ** 2 + tail_bound.z**2 * beyond) - sums.total
        end = sums.total + float(tail_bound.widen(excess, tail_bound.rate(variance, sums.up_if_unsure(tail_bound.z))))
        return max(end, self.floor(value, moments, tail_bound))

    def floor(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound along fixed weights, in rows.

        Statement and argument: docs/evidence/proofs/kernel-ce.md.
        """
        return max(tail_bound.of_either_sign(moments.of(way)) for way in self.fixed_weights(value))

    def _known_witness(self, value: np.ndarray, moments: Moments) -> np.ndarray:
        """Return the witness of the data, and weights of 1 where the norm is 0 up to rounding."""
        mean = moments.total / moments.n
        return self.witness(value, mean) if self.norm(value, mean) > RELATIVE else np.ones(value.size)

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        return math.sqrt(self.square(value, residual))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return the function in the unit ball with the largest mean product with the residuals."""
        smoothed, norm = self.smoothed(value, residual), self.norm(value, residual)
        # the unit ball lies in [-1, 1] because K(v, v) = 1; clipping removes rounding only
        return np.clip(smoothed / norm, -1, 1) if norm > RELATIVE else np.zeros_like(smoothed)


@measure(
    "kernel_ce",
    title="Kernel calibration error",
    formula=r"\Bigl(\frac1{n^2} \sum_{i,j} (y_i - v_i)\,(y_j - v_j)\,K(v_i, v_j)\Bigr)^{1/2}",
    reference=REFERENCE,
    bounds=(0, 1),
    continuous=True,
    slow_above=100_000,
)
class KernelCE(KernelSeminorm):
    """The kernel calibration error: large where residuals of nearby predictions have the same sign.

    Options: `kernel`, "laplace" for K = exp(-u) or "gaussian" for K = exp(-u²/2), u = |v_i - v_j| / bandwidth;
    `bandwidth`, above 0. It is the root of a mean over all pairs of rows, a row with itself included, and therefore
    biased upwards; `kernel_ce_squared` estimates its square without bias.

    Exact. Cost: Laplace one sort of the rows, then one pass; Gaussian quadratic in the number of distinct
    predictions. The Laplace kernel is consistent with the distance from calibration, the Gaussian one misses errors of
    high frequency.
    """

    kernel: str = "laplace"
    bandwidth: float = 1.0

    def check(self) -> None:
        _check(self.kernel, self.bandwidth)

    @property
    def laplace_bandwidth(self) -> float | None:
        return self.bandwidth if self.kernel == "laplace" else None

    def norm_on(self, value: np.ndarray, count: np.ndarray) -> Norm:
        norm = SeminormOn(self, value, self.step)
        return norm if self.kernel != "laplace" else LaplaceSeminorm(self, value, self.step, float(self.bandwidth))

    def interval(self, sample: Sample) -> SeminormInterval:
        """Return the interval; with the Laplace kernel also the square bounds its high end."""
        norm, table = self.norm_on(sample.value, sample.count), SummaryTable.of_sample(sample)
        if self.kernel != "laplace":
            return SeminormInterval(norm, table)
        return LaplaceInterval(norm, table, lambda: bound_of_sample(sample, float(self.bandwidth)))

    def interval_on(self, table: Table, norm: Norm) -> SeminormInterval:
        value = cast("SeminormOn", norm).prediction
        bound = None if self.kernel != "laplace" else table.square_bound(value, float(self.bandwidth))
        return SeminormInterval(norm, table) if bound is None else LaplaceInterval(norm, table, bound)

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass | None:
        return _LaplaceNorm(value, float(self.bandwidth)) if self.kernel == "laplace" else None

    def square(self, value: np.ndarray, residual: np.ndarray) -> float:
        return _square(value, residual, self.kernel, self.bandwidth)

    def smoothed(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        smooth = laplace_smoothed if self.kernel == "laplace" else _gaussian_smoothed
        return smooth(value, residual, float(self.bandwidth))

    def fixed_weights(self, value: np.ndarray) -> np.ndarray:
        length, h = float(np.ptp(value)), float(self.bandwidth)
        if self.kernel == "gaussian":  # the kernel around the middle
            return np.exp(-0.5 * ((value[None] - value[0] - length / 2) / h) ** 2)
        # the function 1 over its norm, and the kernel around points at most a bandwidth apart
        points = value[0] + length * np.linspace(0, 1, min(math.ceil(length / h) + 1, KERNEL_POINTS))
        one = np.full((1, value.size), 1 / math.sqrt(1 + length / (2 * h)))
        return np.concatenate([one, np.exp(-np.abs(value - points[:, None]) / h)])


@measure(
    "kernel_ce_squared",
    title="Squared kernel calibration error, unbiased",
    formula=r"\frac1{n (n - 1)} \sum_{i \ne j} (y_i - v_i)\,(y_j - v_j)\,K(v_i, v_j)",
    reference=REFERENCE,
    bounds=(-1, 1),
    continuous=True,
    slow_above=100_000,
)
class KernelCESquared(Statistic):
    """The mean of residuals' products over pairs of different rows: an unbiased estimate of `kernel_ce` squared.

    Options: `kernel`, "laplace" for K = exp(-u) or "gaussian" for K = exp(-u²/2), u = |v_i - v_j| / bandwidth;
    `bandwidth`, above 0. It is in squared units and may be negative: for a calibrated model about as often as
    not. 0 for fewer than two rows.

    Exact, at the cost of `kernel_ce`.
    """

    kernel: str = "laplace"
    bandwidth: float = 1.0

    def check(self) -> None:
        _check(self.kernel, self.bandwidth)

    def population_value(self, population: BinaryPopulation) -> float:
        return self._root.population_value(population) ** 2

    @property
    def _root(self) -> KernelCE:
        return KernelCE(kernel=self.kernel, bandwidth=self.bandwidth)

    @property
    def laplace_bandwidth(self) -> float | None:
        return self._root.laplace_bandwidth

    @property
    def honest(self) -> Honest:
        return "own"

    def interval(self, sample: Sample) -> Interval:
        return MappedInterval(self.estimate(sample), self._root.interval(sample), np.square)

    def interval_by_rows(self, sample: Sample, table: RowTable) -> Interval:
        """Return the squares of the ends of the root, which the population value is the square of."""
        root = self._root
        return MappedInterval(
            self.estimate(sample), root.interval_on(table, root.norm_on(sample.value, sample.count)), np.square
        )

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass | None:
        n = float(count.sum())
        if self.kernel != "laplace" or n < 2:
            return None
        return _UnbiasedSquare(value, float(self.bandwidth), n, float(count @ (value * (1 - value))))

    def of_residuals(self, sample: Sample) -> tuple[None, OfResiduals]:
        """Return the measure with what rows add with themselves as it is, so that resamples rank as by `kernel_ce`.

        Signs do not change it. Labels do, but of rows in clusters other pairs depend on each other too.
        """
        n, root = float(sample.count.sum()), self._root.norm_on(sample.value, sample.count)
        now = float(root.value(sample.residual)) ** 2
        estimate, times = self.estimate(sample), n / max(n - 1, 1.0)
        return None, lambda residual: estimate + times * (np.square(root.value(residual)) - now)

    def evaluate(self, value: np.ndarray, count: np.ndarray, positives: np.ndarray) -> float:
        n = count.sum()
        square = _square(value, (positives - count * value) / n, self.kernel, self.bandwidth)
        if n < 2:
            return 0.0
        same_row = positives @ (1 - value) ** 2 + (count - positives) @ value**2
        return float((n * square - same_row / n) / (n - 1))
