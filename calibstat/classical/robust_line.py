"""Cox's logistic recalibration of rows with weights and in clusters, with intervals that leave out one cluster."""

from __future__ import annotations

import numpy as np

from calibstat.bounds.tail_bound import TailBound
from calibstat.classical.cox import Numbers, line_numbers
from calibstat.classical.logistic import Fit, LogitPolynomial
from calibstat.data.sample import Sample
from calibstat.data.weighted_sample import WeightedSample

_NO_SHARE_LEFT = 1e-9  # share of the information that is left without a cluster, in some direction, which is none


def robust_line(sample: WeightedSample, unit: np.ndarray, miss: float) -> Numbers:
    """Return `in_the_large`, and if predictions differ `intercept` and `slope`, as `line_numbers` does, with intervals.

    The estimates maximise the weighted likelihood. They are off by about the sum of what each cluster adds to them, and
    the variance of that sum is estimated by leaving out one cluster at a time, to first order: with the information A,
    the part A_g and the gradient s_g of cluster g, it is (G - 1) / G times the sum of the squares of d_g = (A - A_g)^-1
    s_g (a jackknife, Bell and McCaffrey 2002). Student's quantile has the degrees of freedom of a sum of squares of
    such sizes. `unit` numbers the cluster of each row from 0; each end misses with probability `miss`.
    """
    z = TailBound.of_units(np.bincount(unit, sample.weight), miss).z

    def ends(model: LogitPolynomial, fit: Fit, direction: np.ndarray, null: float) -> tuple[float, float]:
        estimate = float(null + direction @ fit.coefficient)
        reach = z * float(np.sqrt(left_out_variance(model, fit.coefficient, sample, unit, direction)))
        return estimate - reach, estimate + reach

    return line_numbers(Sample(sample.value, sample.count, sample.positives, "weights"), "validation", ends)


def left_out_variance(
    model: LogitPolynomial, coefficient: np.ndarray, sample: WeightedSample, unit: np.ndarray, direction: np.ndarray
) -> float:
    """Return the variance of a linear function of the coefficients, infinite where one cluster tells all of it."""
    from scipy.special import expit, logit

    at = logit(sample.value)
    basis = model.at(at)[:, : coefficient.size]
    chance = expit(at + basis @ coefficient)[sample.cell]
    rows = basis[sample.cell]
    gradient = _by_unit(unit, (sample.weight * (sample.outcome - chance))[:, None] * rows)
    open_ = (sample.weight * chance * (1 - chance))[:, None, None]
    information = _by_unit(unit, open_ * rows[:, :, None] * rows[:, None, :])
    total = information.sum(axis=0)
    others = total - information
    if (np.linalg.det(others) <= _NO_SHARE_LEFT * np.linalg.det(total)).any():
        return np.inf
    left_out = np.linalg.solve(others, gradient[:, :, None])[:, :, 0] @ direction
    return float((left_out**2).sum() * (1 - 1 / left_out.size))


def _by_unit(unit: np.ndarray, of_rows: np.ndarray) -> np.ndarray:
    """Return the sums over the rows of each cluster."""
    columns = of_rows.reshape(unit.size, -1).T
    return np.stack([np.bincount(unit, column) for column in columns], axis=1).reshape(-1, *of_rows.shape[1:])
