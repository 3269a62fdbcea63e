"""Intervals where rows come in clusters: whole clusters are drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.inference.calibration_test import p_value
from calibstat.inference.honest import ROWS_STAGE, upper_quantile
from calibstat.inference.linear_form import (
    KAPPA,
    RowWise,
    as_clusters,
    moves,
    row_contents,
    row_wise,
    side_by_side,
    with_most_bias,
)
from calibstat.inference.problem import Problem

SIGNS_STAGE = 7  # the stream from which their signs come


def clustered_interval(
    problem: Problem, cluster: Any, method: str, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[RowWise, float, float] | None:
    """Return the measure by rows and the ends of an interval from drawing clusters, or None where none is known.

    The honest one is that of a seminorm with a witness; the largest standard deviation of any witness is reached where
    all residuals of a cluster pull in one direction.
    """
    from scipy.special import ndtri, stdtrit

    contents = row_contents(problem)
    if not contents:
        return None
    order, unit = resampling.canonical_order(contents, as_clusters(cluster, contents[0].size))
    assert unit is not None
    model = row_wise(problem, order)
    assert model is not None
    model = replace(model, kappa=max(model.kappa, KAPPA)) if method == "honest" else model
    cell, residual = side_by_side([model])
    drawn = resampling.draw_shared(
        unit, cell, residual, lambda sums, rows: moves([model], sums, rows)[:, 0], n_resamples, key, ROWS_STAGE, n_jobs
    )
    estimate = model.estimate
    if method != "honest":
        low, high = np.quantile(drawn[:, 2], [alpha / 2, 1 - alpha / 2])
        return (model, low, high) if method == "percentile" else (model, 2 * estimate - high, 2 * estimate - low)
    clusters = int(unit.max()) + 1
    spread = float(drawn[:, 1].std()) * np.sqrt(clusters / (clusters - 1))
    if model.mean:
        reach = float(stdtrit(clusters - 1, 1 - alpha / 2)) * spread
        return model, estimate - reach, estimate + reach
    largest = float(np.sqrt((np.bincount(unit, np.abs(model.residual)) ** 2).sum())) / model.n
    spread = largest if estimate < model.floor * largest else spread
    low = max(estimate - upper_quantile(with_most_bias(model, drawn[:, 0], unit), alpha / 2), 0.0)
    if low > 0 and _by_signs(model, unit, n_resamples, key) > alpha / 2:
        low = 0.0
    return model, low, estimate + float(ndtri(1 - alpha / 2)) * spread


def _by_signs(model: RowWise, unit: np.ndarray, n_resamples: int, key: np.uint64) -> float:
    """Return a p-value for calibration: residuals of a cluster keep or change their signs together.

    If calibrated, the residuals of every cluster have mean zero given the predictions. Where few clusters share a cell
    this says more of their spread than drawing clusters does.
    """
    drawn = np.empty(n_resamples)
    for r in range(n_resamples):
        sign = 2.0 * resampling.signs(key, SIGNS_STAGE, r, int(unit.max()) + 1) - 1
        drawn[r] = model.norm(np.bincount(model.cell, model.residual * sign[unit], model.theta.size) / model.n)
    return p_value(model.estimate, drawn, "greater")
