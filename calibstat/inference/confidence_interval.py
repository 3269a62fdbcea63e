"""Confidence intervals for calibration measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.data.checked_rows import Models, OneModel, Outcomes, RowArguments, as_data
from calibstat.data.checks import check_level, is_among, options_of, short, unknown_name
from calibstat.data.clusters import clusters_in_words
from calibstat.data.lenses import AnyLens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import EVENT
from calibstat.inference.confidence_interval_results import BOOTSTRAPS, ConfidenceInterval
from calibstat.inference.cross_validation.fold_interval import cross_validated_interval
from calibstat.inference.cross_validation.folded_problem import DEFAULT as DEFAULT_WITH_FOLDS
from calibstat.inference.cross_validation.folded_problem import need_defaults_with_folds
from calibstat.inference.few_labels.judged_rows import (
    JudgedRows,
    ask_with_proxy,
    need_defaults_with_proxy,
    need_proxy,
)
from calibstat.inference.few_labels.rectified_interval import RectifiedInterval, judged_problem, rectified_interval
from calibstat.inference.honest_ends import FEW_EVENTS, HonestEnds, NoInterval, exceeds, need_events
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Drawn, Problem
from calibstat.measures.kinds.base import Measure, written_options
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.resampling import Draws
from calibstat.resampling.quantiles import quantiles
from calibstat.resampling.rng import Rng

DEFAULT = "ece"
METHODS = ("honest", "proven", "bracket", *BOOTSTRAPS)


class ConfidenceIntervalArguments(RowArguments, MeasureOptions, total=False):
    """The arguments of `confidence_interval` beside outcomes and predictions."""

    measure: str | Measure | type[Measure] | None
    reduce: str | None
    method: str
    confidence_level: float
    n_resamples: int | None
    cluster: ArrayLike | None
    folds: ArrayLike | None
    learner: str | None
    proxy: ArrayLike | None
    inclusion: ArrayLike | None
    sample_weight: ArrayLike | None
    rng: Rng
    n_jobs: int


@overload
def confidence_interval(
    y_true: OneModel, y_prob: ArrayLike | None = None, **arguments: Unpack[ConfidenceIntervalArguments]
) -> ConfidenceInterval: ...
@overload
def confidence_interval(
    y_true: Models, y_prob: None = None, **arguments: Unpack[ConfidenceIntervalArguments]
) -> Answers[ConfidenceInterval]: ...
@overload
def confidence_interval(
    y_true: ArrayLike, y_prob: Mapping[str, Any], **arguments: Unpack[ConfidenceIntervalArguments]
) -> Answers[ConfidenceInterval]: ...
def confidence_interval(
    y_true: Outcomes,
    y_prob: Predicted = None,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    reduce: str | None = None,
    method: str = "honest",
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    cluster: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    learner: str | None = None,
    proxy: ArrayLike | None = None,
    inclusion: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **options: Any,
) -> ConfidenceInterval | Answers[ConfidenceInterval]:
    """Return a confidence interval for the population value of a measure.

    Parameters
    ----------
    y_true, y_prob, lens, labels, pos_label, **options
        As for `estimate`.
    measure : str or Measure
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``. Default: "ece", with
        `folds` "kernel_ce".
    reduce : {"mean", "max"}
        For lens "class_wise", and then needed: the mean over the classes, or the largest.
    method : {"honest", "proven", "bracket", "percentile", "basic", "bca"}
        "honest" is designed to keep its coverage near calibration, with rare outcomes and with nearly tied sums, where
        the bootstrap methods fail. `calibstat.MEASURES` have it if ``has_form``: most, also class-wise with `reduce`
        and canonical; the others raise with the reason. "proven", for `l1` with a shape,
        has a high end that is a theorem for every number of rows. "bracket", for `interval_ce`,
        `surrogate_interval_ce`, `lower_distance` and `upper_distance`, goes from the honest low end of a measure that
        is never above to the
        honest high end of one that is never below. The others are the usual bootstrap intervals, for every measure
        ("bca" for binary outcomes only): near calibration they miss the true value (see Notes).
    confidence_level : float
        Between 0 and 1.
    n_resamples : int, optional
        Number of bootstrap samples, at least 1; `honest` draws as many again from the null hypothesis. Default: 999, or
        99 for a measure whose resamples take long (its page says so).
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day); clusters are resampled, not rows. "honest" for the measures that
        `compare` takes of a binary outcome or class-wise, except the mean over classes of `ece`, for
        `kernel_ce_squared`, `mcb` and `smooth_ece` of a binary outcome, and for canonical means of losses; "percentile"
        and "basic" for every measure and lens. Not for a `Sample`.
    folds : array_like, shape (n,) or (n, R), optional
        The fold of each row, where `y_prob` are predictions out of the folds of cross-validation, each by a model that
        was fitted on the other folds. Of R repeats folds and predictions have a column each. For `kernel_ce`, `ks`,
        `kuiper`, `smooth_ce`, `ece` with uniform bins and other norms of residuals of one event, and for `brier` and
        `log_loss`; without `lens` and `sample_weight`, and with `method` "honest" alone. With `cluster` all rows of a
        cluster have to be in one fold, and each fold needs two clusters.
    learner : {"any", "smooth"}, optional
        Of an error with `folds`. "any", the default: the *triangle*, a high end for any learner. "smooth": the
        *mirror*, a shorter one for learners that correct at most fully (see Notes).
    proxy : array_like, shape (n,), optional
        The answers of a judge for all rows, from 0 to 1, where few rows have an outcome and the others have nan, None
        or a masked entry in `y_true`. For `ece`, `ks`, `kuiper`, `kernel_ce`, `smooth_ce`, `two_bin_ce`,
        `random_interval_ce` and means of losses (`brier`, `log_loss`, without `cluster` and `inclusion`) of one event,
        and without other arguments that change the method. `cluster` names all rows, also those without an outcome, of
        which copies and relatives of labelled rows would make the interval wrong.
    inclusion : array_like, shape (n,), optional
        With `proxy`, the chance of each row of having been labelled, above 0. Default: labelled rows are a simple
        random subset. Not with `cluster`.
    sample_weight : array_like, shape (n,), optional
        Non-negative weights of the rows, of which only the ratios matter; not with "bca" and "bracket", nor for `gce`
        and `skce`, and "honest" for the measures that `compare` takes, `mcb` and `smooth_ece`. Rows are drawn with
        their weights. For counts of repeated rows use a `Sample`.
    rng, n_jobs
        As for `calibration_test`.

    Returns
    -------
    ConfidenceInterval
        `CrossValidatedInterval` with `folds`, `RectifiedInterval` with `proxy`. `Answers`, a mapping from name to this,
        for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), a `Sample` has real-valued counts, an
        argument is unknown, or the measure has no such interval; the message names the methods it has. With `folds`,
        if there is one fold, a fold of one row, or a fold whose training rows have a single outcome. With `proxy`, if
        fewer than 50 rows have an outcome, or all, or if a row has no answer.

    Warns
    -----
    UserWarning
        If there are fewer than 30 clusters, or fewer than 20 rows a fold on average.

    Notes
    -----
    Assumes independent rows, or with `cluster` independent clusters. `honest`: a calibration error is the largest of
    many weighted sums of residuals. The high end is the largest score bound of any of these sums, each fixed
    beforehand, with an allowance for two events that were not observed: without an event it is about 3.9 / n at .95.
    The high end of `ece` also allows for the upward bias of the estimate and may lie below it. No high end of an error
    lies below the median of the estimates on labels drawn from the predictions: a smaller one rests on a lucky sample.
    The low end takes the bias from a directional bootstrap, with the same allowance, and is 0 unless the labels-only
    test of the same measure rejects at (1 - confidence_level) / 2, so at calibration it is exact for every n.
    Statements, proofs and what is only asymptotic are on the docs page "How intervals are made"; how often intervals
    miss, in the studies `coverage` and `worst_case`. With fewer than 10 rows of either outcome `few_events` says so.

    `brier` and other bounded means have the score bound of a mean at both ends. `log_loss` has no bound: its interval
    is for a population of which no part is predicted more extremely than these rows are, its high end is infinite if
    a prediction is exactly 0 or 1, and it raises below 10 rows of either outcome; ``clip=`` bounds it. Where a row has
    an infinite loss the interval is [inf, inf] by any method, because the row occurs in the population too.

    Cells that depend on the data are kept fixed, and the interval is for the population error over these cells:
    quantile bins by every method, trees by "honest". `ece` over more than 100 cells of fewer than 3 rows on average,
    such as the level sets of predictions that hardly repeat, has no honest interval. `percentile` and `bca` hardly ever
    cover a calibrated model's error of zero, `basic` does far too seldom. Cost: two passes of `n_resamples` over the
    data; `bca` one evaluation for each distinct row more.

    `bracket`: on every population smooth_ce / 2 <= lower distance <= true distance <= upper distance <= interval_ce <=
    surrogate_interval_ce <= random_interval_ce at width 1 / 2**k plus this width, and lower distance <= 2 smooth_ce
    (Błasiok et al. 2023, arXiv:2211.16886). The low end is half the low end of `smooth_ce`; the high end is the high
    end of the error at the width 1 / 2**k nearest to n**(-1/3) / 3, plus this width, or for `lower_distance` twice the
    high end of `smooth_ce` plus 1 / (2 grid). The bracket of `upper_distance` also holds the true distance, which needs
    more than predictions and outcomes. A bracket holds the value with at least the nominal probability, and does not
    shrink to it as n grows.

    `l1`, the error itself and not over bins, has a high end only for a stated `shape` of the calibration curve: the
    largest error of any curve of this shape that the sum of residuals over some runs of rows does not rule out. It may
    lie below the estimate, which is biased upwards. "proven" is a theorem for the error at the predictions of these
    rows; "honest" takes a shorter exponent, which is studied. If the rows contradict "nondecreasing" at a level of 5 %,
    `void` says so and the high end is 1. `high_of_calibrated` is the end of a calibrated model with these predictions:
    only more rows lower it. Neither weights nor clusters are known.

    With clusters all rows of one may have the event together, so that without an event the high end is about 4 over
    their number. The low end is 0 unless tests by random signs of clusters, by independent labels and, of few events,
    by labels that clusters share all reject calibration; they are not exact. There is a warning below 30 clusters. The
    estimand weighs rows, not clusters, equally.

    With `folds` the interval is for predictions of new rows by one of the K models, drawn at random for each; nothing
    is promised of a model that is refitted on all rows. Rows have to be of one law, in folds dealt at random, neither
    by outcomes nor by features; of models that are fitted on the past and predict the future see `Monitor`. What a fit
    owes to chance is the noise of these rows with its sign changed, so the interval of fresh rows is too short. The
    triangle adds to the estimate the quantile of the norm of the noise, from random signs of rows or of whole clusters,
    centred within folds. It covers any learner whose predictions hardly depend on a single training row,
    asymptotically. The mirror is the same quantile of the sums with the noise added. It is studied, not proved, and
    covers efficient and penalised fits (logistic regression, ridge) and Platt, isotonic and histogram maps; it
    misses where a learner over-corrects or selects. Neither high end lies below the one that fresh rows have. The
    low end is the low end of fresh rows if the test with `folds` rejects at (1 - confidence_level) / 2, and else 0;
    of `ece` and other errors in cells it is always 0. Means of losses have score bounds by the variance within
    folds. Of R repeats ends are means of the R ends: the interval is for the mean of the R errors, and hardly
    shorter.

    With `proxy` a rectified residual takes the place of the residual: what a guess from prediction and answer misses on
    labelled rows, and what it adds to the prediction on all. Its mean is right for every judge, so agreement is not
    assumed; guesses use left-out slopes. A mean of losses is the loss at the guesses, rectified likewise. The high end
    is a theorem given the bound of one sum for guesses that were fixed, and studied (`few_labels`) with fitted ones, as
    is the low end. Below 10 labelled rows of either outcome the judge is not used. Nothing here shows prompts that were
    tuned on the labelled rows. Statements are on the docs page "Few labels and a judge".

    References
    ----------
    Angelopoulos et al. 2023, doi:10.1126/science.adi6000;
    Fang, Santos 2019, doi:10.1093/restud/rdy049; Hong, Li 2018, doi:10.1016/j.jeconom.2018.06.007;
    Efron 1987, doi:10.2307/2289144; Bayle et al. 2020, arXiv:2007.12671.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [500, 500], [150, 350])
    >>> result = cs.confidence_interval(sample, measure="ks", rng=1)
    >>> round(result.estimate, 3), round(result.low, 2), round(result.high, 2)
    (0.05, 0.02, 0.08)

    Predictions out of folds, here of a model that ignores the outcomes:

    >>> y, p = cs.generators.shift(0.5).sample(400, rng=1)
    >>> result = cs.confidence_interval(y, p, folds=[i % 5 for i in range(400)], rng=1)
    >>> result.method, result.low < cs.generators.shift(0.5).truth("kernel_ce") < result.high
    ('triangle', True)
    """
    if proxy is not None:
        beside: dict[str, Any] = {"lens": lens, "reduce": reduce, "folds": folds, "learner": learner}
        need_defaults_with_proxy({**beside, "sample_weight": sample_weight}, method=(method, "honest"))
        check_level("confidence_level", confidence_level)
        with options_of(confidence_interval, options):
            asked = find_measure(DEFAULT if measure is None else measure, options)
        draws = Draws.of(rng, asked.draws(n_resamples), n_jobs)

        def ask(rows: JudgedRows) -> RectifiedInterval:
            labels_only = interval_of(judged_problem(rows, asked), "honest", confidence_level, draws, rows.data.unit)
            return rectified_interval(rows, asked, labels_only, confidence_level, draws)

        given: dict[str, Any] = {"inclusion": inclusion, "cluster": cluster, "labels": labels, "pos_label": pos_label}
        return ask_with_proxy(ask, y_true, y_prob, proxy, **given)
    if inclusion is not None:
        need_proxy({"inclusion": inclusion})
    data = as_data(
        confidence_interval,
        y_true,
        y_prob,
        lens=lens,
        cluster=cluster,
        folds=folds,
        sample_weight=sample_weight,
        labels=labels,
        pos_label=pos_label,
    )
    if isinstance(data, Models):
        return ask_each(confidence_interval, data, locals())
    if not is_among(method, METHODS):
        raise unknown_name("a method", method, METHODS)
    check_level("confidence_level", confidence_level)
    default = DEFAULT if data.fold is None else DEFAULT_WITH_FOLDS
    with options_of(confidence_interval, options):
        asked = find_measure(default if measure is None else measure, options)
    if data.fold is not None:
        need_defaults_with_folds({"method": (method, "honest"), "reduce": (reduce, None)})
        draws = Draws.of(rng, asked.draws(n_resamples), n_jobs)
        return cross_validated_interval(data, asked, learner, confidence_level, draws)
    if learner is not None:
        raise ValueError(f"expected folds= with learner={short(learner)}, found none")
    problem = problem_of(data, asked, reduce)
    draws = Draws.of(rng, problem.measure.draws(n_resamples), n_jobs)
    _need_method(problem, method)
    return interval_of(problem, method, confidence_level, draws, data.unit)


def interval_of(
    problem: Problem, method: str, confidence_level: float, draws: Draws, unit: np.ndarray | None = None
) -> ConfidenceInterval:
    """Return the interval of a problem, by a method that it has."""
    alpha = 1 - confidence_level
    drawn: Drawn = problem.canonical("confidence_interval")
    estimate = drawn.statistic()
    infinite = problem.is_mean and np.isinf(estimate)
    sampled = _sampled(problem, unit)
    unit = None if infinite else unit
    if unit is not None:
        drawn = _in_clusters(problem, unit, method)
        estimate = drawn.statistic()
    rarest, not_extrapolated, if_calibrated = problem.data.rarest(unit), False, None
    condition, void, high_of_calibrated = "", "", None
    if infinite:
        low = high = np.inf  # what was observed once occurs in the population too: its mean is infinite
    elif method in ("honest", "proven"):
        ends = HonestEnds.of(drawn, draws)
        ends = replace(ends, interval=ends.interval.proven) if method == "proven" else ends
        interval = ends.interval
        need_events(interval, rarest, problem)
        low, high = ends.low(alpha), ends.high(alpha)
        condition, void = interval.condition, interval.void
        high_of_calibrated = interval.high_of_calibrated(alpha / 2)
        if not interval.is_mean and (ends.known == high or exceeds(estimate, high)):
            if_calibrated = ends.median
        not_extrapolated = not interval.is_bounded
    elif method == "bracket":
        low, high = bracket_interval(problem, alpha, draws)
    else:
        low, high = bootstrap_interval(drawn, estimate, method, alpha, draws)
    smallest, largest = problem.measure.bounds
    return ConfidenceInterval(
        low=float(np.clip(low, smallest, largest)),
        high=float(np.clip(high, smallest, largest)),
        estimate=estimate,
        confidence_level=confidence_level,
        method=method,
        estimand=_estimand(problem, method, not_extrapolated, sampled),
        measure=problem.measure.named,
        lens=problem.lens,
        n=int(drawn.n),
        n_resamples=draws.n,
        why_infinite=(problem.data.impossible() or problem.data.certain()) if np.isinf(high) else "",
        few_events=str(rarest) if rarest.count < FEW_EVENTS else "",
        if_calibrated=if_calibrated,
        condition=condition,
        void=void,
        high_of_calibrated=high_of_calibrated,
        **problem.data.annotations(),
    )


def honest_ends(problem: Problem, draws: Draws, unit: np.ndarray | None = None) -> HonestEnds:
    """Return the honest ends of a problem at any level, of its rows or of whole clusters."""
    _need_method(problem, "honest")
    drawn: Drawn = problem.canonical("confidence_interval") if unit is None else _in_clusters(problem, unit, "honest")
    return HonestEnds.of(drawn, draws)


def _need_method(problem: Problem, method: str) -> None:
    if not problem.is_one_number:
        raise ValueError("expected reduce 'mean' or 'max' for an interval, or lens one_class(k), found 'class_wise'")
    if method not in problem.methods:
        why = problem.why_no_interval if method == "honest" else ""
        why = f", because {why}" if why else ""
        weighted = " of rows with weights" if problem.data.effective_n is not None else ""
        raise NoInterval(
            f"no {method} interval{weighted} is known for {problem.title}{why}; "
            f"it has the methods {', '.join(problem.methods)}"
        )


def _in_clusters(problem: Problem, unit: np.ndarray, method: str) -> Drawn:
    if method in ("percentile", "basic"):
        return problem.drawn_clusters(unit)
    why = problem.why_no_clusters if method == "honest" else ""
    drawn = problem.honest_in_clusters(unit) if method == "honest" and not why else None
    if drawn is None:
        raise NoInterval(
            f"no {method} interval with clusters is known for {problem.title}{', because ' * bool(why)}{why}; "
            "it has the methods percentile, basic"
        )
    return drawn


def _sampled(problem: Problem, unit: np.ndarray | None) -> str:
    """Name the units that are independent: rows, or how many clusters with rows of positive weight."""
    if unit is None:
        return "rows"
    return clusters_in_words(unit, problem.weight)


def _estimand(problem: Problem, method: str, not_extrapolated: bool, sampled: str) -> str:
    """Say in one sentence what an interval is for; `sampled` are the units that are independent."""
    measure = problem.measure
    settings = written_options(measure.options)
    title = measure.info.title + (f" ({settings})" if settings else "")
    title += f", {problem.lens}," if problem.lens != EVENT else ""
    beyond = ", over the cells that these rows make" if problem.holds_cells(method == "honest") else ""
    beyond += measure.condition if method in ("honest", "proven") else ""
    beyond += ", in which rows count by their weights" if problem.data.effective_n is not None else ""
    beyond += "; a lower bound on the unbinned error" if problem.is_coarse else ""
    beyond += ", if none of it is predicted more extremely than these rows are" if not_extrapolated else ""
    bracket = "a bracket, which holds this with at least the nominal probability and does not shrink to it: "
    return (
        f"{bracket * (method == 'bracket')}{title} of the population these {sampled} are an independent sample of"
        f"{beyond}."
    )


def bracket_interval(problem: Problem, alpha: float, draws: Draws) -> tuple[float, float]:
    """Return the honest low end of the measure below and the honest high end of the measure above, as a bracket.

    Statement and argument: docs/proofs.md, section 10.
    """
    bracket = problem.bracket()
    below, above = (
        HonestEnds.of(replace(problem, measure=measure).canonical("confidence_interval"), draws)
        for measure in (bracket.below, bracket.above)
    )
    return bracket.share * below.low(alpha), bracket.times * above.high(alpha) + bracket.width


def bootstrap_interval(drawn: Drawn, estimate: float, method: str, alpha: float, draws: Draws) -> tuple[float, float]:
    """Return the ends of a percentile, basic or BCa bootstrap interval."""
    resampled = drawn.draw_pairs(draws)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if method == "bca":
        levels = _bca_levels(drawn, estimate, resampled, levels)
    low, high = map(float, quantiles(resampled, levels))
    if method == "basic":  # what is infinite stays so
        return (estimate, estimate) if np.isinf(estimate) else (2 * estimate - high, 2 * estimate - low)
    return low, high


def _bca_levels(drawn: Drawn, estimate: float, resampled: np.ndarray, levels: np.ndarray) -> np.ndarray:
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
