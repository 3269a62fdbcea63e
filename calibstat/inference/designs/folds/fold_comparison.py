"""Differences of mean losses of learners, by their predictions out of the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from calibstat.bounds.mean_interval import MeanInterval, RowLosses
from calibstat.inference.comparing.compare_by_bootstrap import p_value_of_ends
from calibstat.inference.comparing.differences import Differences, zero_if_rounding
from calibstat.inference.comparing.mean_difference import row_differences
from calibstat.inference.designs.folds.fold_interval import variance_within
from calibstat.inference.designs.folds.folded_problem import FoldedProblem

DEFAULT = "brier", dict[str, float]()
METHOD = "folds"
NOT_ALLOWED = (
    "The interval allows for outcomes that were not observed, not for new rows on which the learners may differ more "
    "than on any of these."
)
MOST_MISSED = 2.0  # the variance of a difference over that within folds is at most this


def by_folds(models: Sequence[Sequence[FoldedProblem]], pairs: list[tuple[int, int]], alpha: float) -> Differences:
    """Compare the mean losses of the models of cross-validation; each model has the same folds in each repeat."""
    problem = models[0][0].problem
    if not problem.is_mean:
        raise ValueError(
            f"expected a mean of losses, such as brier, to compare with folds=, found {problem.title}: no study has "
            "differences of calibration errors with folds"
        )
    unit = models[0][0].unit
    losses = [[each.problem.losses().take(slice(None), unit) for each in model] for model in models]
    estimates = np.array([np.mean([each.estimate for each in model]) for model in losses])
    folds = [each.fold for each in models[0]]
    low, high, pvalue, difference = (np.empty(len(pairs)) for _ in range(4))
    for k, (a, b) in enumerate(pairs):
        above, below = (_difference(losses[i], losses[j], folds) for i, j in ((a, b), (b, a)))
        difference[k] = zero_if_rounding(estimates[a] - estimates[b], np.abs(estimates[[a, b]]).max())
        low[k], high[k] = -below.high(alpha / 2), above.high(alpha / 2)
        pvalue[k] = p_value_of_ends(above, below, None)
    return Differences(estimates, difference, low, high, pvalue, tuple(len(model[0].fold) for model in models))


def _difference(one: Sequence[RowLosses], other: Sequence[RowLosses], folds: Sequence[np.ndarray]) -> MeanInterval:
    """Return the mean over rows and repeats of the difference of two losses, with its variance under folds."""
    rows = [row_differences(*pair, same_outcomes=True) for pair in zip(one, other, strict=True)]
    row = np.stack([each.loss for each in rows])
    intervals, possible = [each.interval for each in rows], np.stack([each.possible() for each in rows])
    return replace(
        intervals[0],
        estimate=float(np.mean([each.estimate for each in intervals])),
        variance=row.shape[1] * variance_of_difference(row, folds, one[0].unit),
        third=float(np.mean([each.third for each in intervals])),
        least=float(possible.min()),  # the bounds of the loss would allow for rows on which learners have nothing alike
        most=float(possible.max()),
    )


def variance_of_difference(row: np.ndarray, folds: Sequence[np.ndarray], unit: np.ndarray | None = None) -> float:
    """Return n times the squared standard error of a mean of numbers of rows, shape (R, n), of R repeats.

    It is the variance within folds and K (n - 1) / (n - K) times that between repeats, which is what training rows add;
    of one repeat twice the variance within folds, which is the most that it can be. Of rows in clusters, which `unit`
    numbers from 0, both are of the clusters' sums, and clusters are counted in place of the n rows.

    Statement and argument: docs/proofs.md, section 12.
    """
    within = float(np.mean([variance_within(*each, unit) for each in zip(row, folds, strict=True)]))
    repeats, n = row.shape
    if repeats == 1:
        return MOST_MISSED * within
    k = int(folds[0].max()) + 1
    of_units = row if unit is None else np.stack([np.bincount(unit, each) for each in row])
    units = of_units.shape[1]
    return within + k * (units - 1) / (units - k) * float(of_units.var(axis=0, ddof=1).mean()) * units / n


def note_of_repeats(folded: Sequence[FoldedProblem]) -> str:
    """Say how the variance of a difference was found, and what the interval does not allow for."""
    if len(folded) == 1:
        how = (
            "Of one repeat the variance within folds is doubled, the most that it can be where training rows count one "
            "by one. Three repeats, folds and predictions of shape (n, 3), mostly give a shorter interval."
        )
    else:
        how = (
            f"The variance is that within folds, and {folded[0].n_folds} times that between {len(folded)} repeats. "
            "Differences of Brier scores were studied."
        )
    return f"{how} {NOT_ALLOWED}"


def null_of_folds(folded: Sequence[FoldedProblem]) -> str:
    """Return the null hypothesis of each pair."""
    of_clusters = "" if folded[0].unit is None else f", of {folded[0].sampled}"
    return (
        f"the mean loss of the {folded[0].n_folds} models is the same for both learners in the population, if for each "
        f"new row one of the models is drawn at random{of_clusters}"
    )
