"""Tables of two models on the same rows, with weights and in clusters, and how often their rows are drawn."""

import numpy as np
from row_examples import KEY, drawn_units

import calibstat as cs
from calibstat.bounds.residual_tables import LabelledRows, RowTable
from calibstat.inference.comparing.resamples import resamples_of
from calibstat.resampling import Draws, Stream

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


def tables_of(case):
    return tables(*CASES[case])


def resampled(tables, of=np.copy, draws=DRAWS):
    """A function of the sums of each table, of all resamples, and these, which the tables share."""
    return resamples_of(tables, [of] * len(tables), draws, Stream.COMPARE)


def times_drawn(table):
    """How often each row is drawn in each resample."""
    times = np.zeros((DRAWS.n, table.n_rows))
    for r in range(DRAWS.n):
        for unit in drawn_units(r, table.units.max() + 1, Stream.COMPARE):
            times[r, table.units == unit] += 1
    return times


def weighted(table):
    weight = table.sample_weight
    return times_drawn(table) * (1 if weight is None else weight)
