"""Random words: the published generator, independent streams, keys, and binomial draws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import follows
from oracles import splitmix_words as words
from scipy import stats

import calibstat as cs
from calibstat import resampling
from calibstat.resampling import streams

KEY = streams.key_of(20240611)
FALSE_ALARM = 1e-6  # of every single check in this file; fewer than a hundred are made


def is_uniform(numbers, n_values):
    """Chi-square test that whole numbers below n_values are uniform; both tails, so that too even fails as well."""
    observed = np.bincount(numbers.ravel().astype(np.int64), minlength=n_values)
    expected = numbers.size / n_values
    chi2 = ((observed - expected) ** 2 / expected).sum()
    p = stats.chi2.sf(chi2, n_values - 1)
    return FALSE_ALARM / 2 < p < 1 - FALSE_ALARM / 2


def test_published_outputs():
    # splitmix64 with seed 1234567, as published with the reference implementation
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert [streams.word(np.uint64(1234567), i) for i in range(4)] == published
    assert words([1234567], 4)[0].tolist() == published


@given(st.integers(0, 2**64 - 1), st.integers(0, 9), st.integers(0, 10**9), st.integers(0, 10**6))
def test_a_key_of_later_replicates(key, stream, first, r):
    later = streams.key_after(np.uint64(key), stream, first)
    assert streams.first_state(later, stream, r) == streams.first_state(np.uint64(key), stream, first + r)
    assert streams.key_after(np.uint64(key), stream, 0) == key


@pytest.fixture(scope="module")
def neighbours():
    """Words of 64 neighbouring replicates for 64 neighbouring seeds, shape (4096, 64)."""
    starts = [streams.first_state(resampling.key_of(seed), 1, r) for seed in range(64) for r in range(64)]
    return words(starts, 64)


@given(st.integers(0, 2**64 - 1), st.integers(0, 20), st.integers(0, 2**20), st.integers(0, 5))
def test_states_of_several_replicates(key, stream, first, n):
    expected = [streams.first_state(np.uint64(key), stream, first + r) for r in range(n)]
    assert streams.first_states(np.uint64(key), stream, first, first + n).tolist() == expected


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
        faulty = words(KEY + np.arange(4096, dtype=np.uint64) * streams.GOLDEN, 64)
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


# --- binomial draws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "p"),
    [(1, 0.3), (7, 0.5), (40, 0.1), (40, 0.9), (40, 0.25), (100, 0.5), (300, 0.97), (5000, 0.004), (900, 0.4)],
)
def test_binomial(n, p):
    state = np.array([KEY])
    drawn = [streams.binomial(state, float(n), p) for _ in range(40_000)]
    pmf = stats.binom.pmf(np.arange(n + 1), n, p)
    assert follows(drawn, pmf)
    assert not follows(drawn, stats.binom.pmf(np.arange(n + 1), n, p * 1.1 if p < 0.9 else p * 0.98))


def test_binomial_ends():
    state = np.array([KEY])
    assert [streams.binomial(state, 9.0, p) for p in (0.0, 1.0)] == [0, 9]
    assert streams.binomial(state, 0.0, 0.3) == 0
    # A billion rows: mean and variance n p and n p q, within normal limits of 20,000 draws.
    drawn = np.array([streams.binomial(state, 1e9, 0.3) for _ in range(20_000)])
    z = (drawn - 3e8) / np.sqrt(2.1e8)
    assert abs(z.mean()) < 4.5 / np.sqrt(z.size)
    assert abs((z**2).mean() - 1) < 4.5 * np.sqrt(2 / z.size)
