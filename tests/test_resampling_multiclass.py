"""Classes drawn from predicted vectors: their law, their joint law, and that neither threads nor memory show."""

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat.measures import registry
from calibstat.measures.registry import find_measure
from calibstat.resampling import Consistency, Draws, Labels, Pairs, VectorSums, draw, resample, streams, threads
from calibstat.resampling.multiclass_labels import labels_of_rows

KEY = np.uint64(20240612)
FALSE_ALARM = 1e-5  # of every single check in this file; fewer than a hundred are made
from_rows = cs.Predictions.from_rows


def names(scheme):
    return type(scheme).__name__


def follows(times, draws, law, tail=None):
    """Exact binomial limits on how often each thing happened in so many draws, Bonferroni over the things."""
    tail = FALSE_ALARM / np.size(law) / 2 if tail is None else tail
    low, high = stats.binom.ppf(tail, draws, law), stats.binom.isf(tail, draws, law)
    return bool(np.all((low <= times) & (times <= high)))


def frequency(labels, classes):
    """How often each class was drawn in each row, shape (n, K)."""
    return np.stack([(labels == k).sum(axis=0) for k in range(classes)], axis=1)


def example(n, classes, seed=0, dtype=np.float64, digits=None):
    generator = np.random.default_rng(seed)
    prob = generator.dirichlet(np.full(classes, 0.7), n)
    if digits is not None:  # ties, zeros and ones; the last class takes what is left
        prob = np.floor(prob * 10**digits) / 10**digits
        prob[:, -1] = np.maximum(1 - prob[:, :-1].sum(axis=1), 0)
    prob = prob.astype(dtype)
    return from_rows(generator.integers(0, classes, n), prob)


# --- the law of one class --------------------------------------------------------------------------------------------

LAWS = {
    "two": [[0.3, 0.7], [1e-3, 0.999], [0.5, 0.5]],
    "three": [[0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [0.4, 0.6, 0.0], [0.4, 0.0, 0.6], [0.01, 0.98, 0.01]],
    "just below 1": [[0.2, 0.3, 0.5 - 9e-7], [0.5 - 9e-7, 0.5, 0.0]],
    "just above 1": [[0.2, 0.3, 0.5 + 9e-7], [0.5 + 9e-7, 0.5, 0.0]],
    "tiny": [[1e-300, 1.0, 0.0], [2.0**-60, 0.0, 1.0], [1.0, 0.0, 1e-18]],
}


@pytest.mark.parametrize("name", LAWS)
def test_law(name):
    prob = np.array(LAWS[name])
    labels = labels_of_rows(prob, KEY, 1, 0, 40_000)
    law = prob / prob.sum(axis=1, keepdims=True)
    assert follows(frequency(labels, prob.shape[1]), 40_000, law)
    wrong = law + 0.01 * (np.arange(prob.shape[1]) == prob.argmin(axis=1)[:, None])
    assert not follows(frequency(labels, prob.shape[1]), 40_000, np.minimum(wrong, 1))  # planted fault


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_law_of_many_classes(dtype):
    """Chi-square over 300 classes, both tails, so that too even fails as well."""
    prob = np.random.default_rng(4).dirichlet(np.full(300, 2.0), 2).astype(dtype)
    labels = labels_of_rows(prob, KEY, 1, 0, 60_000)
    for swapped in (False, True):  # planted fault: the law of the other row
        times = frequency(labels[:, ::-1] if swapped else labels, 300)
        expected = 60_000 * prob.astype(float) / prob.sum(axis=1, keepdims=True, dtype=float)
        chi2 = ((times - expected) ** 2 / expected).sum(axis=1)
        p = stats.chi2.sf(chi2, 299)
        assert np.all((p > FALSE_ALARM / 2) & (p < 1 - FALSE_ALARM / 2)) != swapped


def test_what_is_impossible_never_happens():
    """Also in rows whose sum is off, whose rest goes to the last class that is possible and to no other."""
    generator = np.random.default_rng(5)
    prob = generator.dirichlet(np.full(7, 0.3), 400)
    prob[generator.random(prob.shape) < 0.4] = 0
    prob[prob.sum(axis=1) == 0, 3] = 1
    prob *= (1 + np.linspace(-9e-7, 9e-7, 400))[:, None] / prob.sum(axis=1, keepdims=True)
    prob = np.minimum(prob, 1)
    labels = labels_of_rows(prob, KEY, 1, 0, 2000)
    assert np.all(prob[np.arange(400), labels] > 0)
    assert labels.min() >= 0
    assert labels.max() <= 6


@pytest.mark.parametrize("classes", [2, 3, 65, 300])
@pytest.mark.parametrize("value", [1.0, 1 - 9e-7])
def test_certain_rows_stay_what_they_are(classes, value):
    labels = labels_of_rows(value * np.eye(classes), KEY, 1, 0, 500)
    assert np.all(labels == np.arange(classes))


def words(replicate, positions):
    """Words of one replicate at these positions, by the published recurrence in plain numpy."""
    start = np.uint64(streams.stream(KEY, 1, replicate))
    with np.errstate(over="ignore"):
        z = start + (np.asarray(positions, np.uint64) + np.uint64(1)) * streams.GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


@pytest.mark.parametrize("classes", [2, 5, 300])
def test_labels_word_by_word(classes):
    """Class k if u in [c(k-1), c(k)), c the cumulative sums over their total and u the leading 63 bits of a word."""
    predictions = example(40, classes, digits=2 if classes < 10 else None)
    prob = predictions.prob
    labels = labels_of_rows(prob, KEY, 1, 3, 60)
    for replicate in range(3, 60):
        u = (words(replicate, range(40)) >> np.uint64(1)).astype(float) / 2.0**63
        cumulative = np.cumsum(prob, axis=1)
        expected = (cumulative / cumulative[:, -1:] <= u[:, None]).sum(axis=1)
        assert np.array_equal(labels[replicate - 3], expected)


def test_rows_of_a_resample_are_independent():
    """All pairs of two rows with the same law are as frequent as independence says; so are successive replicates."""
    law = np.array([0.5, 0.3, 0.2])
    labels = labels_of_rows(np.tile(law, (2, 1)), KEY, 1, 0, 40_000)
    joint = np.bincount(3 * labels[:, 0] + labels[:, 1], minlength=9)
    assert follows(joint, 40_000, np.outer(law, law).ravel())
    after = np.bincount(3 * labels[:-1:2, 0] + labels[1::2, 0], minlength=9)
    assert follows(after, 20_000, np.outer(law, law).ravel())
    same = np.bincount(3 * labels[:, 0] + labels[:, 0], minlength=9)  # planted fault
    assert not follows(same, 40_000, np.outer(law, law).ravel())


# --- all classes of a row are one draw -------------------------------------------------------------------------------


@pytest.fixture
def share(monkeypatch):
    """A measure of one event that is the share of positives, times 1000 if rows were lost."""
    monkeypatch.setattr(registry, "_REGISTRY", dict(registry._REGISTRY))

    @cs.measure("share", bounds=(0, 1))
    def share(value, count, positives):
        """Return the share of positives."""
        return positives.sum() / count.sum() if count.sum() == 60 else 1000.0

    return registry._REGISTRY["share"]()


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
def test_every_row_has_one_class(scheme, share):
    predictions = example(60, 5, digits=1)
    drawn = resample(share, predictions, scheme, Draws(KEY, 300), 1)
    assert drawn.shape == (300, 5)
    np.testing.assert_allclose(drawn.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.any(drawn[0] != drawn[1])


def test_joint_law_of_two_classes(share):
    """Positives of two classes have the covariance of one draw a row, minus the sum of p_a p_b, and not 0."""
    predictions = example(60, 3)
    drawn = 60 * resample(share, predictions, Labels(), Draws(KEY, 20_000), 1)
    prob = predictions.prob
    a, b = drawn[:, 0] - prob[:, 0].sum(), drawn[:, 1] - prob[:, 1].sum()
    limit = stats.norm.isf(FALSE_ALARM / 2) * (a * b).std() / np.sqrt(20_000)
    assert abs((a * b).mean() + (prob[:, 0] * prob[:, 1]).sum()) < limit
    assert abs((a * b).mean()) > limit  # planted fault: independent draws for each class


# --- rows ------------------------------------------------------------------------------------------------------------


def slow_draw(predictions, scheme, replicate):
    """Rows are the upper halves of word * n; labels come from the next n words."""
    n, prob = predictions.n, predictions.prob
    rows = np.array([int(w) * n >> 64 for w in words(replicate, range(n)).tolist()])
    if scheme == Pairs():
        return rows, predictions.label[rows]
    u = (words(replicate, range(n, 2 * n)) >> np.uint64(1)).astype(float) / 2.0**63
    cumulative = np.cumsum(prob[rows], axis=1)
    return rows, (cumulative / cumulative[:, -1:] <= u[:, None]).sum(axis=1)


@pytest.mark.parametrize("scheme", [Consistency(), Pairs()], ids=names)
def test_rows_word_by_word(scheme):
    predictions = example(50, 4, digits=2)
    seen = draw(predictions, scheme, lambda rows, label: (rows, label), Draws(KEY, 20), 1)
    for replicate in range(20):
        rows, label = slow_draw(predictions, scheme, replicate)
        assert np.array_equal(seen[replicate, 0], rows)
        assert np.array_equal(seen[replicate, 1], label)


def test_rows_are_uniform():
    predictions = example(13, 3)
    rows = draw(predictions, Pairs(), lambda rows, label: rows, Draws(KEY, 20_000), 1)
    assert follows(np.bincount(rows.ravel(), minlength=13), rows.size, np.full(13, 1 / 13))
    for place in (0, 12):
        assert follows(np.bincount(rows[:, place], minlength=13), 20_000, np.full(13, 1 / 13))
    assert not follows(np.bincount(np.minimum(rows, 11).ravel(), minlength=13), rows.size, np.full(13, 1 / 13))


def test_law_of_rows_with_labels():
    """A drawn row has class k with the mean of its probabilities, whatever the labels of the data are."""
    predictions = example(9, 3)
    label = draw(predictions, Consistency(), lambda rows, label: label, Draws(KEY, 10_000), 1)
    law = predictions.prob.mean(axis=0)
    for place in (0, 8):
        assert follows(np.bincount(label[:, place], minlength=3), 10_000, law)
    observed = np.bincount(predictions.label, minlength=3) / 9
    assert not follows(np.bincount(label[:, 0], minlength=3), 10_000, observed)  # planted fault: labels of the data


# --- measures, against slow recomputation ----------------------------------------------------------------------------

EVENTS = {
    "ece": {},
    "ece, quantiles": {"strategy": "quantile", "n_bins": 4},
    "ece, cube root": {"n_bins": "cube_root", "norm": "l2"},
    "ece, largest": {"norm": "max", "n_bins": 3},
    "average_ce": {"n_bins": 4},
    "ece_width": {"n_bins": 4},
    "ece_debiased": {"n_bins": 3},
    "ks": {},
    "brier": {},
}
VECTORS = {
    "canonical_ce": {"min_size": 15},
    "canonical_ce, held": {"min_size": 15, "refit": False, "distance": "l1"},
    "canonical_ce, grid": {"strategy": "uniform", "n_bins": 3, "distance": "squared_euclidean"},
    "canonical_ce, function": {"min_size": 15, "distance": lambda a, b: float(np.abs(a - b).max())},
    "gce": {},
    "gce, adaptive": {"binning": "adaptive", "max_prob": True, "norm": "l2"},
}


def draws(predictions, scheme, n_resamples):
    """Predictions with the labels of each resample, slowly."""
    for replicate in range(n_resamples):
        if scheme == Labels():
            yield predictions.prob, labels_of_rows(predictions.prob, KEY, 1, replicate, replicate + 1)[0]
        else:
            rows, label = slow_draw(predictions, scheme, replicate)
            yield predictions.prob[rows], label


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("name", EVENTS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_class_by_itself(name, scheme, dtype):
    predictions = example(60, 4, digits=1 if dtype == np.float64 else None, dtype=dtype)
    bound = find_measure(name.split(",")[0], EVENTS[name])
    drawn = resample(bound, predictions, scheme, Draws(KEY, 12), 1)
    for found, (prob, label) in zip(drawn, draws(predictions, scheme, 12), strict=True):
        for k in range(4):
            sample = cs.Sample.from_rows(label == k, prob[:, k])
            whole = cs.Sample.from_rows(predictions.label == k, predictions.prob[:, k])
            held = bound.held(whole.value, whole.count)  # the cells of the data
            assert found[k] == pytest.approx(held.evaluate(*sample.arrays), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("name", VECTORS)
def test_whole_vectors(name, scheme):
    predictions = example(80, 3, digits=1)
    bound = find_measure(name.split(",")[0], VECTORS[name])
    drawn = resample(bound, predictions, scheme, Draws(KEY, 12), 1)
    for replicate, (found, (prob, label)) in enumerate(zip(drawn, draws(predictions, scheme, 12), strict=True)):
        if "held" in name and scheme != Labels():  # the cells of the data
            cell = bound.cells(predictions.prob)[slow_draw(predictions, scheme, replicate)[0]]
            expected = sum(
                np.abs((np.eye(3)[label[cell == b]] - prob[cell == b]).sum(axis=0)).sum() / 80 for b in np.unique(cell)
            )
        else:
            expected = bound.evaluate(prob, label)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("measure", ["brier", "log_loss"])
@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
def test_scores_of_whole_vectors(measure, scheme):
    predictions = example(80, 3)
    bound = find_measure(measure, {}).multiclass()
    drawn = resample(bound, predictions, scheme, Draws(KEY, 12), 1)
    for found, (prob, label) in zip(drawn, draws(predictions, scheme, 12), strict=True):
        happened = prob[np.arange(80), label]
        loss = ((np.eye(3)[label] - prob) ** 2).sum(axis=1) if measure == "brier" else -np.log(happened)
        assert found == pytest.approx(loss.mean(), rel=1e-12)


@pytest.mark.parametrize("shared", [True, False])
def test_residuals_of_rows(shared):
    predictions = example(40, 3, digits=1)
    generator = np.random.default_rng(6)
    if shared:
        cell = generator.integers(0, 4, 40)
        place, along, size = cell[:, None] * 3, 1, 12
        index = place + np.arange(3)
    else:
        place, along, size = generator.integers(0, 4, (40, 3)).astype(np.int32), 4, 12
        index = place + 4 * np.arange(3)
    drawn = draw(VectorSums(predictions, place, along, size), Pairs(), np.copy, Draws(KEY, 10), 1)
    for replicate in range(10):
        rows, label = slow_draw(predictions, Pairs(), replicate)
        expected = np.zeros(size)
        for i, k in zip(rows, label, strict=True):
            np.add.at(expected, index[i], (np.arange(3) == k) - predictions.prob[i])
        np.testing.assert_allclose(drawn[replicate], expected / 40, rtol=0, atol=1e-14)


# --- threads, memory, and how many -----------------------------------------------------------------------------------

TASKS = {
    "cells of each class": ("ece", {}),
    "quantiles of each class": ("ece", {"strategy": "quantile"}),
    "each class": ("ks", {}),
    "cells": ("canonical_ce", {"min_size": 15}),
    "held cells": ("canonical_ce", {"strategy": "uniform", "n_bins": 3}),
    "vectors": ("gce", {}),
}


@pytest.mark.parametrize("scheme", [Labels(), Consistency(), Pairs()], ids=names)
@pytest.mark.parametrize("task", TASKS)
def test_threads_and_memory_do_not_show(task, scheme, monkeypatch):
    measure, options = TASKS[task]
    predictions, bound = example(60, 4), find_measure(measure, options)
    base = resample(bound, predictions, scheme, Draws(KEY, 37), 1)
    assert np.array_equal(resample(bound, predictions, scheme, Draws(KEY, 37, 3), 1), base)
    assert np.array_equal(
        resample(bound, predictions, scheme, Draws(KEY, 21), 1), base[:21]
    )  # more resamples go on from these
    assert not np.array_equal(resample(bound, predictions, scheme, Draws(KEY, 37), 2), base)
    for piece in (1, 1000, 10_000):
        monkeypatch.setattr(threads, "LARGEST_PIECE", piece)
        for n_jobs in (1, 2):
            assert np.array_equal(resample(bound, predictions, scheme, Draws(KEY, 37, n_jobs), 1), base)


def test_pieces_are_small():
    """With 1000 rows of labels, 2**26 bytes hold 8388 replicates of them."""
    for size, n_jobs, most in ((999, 1, None), (999, 1, 100), (999, 2, 100), (7, 2, 0), (1, 1, 0), (20_000, 1, 8388)):
        pieces = threads.chunks(size, n_jobs, most)
        assert [i for first, last in pieces for i in range(first, last)] == list(range(size))
        assert max(last - first for first, last in pieces) <= max(most or size, 1)
    assert len(threads.chunks(999, 1)) == 1


def test_residuals_in_threads_and_pieces(monkeypatch):
    predictions = example(60, 4)
    place = np.zeros((60, 1), np.int64)
    source = VectorSums(predictions, place, 1, 4)
    base = draw(source, Pairs(), np.copy, Draws(KEY, 37), 1)
    assert np.array_equal(draw(source, Pairs(), np.copy, Draws(KEY, 37, 3), 1), base)
    assert np.array_equal(draw(source, Pairs(), np.copy, Draws(KEY, 5), 1), base[:5])
    monkeypatch.setattr(threads, "LARGEST_PIECE", 100)
    assert np.array_equal(draw(source, Pairs(), np.copy, Draws(KEY, 37), 1), base)
