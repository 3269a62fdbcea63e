"""The one file that draws: its words, its laws, and that neither threads nor chunks show in the numbers."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

import calibstat as cs
from calibstat import resampling
from calibstat.measures.registry import find_measure
from calibstat.resampling import draw_binary as events
from calibstat.resampling import streams as words_of
from calibstat.resampling.poisson_binomial import law_of_positives

KEY = np.uint64(20240611)
FALSE_ALARM = 1e-5  # of every single check in this file; fewer than a hundred are made


def words(starts, size):
    """The first `size` words of every stream, shape (len(starts), size), by the published recurrence in plain numpy."""
    with np.errstate(over="ignore"):
        state = np.asarray(starts, np.uint64)[:, None] + np.arange(1, size + 1, dtype=np.uint64) * words_of.GOLDEN
        z = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def is_uniform(numbers, n_values):
    """Chi-square test that whole numbers below n_values are uniform; both tails, so that too even fails as well."""
    observed = np.bincount(numbers.ravel().astype(np.int64), minlength=n_values)
    expected = numbers.size / n_values
    chi2 = ((observed - expected) ** 2 / expected).sum()
    p = stats.chi2.sf(chi2, n_values - 1)
    return FALSE_ALARM / 2 < p < 1 - FALSE_ALARM / 2


def follows(drawn, law):
    """Exact binomial limits on the frequency of every value, Bonferroni over the values; `law` starts at value 0."""
    observed = np.bincount(np.asarray(drawn, np.int64), minlength=len(law))
    if observed.size > len(law):
        return False
    tail = FALSE_ALARM / len(law) / 2
    low = stats.binom.ppf(tail, len(drawn), law)
    high = stats.binom.isf(tail, len(drawn), law)
    return bool(np.all((low <= observed) & (observed <= high)))


def poisson_binomial(probabilities):
    """The law of a sum of independent Bernoulli variables, one full convolution a row."""
    law = np.ones(1)
    for p in probabilities:
        law = np.convolve(law, [1 - p, p])
    return law


# --- the generator ---------------------------------------------------------------------------------------------------


def test_published_outputs():
    # splitmix64 with seed 1234567, as published with the reference implementation
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [words_of.word(np.uint64(1234567), i) for i in range(4)] == published
    assert words([1234567], 4)[0].tolist() == published


@pytest.fixture(scope="module")
def neighbours():
    """Words of 64 neighbouring replicates for 64 neighbouring seeds, shape (4096, 64)."""
    starts = [words_of.stream(resampling.key_of(seed), 1, r) for seed in range(64) for r in range(64)]
    return words(starts, 64)


def test_neighbouring_streams_are_uniform(neighbours):
    for word in (neighbours, neighbours[:, :16]):
        assert is_uniform(word >> np.uint64(48), 2**16)
        assert is_uniform(word & np.uint64(0xFFFF), 2**16)
    assert is_uniform(neighbours[:, 0] >> np.uint64(56), 256)
    assert is_uniform(neighbours[:, 0] & np.uint64(0xFF), 256)


def correlations(word):
    """Standardised correlation of each stream with its next neighbour and with the one 64 on, at lags 0, 1 and 2."""
    u = ((word >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53 - 0.5
    found = []
    for step in (1, 64):
        for lag in range(3):
            a, b = u[:-step, : u.shape[1] - lag], u[step:, lag:]
            found.append(12 * (a * b).sum() / np.sqrt(a.size))
    return np.abs(found).max()


def test_neighbouring_streams_are_uncorrelated(neighbours):
    limit = stats.norm.isf(FALSE_ALARM / 12)
    assert correlations(neighbours) < limit
    # Planted fault: streams that start one step apart on the same sequence.
    with np.errstate(over="ignore"):
        faulty = words(KEY + np.arange(4096, dtype=np.uint64) * words_of.GOLDEN, 64)
    assert correlations(faulty) > limit


def test_uniformity_check_can_fail(neighbours):
    assert not is_uniform((neighbours >> np.uint64(48)) & np.uint64(0xFFFE), 2**16)


def test_key_of():
    assert resampling.key_of(3) == resampling.key_of(np.int64(3)) == resampling.key_of(np.random.SeedSequence(3))
    assert resampling.key_of(3) != resampling.key_of(4)
    assert resampling.key_of(None) != resampling.key_of(None)
    generator, twin = np.random.default_rng(5), np.random.default_rng(5)
    assert resampling.key_of(generator) == twin.integers(0, 2**64, dtype=np.uint64)
    assert generator.random() == twin.random()  # exactly one word was taken
    for bad in (-1, 1.5, "seed", True):
        with pytest.raises(ValueError, match="expected rng None"):
            resampling.key_of(bad)


@pytest.mark.parametrize("bad", [0, -3, 2.5, True])
def test_number_of_resamples(bad):
    with pytest.raises(ValueError, match="expected n_resamples"):
        cs.calibration_test([0, 1], [0.5, 0.6], n_resamples=bad)


def test_number_of_threads():
    with pytest.raises(ValueError, match="expected n_jobs"):
        cs.calibration_test([0, 1], [0.5, 0.6], n_jobs=0)


# --- laws ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.3), (7, 0.5), (40, 0.1), (40, 0.9), (40, 0.25), (100, 0.5), (300, 0.97), (5000, 0.004), (900, 0.4)],
)
def test_binomial(n, p):
    state = np.array([KEY])
    drawn = [words_of.binomial(state, float(n), p) for _ in range(40_000)]
    law = stats.binom.pmf(np.arange(n + 1), n, p)
    assert follows(drawn, law)
    assert not follows(drawn, stats.binom.pmf(np.arange(n + 1), n, p * 1.1 if p < 0.9 else p * 0.98))


def test_binomial_ends():
    state = np.array([KEY])
    assert [words_of.binomial(state, 9.0, p) for p in (0.0, 1.0)] == [0, 9]
    assert words_of.binomial(state, 0.0, 0.3) == 0
    # A billion rows: mean and variance n p and n p q, within normal limits of 20,000 draws.
    drawn = np.array([words_of.binomial(state, 1e9, 0.3) for _ in range(20_000)])
    z = (drawn - 3e8) / np.sqrt(2.1e8)
    assert abs(z.mean()) < 4.5 / np.sqrt(z.size)
    assert abs((z**2).mean() - 1) < 4.5 * np.sqrt(2 / z.size)


SMALL = cs.Sample.from_counts([0.0, 0.1, 0.35, 0.36, 0.8, 1.0], [2, 1, 3, 1, 2, 1], [0, 1, 1, 0, 2, 1])
TIED = cs.Sample.from_counts([0.2, 0.7], [60, 40], [15, 30])  # so many rows a value that cells are drawn, not rows


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
@pytest.mark.parametrize("scheme", resampling.SCHEMES)
def test_summary_law(sample, scheme):
    """Counts ~ Binomial(n, c/n); positives ~ Binomial(c, v) with labels, Binomial(n, c v/n) or (n, a/n) with rows."""
    drawn = resampling.draw(sample, scheme, lambda v, c, a: np.array([c, a]), 40_000, KEY, 1)
    n = sample.n
    for j, (v, c, a) in enumerate(zip(*sample.arrays, strict=True)):
        hits = np.arange(n + 1)
        if scheme == "labels":
            assert np.all(drawn[:, 0, j] == c)
            law, wrong = (stats.binom.pmf(hits, c, p) for p in (v, min(v + 0.02, 1)))
        else:
            assert follows(drawn[:, 0, j], stats.binom.pmf(hits, n, c / n))
            rate = c * v / n if scheme == "both" else a / n
            law, wrong = (stats.binom.pmf(hits, n, p) for p in (rate, rate + 0.01))
        assert follows(drawn[:, 1, j], law)
        if 0 < v < 1:
            assert not follows(drawn[:, 1, j], wrong)
    assert np.all(drawn[:, 0].sum(axis=1) == n)


@pytest.mark.parametrize("sample", [SMALL, TIED], ids=["rows", "cells"])
@pytest.mark.parametrize("scheme", resampling.SCHEMES)
def test_cell_law(sample, scheme):
    """Sums over fixed cells have the law of the summary's sums, and the three of a cell belong together."""
    cell = find_measure("ece", {"n_bins": 3}).cells(sample.value, sample.count)
    count, residual, value = resampling.draw_cells(sample, cell, scheme, 40_000, KEY, 1)
    n = sample.n
    positives = (residual + value) * n
    assert np.allclose(positives, np.round(positives), atol=1e-9)
    assert np.all(count.sum(axis=1) == n)
    for b in np.unique(cell):
        inside = cell == b
        v, c, a = (array[inside] for array in sample.arrays)
        hits = np.arange(n + 1)
        if scheme == "labels":
            law = poisson_binomial(np.repeat(v, c.astype(int)))
            assert np.allclose(value[:, b] * n, c @ v)
        else:
            assert follows(count[:, b], stats.binom.pmf(hits, n, c.sum() / n))
            law = stats.binom.pmf(hits, n, (c @ v if scheme == "both" else a.sum()) / n)
            # the mean prediction given the rows: compare the mean of sum v with its expectation, within normal limits
            difference = value[:, b] * n - count[:, b] * (c @ v) / c.sum()
            assert abs(difference.mean()) <= 4.5 * difference.std() / np.sqrt(len(difference)) + 1e-12
        assert follows(np.round(positives[:, b]), law)


def test_an_outcome_belongs_to_the_row_it_is_drawn_with():
    """With predictions 0 and 1 in one cell every drawn outcome equals its prediction, however the rows fall."""
    sample = cs.Sample.from_counts([0.0, 1.0], [30, 20], [10, 15])
    for draws in ("both", "rows"):
        count, residual, value = resampling.draw_cells(sample, np.zeros(2, np.int64), draws, 2000, KEY, 1)
        assert np.unique(value).size > 10
        assert np.all(count == 50)
        assert np.all(residual == 0) == (draws == "both")


def test_mean_null_ece_is_exact():
    """The mean of ECE* under labels-only resampling equals the mean under the Poisson-binomial laws of the bins."""
    generator = np.random.default_rng(8)
    p = generator.random(300)
    sample = cs.Sample.from_rows(generator.random(300) < p, p)
    bound = find_measure("ece", {"n_bins": 10})
    cell = bound.cells(sample.value, sample.count)
    exact = 0.0
    for b in range(10):
        v = np.repeat(sample.value[cell == b], sample.count[cell == b].astype(int))
        law = poisson_binomial(v)
        exact += law @ np.abs(np.arange(law.size) - v.sum()) / 300
    by_law = resampling.resample(bound, sample, "labels", 40_000, KEY, 1)
    by_row = resampling.draw(sample, "labels", bound.statistic, 20_000, KEY, 1)
    for drawn in (by_law, by_row):
        limit = stats.norm.isf(FALSE_ALARM / 2) * drawn.std() / np.sqrt(drawn.size)
        assert abs(drawn.mean() - exact) < limit
        assert abs(drawn.mean() * 1.01 - exact) > limit  # planted fault: one per cent off


def test_inversion_is_exact():
    """The table that speeds up inversion gives what a search of the cumulative law gives; one cell holds no rows."""
    generator = np.random.default_rng(6)
    p = np.sort(generator.beta(0.3, 0.3, 6000))
    sample = cs.Sample.from_rows(np.zeros(p.size), p)
    cell = np.searchsorted([0.001, 0.2, 0.2, 0.9], sample.value)
    count, residual, value = resampling.draw_cells(sample, cell, "labels", 500, KEY, 1)
    starts = [words_of.stream(KEY, 1, replicate) for replicate in range(500)]
    uniform = ((words(starts, 5) >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    for b in range(5):
        least, law = law_of_positives(sample.value[cell == b], sample.count[cell == b])
        total = np.cumsum(law)
        positives = least + np.searchsorted(total, uniform[:, b] * total[-1])
        assert np.array_equal(residual[:, b], positives / sample.n - value[0, b])
        assert count[0, b] == np.sum(cell == b)


def test_large_laws_are_drawn_cell_by_cell(monkeypatch):
    """Where the exact law would cost too much, the same cells are drawn from the summary: same law, other numbers."""
    monkeypatch.setattr(events, "LARGEST_LAW", 0.0)
    test_cell_law(SMALL, "labels")


@pytest.mark.parametrize(
    ("value", "count", "n_resamples", "exact"),
    [
        (np.linspace(0, 1, 101), 100.0, 999, True),
        (np.linspace(0, 1, 1001), 1e5, 999, False),  # laws of a second a bin; a draw takes a tenth of a microsecond
        (np.linspace(0, 1, 1001), 1e12, 999, False),
        (np.linspace(0, 1, 2000), 1.0, 999, True),
        (np.linspace(0, 1, 100_000), 1.0, 3, False),  # few resamples are drawn before the laws are made
        (np.linspace(0, 1, 100_000), 1.0, 999, True),
    ],
)
def test_the_exact_law_is_taken_where_it_is_cheaper(monkeypatch, value, count, n_resamples, exact):
    taken = []
    monkeypatch.setattr(events, "_draw_cells_from_laws", lambda *_: taken.append(True))
    monkeypatch.setattr(events, "draw", lambda *_: np.zeros((1, 3, 1)))
    counts = np.full(value.size, count)
    sample = cs.Sample.from_counts(value, counts, np.round(counts * value))
    cell = np.minimum((value * 15).astype(np.int64), 14)
    resampling.draw_cells(sample, cell, "labels", n_resamples, KEY, 1)
    assert taken == [True] * exact


# --- threads and chunks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", resampling.SCHEMES)
@pytest.mark.parametrize("name", ["ece", "mcb"])
def test_threads_and_chunks_do_not_show(scheme, name, monkeypatch):
    generator = np.random.default_rng(2)
    p = np.round(generator.random(5000), 4)
    sample = cs.Sample.from_rows(generator.random(5000) < p, p)
    bound = find_measure(name, {})

    def run(n_jobs):
        return resampling.resample(bound, sample, scheme, 130, KEY, 1, n_jobs)

    alone = run(1)
    assert np.array_equal(alone, run(2))
    assert np.array_equal(alone, run(3))
    monkeypatch.setattr(events, "WORTH_A_THREAD", 0)
    assert np.array_equal(alone, run(2))
    monkeypatch.setattr(events, "chunks", lambda size, jobs: list(pairwise([0, 1, size // 3, size - 2, size])))
    assert np.array_equal(alone, run(1))
    assert not np.array_equal(alone, resampling.resample(bound, sample, scheme, 130, KEY + np.uint64(1), 1))
    assert not np.array_equal(alone, resampling.resample(bound, sample, scheme, 130, KEY, 2))


def test_more_resamples_extend_the_same_sequence():
    sample = cs.Sample.from_counts([0.2, 0.5, 0.7], [5, 8, 9], [1, 4, 6])
    bound = find_measure("ks", {})
    for scheme in resampling.SCHEMES:
        few, many = (resampling.resample(bound, sample, scheme, r, KEY, 1) for r in (10, 100))
        assert np.array_equal(few, many[:10])
