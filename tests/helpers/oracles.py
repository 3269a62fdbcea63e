"""Slow versions of what is tested, straight from definitions, and the small samples on which they are run."""

from functools import cache

import numpy as np
from hypothesis import strategies as st
from row_strategies import rows
from scipy import stats
from scipy.optimize import linprog, nnls
from scipy.sparse import coo_array

import calibstat as cs
from calibstat.resampling.streams import GOLDEN

TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


@st.composite
def clusters(draw):
    """Up to 12 rows, whose predictions are tight clusters about a few places."""
    n = draw(st.integers(1, 12))
    place = draw(st.lists(st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0]), min_size=n, max_size=n))
    away = draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n))
    size = draw(st.sampled_from([1e-9, 1e-5, 1e-2]))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    return np.array(y), np.clip(np.array(place) + size * np.array(away), 0, 1)


def samples():
    """Samples of up to 12 rows: ties, exact 0 and 1, constant predictions, one row, tight clusters."""
    return st.one_of(rows(max_size=12), clusters()).map(lambda data: cs.Sample.from_rows(*data))


def bin_number(v, bins):
    """The bin of each value, from 0: bin b is (b / bins, (b + 1) / bins], the first closed at 0.

    Edges are doubles, for values of single precision rounded like them.
    """
    edge = np.arange(bins + 1) / bins
    edge = edge.astype(np.float32).astype(np.float64) if np.asarray(v).dtype == np.float32 else edge
    return np.maximum(np.searchsorted(edge, np.asarray(v, np.float64)) - 1, 0)


def solved(*arguments, **options):
    found = linprog(*arguments, method="highs-ds", options=TIGHT, **options)
    assert found.status == 0, found.message
    return found.fun


def cheapest_coupling(sample, points):
    """Least mean |u - v| over joint laws of (u, v, y), u among these points, with E[y | u] = u.

    One variable for each prediction, outcome and point; a row for the mass of each (v, y), one for each point.
    """
    m, k, n = sample.value.size, len(points), sample.count.sum()
    v, y, u = (index.ravel() for index in np.meshgrid(np.arange(m), np.arange(2), np.arange(k), indexing="ij"))
    x = np.arange(v.size)
    row, column = np.concatenate([2 * v + y, 2 * m + u]), np.concatenate([x, x])
    data = np.concatenate([np.ones(x.size), y - points[u]])
    mass = np.stack([sample.count - sample.positives, sample.positives], axis=1).ravel() / n
    equal = coo_array((data, (row, column)), shape=(2 * m + k, x.size)).tocsr()
    cost = np.abs(points[u] - sample.value[v])
    return solved(cost, A_eq=equal, b_eq=np.concatenate([mass, np.zeros(k)]), bounds=(0, None))


def on_grid(sample, grid):
    return np.union1d(np.arange(grid + 1) / grid, sample.value)


@cache
def partitions(size):
    """All ways to label things so that each new label is the smallest unused one: 877 for 7 things."""
    found = [()]
    for _ in range(size):
        found = [(*label, new) for label in found for new in range(max(label, default=-1) + 2)]
    return found


def cheapest_merging(sample):
    """Least mean |v - mean outcome of its cell| over all partitions of the distinct predictions."""
    best = np.inf
    for label in partitions(sample.value.size):
        cell = np.array(label)
        mean = np.bincount(cell, sample.positives) / np.bincount(cell, sample.count)
        best = min(best, sample.count @ np.abs(sample.value - mean[cell]))
    return best / sample.count.sum()


def best_weight(sample):
    """Largest mean of the residuals weighted by w, abs(w) <= 1, abs(w - w') <= abs(v - v') for all pairs."""
    m = sample.value.size
    i, j = np.nonzero(~np.eye(m, dtype=bool))
    below = np.eye(m)[i] - np.eye(m)[j]
    apart = np.abs(sample.value[i] - sample.value[j])
    return -solved(-sample.residual, A_ub=below, b_ub=apart, bounds=(-1, 1)) if m > 1 else abs(sample.residual[0])


def cheapest_intervals(sample):
    """Least sum over intervals of abs(residual sum) + width * rows, over n, interval by interval."""
    cost = [0.0]
    for j in range(sample.value.size):
        cost.append(
            min(
                cost[i]
                + abs(sample.residual[i : j + 1].sum())
                + sample.count[i : j + 1].sum() / sample.count.sum() * (sample.value[j] - sample.value[i])
                for i in range(j + 1)
            )
        )
    return cost[-1]


def best_update(sample):
    """Largest fall of the Brier score by w = kappa - id, 1-Lipschitz, with v + w in [0, 1].

    The sum of 2 s w - c w² is that of s² / c - c (w - s / c)², so x = sqrt(c) (w - s / c) is the point of least norm
    under linear conditions G x >= h. It comes from the residual of a non-negative least squares problem (Lawson,
    Hanson, Solving least squares problems, chapter 23).
    """
    m, count, s = sample.value.size, sample.count, sample.positives - sample.count * sample.value
    step = np.diff(np.eye(m), axis=0)
    conditions = np.concatenate([step, -step, np.eye(m), -np.eye(m)])
    least = np.concatenate([-np.diff(sample.value), -np.diff(sample.value), -sample.value, sample.value - 1])
    h = least - conditions @ (s / count)
    system = np.vstack([(conditions / np.sqrt(count)).T, h])
    target = np.append(np.zeros(m), 1.0)
    rest = system @ nnls(system, target, maxiter=10_000)[0] - target
    x = -rest[:-1] / rest[-1]
    return float((s**2 / count).sum() - x @ x) / count.sum()


def unbinned(sample):
    return np.abs(sample.residual).sum()


def splitmix_words(starts, size):
    """The first `size` words of every stream, shape (len(starts), size), by the published recurrence in plain numpy."""
    with np.errstate(over="ignore"):
        state = np.asarray(starts, np.uint64)[:, None] + np.arange(1, size + 1, dtype=np.uint64) * GOLDEN
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def follows(drawn, pmf, false_alarm=1e-5):
    """Exact binomial limits on the frequency of every value, Bonferroni over the values; `pmf` starts at value 0."""
    observed = np.bincount(np.asarray(drawn, np.int64), minlength=len(pmf))
    if observed.size > len(pmf):
        return False
    tail = false_alarm / len(pmf) / 2
    low = stats.binom.ppf(tail, len(drawn), pmf)
    high = stats.binom.isf(tail, len(drawn), pmf)
    return bool(np.all((low <= observed) & (observed <= high)))
