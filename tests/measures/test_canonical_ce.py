"""The expected miscalibration against its definition, the binary error, and a law whose value is known."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from row_strategies import rows
from vector_strategies import vectors

import calibstat as cs
from calibstat.data.cell_sums import vector_sums
from calibstat.measures.canonical_ce import CanonicalCE

DISTANCES = {
    "total_variation": lambda x, y: 0.5 * sum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "l1": lambda x, y: sum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "l2": math.dist,
    "squared_euclidean": lambda x, y: math.dist(x, y) ** 2,
    "max": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
}


BOUNDS = {"total_variation": 1.0, "l1": 2.0, "l2": math.sqrt(2), "squared_euclidean": 2.0, "max": 1.0}


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_largest_distance_is_that_of_two_corners(distance):
    """And no end of an interval is above it, for predictions that are sure of the wrong class."""
    prob, label = np.tile([1.0, 0.0, 0.0], (8, 1)), np.ones(8, np.int64)
    measure = CanonicalCE(distance=distance)
    assert measure.bounds == (0, pytest.approx(BOUNDS[distance], abs=1e-15))
    assert measure.evaluate(prob, label) == pytest.approx(BOUNDS[distance], abs=1e-15)
    if measure.has_form:
        found = cs.confidence_interval(label, prob, measure=measure, n_resamples=19, rng=1)
        assert found.high == measure.bounds[1]


def test_a_function_may_be_any_distance():
    assert CanonicalCE(distance=kullback_leibler).bounds == (0, math.inf)


def kullback_leibler(x, y):
    """A distance that is no function of the difference, and infinite or undefined where rounding goes astray."""
    full = x > 0
    return float((x[full] * np.log(x[full] / y[full])).sum())


def seeded(n, n_classes, seed=0):
    """Calibrated predictions and labels."""
    rng = np.random.default_rng(seed)
    prob = rng.dirichlet(np.ones(n_classes), n)
    return prob, (prob.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


def estimate(prob, label, **options):
    return CanonicalCE(**options).evaluate(prob, label)


def transcribed(prob, label, cell, distance):
    """The definition, one cell after another."""
    n, n_classes = prob.shape
    total = 0.0
    for b in sorted(set(cell.tolist())):
        inside = [i for i in range(n) if cell[i] == b]
        frequency = np.array([sum(label[i] == k for i in inside) / len(inside) for k in range(n_classes)])
        prediction = np.array([sum(prob[i, k] for i in inside) / len(inside) for k in range(n_classes)])
        total += len(inside) / n * distance(frequency, prediction)
    return total


OPTIONS = st.sampled_from(
    [{"min_size": 2}, {"min_size": 5, "threshold": "median"}, {"strategy": "uniform", "n_bins": 3}]
)


@given(vectors(), OPTIONS, st.sampled_from([*DISTANCES]))
def test_against_the_definition(data, options, distance):
    prob, label = data
    expected = transcribed(prob, label, CanonicalCE(**options).cells(prob), DISTANCES[distance])
    assert estimate(prob, label, distance=distance, **options) == pytest.approx(expected, abs=1e-14)
    # as a function of the two means instead of by name
    given = DISTANCES[distance]
    assert estimate(prob, label, distance=given, **options) == pytest.approx(expected, abs=1e-14)


def test_any_distance():
    prob, label = seeded(2000, 4)
    found = estimate(prob, label, distance=kullback_leibler, min_size=50)
    assert found == pytest.approx(
        transcribed(prob, label, CanonicalCE(min_size=50).cells(prob), kullback_leibler), abs=1e-13
    )
    # one cell: shares of the labels against the mean prediction
    found = estimate(prob, label, distance=kullback_leibler, min_size=2001)
    assert found == pytest.approx(kullback_leibler(np.bincount(label) / 2000, prob.mean(axis=0)), abs=1e-15)


def test_a_function_gets_shares_of_classes():
    seen = []
    prob, label = seeded(300, 3)[0], np.zeros(300, int)
    estimate(prob, label, distance=lambda x, y: seen.append((x, y)) or 1.0, min_size=4)
    frequency, prediction = (np.array(part) for part in zip(*seen, strict=True))
    cell = CanonicalCE(min_size=4).cells(prob)
    assert prediction == pytest.approx(np.array([prob[cell == b].mean(axis=0) for b in range(cell.max() + 1)]))
    assert frequency == pytest.approx(np.array([[1, 0, 0]] * len(frequency)), abs=1e-15)
    # residual and prediction add up to more than 1 by rounding, which sqrt(1 - x) would turn into nan
    count, residual, value = vector_sums(cell, prob, label)
    assert ((residual + value) / (count / 300)[:, None]).max() > 1
    assert frequency.max() == 1


def test_by_hand():
    # one cell of four rows: mean label (1/2, 1/4, 1/4), mean prediction (1/4, 1/4, 1/2), difference (1/4, 0, -1/4)
    prob, label = np.array([[0.25, 0.25, 0.5]] * 4), np.array([0, 0, 1, 2])
    expected = {"total_variation": 0.25, "l1": 0.5, "l2": math.sqrt(2) / 4, "squared_euclidean": 0.125, "max": 0.25}
    for distance, value in expected.items():
        assert estimate(prob, label, distance=distance) == pytest.approx(value, abs=1e-15)


PREDICTION = np.array([[1, 3, 6], [1, 6, 3], [3, 1, 6], [3, 6, 1], [6, 1, 3], [6, 3, 1]])
LAW = np.array([[2, 2, 6], [0, 7, 3], [2, 2, 6], [4, 5, 1], [7, 0, 3], [5, 4, 1]])


@pytest.mark.parametrize("options", [{"strategy": "uniform", "n_bins": 5}, {"min_size": 2}])
def test_six_points(options):
    # Vaicenavicius et al. 2019, table 1: sixty rows, ten for each prediction, with labels in the proportions of its
    # law. Law less prediction is +-(.1, -.1, 0) at all six points, so with every point a cell of its own: total
    # variation .1, L1 .2, Euclidean sqrt(.02), its square .02, largest coordinate .1.
    prob = np.repeat(PREDICTION / 10, 10, axis=0)
    label = np.concatenate([np.repeat([0, 1, 2], counts) for counts in LAW])
    assert np.unique(CanonicalCE(**options).cells(prob)).size == 6
    expected = {"total_variation": 0.1, "l1": 0.2, "l2": math.sqrt(0.02), "squared_euclidean": 0.02, "max": 0.1}
    for distance, value in expected.items():
        assert estimate(prob, label, distance=distance, **options) == pytest.approx(value, abs=1e-15)
    # in one cell the errors cancel: (+, -, -, +, +, -) times (.1, -.1, 0)
    assert estimate(prob, label) == pytest.approx(0, abs=1e-15)


@given(rows(), st.integers(1, 30))
def test_two_classes_in_a_grid_are_the_binary_error(data, n_bins):
    y, p = data
    found = estimate(np.stack([1 - p, p], axis=1), y, strategy="uniform", n_bins=n_bins)
    assert found == pytest.approx(cs.estimate(y, p, measure="ece", n_bins=n_bins), abs=1e-14)


@pytest.mark.parametrize("n_bins", [2, 7, 10, 15])
def test_two_classes_on_the_edges_of_bins(n_bins):
    p = np.repeat(np.arange(n_bins + 1) / n_bins, 5)
    p = np.concatenate([p, np.nextafter(p, 0), np.minimum(np.nextafter(p, 1), 1)])
    y = np.random.default_rng(0).integers(0, 2, p.size)
    found = estimate(np.stack([1 - p, p], axis=1), y, strategy="uniform", n_bins=n_bins)
    assert found == pytest.approx(cs.estimate(y, p, measure="ece", n_bins=n_bins), abs=1e-15)


def test_two_classes_by_both_coordinates_would_differ():
    # the planted fault of the two tests above: with edge points apart, errors that cancel in (0, 1/2] no longer do
    p, y = np.array([0.25, 0.5]), np.array([1, 0])
    assert cs.estimate(y, p, measure="ece", n_bins=2) == pytest.approx(0.125)  # |.75 - .5| / 2
    both = np.array([0, 1])
    sums = vector_sums(both, np.stack([1 - p, p], axis=1), y)
    assert CanonicalCE().reduce(*sums) == pytest.approx(0.625)  # (.75 + .5) / 2


@pytest.mark.parametrize("distance", [*DISTANCES, kullback_leibler])
def test_leading_axes_and_empty_cells(distance):
    prob, _ = seeded(200, 3)
    rng = np.random.default_rng(1)
    cell = np.concatenate([rng.integers(0, 4, 199), [6]])  # cells 4 and 5 are empty
    sums = [vector_sums(cell, prob, rng.integers(0, 3, 200)) for _ in range(6)]
    one_by_one = np.array([CanonicalCE(distance=distance).reduce(*one) for one in sums])
    for shape in ((6,), (2, 3), (1, 6)):
        count, residual, value = (np.stack(part).reshape(*shape, *part[0].shape) for part in zip(*sums, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = CanonicalCE(distance=distance).reduce(count, residual, value)
        assert found.shape == shape
        assert found.ravel() == pytest.approx(one_by_one, abs=1e-15)
    # the predictions' part may be shared
    found = CanonicalCE(distance=distance).reduce(sums[0][0], np.stack([one[1] for one in sums]), sums[0][2])
    assert found == pytest.approx(one_by_one, abs=1e-15)


def test_single_precision():
    prob, label = seeded(3000, 5)
    single = prob.astype(np.float32)
    for options in ({}, {"threshold": "median"}, {"strategy": "uniform", "n_bins": 4}):
        cell = CanonicalCE(**options).cells(single)
        assert np.array_equal(cell, CanonicalCE(**options).cells(single.astype(np.float64)))
        expected = estimate(single.astype(np.float64), label, **options)
        assert estimate(single, label, **options) == pytest.approx(expected, abs=1e-15)


def test_calibrated_and_wrong_predictions():
    # calibrated: in each of the 2**6 to 2**8 cells of about 100 rows half the sum of three deviations of at most
    # sqrt(.25 / 100) = .05 on average; reversed predictions are off by E |p - reversed p|, tens of percent
    prob, label = seeded(10_000, 3)
    assert estimate(prob, label) < 0.08
    assert estimate(np.ascontiguousarray(prob[:, ::-1]), label) > 0.2


@given(vectors(), OPTIONS, st.sampled_from([*DISTANCES]))
def test_the_table_adds_up(data, options, distance):
    prob, label = data
    detail = CanonicalCE(distance=distance, **options).detail(prob, label)
    count, n = detail["count"], len(label)
    assert count.sum() == n
    assert np.all(np.diff(count) <= 0)
    assert detail["mean_prediction"].sum(axis=1) == pytest.approx(np.ones(count.size))
    assert count @ detail["mean_prediction"] == pytest.approx(prob.sum(axis=0), abs=1e-12)
    assert count @ detail["frequency"] == pytest.approx(np.bincount(label, minlength=prob.shape[1]), abs=1e-12)
    of_each = [DISTANCES[distance](x, y) for x, y in zip(detail["frequency"], detail["mean_prediction"], strict=True)]
    assert detail["distance"] == pytest.approx(of_each, abs=1e-14)
    expected = estimate(prob, label, distance=distance, **options)
    assert count @ detail["distance"] / n == pytest.approx(expected, abs=1e-14)


@given(vectors(), st.sampled_from(["mean", "median"]))
def test_the_tree_leads_to_rows_of_the_table(data, threshold):
    prob, label = data
    detail = CanonicalCE(threshold=threshold, min_size=3).detail(prob, label)
    tree, total = detail["tree"], np.zeros((detail["count"].size, prob.shape[1]))
    for row in prob:
        at = 0 if tree.size else -1
        while at >= 0:
            at = tree["low" if row[tree["coordinate"][at]] <= tree["threshold"][at] else "high"][at]
        total[-1 - at] += row
    assert total / detail["count"][:, None] == pytest.approx(detail["mean_prediction"], abs=1e-14)


def test_a_grid_has_no_tree():
    assert "tree" not in CanonicalCE(strategy="uniform").detail(*seeded(20, 3))


def test_which_cells_move():
    assert set(CanonicalCE.defaults()) == {"distance", "strategy", "n_bins", "threshold", "min_size", "refit"}
    assert CanonicalCE().refits_cells
    assert not CanonicalCE(refit=False).refits_cells
    assert not CanonicalCE(strategy="uniform").refits_cells


@pytest.mark.parametrize(
    "options", [{"distance": "tv"}, {"distance": 2}, {"strategy": "quantile"}, {"refit": "yes"}, {"min_size": 0}]
)
def test_unknown_options(options):
    with pytest.raises(ValueError, match=f"expected {next(iter(options))}"):
        estimate(*seeded(20, 3), **options)


def test_largest_coordinate_of_three_classes():
    # three differences that add up to 0: one of them has the sign of its own, and is as large as the other two
    prob, label = seeded(500, 3)
    assert estimate(prob, label, distance="max") == pytest.approx(estimate(prob, label), abs=1e-15)


def test_a_wrong_distance_is_found():
    # with four classes the definitions lie well apart
    prob, label = seeded(200, 4)
    cell = CanonicalCE(min_size=50).cells(prob)
    values = [transcribed(prob, label, cell, distance) for distance in DISTANCES.values()]
    assert np.diff(sorted(values)).min() > 1e-3
