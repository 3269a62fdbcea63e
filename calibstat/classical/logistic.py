"""Logistic regression of the outcome on a polynomial in the logit of the prediction, on the sorted summary.

logit P(y = 1) = x + a polynomial in x, x the logit of the prediction v: it is 0 if calibrated. It is written in
polynomials that are orthonormal for the weights count * v * (1 - v), so that the information is the identity there
and every degree is a leading block of the next.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np

from calibstat.classical.condensed_logits import condensed
from calibstat.compiled import first_calls, jit, without_numba
from calibstat.data.clipping import advice
from calibstat.data.null_hypothesis import Null
from calibstat.data.sample import Sample

MOST_STEPS = 200
NEAR_SOLUTION = 1e-10  # squared distance to the solution in standard errors, before the last step, which squares it
ROUNDING = 1e-12  # of a log-likelihood, relative
NEAR_EDGE = 1e-3  # of the depth of a region of likelihood, how far from its edge counts as on it
LONG = 0.5  # move of a logit that is no last step: where outcomes are separated, every step moves some logit by about 1
LONG_MOVE = 5.0  # move of a logit in one step beyond which a loss of information comes from the step, not from the data
SEPARATED = 1e-7  # information in some direction, as a share of a calibrated model's, below which there is none
HIDDEN_INFO = 1e-15  # information in some direction, as a share of the information in another, that rounding hides
# root of the information on a power of the logit, alone or as a share of the information on another, that is none
_NO_INFORMATION = 1e-100

Derivatives = tuple[float, np.ndarray, np.ndarray]  # log-likelihood, gradient, information


class NoMaximum(ValueError):
    """No coefficients are the most likely ones."""


class NoEnd(ValueError):
    """A region of likelihood reaches farther than double precision does."""


@dataclass(frozen=True)
class Fit:
    """A maximum of the likelihood: coefficients, the information there and the log-likelihood."""

    coefficient: np.ndarray
    information: np.ndarray
    log_likelihood: float

    def error(self, direction: np.ndarray) -> float:
        """Return the standard error of a linear function of the coefficients."""
        return math.sqrt(direction @ np.linalg.solve(self.information, direction))


def null_of_logit(logit: str) -> Null:
    """Return the null hypothesis that the logit of every outcome's probability is this."""
    outcome = f"the logit of the outcome's probability is {logit}"
    return Null("the predictions and independently in every row", (outcome,))


class LogitPolynomial:
    """Polynomials in the logit of the prediction, up to a degree below the number of distinct predictions.

    Parameters
    ----------
    logit, count, positives : ndarray, shape (m,)
        The distinct logits of the predictions, ascending, and how many rows and positive outcomes there are at each.
    degree : int
        The highest degree, at least 0.
    what : str
        What the polynomials are for, in messages.
    """

    def __init__(self, logit: np.ndarray, count: np.ndarray, positives: np.ndarray, degree: int, what: str) -> None:
        from scipy.special import expit

        self.logit, self.count, self.positives = logit, count, positives
        self.what = what
        self.degree = min(degree, logit.size - 1)
        self.half = (logit[-1] - logit[0]) / 2 or 1.0
        self.points = points = condensed(logit, count, positives)
        open_ = np.exp(-np.abs(points.logit))
        weight = points.count * open_ / (1 + open_) ** 2  # count * v * (1 - v)
        # keeps digits where few predictions hold all the information
        self.centre = np.average(points.logit, weights=weight)
        scaled = np.sqrt(np.abs(weight))[:, None] * self._powers(points.logit)
        # rows that tell next to nothing come last: above others, rounding of these would stand in their place
        triangle = np.linalg.qr(scaled[np.argsort(-np.abs(weight), kind="stable")], mode="r")
        self.triangle = np.asarray(triangle) * np.where(np.diag(triangle) < 0, -1.0, 1.0)[:, None]
        told = np.diag(self.triangle)
        if told.min() < _NO_INFORMATION * max(told.max(), 1.0):
            raise ValueError(
                f"expected predictions that leave outcomes open for {what}, found so near to 0 and 1 that they tell "
                f"nothing of a polynomial of degree {self.degree} in their logits; {advice(expit(logit))}"
            )
        self.basis = self._basis()
        if points.cells:  # some weights are negative
            information = self.derivatives(np.zeros(self.degree + 1))[2]
            self.triangle = np.linalg.cholesky(information).T @ self.triangle
            self.basis = self._basis()

    @classmethod
    def of(cls, sample: Sample, degree: int, what: str) -> Self:
        """Return the polynomials for predictions none of which is 0 or 1, at least two of them if there is a slope."""
        from scipy.special import logit

        if degree > 0 and sample.value.size < 2:
            raise ValueError(f"expected at least two distinct predictions for {what}, found {sample.value[0]:g} alone")
        return cls(logit(sample.value), sample.count, sample.positives, degree, what)

    def _powers(self, x: np.ndarray) -> np.ndarray:
        """Return the powers of the logit, scaled to [-1, 1] over the predictions."""
        return np.vander((x - self.centre) / self.half, self.degree + 1, increasing=True)

    def _basis(self) -> np.ndarray:
        """Return the orthonormal polynomials at the points."""
        return np.ascontiguousarray(self.at(self.points.logit))

    def _resolved(self, coefficient: np.ndarray) -> bool:
        """Return whether sums over the points are, for this polynomial, sums over the rows."""
        return self.points.resolve(self.points.logit + self.basis[:, : coefficient.size] @ coefficient)

    def _take_more_points(self) -> None:
        """Take points in smaller cells, at last all rows."""
        self.points = condensed(self.logit, self.count, self.positives, self.points.density)
        self.basis = self._basis()

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the orthonormal polynomials at these logits, of shape (x.size, degree + 1)."""
        from scipy.linalg import solve_triangular

        return solve_triangular(self.triangle, self._powers(x).T, trans="T").T

    def derivatives(self, coefficient: np.ndarray) -> Derivatives:
        """Return the log-likelihood, its gradient and the information."""
        gradient, information = np.empty(coefficient.size), np.empty((coefficient.size, coefficient.size))
        points = self.points
        counts = points.count, points.positives
        return (
            log_likelihood(points.logit, self.basis, *counts, coefficient, gradient, information),
            gradient,
            information,
        )

    def fit(self, degree: int) -> Fit:
        """Maximise the likelihood over polynomials of this degree; raise if it has no maximum."""
        fit, converged = self.climb(degree)
        if converged:
            return fit
        for outcome, rows in ((0, self.positives), (1, self.count - self.positives)):
            if not rows.any():
                raise NoMaximum(
                    f"expected both outcomes for {self.what}, found outcome {outcome} alone, so that no line or curve "
                    "is the most likely one"
                )
        raise NoMaximum(
            f"expected outcomes that overlap for {self.what}, found "
            + (
                "predictions that separate them: every outcome is 1 on one side of some prediction and 0 on the other, "
                "so that the most likely line is infinitely steep"
                if degree == 1
                else f"that a curve separates them, a polynomial of degree {degree} in the log-odds of the prediction, "
                "so that the most likely one is infinitely steep"
            )
        )

    def climb(self, degree: int, converged: float = NEAR_SOLUTION) -> tuple[Fit, bool]:
        """Return where Newton's method ends among polynomials of this degree, and whether that is a maximum.

        It is one step after the squared distance to it, in standard errors, is below `converged`.
        """
        fit, close = self._climb(degree, converged)
        while self.points.cells and not (close and self._resolved(fit.coefficient)):
            self._take_more_points()
            fit, close = self._climb(degree, converged)
        return fit, close

    def _climb(self, degree: int, converged: float) -> tuple[Fit, bool]:
        """Return where Newton's method ends on the present points, and whether that is a maximum."""
        return newton(self.derivatives, self.basis[:, : degree + 1], converged)

    def farthest(self, fit: Fit, direction: np.ndarray, drop: float, start: np.ndarray | None = None) -> np.ndarray:
        """Maximise a linear function of the coefficients where 2 * log-likelihood is at most `drop` below its maximum.

        Each step is the one of Venzon, Moolgavkar 1988, to the solution for the quadratic approximation at the present
        point, then along the ray from the maximum to the edge of the region. The region is convex and a short enough
        step leads upwards, so steps that do not are halved. `start` is a point to begin from.
        """
        end = self._farthest(fit, direction, drop, start)
        while not self._resolved(end):
            self._take_more_points()
            end = self._farthest(fit, direction, drop, start)
        return end

    def _farthest(self, fit: Fit, direction: np.ndarray, drop: float, start: np.ndarray | None) -> np.ndarray:
        """Return the end of the region on the present points."""
        level = fit.log_likelihood - drop / 2
        flat = np.linalg.solve(fit.information, direction)
        reach = math.sqrt(drop * (direction @ flat))  # how far up the region goes if its edge is an ellipsoid
        if start is None or direction @ (start - fit.coefficient) < reach / 4:
            start = fit.coefficient + drop / reach * flat
        here = self._edge(fit, start, level)
        for _ in range(MOST_STEPS):
            coefficient, (value, gradient, information) = here
            if _least_information(here[1]) == 0.0:  # on the way to an end at infinity, or too far to compute
                break
            to_top, flat = np.linalg.solve(information, np.stack([gradient, direction], axis=1)).T
            room = max(2 * (value - level) + gradient @ to_top, 0.0)
            step = to_top + math.sqrt(room / (direction @ flat)) * flat
            if step @ information @ step < NEAR_SOLUTION * drop:
                return coefficient + step
            here = self._edge(fit, coefficient + step, level)
            while direction @ (here[0] - coefficient) < -NEAR_EDGE * reach:  # the edge is no sharper
                step /= 2
                here = self._edge(fit, coefficient + step, level)
        raise self._no_end()

    def _edge(self, fit: Fit, coefficient: np.ndarray, level: float) -> tuple[np.ndarray, Derivatives]:
        """Move along the ray from the maximum until the log-likelihood is about `level`; return that too.

        The fall below the maximum is convex along the ray, so that Newton's steps from outside the region end at its
        edge. From inside they are taken on the root of the fall, which is about linear near the maximum.
        """
        depth, ray = fit.log_likelihood - level, coefficient - fit.coefficient
        at, inside, outside = 1.0, 0.0, math.inf
        for _ in range(MOST_STEPS):
            coefficient = fit.coefficient + at * ray
            there = self.derivatives(coefficient)
            fall = max(fit.log_likelihood - there[0], 0.0)
            if abs(fall - depth) < NEAR_EDGE * depth:
                return coefficient, there
            inside, outside = (at, outside) if fall < depth else (inside, at)
            slope = -(there[1] @ ray)
            missing = 2 * (math.sqrt(depth * fall) - fall) if fall < depth else depth - fall
            guess = at + missing / slope if slope > 0 else math.inf
            farthest = min(outside, 3 * at)
            at = guess if inside < guess < farthest else (inside + farthest) / 2
        raise self._no_end()

    def _no_end(self) -> NoEnd:
        """Return the error of a region of likelihood that reaches farther than double precision does."""
        return NoEnd(
            f"expected outcomes that bound the interval for {self.what}; found coefficients as far away as double "
            "precision reaches that explain the outcomes almost as well as the best ones: too few predictions have "
            "both outcomes"
        )


def newton(derivatives: Callable[[np.ndarray], Derivatives], basis: np.ndarray, converged: float) -> tuple[Fit, bool]:
    """Return where Newton's method ends that starts at 0, and whether that is a maximum of the likelihood.

    The information at 0 is about the identity. `basis` has a row for each logit, and says how far a step moves it.
    """
    coefficient = np.zeros(basis.shape[1])
    here, close = derivatives(coefficient), False
    for _ in range(MOST_STEPS):
        if close or _least_information(here) < SEPARATED:
            break
        value, gradient, information = here
        step = np.linalg.solve(information, gradient)
        move = np.abs(basis @ step).max()
        close = bool(gradient @ step < converged and move < LONG)
        while True:
            there = derivatives(coefficient + step)
            lost = move > LONG_MOVE and _least_information(there) < SEPARATED
            if close or (there[0] >= value - ROUNDING * abs(value) and not lost):
                break
            step, move = step / 2, move / 2
        coefficient, here = coefficient + step, there
    value, _, information = here
    return Fit(coefficient, information, value), close


def _least_information(here: Derivatives) -> float:
    """Return the information in the direction that has the least of it, 0 if rounding of the most hides it."""
    information = np.linalg.eigvalsh(here[2])
    return float(information[0]) if information[0] > HIDDEN_INFO * information[-1] else 0.0


def _likelihood_in_arrays(
    offset: np.ndarray,
    basis: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    coefficient: np.ndarray,
    gradient: np.ndarray,
    information: np.ndarray,
) -> float:
    used = basis[:, : coefficient.size]
    eta = offset + used @ coefficient
    e = np.exp(-np.abs(eta))
    p = np.where(eta > 0.0, 1.0, e) / (1.0 + e)
    gradient[:] = (positives - count * p) @ used
    information[:] = (used * (count * e / (1.0 + e) ** 2)[:, None]).T @ used
    return float((positives * eta - count * (np.maximum(eta, 0.0) + np.log1p(e))).sum())


@first_calls(lambda *arguments: 3e-6 * arguments[0].size * (1.0 + arguments[4].size * arguments[4].size))
@without_numba(_likelihood_in_arrays)
@jit
def log_likelihood(
    offset: np.ndarray,
    basis: np.ndarray,
    count: np.ndarray,
    positives: np.ndarray,
    coefficient: np.ndarray,
    gradient: np.ndarray,
    information: np.ndarray,
) -> float:
    """Return the log-likelihood and fill in its gradient and the information; the first columns of `basis` are used."""
    k = coefficient.size
    gradient[:] = 0.0
    information[:] = 0.0
    total = 0.0
    for j in range(offset.size):
        eta = offset[j]
        for a in range(k):
            eta += basis[j, a] * coefficient[a]
        e = math.exp(-abs(eta))
        p = 1.0 / (1.0 + e) if eta > 0.0 else e / (1.0 + e)
        total += positives[j] * eta - count[j] * (max(eta, 0.0) + math.log1p(e))
        residual = positives[j] - count[j] * p
        weight = count[j] * e / ((1.0 + e) * (1.0 + e))
        for a in range(k):
            gradient[a] += residual * basis[j, a]
            for b in range(a + 1):
                information[a, b] += weight * basis[j, a] * basis[j, b]
    for a in range(k):
        for b in range(a):
            information[b, a] = information[a, b]
    return total
