"""Weighted calibration error: the largest mean of residuals weighted by one of a list of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from calibstat.bounds.moments import Moments
from calibstat.bounds.tail_bound import TailBound
from calibstat.data.checks import is_number, short
from calibstat.digits import settled
from calibstat.in_order import first_largest
from calibstat.inner_product import inner
from calibstat.measures.kinds.binary_kinds import Seminorm
from calibstat.measures.kinds.registry import measure
from calibstat.resampling.one_pass import OnePass

REFERENCE = (
    "Gopalan, Kim, Singhal, Zhao 2022, Low-Degree Multicalibration, arXiv:2203.01255; Błasiok, Gopalan, Hu, Nakkiran "
    "2023, A Unifying Theory of Distance from Calibration, arXiv:2211.16886, definition 7.1"
)
Function = Callable[[np.ndarray], np.ndarray]
HIGHEST_DEGREE = 100
ROUNDING = 1e-12  # by which a weight may lie beyond 1


def _polynomials(value: np.ndarray, degree: int) -> np.ndarray:
    """Return Chebyshev's polynomials of 2 v - 1 up to this degree, shape (degree + 1, m): all are within [-1, 1]."""
    return np.cos(np.arange(degree + 1)[:, None] * np.arccos(np.clip(2 * value - 1, -1, 1)))


@dataclass(frozen=True, eq=False)
class _LargestSum(OnePass):
    """The largest absolute sum of weight times residual, with a row of weights for each function."""

    weights: np.ndarray

    @property
    def size(self) -> int:
        return len(self.weights)

    def add(self, state: np.ndarray, rows: slice, residual: np.ndarray) -> None:
        state += np.einsum("fj,jb->fb", self.weights[:, rows], residual)

    def result(self, state: np.ndarray) -> np.ndarray:
        return np.asarray(np.abs(state).max(axis=0))


@measure(
    "weighted_ce",
    title="Weighted calibration error",
    formula=r"\max_{w \in W} \Bigl|\frac1n \sum_i (y_i - v_i)\,w(v_i)\Bigr|",
    reference=REFERENCE,
    bounds=(0, 1),
    sound=False,
    continuous=True,
    slow_above=0,
)
class WeightedCE(Seminorm):
    """The largest mean of residuals weighted by one of some functions of the prediction, of either sign.

    Option: `functions`, the weights W: a sequence of functions of an array of predictions that return weights in
    [-1, 1], or the highest degree of polynomials, whose functions are Chebyshev's polynomials of 2 v - 1 from degree 0
    on. Mixtures of the functions need not be given, since none is larger. Functions are your choice, and may not be
    chosen by the outcomes.

    Other errors are the same maximum over larger classes: `smooth_ce` over all Lipschitz weights, `kernel_ce` over the
    unit ball of a kernel, `ece` over weights that are constant on bins. A few functions have more power against what
    they describe, and miss every error at right angles to all of them. If a function jumps, so does the error.

    Cost: one sort of the rows, then one pass for each function.
    """

    weak = True

    functions: int | Sequence[Function] = 3

    def __post_init__(self) -> None:
        if isinstance(self.functions, list):
            object.__setattr__(self, "functions", tuple(self.functions))
        super().__post_init__()

    def check(self) -> None:
        of = self.functions
        degree = is_number(of) and 0 <= of <= HIGHEST_DEGREE and of == int(of)
        given = isinstance(of, tuple) and len(of) > 0 and all(map(callable, of))
        if not (degree or given):
            raise ValueError(
                "expected functions to be a sequence of functions of an array of predictions, or a highest degree of "
                f"polynomials, a whole number from 0 to {HIGHEST_DEGREE}; found {short(of)}"
            )

    def weights(self, value: np.ndarray) -> np.ndarray:
        """Return the weights of these predictions, with a row for each function."""
        if not isinstance(self.functions, tuple):
            return _polynomials(value, int(self.functions))  # type: ignore[arg-type]
        return np.stack([self._weight(k, function, value) for k, function in enumerate(self.functions)])

    def _weight(self, k: int, function: Function, value: np.ndarray) -> np.ndarray:
        weight = np.asarray(function(value), np.float64)
        if weight.shape != value.shape:
            raise ValueError(
                f"expected function {k} of weighted_ce to return a weight for each prediction, shape {value.shape}, "
                f"found shape {weight.shape}"
            )
        (wrong,) = np.nonzero(~(np.abs(weight) <= 1 + ROUNDING))
        if wrong.size:
            at = f"{settled(weight[wrong[0]]):.6g} at the prediction {settled(value[wrong[0]]):.6g}"
            raise ValueError(f"expected function {k} of weighted_ce to return weights in [-1, 1], found {at}")
        return np.clip(weight, -1, 1)

    def one_pass(self, value: np.ndarray, count: np.ndarray, chance: np.ndarray) -> OnePass:
        return _LargestSum(self.weights(value))

    def norm(self, value: np.ndarray, residual: np.ndarray) -> float:
        return float(_LargestSum(self.weights(value)).of(residual))

    def witness(self, value: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Return the weights of the function with the largest sum, with the sign that makes it positive."""
        weights = self.weights(value)
        sums = [inner(weight, residual) for weight in weights]
        best = first_largest(np.abs(sums))
        return np.asarray(weights[best] * (-1.0 if sums[best] < 0 else 1.0))

    def upper_bound(self, value: np.ndarray, moments: Moments, tail_bound: TailBound) -> float:
        """Return the largest bound over the functions, each of either sign: their weights are fixed."""
        return max(tail_bound.of_either_sign(moments.of(weight)) for weight in self.weights(value))
