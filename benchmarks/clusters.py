"""Searches for populations in which a test of rows in clusters rejects calibrated models too often.

Each population is drawn at random: 15 to 300 clusters, of equal, geometric, log-normal, heavy-tailed or two sizes, or
one giant; predictions from rare to even, free, close or equal within clusters; rows independent, or as alike as
they can be in some clusters, all, the larger ones or those with small predictions; no weights, or weights of rows or
of clusters.

    python benchmarks/clusters.py 320 60     # populations, data sets of each: prints the rates, the largest last
    python benchmarks/clusters.py 200 20 mcb  # the same by another measure
    python benchmarks/clusters.py power 100  # five errors beside the test by ece, in clusters of six kinds
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import calibstat as cs

DRAWS = 99
SIZES = ("equal", "geometric", "lognormal", "giant", "two kinds", "pareto")
MOST_ROWS = 4000


def population(number: int) -> tuple[dict[str, Any], np.ndarray]:
    """Draw what the data sets of one population share: names and numbers of its kind, and the sizes of its clusters."""
    random = np.random.default_rng([77, number])
    clusters = int(np.exp(random.uniform(np.log(15), np.log(300))))
    kind = str(random.choice(SIZES))
    mean = float(np.exp(random.uniform(np.log(1.5), np.log(25))))
    equal = max(1, round(mean))
    drawn: dict[str, np.ndarray] = {
        "equal": np.full(clusters, equal),
        "geometric": random.geometric(1 / mean, clusters),
        "lognormal": np.maximum(1, np.rint(mean * np.exp(random.normal(0, 1, clusters)))),
        "giant": np.r_[np.full(clusters - 1, equal), round(mean * clusters * random.uniform(0.2, 1))],
        "two kinds": np.where(
            np.arange(clusters) < clusters * random.uniform(0.05, 0.5), round(8 * mean), max(1, round(mean / 3))
        ),
        "pareto": np.maximum(1, np.rint(mean / 2 * (1 + random.pareto(1.5, clusters)))),
    }
    size = drawn[kind].astype(int)
    while size.sum() > MOST_ROWS:
        size = np.maximum(1, size * 3 // 4)
    rate = float(np.exp(random.uniform(np.log(0.01), np.log(0.5))))
    precision = float(np.exp(random.uniform(np.log(0.5), np.log(30))))
    within = str(random.choice(["free", "same", "close"]))
    alike = str(random.choice(["none", "some", "all", "large", "rare"]))
    share = float(random.uniform(0.2, 1))
    weights = str(random.choice(["none", "none", "gamma", "cluster"]))
    described = {"number": number, "sizes": kind, "clusters": clusters, "rows": int(size.sum()), "rate": rate}
    described |= {"precision": precision, "within": within, "alike": alike, "share": share, "weights": weights}
    return described, size


def rows_of(kind: dict[str, Any], size: np.ndarray, seed: int) -> tuple[np.ndarray, ...]:
    """Draw outcomes, predictions, clusters and weights (empty without)."""
    random = np.random.default_rng([78, kind["number"], seed])
    clusters, unit = size.size, np.repeat(np.arange(size.size), size)
    shape = kind["precision"] * kind["rate"], kind["precision"] * (1 - kind["rate"])
    base = random.beta(*shape, clusters)
    if kind["within"] == "free":
        p = random.beta(*shape, unit.size)
    else:
        p = base[unit]
        p = np.clip(p + 0.05 * random.normal(size=unit.size), 0, 1) if kind["within"] == "close" else p
    p = np.clip(p, 1e-4, 1 - 1e-4)
    alike = {
        "none": np.zeros(clusters),
        "some": np.full(clusters, kind["share"]),
        "all": np.ones(clusters),
        "large": (size > np.median(size)) * 1.0,
        "rare": (np.bincount(unit, p) / size < kind["rate"]) * 1.0,
    }[kind["alike"]]
    together = random.random(clusters) < alike
    uniform = np.where(together[unit], random.random(clusters)[unit], random.random(unit.size))
    weight = np.empty(0)
    if kind["weights"] == "gamma":
        weight = random.gamma(1, 1, unit.size) + 0.01
    elif kind["weights"] == "cluster":
        weight = (random.gamma(1, 1, clusters) + 0.01)[unit]
    return (uniform < p).astype(int), p, unit, weight


def search(populations: int, data_sets: int, measure: str = "omnibus") -> Iterator[tuple[float, dict[str, Any]]]:
    """Give the share of rejected data sets of each population, with its kind."""
    for number in range(populations):
        kind, size = population(number)
        rejected = 0
        for seed in range(data_sets):
            y, p, unit, weight = rows_of(kind, size, seed)
            given: dict[str, Any] = {"measure": measure, **({"sample_weight": weight} if weight.size else {})}
            rejected += cs.calibration_test(y, p, cluster=unit, n_resamples=DRAWS, rng=seed, **given).pvalue <= 0.05
        yield rejected / data_sets, kind


def logistic(x: np.ndarray) -> np.ndarray:
    """Return the inverse of the logit."""
    return 1 / (1 + np.exp(-x))


ERRORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "none": lambda p: p,
    "logits .4 too low": lambda p: logistic(np.log(p / (1 - p)) + 0.4),
    "temperature": lambda p: logistic(0.6 * np.log(p / (1 - p))),
    "wave": lambda p: np.clip(p + 0.12 * np.sin(6 * np.pi * p), 0.001, 0.999),
    "one range": lambda p: np.where((p > 0.6) & (p < 0.75), np.clip(p - 0.25, 0, 1), p),
    "tenths by turns": lambda p: np.clip(p + 0.08 * np.sign(0.5 - p) * (np.floor(10 * p) % 2 * 2 - 1), 0.001, 0.999),
}
KINDS = ((60, 10, 0.0, False), (60, 10, 0.5, False), (60, 10, 1.0, False), (200, 5, 0.5, False), (30, 30, 0.5, False))
KINDS += ((60, 10, 0.0, True), (60, 10, 0.5, True), (200, 5, 0.5, True))


def power(data_sets: int) -> Iterator[str]:
    """Give a line for each kind of clusters: how often each error is found by the omnibus statistic and by `ece`."""
    for clusters, size, share, equal in KINDS:
        found = []
        for name, error in ERRORS.items():
            rejected = np.zeros(2)
            for seed in range(data_sets):
                random = np.random.default_rng([clusters, size, int(share * 10), seed])
                unit = np.repeat(np.arange(clusters), size)
                p = random.beta(1.5, 1.5, clusters)[unit] if equal else random.beta(1.5, 1.5, unit.size)
                p = p.clip(0.01, 0.99)
                together = (random.random(clusters) < share)[unit]
                uniform = np.where(together, random.random(clusters)[unit], random.random(unit.size))
                y = (uniform < error(p)).astype(int)
                given = {"cluster": unit, "n_resamples": DRAWS, "rng": seed}
                rejected += [cs.calibration_test(y, p, measure=name, **given).pvalue <= 0.05 for name in TESTS]
            found.append(f"{name} {rejected[0] / data_sets:.2f} / {rejected[1] / data_sets:.2f}")
        where = "equal predictions within, " if equal else ""
        yield f"{clusters} clusters of {size}, {where}{share:.0%} alike: {', '.join(found)}"


TESTS = ("omnibus", "ece")

if __name__ == "__main__":
    warnings.simplefilter("ignore", UserWarning)  # that there are few clusters, which is what is asked
    if sys.argv[1] == "power":
        for line in power(int(sys.argv[2])):
            print(line, flush=True)
    else:
        rates = []
        for rate, kind in search(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]):
            rates.append((rate, kind))
            print(f"{rate:.3f} {kind}", flush=True)
        print(f"mean {np.mean([rate for rate, _ in rates]):.3f}; the largest:")
        for rate, kind in sorted(rates, key=lambda each: each[0])[-10:]:
            print(f"{rate:.3f} {kind}")
