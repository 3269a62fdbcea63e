"""Plots of many classes and the results behind them: arrows are where the numbers say, nothing hides anything."""

import functools
import itertools
import json
from dataclasses import replace

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.quiver import Quiver
from mpl_toolkits.mplot3d.proj3d import proj_transform

import calibstat as cs
from calibstat.inference.calibration_test import ClassWiseTestResult
from calibstat.inference.reliability_diagrams import ClassWiseReliability, SimplexReliability

LONG = ("{airplane, automobile, bird}", "{cat, deer, dog}", "{frog, horse, ship, truck}", "everything else")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def over_confident(n_classes, n, seed=0):
    """Labels from Dirichlet vectors, predictions from the squares of these vectors."""
    rng = np.random.default_rng(seed)
    truth = rng.dirichlet(np.ones(n_classes), n)
    label = (truth.cumsum(1) < rng.random((n, 1))).sum(1).clip(max=n_classes - 1)
    return label, truth**2 / (truth**2).sum(1, keepdims=True)


@functools.cache
def cells(n_classes, parts=4, n=1500):
    """Over-confident predictions in the cells in which the same classes are in the same of some equal parts."""
    label, prob = over_confident(n_classes, n)
    cell = np.unique(np.ceil(prob * parts), axis=0, return_inverse=True)[1].ravel()
    of_cell = np.eye(cell.max() + 1)[cell]
    count = of_cell.sum(0)
    mean, frequency = ((of_cell.T @ rows) / count[:, None] for rows in (prob, np.eye(n_classes)[label]))
    return SimplexReliability(mean, frequency, count, LONG[:n_classes], "equal parts", "canonical", n)


def six_points():
    """Vaicenavicius et al. 2019, Table 1."""
    mean = [[0.1, 0.3, 0.6], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6], [0.3, 0.6, 0.1], [0.6, 0.1, 0.3], [0.6, 0.3, 0.1]]
    law = [[0.2, 0.2, 0.6], [0.0, 0.7, 0.3], [0.2, 0.2, 0.6], [0.4, 0.5, 0.1], [0.7, 0.0, 0.3], [0.5, 0.4, 0.1]]
    count = np.full(6, 100.0)
    return SimplexReliability(np.array(mean), np.array(law), count, ("1", "2", "3"), "distinct", "canonical", 600)


def some_cells(n_classes, mean, frequency):
    """Cells of ten rows."""
    count = np.full(len(mean), 10.0)
    names = tuple("abcdefg"[:n_classes])
    return SimplexReliability(np.array(mean), np.array(frequency), count, names, "", "canonical", 10 * len(mean))


EDGE_CASES = {
    "one cell": some_cells(3, [[0.2, 0.3, 0.5]], [[0, 0, 1]]),
    "one calibrated cell": some_cells(4, [[0.1, 0.2, 0.3, 0.4]], [[0.1, 0.2, 0.3, 0.4]]),
    "all at corners": some_cells(3, np.eye(3), np.roll(np.eye(3), 1, axis=0)),
    "no displacement": some_cells(4, np.eye(4), np.eye(4)),
    "absent class": some_cells(3, [[0.2, 0.3, 0.5], [0.6, 0.2, 0.2]], [[0.4, 0.6, 0], [0.9, 0.1, 0]]),
    "absent fourth class": some_cells(4, [[0.2, 0.3, 0.4, 0.1], [0.6, 0.2, 0.2, 0]], [[0.4, 0.6, 0, 0], [1, 0, 0, 0]]),
}


@functools.cache
def per_class(n_classes, n=600, **options):
    label, prob = over_confident(n_classes, n)
    truth = [(label == k).astype(float) for k in range(n_classes)]
    diagrams = tuple(cs.reliability(y, p, rng=1, n_resamples=50, **options) for y, p in zip(truth, prob.T, strict=True))
    error = np.array([cs.estimate(y, p) for y, p in zip(truth, prob.T, strict=True)])
    return ClassWiseReliability(diagrams, tuple(f"class {k}" for k in range(n_classes)), error, "class-wise", n)


def made_up_tests(n_classes, n_resamples=99, seed=0):
    """A made-up result: statistics among normal variables, the first far above."""
    rng = np.random.default_rng(seed)
    null, statistic = rng.normal(size=(n_resamples, n_classes)), rng.normal(size=n_classes)
    statistic[0] = 9
    pvalue = (1 + (null >= statistic).sum(0)) / (1 + n_resamples)
    return ClassWiseTestResult(
        names=tuple(f"class {k}" for k in range(n_classes)),
        statistic=statistic,
        pvalue=pvalue,
        pvalue_holm=np.minimum(1, 2 * pvalue),  # any numbers will do
        pvalue_error=0 * pvalue,
        null_distribution=null,
        null_hypothesis="each class is calibrated",
        overall=None,
        measure="ks",
        lens="class-wise",
        tail="greater",
        resample="labels",
        n=50,
        n_resamples=n_resamples,
    )


# --- where the arrows are ---------------------------------------------------------------------------------------------


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


# --- the panels of a class-wise diagram -------------------------------------------------------------------------------


def panels(figure):
    return [ax for ax in figure.axes if ax.get_title()]


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_each_class_has_its_own_diagram(n_classes, deviation):
    found = per_class(n_classes, band="confidence", deviation=deviation)
    first = cs.plot(found)
    drawn = panels(first.figure)
    assert len(drawn) == n_classes
    assert drawn[0] is first
    for k, ax in enumerate(drawn):
        diagram = found.diagrams[k]
        base = diagram.mean_prediction if deviation else 0
        points = next(line for line in ax.lines if line.get_label() == "observed").get_xydata()
        np.testing.assert_array_equal(points, np.column_stack([diagram.mean_prediction, diagram.frequency - base]))
        bars = np.array(next(e for e in ax.collections if "bars" in e.get_label()).get_segments())[:, :, 1]
        np.testing.assert_array_equal(bars, np.column_stack([diagram.low - base, diagram.high - base]))
        assert ax.get_title() == f"class {k}\nECE {found.error[k]:.3g}"
        assert ax.get_ylim() == first.get_ylim()
        low, high = ax.get_ylim()
        assert low + 0.15 * (high - low) <= bars.min() + 1e-9  # the strip hides nothing
        assert bars.max() <= high
        rows = [patch.get_height() for patch in ax.child_axes[0].patches]
        np.testing.assert_array_equal(rows, diagram.count)


def test_many_classes_show_the_worst():
    found = per_class(30, band=None)
    figure = cs.plot(found).figure
    titles = [ax.get_title().partition("\n")[0] for ax in panels(figure)]
    worst = sorted(range(30), key=lambda k: -found.error[k])[:25]
    assert titles == [f"class {k}" for k in worst]
    assert figure.legends[0].get_title().get_text() == "the 25 of 30 classes with the largest ECE, n = 600"
    assert titles != [
        f"class {k}" for k in replace(found, error=found.error[::-1]).worst(25)
    ]  # errors of other classes


def test_one_legend_for_all():
    figure = cs.plot(per_class(10, band="consistency")).figure
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(figure.legends) == 1
    assert not any(ax.get_legend() for ax in figure.axes)
    assert sorted(names) == sorted(
        ["calibrated", "CORP curve", "90% consistency bars", "observed, inside bar", "observed, outside bar",
         "rows of each bin"]
    )  # fmt: skip
    assert figure.get_supxlabel() == "Predicted probability"
    assert figure.get_supylabel() == "Observed frequency"


# --- the tests of each class ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 12, 60])
def test_tests_are_sorted_and_show_their_numbers(n_classes):
    found = made_up_tests(n_classes)
    ax = cs.plot(found)
    order = np.argsort(found.pvalue, kind="stable")[:40]
    assert order[0] == 0
    assert [label.get_text() for label in ax.get_yticklabels()] == [f"class {k}" for k in order]
    ranges = np.array(ax.collections[0].get_segments())
    null = np.sort(found.null_distribution[:, order], axis=0)
    at = 0.05 * 98  # NumPy's linear rule: between the sorted values 4 and 5, counted from 0, of 99
    low = null[4] + (at - 4) * (null[5] - null[4])
    high = null[94] - (at - 4) * (null[94] - null[93])
    np.testing.assert_allclose(ranges[:, :, 0], np.column_stack([low, high]), rtol=1e-12)
    marked = {line.get_label(): line.get_xydata() for line in ax.lines}
    points = np.vstack(list(marked.values()))
    points = points[np.argsort(points[:, 1])]
    np.testing.assert_array_equal(points, np.column_stack([found.statistic[order], np.arange(order.size)]))
    assert len(marked["observed, p (Holm) ≤ 0.05"]) == np.sum(found.pvalue_holm[order] <= 0.05)
    texts = [text.get_text() for text in ax.texts]
    assert texts == [f"{p:.2g}" for p in found.pvalue_holm[order]] + ["p (Holm)"]
    assert ax.get_xlabel() == "ks, n = 50"
    assert ax.get_ylabel() == ("The 40 of 60 classes with the smallest p" if n_classes == 60 else "Class")


# --- what must hold for all of them -----------------------------------------------------------------------------------

ALL = {
    "six points": six_points,
    "triangle": lambda: cells(3),
    "225 triangles": lambda: cells(3, 15),
    "tetrahedron": lambda: cells(4),
    "fine tetrahedron": lambda: cells(4, 8),
    "two classes": lambda: per_class(2),
    "three classes": lambda: per_class(3),
    "four classes": lambda: per_class(4, band="confidence"),
    "ten classes": lambda: per_class(10, deviation=True),
    "thirty classes": lambda: per_class(30, band=None),
    "tests": lambda: made_up_tests(12),
    "many tests": lambda: made_up_tests(60),
    **{name: functools.partial(EDGE_CASES.get, name) for name in EDGE_CASES},
}


def overlapping(figure):
    """Pairs among legends, colour bars, panels with their labels, and labels of the figure that overlap."""
    figure.draw_without_rendering()
    boxes = {}
    for k, ax in enumerate(figure.axes):
        boxes[f"axes {k}"] = data_box(ax) if not ax.axison else ax.get_tightbbox(for_layout_only=True)
        if ax.get_legend():
            boxes[f"legend {k}"] = ax.get_legend().get_window_extent()
            if ax.axison:
                boxes[f"axes {k}"] = ax.get_window_extent()
    for name, artist in (("x", figure._supxlabel), ("y", figure._supylabel), *enumerate(figure.legends)):
        if artist is not None:
            boxes[f"figure {name}"] = artist.get_window_extent()
    return [
        (one, other)
        for (one, a), (other, b) in itertools.combinations(boxes.items(), 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 0.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 0.5
    ]


def data_box(ax):
    """The box around the lines of axes without a frame, and around the texts beside them."""
    if ax.name == "3d":
        points = np.hstack([line.get_data_3d() for line in ax.lines if np.size(line.get_data_3d()[0])])
        points = np.transpose(proj_transform(*points, ax.get_proj())[:2])
    else:
        points = np.vstack([line.get_xydata() for line in ax.lines])
    points = ax.transData.transform(points)
    boxes = [mpl.transforms.Bbox([points.min(axis=0), points.max(axis=0)])]
    boxes += [text_box(text) for text in ax.texts]
    return mpl.transforms.Bbox.union(boxes)


def text_box(text):
    """The box around a text, which matplotlib itself does not know in three dimensions."""
    if not hasattr(text, "get_position_3d"):
        return text.get_window_extent()
    x, y, _ = proj_transform(*text.get_position_3d(), text.axes.get_proj())
    flat = text.axes.figure.text(x, y, text.get_text(), transform=text.axes.transData)
    flat.update_from(text)
    flat.set_transform(text.axes.transData)
    box = flat.get_window_extent()
    flat.remove()
    return box


def outside(figure):
    """Texts that do not fit in the figure."""
    texts = [text for ax in figure.axes for text in [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]]
    texts += [text for legend in figure.legends for text in legend.get_texts()]
    texts += [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    found = []
    for text in [text for text in texts if text.get_text()]:
        box = text_box(text)
        if box.x0 < 0 or box.y0 < 0 or box.x1 > figure.bbox.width or box.y1 > figure.bbox.height:
            found.append(text.get_text())
    return found


@pytest.mark.parametrize("name", ALL)
def test_nothing_overlaps_is_cut_off_or_changes_global_settings(name):
    found = ALL[name]()
    before = dict(mpl.rcParams), len(plt.get_fignums())
    figure = cs.plot(found).figure
    assert overlapping(figure) == []
    assert outside(figure) == []
    assert dict(mpl.rcParams) == before[0]
    assert len(plt.get_fignums()) == before[1] + 1


def test_overlaps_and_cut_off_labels_are_noticed():
    ax = cs.plot(six_points())
    ax.figure.draw_without_rendering()
    ax.figure.set_layout_engine("none")
    ax.legend(loc="center")
    ax.text(-0.5, 0.5, "far to the left of everything")
    assert ("axes 0", "legend 0") in overlapping(ax.figure)
    assert "far to the left of everything" in outside(ax.figure)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_simplex_is_drawn_in_given_axes(n_classes):
    projection = "3d" if n_classes == 4 else None
    figure, grid = plt.subplots(1, 2, figsize=(13, 5), subplot_kw={"projection": projection}, layout="constrained")
    for ax in grid:
        assert cs.plot(cells(n_classes), ax) is ax
        assert differing_cells(ax, cells(n_classes)) == 0
    assert overlapping(figure) == []


def test_tests_are_drawn_in_given_axes():
    ax = plt.subplots(layout="constrained")[1]
    assert cs.plot(made_up_tests(5), ax) is ax


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
    with pytest.raises(ValueError, match="expected no axes, as each class has its own"):
        cs.plot(per_class(3), flat)


def test_names_are_not_read_as_formulas():
    names = ("$5 to $10", "a_b^c", "100%")
    ax = cs.plot(replace(six_points(), names=names))
    assert [t.get_text() for t in ax.texts if not t.get_parse_math()] == list(names)
    figure = cs.plot(replace(per_class(3), names=names)).figure
    assert not any(ax.title.get_parse_math() for ax in panels(figure))
    ax = cs.plot(replace(made_up_tests(3), names=names))
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    figure.canvas.draw()
    ax.figure.canvas.draw()


def test_degenerate_classes_are_drawn():
    """A class that never happens, one that always does, constant predictions, one row."""
    for label, prob in (([1, 1, 1], [[0.0, 0.7, 0.3]] * 3), ([0], [[1.0, 0.0, 0.0]])):
        truth = np.array(label)[:, None] == np.arange(3)
        diagrams = [
            cs.reliability(y * 1.0, p, rng=1, n_resamples=50) for y, p in zip(truth.T, np.transpose(prob), strict=True)
        ]
        found = ClassWiseReliability(tuple(diagrams), ("a", "b", "c"), np.zeros(3), "class-wise", len(label))
        cs.plot(found).figure.canvas.draw()
        np.testing.assert_allclose(found.frequency, truth.mean(0))
        np.testing.assert_allclose(found.mean_prediction, np.mean(prob, axis=0))


# --- the results themselves -------------------------------------------------------------------------------------------


def test_six_points_are_a_tenth_from_their_laws():
    """Each law differs from its prediction by 0.1 in two classes: a total variation distance of 0.1."""
    found = six_points()
    np.testing.assert_allclose(found.distance, 0.1, rtol=1e-12)
    frame = found.to_frame()
    assert [*frame.columns] == ["count", *(f"{what}[{k}]" for what in ("prediction", "frequency") for k in "123"),
                                "total_variation"]  # fmt: skip
    np.testing.assert_array_equal(frame["prediction[2]"], found.mean_prediction[:, 1])
    np.testing.assert_array_equal(frame["frequency[3]"], found.frequency[:, 2])
    assert str(found) == (
        "Reliability of 3 classes (1, 2, 3), canonical, n = 600, in 6 cells, the largest with 0.167 of the rows "
        "(distinct).\nThe mean total variation distance between mean prediction and observed frequency is 0.1."
    )
    assert "in one cell" in str(EDGE_CASES["one cell"])


def test_the_mean_distance_counts_rows():
    """Distances 0 and 1, in 30 and 10 rows: 1/4."""
    found = some_cells(3, np.eye(3)[:2], np.eye(3)[[0, 2]])
    assert "is 0.25." in str(replace(found, count=np.array([30.0, 10.0]), n=40))


def test_a_class_wise_result_lists_its_classes():
    found = per_class(3)
    label, prob = over_confident(3, 600)
    frame = found.to_frame()
    assert [*frame.columns] == ["class", "frequency", "mean_prediction", "error"]
    np.testing.assert_allclose(frame["frequency"], np.bincount(label, minlength=3) / 600)
    np.testing.assert_allclose(frame["mean_prediction"], prob.mean(0), rtol=1e-12)
    np.testing.assert_array_equal(frame["error"], found.error)
    head, titles, *rows = str(found).split("\n")
    assert head == "Reliability of 3 classes, class-wise, n = 600:"
    assert len(rows) == 3
    assert {len(line) for line in [titles, *rows]} == {len(titles)}
    expected = ["class", "0", f"{frame['frequency'][0]:.4f}", f"{prob[:, 0].mean():.4f}", f"{found.error[0]:.4f}"]
    assert rows[0].split() == expected


def test_a_long_table_shows_the_ten_worst():
    found = per_class(30, band=None)
    lines = str(found).split("\n")
    worst = sorted(range(30), key=lambda k: -found.error[k])[:10]
    assert lines[0].endswith("; the 10 with the largest ECE:")
    assert [line.split()[1] for line in lines[2:12]] == [str(k) for k in worst]
    assert lines[12] == f"and 20 more, each with ECE at most {found.error[worst[-1]]:.4f}"
    assert len(lines) == 13


@pytest.mark.parametrize("found", [six_points(), per_class(3, band=None)], ids=["simplex", "class-wise"])
def test_results_are_ready_for_json(found):
    again = json.loads(json.dumps(found.to_dict()))
    assert again["names"] == list(found.names)
    if "diagrams" in again:
        assert again["diagrams"][2]["frequency"] == found.diagrams[2].frequency.tolist()
