"""The general calibration error of arrays, its 32 members, and samples to compute them on."""

from itertools import product

import numpy as np

import calibstat as cs
from calibstat.inference.gce_family import PAPERS
from calibstat.measures.gce import GCE


def gce(prob, label, **options):
    return GCE(**options).evaluate(prob, label)


def gce_batch(prob, labels, **options):
    return GCE(**options).batch(prob, labels)


# Appendix C of Nixon et al. 2019, in their order
SWITCHES = [
    {"binning": binning, "max_prob": max_prob, "class_conditional": apart, "threshold": threshold, "norm": norm}
    for binning, max_prob, apart, threshold, norm in product(
        ("even", "adaptive"), (True, False), (True, False), (0.0, 0.01), ("l1", "l2")
    )
]


def named(name, *data, **options):
    """A member of the family by its name."""
    return cs.estimate(*data, measure="gce", **(PAPERS[name] | options))


def many(n, classes, seed=0, dtype=np.float64):
    """Rows with ties, exact 0 and 1, probabilities about the threshold; the last class is never observed."""
    rng = np.random.default_rng(seed)
    weight = np.floor(rng.gamma(0.3, 4, (n, classes)) * rng.integers(1, 4, (n, 1)))
    weight[rng.random((n, classes)) < 0.3] /= 64
    weight[np.arange(n), rng.integers(0, classes, n)] += 1
    weight[: n // 8] = np.eye(classes)[rng.integers(0, classes, n // 8)]
    prob = weight / weight.sum(axis=1, keepdims=True)
    label = np.where(rng.random(n) < 0.5, prob.argmax(axis=1), rng.integers(0, classes, n)) % (classes - 1)
    return prob.astype(dtype), label
