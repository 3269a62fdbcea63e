"""The test of calibration of rows in clusters, by random signs of the residuals of whole clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibstat.data.clusters import clusters_in_words
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.deviation import CLAIM_LEVEL
from calibstat.inference.problems.problem import Problem
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.measures.kinds.binary_kinds import NotOfResiduals
from calibstat.measures.kinds.registry import MEASURES, measures_by_rows
from calibstat.resampling import Draws
from calibstat.result import read_only


def sign_flip_test(problem: Problem, unit: np.ndarray, draws: Draws, rows: Rows) -> CalibrationTestResult:
    """Return the test by signs of clusters, or by labels where their p-value is larger."""
    if not problem.is_one_number:
        raise ValueError(
            "expected lens 'class_wise_mean' or 'class_wise_max' for a test with clusters, found 'class_wise'"
        )
    why = ""
    try:
        compared = problem.compared_in_clusters(unit, draws)
    except NotOfResiduals as error:
        compared, why = None, f": {error}"
    if compared is None:
        errors = [name for name in measures_by_rows() if MEASURES[name]().honest == "norm"]
        raise ValueError(
            f"no test with clusters is known for {problem.title}{why}; there is one for the omnibus statistic of one "
            "event, and for errors of one event or through lens class_wise_mean or class_wise_max, such as "
            f"{', '.join(errors)}"
        )
    how, (statistic, null, tail) = max(compared.items(), key=lambda item: item[1].pvalue)
    p = compared[how].pvalue
    clusters = clusters_in_words(unit, problem.weight)
    in_clusters = replace(problem.view.null_given_weights(problem.view.null), rows="in clusters")
    return CalibrationTestResult(
        statistic=statistic,
        pvalue=p,
        pvalue_error=float((p * (1 - p) / draws.n) ** 0.5),
        null_distribution=read_only(null),
        null_hypothesis=in_clusters.approximately(clusters),
        measure=problem.measure.named,
        lens=problem.lens,
        tail=tail,
        resample="sign_flip",
        n=int(problem.n),
        n_resamples=draws.n,
        stopped=False,
        rows=rows.tested({way: found.pvalue for way, found in compared.items()}),
        why_stopped=WhyStopped(f"{draws.n} resamples by {how}, of {clusters}"),
        deviation=problem.deviation(None) if p <= CLAIM_LEVEL else None,  # described: errors of rows claim too much
        why_infinite=problem.view.impossible() if np.isinf(statistic) else "",
        **problem.view.annotations(),
    )
