"""One side of measures: slow formulas, no rise along flips of labels, the exact null law, where they are largest."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import PREDICTION, rows
from scipy.stats import norm

import calibstat as cs
from calibstat.data.weighted_sample import as_weights, weighted_sample
from calibstat.inference.p_values import tie
from calibstat.measures.components.deviations import Diagnostics
from calibstat.measures.kinds.one_sided import one_side_of

SIDES = ("over", "under")
SIGN = {"over": -1, "under": 1}
NAMES = ("omnibus", "mean", "ks", "kuiper", "ece")
CERTAIN = {"over": 1.0, "under": 0.0}  # the prediction of which one outcome is impossible


def side_of(name, side, **options):
    return one_side_of(cs.MEASURES[name](**options), side)


# --- slow formulas, one row and one cell after the other --------------------------------------------------------------


def events_beyond(y, p, side):
    """Return sign times residual of each row, ascending by prediction, equal ones as one."""
    values = sorted(set(p.tolist()))
    return [SIGN[side] * sum(y[i] - p[i] for i in range(y.size) if p[i] == v) for v in values]


def slow_mean(y, p, side):
    return sum(events_beyond(y, p, side)) / y.size


def slow_ks(y, p, side):
    """The largest sum over beginnings and ends of the range, the empty ones among them."""
    each = events_beyond(y, p, side)
    return max(max(sum(each[:k]), sum(each[k:])) for k in range(len(each) + 1)) / y.size


def slow_kuiper(y, p, side):
    each = events_beyond(y, p, side)
    return max(sum(each[i:j]) for i in range(len(each) + 1) for j in range(i, len(each) + 1)) / y.size


def slow_ece(y, p, side, bins=15):
    total = 0.0
    for b in range(bins):
        inside = [i for i in range(y.size) if b / bins < p[i] <= (b + 1) / bins or (b == 0 and p[i] == 0)]
        total += max(SIGN[side] * sum(y[i] - p[i] for i in inside), 0.0)
    return total / y.size


def times(v, c):
    """Half by information and half by rank, where each distinct prediction lies between 0 and 1."""
    information = c * v * (1 - v)
    at = np.arange(v.size)
    told = [(information[at < j].sum() + information[j] / 2) / information.sum() for j in at]
    rank = [(c[at < j].sum() + c[j] / 2) / c.sum() for j in at]
    return (np.array(told) + rank) / 2


def positive_root(v, c, a, inside, side, both=False):
    """The signed root of the deviance of a cell, and 0 if it has the other sign; with `both` the root of any sign."""
    n, events, expected = c[inside].sum(), a[inside].sum(), (c * v)[inside].sum()
    if not both and SIGN[side] * (events - expected) <= 0:
        return 0.0
    half = events * math.log(events / expected) if events else 0.0
    half += (n - events) * math.log((n - events) / (n - expected)) if events < n else 0.0
    return math.sqrt(max(2 * half, 0.0))


def cells(v, c):
    """Every cell as its parts, whether it counts for M, and its predictions: the recipe's list, one after the other."""
    finest = np.minimum(np.floor(128 * times(v, c)), 127)
    information = float((c * v * (1 - v)).sum())
    found = []
    for k in (1, 2, 4, 8, 16, 32, 64, 128):
        if k > max(4, information):
            break
        width = 128 / k
        found += [(k, True, (finest >= i * width) & (finest < (i + 1) * width)) for i in range(k)]
        if 1 < k <= 64:
            found += [(k, False, (finest >= (i + 0.5) * width) & (finest < (i + 1.5) * width)) for i in range(k - 1)]
    for eighth in range(1, 8):
        found += [(2, False, finest < 16 * eighth), (2, False, finest >= 16 * eighth)]
    if v.size <= 32:
        found += [(v.size, False, np.arange(v.size) == j) for j in range(v.size)]
    return [cell for cell in found if cell[2].any()]


def slow_parts(v, c, a, side, both=False):
    """M, and G with the cell where it is attained."""
    scales, single = {}, []
    for k, counts, inside in cells(v, c):
        root = positive_root(v, c, a, inside, side, both)
        if counts:
            scales.setdefault(k, []).append(root**2)
        if k <= 64:
            single.append((-norm.logsf(positive_root(v, c, a, inside, side)) - math.log(k), inside))
    m = max((sum(z) - len(z) / 2) / math.sqrt(5 * len(z) / 4) for z in scales.values())
    return m, max(single, key=lambda each: each[0])


def sums(y, p):
    v, place = np.unique(p, return_inverse=True)
    inner = (v > 0) & (v < 1)
    return v[inner], np.bincount(place)[inner].astype(float), np.bincount(place, y)[inner]


def slow_omnibus(y, p, side, both=False):
    v, c, a = sums(y, p)
    if not v.size:
        return 0.0
    m, (g, _) = slow_parts(v, c, a, side, both)
    return math.log(math.exp(m - 1) + math.exp(g - 4))


SLOW = {"omnibus": slow_omnibus, "mean": slow_mean, "ks": slow_ks, "kuiper": slow_kuiper, "ece": slow_ece}


def slow(name, y, p, side):
    return np.inf if np.any((p == CERTAIN[side]) & (y != CERTAIN[side])) else SLOW[name](y, p, side)


def predictions(rng, n):
    """Predictions of one of eight kinds."""
    ends = rng.choice([0.0, 1.0, 1e-12, 1 - 1e-12], n)
    kinds = [rng.random(n), rng.beta(0.2, 0.2, n), rng.beta(0.05, 3, n), 1 - rng.beta(0.05, 3, n)]
    kinds += [rng.choice([0, 1e-12, 0.3, 0.5, 1], n), rng.choice(rng.random(7), n), np.round(rng.random(n), 2)]
    kinds.append(np.where(rng.random(n) < 0.2, ends, rng.random(n)))
    return kinds[rng.integers(len(kinds))]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_against_slow_formulas(name, side):
    rng = np.random.default_rng(5)
    for n in (1, 2, 3, 5, 20, 31, 60, 150):
        for _ in range(3):
            p = predictions(rng, n)
            y = (rng.random(n) < np.where(rng.random(n) < 0.5, p, rng.random())).astype(float)
            found = side_of(name, side).estimate(cs.Sample.from_rows(y, p))
            assert found == pytest.approx(slow(name, y, p, side), abs=1e-9, rel=1e-9)


@given(rows(), st.sampled_from(NAMES), st.sampled_from(SIDES))
def test_against_slow_formulas_of_hostile_rows(data, name, side):
    y, p = data
    p = np.where((p > 0) & (p < 1e-12), 1e-12, np.where((p < 1) & (p > 1 - 1e-12), 1 - 1e-12, p))
    found = side_of(name, side).estimate(cs.Sample.from_rows(y, p))
    assert found == pytest.approx(slow(name, y, p, side), abs=1e-8, rel=1e-8)


def test_beginnings_alone_miss_the_top_of_a_range():
    """Lower half more events than expected by 3, upper half fewer by 4: no beginning has fewer than expected."""
    y, p = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0]), np.array([0.2, 0.2, 0.3, 0.3, 0.8, 0.8, 0.8, 0.8, 0.8])
    sums_so_far = np.cumsum(events_beyond(y, p, "over"))
    assert side_of("ks", "over").estimate(cs.Sample.from_rows(y, p)) == pytest.approx(4 / 9)
    assert sums_so_far.max() == pytest.approx(1)  # 4 of the upper half less 3 of the lower


@pytest.mark.parametrize("name", NAMES)
def test_under_is_over_of_the_complement(name):
    """Of odd multiples of 1/1024, whose complement is exact, and none of which is an end of a bin."""
    rng, tried = np.random.default_rng(8), 0
    while tried < 40:
        n = int(rng.integers(1, 120))
        p = (2 * rng.integers(0, 512, n) + 1) / 1024
        at = times(*sums(np.ones(n), p)[:2]) * 128
        if name == "omnibus" and np.abs(at - np.rint(at)).min() < 1e-9:
            continue  # a cell holds its lower end, and not its upper one
        tried += 1
        y = (rng.random(n) < 0.5).astype(int)
        under = side_of(name, "under").estimate(cs.Sample.from_rows(y, p))
        assert under == pytest.approx(side_of(name, "over").estimate(cs.Sample.from_rows(1 - y, 1 - p)), abs=1e-11)


def chain(rng, p):
    """Labels from all 0 to all 1, one flip after the other, in one of four orders; shape (n + 1, n)."""
    u = rng.random(p.size)
    keys = (u, u / np.maximum(p, 1e-300), p, -p)  # the second passes through labels that are drawn from p
    rank = np.argsort(np.argsort(keys[rng.integers(4)]))
    return (np.arange(p.size + 1)[:, None] > rank).astype(float)


def rises(statistic, y, side):
    """How much a statistic rises at each flip that must not raise it, in ties of p-values."""
    found = np.array(statistic(y))
    before, after = (found[:-1], found[1:]) if side == "over" else (found[1:], found[:-1])
    with np.errstate(invalid="ignore"):
        return np.nan_to_num((after - before) / (tie(after) + 1e-300), nan=0.0)


def of_labels(measure, sample, place, weight):
    """Return the statistic of labels as draws compute it, from sums of residuals in cells."""
    if hasattr(measure, "between"):
        cell, of = None, measure.one_pass(sample.value, sample.count, sample.value).of
    else:
        cell, of = measure.of_residuals(sample)

    def statistic(y):
        positives = np.zeros((len(y), sample.value.size))
        for i, j in enumerate(place):
            positives[:, j] += weight[i] * y[:, i]
        residual = positives - sample.count * sample.value
        if cell is not None:
            residual = residual @ (cell[:, None] == np.arange(cell[-1] + 1))
        return of(residual / sample.count.sum())

    return statistic


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_no_flip_raises_it(name, weighted):
    """Not by a bit of rows that count equally; with weights by less than a tie of p-values. Over 2000 flips a side."""
    rng, flips = np.random.default_rng(9), 0
    while flips < 2000:
        n = int(rng.integers(2, 300))
        p = predictions(rng, n)
        weight = as_weights(10 ** rng.uniform(-6, 0, n), n) if weighted else np.ones(n)
        y = chain(rng, p)
        sample = weighted_sample(y[0], p, weight) if weighted else cs.Sample.from_rows(y[0], p)
        for side in SIDES:
            statistic = of_labels(side_of(name, side), sample, np.searchsorted(sample.value, p), weight)
            assert rises(statistic, y, side).max() <= (1 if weighted else 0)
        flips += n


def most_rise(statistic, n=30):
    """The largest rise of side "over" along five chains, of labels row by row."""
    rng, most = np.random.default_rng(3), 0.0
    for _ in range(5):
        p = rng.random(n)
        found = np.array([statistic(y, p) for y in chain(rng, p)])
        most = max(most, float(np.diff(found).max()))
    return most


def test_squared_roots_of_both_signs_or_smooth_components_would_rise():
    """Planted faults: cells with more events than expected count too, or the weights of both signs stay in."""

    def with_smooth(y, p):
        v, c, a = sums(y, p)
        smooth = Diagnostics.of(c, c * v / c.sum()).deviations(a[None]).smooth[0]
        return np.logaddexp(slow_omnibus(y, p, "over"), smooth)

    assert most_rise(lambda y, p: slow_omnibus(y, p, "over")) <= 1e-12
    assert most_rise(lambda y, p: slow_omnibus(y, p, "over", both=True)) > 0.1
    assert most_rise(with_smooth) > 0.1


# --- theorem 1 by enumeration ----------------------------------------------------------------------------------------

LABELS = np.array(np.meshgrid(*[[0, 1]] * 5)).reshape(5, -1).T


def chances(q):
    """The probability of each set of labels, of rows with these probabilities."""
    return np.prod(np.where(LABELS == 1, q, 1 - q), axis=1)


def after_any_history(rng, v, side):
    """The same where the probability of each row depends on the outcomes before it, and is never beyond v."""
    law = np.ones(len(LABELS))
    for i in rng.permutation(5):
        _, history = np.unique(LABELS[:, :i], axis=0, return_inverse=True)
        far = float(side == "over")
        share = rng.choice([0, 0, 0.3, 1, rng.random()], history.max() + 1)[history.ravel()]
        q = v[i] + share * (far - v[i])
        law *= np.where(LABELS[:, i] == 1, q, 1 - q)
    return law


def excess(statistic, v, side, rng):
    """The largest P(p <= a) - a over all a and many laws in the null hypothesis, with the exact null law as draws."""
    found = np.array([statistic(y, v) for y in LABELS])
    null = chances(v)
    p = np.array([null[found >= t - tie(t)].sum() for t in found])
    grid = [v + share * (float(side == "over") - v) for share in (0, 0.1, 0.5, 1)]
    laws = [chances(np.where(mask, a, b)) for a in grid for b in grid[:1] for mask in LABELS[::3] == 1]
    laws += [after_any_history(rng, v, side) for _ in range(20)]
    at = np.unique(p)
    return max(float((law @ (p[:, None] <= at + 1e-14) - at).max()) for law in laws)


FIVE = (
    [0.1, 0.3, 0.5, 0.7, 0.9], [0.5] * 5, [0.02, 0.02, 0.05, 0.3, 0.3], [0.0, 0.2, 0.6, 1.0, 1.0],
    [0.97, 0.9, 0.9, 0.4, 0.99], [0.0, 1.0, 0.5, 0.5, 1e-12],
)  # fmt: skip


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", NAMES)
def test_the_level_holds_for_all_laws_in_the_null_hypothesis(name, side):
    """P(p <= a) <= a for every a, enumerated over all labels of five rows, independent or after any history."""
    rng = np.random.default_rng(2)
    measure = side_of(name, side)
    for v in FIVE:
        assert excess(lambda y, v: measure.estimate(cs.Sample.from_rows(y, v)), np.array(v), side, rng) <= 1e-12


@pytest.mark.parametrize("side", SIDES)
def test_a_statistic_of_both_sides_breaks_it(side):
    """Planted fault: the kernel error rejects predictions that are too low when asked for those too high."""
    rng = np.random.default_rng(2)
    kernel = lambda y, v: cs.estimate(cs.Sample.from_rows(y, v), measure="kernel_ce")  # noqa: E731
    assert max(excess(kernel, np.array(v), side, rng) for v in FIVE) > 0.5


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("name", ["ks", "kuiper", "ece"])
def test_the_range_found_has_the_largest_sum(name, side):
    """By brute force: over beginnings and ends, over all intervals, and over bins; without an impossible outcome."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        n = int(rng.integers(1, 40))
        p = np.clip(predictions(rng, n), 0.001, 0.999)
        y = (rng.random(n) < 0.5).astype(int)
        sample = cs.Sample.from_rows(y, p)
        measure, each = side_of(name, side), np.array(events_beyond(y, p, side))
        found, m = measure.largest(sample), each.size
        ends = [(i, j) for i in range(m + 1) for j in range(i, m + 1)]
        if name == "ks":
            ends = [(i, j) for i, j in ends if i == 0 or j == m]
        if name == "ece":
            cuts = np.flatnonzero(np.diff(np.ceil(sample.value * 15 - 1e-12), prepend=-1, append=99))
            ends = list(pairwise(cuts))
        largest = max(each[i:j].sum() for i, j in ends)
        if largest > 0:  # else no test rejects
            assert each[found].sum() == pytest.approx(largest, abs=1e-9)
            assert (found.start, found.stop) in ends


@pytest.mark.parametrize("side", SIDES)
def test_the_range_found_is_that_of_the_most_surprising_cell(side):
    rng = np.random.default_rng(7)
    for _ in range(40):
        n = int(rng.integers(2, 120))
        p = np.clip(predictions(rng, n), 0.001, 0.999)
        y = (rng.random(n) < rng.random()).astype(int)
        v, c, a = sums(y, p)
        found = side_of("omnibus", side).largest(cs.Sample.from_rows(y, p))
        inside = np.zeros(v.size, bool)
        inside[found] = True
        root = positive_root(v, c, a, inside, side)
        parts = min(k for k, _, cell in cells(v, c) if k <= 64 and np.array_equal(cell, inside))
        g, _ = slow_parts(v, c, a, side)[1]
        assert -norm.logsf(root) - math.log(parts) == pytest.approx(g, abs=1e-7)


def test_an_outcome_that_was_possible_makes_no_cell_infinite():
    """One of 10,000 rows at 1 - 2e-15 fails beside a million at 1/2: log(1 / 2e-11) is 25, and no more."""
    sample = cs.Sample.from_counts([0.5, 1 - 2e-15], [1e6, 1e4], [5e5, 1e4 - 1])
    assert 20 < side_of("omnibus", "over").estimate(sample) < 30


@pytest.mark.parametrize("name", [name for name in cs.MEASURES if name not in NAMES])
def test_no_other_measure_has_one_side(name):
    with pytest.raises(ValueError, match=r"expected a measure with one side, .*; found"):
        one_side_of(cs.MEASURES[name](), "over")


def test_no_measure_made_from_one_that_has_a_side_has_one():
    """Its statistic may fall where an outcome rises."""

    class Mine(cs.measures.ECE):
        def reduce(self, count, residual, value):
            return -super().reduce(count, residual, value)

    with pytest.raises(ValueError, match="not known that it never rises"):
        one_side_of(Mine(), "over")


@given(st.lists(PREDICTION, min_size=1, max_size=30), st.sampled_from([{"norm": "l2"}, {"norm": "max"}, {"norm": 3}]))
def test_other_norms_of_bins_do_not_rise_either(p, options):
    p = np.array(p)
    y = chain(np.random.default_rng(p.size), p)
    sample = cs.Sample.from_rows(y[0], p)
    for side in SIDES:
        measure = side_of("ece", side, **options)
        statistic = of_labels(measure, sample, np.searchsorted(sample.value, p + 0.0), np.ones(p.size))
        assert rises(statistic, y, side).max() <= 1


def test_sides_are_other_measures():
    over, under = side_of("ece", "over"), side_of("ece", "under")
    assert over == side_of("ece", "over") != under != side_of("ece", "under", n_bins=3)
    assert over != cs.measures.ECE()
    assert str(over) == "ece"
