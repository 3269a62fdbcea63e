"""Confidence intervals for calibration measures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat.data.checks import check_level
from calibstat.data.clusters import as_clusters
from calibstat.data.observations import EVENT
from calibstat.inference.drawable import Drawable
from calibstat.inference.p_values import p_value
from calibstat.inference.problem import Problem, pose
from calibstat.measures.base import Measure
from calibstat.resampling import Draws
from calibstat.resampling.quantiles import quantiles
from calibstat.result import Result


@dataclass(frozen=True)
class ConfidenceInterval(Result):
    """Result of `confidence_interval`.

    Attributes
    ----------
    low, high : float
        The ends.
    estimate : float
        The measure on the data.
    confidence_level : float
        The nominal coverage probability.
    method : {"honest", "percentile", "basic", "bca"}
        The method of the interval.
    estimand : str
        The quantity that it is meant to cover, in one sentence.
    measure, lens : str
        The measure with its options, and the outcome whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    why_infinite : str
        The row that makes the estimate infinite; empty if it is finite.
    """

    low: float
    high: float
    estimate: float
    confidence_level: float
    method: str
    estimand: str
    measure: str
    lens: str
    n: int
    n_resamples: int
    why_infinite: str = ""

    def __str__(self) -> str:
        infinite = f"Infinite: {self.why_infinite}.\n" if self.why_infinite else ""
        return (
            f"{self.measure} = {self.estimate:.4g}, {self.confidence_level:.4g} confidence interval "
            f"[{self.low:.4g}, {self.high:.4g}] ({self.method}), {self.lens}, n = {self.n}.\n"
            f"{infinite}Estimand: {self.estimand}"
        )


METHODS = ("honest", "percentile", "basic", "bca")


def confidence_interval(
    y_true: Any,
    y_prob: Any = None,
    *,
    measure: str | Measure | type[Measure] = "ece",
    lens: Any = None,
    reduce: str | None = None,
    method: str = "honest",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    cluster: Any = None,
    rng: Any = None,
    n_jobs: int = 1,
    labels: Any = None,
    **options: Any,
) -> ConfidenceInterval:
    """Return a confidence interval for the population value of a measure.

    Parameters
    ----------
    y_true, y_prob, lens, labels, **options
        As for `estimate`.
    measure : str or Measure
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``.
    reduce : {"mean", "max"}
        For lens "class_wise", and then needed: the mean over the classes, or the largest.
    method : {"honest", "percentile", "basic", "bca"}
        "honest" is built to cover also at and near calibration, and exists for `ece` (L1), `ks`, `kuiper`,
        `kernel_ce`, `smooth_ce`, `smooth_ece`, `brier` and `log_loss` of a binary outcome; for class-wise `ece` (L1);
        and for `canonical_ce` in total variation or L1, and canonical `brier` and `log_loss`. The others are the usual
        bootstrap intervals, for every measure ("bca" for binary outcomes only): near calibration they miss the true
        value (see Notes).
    confidence_level : float
        Between 0 and 1.
    n_resamples : int, optional
        Number of bootstrap samples, at least 1; `honest` draws as many again from the null hypothesis. Default: 999, or
        99 for a measure whose resamples take long (its page says so).
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day); clusters are resampled, not rows. For binary outcomes, or for
        canonical `brier` and `log_loss`; not for a `Sample`, and not with "bca".
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    ConfidenceInterval

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named) or have real-valued weights, an argument
        is unknown, or the measure has no such interval; the message names the methods it has.

    Notes
    -----
    Assumes independent rows, or with `cluster` independent clusters. `honest`: the low end is 0 unless the
    labels-only test of the same measure rejects at (1 - confidence_level) / 2, so at calibration it is exact for
    every n. The high end is an approximation that can fail where either outcome is observed fewer than about ten times
    and, except for `ece`, where two weighted sums of residuals nearly attain the measure. That of `ece` allows for the
    upward bias of the estimate and may lie below it. `brier` and `log_loss` are means, and `honest` is the t interval
    of a mean; that of an infinite `log_loss` is [inf, inf], by any method, because the row that makes it infinite
    occurs in the population too. The high end of class-wise and canonical measures is computed in the same way. Cells
    that depend on the data are kept fixed, and the interval is for the population error over these cells: quantile bins
    by every method, trees by "honest". `ece` over more than 100 cells of fewer than 3 rows on average, such as the
    level sets of predictions that hardly repeat, has no honest interval. `percentile` and `bca` hardly ever cover a
    calibrated model's error of zero, `basic` does far too seldom. Cost: two passes of `n_resamples` over the data;
    `bca` one evaluation for each distinct row more.
    With clusters the low end is 0 unless a test by random signs, one for all residuals of a cluster, rejects
    calibration; that test is exact for symmetric residuals only. All of this needs many clusters (a warning is given
    for fewer than 30). The estimand weighs rows, not clusters, equally.

    References
    ----------
    Fang, Santos 2019, doi:10.1093/restud/rdy049; Hong, Li 2018, doi:10.1016/j.jeconom.2018.06.007;
    Efron 1987, doi:10.2307/2289144.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [500, 500], [150, 350])
    >>> found = cs.confidence_interval(sample, measure="ks", rng=1)
    >>> round(found.estimate, 3), round(found.low, 2), round(found.high, 2)
    (0.05, 0.02, 0.07)
    """
    if method not in METHODS:
        raise ValueError(f"expected a method, one of {', '.join(METHODS)}; found {method!r}")
    check_level("confidence_level", confidence_level)
    problem = pose(y_true, y_prob, measure, options, lens=lens, reduce=reduce, labels=labels)
    draws = Draws.of(rng, problem.measure.draws(n_resamples), n_jobs)
    _need_method(problem, method)
    alpha = 1 - confidence_level
    drawn: Drawable = problem.drawn_from("confidence_interval")
    estimate = drawn.statistic()
    if problem.is_mean and np.isinf(estimate):
        low = high = np.inf  # what was observed once occurs in the population too: its mean is infinite
    else:
        if cluster is not None:
            drawn = _in_clusters(problem, cluster, int(drawn.n), method)
            estimate = drawn.statistic()
        if method == "honest":
            low, high = honest_interval(drawn, alpha, draws)
        else:
            low, high = bootstrap_interval(drawn, estimate, method, alpha, draws)
    smallest, largest = problem.measure.info.bounds
    return ConfidenceInterval(
        low=float(np.clip(low, smallest, largest)),
        high=float(np.clip(high, smallest, largest)),
        estimate=estimate,
        confidence_level=confidence_level,
        method=method,
        estimand=_estimand(problem, method),
        measure=str(problem.measure),
        lens=problem.lens,
        n=int(drawn.n),
        n_resamples=draws.n,
        why_infinite=problem.data.impossible() if problem.measure.is_mean and np.isinf(high) else "",
    )


def _need_method(problem: Problem, method: str) -> None:
    if not problem.is_one_number:
        raise ValueError("expected reduce 'mean' or 'max' for an interval, or lens one_class(k), found 'class_wise'")
    known = ("honest",) * problem.is_honest + problem.bootstraps
    if method not in known:
        raise ValueError(f"no {method} interval is known for {problem.title}; it has the methods {', '.join(known)}")


def _in_clusters(problem: Problem, cluster: Any, n: int, method: str) -> Drawable:
    unit = as_clusters(cluster, n)
    found = None if method == "bca" else problem.in_clusters(unit)
    if found is None:
        raise ValueError(f"no {method} interval with clusters is known for {problem.title}")
    return found


def _estimand(problem: Problem, method: str) -> str:
    """Say in one sentence what an interval is for."""
    measure = problem.measure
    settings = ", ".join(f"{name}={value!r}" for name, value in measure.options.items())
    title = measure.info.title + (f" ({settings})" if settings else "")
    title += f", {problem.lens}," if problem.lens != EVENT else ""
    beyond = ", over the cells that these rows make" if problem.holds_cells(method == "honest") else ""
    beyond += "; a lower bound on the unbinned error" if problem.is_coarse else ""
    return f"{title} of the population these rows are an independent sample of{beyond}."


def honest_interval(drawn: Drawable, alpha: float, draws: Draws) -> tuple[float, float]:
    """Return the ends of the honest interval, from the linear form of the measure."""
    form = drawn.linear_form()
    low, high = form.ends(lambda: drawn.draw_form(form, draws), alpha)
    if form.is_mean:
        return low, high
    if low > 0:  # the gate: a low end above 0 denies calibration, so the exact test has to deny it too
        gated = p_value(drawn.statistic(), drawn.draw_null(draws), "greater") > alpha / 2
        low = 0.0 if gated else low
    return max(low, 0.0), high


def bootstrap_interval(
    drawn: Drawable, estimate: float, method: str, alpha: float, draws: Draws
) -> tuple[float, float]:
    """Return the ends of a percentile, basic or BCa bootstrap interval."""
    resampled = drawn.draw_pairs(draws)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if method == "bca":
        levels = _bca_levels(drawn, estimate, resampled, levels)
    low, high = map(float, quantiles(resampled, levels))
    if method == "basic":  # what is infinite stays so
        return (estimate, estimate) if np.isinf(estimate) else (2 * estimate - high, 2 * estimate - low)
    return low, high


def _bca_levels(drawn: Drawable, estimate: float, resampled: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Move the levels for bias and acceleration (Efron 1987), the bias kept finite if all draws lie on one side."""
    from scipy.special import ndtr, ndtri

    below = np.count_nonzero(resampled < estimate) + np.count_nonzero(resampled == estimate) / 2
    bias = ndtri((below + 0.5) / (resampled.size + 1))
    weight, influence = _influence(*drawn.jackknife())
    squares = weight @ influence**2
    acceleration = weight @ influence**3 / (6 * squares**1.5) if squares > 0 else 0.0
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))


def _influence(weight: np.ndarray, left_out: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how many rows are of each kind and their influence."""
    if np.isinf(left_out).any():  # beside infinite influences the others are nothing
        left_out = np.isinf(left_out).astype(np.float64)
    return weight, weight @ left_out / weight.sum() - left_out
