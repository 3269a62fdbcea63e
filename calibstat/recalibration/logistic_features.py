"""Logistic regression of the outcome on a few features of the logit of the prediction, within linear conditions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calibstat.classical.condensed_logits import LogitPoints, condensed
from calibstat.classical.logistic import Derivatives, log_likelihood, newton
from calibstat.in_order import first_largest
from calibstat.recalibration.recalibrator import counted

CONVERGED = 1e-20  # squared standard errors from the optimum, before the last step
FLAT = 1e-10  # ratio of singular values below which features differ by rounding alone
ROUNDING = 1e-14  # of a condition, as a share of the sizes of what it adds up
LEAST_WEIGHT = 1e-24  # of a point in what makes features orthonormal, as a share of the largest
NO_WEIGHT = 1e-200  # of a row, whose inverse has no product that a double could not hold

Features = Callable[[np.ndarray], np.ndarray]  # of m logits, shape (m, k)
Found = tuple[np.ndarray, float, bool]  # coefficients, log-likelihood, whether it is a maximum


def likeliest_within(
    x: np.ndarray,
    observed: np.ndarray,
    weight: np.ndarray | None,
    features: Features,
    start: np.ndarray,
    conditions: np.ndarray,
    faces: Sequence[np.ndarray],
) -> tuple[np.ndarray, bool]:
    """Return the coefficients of the largest likelihood with conditions @ coefficient >= 0, and if it is a maximum.

    The logit of the outcome is features(x) @ coefficient, x the logits of the predictions. The log-likelihood is
    concave. Where its maximum breaks a condition the best is on a face, on which some conditions hold with equality and
    which its columns span.
    """
    order = np.argsort(x)
    count = counted(weight, x.size)[order]
    rows = x[order], count, count * observed[order]
    best = _likeliest(*rows, features, start)
    if not _holds(conditions, best[0]):
        found = [_on_face(*rows, features, face) for face in faces]
        found = [each for each in found if _holds(conditions, each[0])]
        best = found[first_largest([each[1] for each in found])]
    return best[0], best[2]


def _holds(conditions: np.ndarray, coefficient: np.ndarray) -> bool:
    """Whether conditions hold, up to rounding."""
    return bool(np.all(conditions @ coefficient >= -ROUNDING * (np.abs(conditions) @ np.abs(coefficient))))


def _on_face(x: np.ndarray, count: np.ndarray, positives: np.ndarray, features: Features, face: np.ndarray) -> Found:
    """Return the best coefficients that are sums of the columns of a face."""
    found = _likeliest(x, count, positives, lambda x: features(x) @ face, np.zeros(face.shape[1]))
    return face @ found[0], found[1], found[2]


def _likeliest(x: np.ndarray, count: np.ndarray, positives: np.ndarray, features: Features, start: np.ndarray) -> Found:
    """Maximise the likelihood for ascending logits by Newton's method, on few points in place of many rows."""
    points = condensed(x, count, positives)
    found = _at_points(points, features, start)
    while points.cells and not (found[2] and points.resolve(features(points.logit) @ found[0])):
        points = condensed(x, count, positives, points.density)
        found = _at_points(points, features, start)
    return found


def _at_points(points: LogitPoints, features: Features, start: np.ndarray) -> Found:
    """Maximise the likelihood of these points, from `start`.

    Where they do not tell coefficients apart, those are taken that move least, each in units of the root mean square of
    its feature.
    """
    feature = features(points.logit)
    offset = feature @ start
    open_ = np.exp(-np.abs(offset))
    spread = np.abs(points.count) * open_ / (1 + open_) ** 2
    root = np.sqrt(np.maximum(spread, max(LEAST_WEIGHT * spread.max(), NO_WEIGHT)))
    size = np.linalg.norm(feature, axis=0)
    size[size == 0] = 1.0
    _, told, direction = np.linalg.svd(np.linalg.qr(feature / size, mode="r"))
    unit = direction[: told.size][told > FLAT * told[0]].T / size[:, None]
    unit = unit @ np.linalg.inv(np.linalg.qr(root[:, None] * (feature @ unit), mode="r"))

    def derivatives(coefficient: np.ndarray) -> Derivatives:
        gradient, information = np.empty(coefficient.size), np.empty((coefficient.size, coefficient.size))
        counts = points.count, points.positives
        return log_likelihood(offset, basis, *counts, coefficient, gradient, information), gradient, information

    basis = np.ascontiguousarray(feature @ unit)
    if points.cells:  # some weights are negative
        unit = unit @ np.linalg.inv(np.linalg.cholesky(derivatives(np.zeros(unit.shape[1]))[2])).T
        basis = np.ascontiguousarray(feature @ unit)
    fit, converged = newton(derivatives, basis, CONVERGED)
    return start + unit @ fit.coefficient, fit.log_likelihood, converged
