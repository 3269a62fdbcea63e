"""Streams of random words, and binomial draws.

A word is a function of (key, stream, replicate, position) alone, so the numbers are the same for any number of threads
and any chunking.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from calibstat.compiled import first_calls, jit
from calibstat.data.checks import short
from calibstat.resampling.rng import Rng

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
LOW_HALF = np.uint64(0xFFFFFFFF)  # masking a factor that is smaller anyway lets the compiler multiply faster


def key_of(rng: Rng) -> np.uint64:
    """Return the 64-bit key of None, an int, a SeedSequence or a Generator, from which one word is taken."""
    if isinstance(rng, np.random.Generator):
        return rng.integers(0, 2**64, dtype=np.uint64)
    if isinstance(rng, np.random.SeedSequence):
        return rng.generate_state(1, np.uint64)[0]
    if rng is None or (isinstance(rng, int | np.integer) and not isinstance(rng, bool) and rng >= 0):
        return np.random.SeedSequence(rng).generate_state(1, np.uint64)[0]
    raise ValueError(f"expected rng None, an int of at least 0, a SeedSequence or a Generator, found {short(rng)}")


LOG_FACTORIALS = (
    *(0.0, 0.0, 0.6931471805599453, 1.791759469228055, 3.1780538303479458, 4.787491742782046),
    *(6.579251212010101, 8.525161361065415, 10.60460290274525, 12.801827480081469),
)  # of 0 to 9: the logarithm of the gamma function is not the same in every library of C

Words = TypeVar("Words", np.uint64, np.ndarray)


@first_calls()
@jit
def word(start: np.uint64, i: int) -> np.uint64:
    """Return output i of the splitmix64 generator with state `start` (Steele, Lea, Flood 2014)."""
    return mix(start + (np.uint64(i) + np.uint64(1)) * GOLDEN)


def mixed(z: Words) -> Words:
    """Return the output of a state. Loops over many words add GOLDEN to the state, which is cheaper than `word`."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


mix = first_calls()(jit(mixed))


@first_calls()
@jit
def first_state(key: np.uint64, stream: int, replicate: int) -> np.uint64:
    """Return the initial state of a replicate."""
    return word(np.uint64(word(key, stream)), replicate)


def first_states(key: np.uint64, stream: int, first: int, last: int) -> np.ndarray:
    """Return the initial states of replicates first..last."""
    state = np.arange(first + 1, last + 1, dtype=np.uint64) * GOLDEN + np.uint64(word(key, stream))
    return np.asarray(mixed(state))  # as `first_state`, which is called from kernels


def words(state: Words, first: int, n: int) -> np.ndarray:
    """Return the words first..first + n of streams with these states, shape (n,) or (n, B); a word as in a kernel."""
    steps = np.arange(first + 1, first + n + 1, dtype=np.uint64) * GOLDEN
    return np.asarray(mixed(np.add.outer(steps, state)))


def uniform(drawn: np.ndarray) -> np.ndarray:
    """Return the numbers in (0, 1) that words stand for."""
    return ((drawn >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def parted(drawn: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the two halves of words times n, of 128 bits: a number from 0 to n - 1, and a word for what follows."""
    size = np.uint64(n)
    low = (drawn & LOW_HALF) * size
    high = (drawn >> np.uint64(32)) * size + (low >> np.uint64(32))
    return (high >> np.uint64(32)).astype(np.int64), high << np.uint64(32) | low & LOW_HALF


def key_after(key: np.uint64, stream: int, first: int) -> np.uint64:
    """Return the key whose replicate r is replicate `first` + r of this key, of one stream.

    `first_state` steps from the state ``word(key, stream)``, and ``mix`` is one-to-one: a later state has a key too.
    """
    later = int(word(key, stream)) + first * int(GOLDEN)
    return np.uint64((_unmix(later % 2**64) - (stream + 1) * int(GOLDEN)) % 2**64)


def _unmix(z: int) -> int:
    """Return the state that `mix` takes to `z`: its steps in reverse order, each undone."""
    z ^= z >> 31 ^ z >> 62
    z = z * pow(0x94D049BB133111EB, -1, 2**64) % 2**64
    z ^= z >> 27 ^ z >> 54
    z = z * pow(0xBF58476D1CE4E5B9, -1, 2**64) % 2**64
    return z ^ z >> 30 ^ z >> 60


@first_calls()
@jit
def next_uniform(state: np.ndarray) -> float:
    """Return the next number in (0, 1) and advance the one-element state."""
    state[0] += GOLDEN
    w = mix(state[0])
    return (np.float64(w >> np.uint64(11)) + 0.5) * 2.0**-53


def _tail_of_stirling(k: float) -> float:
    """Return log k! minus Stirling's approximation to it."""
    if k < 10:
        return LOG_FACTORIALS[int(k)] - (0.9189385332046727 + (k + 0.5) * math.log(k + 1.0) - (k + 1.0))
    x = 1.0 / (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - x * x / 1260) * x * x) * x


_stirling_tail = jit(_tail_of_stirling)


@first_calls()
@jit
def _binomial_by_inversion(u: float, n: float, p: float) -> float:
    """Return the quantile of Binomial(n, p) at u, by adding up probabilities from 0."""
    odds = p / (1.0 - p)
    mass = math.exp(n * math.log1p(-p))
    k = 0.0
    while u > mass and k < n:
        u -= mass
        k += 1.0
        mass *= odds * (n - k + 1.0) / k
    return k


@jit
def binomial(state: np.ndarray, n: float, p: float) -> float:
    """Draw from Binomial(n, p): by inversion if the mean is small, else by BTRS (Hörmann 1993)."""
    mirrored = p > 0.5
    p = 1.0 - p if mirrored else p
    if n <= 0.0 or p <= 0.0:
        return n if mirrored else 0.0
    if n * p < 10.0:
        k = _binomial_by_inversion(next_uniform(state), n, p)
        return n - k if mirrored else k
    q = 1.0 - p
    odds = p / q
    spread = math.sqrt(n * p * q)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre = n * p + 0.5
    sure = 0.92 - 4.2 / b
    alpha = (2.83 + 5.1 / b) * spread
    m = float(math.floor((n + 1.0) * p))  # whole numbers would have the tail compiled a second time
    while True:
        u = next_uniform(state) - 0.5
        v = next_uniform(state)
        us = 0.5 - abs(u)
        k = float(math.floor((2.0 * a / us + b) * u + centre))
        if us >= 0.07 and v <= sure:
            break
        if k < 0.0 or k > n:
            continue
        bound = (
            (m + 0.5) * math.log((m + 1.0) / (odds * (n - m + 1.0)))
            + (n + 1.0) * math.log((n - m + 1.0) / (n - k + 1.0))
            + (k + 0.5) * math.log(odds * (n - k + 1.0) / (k + 1.0))
            + _stirling_tail(m)
            + _stirling_tail(n - m)
            - _stirling_tail(k)
            - _stirling_tail(n - k)
        )
        if math.log(v * alpha / (a / (us * us) + b)) <= bound:
            break
    return n - k if mirrored else k


def binomials(state: np.ndarray, n: np.ndarray, p: float) -> np.ndarray:
    """Draw from Binomial(n, p) for each state as `binomial` does, to the last bit, and advance the states."""
    if p > 0.5:
        return n - binomials(state, n, 1.0 - p)
    k = np.zeros(n.size)
    if p <= 0.0:
        return k
    few = np.flatnonzero((n > 0.0) & (n * p < 10.0))
    k[few] = [
        _binomial_by_inversion(*each, p) for each in zip(_next(state, few).tolist(), n[few].tolist(), strict=True)
    ]
    left = np.flatnonzero((n > 0.0) & (n * p >= 10.0))
    while left.size:
        left = left[~_tried(state, left, n, p, k)]
    return k


def _next(state: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return the next number in (0, 1) of some of the states, and advance these."""
    state[at] += GOLDEN
    return uniform(mixed(state[at]))


def _tried(state: np.ndarray, at: np.ndarray, of_all: np.ndarray, p: float, drawn: np.ndarray) -> np.ndarray:
    """Try to draw once for some of the states, and return whether that was accepted."""
    n, q = of_all[at], 1.0 - p
    odds = p / q
    spread = np.sqrt(n * p * q)
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    u, v = _next(state, at) - 0.5, _next(state, at)
    us = 0.5 - abs(u)
    k = np.floor((2.0 * a / us + b) * u + (n * p + 0.5))
    taken = (us >= 0.07) & (v <= 0.92 - 4.2 / b)
    drawn[at[taken]] = k[taken]
    doubtful = np.flatnonzero(~taken & (k >= 0.0) & (k <= n))
    n, k, v, us, a, b, spread = (each[doubtful] for each in (n, k, v, us, a, b, spread))
    m = np.floor((n + 1.0) * p)
    bound = (
        (m + 0.5) * _each(math.log, (m + 1.0) / (odds * (n - m + 1.0)))
        + (n + 1.0) * _each(math.log, (n - m + 1.0) / (n - k + 1.0))
        + (k + 0.5) * _each(math.log, odds * (n - k + 1.0) / (k + 1.0))
        + _each(_tail_of_stirling, m)
        + _each(_tail_of_stirling, n - m)
        - _each(_tail_of_stirling, k)
        - _each(_tail_of_stirling, n - k)
    )
    accepted = _each(math.log, v * ((2.83 + 5.1 / b) * spread) / (a / (us * us) + b)) <= bound
    drawn[at[doubtful[accepted]]] = k[accepted]
    taken[doubtful[accepted]] = True
    return taken


def _each(function: Callable[[float], float], x: np.ndarray) -> np.ndarray:
    """Return the function of each number: NumPy's logarithms are not the same on every processor."""
    return np.array([function(each) for each in x.tolist()])
