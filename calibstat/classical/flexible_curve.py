"""The flexible calibration curve: a logistic regression on a restricted cubic spline of the log-odds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibstat.classical.local_regression import MOST_VALUES, neighbours
from calibstat.classical.logistic import (
    NEAR_SOLUTION,
    Derivatives,
    Fit,
    LogitPolynomial,
    NoMaximum,
    log_likelihood,
    newton,
)
from calibstat.classical.row_quantiles import row_quantiles
from calibstat.data.sample import Sample
from calibstat.result import Result

if TYPE_CHECKING:
    import pandas as pd

KNOTS = (5, 4, 3)  # as many as there is a fit for
OUTER = {5: 0.05, 4: 0.05, 3: 0.1}  # share of the rows below the first knot, and above the last
FEW_ROWS, FIFTH = 100, 4  # with fewer rows the outer knots are at the fifth row from either end, the one after 4 others
POINTS = 201  # at which the curve is drawn
NO_COLUMN = 1e-8  # part of a column that is no combination of the columns before it, below which there is none


@dataclass(frozen=True, eq=False)
class FlexibleCurve(Result):
    """The frequency of events by a restricted cubic spline of the log-odds of the prediction.

    Attributes
    ----------
    prediction, frequency : ndarray, shape (201,)
        Equally spaced from the smallest prediction to the largest, and the curve there; shape (1,) if all are equal.
    low, high : ndarray, shape (201,), or None
        The ends of the pointwise band at each; None of rows with weights or in clusters.
    knots : ndarray, shape (5,), (4,), (3,) or (0,)
        The knots, as log-odds; none of a straight line, Cox's, and where no curve is the most likely one: then
        `frequency`, `low` and `high` are nan.
    """

    prediction: np.ndarray
    frequency: np.ndarray
    low: np.ndarray | None
    high: np.ndarray | None
    knots: np.ndarray

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with a row for each point: prediction, frequency and, if there is a band, its ends."""
        import pandas as pd

        columns = {name: getattr(self, name) for name in ("prediction", "frequency", "low", "high")}
        return pd.DataFrame({name: column for name, column in columns.items() if column is not None})

    def __str__(self) -> str:
        if np.isnan(self.frequency).any():
            return "none, because no curve is the most likely one"
        if self.prediction.size == 1:
            return "a constant: all predictions are equal"
        what = f"restricted cubic spline of the log-odds, {self.knots.size} knots" if self.knots.size else "Cox's line"
        return what if self.knots.size == max(KNOTS) else f"{what}, because these rows have no fit with more"


def flexible_curve(sample: Sample, confidence_level: float | None) -> tuple[FlexibleCurve, np.ndarray]:
    """Return the curve, and its frequency at each distinct prediction, shape (m,).

    Predictions are between 0 and 1. Without a level there is no band. All is nan where there is no line.
    """
    from scipy.special import expit, logit, ndtri

    at = logit(sample.value)
    drawn = np.linspace(sample.value[0], sample.value[-1], POINTS if at.size > 1 else 1)
    try:
        basis, fit = _with_most_knots(at, sample)
    except NoMaximum:
        nothing = np.full(drawn.size, np.nan)
        ends = None if confidence_level is None else nothing
        return FlexibleCurve(drawn, nothing, ends, ends, np.empty(0)), np.full(at.size, np.nan)
    columns = basis.at(logit(drawn))
    eta = logit(drawn) + columns @ fit.coefficient
    band: tuple[np.ndarray | None, np.ndarray | None] = (None, None)
    if confidence_level is not None:
        variance = (columns * np.linalg.solve(fit.information, columns.T).T).sum(axis=1)
        reach = float(ndtri((1 + confidence_level) / 2)) * np.sqrt(variance)
        band = expit(eta - reach), expit(eta + reach)
    knots = basis.knots if isinstance(basis, SplineBasis) else np.empty(0)
    # many predictions are so close that the curve is straight between them
    some = at[np.unique(np.linspace(0, at.size - 1, MOST_VALUES).astype(np.int64))]
    frequency = expit(np.interp(at, some, some + basis.at(some) @ fit.coefficient))
    return FlexibleCurve(drawn, expit(eta), *band, knots), frequency


def _with_most_knots(at: np.ndarray, sample: Sample) -> tuple[SplineBasis | LogitPolynomial, Fit]:
    """Return the fit with the most knots that has one; at last of Cox's line, or a constant if there is one point."""
    _, *points = neighbours(at, sample.count, sample.positives)
    for k in KNOTS:
        knots = knots_of(at, sample, k)
        basis = None if knots is None else SplineBasis.of(knots, *points[:2])
        fit = None if basis is None else basis.fit(*points)
        if basis is not None and fit is not None:
            return basis, fit
    line = LogitPolynomial.of(sample, min(1, at.size - 1), "validation")
    return line, line.fit(line.degree)


def knots_of(at: np.ndarray, sample: Sample, k: int) -> np.ndarray | None:
    """Return k knots at quantiles of the ascending log-odds, shape (k,), or None where they are not k distinct ones.

    R's `Hmisc::rcspline.eval` gives the same, apart from its other choices where many predictions are equal.
    """
    whole = sample.kind == "counts"
    outer = FIFTH / (sample.n - 1) if whole and FIFTH < sample.n < FEW_ROWS else OUTER[k]
    share = np.linspace(OUTER[k], 1 - OUTER[k], k)
    share[0], share[-1] = outer, 1 - outer
    knots = row_quantiles(at, sample.count, share, whole)
    return knots if (np.diff(knots) > 0).all() else None


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Restricted cubic splines, orthonormal by the information that rows have where they are calibrated.

    Attributes
    ----------
    knots : ndarray, shape (k,)
        The knots, ascending, at least three.
    to_orthonormal : ndarray, shape (k, k)
        What the columns of `splines` are multiplied by to be orthonormal.
    """

    knots: np.ndarray
    to_orthonormal: np.ndarray

    @classmethod
    def of(cls, knots: np.ndarray, x: np.ndarray, count: np.ndarray) -> SplineBasis | None:
        """Return the splines for rows at these log-odds; None if the rows do not tell them apart."""
        open_ = np.exp(-np.abs(x))
        scaled = np.sqrt(count * open_ / (1 + open_) ** 2)[:, None] * splines(x, knots)
        triangle: np.ndarray = np.asarray(np.linalg.qr(scaled, mode="r"))
        if len(triangle) < knots.size or (np.abs(np.diag(triangle)) < NO_COLUMN * np.linalg.norm(scaled, axis=0)).any():
            return None
        return cls(knots, np.linalg.inv(triangle))

    def at(self, x: np.ndarray) -> np.ndarray:
        """Return the orthonormal splines at these log-odds, shape (x.size, k)."""
        return splines(x, self.knots) @ self.to_orthonormal

    def fit(self, x: np.ndarray, count: np.ndarray, positives: np.ndarray) -> Fit | None:
        """Return the maximum of the likelihood; None if some spline separates the outcomes, so that there is none."""
        basis = self.at(x)

        def derivatives(coefficient: np.ndarray) -> Derivatives:
            k = coefficient.size
            gradient, information = np.empty(k), np.empty((k, k))
            value = log_likelihood(x, basis, count, positives, coefficient, gradient, information)
            return value, gradient, information

        fit, close = newton(derivatives, basis, NEAR_SOLUTION)
        return fit if close else None


def splines(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return 1, x and cubic splines that are straight beyond the outer knots, shape (x.size, k).

    Harrell 2015, Regression modeling strategies, section 2.4.5.
    """
    *inner, last_but_one, last = knots

    def cube(knot: float) -> np.ndarray:
        beyond = np.maximum((x - knot) / (last - knots[0]) ** (2 / 3), 0)
        return beyond * beyond * beyond  # a tenth of the time of a power

    last_cubes = cube(last_but_one), cube(last)
    columns = [np.ones(x.size), x]
    for knot in inner:
        straight = (last - knot) * last_cubes[0] - (last_but_one - knot) * last_cubes[1]
        columns.append(cube(knot) - straight / (last - last_but_one))
    return np.stack(columns).T
