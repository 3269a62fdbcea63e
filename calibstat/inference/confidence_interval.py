"""Confidence intervals for measures of calibration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibstat import resampling
from calibstat.data.checks import check_level
from calibstat.data.sample import Sample
from calibstat.inference.clusters import clustered_interval
from calibstat.inference.honest import ROWS_STAGE, honest_interval
from calibstat.inference.honest_classes import honest_interval_of_classes, is_honest
from calibstat.inference.problem import EVENT, ClassProblem, EventProblem, Problem, VectorProblem, impossible, pose
from calibstat.measures.binned import is_unbinned
from calibstat.measures.registry import BinnedInterval, BoundMeasure, MeanInterval
from calibstat.resampling.quantiles import quantiles
from calibstat.result import Result


@dataclass(frozen=True)
class ConfidenceInterval(Result):
    """What `confidence_interval` found.

    Attributes
    ----------
    low, high : float
        The ends.
    estimate : float
        The measure on the data.
    confidence_level : float
        The probability with which the interval is meant to cover the estimand.
    method : {"honest", "percentile", "basic", "bca"}
        How it was made.
    estimand : str
        What it covers, in one sentence.
    measure, lens : str
        The measure with its options, and the event whose probability was predicted.
    n, n_resamples : int
        Rows and resamples.
    why_infinite : str
        Of an infinite estimate, the row that made it so; else empty.
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
    measure: str = "ece",
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
    """Return a confidence interval for a measure of the population that the rows are an independent sample of.

    Parameters
    ----------
    y_true : array_like, shape (n,), or Sample, or Predictions
        Outcomes, 0 or 1, or classes from 0 to K - 1; or a `Sample` or `Predictions`, and then no `y_prob`.
    y_prob : array_like, shape (n,) or (n, K)
        Predicted probability of outcome 1, or of each class, in [0, 1].
    measure : str
        A name in `calibstat.MEASURES`.
    lens : str or Lens, optional
        What is looked at of K classes, a name in `calibstat.LENSES` or made by `calibstat.lenses`. Default: outcome 1
        of two; of more classes "top_label", or "canonical" for a measure of whole vectors.
    reduce : {"mean", "max"}
        For lens "class_wise", and then needed: the mean over the classes, or the largest.
    method : {"honest", "percentile", "basic", "bca"}
        "honest" is built to cover also at and near calibration, and exists for `ece` (L1), `ks`, `kuiper`,
        `kernel_ce`, `smooth_ce`, `smooth_ece`, `brier` and `log_loss` of one event; for `ece` (L1) of all classes;
        and for `canonical_ce` in total variation or L1, `brier` and `log_loss` of whole vectors. The others are the
        usual bootstrap intervals, for every measure ("bca" of one event only) and for comparison: near calibration
        they miss the truth (see Notes).
    confidence_level : float
        Between 0 and 1.
    n_resamples : int, optional
        Number of bootstrap samples, at least 1; `honest` draws as many again from the null hypothesis. Default: 999, or
        99 for a measure whose resamples take long (its page says so).
    cluster : array_like, shape (n,), optional
        To whom each row belongs (a patient, a day): rows of one are drawn together. For one event, or for `brier` and
        `log_loss` of whole vectors; not for a `Sample`, and not with "bca".
    rng : None, int, SeedSequence or Generator
        Where randomness comes from; the same int gives the same numbers on any number of threads.
    n_jobs : int
        Threads; -1 for one a core.
    labels : sequence, optional
        The values in `y_true` that mean outcome 0 and outcome 1, or the names of the K classes.
    **options
        Options of the measure.

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
    every n. The high end is an approximation that can fail where fewer than about ten events of either kind are seen
    and, but for `ece`, where two weighted sums of residuals nearly attain the measure. That of `ece` allows for the
    upward bias of the estimate and may lie below it. `brier` and `log_loss` are means, and `honest` is the t interval
    of a mean; that of an infinite `log_loss` is [inf, inf], by any method, because the population has the row that made
    it infinite too. Of all classes and of whole vectors the high end is made in the same way. Cells that follow the
    data are held where these rows make them, and the interval is for the error of the population over them: quantile
    bins by every method, trees by "honest". `ece` over more than 100 cells of fewer than 3 rows on average, such as the
    level sets of predictions that hardly repeat, has no honest interval. `percentile` and `bca` hardly ever cover a
    calibrated model's error of zero, `basic` does far too seldom. Cost: two passes of `n_resamples` over the data;
    `bca` one evaluation for each distinct row more.
    With clusters the low end is 0 unless changing the signs of whole clusters' residuals rejects calibration, a test
    that is exact for symmetric residuals only; everything rests on there being many clusters (30 at least, or a warning
    is given). The estimand weighs rows, not clusters, equally.

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
    n_resamples = problem.bound.draws(n_resamples)
    resampling.check_resamples(n_resamples, n_jobs)
    if isinstance(problem, ClassProblem) and problem.reduce is None:
        raise ValueError("expected reduce 'mean' or 'max' for an interval, or lens one_class(k), found 'class_wise'")
    bound, alpha, key = problem.bound, 1 - confidence_level, resampling.key_of(rng)
    known = METHODS if isinstance(problem, EventProblem) else tuple(m for m in METHODS if m != "bca")
    known = known if is_honest(problem) else known[1:]
    if method not in known:
        raise ValueError(f"no {method} interval is known for {_title(problem)}; it has the methods {', '.join(known)}")
    mean = isinstance(bound.honest, MeanInterval)
    if mean and not isinstance(problem, ClassProblem) and np.isinf(problem.estimate()):
        n = problem.predictions.n if isinstance(problem, VectorProblem) else int(problem.counted("an interval").n)
        low = high = estimate = np.inf  # what happened once happens in the population too: its mean is infinite
    elif cluster is not None:
        found = (
            clustered_interval(problem, cluster, method, alpha, n_resamples, key, n_jobs) if method != "bca" else None
        )
        if found is None:
            raise ValueError(f"no {method} interval with clusters is known for {_title(problem)}")
        model, low, high = found
        n, estimate = model.n, model.estimate
    elif isinstance(problem, EventProblem):
        sample = problem.counted("confidence_interval")
        n, estimate, held = int(sample.n), bound.estimate(sample), bound.held(*sample.arrays[:2])
        if method == "honest":
            low, high = honest_interval(held, sample, alpha, n_resamples, key, n_jobs)
        else:
            low, high = bootstrap_interval(held, sample, method, alpha, n_resamples, key, n_jobs)
    else:
        ordered = problem.in_order()
        n, estimate = ordered.predictions.n, ordered.estimate()
        if method == "honest":
            low, high = honest_interval_of_classes(ordered, alpha, n_resamples, key, n_jobs)
        else:
            low, high = _bootstrap_of_classes(ordered, method, alpha, n_resamples, key, n_jobs)
    smallest, largest = bound.measure.bounds
    return ConfidenceInterval(
        low=float(np.clip(low, smallest, largest)),
        high=float(np.clip(high, smallest, largest)),
        estimate=estimate,
        confidence_level=confidence_level,
        method=method,
        estimand=estimand(problem, method),
        measure=str(bound),
        lens=_lens(problem),
        n=n,
        n_resamples=n_resamples,
        why_infinite=impossible(problem.seen) if mean and np.isinf(high) else "",
    )


def _lens(problem: Problem) -> str:
    """Say what was looked at."""
    lens = problem.seen.lens
    return f"{lens}, {problem.reduce} over the classes" if isinstance(problem, ClassProblem) else lens


def _title(problem: Problem) -> str:
    """Name the measure, and what it was asked of unless that is outcome 1."""
    return str(problem.bound) if problem.seen.lens == EVENT else f"{problem.bound}, {_lens(problem)}"


def estimand(problem: Problem, method: str) -> str:
    """Say in one sentence what an interval is for."""
    bound = problem.bound
    settings = ", ".join(f"{name}={value!r}" for name, value in bound.options.items())
    title = bound.measure.title + (f" ({settings})" if settings else "")
    beyond = ", over the cells that these rows make" if problem.holds_cells(method == "honest") else ""
    if isinstance(problem, EventProblem):
        lower = isinstance(bound.honest, BinnedInterval) and not is_unbinned(bound.options.get("n_bins", 1))
        beyond += "; a lower bound on the unbinned error" if lower else ""
        title += f", {problem.seen.lens}," if problem.seen.lens != EVENT else ""
    else:
        title += f", {_lens(problem)},"
    return f"{title} of the population these rows are an independent sample of{beyond}."


def _bootstrap_of_classes(
    problem: VectorProblem | ClassProblem, method: str, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[float, float]:
    """Return the ends of a percentile or basic interval, the rows of all classes drawn together."""
    if isinstance(problem, ClassProblem):
        drawn = problem.resample_classes("rows", n_resamples, key, ROWS_STAGE, n_jobs)
        drawn = problem.together(drawn)
    else:
        drawn = problem.resample("rows", n_resamples, key, ROWS_STAGE, n_jobs)
    low, high = quantiles(drawn, [alpha / 2, 1 - alpha / 2])
    return (low, high) if method == "percentile" else _reflected(problem.estimate(), low, high)


def _reflected(estimate: float, low: float, high: float) -> tuple[float, float]:
    """Return the ends of the basic interval; what is infinite stays so."""
    return (estimate, estimate) if np.isinf(estimate) else (2 * estimate - high, 2 * estimate - low)


def bootstrap_interval(
    bound: BoundMeasure, sample: Sample, method: str, alpha: float, n_resamples: int, key: np.uint64, n_jobs: int
) -> tuple[float, float]:
    """Return the ends of a percentile, basic or BCa bootstrap interval."""
    drawn = resampling.resample(bound, sample, "rows", n_resamples, key, ROWS_STAGE, n_jobs)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if method == "bca":
        levels = _bca_levels(bound, sample, drawn, levels)
    low, high = quantiles(drawn, levels)
    if method == "basic":
        low, high = _reflected(bound.estimate(sample), low, high)
    return float(low), float(high)


def _bca_levels(bound: BoundMeasure, sample: Sample, drawn: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Move the levels for bias and acceleration (Efron 1987), the bias kept finite if all draws lie on one side."""
    from scipy.special import ndtr, ndtri

    estimate = bound.estimate(sample)
    below = np.count_nonzero(drawn < estimate) + np.count_nonzero(drawn == estimate) / 2
    bias = ndtri((below + 0.5) / (drawn.size + 1))
    weight, influence = _jackknife(bound, sample)
    squares = weight @ influence**2
    acceleration = weight @ influence**3 / (6 * squares**1.5) if squares > 0 else 0.0
    shifted = bias + ndtri(levels)
    return ndtr(bias + shifted / (1 - acceleration * shifted))


def _jackknife(bound: BoundMeasure, sample: Sample) -> tuple[np.ndarray, np.ndarray]:
    """Leave out one row of every distinct kind; return how many rows are of that kind and their influence."""
    weights, left_out = [], []
    for outcome, rows in ((1.0, sample.positives), (0.0, sample.count - sample.positives)):
        for j in np.flatnonzero(rows):
            count, positives = sample.count.copy(), sample.positives.copy()
            count[j] -= 1
            positives[j] -= outcome
            weights.append(rows[j])
            left_out.append(bound.statistic(sample.value, count, positives) if sample.n > 1 else 0.0)
    weight, values = np.array(weights), np.array(left_out)
    if np.isinf(values).any():  # beside infinite influences the others are nothing
        values = np.isinf(values).astype(np.float64)
    return weight, weight @ values / weight.sum() - values
