"""Tests of calibration by resampling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from calibstat.answers_by_model import Answers, ask_each
from calibstat.data.checked_rows import Models, OneModel, Outcomes, as_data
from calibstat.data.checks import is_among, options_of, short
from calibstat.data.lenses import AnyLens, EachClass, OneLens
from calibstat.data.models import Predicted
from calibstat.data.named_lens import NamedLens
from calibstat.data.null_hypothesis import Null
from calibstat.inference.calibration_test_results import CalibrationTestResult, ClassWiseTestResult
from calibstat.inference.cross_validation.fold_test import cross_validated_test
from calibstat.inference.cross_validation.folded_problem import DEFAULT as DEFAULT_WITH_FOLDS
from calibstat.inference.cross_validation.folded_problem import need_defaults_with_folds
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.inference.few_labels.guided_test import DEFAULT as DEFAULT_WITH_PROXY
from calibstat.inference.few_labels.guided_test import DIRECTION, guided_test, need_premise
from calibstat.inference.few_labels.judged_rows import ask_with_proxy, need_defaults_with_proxy, need_proxy
from calibstat.inference.p_values import holm
from calibstat.inference.power.detectable_effect import DEFAULT
from calibstat.inference.problems.pose import SCHEMES, NullModel, need_no_map, null_model, problem_of
from calibstat.inference.problems.problem import Problem
from calibstat.inference.sequential_draws import check_stop, draw_until, judge, stopping_point
from calibstat.inference.sign_flip import sign_flip_test
from calibstat.inference.smaller_than_chance import NOTE
from calibstat.measures.kinds.base import Measure
from calibstat.measures.kinds.registry import find_measure
from calibstat.measures.measure_options import MeasureOptions
from calibstat.resampling import Draws, Stage
from calibstat.resampling.rng import Rng
from calibstat.result import read_only

ONE_CLASS = Null("its probability alone", ("in every row", ", the class is observed with this probability"))


class CalibrationTestArguments(MeasureOptions, total=False):
    """The arguments of `calibration_test` on which the kind of its result does not depend."""

    measure: str | Measure | type[Measure] | None
    null: object
    resample: str
    method: str | None
    cluster: ArrayLike | None
    folds: ArrayLike | None
    proxy: ArrayLike | None
    inclusion: ArrayLike | None
    use: str
    blind: bool | None
    sample_weight: ArrayLike | None
    n_resamples: int | None
    stop_after: int | None
    rng: Rng
    n_jobs: int
    labels: ArrayLike | None
    pos_label: object


@overload
def calibration_test(
    y_true: OneModel,
    y_prob: ArrayLike | None = None,
    *,
    lens: EachClass,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> ClassWiseTestResult: ...
@overload
def calibration_test(
    y_true: OneModel,
    y_prob: ArrayLike | None = None,
    *,
    lens: EachClass,
    reduce: str,
    **arguments: Unpack[CalibrationTestArguments],
) -> CalibrationTestResult: ...
@overload
def calibration_test(
    y_true: OneModel,
    y_prob: ArrayLike | None = None,
    *,
    lens: OneLens = None,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> CalibrationTestResult: ...
@overload
def calibration_test(
    y_true: Models,
    y_prob: None = None,
    *,
    lens: EachClass,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> Answers[ClassWiseTestResult]: ...
@overload
def calibration_test(
    y_true: Models, y_prob: None = None, *, lens: EachClass, reduce: str, **arguments: Unpack[CalibrationTestArguments]
) -> Answers[CalibrationTestResult]: ...
@overload
def calibration_test(
    y_true: Models,
    y_prob: None = None,
    *,
    lens: OneLens = None,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> Answers[CalibrationTestResult]: ...
@overload
def calibration_test(
    y_true: ArrayLike,
    y_prob: Mapping[str, Any],
    *,
    lens: EachClass,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> Answers[ClassWiseTestResult]: ...
@overload
def calibration_test(
    y_true: ArrayLike,
    y_prob: Mapping[str, Any],
    *,
    lens: EachClass,
    reduce: str,
    **arguments: Unpack[CalibrationTestArguments],
) -> Answers[CalibrationTestResult]: ...
@overload
def calibration_test(
    y_true: ArrayLike,
    y_prob: Mapping[str, Any],
    *,
    lens: OneLens = None,
    reduce: None = None,
    **arguments: Unpack[CalibrationTestArguments],
) -> Answers[CalibrationTestResult]: ...
def calibration_test(
    y_true: Outcomes,
    y_prob: Predicted = None,
    *,
    measure: str | Measure | type[Measure] | None = None,
    lens: AnyLens = None,
    reduce: str | None = None,
    null: object = None,
    resample: str = "labels",
    method: str | None = None,
    cluster: ArrayLike | None = None,
    folds: ArrayLike | None = None,
    proxy: ArrayLike | None = None,
    inclusion: ArrayLike | None = None,
    use: str = DIRECTION,
    blind: bool | None = None,
    sample_weight: ArrayLike | None = None,
    n_resamples: int | None = None,
    stop_after: int | None = None,
    rng: Rng = None,
    n_jobs: int = 1,
    labels: ArrayLike | None = None,
    pos_label: object = None,
    **options: Any,
) -> CalibrationTestResult | ClassWiseTestResult | Answers[CalibrationTestResult | ClassWiseTestResult]:
    """Test that the predictions are perfectly calibrated.

    Parameters
    ----------
    y_true, y_prob, lens, labels, pos_label, **options
        As for `estimate`.
    measure : str or Measure
        The statistic: a name in `calibstat.MEASURES`, or a measure such as ``calibstat.measures.ECE(n_bins=10)``.
        Default: "omnibus", which looks for errors of any shape, and says in the result what drove it; with `folds`
        "kernel_ce".
    reduce : {None, "mean", "max"}
        For lens "class_wise". None: a test of each class with Holm's adjustment, and one of all classes by the mean.
        "mean" or "max": one test, by the mean or the maximum over the classes.
    null : None, fitted recalibrator or callable
        What is tested. None: that the predictions are calibrated. A calibration map, as anything with `predict_proba`
        or a function of the predictions, shape (n,) or (n, K): that outcomes come from the probabilities to which it
        maps them. It must have been fitted on other rows than these. Not with `cluster`, `folds`, `proxy` and "both".
    resample : {"labels", "both"}
        "labels" keeps the predictions and draws outcomes from them: exact for every n, statistic and set of
        predictions. "both" also draws rows with replacement, the consistency resampling of the literature: only
        approximate, and too liberal where bins hold few rows.
    method : {None, "sign_flip"}
        "sign_flip" is the only test of rows in clusters, and so the default with `cluster`; None is the test by
        `resample`.
    cluster : array_like, shape (n,), optional
        The cluster of each row (a patient, a day), within which outcomes may depend on each other. The test is then
        approximate, and by the omnibus statistic of one event, or by a function of the residuals of one event or, with
        `reduce`, of each class.
    folds : array_like, shape (n,) or (n, R), optional
        The fold of each row, where `y_prob` are predictions out of the folds of cross-validation, as for
        `confidence_interval`, and for the same errors.
    proxy, inclusion : array_like, shape (n,), optional
        The answers of a judge for all rows, where few have an outcome, and the chances of being labelled, as for
        `confidence_interval`, and for the same measures; the default is then "ks". `inclusion` with `use` "noise".
    use : {"direction", "noise"}
        With `proxy`, what the judge is used for. "direction": where it disagrees with the predictions on rows without
        an outcome says where to look in the labelled ones; exact. "noise": the measure of rectified residuals, studied.
    blind : bool
        With `proxy`, and then needed: True says that the judge never saw an outcome of a labelled row. Otherwise no
        such test is right, and it is refused.
    sample_weight : array_like, shape (n,), optional
        Non-negative weights of the rows, of which only the ratios matter; jointly of several classes for
        `canonical_ce`, `brier` and `log_loss` alone. Labels are drawn row by row with the weights held fixed. For
        counts of repeated rows use a `Sample`.
    n_resamples : int, optional
        Number of resamples, at least 1. Default: 999, or 99 for a measure whose test takes long (its page says so).
        With `stop_after` the largest number.
    stop_after : int, optional
        Stop drawing after so many resamples at least as extreme as the data, from 1 to `n_resamples`; 20 is usual.
        A two-sided measure stops after half of them, rounded up, in each tail. The same resamples are drawn in the same
        order as without, only fewer. Default: draw all.
    rng : None, int, SeedSequence or Generator
        Seed or generator; the same int gives the same numbers for any number of threads.
    n_jobs : int
        Number of threads; -1 for one per core.

    Returns
    -------
    CalibrationTestResult or ClassWiseTestResult
        The latter for lens "class_wise" without `reduce`; `CrossValidatedTestResult` with `folds`, `GuidedTestResult`
        with `proxy`. `Answers`, a mapping from name to this, for several models.

    Raises
    ------
    ValueError
        If the data are not as described (the first offending row is named), a `Sample` has real-valued counts, or an
        argument is unknown; with `folds`, as for `confidence_interval`.

    Warns
    -----
    UserWarning
        If there are fewer than 30 clusters, or fewer than 20 rows a fold on average.

    Notes
    -----
    Null hypothesis: given the predictions, every outcome is 1 independently with its predicted probability; through a
    lens, the same given only the predictions of the reduced problem (such as the probability of the most likely class),
    as its `null` says. That is weaker than canonical calibration, where every class has its predicted probability given
    the predicted vector; the test is exact for it if rows are independent. One statistic over all classes tests
    canonical calibration; the p-value of each class tests the calibration of that class alone.
    The p-value is (1 + number of resamples at least as extreme) / (1 + n_resamples), and ties, up to rounding,
    count as at least as extreme, which is conservative; so P(p <= a) <= a for every a under "labels". Two-sided
    measures double the smaller tail.
    With `stop_after` = h the p-value is h / l if drawing stopped at draw l (two-sided, twice the h of each tail), and
    else that above: again P(p <= a) <= a (Besag, Clifford 1991), as every statistic here is fixed before the draws. Its
    Monte Carlo error is p sqrt((1 - p) / h). A calibrated model needs h (1 + log(n_resamples / h)) draws on average, 98
    for 20 and 999; one far from calibrated needs all. Draws are made in blocks of 2 h, 2 h, 4 h and so on, a third more
    than needed on average; neither blocks nor threads show. For lens "class_wise" draws go on until each class and the
    mean over all have stopped, and each p-value rests on the draws up to its own stop.
    With `null` the null hypothesis is that, given the predictions, outcomes come independently from the map. Resamples
    draw outcomes from it. The statistic compares outcomes with the predictions as they are, in the data and in each
    resample, so the level is exact again. Every statistic is then two-sided: a small one is evidence that the
    predictions are nearer to calibration than the map says. A test of mapped predictions,
    ``calibration_test(y, map(p))``, has the same null hypothesis and another statistic: see the study `maps`.
    A large p-value means that this statistic finds no evidence against calibration; it is not evidence that the model
    is calibrated. Predictions fitted or chosen on the same rows make it too large; repeated measurements of one subject
    violate the assumption of independent rows, unless `cluster` names them.
    Where the statistic is so small, or by the omnibus test the mean and the slope of the residuals, that a calibrated
    model has as small ones in at most 1 % of samples, the `note` asks if the predictions were cross-validated
    (then say `folds`), recalibrated or fitted on these outcomes. Not with weights, clusters, folds or "both", of
    two-sided measures, of each class ("class_wise"), or if draws were stopped.
    With `sample_weight` the null hypothesis is that predictions are calibrated given the weights too. In the statistic
    rows count by their weights, scaled to sum to the effective number of rows, and the test stays exact.
    With `cluster` the residuals of each cluster keep or change their signs together: if calibrated they have mean zero,
    however they depend on each other. That is approximate, since their distribution need not be symmetric, and signs
    alone take it for evidence that no event was observed. So p is the largest of that, of the p-value by independent
    labels and, where an outcome is observed or expected in fewer than ten clusters, of that by labels which the rows of
    a cluster share as far as their predictions allow. If clusters are fewer than ten only by the squares of their
    sizes, because a few large ones have the unlikely outcomes, the statistic is taken in units of how far the residuals
    of clusters spread. The omnibus statistic is always in these units. Its p-value by independent labels is the p-value
    of the test without `cluster`, so p is never smaller than without. The study `clusters` says how often `ece`, `ks`
    and `kernel_ce` reject a calibrated model, and ``benchmarks/clusters.py`` how often the omnibus statistic does;
    below 30 clusters it warns.
    With `folds` the null hypothesis is that each of the K models is calibrated, and the p-value is twice the smaller of
    the p-value of all rows and of K times the smallest p-value of a fold. The latter alone, `pvalue_by_theorem`, is at
    most a with probability of at most a, for any learner, if rows are of one law and folds are dealt at random, neither
    by outcomes nor by features. The former is studied: a test of all rows takes them as independent of the models. Of R
    repeats both are twice their mean over the repeats, which keeps the level however repeats depend on each other. The
    test mostly finds what a learner does wrong each time it is fitted. No test on the same rows can show how large
    the chance error of a fit is; `confidence_interval` with `folds` bounds it. A `note` says so if folds hold
    equal numbers of events: tests of such folds hardly find anything. For models that predict later rows see `Monitor`.
    With `cluster` the p-values of all rows and of folds are as with `cluster` alone, and so approximate.
    With `proxy` and `use` "direction" the null hypothesis is about the labelled rows: given all predictions and all
    that is known of rows without an outcome, their outcomes are independent with the predicted probabilities. The
    p-value is the rank of the smaller of two ranks, of the measure and of the sum of the labelled residuals weighted by
    the mean of answer minus prediction among other rows with like predictions. It is exact for any judge that is
    `blind`, good or bad, if these rows are not copies or relatives of labelled ones; those that share a `cluster` are
    left out.
    Cost: one sort and `n_resamples` evaluations of the measure; for a binned measure under "labels" the exact
    distribution of each bin instead, O(n**1.5), and one draw from it for each resample and bin, wherever that is
    cheaper.

    References
    ----------
    Bröcker, Smith 2007, doi:10.1175/WAF993.1; Vaicenavicius et al. 2019, arXiv:1902.06977; Besag, Clifford 1991,
    doi:10.1093/biomet/78.2.301.

    Examples
    --------
    >>> import calibstat as cs
    >>> sample = cs.Sample.from_counts([0.2, 0.7], [500, 500], [130, 340])
    >>> result = cs.calibration_test(sample, rng=1)
    >>> result.pvalue < 0.01, result.deviation.claims  # .26 of those predicted at .2 had the event, .68 of those at .7
    (True, ('too far apart',))
    >>> one = cs.calibration_test(sample, measure="ks", rng=1)
    >>> round(one.statistic, 3), one.pvalue < 0.01
    (0.03, False)

    Predictions out of folds, here of a model that ignores the outcomes:

    >>> y, p = cs.generators.shift(0.5).sample(400, rng=1)
    >>> result = cs.calibration_test(y, p, folds=[i % 5 for i in range(400)], rng=1)
    >>> result.pvalue < 0.05, result.pvalue_of_folds.shape
    (True, (1, 5))
    """
    if proxy is not None:
        beside: dict[str, Any] = {"lens": lens, "reduce": reduce, "method": method, "folds": folds}
        beside |= {"sample_weight": sample_weight, "stop_after": stop_after}
        need_no_map(null, "proxy=", "the judge is about deviations from the predictions")
        need_defaults_with_proxy(beside, resample=(resample, "labels"))
        need_premise(use, blind, inclusion)
        with options_of(calibration_test, options):
            asked = find_measure(DEFAULT_WITH_PROXY if measure is None else measure, options)
        draws = Draws.of(rng, asked.draws(n_resamples), n_jobs)
        given: dict[str, Any] = {"inclusion": inclusion, "cluster": cluster, "labels": labels, "pos_label": pos_label}
        return ask_with_proxy(lambda rows: guided_test(rows, asked, use, draws), y_true, y_prob, proxy, **given)
    if inclusion is not None or blind is not None or not is_among(use, (DIRECTION,)):
        need_proxy({"inclusion": inclusion, "blind": blind}, use=(use, DIRECTION))
    data = as_data(
        calibration_test,
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
        return ask_each(calibration_test, data, locals())
    if not is_among(resample, SCHEMES):
        raise ValueError(f"expected resample 'labels' or 'both', found {short(resample)}")
    if not is_among(method, (None, "sign_flip")):
        raise ValueError(f"expected method 'sign_flip' or None, found {short(method)}")
    if data.unit is not None:
        need_no_map(null, "cluster=", "how outcomes of a cluster depend on each other, a map does not say")
        if resample != "labels" or stop_after is not None:
            raise ValueError("expected cluster without resample 'both' and stop_after, found one of them beside it")
    elif method is not None:
        raise ValueError("expected cluster= with method 'sign_flip', found none")
    default = DEFAULT if data.fold is None else DEFAULT_WITH_FOLDS
    with options_of(calibration_test, options):
        asked = find_measure(default if measure is None else measure, options)
    if data.fold is not None:
        need_no_map(null, "folds=", "each fold has a model of its own")
        beside = {"resample": (resample, "labels"), "stop_after": (stop_after, None), "reduce": (reduce, None)}
        need_defaults_with_folds(beside)
        return cross_validated_test(data, asked, Draws.of(rng, asked.draws(n_resamples), n_jobs))
    problem = problem_of(data, asked, reduce)
    if data.unit is not None:
        return sign_flip_test(problem, data.unit, Draws.of(rng, problem.measure.draws(n_resamples), n_jobs))
    draws = Draws.of(rng, problem.measure.draws(n_resamples), n_jobs)
    check_stop(stop_after, draws.n)
    model = null_model(null, data, asked, resample)
    drawn, scheme = model.drawn(problem)  # messages name rows of the problem as it was posed
    statistic, resampler = drawn.statistic(), drawn.resampler(scheme, Stage.LABELS)
    if stop_after is None:
        values = resampler(draws)
    else:

        def stops(values: np.ndarray) -> list[int | None]:
            tail = model.tail(problem.measure)
            return [stopping_point(*each, tail, stop_after) for each in _watched(statistic, values)]

        values = draw_until(stops, resampler, draws, Stage.LABELS, 2 * stop_after)
    del resampler  # it may hold the cell of each row
    if problem.is_one_number:
        result = _result(problem, statistic, values, problem.lens, model, int(drawn.n), stop_after)
        annotations = problem.data.annotations()
        if model.calibration_map:  # what drives an error, and which are too small, is said of calibration alone
            return replace(result, **annotations)
        result = replace(result, deviation=drawn.deviation(draws)) if result.pvalue <= CLAIM_LEVEL else result
        has_note = resample == "labels" and annotations["effective_n"] is None and result.tail == "greater"
        if has_note and not result.stopped and drawn.is_smaller_than_chance(result.statistic, values, draws):
            annotations["note"] = "\n".join(part for part in (annotations["note"], NOTE) if part)
        return replace(result, **annotations)
    each = _class_wise(problem, statistic, values, model, int(drawn.n), stop_after)
    low = np.flatnonzero((each.pvalue_holm <= CLAIM_LEVEL) & (not model.calibration_map))
    return replace(each, deviations=tuple(drawn.deviations(low)), **problem.data.annotations())


def _watched(statistic: Any, null: np.ndarray) -> list[tuple[float, np.ndarray]]:
    """Return every statistic with its resamples: one, or one for each class and their mean."""
    if null.ndim == 1:
        return [(statistic, null)]
    return [*zip(statistic, null.T, strict=True), (float(statistic.mean()), null.mean(axis=1))]


def _result(
    problem: Problem,
    statistic: float,
    null: np.ndarray,
    lens: NamedLens,
    model: NullModel,
    n: int,
    stop_after: int | None,
) -> CalibrationTestResult:
    tail = model.tail(problem.measure)
    judged = judge(statistic, null, tail, stop_after)
    return CalibrationTestResult(
        statistic=statistic,
        pvalue=judged.pvalue,
        pvalue_error=judged.error,
        null_distribution=read_only(null[: judged.n_resamples]),
        null_hypothesis=model.hypothesis(problem.data.null_given_weights(problem.data.null)),
        measure=problem.measure.named,
        lens=lens,
        tail=tail,
        resample=model.resample,
        n=n,
        n_resamples=judged.n_resamples,
        stopped=judged.stopped,
        why_stopped=judged.why_stopped,
        why_infinite=problem.data.impossible() if np.isinf(statistic) else "",
        calibration_map=model.calibration_map,
    )


def _class_wise(
    problem: Problem, statistic: np.ndarray, null: np.ndarray, model: NullModel, n: int, stop_after: int | None
) -> ClassWiseTestResult:
    """Test each class by itself and all by their mean."""
    tail, names = model.tail(problem.measure), problem.data.class_names
    *classes, mean = _watched(statistic, null)
    judged = [judge(*each, tail, stop_after) for each in classes]
    pvalue = np.array([each.pvalue for each in judged])
    lens_of_all = problem.lens.of_all("mean", len(names))
    return ClassWiseTestResult(
        names=names,
        statistic=read_only(statistic),
        pvalue=read_only(pvalue),
        pvalue_holm=read_only(holm(pvalue)),
        pvalue_error=read_only(np.array([each.error for each in judged])),
        null_distribution=read_only(null),
        null_hypothesis=model.hypothesis(problem.data.null_given_weights(ONE_CLASS)),
        overall=_result(problem, *mean, lens_of_all, model, n, stop_after),
        measure=problem.measure.named,
        lens=problem.lens,
        tail=tail,
        resample=model.resample,
        n=n,
        n_resamples=len(null),
        resamples_used=read_only(np.array([each.n_resamples for each in judged])),
        why_stopped=tuple(each.why_stopped for each in judged),
        calibration_map=model.calibration_map,
    )
