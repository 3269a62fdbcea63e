"""Tables of two models on the same rows, with weights and in clusters, and how often their rows are drawn."""

import numpy as np
from row_examples import KEY, drawn_units

import calibstat as cs
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.resampling import Draws, Stage
from calibstat.residuals.stack import Stack

N = 30
DRAWS = Draws(KEY, 8)


def tables(weighted=False, unit=None):
    """Two models on the same rows, one over 3 cells and one over 5."""
    random = np.random.default_rng(2)
    p, q = random.random((2, N)).round(1)
    y, weight = (random.random(N) < p).astype(float), random.lognormal(0, 1, N) if weighted else None

    def table(v, cells):
        sample = cs.Sample.from_rows(y, v)
        cell = np.minimum((sample.value * cells).astype(np.int64), cells - 1)
        return RowTable.of_rows(LabelledRows(y, v, weight), sample, cell, unit)

    return [table(p, 3), table(q, 5)]


UNEQUAL = np.append(np.arange(N - 2) // 4, [7, 8])  # clusters of 4, 1 and 1 rows
CASES = {"rows": (), "weights": (True,), "clusters": (False, UNEQUAL), "both": (True, UNEQUAL)}


def stack_of(case):
    return Stack(tables(*CASES[case]), DRAWS, Stage.COMPARE)


def times_drawn(stack):
    """How often each row is drawn in each resample."""
    times, units = np.zeros((stack.draws.n, stack.rows.n_rows)), stack.rows.units
    for r in range(stack.draws.n):
        for unit in drawn_units(r, units.max() + 1, stack.stage):
            times[r, units == unit] += 1
    return times


def weighted(stack):
    weight = stack.rows.sample_weight
    return times_drawn(stack) * (1 if weight is None else weight)
