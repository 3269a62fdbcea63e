"""Błasiok, Gopalan, Hu, Nakkiran 2023 (arXiv:2211.16886): enumeration, linear programmes and closed forms."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.optimize import linprog

import calibstat as cs
from calibstat.papers.parts.kernel_estimators import ESTIMATORS

ALPHAS = (0.01, 0.05, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5)


def sample(seed):
    """Up to 6 distinct predictions with 1 to 4 rows each, some of them tenths, 0 and 1: rows, and their summary."""
    random = np.random.default_rng(seed)
    value = np.unique(np.where(random.random(6) < 0.5, random.integers(0, 11, 6) / 10, random.random(6)))
    count = random.integers(1, 5, value.size)
    positives = random.integers(0, count + 1)
    p = np.repeat(value, count)
    y = np.concatenate([np.arange(c) < k for c, k in zip(count, positives, strict=True)]).astype(int)
    return y, p, value, count / count.sum(), (positives - count * value) / count.sum()


SEEDS = range(16)
SAMPLES = [sample(seed) for seed in SEEDS]
of_samples = pytest.mark.parametrize("rows", SAMPLES, ids=SEEDS)


@of_samples
def test_definition_1_1_level_sets(rows):
    y, p, *_, residual = rows
    assert cs.estimate(y, p, measure="ece", n_bins=None) == pytest.approx(sum(map(abs, residual)), abs=1e-15)


def set_partitions(things):
    """All ways to put things into cells."""
    if not things:
        yield []
        return
    first, *rest = things
    for cells in set_partitions(rest):
        yield [[first], *cells]
        for i, cell in enumerate(cells):
            yield [*cells[:i], [first, *cell], *cells[i + 1 :]]


def merged(cells, prediction, share, chance):
    """The mean change if all points of a cell are predicted their mean chance."""
    total = 0.0
    for cell in cells:
        mean = sum(share[i] * chance[i] for i in cell) / sum(share[i] for i in cell)
        total += sum(share[i] * abs(prediction[i] - mean) for i in cell)
    return total


def cheapest_merging(prediction, share, chance):
    return min(merged(cells, prediction, share, chance) for cells in set_partitions(list(range(len(share)))))


@of_samples
def test_definition_5_2_upper_distance_over_all_set_partitions(rows):
    y, p, value, share, residual = rows
    slow = cheapest_merging(value, share, value + residual / share)
    assert cs.estimate(y, p, measure="upper_distance") == pytest.approx(slow, abs=1e-14)


@pytest.mark.parametrize("seed", range(8))
def test_definition_4_1_true_distance_over_all_set_partitions(seed):
    random = np.random.default_rng(seed)
    share, chance = random.dirichlet(np.ones(7)), random.integers(0, 5, 7) / 4
    prediction = random.integers(0, 4, 7) / 4  # several points have the same one
    family = cs.generators.domain(share, chance, prediction)
    assert family.distance() == pytest.approx(cheapest_merging(prediction, share, chance), abs=1e-13)
    assert family.truth("lower_distance") <= family.distance() + 1e-9
    assert family.distance() <= family.truth("upper_distance") + 1e-12


@pytest.mark.parametrize("alpha", ALPHAS)
def test_lemma_4_5_two_worlds(alpha):
    """The residuals are alpha / 2 at 1/2 - alpha and -alpha / 2 at 1/2 + alpha, 2 alpha apart, in both worlds.

    Smooth: alpha / 2 times the largest difference of weights, 2 alpha. Intervals: no intervals cost alpha, one costs
    the width 2 alpha. Laplace kernel: alpha² / 4 (2 - 2 exp(-2 alpha)). Distances as the lemma says.
    """
    near, far = cs.generators.quadratic_gap(alpha, 1), cs.generators.quadratic_gap(alpha, 2)
    for family in (near, far):
        assert family.truth("smooth_ce") == pytest.approx(alpha**2, abs=1e-12)
        assert family.truth("interval_ce") == pytest.approx(alpha, abs=1e-12)
        assert family.truth("upper_distance") == pytest.approx(alpha, abs=1e-12)
        assert family.truth("lower_distance") == pytest.approx(2 * alpha**2 / (1 + 2 * alpha), abs=1e-5)
        kernel = alpha * math.sqrt((1 - math.exp(-2 * alpha)) / 2)
        assert family.truth("kernel_ce") == pytest.approx(kernel, abs=1e-12)
    assert near.distance() == pytest.approx(2 * alpha**2 / (1 + 2 * alpha), abs=1e-12)
    assert far.distance() == pytest.approx(alpha, abs=1e-12)


@pytest.mark.parametrize("epsilon", [0.001, 0.01, 0.1, 0.4])
def test_section_1_two_points(epsilon):
    """Outcomes 1 and 0, predicted 1/2 ± epsilon: each is off by 1/2 - epsilon, and both move to 1/2, as long as it is
    nearer than the outcomes."""
    family = cs.generators.two_point(epsilon)
    assert family.truth("ece", n_bins=None) == pytest.approx(0.5 - epsilon, abs=1e-15)
    assert family.distance() == pytest.approx(min(epsilon, 0.5 - epsilon), abs=1e-12)


def coupled(y, p, points):
    """The least mean change to new predictions u, some of these points, with E[y | u] = u.

    The linear programme (17), over joint laws of row and u: a variable for each row and point, a condition for each
    row and for each point.
    """
    n, k = len(y), len(points)
    cost = [abs(u - v) / n for v in p for u in points]
    goes_somewhere = [[float(j // k == i) for j in range(n * k)] for i in range(n)]
    is_calibrated = [[float(j % k == at) * (y[j // k] - points[at]) for j in range(n * k)] for at in range(k)]
    found = linprog(cost, A_eq=goes_somewhere + is_calibrated, b_eq=[1.0] * n + [0.0] * k, bounds=(0, None))
    assert found.status == 0
    return found.fun, found.x.reshape(n, k) / n


@pytest.mark.parametrize("rows", SAMPLES[:10], ids=range(10))
def test_definition_5_3_lower_distance_by_its_linear_programme(rows):
    y, p, value, *_ = rows
    slow, _ = coupled(y, p, sorted({*value, *(i / 10 for i in range(11))}))
    assert cs.estimate(y, p, measure="lower_distance", grid=10) == pytest.approx(slow, abs=1e-9)


@of_samples
def test_theorem_5_5_both_distances_are_attained(rows):
    """The worlds have the law of the rows. On a grid of 1000 intervals the lower distance is at most 5e-7 too large."""
    y, p, value, share, residual = rows
    near, far = cs.generators.worlds(y, p)
    for name in ("smooth_ce", "ece", "kernel_ce"):
        truth = cs.estimate(y, p, measure=name)
        assert near.truth(name) == pytest.approx(truth, abs=1e-9)
        assert far.truth(name) == pytest.approx(truth, abs=1e-12)
    assert far.distance() == pytest.approx(cheapest_merging(value, share, value + residual / share), abs=1e-12)
    if len(near.chance) <= 7:
        slow = cheapest_merging(near.prediction, near.probability, near.chance)
        assert near.distance() == pytest.approx(slow, abs=1e-12)
    if len(near.chance) <= 10:
        lower = cs.estimate(y, p, measure="lower_distance", grid=1000)
        assert lower - 0.5 / 1000**2 - 1e-9 <= near.distance() <= lower + 1e-9


def test_definition_4_1_of_rows_with_covariates():
    """Over all functions of the covariates and the prediction, cell by cell."""
    random = np.random.default_rng(5)
    y, p = random.integers(0, 2, 60), random.integers(1, 3, 60) / 4
    x = np.column_stack([random.integers(0, 2, 60), random.integers(0, 2, 60)])
    cells = sorted(set(zip(p, *x.T, strict=True)))
    inside = [np.all(np.column_stack([p, x]) == cell, axis=1) for cell in cells]
    slow = cheapest_merging(
        [cell[0] for cell in cells], [mask.mean() for mask in inside], [y[mask].mean() for mask in inside]
    )
    family = cs.generators.domain.from_rows(y, p, x)
    assert family.distance() == pytest.approx(slow, abs=1e-12)
    assert family.distance() < cs.estimate(y, p, measure="upper_distance")
    assert cs.estimate(y, p, measure="lower_distance") - 1e-6 <= family.distance()


def intervals(m):
    """All ways to cut m things in a row."""
    for size in range(m):
        for cuts in combinations(range(1, m), size):
            yield [range(a, b) for a, b in zip((0, *cuts), (*cuts, m), strict=True)]


@of_samples
def test_definition_6_1_interval_error_over_all_cuts(rows):
    y, p, value, share, residual = rows
    slow = min(
        sum(abs(residual[cell].sum()) + share[cell].sum() * (value[cell[-1]] - value[cell[0]]) for cell in cells)
        for cells in intervals(value.size)
    )
    assert cs.estimate(y, p, measure="interval_ce") == pytest.approx(slow, abs=1e-14)


@of_samples
def test_equation_5_over_any_cuts(rows):
    """Cuts between predictions, some of them at predictions: the value is at least the upper distance and, with the
    width of the bins in place of the range of their predictions, at least the interval error."""
    y, p, value, share, residual = rows
    random = np.random.default_rng(len(y))
    for size in (0, 1, 2, 5):
        cuts = sorted({*random.choice(value, min(size, value.size), replace=False), *random.random(size)})
        slow = 0.0
        for low, high in pairwise([-1, *cuts, 1]):  # the first bin is closed at 0
            inside, low = (value > low) & (value <= high), max(low, 0)
            slow += abs(residual[inside].sum()) + share[inside].sum() * (high - low)
        found = cs.estimate(y, p, measure="ece_width", strategy=cuts)
        assert found == pytest.approx(slow, abs=1e-14)
        assert found >= cs.estimate(y, p, measure="interval_ce") - 1e-12


def at_random(value, residual, width):
    """The mean over the shift of the binned error: between the shifts at which a prediction changes its bin it is
    constant, and taken in the middle."""
    breaks = sorted({0.0, width, *(v - width * math.floor(v / width) for v in value)})
    total = 0.0
    for a, b in pairwise(breaks):
        number = np.floor((value - (a + b) / 2) / width)
        total += (b - a) * sum(abs(residual[number == each].sum()) for each in set(number))
    return total / width


@of_samples
def test_definition_6_5_random_intervals_shift_by_shift(rows):
    y, p, value, _, residual = rows
    for width in (0.05, 0.13, 0.5, 1.0):
        slow = at_random(value, residual, width)
        assert cs.estimate(y, p, measure="random_interval_ce", width=width) == pytest.approx(slow, abs=1e-13)


@of_samples
def test_definition_6_10_surrogate_over_all_halvings(rows):
    y, p, value, _, residual = rows
    slow = min(at_random(value, residual, 0.5**k) + 0.5**k for k in range(18))
    slow = min(slow, np.abs(residual).sum())  # the limit
    found = cs.estimate(y, p, measure="surrogate_interval_ce", precision=1e-5)
    assert found == pytest.approx(slow, abs=1e-5)
    halved = [at_random(value, residual, 0.5**k) for k in range(8)]
    assert all(wide <= narrow + 1e-13 for wide, narrow in pairwise(halved))  # claim B.1


@of_samples
def test_definition_7_2_smooth_error_by_its_linear_programme(rows):
    y, p, value, _, residual = rows
    pairs = [(i, j) for i in range(value.size) for j in range(value.size) if i != j]
    apart = [[float(k == i) - float(k == j) for k in range(value.size)] for i, j in pairs]
    near = [abs(value[i] - value[j]) for i, j in pairs]
    found = linprog(-residual, A_ub=apart or None, b_ub=near or None, bounds=(-1, 1))
    assert cs.estimate(y, p, measure="smooth_ce") == pytest.approx(-found.fun, abs=1e-12)


KERNELS = {"laplace": lambda u: math.exp(-u), "gaussian": lambda u: math.exp(-u * u / 2)}


@of_samples
@pytest.mark.parametrize("kernel", KERNELS)
def test_definition_8_1_kernel_error_pair_by_pair(rows, kernel):
    y, p, *_ = rows
    n = len(y)
    for bandwidth in (1.0, 0.2):
        product = [
            [(y[i] - p[i]) * (y[j] - p[j]) * KERNELS[kernel](abs(p[i] - p[j]) / bandwidth) for j in range(n)]
            for i in range(n)
        ]
        options = {"kernel": kernel, "bandwidth": bandwidth}
        slow = math.sqrt(max(sum(map(sum, product)), 0)) / n
        assert cs.estimate(y, p, measure="kernel_ce", **options) == pytest.approx(slow, abs=1e-9)
        others = sum(product[i][j] for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
        assert cs.estimate(y, p, measure="kernel_ce_squared", **options) == pytest.approx(others, abs=1e-14)


def chain(residual, apart):
    """The smooth error by a linear programme in which neighbours alone are compared, which is enough on a line."""
    m = residual.size
    step = np.diff(np.eye(m), axis=0)
    found = linprog(-residual, A_ub=np.concatenate([step, -step]), b_ub=np.full(2 * m - 2, apart), bounds=(-1, 1))
    return -found.fun


@pytest.mark.parametrize("k", [6, 8])
def test_theorem_8_6_the_gaussian_kernel_misses_quick_waves(k):
    """On a grid of n middles of [0, 1]; the residual and its slopes vanish at 0 and 1, so that sums are integrals."""
    n = 400
    t = (np.arange(n) + 0.5) / n
    residual = 0.4 * np.exp(-64 * (t - 0.5) ** 2) * np.sin(2 * np.pi * k * t) / n
    family = cs.generators.high_frequency(k)
    u = np.abs(t[:, None] - t)
    gaussian = math.sqrt(residual @ np.exp(-(u**2) / 2) @ residual)
    assert family.truth("kernel_ce", kernel="gaussian") == pytest.approx(gaussian, rel=1e-3, abs=1e-9)
    smooth = chain(residual, 1 / n)
    assert family.truth("smooth_ce") == pytest.approx(smooth, rel=5e-3)
    assert family.truth("kernel_ce") >= smooth / 3  # as theorem 8.5 says of the Laplace kernel
    assert gaussian < smooth / 3


@pytest.mark.parametrize("name", ESTIMATORS)
def test_section_8_4_and_algorithms_1_and_2_are_unbiased(name):
    """6000 draws and 4.9 standard errors to either side: a false alarm once in a million. Another bandwidth fails."""
    y, p = cs.generators.shift(1).sample(40, rng=1)
    rows, random = cs.Sample.from_rows(y, p), np.random.default_rng(7)
    drawn = np.array([ESTIMATORS[name](rows, 0.3, random) for _ in range(6000)])
    error = drawn.std() / math.sqrt(drawn.size)
    exact = cs.estimate(y, p, measure="kernel_ce", bandwidth=0.3) ** 2
    other = cs.estimate(y, p, measure="kernel_ce", bandwidth=0.05) ** 2
    assert abs(drawn.mean() - exact) < 4.9 * error
    assert abs(drawn.mean() - other) > 4.9 * error


def values(rows):
    y, p, *_ = rows
    found = {name: cs.estimate(y, p, measure=name) for name in MEASURES}
    return found | {"random, width .1": cs.estimate(y, p, measure="random_interval_ce", width=0.1)}


MEASURES = (
    "ece", "ece_width", "smooth_ce", "kernel_ce", "interval_ce", "surrogate_interval_ce", "lower_distance",
    "upper_distance", "post_processing_gap",
)  # fmt: skip
GRID = 1 / (2 * 50**2)  # by how much the lower distance on the default grid may be too large, at most
BOUNDS = {  # what is at most what, of the measures of a sample, up to rounding
    "theorem 5.5": (lambda m: m["lower_distance"] - GRID, lambda m: m["upper_distance"]),
    "lemma 4.7": (lambda m: m["upper_distance"], lambda m: m["level sets"]),
    "equation 5": (lambda m: m["upper_distance"], lambda m: m["ece_width"]),
    "theorem 6.2, below": (lambda m: m["upper_distance"], lambda m: m["interval_ce"]),
    "theorem 6.2, above": (lambda m: m["interval_ce"], lambda m: 4 * math.sqrt(m["lower_distance"])),
    "claim 6.6": (lambda m: m["interval_ce"], lambda m: m["random, width .1"] + 0.1),
    "lemma 6.7": (lambda m: m["random, width .1"], lambda m: (1 + 2 / 0.1) * m["lower_distance"]),
    "theorem 6.11, below": (lambda m: m["interval_ce"], lambda m: m["surrogate_interval_ce"]),
    "theorem 6.11, above": (lambda m: m["surrogate_interval_ce"], lambda m: 6 * math.sqrt(m["lower_distance"])),
    "theorem 7.3, below": (lambda m: m["lower_distance"] - GRID, lambda m: 2 * m["smooth_ce"]),
    "theorem 7.3, above": (lambda m: m["smooth_ce"], lambda m: 2 * m["lower_distance"]),
    "theorem 8.5, below": (lambda m: m["smooth_ce"], lambda m: 3 * m["kernel_ce"]),
    "theorem 8.5, above": (
        lambda m: m["kernel_ce"],
        lambda m: math.sqrt(2 * m["lower_distance"]) + m["lower_distance"],
    ),
}


def broken(found, bounds):
    return [name for name, (low, high) in bounds.items() for m in found if low(m) > high(m) + 1e-9]


@pytest.fixture(scope="module")
def found():
    level_sets = [cs.estimate(y, p, measure="ece", n_bins=None) for y, p, *_ in SAMPLES]
    return [values(rows) | {"level sets": each} for rows, each in zip(SAMPLES, level_sets, strict=True)]


def test_no_bound_between_measures_is_broken(found):
    assert broken(found, BOUNDS) == []


@pytest.mark.parametrize("name", ["theorem 6.2, below", "theorem 7.3, above", "lemma 4.7", "theorem 5.5"])
def test_bounds_that_are_turned_round_are_broken(found, name):
    low, high = BOUNDS[name]
    assert broken(found, {name: (lambda m: high(m), lambda m: 0.99 * low(m))}) != []


@of_samples
def test_the_best_merging_of_neighbours_lies_between_upper_distance_and_interval_error(rows):
    y, p, value, share, residual = rows
    slow = min(merged(cells, value, share, value + residual / share) for cells in intervals(value.size))
    upper = cs.estimate(y, p, measure="upper_distance")
    assert upper - 1e-14 <= slow <= cs.estimate(y, p, measure="interval_ce") + 1e-14
