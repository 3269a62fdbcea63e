"""The check that labelled rows are like the others: exact for labels that were chosen at random."""

from __future__ import annotations

import numpy as np

from calibstat import resampling
from calibstat.digits import writer
from calibstat.inference.designs.judged.guess import GROUPS, groups_of
from calibstat.inference.designs.judged.judged_in_order import JudgedRows
from calibstat.inference.p_values import p_value
from calibstat.resampling import Draws, Stream

UNLIKELY = 0.01
PERMUTATIONS = 999
ROUNDING = 1e-12  # of predictions or answers that are all alike
UNLIKE = (
    "Warning: labelled rows are not like the others (p = {p} by their predictions and the judge's answers). If "
    "they were not chosen at random, this answer is wrong; if their chances are known, give inclusion=."
)


def design_p_value(rows: JudgedRows, key: np.uint64, n_jobs: int = 1) -> float:
    """Test that the labelled rows are a random subset, or were labelled with the given chances.

    The statistic is the larger of two absolute differences, in standard deviations: of the mean prediction, and of the
    mean of the judge's answer less its mean among like predictions. Subsets are drawn again: of rows; of clusters, if
    all rows of a cluster are labelled or none, and some have several; or row by row with the given chances.

    Statement and argument: docs/evidence/proofs/few-label-tests.md.
    """
    group = groups_of(rows.prediction, GROUPS)
    mean = np.bincount(group, rows.proxy, GROUPS) / np.maximum(np.bincount(group, minlength=GROUPS), 1)
    columns = np.stack([rows.prediction, rows.proxy - mean[group]])
    columns -= columns.mean(axis=1, keepdims=True)
    columns[np.abs(columns).max(axis=1) < ROUNDING] = 0.0
    draws = Draws(key, PERMUTATIONS, n_jobs)
    if rows.chance is not None:
        columns = columns / rows.chance
        variance = columns**2 @ (rows.chance * (1 - rows.chance))
        observed = columns @ (rows.labelled - rows.chance)
        drawn = np.stack([_by_chances(rows.chance, each, draws) for each in columns], axis=1)
    else:
        unit = rows.units if _whole_clusters(rows) else np.arange(rows.n)
        columns = np.stack([np.bincount(unit, each) for each in columns])
        chosen = np.bincount(unit, rows.labelled) > 0
        labels, units = int(chosen.sum()), chosen.size
        variance = (columns**2).mean(axis=1) * labels * (units - labels) / max(units - 1, 1)
        observed, drawn = columns[:, chosen].sum(axis=1), resampling.sums_of_subsets(columns, labels, draws)
    spread = np.sqrt(np.where(variance > 0, variance, np.inf))  # the same for all subsets
    return p_value(float(np.abs(observed / spread).max()), np.abs(drawn / spread).max(axis=1), "greater")


def _by_chances(chance: np.ndarray, column: np.ndarray, draws: Draws) -> np.ndarray:
    """Return the sums of a column over rows that are drawn by their chances, less the expected sum.

    The same rows are drawn for each column. A row that is never drawn makes the weights add up to 1.
    """
    weight, prob = np.append(column, 1 - column.sum()), np.append(chance, 0.0)
    cell, unit = np.zeros(prob.size, np.int64), np.arange(prob.size)
    return resampling.sums_of_row_labels(cell, prob, 1, unit, weight, lambda theta: theta[0], draws, Stream.DESIGN)


def _whole_clusters(rows: JudgedRows) -> bool:
    """Whether clusters were labelled whole: all their rows or none, and several of some."""
    size, labelled = np.bincount(rows.units), np.bincount(rows.units, rows.labelled)
    return bool(((labelled == 0) | (labelled == size)).all() and labelled.max() > 1)


def design_note(p: float) -> str:
    """Warn if labelled rows are not like the others; empty if they may be."""
    return UNLIKE.format(p=writer(".3g")(p)) if p <= UNLIKELY else ""
