"""What every registered measure claims, each claim a check; and the samples on which they are checked."""

import numpy as np

import calibstat as cs
from calibstat.measures import MEASURES, Info, Statistic
from calibstat.measures.kinds.registry import binary_measures, find_measure
from calibstat.measures.lower_and_upper_distance import LARGEST

ULP = np.finfo(float).eps
VARIANTS = [
    ("ece", {"n_bins": "cube_root"}),
    ("ece", {"strategy": "quantile"}),
    ("ece", {"norm": "l2"}),
    ("ece", {"norm": "max"}),
    ("ece", {"norm": 3, "n_bins": 10}),
    ("ece_debiased", {"variant": "kumar"}),
    ("ece_debiased", {"strategy": "quantile"}),
    ("kernel_ce", {"bandwidth": 0.1}),
    ("kernel_ce", {"kernel": "gaussian"}),
    ("kernel_ce_squared", {"kernel": "gaussian"}),
    ("regression_ce", {"kernel": "epanechnikov"}),
    ("regression_ce", {"divergence": "log_loss", "clip": 2.0**-24}),
    ("smooth_ece", {"bandwidth": 0.05}),
    ("random_interval_ce", {"width": 1.0}),
    ("random_interval_ce", {"width": 0.01}),
    ("ece", {"n_bins": "20 rows"}),
    ("ece_width", {"penalty": "largest"}),
    ("sweep_ce", {"strategy": "uniform"}),
    ("weighted_ce", {"functions": 0}),
    ("post_processing_gap", {"score": "log_loss", "clip": 2.0**-53}),
    ("post_processing_gap", {"score": "spherical"}),
]
BUILT_IN = [
    name
    for name, entry in ((name, MEASURES[name]) for name in binary_measures())
    if entry.__module__.startswith("calibstat.") and not entry.info.for_tests_only
]
GRIDS = {"lower_distance": {"grid": 256}}  # quicker than by default, and no coarser than the checks allow
BOUND = [find_measure(name, GRIDS.get(name, {})) for name in BUILT_IN]
BOUND += [find_measure(*variant) for variant in [*VARIANTS, ("omnibus", {})]]


def rows(seed: int, n: int = 200, levels: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Over-confident predictions with ties, right where 0 or 1; k / levels, so that reversing them is exact."""
    rng = np.random.default_rng(seed)
    p = rng.integers(0, levels + 1, n) / levels
    frequency = np.where((p == 0) | (p == 1), p, 0.25 + p / 2)
    return (rng.random(n) < frequency).astype(np.int64), p


def rows_for(bound: Statistic, seed: int, n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """Rows with no more levels than the measure has a value for."""
    return rows(seed, n, levels=16 if bound.has_value(np.arange(17)) else LARGEST - 2)


EDGES = {
    "one row": cs.Sample.from_counts([0.3], [1], [1]),
    "constant predictions": cs.Sample.from_counts([0.4], [10], [7]),
    "all 0": cs.Sample.from_rows(np.zeros(9), np.arange(1, 10) / 10),
    "all 1": cs.Sample.from_rows(np.ones(9), np.arange(1, 10) / 10),
    "exact 0 and 1": cs.Sample.from_counts([0, 1], [5, 5], [0, 5]),
    "all wrong": cs.Sample.from_counts([0, 1], [5, 5], [5, 0]),
}
# opposite errors beside each other (theory: the two-point discontinuity), and what it is when they meet
APART = cs.Sample.from_counts([0.5 - 1e-12, 0.5 + 1e-12], [1000, 1000], [0, 1000])
TOGETHER = cs.Sample.from_counts([0.5], [2000], [1000])
# opposite errors beside each other, each with a neighbour whose error it cancels, until they meet
PAIRED = cs.Sample.from_counts([0.36, 0.5 - 1e-12, 0.5 + 1e-12, 0.64], [100, 128, 128, 100], [100, 0, 128, 0])
PARTED = cs.Sample.from_counts([0.36, 0.5, 0.64], [100, 256, 100], [100, 128, 0])
# the quadratic gap at alpha = .3, as soon as its four points are told apart, and where they tie
FOUR = cs.Sample.from_counts([0.2 - 1e-12, 0.2, 0.8, 0.8 + 1e-12], [300, 500, 500, 300], [300, 100, 400, 0])
TIED = cs.Sample.from_counts([0.2, 0.8], [800, 800], [400, 400])
JUMPS = [(APART, TOGETHER), (PAIRED, PARTED), (FOUR, TIED)]
MISCALIBRATED = [
    cs.Sample.from_counts([0.2, 0.5, 0.8], [1e6] * 3, [3e5, 6e5, 9e5]),  # shift
    cs.Sample.from_counts([0.1, 0.5, 0.9], [1e6] * 3, [3e5, 5e5, 7e5]),  # over-confident
    cs.Sample.from_counts([0.25, 0.75], [1e6, 1e6], [1e6, 0]),  # the wrong way round: the mean residual is 0
    cs.Sample.from_counts(np.arange(1, 50) / 50, [1e6] * 49, np.arange(1, 50) * 2e4 + (-1) ** np.arange(49) * 2e4),
]


def miscalibrated_for(bound: Statistic) -> list[cs.Sample]:
    """Those of which the measure has a value."""
    return [sample for sample in MISCALIBRATED if bound.has_value(sample.value)]


def check_bounds(bound: Statistic) -> None:
    low, high = bound.info.bounds
    for sample in [cs.Sample.from_rows(*rows_for(bound, seed)) for seed in range(3)] + miscalibrated_for(bound):
        assert low <= bound.estimate(sample) <= high


def edge(name: str):
    def check(bound: Statistic) -> None:
        low, high = bound.info.bounds
        assert low <= bound.estimate(EDGES[name]) <= high  # false for NaN

    return check


def check_order(bound: Statistic) -> None:
    y, p = rows_for(bound, 1)
    summed, of_rows = bound.estimate(cs.Sample.from_rows(y, p)), bound.estimate_rows(y, p)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(y.size)
        assert bound.estimate(cs.Sample.from_rows(y[order], p[order])) == summed
        assert abs(bound.estimate_rows(y[order], p[order]) - of_rows) <= 4 * ULP


def check_weights(bound: Statistic) -> None:
    y, p = rows_for(bound, 2, n=60)
    weight = np.random.default_rng(2).integers(0, 4, y.size)  # weight 0 is absence
    weighted = bound.estimate(cs.Sample.from_rows(y, p, weight))
    repeated = np.repeat(y, weight), np.repeat(p, weight)
    assert weighted == bound.estimate(cs.Sample.from_rows(*repeated))
    assert abs(weighted - bound.estimate_rows(*repeated)) <= 4 * ULP


def check_absent_cells(bound: Statistic) -> None:
    for sample in (cs.Sample.from_rows(*rows_for(bound, 3)), EDGES["constant predictions"]):
        value = np.unique(np.concatenate((sample.value, [0.0, 0.33, 0.330001, 0.4, 0.71, 1.0])))
        present = np.searchsorted(value, sample.value)
        count, positives = np.zeros(value.size), np.zeros(value.size)
        count[present], positives[present] = sample.count, sample.positives
        assert abs(bound.evaluate(value, count, positives) - bound.evaluate(*sample.arrays)) <= 4 * ULP


def check_symmetric(bound: Statistic) -> None:
    for seed in range(5):
        y, p = rows_for(bound, seed)
        there, back = bound.estimate(cs.Sample.from_rows(y, p)), bound.estimate(cs.Sample.from_rows(1 - y, 1 - p))
        assert abs(there - back) <= 1e-12


def check_continuous(bound: Statistic) -> None:
    jump = bound.info.resolution + 1e-5  # a kernel error grows like the root of a distance, here 2e-12
    for before, after in JUMPS:
        assert abs(bound.estimate(before) - bound.estimate(after)) <= jump
    for seed in range(5):
        y, p = rows(seed)
        p = 0.01 + 0.98 * p
        moved = p + np.random.default_rng(seed).uniform(-1e-9, 1e-9, p.size)
        assert abs(bound.estimate(cs.Sample.from_rows(y, moved)) - bound.estimate(cs.Sample.from_rows(y, p))) <= jump


def check_complete(bound: Statistic) -> None:
    rng = np.random.default_rng(0)
    size = 100 if bound.has_value(np.arange(100)) else LARGEST
    value, count = rng.random(size), rng.integers(1, 9, size)
    assert abs(bound.estimate(cs.Sample.from_counts(value, count, count * value))) <= 1e-12
    assert abs(bound.estimate(EDGES["exact 0 and 1"])) <= 1e-12


def check_sound(bound: Statistic) -> None:
    for sample in miscalibrated_for(bound):
        assert bound.estimate(sample) > 1e-7


def check_documented(bound: Statistic) -> None:
    assert bound.info.title != bound.name
    assert bound.info.formula
    assert "doi:" in bound.info.reference or "arXiv:" in bound.info.reference
    assert bound.info.bounds != Info().bounds
    for option in bound.options:
        assert f"`{option}`" in type(bound).__doc__


CLAIMS = {
    "bounds": check_bounds,
    "order": check_order,
    "weights": check_weights,
    "absent cells": check_absent_cells,
    **{name: edge(name) for name in EDGES},
    "symmetric": check_symmetric,
    "continuous": check_continuous,
    "complete": check_complete,
    "sound": check_sound,
    "documented": check_documented,
}
DECLARED = ("complete", "sound", "continuous", "symmetric")
SKIPPED = {
    ("ece", "sound"), ("ece", "continuous"), ("ece", "symmetric"),
    ("average_ce", "sound"), ("average_ce", "continuous"), ("average_ce", "symmetric"), ("mean", "sound"),
    ("ece_width", "complete"), ("ece_width", "continuous"), ("ece_width", "symmetric"),
    ("ece_debiased", "sound"), ("ece_debiased", "continuous"), ("ece_debiased", "symmetric"),
    ("ks", "continuous"), ("ks", "symmetric"),
    ("kuiper", "continuous"),
    ("sweep_ce", "sound"), ("sweep_ce", "continuous"), ("sweep_ce", "symmetric"), ("weighted_ce", "sound"),
    ("mcb", "continuous"), ("decision_loss", "continuous"), ("l1", "continuous"),
    ("interval_ce", "continuous"), ("upper_distance", "continuous"),
    ("brier", "complete"), ("log_loss", "complete"), ("normalized_log_loss", "complete"),
    ("regression_ce", "complete"), ("regression_ce", "sound"),
    ("omnibus", "complete"), ("omnibus", "sound"), ("omnibus", "continuous"), ("omnibus", "symmetric"),
    # unbiased estimates of squares, so below 0 as often as above it
    ("ece_debiased", "complete"), ("ece_debiased(variant='kumar')", "complete"),
    ("ece_debiased(strategy='quantile')", "complete"),
    ("kernel_ce_squared", "complete"), ("kernel_ce_squared(kernel='gaussian')", "complete"),
}  # fmt: skip


def skipped(bound: Statistic, claim: str) -> bool:
    undeclared = claim in DECLARED and not getattr(bound.info, claim)
    return undeclared or (str(bound), claim) in SKIPPED
