"""Cells of the simplex against a dictionary of bins and against a recursive tree, both plain Python."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import bin_number

import calibstat as cs
from calibstat.measures.simplex_cells import grid_boxes, grid_cells, grow_tree, tree_boxes


@st.composite
def parts(draw, total=8, max_size=40):
    """Rows of whole numbers that add up to a total: ties, exact 0 and 1, constant predictions, one row."""
    n, n_classes = draw(st.integers(1, max_size)), draw(st.integers(2, 4))
    cuts = st.lists(st.integers(0, total), min_size=n_classes - 1, max_size=n_classes - 1)
    some = draw(st.lists(cuts, min_size=1, max_size=6))
    chosen = draw(st.lists(st.integers(0, len(some) - 1), min_size=n, max_size=n))
    return np.array([np.diff(sorted(some[i]), prepend=0, append=total) for i in chosen])


def seeded(n, n_classes, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.5), n)


def groups(cell):
    """A partition as a set of sets of rows, whatever the numbers of its cells."""
    found = {}
    for row, name in enumerate(cell):
        found.setdefault(name, []).append(row)
    return {frozenset(rows) for rows in found.values()}


def is_numbered(cell):
    return cell.dtype == np.int64 and np.array_equal(np.unique(cell), np.arange(cell.max() + 1))


# the grid


def tuples(prob, bins):
    return [tuple(row) for row in bin_number(prob, bins).tolist()]


@given(parts(total=10), st.integers(1, 12))
def test_grid_against_a_dictionary(part, bins):
    prob = part / 10
    cell = grid_cells(prob, n_bins=bins)
    assert is_numbered(cell)
    columns = prob[:, 1:] if prob.shape[1] == 2 else prob
    assert groups(cell) == groups(tuples(columns, bins))


def test_grid_of_three_classes_is_made_of_triangles():
    # a triangle with sides cut in B holds B**2 equal triangles: B(B + 1)/2 upright and B(B - 1)/2 the other way up
    for bins in (1, 2, 5, 15):
        prob = np.random.default_rng(0).dirichlet(np.ones(3), 60 * bins**2)
        assert grid_cells(prob, n_bins=bins).max() + 1 == bins**2


def test_points_on_an_edge_of_two_classes_have_no_cell_of_their_own():
    # 0.5 belongs to (0, 0.5] in the second coordinate, with 0.4, and would be apart from it by the first
    assert grid_cells(np.array([[0.6, 0.4], [0.5, 0.5], [0.4, 0.6]]), n_bins=2).tolist() == [0, 0, 1]


def test_grid_of_many_classes():
    # bins of 1000 coordinates do not fit into one number
    prob = seeded(300, 1000)
    prob[:, :3] += 0.1
    prob /= prob.sum(axis=1, keepdims=True)
    prob[200:] = prob[:100]
    prob[100, :3] = prob[101, :3][::-1]  # rows that differ in the first coordinates alone
    prob[100, 3:] = prob[101, 3:]
    for bins in (15, 10**6):
        cell = grid_cells(prob, n_bins=bins)
        assert is_numbered(cell)
        assert groups(cell) == groups(tuples(prob, bins))
        assert np.array_equal(cell[200:], cell[:100])


def test_number_of_bins_of_a_grid():
    prob = seeded(1000, 3)
    assert np.array_equal(grid_cells(prob, n_bins="cube_root"), grid_cells(prob, n_bins=10))
    for n_bins in (0, 2.5, True, "many", 2**63):
        with pytest.raises(ValueError, match="expected n_bins"):
            grid_cells(prob, n_bins=n_bins)
        for verb in (cs.estimate, cs.detail):  # a tree needs none, but a bad one is no number of bins there either
            with pytest.raises(ValueError, match="expected n_bins"):
                verb(np.zeros(1000, int), prob, measure="canonical_ce", n_bins=n_bins)


# the tree


def recursive(prob, threshold, min_size):
    """Cells as lists of rows, from low to high, straight from the rule, in whatever arithmetic the rows have."""

    def split(rows):
        columns = [[prob[i][k] for i in rows] for k in range(len(prob[0]))]
        means = [sum(column) / len(rows) for column in columns]
        variance = [sum((v - m) ** 2 for v in column) for column, m in zip(columns, means, strict=True)]
        k = variance.index(max(variance))
        ordered = sorted(columns[k])
        median = (ordered[(len(rows) - 1) // 2] + ordered[len(rows) // 2]) / 2
        at = means[k] if threshold == "mean" else median
        low = [i for i in rows if prob[i][k] <= at]
        high = [i for i in rows if prob[i][k] > at]
        return [*split(low), *split(high)] if len(rows) >= min_size and low and high else [rows]

    return split(list(range(len(prob))))


def as_cells(cells):
    cell = np.empty(sum(map(len, cells)), np.int64)
    for number, rows in enumerate(cells):
        cell[rows] = number
    return cell


THRESHOLD = st.sampled_from(["mean", "median"])


@given(parts(total=10), THRESHOLD, st.integers(1, 12))
def test_tree_against_exact_arithmetic(part, threshold, min_size):
    # tenths are not exact in binary; the cells must be those of the exact tenths all the same
    exact = [[Fraction(int(v), 10) for v in row] for row in part]
    cell, _ = grow_tree(part / 10, threshold=threshold, min_size=min_size)
    assert is_numbered(cell)
    assert np.array_equal(cell, as_cells(recursive(exact, threshold, min_size)))


@pytest.mark.parametrize("threshold", ["mean", "median"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_tree_against_recursion_on_many_rows(threshold, dtype):
    for n, n_classes, min_size in [(3000, 10, 100), (1500, 3, 20), (500, 4, 2), (100, 50, 100)]:
        prob = seeded(n, n_classes).astype(dtype)
        prob[: n // 5] = prob[n // 5 : 2 * (n // 5)]
        cell, _ = grow_tree(prob, threshold=threshold, min_size=min_size)
        assert np.array_equal(cell, as_cells(recursive(prob.astype(np.float64).tolist(), threshold, min_size)))


@given(st.data(), THRESHOLD, st.sampled_from([8, 10]))
def test_the_order_of_rows_does_not_matter(data, threshold, total):
    prob = data.draw(parts(total=total)) / total
    order = np.array(data.draw(st.permutations(range(len(prob)))))
    cell, tree = grow_tree(prob, threshold=threshold, min_size=3)
    shuffled, same_tree = grow_tree(np.ascontiguousarray(prob[order]), threshold=threshold, min_size=3)
    assert np.array_equal(shuffled, cell[order])
    for field in ("coordinate", "low", "high"):
        assert np.array_equal(tree[field], same_tree[field])
    assert tree["threshold"] == pytest.approx(same_tree["threshold"], rel=1e-14)


def test_rounding_does_not_decide():
    # three tenths each: the running sums .1 + .2 + .3 and .3 + .2 + .1 differ, so the row at the mean would move
    prob = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    assert prob[:, 0].cumsum()[-1] != prob[::-1, 0].cumsum()[-1]
    assert grow_tree(prob, min_size=3)[0].tolist() == [0, 0, 1]
    assert grow_tree(prob[::-1].copy(), min_size=3)[0].tolist() == [1, 0, 0]
    # and many of them, where the running sum is off by a relative 1e-11
    many = np.repeat(prob, 300_000, axis=0)
    assert abs(many[:, 0].cumsum()[-1] / 900_000 - 0.2) > 1e-12
    for ordered in (many, many[::-1].copy()):
        cell = grow_tree(ordered, min_size=900_000)[0]
        assert np.array_equal(cell, (ordered[:, 0] > 0.25).astype(int))


@given(parts(total=10), THRESHOLD, st.integers(1, 12))
def test_splits_lead_each_row_to_its_cell(part, threshold, min_size):
    prob = part / 10
    cell, tree = grow_tree(prob, threshold=threshold, min_size=min_size)
    assert tree.size == cell.max()  # each split adds one cell
    for row, expected in zip(prob, cell, strict=True):
        at = 0 if tree.size else ~0
        while at >= 0:
            split = tree[at]
            following = split["low"] if row[split["coordinate"]] <= split["threshold"] else split["high"]
            assert following < 0 or following > at
            at = following
        assert ~at == expected


def test_by_hand():
    # variances of the columns: the third is constant, the others equal, so the first; its mean is .4 and its median .3
    prob = np.array([[0.2, 0.7, 0.1], [0.3, 0.6, 0.1], [0.7, 0.2, 0.1]])
    cell, tree = grow_tree(prob, min_size=3)
    assert cell.tolist() == [0, 0, 1]
    assert tree["coordinate"].tolist() == [0]
    assert tree["threshold"] == pytest.approx([0.4])
    assert tree[["low", "high"]].tolist() == [(-1, -2)]
    # again: .2 and .3 part at .25, on the second column just as well
    cell, tree = grow_tree(prob, min_size=2)
    assert cell.tolist() == [0, 1, 2]
    assert tree["threshold"] == pytest.approx([0.4, 0.25])
    assert tree[["low", "high"]].tolist() == [(1, -3), (-1, -2)]
    assert grow_tree(prob, threshold="median", min_size=3)[1]["threshold"].tolist() == [0.3]


def test_a_cell_of_exactly_min_size_is_parted():
    prob = seeded(100, 3)
    assert grow_tree(prob)[0].max() == 1
    assert grow_tree(prob[:99].copy())[0].max() == 0
    assert grow_tree(prob, min_size=101)[0].max() == 0


@pytest.mark.parametrize("threshold", ["mean", "median"])
def test_a_side_may_not_be_empty(threshold):
    for prob in ([[0.2, 0.3, 0.5]] * 500, [[0.0, 1.0]] * 7, [[0.25, 0.75]]):
        cell, tree = grow_tree(np.array(prob), threshold=threshold, min_size=1)
        assert cell.tolist() == [0] * len(prob)
        assert tree.size == 0


def test_a_median_among_ties():
    # the median 1 of 0, 1, 1, 1 leaves nothing above it; the median 0 of 0, 0, 0, 1 leaves one row
    ones = np.array([[0, 1], [1, 0], [1, 0], [1, 0]], float)
    assert grow_tree(ones, threshold="median", min_size=2)[0].tolist() == [0, 0, 0, 0]
    assert grow_tree(1 - ones, threshold="median", min_size=2)[0].tolist() == [1, 0, 0, 0]
    assert grow_tree(ones, threshold="mean", min_size=2)[0].tolist() == [0, 1, 1, 1]


def test_one_hot_rows():
    label = np.random.default_rng(0).integers(0, 4, 1000)
    cell, tree = grow_tree(np.eye(4)[label])
    assert groups(cell) == groups(label)
    assert tree.size == 3


def test_columns_that_hardly_vary():
    # variances of 2.5e-17, which a mean of squares less the square of the mean would lose in rounding of 1e-16
    high = np.arange(200) % 2
    prob = np.stack([np.full(200, 0.6), 0.1 - 1e-8 * high, 0.3 + 1e-8 * high], axis=1)
    assert (prob**2).mean(axis=0).argmax() == 0
    cell, tree = grow_tree(prob)
    assert groups(cell) == groups(high)
    assert tree["coordinate"].tolist() == [1]


@pytest.mark.parametrize("options", [{"threshold": "mode"}, {"min_size": 0}, {"min_size": 2.5}, {"min_size": True}])
def test_unknown_options(options):
    with pytest.raises(ValueError, match=f"expected {next(iter(options))}"):
        grow_tree(seeded(5, 3), **options)


def test_a_wrong_tree_is_found():
    # the oracle tells a rule from its neighbours: another min_size, threshold, and rows at the threshold going up
    prob = seeded(300, 3)
    right = as_cells(recursive(prob.tolist(), "mean", 20))
    assert not np.array_equal(right, grow_tree(prob, min_size=21)[0])
    assert not np.array_equal(right, grow_tree(prob, min_size=20, threshold="median")[0])
    tenths = np.array([[1, 9], [2, 8], [3, 7]]) / 10
    assert not np.array_equal(as_cells(recursive(tenths.tolist(), "median", 3)), [0, 1, 1])


# --- boxes of cells ---------------------------------------------------------------------------------------------------


@given(st.integers(1, 12), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_every_row_is_in_the_box_of_its_cell(n_bins, n_classes, seed):
    """Of trees and grids: above the lower end, or at 0, and at most at the upper one."""
    prob = np.random.default_rng(seed).dirichlet(np.ones(n_classes), 60).round(2)
    prob[:, -1] = 1 - prob[:, :-1].sum(axis=1)
    prob = np.clip(prob, 0, 1)
    cell, tree = grow_tree(prob, min_size=10)
    cells = [(cell, tree_boxes(tree, cell.max() + 1, n_classes))]
    if n_classes > 2:  # of two classes the second coordinate alone makes the bins
        cell = grid_cells(prob, n_bins=n_bins)
        mean = np.stack([prob[cell == c].mean(axis=0) for c in range(cell.max() + 1)])
        cells.append((cell, grid_boxes(mean, n_bins)))
    for cell, (low, high) in cells:
        assert np.all((prob > low[cell]) | (prob == 0))
        assert np.all(prob <= high[cell] + 1e-8)
    root = tree_boxes(tree[:0], 1, n_classes)
    assert np.all(root[0] == 0)
    assert np.all(root[1] == 1)
