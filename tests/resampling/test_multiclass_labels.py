"""Classes drawn from predicted vectors: their distribution, and word by word."""

import numpy as np
import pytest
from class_draws import FALSE_ALARM, KEY, example, follows, frequency, words
from scipy import stats

import calibstat as cs
from calibstat.data.weighted_sample import weighted_sample
from calibstat.resampling import Draws, RowLabels, Stream, draw
from calibstat.resampling.multiclass_labels import labels_of_rows

DISTRIBUTIONS = {
    "two": [[0.3, 0.7], [1e-3, 0.999], [0.5, 0.5]],
    "three": [[0.2, 0.3, 0.5], [0.0, 0.4, 0.6], [0.4, 0.6, 0.0], [0.4, 0.0, 0.6], [0.01, 0.98, 0.01]],
    "just below 1": [[0.2, 0.3, 0.5 - 9e-7], [0.5 - 9e-7, 0.5, 0.0]],
    "just above 1": [[0.2, 0.3, 0.5 + 9e-7], [0.5 + 9e-7, 0.5, 0.0]],
    "tiny": [[1e-300, 1.0, 0.0], [2.0**-60, 0.0, 1.0], [1.0, 0.0, 1e-18]],
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name):
    prob = np.array(DISTRIBUTIONS[name])
    labels = labels_of_rows(prob, KEY, 1, 0, 40_000)
    distribution = prob / prob.sum(axis=1, keepdims=True)
    assert follows(frequency(labels, prob.shape[1]), 40_000, distribution)
    wrong = distribution + 0.01 * (np.arange(prob.shape[1]) == prob.argmin(axis=1)[:, None])
    assert not follows(frequency(labels, prob.shape[1]), 40_000, np.minimum(wrong, 1))  # planted fault


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_distribution_of_many_classes(dtype):
    """Chi-square over 300 classes, both tails, so that too even fails as well."""
    prob = np.random.default_rng(4).dirichlet(np.full(300, 2.0), 2).astype(dtype)
    labels = labels_of_rows(prob, KEY, 1, 0, 60_000)
    for swapped in (False, True):  # planted fault: the distribution of the other row
        times = frequency(labels[:, ::-1] if swapped else labels, 300)
        expected = 60_000 * prob.astype(float) / prob.sum(axis=1, keepdims=True, dtype=float)
        chi2 = ((times - expected) ** 2 / expected).sum(axis=1)
        p = stats.chi2.sf(chi2, 299)
        assert np.all((p > FALSE_ALARM / 2) & (p < 1 - FALSE_ALARM / 2)) != swapped


def test_impossible_classes_are_never_drawn():
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
    """Pairs of two equally distributed rows are as frequent as independence says; so are successive replicates."""
    distribution = np.array([0.5, 0.3, 0.2])
    labels = labels_of_rows(np.tile(distribution, (2, 1)), KEY, 1, 0, 40_000)
    joint = np.bincount(3 * labels[:, 0] + labels[:, 1], minlength=9)
    assert follows(joint, 40_000, np.outer(distribution, distribution).ravel())
    after = np.bincount(3 * labels[:-1:2, 0] + labels[1::2, 0], minlength=9)
    assert follows(after, 20_000, np.outer(distribution, distribution).ravel())
    same = np.bincount(3 * labels[:, 0] + labels[:, 0], minlength=9)  # planted fault
    assert not follows(same, 40_000, np.outer(distribution, distribution).ravel())


OF_ROWS = np.array([0.9, 0.1])  # of two rows of one prediction: none or both are positive with 0.09 each
N = 4000


def positives(sample, chance, cell, weight=None):
    scheme = RowLabels(cell, np.column_stack((1 - chance, chance)), weight)
    return draw(sample, scheme, lambda value, count, positives: positives.copy(), Draws(KEY, N), Stream.LABELS)


def test_the_positives_of_tied_rows_of_an_event():
    sample = cs.Sample.from_counts([0.5, 0.8], [2, 1], [1, 1])
    found = positives(sample, np.append(OF_ROWS, 1.0), np.array([0, 0, 1]))
    assert np.all(found[:, 1] == 1)  # a sure outcome
    observed = np.bincount(found[:, 0].astype(int), minlength=3)
    limit = stats.binom.isf(1e-4, N, 0.09), stats.binom.isf(1 - 1e-4, N, 0.09)
    assert limit[1] <= observed[0] <= limit[0]
    assert limit[1] <= observed[2] <= limit[0]
    # the twin: of two rows of the mean probability none is positive in a quarter of the draws
    shared = positives(sample, np.array([0.5, 0.5, 1.0]), np.array([0, 0, 1]))
    assert np.count_nonzero(shared[:, 0] == 0) > limit[0]


def test_rows_of_an_event_count_their_weights():
    sample = weighted_sample(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([0.25, 1.5]))
    found = positives(sample, OF_ROWS, np.array([0, 0]), np.array([0.25, 1.5]))
    assert set(np.unique(found)) == {0.0, 0.25, 1.5, 1.75}
    only_heavy = np.count_nonzero(found == 1.5)  # 0.1 times 0.1
    assert stats.binom.cdf(only_heavy, N, 0.01) > 1e-4 < stats.binom.sf(only_heavy - 1, N, 0.01)
