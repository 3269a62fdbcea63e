"""Predictions of classes to draw from, and draws of rows and labels word by word."""

import numpy as np
from scipy import stats

import calibstat as cs
from calibstat.resampling import Labels, Pairs, streams
from calibstat.resampling.multiclass_labels import labels_of_rows

KEY = streams.key_of(20240612)
FALSE_ALARM = 1e-5  # of every single check of draws; fewer than a hundred are made
from_rows = cs.Predictions.from_rows


def names(scheme):
    return type(scheme).__name__


def follows(times, draws, distribution, tail=None):
    """Exact binomial limits on how often each event occurred in so many draws, Bonferroni over the events."""
    tail = FALSE_ALARM / np.size(distribution) / 2 if tail is None else tail
    low, high = stats.binom.ppf(tail, draws, distribution), stats.binom.isf(tail, draws, distribution)
    return bool(np.all((low <= times) & (times <= high)))


def frequency(labels, classes):
    """How often each class was drawn in each row, shape (n, K)."""
    return np.stack([np.bincount(of_row, minlength=classes) for of_row in labels.T])


def example(n, classes, seed=0, dtype=np.float64, digits=None):
    generator = np.random.default_rng(seed)
    prob = generator.dirichlet(np.full(classes, 0.7), n)
    if digits is not None:  # ties, zeros and ones; the last class takes what is left
        prob = np.floor(prob * 10**digits) / 10**digits
        prob[:, -1] = np.maximum(1 - prob[:, :-1].sum(axis=1), 0)
    prob = prob.astype(dtype)
    return from_rows(generator.integers(0, classes, n), prob)


def words(replicate, positions, stream=1):
    """Words of one replicate at these positions, by the published recurrence in plain numpy."""
    start = np.uint64(streams.first_state(KEY, stream, replicate))
    with np.errstate(over="ignore"):
        z = start + (np.asarray(positions, np.uint64) + np.uint64(1)) * streams.GOLDEN
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def slow_draw(predictions, scheme, replicate, stream=1):
    """Rows are the upper halves of word * n; labels come from the next n words."""
    n, prob = predictions.n, predictions.prob
    rows = np.array([int(w) * n >> 64 for w in words(replicate, range(n), stream).tolist()])
    if scheme == Pairs():
        return rows, predictions.label[rows]
    u = (words(replicate, range(n, 2 * n), stream) >> np.uint64(1)).astype(float) / 2.0**63
    cumulative = np.cumsum(prob[rows], axis=1)
    return rows, (cumulative / cumulative[:, -1:] <= u[:, None]).sum(axis=1)


def draws(predictions, scheme, n_resamples):
    """Predictions with the labels of each resample, slowly."""
    for replicate in range(n_resamples):
        if scheme == Labels():
            yield predictions.prob, labels_of_rows(predictions.prob, KEY, 1, replicate, replicate + 1)[0]
        else:
            rows, label = slow_draw(predictions, scheme, replicate)
            yield predictions.prob[rows], label
