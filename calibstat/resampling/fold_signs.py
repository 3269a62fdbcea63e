"""Random signs of rows or clusters, centred within each fold of cross-validation, and the keys of its repeats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibstat.compiled import jit, without_numba
from calibstat.resampling.row_labels import draw_signs, in_blocks_of_streams, signs_of
from calibstat.resampling.row_sums import Column
from calibstat.resampling.schemes import Draws, Stream
from calibstat.resampling.streams import first_state


def repeat_key(key: np.uint64, repeat: int) -> np.uint64:
    """Return the key of a repeat of cross-validation; the first has the key of a single one."""
    return key if repeat == 0 else np.uint64(first_state(key, int(Stream.REPEATS), repeat))


def sums_of_fold_signs(
    column: Column,
    cells: int,
    fold: np.ndarray,
    unit: np.ndarray,
    statistic: Callable[[np.ndarray], Any],
    draws: Draws,
) -> np.ndarray:
    """Return ``statistic(sums)`` of all resamples, in which each row adds what it adds times its multiplier.

    Rows of a unit, all of one fold, share a random sign. The multipliers of a fold are the signs less their mean over
    its rows, times the root of the factor of `centring`, so that the sums have the variance within folds. The column
    says in which of `cells` each row adds how much; `sums` have shape (B, cells).

    Statement and argument: docs/evidence/proofs/fold-ends.md.
    """
    cell, contribution = column
    rows, factor = centring(fold, unit)
    scale = np.sqrt(factor)
    units = int(unit.max()) + 1

    def of_signs(start: np.ndarray) -> np.ndarray:
        signs, sums = np.empty(units, np.uint64), np.zeros((cells, start.size))
        draw_signs(start, signs)
        _add_centred(signs, unit, fold, rows, scale, cell, contribution, sums)
        return np.asarray(statistic(np.ascontiguousarray(sums.T)))

    return in_blocks_of_streams(of_signs, cells, draws, Stream.FOLD_SIGNS)


def centring(fold: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of rows of the folds, and the factors that undo what centring takes from their variances.

    `unit` numbers the unit of each row from 0. Of m units of one size the factor is m / (m - 1). Of others it is the
    one for rows of a unit that are all alike, and larger than needed for rows that are not.

    Statement and argument: docs/evidence/proofs/fold-clusters.md.
    """
    size, rows = np.bincount(unit).astype(np.float64), np.bincount(fold).astype(np.float64)
    squares, cubes = np.bincount(fold, size[unit]), np.bincount(fold, size[unit] ** 2)
    return rows, rows / (rows - (2 * cubes / squares - squares / rows))


# --- kernels ---------------------------------------------------------------------------------------------------------


def _centred_in_arrays(
    signs: np.ndarray,
    unit: np.ndarray,
    fold: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    cell: np.ndarray,
    contribution: np.ndarray,
    sums: np.ndarray,
) -> None:
    sign = signs_of(signs[unit], sums.shape[1])
    mean = np.zeros((rows.size, sums.shape[1]))
    np.add.at(mean, fold, sign / rows[fold, None])
    np.add.at(sums, cell, (scale[fold] * contribution)[:, None] * (sign - mean[fold]))


@without_numba(_centred_in_arrays)
@jit
def _add_centred(
    signs: np.ndarray,
    unit: np.ndarray,
    fold: np.ndarray,
    rows: np.ndarray,
    scale: np.ndarray,
    cell: np.ndarray,
    contribution: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add up what rows add in their cells, times their centred signs in each resample."""
    mean = np.zeros((rows.size, sums.shape[1]))
    for i in range(fold.size):
        bits = signs[unit[i]]
        total = mean[fold[i]]
        part = 1.0 / rows[fold[i]]
        for b in range(total.size):
            total[b] += part if (bits >> np.uint64(b)) & np.uint64(1) else -part
    for i in range(fold.size):
        bits = signs[unit[i]]
        centre = mean[fold[i]]
        one = scale[fold[i]] * contribution[i]
        total = sums[cell[i]]
        for b in range(total.size):
            sign = 1.0 if (bits >> np.uint64(b)) & np.uint64(1) else -1.0
            total[b] += one * (sign - centre[b])
