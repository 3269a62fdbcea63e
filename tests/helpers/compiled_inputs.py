"""Inputs on which every compiled function is compared with its Python source.

The inputs of a function enter every line of it. A name may go on after a colon, for one more input of a function.
"""

from functools import cache

import numpy as np

import calibstat
import calibstat as cs
from calibstat.bounds.curves.jumps_between_levels import Jumps
from calibstat.bounds.curves.noise_in_cells import Grid, hidden_noise
from calibstat.measures.bins import BLOCK
from calibstat.resampling.binomial_tables import binomial_tables
from calibstat.resampling.streams import GOLDEN

GENERATOR = np.random.default_rng(5)
PREDICTIONS = np.round(GENERATOR.random(30), 1)  # ties, 0 and 1
OUTCOMES = (GENERATOR.random(30) < PREDICTIONS).astype(float)
KEY = np.sort(PREDICTIONS.view(np.uint64) << np.uint64(1) | OUTCOMES.astype(np.uint64))
VALUE, COUNT, POSITIVES = cs.Sample.from_rows(OUTCOMES, PREDICTIONS).arrays
M = VALUE.size
RESIDUAL = (POSITIVES - COUNT * VALUE) / COUNT.sum()
CELL = np.minimum((VALUE * 3).astype(np.int64), 2)
ROWS = np.bincount(CELL, COUNT)
START = np.uint64(2**63 + 12345)
THRESHOLD = (VALUE * 2.0**63).astype(np.uint64)
THRESHOLD_OF_ROW = np.repeat(THRESHOLD, COUNT.astype(int))
CELL_OF_ROW = np.repeat(np.arange(M), COUNT.astype(int))
MANY = COUNT * 40
MIXED = np.where(np.arange(M) % 3, MANY, COUNT)
# a path of five nodes, right, right, left, right, with a subtree hanging from each
NODE = np.round(GENERATOR.normal(size=(12, 5)), 3) * (np.arange(12) > 0)[:, None]
CHILD = np.array(
    [[0, 0], [6, 2], [7, 3], [4, 8], [9, 5], [10, 11], *[[0, 0]] * 6],
    np.int32,
)
PATH, SIDE = np.arange(1, 6, dtype=np.int32), np.array([1, 1, 0, 1, 0], np.int8)
HEAP = np.array([[0.9, 0.5], [0.4, 0.2], [0.8, 0.1], [0.5, 0.3], [0.3, 0.7], [0.2, 0.4], [0.1, 0.6]])
INSIDE = VALUE.clip(0.05, 0.95)
VECTORS = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0], [0.004, 0.6, 0.396]])
SIMPLEX = np.stack([PREDICTIONS / 2, PREDICTIONS / 2, 1 - PREDICTIONS], axis=1)
COLUMNS = np.ascontiguousarray(np.random.default_rng(6).dirichlet([1.0, 1.0, 1.0], 20).round(2).T)
DEVIATIONS = np.eye(3)[:, np.arange(20) % 3] - COLUMNS
# predicted vectors of multiples of 1/10, with ties, 0 and 1, and their classes; cells that all classes of a row share,
# as (row, 1), or of each class by itself, as (row, class)
TENTHS = np.array([[6, 4, 0], [0, 10, 0], [3, 3, 4], [1, 1, 8], [6, 4, 0], [2, 3, 5]]) / 10
PARTS = (
    *(np.array([0, 2, 1, 2]), np.array([0, 2, 4]), np.array([1, 0]), TENTHS[:3]),
    np.array([[0, 0, 1], [0, 1, -1]]),
)  # of two clusters
CLASSES = np.array([1, 1, 0, 2, 0, 2])
OF_ROWS = (np.array([1.0, 0.5, 2.0, 1.0, 0.25, 3.0]), 7.75)  # weights and their sum
CELL_OF_TENTHS = np.array([0, 1, 0, 2, 0, 2])
SHARED = CELL_OF_TENTHS[:, None] * 3
OWN = (TENTHS * 2).astype(np.int32)
ONE_CELL = np.zeros((10, 3), np.int32)
CUMULATIVE = np.array([0.25, 0.25, 0.875, 1.0, 1.0]) * 2.0**63
UNITS = np.array([0, 1, 1, 2, 0, 2])
SUMMED = (CELL_OF_TENTHS[:, None] * 3 + np.zeros((1, 3), np.int64), 1)  # each class at the place of its row's cell
STARTS = np.arange(5, dtype=np.uint64) * START
RESIDUALS = np.linspace(-1, 1, 5 * M).reshape(M, 5)
PARTS_OF_GROUP = (
    *(np.array([0, 2, 5]), np.array([0.2, 0.8, 0.1, 0.4, 0.5]), np.array([1.0, 3.0]), np.array([[9.0, 80.0, 12.0]])),
)
LEVELS = Grid(4)
NEAR = Grid(16)  # of levels so near each other that some curves rise by more, or by less, than a limit between them
APART = np.append(np.linspace(0.2, 0.5, 4096), [0.8, 0.85])  # so many that blocks of blocks can be skipped
WIDE = np.random.default_rng(7).dirichlet(np.full(75, 0.3), 4)  # more classes than a block of them holds
WIDE[1, 3] = -0.0  # it has a sign, and is as good as 0
WIDE[2, :9] = WIDE[2, 8::-1]
WIDE[3, 5] = -0.25


@cache
def tables():
    return binomial_tables(MANY, VALUE, 61 * (np.arange(M) > 2))  # the other cells are drawn by rejection


@cache
def noise():
    return hidden_noise(12.0, 0.3, 0.4, 1, LEVELS)


@cache
def near():
    return hidden_noise(12.0, 0.3, 0.4, 1, NEAR)


INPUTS = {
    "cli.large.rows_in_cells._add": lambda: (
        *(OUTCOMES == 1, PREDICTIONS + 2.0**-30 * (PREDICTIONS < 1)),
        *(np.zeros((4, 153_600), np.int64), np.array([[2.0], [-1.0]]) * np.ones(153_600)),
    ),
    "cli.large.rows_of_models._put": lambda: (
        *(np.empty(20, np.int64), np.empty(20, np.int64), np.empty((2, 20), np.uint64)),
        *(np.empty((2, 20)), np.empty((2, 2, 20)), np.full(64, -1, np.int32), 0),
        *(np.stack([PREDICTIONS, PREDICTIONS[::-1]]).view(np.uint64), OUTCOMES.astype(np.int64), np.ones(30, np.int64)),
        *(np.stack([PREDICTIONS, PREDICTIONS[::-1]]), np.stack([np.stack([PREDICTIONS, PREDICTIONS[::-1]])] * 2)),
    ),
    "cli.large.rows_of_models._put: there is room for all": lambda: (
        *(np.zeros(30, np.int64), np.zeros(30, np.int64), np.zeros((1, 30), np.uint64)),
        *(np.zeros((1, 30)), np.zeros((2, 1, 30)), np.full(64, -1, np.int32), 0),
        *(PREDICTIONS[None].view(np.uint64), OUTCOMES.astype(np.int64), np.ones(30, np.int64)),
        *(PREDICTIONS[None], np.stack([PREDICTIONS[None]] * 2)),
    ),
    "recalibration.least_log_loss._fill_logs": lambda: (TENTHS, np.zeros((6, 3))),
    "recalibration.least_log_loss._derivatives": lambda: (np.log(TENTHS + 0.1), CLASSES, 0.7, *OF_ROWS),
    "recalibration.many_weights._fill_chances": lambda: (np.log(INSIDE), INSIDE, VALUE, np.zeros(M)),
    "recalibration.many_weights._log_loss": lambda: (
        *(np.log(TENTHS + 0.1), CLASSES, *OF_ROWS),
        *(TENTHS[0] + 0.5, TENTHS[1]),
    ),
    "recalibration.many_weights._curvatures": lambda: (np.log(TENTHS + 0.1), *OF_ROWS, TENTHS[0] + 0.5, TENTHS[1]),
    "recalibration.isotonic_regression._interpolated": lambda: (
        *(np.linspace(0, 1, 21), np.array([0.1, 0.3, 0.35, 0.9]), np.array([0.0, 0.2, 0.25, 1.0])),
        np.searchsorted([1, 4, 5, 14], np.arange(18)),
    ),
    "recalibration.venn_abers._with_event": lambda: (COUNT, POSITIVES, 1.0),
    "recalibration.venn_abers._turns_left": lambda: (
        *(np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 2.0]), 0, 1, 3.0, 4.0),
    ),
    "recalibration.venn_abers._turns_left_from": lambda: (
        *(-1.0, -1.0, np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.5, 2.0]), 1),
    ),
    "classical.local_regression._fitted": lambda: (
        VALUE[::2].copy(),
        np.full(VALUE[::2].size, 0.3),
        VALUE,
        COUNT,
        POSITIVES,
    ),
    "bounds.decision_gains.steepest": lambda: (
        VALUE,
        COUNT - POSITIVES,
        POSITIVES,
        np.append(VALUE[1:], 1.0),
        0.9,
        0.5,
    ),
    "bounds.decision_gains._of_signed": lambda: (VALUE, 3 * RESIDUAL, 1 - 5 * RESIDUAL),
    "bounds.decision_bounds._highest": lambda: (
        *(VALUE[1:], np.cumsum(np.stack([np.stack([COUNT - POSITIVES, POSITIVES], axis=1)] * 3), axis=1)),
        *(np.array([30.0, 40.0]), True, np.array([30.0, 1.96, 3.9, 2.0, 1.0, 1.0])),
    ),
    "bounds.decision_bounds._highest_of_units": lambda: (
        *(np.array([0.2, 0.5]), np.cumsum(np.ones((3, 2)), axis=0), np.linspace(-1, 1, 24).reshape(3, 2, 4) ** 3),
        np.array([1.25, 1.96, 3.9, 2.0, 1.0, 1.0]),
    ),
    "measures.two_bin_ce._add_gaps": lambda: (np.zeros((4, 5)), VALUE, RESIDUALS),
    "bounds.bin_norms._highest": lambda: (
        *(GENERATOR.random((3, 5)) * 0 + np.linspace(0, 1, 5), np.linspace(-1, 1, 15).reshape(3, 5), np.ones((3, 5))),
        *(np.arange(15).reshape(3, 5) % 4, np.array([0.1, 0.2, 0.5, 1.0]), np.array([0.5, 1.0]), 1.5),
        *(np.full(4, np.inf), np.zeros((3, 4)), np.zeros(3)),
    ),
    "bounds.unit_sums._powers": lambda: (TENTHS, CLASSES, SHARED, 1, TENTHS[:, 0] + 0.5, 9),
    "bounds.unit_sums._row_sums": lambda: (TENTHS, CLASSES, SHARED, 1, np.linspace(-1, 1, 9)),
    "bounds.unit_sums._row_skews": lambda: (TENTHS, CLASSES, SHARED, 1, np.linspace(-1, 1, 9)),
    "bounds.unit_sums._squares_about": lambda: (
        *(TENTHS, CLASSES, SHARED, 1, TENTHS[:, 0] + 0.5, np.linspace(-1, 1, 9)),
    ),
    "bounds.unit_sums._absolute_row_sums": lambda: (TENTHS, CLASSES, *SUMMED, np.linspace(0.1, 1, 9)),
    "bounds.unit_sums._add_rows": lambda: (
        *(
            TENTHS,
            CLASSES,
            *SUMMED,
            TENTHS[:, 0] + 0.5,
            np.where(np.arange(9) == 4, -1, np.arange(9)),
            np.linspace(0.1, 1, 9),
        ),
        np.zeros((6, 9)),
    ),
    "bounds.unit_sums._products": lambda: (
        *(
            TENTHS,
            CLASSES,
            *SUMMED,
            TENTHS[:, 0] + 0.5,
            np.where(np.arange(9) == 4, -1, np.arange(9)),
            np.linspace(0.1, 1, 9),
            9,
        ),
    ),
    "measures.gce._places": lambda: (
        *(TENTHS, TENTHS.argmax(axis=1), np.float64(0.05), np.zeros((3, 2))),
        np.array([[0.3, np.inf], [0.4, np.inf], [0.5, np.inf]]),
    ),
    "bounds.isotonic_interval._pool": lambda: (COUNT, POSITIVES, *np.zeros((2, M)), np.zeros(M, np.int64)),
    "bounds.isotonic_interval._pool: with blocks before the last": lambda: (
        *(np.array([2.0, 2.0, 0.0, 2.0, 2.0]), np.array([0.0, 1.0, 0.0, 2.0, 0.0])),
        *(*np.zeros((2, 5)), np.zeros(5, np.int64)),
    ),
    "bounds.isotonic_gain.largest_gain": lambda: (
        *(np.linspace(0, 1, 100), np.arange(100) % 3 + 1.0, np.arange(100) * 7 % 5 / 5 * (np.arange(100) % 3 + 1)),
    ),
    "bounds.isotonic_gain.largest_gain: no running sum of a part is negative": lambda: (
        *(np.linspace(0, 1, 100), np.ones(100), (np.arange(100) < 50) * 1.0),
    ),
    "bounds.isotonic_gain._parts": lambda: (np.linspace(0, 1, 100), np.ones(100), (np.arange(100) < 50) * 1.0),
    "bounds.isotonic_gain._pooled_parts": lambda: (np.abs(np.sin(np.arange(24.0).reshape(4, 6))),),
    "bounds.isotonic_gain._cut": lambda: (
        *(np.ones(70), np.arange(70) * 7 % 5 / 5, np.array([[0.9, 32.0, 12.8, 0, 0, 0], [0.9, 38.0, 19, 0, 0, 0]])),
        *(np.array([[31.8, 70.0]]), np.array([2])),
    ),
    "bounds.isotonic_gain._gain": lambda: (
        *(np.linspace(0, 1, 70), np.ones(70), np.arange(70) * 7 % 5 / 5, np.sin(np.arange(18.0).reshape(3, 6))),
        *(np.array([[12.0, 40.0], [14.0, 30.0]]), np.array([40, 70])),
    ),
    "bounds.isotonic_gain._pool": lambda: (
        *(np.array([[1.0, 3.0], [2.0, 3.0], [0.0, 0.0]]), np.array([1, 2, 0]), 2, 1.0, 3.0, 3),
    ),
    "bounds.isotonic_interval._best_of": lambda: (np.array([-np.inf, 0.5, 0.25, 0.75]), np.arange(4.0), 0, 4),
    "bounds.isotonic_interval._best": lambda: (
        *(VALUE, POSITIVES, COUNT - POSITIVES, POSITIVES, COUNT - POSITIVES, np.arange(9) / 8, 0.1, 0.5, 0.3),
    ),
    "bounds.isotonic_interval._best: no gain has to be large": lambda: (
        *(VALUE, POSITIVES, COUNT - POSITIVES, POSITIVES, COUNT - POSITIVES, np.arange(9) / 8, -1.0, 0.5, 0.3),
    ),
    "bounds.isotonic_interval._best: the first values are too far below": lambda: (
        *(VALUE[-3:], POSITIVES[-3:], COUNT[-3:] - POSITIVES[-3:], POSITIVES[-3:], COUNT[-3:] - POSITIVES[-3:]),
        *(np.arange(9) / 8, 0.1, 0.5, 0.3),
    ),
    "bounds.isotonic_interval._highest": lambda: (
        *(VALUE, POSITIVES, COUNT - POSITIVES, POSITIVES, COUNT - POSITIVES, 8, np.array([0.125, 0.5, 1.0]), 1.96, 3.9),
    ),
    "measures.components.deviations._number": lambda: (VALUE, COUNT, 3.0, 30.0, 4, np.zeros(M, np.int64)),
    "measures.components.local_components._deviance": lambda: (3.0, 5.0, 2.0, 6.0, 0.0),
    "measures.components.local_components._deviance: one side": lambda: (3.0, 5.0, 2.0, 6.0, -1.0),
    "measures.components.local_components._surprise": lambda: (3.0,),
    "measures.components.local_components._surprise: far out": lambda: (3000.0,),
    "measures.components.local_components._largest": lambda: (
        *(np.array([[2.0, 0.5, 1.0], [4.0, 3.0, 7.5]]), np.array([2, 2, 64]), np.array([True, True, True])),
        *(1.0, 2.0, np.zeros((2, 4))),
    ),
    "measures.components.local_components._largest: one side": lambda: (
        *(np.array([[2.0, 0.5, 1.0], [4.0, 3.0, 7.5]]), np.array([2, 2, 3]), np.array([True, True, False])),
        *(0.5, 1.25, np.zeros((2, 4))),
    ),
    "measures.components.local_components._deviance: one side, near": lambda: (30.0, 70.0, 30.01, 69.99, -1.0),
    "measures.components.local_components._deviances": lambda: (
        *(np.array([[2.0, 0.0, 1.0], [4.0, 3.0, 5.0]]), np.array([5, 40, 90])),
        *(np.array([0, 64, 40]), np.array([64, 128, 42])),
        *(np.array([7.0, 5.0, 3.0]), np.array([2.0, 3.0, 1.0]), np.array([5.0, 2.0, 2.0]), -1.0),
        *(np.array([0.0, 2.0, 0.0]), np.array([0, 5, 8, 11]), np.full(11, np.nan)),
        *(np.empty(129), np.zeros((2, 3))),
    ),
    "measures.components.cluster_deviations._add_squares": lambda: (
        *(np.array([0.5, -0.25, 1.0, 0.75]), *PARTS, np.empty(TENTHS.shape[1]), np.zeros((2, TENTHS.shape[1] + 2))),
    ),
    "measures.components.cluster_deviations._add_shared": lambda: (
        *(np.array([2.0, 1.0, 3.0, 1.0]), np.array([0.1, 0.3, 0.6]), *PARTS),
        *(np.empty((2, TENTHS.shape[1])), np.zeros(TENTHS.shape[1] + 2)),
    ),
    "measures.omnibus._positives_of": lambda: (
        *(CLASSES[None], np.arange(24, dtype=np.int32).reshape(6, 4), np.zeros(6, np.int64), 24),
    ),
    "measures.components.smooth_components._interpolate": lambda: (
        *(np.array([[-9.0, 0.3], [9.0, 0.1]]), np.array([[-1.0, 0.0, 2.0]] * 2), np.array([[-3.0, 0.0, 1.0]] * 2)),
        np.zeros((2, 2)),
    ),
    "measures.components.smooth_components._add_products": lambda: (
        *(RESIDUALS[:2, :4].copy(), np.sin(np.arange(12.0)).reshape(4, 3), np.zeros((2, 3))),
    ),
    "bounds.joint_moments._powers_of_sizes": lambda: (np.arange(1.0, 6.0), np.linspace(0, 1, 5)),
    "bounds.joint_moments._prefixes": lambda: (
        *(TENTHS[:, 0] - 0.2, UNITS, np.bincount(UNITS).astype(float), np.linspace(0, 1, UNITS.max() + 1)),
    ),
    "measures.skce._fill_gram": lambda: (COLUMNS, DEVIATIONS, 9, (False, False, 0.5), np.zeros((11, 20))),
    "measures.smooth_ce._on_grid": lambda: (VALUE, RESIDUAL),
    "measures.smooth_ce._largest_sum": lambda: (np.sin(np.arange(65.0)), np.abs(np.cos(np.arange(65.0))), 2),
    "monitoring.directions._log_likelihood_ratios": lambda: (
        *(calibstat.monitoring.directions.TABLE, VALUE, COUNT, POSITIVES),
    ),
    "monitoring.evidence._log_sum": lambda: (np.array([0.5, -np.inf, 2.0]),),
    "monitoring.evidence._log_sum: of zeros": lambda: (np.full(3, -np.inf),),
    "monitoring.evidence._log_add": lambda: (0.5, -2.0),
    "monitoring.evidence._add_period": lambda: (
        *(np.array([0.5, -np.inf]), np.array([1.0, -2.0]), -0.5, -1.0, np.log([0.25, 0.75])),
    ),
    "monitoring.evidence._paths": lambda: (
        *(np.sin(np.arange(12.0)).reshape(2, 3, 2), np.array([[-0.5, -1.0], [0.0, -np.inf], [-1.0, -2.0]])),
        np.log([0.25, 0.75]),
    ),
    "resampling.future_draws._rows": lambda: (START, 50, 7),
    "resampling.row_labels._add_events": lambda: (
        *(STARTS, CELL_OF_TENTHS, (TENTHS[:, 0] * 2**53).astype(np.uint64), UNITS, np.ones(6), np.zeros((3, 5))),
    ),
    "resampling.row_labels.draw_signs": lambda: (STARTS, np.zeros(3, np.uint64)),
    "resampling.fold_signs._add_centred": lambda: (
        *(np.arange(6, dtype=np.uint64) * START, np.arange(6) // 2, UNITS, np.full(3, 2.0), np.full(3, 2**0.5)),
        *(CELL_OF_TENTHS, np.linspace(-1, 1, 6), np.zeros((3, 64))),
    ),
    "resampling.row_labels._add_classes": lambda: (
        STARTS,
        np.arange(18).reshape(6, 3) % 5,
        TENTHS,
        np.arange(6) // 2,
        np.arange(1.0, 7.0),
        np.zeros((5, STARTS.size)),
    ),
    "resampling.row_labels._add_signed": lambda: (
        *(STARTS[:3], UNITS, CELL_OF_TENTHS, np.linspace(-1, 1, 6), np.zeros((3, 64))),
    ),
    "resampling.group_sums._labels": lambda: (np.uint64(5), 1, 3, 6, np.resize(THRESHOLD_OF_ROW, 128)),
    "resampling.group_sums._counted": lambda: (
        *(np.arange(15, dtype=np.uint64).reshape(3, 5) * START, np.arange(10, dtype=np.uint64).reshape(2, 5) * ~START),
        np.array([0, 2, 2, 5]),
    ),
    "resampling.group_sums._shared_bits": lambda: (
        np.array([2**64 - 1, 5], np.uint64),
        np.full(2, 2**63 + 7, np.uint64),
    ),
    "resampling.random_subsets._sums": lambda: (np.uint64(5), 16, 1, 4, np.stack([VALUE, RESIDUAL]), 3),
    "resampling.row_sums._draw": lambda: (START, 6, 2, np.zeros((3, 7), np.uint8)),
    "resampling.row_sums._add_products": lambda: (
        *(np.arange(330, dtype=np.uint8).reshape(5, 66) % 4, np.linspace(-1, 1, 132).reshape(2, 66), np.zeros((2, 32))),
    ),
    "resampling.row_sums._add_weighted": lambda: (
        *(np.arange(21, dtype=np.uint8).reshape(3, 7) % 4, np.linspace(-1, 1, 6).reshape(2, 3), np.zeros((2, 7))),
    ),
    "data.predictions._check_vectors": lambda: (
        *(TENTHS, TENTHS.view(np.int64), np.ones(1).view(np.int64)[0], 1e-6),
        *(np.zeros(6, np.int64), np.zeros(6, np.int64)),
    ),
    "data.predictions._check_vectors: many classes, signs and a bad row": lambda: (
        *(WIDE, WIDE.view(np.int64), np.ones(1).view(np.int64)[0], 1e-6),
        *(np.zeros(4, np.int64), np.zeros(4, np.int64)),
    ),
    "data.cell_sums._vector_sums": lambda: (CELL_OF_TENTHS, TENTHS, CLASSES, np.arange(1.0, 7.0), 21.0),
    "measures.bins._sorted_sums": lambda: (VALUE, COUNT, POSITIVES, 3, np.zeros((3, 3))),
    "measures.bins._column_sums": lambda: (TENTHS, CLASSES, np.zeros((3, 3, 4))),
    "measures.bins._column_sums: rows in the first bin": lambda: (TENTHS, CLASSES, np.zeros((3, 3, 2))),
    "resampling.multiclass_labels.thresholds": lambda: (TENTHS[2] * (1 - 1e-7), np.zeros(3, np.uint64)),
    "resampling.multiclass_labels.guide_words": lambda: (CUMULATIVE.astype(np.uint64), np.zeros(256, np.int64)),
    "resampling.vector_sums._labels_in_cells": lambda: (START, 1, 3, 2, TENTHS, OWN, 3, np.zeros((9, 4), np.int32)),
    "resampling.multiclass_labels.draw_classes": lambda: (
        *(STARTS, 3, CUMULATIVE.astype(np.uint64), np.zeros(256, np.int64)),
        *(np.zeros(5, np.uint64), np.zeros(5, np.int64)),
    ),
    "resampling.multiclass_labels.draw_classes: many classes": lambda: (
        *(np.arange(20, dtype=np.uint64) * START, 3, (np.linspace(0.05, 1, 400) ** 2 * 2.0**63).astype(np.uint64)),
        *(np.zeros(256, np.int64), np.zeros(20, np.uint64), np.zeros(20, np.int64)),
    ),
    "resampling.multiclass_labels._labels": lambda: (START, 1, 3, TENTHS, np.zeros((4, 6), np.int64)),
    "resampling.multiclass_pairs.draw_rows": lambda: (START, np.zeros(50, np.int64)),
    "resampling.vector_sums._count_rows": lambda: (START, 1, 3, np.zeros((4, 6), np.uint8)),
    "resampling.vector_sums._add_residuals": lambda: (
        *(np.arange(24, dtype=np.uint8).reshape(4, 6) % 5, TENTHS, CLASSES, SHARED, 1, np.zeros((9, 4))),
    ),
    "resampling.vector_sums._add_residuals: rows of one cell": lambda: (
        *(np.arange(80, dtype=np.uint8).reshape(8, 10) % 5, SIMPLEX[:10], ONE_CELL[:, 0], ONE_CELL, 2),
        np.zeros((6, 8)),
    ),
    "resampling.vector_sums._subtract": lambda: (np.arange(24.0).reshape(8, 3), VALUE[:8], np.zeros(3)),
    "resampling.multiclass_pairs._classes_of_rows": lambda: (
        START,
        TENTHS,
        CLASSES[::-1].copy(),
        np.zeros(6, np.int64),
    ),
    "resampling.class_samples._positives": lambda: (CLASSES, CELL_OF_TENTHS, np.ones(6), 1, np.ones(3)),
    "resampling.class_samples._counts": lambda: (
        *(CLASSES, CLASSES, CELL_OF_TENTHS, np.ones(6), 1, np.ones(3), np.ones(3)),
    ),
    "measures.gce._bin_below": lambda: (0.4, np.array([0.3, 0.4, 0.9, np.inf])),
    "measures.gce._even_sums": lambda: (VECTORS, 4, 0.01),
    "measures.gce._errors": lambda: (
        *(VECTORS, np.array([[0, 1, 2], [2, 0, 1]]), np.full(3, -1), 0.01),
        *(np.array([[1.0, 1], [2, 0], [1, 1]]), np.array([[0.5, 1], [0.85, 0], [0.25, 0.396]])),
        *(np.array([[0.5, 1], [0.6, np.inf], [0.25, 0.396]]), np.empty((0, 0), np.int64)),
        *(np.array([[1.0, 0.5], [0.2, 0], [1, 1]]), np.array([1.0, 2, 0])),
    ),
    "measures.gce._errors: with places": lambda: (
        *(VECTORS, np.array([[0, 1, 2], [2, 0, 1]]), np.full(3, -1), 0.01),
        *(np.array([[1.0, 1], [2, 0], [1, 1]]), np.array([[0.5, 1], [0.85, 0], [0.25, 0.396]])),
        *(np.array([[0.5, 1], [0.6, np.inf], [0.25, 0.396]]), np.array([[0, 2, 4], [1, 6, 6], [6, 2, 5]])),
        *(np.array([[1.0, 0.5], [0.2, 0], [1, 1]]), np.array([1.0, 2, 0])),
    ),
    "measures.gce._place": lambda: (0.6, 1, -1, 0.05, 2, np.array([[0.3, np.inf], [0.5, 0.7]]), 2),
    "measures.gce._place: below the threshold": lambda: (
        *(0.04, 1, -1, 0.05, 2, np.array([[0.3, np.inf], [0.5, 0.7]]), 2),
    ),
    "measures.simplex_cells._grow": lambda: (SIMPLEX, 4, False),
    "measures.simplex_cells._grow: at medians": lambda: (SIMPLEX, 4, True),
    "measures.simplex_cells._widest": lambda: (SIMPLEX, np.arange(3, 20)),
    "measures.simplex_cells._median": lambda: (SIMPLEX, np.arange(3, 20), 2),
    "measures.simplex_cells._part": lambda: (SIMPLEX, np.arange(30), 2, 0.5, np.zeros(30, np.int64)),
    "measures.regression_ce._gaussian_sums": lambda: (
        *(VALUE, VALUE, np.stack((COUNT, POSITIVES)), 0.5),
        calibstat.measures.regression_ce._expansion(),
    ),
    "measures.regression_ce._gaussian_sums: blocks without points or rows": lambda: (
        *(VALUE[::4].copy(), VALUE, np.stack((COUNT, POSITIVES)), 0.08),
        calibstat.measures.regression_ce._expansion(),
    ),
    "measures.regression_ce._moments": lambda: (VALUE, np.stack((COUNT, POSITIVES)), 0.5, 5, 16),
    "measures.regression_ce._at_points": lambda: (VALUE, np.sin(np.arange(2 * 5 * 4.0)).reshape(2, 5, 4), 0.5),
    "measures.regression_ce._add_block_and_below": lambda: (VALUE[4:7], VALUE, COUNT, 0.2, 2, 4, np.zeros(3)),
    "measures.regression_ce._add_above": lambda: (VALUE[4:7], VALUE, COUNT, 0.2, 2, 7, np.zeros(3)),
    "measures.regression_ce._epanechnikov_sums": lambda: (VALUE, VALUE, np.stack((COUNT, POSITIVES)), 0.15),
    "measures.regression_ce._epanechnikov_sums: rows in a block without points": lambda: (
        *(VALUE[2::5].copy(), VALUE, np.stack((COUNT, POSITIVES)), 0.15),
    ),
    "classical.condensed_logits._add_moments": lambda: (
        *(np.log(INSIDE / (1 - INSIDE)), COUNT, POSITIVES, np.array([0, 4]), np.array([3, M]), np.zeros((2, 2, 12))),
    ),
    "classical.logistic.log_likelihood": lambda: (
        *(np.log(INSIDE / (1 - INSIDE)), np.vander(INSIDE, 3, increasing=True), COUNT, POSITIVES),
        *(np.array([0.1, -0.2]), np.zeros(2), np.zeros((2, 2))),
    ),
    "classical.t_cal.debiased_squares": lambda: (
        *(np.array([0, 0, 2]), np.array([M, 2, M]), np.array([0, 1, 3]), VALUE, COUNT, POSITIVES, np.zeros(2)),
    ),
    "measures.skce._row": lambda: (COLUMNS, DEVIATIONS, 12, 2, (True, True, 0.5), np.empty(10)),
    "measures.skce._row: Laplace kernel": lambda: (COLUMNS, DEVIATIONS, 12, 2, (False, True, 0.5), np.empty(10)),
    "measures.skce._row: of total variation": lambda: (COLUMNS, DEVIATIONS, 12, 2, (False, False, 0.5), np.empty(10)),
    "measures.skce._begin": lambda: (3, 300),
    "measures.skce._add_pairs": lambda: (COLUMNS, DEVIATIONS, 9, (False, False, 0.5), 0, 2, np.zeros(2)),
    "measures.skce._add_matched": lambda: (
        *(COLUMNS, DEVIATIONS, np.arange(60, dtype=np.uint8).reshape(3, 20) // 2 % 3, 9, (False, True, 0.5)),
        *(0, 2, np.zeros(3)),
    ),
    "measures.skce._agreeing": lambda: (np.arange(9), np.arange(9, dtype=np.uint8) % 2, np.uint8(1)),
    "measures.skce._add_smoothed": lambda: (COLUMNS, 9, (False, False, 0.5), 0, 2, np.zeros((3, 20))),
    "resampling.row_sums._add_rows": lambda: (
        *(np.arange(30, dtype=np.uint8).reshape(5, 6) % 4, np.array([0, 2, 2, 1, 2, 0]), np.linspace(-1, 1, 6)),
        np.zeros((5, 3)),
    ),
    "resampling.weighted_rows._add_labels": lambda: (
        *(START, np.full(3, 2**62, np.uint64), CELL_OF_TENTHS, np.ones(6), np.ones(3)),
    ),
    "resampling.weighted_rows._add_rows": lambda: (
        *(np.ones(6, np.int32), CELL_OF_TENTHS, np.ones(6), np.ones(6), np.ones(3), np.ones(3)),
    ),
    "resampling.weighted_rows._add_rows_and_labels": lambda: (
        *(
            START,
            np.ones(6, np.int32),
            np.full(3, 2**62, np.uint64),
            CELL_OF_TENTHS,
            np.ones(6),
            np.ones(3),
            np.ones(3),
        ),
    ),
    "resampling.row_sums.draw_units": lambda: (START, np.zeros(7, np.int32)),
    "resampling.model_pair._swap": lambda: (
        *(START, np.arange(6) // 2, np.arange(12).reshape(6, 2) % 5, np.arange(12.0).reshape(6, 2) % 2, np.ones(6)),
        *(np.zeros(3, np.int64), np.zeros((2, 5)), np.zeros((2, 5))),
    ),
    "resampling.row_sums.signs": lambda: (START, 5, 3, 20),
    "data.validation._are_good": lambda: (OUTCOMES, PREDICTIONS),
    "data.sample._collapse": lambda: (KEY, np.zeros(30, np.uint64), np.zeros(30), np.zeros(30)),
    "data.sample._merge": lambda: (
        *(VALUE[::2].copy(), COUNT[::2].copy(), POSITIVES[::2].copy(), VALUE[1:].copy(), COUNT[1:].copy()),
        *(POSITIVES[1:].copy(), np.zeros(20), np.zeros(20), np.zeros(20)),
    ),
    "data.cell_sums._add_up": lambda: (CELL, VALUE, COUNT, POSITIVES, np.zeros((3, 3))),
    "measures.bins.bin_of": lambda: (0.28, 25),
    "measures.bins._number": lambda: (VALUE, 7, np.zeros(M, np.int64)),
    "measures.bins._quantile_cells": lambda: (COUNT, 7),
    "measures.bins._row_sums": lambda: (
        *(OUTCOMES, PREDICTIONS, 7, np.zeros((3, 7))),
        *(np.zeros(BLOCK, np.int32), np.zeros(14, np.int64), np.zeros(14)),
    ),
    "measures.binned._squared_error": lambda: (CELL, VALUE, COUNT, POSITIVES, True, np.zeros((4, 3))),
    "measures.cumulative._extremes": lambda: (RESIDUAL,),
    "measures.cumulative._add_sums": lambda: (np.zeros((3, 5)), RESIDUALS),
    "measures.cumulative._add_one_side": lambda: (np.zeros((4, 5)), RESIDUALS, -1.0),
    "measures.kernel_ce._add_pairs": lambda: (np.zeros((3, 5)), VALUE, RESIDUALS, 0.5),
    "resampling.one_pass.add_weighted": lambda: (np.zeros(5), VALUE, RESIDUALS),
    "resampling.one_pass._add_in_cells": lambda: (np.zeros((3, 5)), CELL, RESIDUALS),
    "measures.lower_and_upper_distance._least_cut": lambda: (
        *(VALUE, COUNT / COUNT.sum(), POSITIVES / COUNT.sum()),
        np.append(np.arange(0, VALUE.size, 2), VALUE.size),
    ),
    "measures.interval_ce._cheapest": lambda: (VALUE, COUNT, POSITIVES),
    "measures.interval_ce._cheapest: blocks that are skipped": lambda: (
        *(APART, np.full(APART.size, 1 / APART.size), (APART + 0.1 * (-1.0) ** np.arange(APART.size)) / APART.size),
    ),
    "measures.interval_ce._windows": lambda: (VALUE, RESIDUAL, 0.25),
    "measures.interval_ce._windows_witness": lambda: (VALUE, RESIDUAL, 0.25),
    "bounds.laplace._add_squares": lambda: (
        *(VALUE[::-1].copy(), np.stack([RESIDUAL, VALUE, COUNT, -VALUE, POSITIVES]), np.zeros(5)),
    ),
    "bounds.laplace._add_neighbours": lambda: (VALUE, RESIDUAL, 0.5, RESIDUAL.copy()),
    "bounds.laplace.laplace_smoothed_within": lambda: (np.arange(M) // 3, VALUE, RESIDUAL, 0.5),
    "resampling.folds._words": lambda: (START, 7),
    "bounds.laplace.signed_pairs": lambda: (
        *(VALUE, RESIDUAL, np.arange(M), np.arange(70 * (M // 8 + 1), dtype=np.uint8).reshape(70, -1), 0.5),
    ),
    "bounds.laplace._near_pairs": lambda: (RESIDUAL, VALUE, VALUE[::-1].copy(), 0.01),
    "bounds.laplace._pairs": lambda: (RESIDUAL, VALUE, VALUE[::-1].copy(), np.arange(M, 0, -1), 0.2),
    "bounds.square_bound._largest_products": lambda: (VALUE, RESIDUAL, np.arange(M)),
    "measures.kernel_ce._gaussian_smoothed": lambda: (VALUE, RESIDUAL, 0.5),
    "measures.post_processing_gap._add_up": lambda: (NODE.copy(), CHILD, 3),
    "measures.post_processing_gap._move": lambda: (NODE.copy(), 2, 0.25),
    "measures.post_processing_gap._part": lambda: (NODE.copy(), CHILD.copy(), PATH, SIDE, 5),
    "measures.post_processing_gap._part: the path ends on the right": lambda: (
        *(NODE.copy(), CHILD.copy(), PATH[:4], np.array([1, 1, 0, 1], np.int8), 4),
    ),
    "measures.post_processing_gap._find_zero": lambda: (
        *(NODE.copy(), CHILD, 1, 3.0, 2.0, 0.0, 1.0, np.zeros(6, np.int32), np.zeros(6, np.int8)),
    ),
    "measures.post_processing_gap._find_zero: on the left": lambda: (
        *(NODE.copy(), CHILD, 1, 3.0, -40.0, 0.0, 1.0, np.zeros(6, np.int32), np.zeros(6, np.int8)),
    ),
    "measures.post_processing_gap._limit_rises": lambda: (VALUE, COUNT, np.cos(np.arange(float(M))) ** 2, M - 1),
    "measures.post_processing_gap._improved": lambda: (VALUE, COUNT, POSITIVES),
    "measures.post_processing_gap._improved: predictions without rows": lambda: (
        *(VALUE, COUNT * (np.arange(M) % 3 > 0), POSITIVES * (np.arange(M) % 3 > 0)),
    ),
    "measures.smooth_ce._rise": lambda: (HEAP.copy(), 4, 0.7, 0.1),
    "measures.smooth_ce._rise: to the head": lambda: (HEAP.copy(), 6, 0.95, 0.1),
    "measures.smooth_ce._sink": lambda: (HEAP.copy(), 6, 0.1, 0.3),
    "measures.smooth_ce._sink: above its children": lambda: (HEAP.copy(), 6, 0.85, 0.3),
    "measures.smooth_ce._fit_rising": lambda: (VALUE, np.cumsum(np.abs(RESIDUAL)) * (1 - 2 * VALUE) ** 2),
    "measures.smooth_ce._fit_rising: at the same place twice": lambda: (
        *(np.linspace(0, 1, 6), np.array([0.25, 0.25, 0.5, 0.125, 0.125, 0.5])),
    ),
    "measures.smooth_ce._largest_weight": lambda: (VALUE, np.round(8 * RESIDUAL)),
    "measures.smooth_ece._share_out": lambda: (VALUE, RESIDUAL, np.zeros(80)),
    "measures.smooth_ece.integral": lambda: (RESIDUAL,),
    "measures.losses._squared_error": lambda: (VALUE, COUNT, POSITIVES),
    "measures.losses._negative_log_likelihood": lambda: (VALUE[1:-1], COUNT[1:-1], POSITIVES[1:-1]),
    "resampling.poisson_binomial._of_ties": lambda: (3, CELL, INSIDE, MANY),
    "resampling.poisson_binomial._of_ties: more room is needed": lambda: (
        *(3, np.arange(3), np.array([0.3, 0.5, 0.7]), np.full(3, 2000.0)),
    ),
    "resampling.poisson_binomial._add_rows": lambda: (
        *(CELL, VALUE, COUNT.astype(np.int64), np.array([0, 2, 1]), np.array([0, 1, 3, 5])),
        *(np.array([1.0, 0.25, 0.75, 0.5, 0.5]), *np.zeros((2, 40)), np.zeros(3, np.int64), np.zeros(4, np.int64)),
        np.zeros(40),
    ),
    "inference.auditing.other_rows._starts": lambda: (VALUE, COUNT, 4),
    "inference.auditing.other_rows._of_strata": lambda: (
        *(INSIDE, np.floor(COUNT / 2), COUNT - np.floor(COUNT / 2), np.array([0, 2, 5, 6, M]), POSITIVES),
    ),
    "inference.auditing.other_rows._of_strata: a large stratum": lambda: (
        *(INSIDE, 9 * COUNT, COUNT, np.array([0, 4, M]), COUNT),
    ),
    "inference.auditing.other_rows._alike": lambda: (0.305, 0.302, 3.0, 5.0, 4.0),
    "inference.auditing.other_rows._step": lambda: (20.0, 50.0, 30.0, 7.0),
    "inference.auditing.other_rows._positives": lambda: (INSIDE[:4], COUNT[:4]),
    "inference.auditing.other_rows._of_many": lambda: (200.0, 50.0, 30.0, 0.7),
    "inference.auditing.other_rows._leaning": lambda: (np.array([0.2, 0.5, 0.3]), 0.7),
    "inference.auditing.other_rows._part": lambda: (1, *PARTS_OF_GROUP, 0.7),
    "inference.auditing.other_rows._part: a large stratum": lambda: (2, *PARTS_OF_GROUP, 0.7),
    "inference.auditing.other_rows._moments": lambda: (*PARTS_OF_GROUP, -0.7),
    "inference.auditing.other_rows._tails": lambda: (np.array([0.2, 0.5, 0.3]), -1.0, 0.3),
    "inference.auditing.other_rows._appended": lambda: (VALUE.copy(), M - 1, COUNT[:3].copy()),
    "inference.auditing.other_rows._sum": lambda: (*PARTS_OF_GROUP, 0.7),
    "inference.auditing.other_rows._sum: negligible ends": lambda: (
        *(np.array([0, 3, 7]), np.array([1e-14, 1.0, 1e-14, 1e-12, 0.5, 0.5, 1e-12]), np.array([1.0, 3.0])),
        *(np.empty((0, 3)), 0.7),
    ),
    "resampling.poisson_binomial.convolve": lambda: (np.array([0.2, 0.8]), np.array([0.1, 0.4, 0.5])),
    "resampling.poisson_binomial._binomial_pmf": lambda: (50.0, 0.3),
    "resampling.streams.word": lambda: (START, 7),
    "resampling.streams.mix": lambda: (START,),
    "resampling.streams.first_state": lambda: (START, 1, 7),
    "resampling.streams.next_uniform": lambda: (np.array([START]),),
    "bounds.curves.noise_in_cells._expectations": lambda: (12, 0.3, 0.4, 1, np.linspace(0, 1, 9), 3),
    "bounds.curves.noise_in_cells._log_expectation": lambda: (12, 0.3, np.exp(-0.4 * np.abs(np.arange(13) - 3.6)), 0.4),
    "bounds.curves.noise_in_cells._log_expectation: no event": lambda: (12, 0.3, np.linspace(1, 0.1, 13), 0.0),
    "bounds.curves.noise_in_cells._log_expectation: all events": lambda: (12, 0.3, np.linspace(1, 0.1, 13), 1.0),
    "bounds.curves.noise_in_cells._log_expectation: of hardly anything": lambda: (12, 0.3, np.full(13, 1e-300), 0.4),
    "bounds.curves.noise_in_cells._by_jensen": lambda: (12, 0.3, 0.4, 2, 0.7),
    "bounds.curves.noise_in_cells._by_jensen: at the prediction": lambda: (12, 0.3, 0.4, 2, 0.3),
    "bounds.curves.noise_in_cells._by_jensen: near the prediction": lambda: (12, 0.3, 0.4, 1, 0.31),
    "bounds.curves.linked_cells._losses": lambda: (
        *(VALUE, COUNT, np.array([0, 4, M]), np.array([COUNT[:4].sum(), COUNT[4:].sum()]), 2, np.linspace(0, 1, 5)),
    ),
    "bounds.curves.linked_cells._next": lambda: (
        *(np.linspace(0, 1, 5), noise().even.bound, np.zeros(5), *(2 * [noise().even.fall[:-1]]), noise().even.bend),
        *(noise().kappa[:-1], 0.8, np.outer(np.arange(9), [0.3, 0.1, 0.0, 0.1, 0.3]), LEVELS.level),
        *Jumps.of(LEVELS, 1).arrays[1:],
    ),
    "bounds.curves.linked_cells._next: some rises are too wide": lambda: (
        *(np.linspace(0, 1, 17), near().even.bound, np.zeros(17), *(2 * [near().even.fall[:-1]])),
        *(near().even.bend, near().kappa[:-1], 0.3, np.outer(np.arange(9), np.abs(NEAR.level - 0.4))),
        *(NEAR.level, *Jumps.of(NEAR, 1).arrays[1:]),
    ),
    "bounds.curves.linked_cells._add_far_jumps": lambda: (
        *(np.linspace(0, 1, 5), np.zeros(5), noise().any.bound, *(2 * [noise().any.fall[:-1]]), 0.3),
        *(np.array([0.3, 0.1, 0.0, 0.1, 0.3]), LEVELS.level, *Jumps.of(LEVELS, 2).arrays),
    ),
    "bounds.curves.linked_cells._add_far_jumps: some jumps are near": lambda: (
        *(np.linspace(0, 1, 17), np.zeros(17), near().any.bound, *(2 * [near().any.fall[:-1]]), 0.6),
        *(np.abs(NEAR.level - 0.4), NEAR.level, *Jumps.of(NEAR, 2).arrays),
    ),
    "resampling.streams._binomial_by_inversion": lambda: (0.8, 20.0, 0.3),
    "resampling.streams._stirling_tail": lambda: (12.0,),
    "resampling.streams._stirling_tail: of a small number": lambda: (3.0,),
    "resampling.streams.binomial": lambda: (np.array([START]), 500.0, 0.3),
    # the first word is mix(0) = 0
    "resampling.streams.binomial: no rows": lambda: (np.array([START]), 0.0, 0.3),
    "resampling.streams.binomial: a small mean of the other outcome": lambda: (np.array([START]), 20.0, 0.7),
    "resampling.streams.binomial: a proposal is accepted by its bound": lambda: (np.array([4], np.uint64), 500.0, 0.3),
    "resampling.streams.binomial: a proposal is rejected by its bound": lambda: (np.array([10], np.uint64), 500.0, 0.3),
    "resampling.streams.binomial: the first proposal is below 0": lambda: (
        np.zeros(1, np.uint64) - GOLDEN,
        500.0,
        0.3,
    ),
    "resampling.binary_labels._labels_of_rows": lambda: (START, THRESHOLD, np.zeros(M)),
    "resampling.binary_labels._fill_rows": lambda: (
        *(THRESHOLD, VALUE, 30.0, 7, np.ones(M), STARTS, np.zeros((M, 5))),
    ),
    "resampling.binary_labels._fill_weighted": lambda: (
        *(THRESHOLD, VALUE, 30.0, 7, COUNT, np.linspace(1, 2, 30), STARTS, np.zeros((M, 5))),
    ),
    "resampling.binary_labels._fill_tied": lambda: (
        *(THRESHOLD, VALUE, 30.0, 7, MIXED, VALUE, *tables(), STARTS, np.zeros((M, 5))),
    ),
    "resampling.binomial_tables._fill_distribution": lambda: (120.0, 0.3, np.zeros(61)),
    "resampling.binomial_tables._fill_tables": lambda: (
        *(MANY, VALUE, 61 * (np.arange(M) > 2), np.zeros(M, np.int64), np.zeros(M + 1, np.int64)),
        *(np.zeros(61 * M), *np.zeros((2, M + 1), np.int64), np.zeros(150 * M, np.int64)),
    ),
    "resampling.binary_cells._cells_from_distributions": lambda: (
        *(np.arange(20, dtype=np.uint64) * START, 1, np.array([0, 2]), np.array([0, 3, 5])),
        *(np.array([0.2, 0.4, 0.4, 0.5, 0.4]), np.zeros(5), np.zeros(512, np.int64), 30.0, ROWS / 60),
        np.zeros((3, 20)),
    ),
    "resampling.binary_cells._cells_from_distributions: steps after the guide": lambda: (
        *(np.arange(20, dtype=np.uint64) * START, 1, np.array([0, 2]), np.array([0, 300, 900])),
        *(np.full(900, 1 / 512), np.zeros(900), np.zeros(512, np.int64), 30.0, ROWS / 60, np.zeros((3, 20))),
    ),
    "resampling.one_pass.share": lambda: (np.zeros((9, 2)), VALUE, np.stack([RESIDUAL, -RESIDUAL], axis=1)),
    "resampling.one_pass_pairs._add_block": lambda: (
        *(np.array([START, START]), np.array([3000, 900]), 2000, np.arange(900) // 3, np.sin(np.arange(900.0))),
        *(np.cos(np.arange(300.0)), True, np.ones(1024 * 16, np.int32), np.ones((900, 2))),
    ),
    "resampling.row_counts.count_block": lambda: (np.array([START]), 3000, 1024, 2000, np.ones(2048, np.int32), 1, 1),
    "resampling.binary_pairs._pairs": lambda: (
        *(START, CELL_OF_ROW, (CELL_OF_ROW % 2).astype(np.float64), np.zeros(M), np.zeros(M)),
    ),
    "resampling.binary_pairs._pairs: no ties": lambda: (START, np.arange(30), OUTCOMES, *np.zeros((2, 30))),
    "resampling.binary_pairs._sums": lambda: (START, CELL_OF_ROW, np.sin(CELL_OF_ROW), VALUE, np.zeros(M)),
    "resampling.binary_pairs._sums: no ties": lambda: (START, np.arange(30), OUTCOMES, PREDICTIONS, np.zeros(30)),
    "resampling.binary_pairs._relabelled_rows": lambda: (
        *(START, CELL_OF_ROW, THRESHOLD_OF_ROW, np.zeros(M), np.zeros(M)),
    ),
    "resampling.binary_pairs._redraw": lambda: (START, THRESHOLD_OF_ROW, np.zeros(50, np.uint32)),
    "resampling.binary_pairs._cells": lambda: (START, MANY, VALUE, np.zeros(M), np.zeros(M)),
    "resampling.binary_cells._rows_in_cells": lambda: (
        *(STARTS.copy(), 3, ROWS, THRESHOLD_OF_ROW, True),
        *np.zeros((3, 8, ROWS.size)),
    ),
    "resampling.binary_cells._rows_in_cells: with their outcomes": lambda: (
        *(STARTS.copy(), 3, ROWS, THRESHOLD_OF_ROW >> np.uint64(13) | np.uint64(2**62), False),
        *np.zeros((3, 8, ROWS.size)),
    ),
    "resampling.binary_cells._sum_rows_and_labels": lambda: (START, 50, THRESHOLD_OF_ROW),
    "resampling.binary_cells._sum_rows": lambda: (START, 50, THRESHOLD_OF_ROW >> np.uint64(13) | np.uint64(2**62)),
}
