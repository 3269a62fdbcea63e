"""Comparisons of models, paired and unpaired: differences of a measure and permutation tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from calibstat.data.checked_rows import Data, Models, Outcomes, Samples, as_models, named
from calibstat.data.checks import check_level, is_among, options_of, quoted, short, unknown_name
from calibstat.data.clusters import clusters_in_words
from calibstat.data.lenses import AnyLens
from calibstat.inference.comparing.compare_by_bootstrap import by_bootstrap
from calibstat.inference.comparing.compare_by_counts import by_counts
from calibstat.inference.comparing.compare_by_permutation import by_permutation
from calibstat.inference.comparing.compare_by_squares import by_squares
from calibstat.inference.comparing.comparison_results import Comparison
from calibstat.inference.comparing.differences import Differences, pairs_of, same_order
from calibstat.inference.designs.folds.fold_comparison import DEFAULT as DEFAULT_WITH_FOLDS
from calibstat.inference.designs.folds.fold_comparison import METHOD as BY_FOLDS
from calibstat.inference.designs.folds.fold_comparison import by_folds, note_of_repeats, null_of_folds
from calibstat.inference.designs.folds.folded_problem import folded_problems
from calibstat.inference.designs.judged.judged_in_order import judged_models
from calibstat.inference.designs.judged.rectified_comparison import DEFAULT as DEFAULT_WITH_PROXY
from calibstat.inference.designs.judged.rectified_comparison import compare_judged
from calibstat.inference.problems.pose import problem_of
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.resampling import Draws
from calibstat.resampling.rng import Rng

METHODS = ("bootstrap", "swap")
DEFAULT = "kernel_ce_squared", {"bandwidth": 0.2}
UNSEEN = ("clusters", "rows")
ADJUSTMENTS = ("holm", "bh")


def compare(
    y_true: Outcomes | Mapping[str, Any],
    y_prob: Mapping[str, Any] | None = None,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    reduce: str | None = None,
    method: str = "bootstrap",
    reference: str | None = None,
    adjust: str = "holm",
    cluster: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    unseen: str | None = None,
    sample_weight: ArrayLike | None = None,
    proxy: ArrayLike | None = None,
    confidence_level: float = 0.95,
    n_resamples: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **options: Unpack[MeasureOptions],
) -> Comparison:
    """Compare a measure between models on the same rows, or between samples.

    Parameters
    ----------
    y_true : array_like, shape (n,), or mapping from name to (y_true, y_prob)
        Outcomes, 0 or 1, or classes from 0 to K - 1; or, for samples of different rows (two periods, two sites), both
        arrays of each.
    y_prob : mapping from name to array_like, shape (n,) or (n, K)
        The predictions of each model, two models or more, for the same rows.
    measure : str or Measure, optional
        A name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``. Default:
        `kernel_ce_squared` with bandwidth 0.2. For "bootstrap": `kernel_ce_squared`,
        `kernel_ce`, `ece` (L1), `ks`, `kuiper`, `smooth_ce`, `two_bin_ce`, `decision_loss`, `brier`, `log_loss`,
        `canonical_ce` in total variation or L1, or a user-defined measure of such a kind. For "swap" any binary
        measure.
    lens : str or Lens, optional
        As for `estimate`: a lens with a binary outcome; "canonical" for `canonical_ce`, `brier` and `log_loss`; or
        "class_wise" for `ece` (L1), `ks`, `kuiper`, `smooth_ce` and `kernel_ce`, and with `reduce` "mean" for
        `kernel_ce_squared`, `brier` and `log_loss`.
    reduce : {"mean", "max"}, optional
        For lens "class_wise", and then needed: the mean over the classes, or the largest.
    method : {"bootstrap", "swap"}
        "bootstrap" tests that the measures of two models are equal, and gives an interval for their difference. "swap"
        is an exact permutation test of the stronger hypothesis that the two are exchangeable, without an interval.
    reference : str, optional
        The model with which all others are compared; by default all pairs are.
    adjust : {"holm", "bh"}
        How p-values are adjusted for the number of pairs: Holm, which bounds the chance of any false finding, or
        Benjamini and Hochberg, which bounds the share of false ones among the findings.
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day): its rows are drawn, or permuted, together. Not for samples, nor for
        `canonical_ce`.
    folds : array_like, shape (n,) or (n, R), optional
        The fold of each row, if all models are learners that predicted it out of the same folds, as for
        `confidence_interval`; the difference of a mean loss, by default `brier`, is then compared. All rows of a
        cluster have to be in one fold. Not for samples.
    unseen : {"clusters", "rows"}, optional
        Of `kernel_ce_squared` with `cluster`: whether what the sample lacks may be whole clusters, the default, or rows
        alone. "rows" finds more where clusters are few, and assumes that kinds of clusters that were not observed do
        not matter.
    sample_weight : array_like, shape (n,), optional
        Non-negative weights of the rows, of which only the ratios matter: rows are drawn, or permuted, with their
        weights. Not for samples.
    proxy : array_like, shape (n,), optional
        The answers of a judge for all rows, as for `confidence_interval`, where few rows have an outcome. For means of
        losses, by default `brier`, and norms of residuals such as `ece`, `ks` and `kernel_ce`, by "bootstrap", without
        `lens`, `cluster` and other arguments about rows.
    confidence_level : float
        Between 0 and 1; of each interval by itself.
    n_resamples : int, optional
        Number of resamples, at least 1. Default: 999, or 99 for a measure whose test takes long (its page says so).
    rng, n_jobs
        As for `calibration_test`.
    labels, pos_label, **options
        As for `estimate`.

    Returns
    -------
    Comparison
        `JudgedComparison` with `proxy`.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), there are fewer than two models, an
        argument is unknown, or the measure has no such comparison; the message names those that have.

    Warns
    -----
    UserWarning
        If there are fewer than 30 clusters.

    Notes
    -----
    Null hypothesis of "bootstrap": both models have the same measure in the population, whatever it is.
    `kernel_ce_squared` draws nothing: the mean over pairs of rows is an unbiased estimate of the difference of squares
    for every n; its interval is asymptotic, see the docs page "How squares are compared" and the study `squares`. Cost:
    a few sorts of the rows. `kernel_ce` takes its p-value from squares at its own bandwidth.

    Of clusters the mean is over pairs of rows of different clusters, and the quantile is Student's; the study
    `squares` has how often a difference is found where there is none. With few clusters, or one that is much larger
    than the others, hardly any difference is found unless `unseen` is "rows". Of K classes the mean over the classes is
    compared, in time that grows with the square of K.

    Any other error is the largest weighted sum of residuals that its weights allow. The high end of A - B is the
    largest bound over fixed weights of A of their sum, less B's error, with the noise of both from the same draws;
    the weights of A's error in the population are fixed too, so that ties between weights do not matter. B's noise
    is the directional bootstrap, which is asymptotic. Skewness, and events that were not observed, are added. The low
    end is the high end of B - A with its sign changed. The largest bound is looked for by a few steps upwards from
    several starts. The interval may be conservative: if both errors are small, or models nearly identical, a difference
    is rarely found. Of mean losses the ends are score bounds of the rows' differences, without draws; a row that was
    not observed may differ by as much as the loss is bounded, and for `log_loss` by as much as any row that was. An end
    may be infinite if a prediction is 0 or 1. No end lies beyond what two values of the measure can differ by. The
    p-value is the smallest alpha at which the interval of level 1 - alpha excludes 0, from the same weights as the
    ends; of draws, one that makes alpha / 2 * (n_resamples + 1) whole. How often a difference is found where there is
    none is the study `comparison`.

    With `folds` the question is which learner has the smaller mean loss, if each new row is predicted by one of its K
    models, drawn at random. Training rows are shared, so the variance is up to twice that within folds: it is taken as
    that within folds plus K (n - 1) / (n - K) times the variance of a row's difference between R repeats; of one repeat
    as twice that within folds. With `cluster` both are variances of the sums of whole clusters. The ends are score
    bounds for differences as large as any of these rows may have, and do not allow for new rows on which learners
    differ more. Differences of calibration errors are refused, because no study has them.

    With `proxy` the mean of the rectified losses of the rows, or the norm of rectified residuals, is compared; both are
    the difference against the labels, whatever the judge says. Of losses a row that was not observed may differ by as
    much as any of these rows, or by what the loss is bounded times the share of labelled rows. Of norms all rows are
    drawn, labelled or not. It is studied (`few_labels`).

    Null hypothesis of "swap": in each row (or cluster) the two models can be exchanged without changing the
    distribution of the data. Two calibrated models of different sharpness are not exchangeable, so a small p-value need
    not mean that one is better calibrated.

    Differences up to 1e-12, or to this share of the measures if they are above 1, are what rounding makes: they count
    as 0, and as ties. Rows are put in the order of outcomes and then predictions (of models by their names) before any
    is drawn, so that neither their order nor the order of the models shows; "swap" does so for each pair.

    A p-value from draws is at least 2 / (n_resamples + 1) ("swap": half of that), of mean losses 2e-12, and is adjusted
    for the number of pairs, so many pairs need many resamples. Rows (or clusters) are independent. Cost: for each
    resample one draw of the rows, of each model a pass over them and the measure's own, and of each pair up to 100 sums
    of rows.

    References
    ----------
    Fang, Santos 2019, doi:10.1093/restud/rdy049; Hong, Li 2018, doi:10.1016/j.jeconom.2018.06.007; Holm 1979,
    www.jstor.org/stable/4615733; Benjamini, Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.

    Examples
    --------
    >>> import calibstat as cs
    >>> y, p = cs.generators.calibrated().sample(2000, rng=1)
    >>> sharp = p**2 / (p**2 + (1 - p) ** 2)  # the same order, over-confident
    >>> result = cs.compare(y, {"model": p, "over-confident": sharp}, rng=1)
    >>> result.pvalue.item() < 0.01, result.high.item() < 0
    (True, True)
    """
    if not is_among(method, METHODS):
        raise ValueError(f"expected method 'bootstrap' or 'swap', found {short(method)}")
    if not is_among(adjust, ADJUSTMENTS):
        raise ValueError(f"expected adjust 'holm' or 'bh', found {short(adjust)}")
    check_level("confidence_level", confidence_level)
    if proxy is not None:
        beside: dict[str, Any] = {"lens": lens, "reduce": reduce, "cluster": cluster, "folds": folds, "unseen": unseen}
        need_defaults_with_proxy({**beside, "sample_weight": sample_weight}, method=(method, "bootstrap"))
        models = judged_models(y_true, needed_models(y_prob), proxy, labels=labels, pos_label=pos_label)
        if reference is not None and not is_among(reference, models):
            raise unknown_name("a reference", reference, tuple(models))
        with options_of(compare, options):
            asked = find_measure(DEFAULT_WITH_PROXY if measure is None else measure, options)
        draws = Draws.of(rng, asked.draws(n_resamples), n_jobs)
        settings: dict[str, Any] = {"adjust": adjust, "confidence_level": confidence_level}
        return compare_judged(models, asked, draws, pairs_of(tuple(models), reference), compare, **settings)
    paired = y_prob is not None or isinstance(y_true, Data | Models)
    alone = {
        "method 'swap'": method == "swap",
        "cluster": cluster is not None,
        "folds": folds is not None,
        "sample_weight": sample_weight is not None,
    }
    data: Mapping[str, Data]
    if paired:
        rows: dict[str, Any] = {"lens": lens, "cluster": cluster, "folds": folds, "sample_weight": sample_weight}
        data = as_models(compare, y_true, y_prob, **rows, labels=labels, pos_label=pos_label)
        if len(data) < 2:
            raise ValueError(f"expected two or more different names, found {quoted(data)}")
    elif any(alone.values()):
        what = next(name for name, given in alone.items() if given)
        raise ValueError(f"expected the same rows for all models with {what}, found samples of different rows")
    else:
        data = Samples(y_true, lens=lens, labels=labels, pos_label=pos_label)
    names = tuple(data)
    if reference is not None and not is_among(reference, names):
        raise unknown_name("a reference", reference, names)
    unit, in_folds = data[names[0]].unit, data[names[0]].fold is not None
    asked_options: Mapping[str, Any] = options
    if measure is None:
        measure, given = DEFAULT_WITH_FOLDS if in_folds else DEFAULT
        asked_options = {**given, **options}
    with options_of(compare, options):
        asked = find_measure(measure, asked_options)
    counted = data.counted if isinstance(data, Models) else None
    rows_of = data if counted is None else Models(counted.label, counted.value)
    problems = list(named(lambda each: _pose(each, asked, reduce), rows_of).values())
    _check_unseen(unseen, problems[0], unit, method)
    draws = Draws.of(rng, problems[0].measure.draws(n_resamples), n_jobs)
    pairs = pairs_of(names, reference)
    alpha, null, note = 1 - confidence_level, "", problems[0].data.weights_note() if paired else ""
    if in_folds:
        need_defaults_with_folds({"method": (method, "bootstrap"), "reduce": (reduce, None)})
        folded = [folded_problems(each, asked) for each in data.values()]
        differences, method = by_folds(folded, pairs, alpha), BY_FOLDS
        null, note = null_of_folds(folded[0]), note_of_repeats(folded[0])
    elif counted is not None:
        differences, note = by_counts(names, problems, pairs, counted, alpha, method)
    elif method == "swap":
        differences = by_permutation(names, problems, pairs, unit, draws)
    else:
        differences = _by_ends(names, problems, pairs, unit, paired, alpha, draws, rows_hide=unseen == "rows")
    clusters = "" if unit is None else clusters_in_words(unit, problems[0].weight)
    knows_order = paired and not in_folds and (counted is None or not counted.n_cells)
    errors_low, errors, errors_high = (None,) * 3 if differences.errors is None else differences.errors
    return Comparison(
        **differences.fields(names, pairs, problems[0].measure.bounds, adjust),
        method=method,
        paired=paired,
        confidence_level=confidence_level,
        null_hypothesis=null or _null(method, clusters, paired, problems[0].holds_cells(True), unseen == "rows"),
        measure=problems[0].measure.named,
        lens=problems[0].lens,
        n=differences.n,
        n_resamples=draws.n,
        errors=errors,
        errors_low=errors_low,
        errors_high=errors_high,
        at_least=differences.at_least,
        same_order=tuple(knows_order and _same_order(problems[i], problems[j]) for i, j in pairs),
        note=note,
        effective_n=problems[0].data.effective_n,
    )


def _by_ends(
    names: tuple[str, ...],
    problems: list[Problem],
    pairs: list[tuple[int, int]],
    unit: np.ndarray | None,
    paired: bool,
    alpha: float,
    draws: Draws,
    *,
    rows_hide: bool,
) -> Differences:
    """Compare by squares where they are known; a measure with an interval of its own takes their p-values alone."""
    squares = _goes_by_squares(problems[0], unit)
    by_square = by_squares(names, problems, pairs, unit, paired, alpha, rows_hide=rows_hide) if squares else None
    if by_square is not None and not problems[0].compares:
        return by_square
    differences = by_bootstrap(names, problems, pairs, unit, paired, alpha, draws)
    if by_square is None:
        return differences
    return differences._replace(pvalue=by_square.pvalue, errors=by_square.errors, at_least=by_square.at_least)


def _goes_by_squares(problem: Problem, unit: np.ndarray | None) -> bool:
    """Whether the squares of errors are compared; an error with an interval of clusters keeps its own p-value there."""
    return problem.laplace_bandwidth is not None and (unit is None or not problem.compares)


def _check_unseen(unseen: str | None, problem: Problem, unit: np.ndarray | None, method: str) -> None:
    if unseen is None:
        return
    if not is_among(unseen, UNSEEN):
        raise ValueError(f"expected unseen 'clusters' or 'rows', found {short(unseen)}")
    if unit is None or method == "swap" or not _goes_by_squares(problem, unit):
        raise ValueError(
            f"expected unseen={unseen!r} with cluster= and kernel_ce_squared, whose bound allows for clusters that "
            f"were not observed; found {problem.measure}{'' if unit is not None else ' without clusters'}"
        )


def _same_order(one: Problem, other: Problem) -> bool:
    """Whether a proper score of two models on the same outcomes differs by their calibration alone."""
    if not one.measure.is_proper or one.data.kind != "binary":
        return False
    (y, p), (x, q) = (each.data.one_event().float_rows() for each in (one, other))
    return np.array_equal(y, x) and same_order(p, q)


def _pose(data: Data, asked: Measure, reduce: str | None) -> Problem:
    problem = problem_of(data, asked, reduce)
    problem.data.check_rows()
    return problem


def _null(method: str, clusters: str, paired: bool, held: bool, rows_hide: bool) -> str:
    """Return the null hypothesis of each pair; `clusters` are the clusters in words, "" if rows are independent."""
    if method == "bootstrap":
        over = f" these {clusters} are an independent sample of" if clusters else ""
        over += ", over the cells that these rows make" if held else ""
        over += ", assuming that kinds of clusters that were not observed do not matter" if rows_hide else ""
        return f"the measure is the same for both {'models' if paired else 'samples'} in the population{over}"
    unit = f"one of {clusters}" if clusters else "row"
    return f"in every {unit} the two models can be exchanged without changing the distribution of the data"
