"""Diagrams on the simplex: arrows are where the numbers say, in axes of the right kind."""

import itertools
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.quiver import Quiver
from plotted_results import (
    EDGE_CASES,
    cells,
    overlapping,
    per_class,
    six_points,
    some_cells,
)

import calibstat as cs
from calibstat.plots.simplex_plot import cell_corners
from calibstat.plots.style import colors

pytestmark = pytest.mark.usefixtures("closed_figures")


def named_corners(ax, names):
    """The end of an edge that is nearest to each name."""
    solid = [line for line in ax.lines if line.get_linewidth() > 1 and line.get_linestyle() == "-"]
    ends = np.vstack([np.transpose(line.get_data_3d() if ax.name == "3d" else line.get_data()) for line in solid])
    place = {text.get_text().replace("\n", " "): text for text in ax.texts}
    if ax.name == "3d":
        at = [place[str(name)].get_position_3d() for name in names]
    else:
        at = [ax.transData.inverted().transform(place[str(name)].get_window_extent().get_points().mean(0))
              for name in names]  # fmt: skip
    return np.array([ends[np.linalg.norm(ends - position, axis=1).argmin()] for position in at])


def drawn_arrows(ax, names):
    """Tails and heads of the arrows and the dots, in shares of the corners as they are named."""
    if ax.name != "3d":  # else names have places among the data, too
        ax.figure.draw_without_rendering()
    corners = named_corners(ax, names)
    if ax.name == "3d":
        arrows = next(entry for entry in ax.collections if hasattr(entry, "_segments3d"))
        shafts = np.array(arrows._segments3d[: len(arrows._segments3d) // 3])  # the rest are the sides of their heads
        dots = np.transpose(next(entry for entry in ax.collections if hasattr(entry, "_offsets3d"))._offsets3d)
        heads, tails = shafts[:, 0], shafts[:, 1]
    else:
        arrows = next(entry for entry in ax.collections if isinstance(entry, Quiver))
        assert (arrows.angles, arrows.scale_units, arrows.scale) == ("xy", "xy", 1)
        dots = np.asarray(next(entry for entry in ax.collections if not isinstance(entry, Quiver)).get_offsets())
        tails = np.column_stack([arrows.X, arrows.Y])
        heads = tails + np.column_stack([arrows.U, arrows.V])

    def shares(points):
        return np.linalg.solve(
            np.vstack([corners.T, np.ones(len(corners))]), np.vstack([points.T, np.ones(len(points))])
        ).T

    return shares(tails), shares(heads), shares(dots)


def differing_cells(ax, found):
    """How many cells are not drawn where they belong, judged by the names at the corners."""
    order = np.argsort(found.count, kind="stable")
    frame = found.to_frame().iloc[order]
    tails, heads, dots = drawn_arrows(ax, found.names)
    predicted = frame[[f"prediction[{name}]" for name in found.names]].to_numpy()
    observed = frame[[f"frequency[{name}]" for name in found.names]].to_numpy()
    off = np.abs(np.hstack([tails - predicted, dots - predicted, heads - observed])).max(axis=1)
    return np.sum(off > 1e-9)


@pytest.mark.parametrize(
    "found", [six_points(), cells(3), cells(3, 15), cells(4), *EDGE_CASES.values()], ids=lambda f: f"{f.count.size}"
)
def test_arrows_go_from_prediction_to_frequency(found):
    assert differing_cells(cs.plot(found), found) == 0


@pytest.mark.parametrize("found", [six_points(), cells(3), cells(4)])
def test_swapped_corners_are_noticed(found):
    ax = cs.plot(found)
    one, other = (next(t for t in ax.texts if t.get_text().replace("\n", " ") == name) for name in found.names[:2])
    first, second = one.get_text(), other.get_text()
    one.set_text(second)
    other.set_text(first)
    assert differing_cells(ax, found) > found.count.size / 2


@pytest.mark.parametrize("n_classes", [3, 4])
def test_turned_arrows_are_noticed(n_classes):
    found = cells(n_classes)
    turned = replace(found, mean_prediction=found.frequency, frequency=found.mean_prediction)
    assert differing_cells(cs.plot(turned), found) > found.count.size / 2


def test_corners_are_regular():
    corners = {n: named_corners(cs.plot(cells(n)), cells(n).names) for n in (3, 4)}
    for place in corners.values():
        sides = [np.linalg.norm(one - other) for one, other in itertools.combinations(place, 2)]
        np.testing.assert_allclose(sides, 1, rtol=1e-12)


def test_percentages_count_the_corner_that_they_rise_to():
    ax = cs.plot(six_points())
    ax.figure.draw_without_rendering()
    corners = named_corners(ax, "123")
    ticks = [text for text in ax.texts if text.get_text().endswith("%")]
    assert sorted(text.get_text() for text in ticks) == sorted(["20%", "40%", "60%", "80%"] * 3)
    for text in ticks:
        shares = np.linalg.solve(np.vstack([corners.T, np.ones(3)]), np.append(text.xy, 1))
        part = float(text.get_text().rstrip("%")) / 100
        k = np.isclose(shares, part).argmax()  # the corner that it counts; the rest is of the corner before
        expected = part * np.eye(3)[k] + (1 - part) * np.eye(3)[k - 1]
        np.testing.assert_allclose(shares, expected, atol=1e-9)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_more_rows_are_darker_and_all_are_seen_on_white(n_classes):
    found = cells(n_classes)
    ax = cs.plot(found)
    dots = next(entry for entry in ax.collections if entry.get_offsets().shape[0] == found.count.size)
    rgb = dots.get_facecolor()[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert np.all(np.diff(luminance) <= 1e-12)  # cells are drawn by ascending rows
    assert 1.05 / (luminance.max() + 0.05) > 1.8  # contrast ratio of WCAG 2; white on white has 1
    bar = ax.figure.axes[-1]
    assert bar.get_ylabel() == f"Share of the {found.n} rows"
    assert bar.get_ylim() == pytest.approx((0, found.count.max() / found.n))


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_simplex_is_drawn_in_given_axes(n_classes):
    projection = "3d" if n_classes == 4 else None
    figure, grid = plt.subplots(1, 2, figsize=(13, 5), subplot_kw={"projection": projection}, layout="constrained")
    for ax in grid:
        assert cs.plot(cells(n_classes), ax) is ax
        assert differing_cells(ax, cells(n_classes)) == 0
    assert overlapping(figure) == []


@pytest.mark.parametrize("n_classes", [2, 5, 7])
def test_other_numbers_of_classes_are_refused(n_classes):
    with pytest.raises(ValueError, match=rf"expected three or four classes, found {n_classes}.*lenses\.groups"):
        cs.plot(some_cells(n_classes, np.eye(n_classes), np.eye(n_classes)))
    assert plt.get_fignums() == []


def test_axes_of_the_wrong_kind_are_refused():
    flat, deep = plt.subplots()[1], plt.subplots(subplot_kw={"projection": "3d"})[1]
    with pytest.raises(ValueError, match="expected two-dimensional axes, found Axes3D"):
        cs.plot(cells(3), deep)
    with pytest.raises(ValueError, match=r"expected three-dimensional axes \(projection='3d'\), found Axes"):
        cs.plot(cells(4), flat)
    with pytest.raises(ValueError, match="expected no axes for a class-wise diagram"):
        cs.plot(per_class(3), flat)


# --- filled cells -----------------------------------------------------------------------------------------------------


def area(corners):
    """The area of a polygon of vectors of three classes, as a share of the triangle: the cross product of two sides."""
    u, v = (corners[1:-1] - corners[0])[:, :2], (corners[2:] - corners[0])[:, :2]
    return np.abs((u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum())


def test_the_corners_of_cells_by_hand():
    """A half of the first coordinate is a smaller triangle, and its other part a trapezium of three quarters."""
    top = cell_corners(np.array([0.5, 0, 0]), np.ones(3))
    assert area(top) == pytest.approx(0.25)
    assert {tuple(corner) for corner in top.round(9)} == {(1, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5)}
    assert area(cell_corners(np.zeros(3), np.array([0.5, 1, 1]))) == pytest.approx(0.75)


@pytest.mark.parametrize("strategy", ["uniform", "tree"])
def test_filled_cells_are_parts_of_the_triangle_and_hold_their_means(strategy):
    label, prob = cs.generators.dirichlet((1, 1, 1), temperature=2).sample(3000, rng=1)
    diagram = cs.reliability(label, prob, lens="canonical", n_bins=4, strategy=strategy, band="confidence")
    cells = [cell_corners(*ends) for ends in zip(diagram.lower, diagram.upper, strict=True)]
    assert sum(map(area, cells)) == pytest.approx(1)
    for corners, mean in zip(cells, diagram.mean_prediction, strict=True):
        around = [np.vstack((mean, corners[i - 1], corners[i])) for i in range(len(corners))]
        assert sum(map(area, around)) == pytest.approx(area(corners))  # only of a point inside
    ax = cs.plot(diagram)
    filled = next(entry for entry in ax.collections if isinstance(entry, PolyCollection) and len(entry.get_paths()) > 1)
    assert len(filled.get_paths()) == diagram.count.size
    arrows = next(entry for entry in ax.collections if isinstance(entry, Quiver))
    reds = (arrows.get_facecolors()[:, :3] == to_rgba(colors()["red"])[:3]).all(axis=1)
    order = np.argsort(diagram.count, kind="stable")
    np.testing.assert_array_equal(reds, diagram.low[order] > 0)
    assert 0 < reds.sum() < reds.size
    assert "off beyond chance (95 % limits of all cells)" in ax.get_legend_handles_labels()[1]
    without = replace(diagram, lower=None, upper=None, low=None, high=None)
    plain = cs.plot(without)
    assert "off beyond chance (95 % limits of all cells)" not in plain.get_legend_handles_labels()[1]
