"""The omnibus statistic: its formulas by a slow version, closed forms, forbidden labels, and many classes."""

import math
from itertools import product

import numpy as np
import omnibus_oracle
import pytest
from hypothesis import given
from row_strategies import rows
from scipy.stats import binom, norm

import calibstat as cs
from calibstat.data.cell_sums import cell_sums
from calibstat.data.predictions import Predictions
from calibstat.data.sample import Sample
from calibstat.measures import Omnibus, omnibus
from calibstat.measures.components import deviations

OMNIBUS = Omnibus()


def relative(found, expected):
    return abs(found - expected) / max(1, abs(expected))


def off_formula(sample):
    """How far the statistic is from the slow version, on predictions of which none is 0 or 1."""
    return relative(OMNIBUS.estimate(sample), omnibus_oracle.omnibus(*sample.arrays)[0])


@given(rows())
def test_formula(data):
    y, p = data
    inner = (p > 1e-9) & (p < 1 - 1e-9)
    if inner.any():
        assert off_formula(Sample.from_rows(y[inner], p[inner])) < 1e-9


def hard_samples():
    """Samples of the kinds that formulas get wrong: rare, tied, near the ends, with many rows at a prediction."""
    rng = np.random.default_rng(3)
    for k in range(40):
        m = int(rng.integers(1, 60))
        value = [rng.random(m), rng.beta(0.2, 3, m), rng.integers(1, 20, m) / 20, 1e-6 + 1e-4 * rng.random(m)][k % 4]
        value = np.unique(np.clip(value, 1e-7, 1 - 1e-7))
        count = rng.integers(1, [2, 30, 500][k % 3], value.size)
        true = np.clip(value * [1, 2, 0.5, 5][k // 4 % 4], 0, 1)
        yield Sample.from_counts(value, count, rng.binomial(count, true))


def test_formula_on_hard_samples(monkeypatch):
    assert max(map(off_formula, hard_samples())) < 1e-9
    monkeypatch.setattr(deviations, "LOCAL", 4.5)
    assert any(off_formula(sample) > 1e-2 for sample in hard_samples())  # the same check finds another constant


def test_one_distinct_prediction():
    """Only the bias is left, and every part of the statistic is a function of the deviance of one cell.

    z = 2 (a log(a / nv) + (n - a) log((n - a) / (n - nv))). The root of the first component is that of z, read from
    a table; A = (z - 2) / 2, since further components add nothing; M = (z - 1) / sqrt 2; and with two-sided p-value P
    of z, G = -log P - log 2.
    """
    for v, n, a in ((0.3, 100, 42), (0.01, 400, 9), (0.5, 20, 3)):
        z = 2 * (a * math.log(a / (n * v)) + (n - a) * math.log((n - a) / (n - n * v)))
        parts = (z - 2) / 2, (z - 1) / math.sqrt(2) - 1, -math.log(2 * norm.sf(math.sqrt(z))) - math.log(2) - 4
        exact = math.log(sum(map(math.exp, parts)))
        assert abs(OMNIBUS.estimate(Sample.from_counts([v], [n], [a])) - exact) < 0.03  # of the table
    assert abs(OMNIBUS.estimate(Sample.from_counts([v], [n], [a + 1])) - exact) > 0.5


def test_no_information():
    """Labels that predictions of 0 and 1 force say nothing; one that they forbid says all."""
    assert OMNIBUS.estimate(Sample.from_rows([0, 1, 1], [0.0, 1.0, 1.0])) == 0
    for y in ([1, 1, 1], [0, 0, 1]):
        assert OMNIBUS.estimate(Sample.from_rows(y, [0.0, 1.0, 1.0])) == math.inf
    found = cs.calibration_test([1, 0, 1, 1], [0.0, 0.5, 0.5, 1.0], measure="omnibus", n_resamples=99, rng=1)
    assert found.pvalue == 1 / 100
    assert "row 0 had probability 0" in found.why_infinite


def test_certain_rows_do_not_count():
    """Rows with predictions of 0 and 1, whose labels are forced, change nothing."""
    y, p = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.2, 0.3, 0.6, 0.6])
    more = Sample.from_rows(np.append(y, [0, 1, 1]), np.append(p, [0.0, 1.0, 1.0]))
    assert OMNIBUS.estimate(more) == OMNIBUS.estimate(Sample.from_rows(y, p))


def test_many_distinct_predictions():
    """Rows in one of 1024 cells count as if they had the mean prediction of the cell; that hardly matters."""
    rng = np.random.default_rng(4)
    p = np.append(rng.beta(0.5, 2, 3000), [0.0, 0.0, 1.0])
    y = rng.random(p.size) < p
    sample = Sample.from_rows(y, p)
    cell = OMNIBUS.cells(sample.value, sample.count)
    assert cell[0] == 0
    assert cell[1] == 1
    assert cell[-1] == cell[-2] + 1  # predictions of 0 and 1 have cells of their own
    assert cell.max() < 1026
    count, residual, value = cell_sums(cell, *sample.arrays)
    mean, positives = value * 3003 / count, np.rint((residual + value) * 3003)
    by_cells = omnibus_oracle.omnibus(mean[1:-1], count[1:-1], positives[1:-1])[0]
    assert relative(OMNIBUS.estimate(sample), by_cells) < 1e-9
    inner = (sample.value > 0) & (sample.value < 1)
    by_rows = omnibus_oracle.omnibus(*(each[inner] for each in sample.arrays))[0]
    assert abs(by_rows - by_cells) < 0.2


def test_draws_together():
    """Many sets of labels, and many classes with as many cells, are looked at as one by one."""
    rng = np.random.default_rng(5)
    count = np.stack([rng.integers(1, 9, 30), np.where(np.arange(30) < 20, 3, 0)]).astype(float)
    value = count * np.sort(rng.random((2, 30))) / count.sum(axis=1, keepdims=True)
    n = count.sum(axis=1)
    drawn = np.minimum(rng.poisson(value * n[:, None], (130, 2, 30)), count)
    residual = drawn / n[:, None] - value
    together = OMNIBUS.reduce(count, residual, value)
    assert together.shape == (130, 2)
    for k in range(2):
        one_by_one = [OMNIBUS.reduce(count[k], each, value[k]) for each in residual[:, k]]
        assert np.abs(together[:, k] - one_by_one).max() < 1e-11
    changing = np.stack([count[0], count[0] + 1])  # cells that differ from draw to draw, as of rows with replacement
    both = OMNIBUS.reduce(changing, np.zeros((2, 30)), np.full((2, 30), 0.01))
    assert both[1] == OMNIBUS.reduce(changing[1], np.zeros(30), np.full(30, 0.01))


def test_classes():
    """Of K classes it is the logarithm of the sum over classes, and the most likely one, of exp(T)."""
    rng = np.random.default_rng(6)
    prob = rng.dirichlet(np.ones(4), 200)
    label = np.array([rng.choice(4, p=each) for each in prob])
    single = [OMNIBUS.estimate(Sample.from_rows(label == k, prob[:, k])) for k in range(4)]
    top = prob.argmax(axis=1)
    single.append(OMNIBUS.estimate(Sample.from_rows(label == top, prob.max(axis=1))))
    found = cs.estimate(label, prob, measure="omnibus", lens="canonical")
    assert abs(found - math.log(sum(map(math.exp, single)))) < 1e-10
    assert abs(found - max(single)) > 1e-3  # and not the largest alone
    classes = OMNIBUS.multiclass()
    labels = np.array([label, rng.permutation(label)] * 40)
    assert np.abs(classes.batch(prob, labels)[::2] - found).max() < 1e-10
    prob[0] = [1, 0, 0, 0]
    assert classes.evaluate(prob, np.where(np.arange(200) == 0, 1, label)) == math.inf


@pytest.mark.parametrize("lens", ["top_label", "class_wise", "canonical"])
def test_lenses(lens):
    """A test through every lens finds predictions that are too extreme."""
    rng = np.random.default_rng(7)
    true = rng.dirichlet(np.ones(3), 400)
    label = np.array([rng.choice(3, p=each) for each in true])
    sharp = true**2 / (true**2).sum(axis=1, keepdims=True)
    for prob, wrong in ((true, False), (sharp, True)):
        found = cs.calibration_test(label, prob, measure="omnibus", lens=lens, n_resamples=99, rng=1)
        pvalue = found.classes.pvalue_holm.min() if lens == "class_wise" else found.pvalue
        assert (pvalue <= 0.05) == wrong


def test_detail():
    """The parts are named, and the local one says where: 40 rows at .7, of which 8 have outcome 1."""
    value, count = np.array([0.2, 0.4, 0.7, 0.9]), np.array([200, 200, 40, 200])
    found = cs.detail(Sample.from_counts(value, count, [40, 80, 8, 180]), measure="omnibus")
    expected = omnibus_oracle.omnibus(value, count, [40, 80, 8, 180])
    assert np.allclose([found["smooth"], found["scattered"], found["local"]], expected[1:], atol=1e-9)
    assert found["local_low"] == found["local_high"] == 0.7
    assert (found["local_rows"], found["local_predicted"], found["local_observed"]) == (40, 0.7, 0.2)
    assert found["roots"][0] < 0  # fewer events than predicted


# --- many classes -----------------------------------------------------------------------------------------------------


def vectors(classes=5, n=400):
    rng = np.random.default_rng(classes)
    prob = rng.dirichlet(np.ones(classes), n)
    return np.minimum((prob.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1), classes - 1), prob


def test_many_classes_have_fewer_cells_each():
    assert [omnibus.most_cells(classes) for classes in (3, 64, 100, 512, 10**5)] == [1024, 1024, 655, 128, 128]


@pytest.mark.parametrize("lens", ["canonical", "class_wise"])
def test_observed_and_drawn_labels_have_the_same_cells(lens, monkeypatch):
    """The statistic of labels is the same, whether they are observed or drawn, and differs from that of all cells."""
    label, prob = vectors()

    def statistic():
        found = cs.calibration_test(label, prob, measure="omnibus", lens=lens, n_resamples=9, rng=1)
        return found.statistic if lens == "canonical" else found.classes.statistic

    full = statistic()
    monkeypatch.setattr(omnibus, "CELLS_OF_CLASSES", 640)
    assert omnibus.most_cells(5) == 128
    found = statistic()
    if lens == "canonical":
        fresh = Omnibus().multiclass()._of_labels(prob)(label[None])[0]
    else:
        index, count, value = Omnibus().class_cells(Predictions.from_rows(label, prob))
        assert index.max() < 128
        observed = np.array([np.bincount(index[label == k, k], minlength=value.shape[1]) for k in range(5)])
        fresh = Omnibus().of_residual(count, value)(np.stack([observed / 400 - value]))[0]
    assert found == pytest.approx(fresh, rel=1e-12)
    assert np.all(found != full)


@pytest.mark.parametrize("lens", ["canonical", "class_wise"])
def test_many_classes_are_prepared_once(lens, monkeypatch):
    label, prob = vectors(20)
    made = []
    prepare = deviations.Diagnostics.at.__func__
    monkeypatch.setattr(omnibus, "CELLS_OF_CLASSES", 640)
    monkeypatch.setattr(
        deviations.Diagnostics, "at", classmethod(lambda cls, *sums: made.append(0) or prepare(cls, *sums))
    )
    cs.calibration_test(label, prob, measure="omnibus", lens=lens, n_resamples=99, rng=1)
    assert len(made) == {"canonical": 21, "class_wise": 20}[lens]


# --- exact sizes ------------------------------------------------------------------------------------------------------

LEVELS = (0.01, 0.05, 0.1, 0.2, 0.5)
RESAMPLES = 199
ROUNDING = 1e-9
PREDICTIONS = {
    "one row": [0.3],
    "one certain row": [1.0],
    "two rows": [0.1, 0.6],
    "a tie": [0.4, 0.4],
    "0 and 1": [0.0, 0.5, 1.0],
    "three rows": [0.02, 0.5, 0.97],
    "four tied rows": [0.25] * 4,
    "ties, 0 and 1": [0.0, 0.2, 0.2, 0.7, 1.0],
    "five rows": [0.001, 0.05, 0.4, 0.5, 0.95],
    "six rows": [0.1, 0.2, 0.45, 0.55, 0.8, 0.9],
    "seven rows": [0.03, 0.2, 0.35, 0.5, 0.6, 0.85, 0.99],
    "seven rows, two values": [0.3] * 4 + [0.8] * 3,
    "seven rare rows": [0.001] * 3 + [0.01] * 3 + [0.05],
}


def all_labels(p):
    """Every label vector, shape (2**n, n), and its probability if calibrated."""
    labels = np.array(list(product((0, 1), repeat=len(p))))
    return labels, np.where(labels == 1, p, 1 - np.array(p)).prod(axis=1)


def statistics(p, labels):
    return np.array([cs.estimate(y, p, measure="omnibus") for y in labels])


def sizes(observed, null, weight):
    """P(p <= a), summed over all data: of the exact p-value, and of that with resamples.

    `null` has one row for each data set: the statistic of every label vector as a test of these data computes it.
    """
    tail = np.array([min(weight[row >= t - ROUNDING].sum(), 1.0) for t, row in zip(observed, null, strict=True)])
    exact = [weight[tail <= a + ROUNDING].sum() for a in LEVELS]
    # p = (1 + X) / (1 + B) <= a where X, the number of resamples at least as large, is binomial
    drawn = [weight @ binom.cdf(np.floor(a * (RESAMPLES + 1) + ROUNDING) - 1, RESAMPLES, tail) for a in LEVELS]
    return np.array(exact), np.array(drawn)


@pytest.mark.parametrize("p", PREDICTIONS.values(), ids=PREDICTIONS)
def test_size_by_enumeration(p):
    labels, weight = all_labels(p)
    assert weight.sum() == pytest.approx(1)
    observed = statistics(p, labels)
    assert not np.isnan(observed).any()
    for size in sizes(observed, np.tile(observed, (len(labels), 1)), weight):
        assert np.all(size <= np.array(LEVELS) + ROUNDING)


@pytest.mark.parametrize("p", PREDICTIONS.values(), ids=PREDICTIONS)
def test_resamples_have_the_exact_distribution(p):
    """The null distribution is the same for all labels, and each value is as frequent as its labels are likely."""
    labels, weight = all_labels(p)
    observed = statistics(p, labels)
    possible = np.flatnonzero(weight > 0)
    tests = [
        cs.calibration_test(labels[i], p, measure="omnibus", n_resamples=RESAMPLES, rng=5)
        for i in possible[:: max(1, possible.size // 8)]
    ]
    null = tests[0].null_distribution
    assert all(np.array_equal(test.null_distribution, null) for test in tests)
    far = 1e-3 / (2 * possible.size * len(PREDICTIONS))
    for value in observed[possible]:
        same = np.abs(observed - value) < ROUNDING
        drawn = int((np.abs(null - value) < ROUNDING).sum())
        chance = min(weight[same].sum(), 1.0)
        assert binom.ppf(far, RESAMPLES, chance) <= drawn <= binom.isf(far, RESAMPLES, chance)
    assert all(np.abs(observed[possible] - t).min() < ROUNDING for t in null)
    for i, test in zip(possible[:: max(1, possible.size // 8)], tests, strict=True):
        assert test.statistic == pytest.approx(observed[i], abs=ROUNDING)
        above = int((null >= observed[i] - ROUNDING).sum())
        assert test.pvalue == pytest.approx((1 + above) / (1 + RESAMPLES))


def test_a_forbidden_label():
    """A label that a prediction of 0 or 1 excludes cannot be drawn: the smallest p-value that there is."""
    found = cs.calibration_test([1, 0, 1], [0.0, 0.5, 1.0], measure="omnibus", n_resamples=RESAMPLES, rng=1)
    assert found.pvalue == pytest.approx(1 / (1 + RESAMPLES))
    assert np.isinf(found.statistic)


def test_sizes_by_hand():
    """Two rows of 1/2 and the number of events: 0, 1, 1, 2, with tails 1, 3/4, 3/4, 1/4."""
    labels, weight = all_labels([0.5, 0.5])
    count = labels.sum(axis=1).astype(float)
    exact, drawn = sizes(count, np.tile(count, (4, 1)), weight)
    assert exact == pytest.approx([0, 0, 0, 0, 0.25])
    assert drawn[-1] == pytest.approx(0.25 * binom.cdf(99, 199, 0.25) + 0.5 * binom.cdf(99, 199, 0.75), abs=1e-12)


@pytest.mark.parametrize("chosen_by", ["predictions", "labels"])
def test_cells_chosen_by_the_labels_break_it(chosen_by):
    """Two cells, the second beginning at one of the rows: where is decided by the predictions or by the labels.

    The null distribution keeps the cells of the data, which is a test only if labels do not choose them.
    """
    p = np.array(PREDICTIONS["seven rows"])
    labels, weight = all_labels(p)
    residual = np.cumsum(labels - p, axis=1)[:, :-1]  # below each of the six places
    variance = np.cumsum(p * (1 - p))
    statistic = residual**2 / variance[:-1] + (residual - (labels - p).sum(axis=1)[:, None]) ** 2 / (
        variance[-1] - variance[:-1]
    )
    place = statistic.argmax(axis=1) if chosen_by == "labels" else np.full(len(labels), 3)
    observed = statistic[np.arange(len(labels)), place]
    broken = [np.any(size > np.array(LEVELS) + ROUNDING) for size in sizes(observed, statistic[:, place].T, weight)]
    assert broken == [chosen_by == "labels"] * 2
