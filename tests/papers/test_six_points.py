"""The study of the six points: its truths by hand, its cells, its promise and its pictures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.quiver import Quiver

import calibstat as cs
from calibstat.papers import six_points

MEASURES, PartedPoints = six_points.LENSED, six_points.PartedPoints
CHANCES = {  # Vaicenavicius et al. 2019, table 1
    (0.1, 0.3, 0.6): (0.2, 0.2, 0.6),
    (0.1, 0.6, 0.3): (0.0, 0.7, 0.3),
    (0.3, 0.1, 0.6): (0.2, 0.2, 0.6),
    (0.3, 0.6, 0.1): (0.4, 0.5, 0.1),
    (0.6, 0.1, 0.3): (0.7, 0.0, 0.3),
    (0.6, 0.3, 0.1): (0.5, 0.4, 0.1),
}


@pytest.fixture(scope="module")
def table():
    (grid,) = six_points.grids(quick=True)
    return cs.study.run(**grid, seed=six_points.SEED)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def cells(p, measure):
    name, options = MEASURES[measure]
    return cs.MEASURES[name](**options).cells(p)


def test_truths_are_those_of_the_paper():
    # every point moves 0.1 from one class to another, which is its total variation; in three bins .1 and .3 share one,
    # and so do two points whose moves are opposite
    truths = {label: PartedPoints().truth(name, **options) for label, (name, options) in MEASURES.items()}
    hidden = dict.fromkeys(("top label", "class-wise, mean", "class-wise, max", "canonical, 3 bins"), 0)
    assert truths == pytest.approx({**hidden, "canonical, 7 bins": 0.1, "canonical, tree": 0.1}, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_the_cells_are_the_points(seed):
    """What the truth over a tree takes for granted."""
    _, p = PartedPoints().sample(1000, seed)
    point = np.unique(p, axis=0, return_inverse=True)[1].ravel()
    for measure, number in (("canonical, 7 bins", 6), ("canonical, tree", 6), ("canonical, 3 bins", 3)):
        pairs = np.unique(np.column_stack((cells(p, measure), point)), axis=0)
        assert len(pairs) == 6  # no point is in two cells
        assert np.unique(pairs[:, 0]).size == number


def test_too_few_rows_for_the_tree_are_told_apart():
    _, p = PartedPoints().sample(200, 1)
    assert np.unique(cells(p, "canonical, tree")).size < 6


def test_rows_in_proportion():
    y, p = six_points.in_proportion(20)
    assert y.shape == (120,)
    for point, chance in CHANCES.items():
        here = np.all(p == point, axis=1)
        assert here.sum() == 20
        assert np.bincount(y[here], minlength=3) / 20 == pytest.approx(chance, abs=1e-12)
    found = {label: cs.estimate(y, p, measure=name, **options) for label, (name, options) in MEASURES.items()}
    assert found["top label"] == pytest.approx(0, abs=1e-12)
    assert found["class-wise, max"] == pytest.approx(0, abs=1e-12)
    assert found["canonical, 7 bins"] == pytest.approx(0.1, abs=1e-12)


def test_a_broken_promise_is_seen(table):
    table = pd.concat([table.assign(replicates=400, covered=400 * 0.96)] * 2, ignore_index=True)
    assert six_points.study.violations(table).empty
    table.loc[3, "covered"] = 400 * 0.88
    assert six_points.study.violations(table).index.tolist() == [3]


def test_pictures_show_the_table(table):
    found = six_points.figures(table)
    assert set(found) == {"", "diagrams"}
    estimate, cover = found[""].axes
    for n, points, rates in zip((1000, 10_000), estimate.lines, cover.lines, strict=False):
        rows = table[table["n"] == n]
        assert points.get_xdata().tolist() == rows["mean_estimate"].tolist()
        assert rates.get_xdata().tolist() == rows["rate"].tolist()
    for figure in found.values():
        figure.draw_without_rendering()


def test_diagrams_are_on_the_diagonal_and_arrows_are_not():
    figure = six_points.draw_diagrams()
    (arrows,) = [c for axes in figure.axes for c in axes.collections if isinstance(c, Quiver)]
    assert arrows.N == 6
    # 0.1 from one class to another is a tenth of a side of the triangle
    assert np.hypot(arrows.U, arrows.V) == pytest.approx(np.full(6, 0.1), abs=1e-9)
    points = 0
    for axes in figure.axes:
        for line in axes.lines:
            if line.get_label().startswith("observed"):
                points += line.get_xdata().size
                assert line.get_ydata() == pytest.approx(line.get_xdata(), abs=1e-12)
    assert points == 10


def test_full_and_quick_ask_the_same():
    (full,), (quick,) = six_points.grids(False), six_points.grids(True)
    assert set(quick["n"]) < set(full["n"])
    assert quick["measures"] == full["measures"]
    assert full["replicates"] > quick["replicates"]
