"""The test of one side of rows in clusters, by the number of events, for any dependence within clusters.

Outcomes of a cluster that are 1 together, by one uniform number for all of them, make the number of events N the most
spread of all laws with these probabilities, in the convex order. So P(N <= s) is at most the least of E(t - N)_+ /
(t - s) over whole t > s, for any of these laws, and for larger probabilities too. Statement and proof: the page "One
side", theorem 4.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from calibstat.data.words.side import MORE_EVENTS, Side
from calibstat.inference.calibration_test_results import CalibrationTestResult
from calibstat.inference.problems.pose import OfOneSide
from calibstat.inference.problems.problem import Problem
from calibstat.inference.rows_of_results import Rows
from calibstat.inference.sequential_draws import WhyStopped
from calibstat.result import read_only

NO_MASS = 1e-24  # probability dropped at each end in each step
LEAST_P = 1e-12  # far above the rounding of sums, and never 0
BY_BOUND = "no resamples: an exact bound of the number of events"


def events_test(problem: Problem, unit: np.ndarray, side: Side, rows: Rows) -> CalibrationTestResult:
    """Return the test of one side by the number of events, of rows of equal weight in clusters."""
    view = problem.view.one_event("a test of one side")
    if problem.measure.name != "mean":
        raise ValueError(
            f"expected measure 'mean' with clusters beside side={side!r}, found {problem.measure.name!r}: the number "
            "of events alone has a test that is exact for any dependence within clusters"
        )
    if view.is_weighted:
        raise ValueError(f"expected rows of equal weight with clusters beside side={side!r}, found weights")
    model = OfOneSide(side)
    posed, _ = model.in_order(problem)
    y, p = view.float_rows()
    statistic = posed.statistic()
    pvalue = LEAST_P if np.isinf(statistic) else p_value_of_events(y, p, unit, side)  # what is not, this side forbids
    return CalibrationTestResult(
        statistic=statistic,
        pvalue=pvalue,
        pvalue_error=0.0,
        null_distribution=read_only(np.empty(0)),
        null_hypothesis=replace(view.null.of_side(side), rows="in clusters", exact=True),
        measure=problem.measure.named,
        lens=problem.lens,
        tail="greater",
        resample="none",
        side=side,
        n=int(problem.n),
        n_resamples=0,
        stopped=False,
        why_stopped=WhyStopped(BY_BOUND),
        rows=rows,
        events=replace(model.events(problem, pvalue), at_least=None),  # a limit of independent rows
        why_infinite=view.impossible(side) if np.isinf(statistic) else "",
        **view.annotations(),
    )


def p_value_of_events(y: np.ndarray, p: np.ndarray, unit: np.ndarray, side: Side) -> float:
    """Return the p-value of as few events, or as many, of rows in clusters with these numbers."""
    least, pmf = events_of_clusters(p, unit)
    seen = int(y.sum()) - least
    if MORE_EVENTS[side] > 0:  # many events are few of the others
        seen, pmf = pmf.size - 1 - seen, pmf[::-1]
    if seen < 0:  # fewer than the law has, of which each step has dropped nothing but `NO_MASS`
        return LEAST_P
    if seen >= pmf.size - 1:
        return 1.0
    below = np.cumsum(np.cumsum(pmf))[seen:]  # E(t - N)_+ at t = seen + 1, seen + 2, ...
    return float(np.clip((below / np.arange(1, below.size + 1)).min(), LEAST_P, 1.0))


def events_of_clusters(p: np.ndarray, unit: np.ndarray) -> tuple[int, np.ndarray]:
    """Return the law of the number of events if outcomes of a cluster are 1 together: its start, and probabilities.

    The events of a cluster are at least k with the k-th largest of its predictions. Clusters with equal predictions are
    counted, and all are added in an order that does not depend on their numbers.
    """
    order = np.lexsort((-p, unit))
    ends = np.flatnonzero(np.diff(unit[order])) + 1
    clusters = Counter(tuple(each.tolist()) for each in np.split(p[order], ends))
    least, pmf = 0, np.ones(1)
    for values, times in sorted(clusters.items()):
        at_least = np.array([1.0, *values, 0.0])
        for _ in range(times):
            pmf = np.convolve(pmf, at_least[:-1] - at_least[1:])
            inside = np.flatnonzero(pmf >= NO_MASS)
            least, pmf = least + int(inside[0]), pmf[inside[0] : inside[-1] + 1]
    return least, pmf
