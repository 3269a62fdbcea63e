"""Models to compare, the comparisons that are offered, and the rows that a comparison draws."""

import numpy as np
from scipy.stats import t

import calibstat as cs
from calibstat import resampling
from calibstat.resampling import Stream
from calibstat.resampling.streams import first_state, word

OFFERED = [
    ("kernel_ce_squared", {"bandwidth": 0.2}),
    ("kernel_ce", {}),
    ("ece", {"n_bins": 6}),
    ("ece", {"n_bins": 5, "strategy": "quantile"}),
    ("ks", {}),
    ("kuiper", {}),
    ("smooth_ce", {}),
    ("brier", {}),
    ("log_loss", {}),
]
IN_CLUSTERS = [each for each in OFFERED if each[0] != "kernel_ce_squared"]
ENTRIES = ("names", "estimates", "pairs", "difference", "low", "high", "pvalue", "pvalue_adjusted")


def two_models(n=60, seed=0, ties=True):
    random = np.random.default_rng(seed)
    x = random.normal(size=(2, n))
    chance = 1 / (1 + np.exp(-x.sum(axis=0)))
    p, q = 1 / (1 + np.exp(-1.5 * x))
    p, q = (p.round(1), q.round(1)) if ties else (p, q)
    return (random.random(n) < chance).astype(int), np.clip(p, 0.05, 0.95), np.clip(q, 0.05, 0.95)


def three_models(n=60):
    y, p, q = two_models(n)
    return y, {"A": p, "B": q, "C": np.full(n, y.mean())}


def same(one, other):
    a, b = one.to_dict(), other.to_dict()
    return all(repr(a[e]) == repr(b[e]) for e in ENTRIES)  # nan and all


def drawn_rows(n, n_resamples, rng, stream=Stream.COMPARE):
    """The rows of each resample, in whole numbers of any size."""
    key = resampling.key_of(rng)
    for r in range(n_resamples):
        state = np.uint64(first_state(key, stream, r))
        words = [int(word(state, i)) for i in range((n + 1) // 2)]  # two rows by each
        yield np.array([half * n >> 32 for w in words for half in (w & (2**32 - 1), w >> 32)][:n])


def several_classes(n=150):
    family = cs.generators.dirichlet((1, 1, 1))
    y, p = family.sample(n, rng=1)
    return y, p, np.roll(p, 1, axis=1)


def skewness(z, variance, third, largest=1.0, cap=1.0):
    """What the score bound adds to z standard errors."""
    k = (2 * z**2 + 4) / 3
    rate = min((max(third, 0) + 2 * largest**3) / (variance + 2 * largest**2), cap)
    return rate * k / 2 + np.sqrt(z**2 * variance + (rate * k / 2) ** 2) - z * np.sqrt(variance)


def bound(each, most, tail=0.025):
    """The upper score bound of a mean, of which a row may be `most`."""
    z = t.isf(tail, each.size - 1)
    centred = each - each.mean()
    variance = (centred**2).sum() * each.size / (each.size - 1)
    largest = most - each.mean()
    added = z * np.sqrt(variance) + skewness(z, variance, (centred**3).sum(), largest, largest)
    return each.mean() + added / each.size
