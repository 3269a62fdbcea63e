"""Diagrams of different kinds beside each other."""

import numpy as np
import pytest
from plotted_results import cells, made_up_tests, outside, overlapping

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")

Y, P = cs.generators.temperature(2).sample(300, rng=1)


@pytest.fixture(scope="module")
def sharp():
    return cs.sharpness(Y, P)


@pytest.fixture(scope="module")
def reliable():
    return cs.reliability(Y, P, rng=1)


@pytest.fixture(scope="module")
def smooth():
    return cs.detail(Y, P, measure="smooth_ece")


def drawn(results):
    """The axes of the diagrams, without axes inside of them, and the figure."""
    figure = cs.plot(results).figure
    figure.draw_without_rendering()
    return figure, [ax for ax in figure.axes if ax.get_title()]


def test_two_kinds_share_the_ends_of_their_axes(sharp, reliable):
    figure, axes = drawn({"a": sharp, "b": reliable})
    assert [ax.get_title() for ax in axes] == ["a", f"b\n{cs.plot(reliable).get_title()}"]
    assert axes[0].get_ylim() == axes[1].get_ylim()
    curve = {line.get_label(): line.get_xydata() for line in axes[0].get_lines()}["calibration curve"]
    np.testing.assert_array_equal(curve, np.column_stack([sharp.grid, sharp.curve]))
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(texts) == len(set(texts))
    assert {"calibration curve", "observed, inside"} <= set(texts)
    assert all(ax.get_legend() is None for ax in axes)


def test_models_are_columns_and_kinds_rows(sharp, reliable):
    _, axes = drawn({"a": sharp, "b": sharp, "c": reliable, "d": reliable})
    boxes = [ax.get_position() for ax in axes]
    assert boxes[0].y0 == pytest.approx(boxes[1].y0)
    assert boxes[2].y1 < boxes[0].y0
    assert boxes[0].x0 < boxes[1].x0


def test_panels_are_as_wide_as_each_other():
    y, p = cs.generators.temperature(2).sample(300, rng=1)
    different = {"sharpness": cs.sharpness(y, p), "diagram": cs.reliability(y, p, rng=1)}
    figure = cs.plot(different).figure
    figure.canvas.draw()
    one, other = (panel.get_window_extent().width for panel in figure.axes[:2])
    assert one == pytest.approx(other, rel=0.02)


def test_details_beside_each_other(smooth):
    _, axes = drawn({"raw": smooth, "again $x$": smooth, "third": smooth})
    assert [ax.get_title().partition("\n")[0] for ax in axes] == ["raw", "again $x$", "third"]
    assert len({round(ax.get_position().y0, 6) for ax in axes}) == 1


def monitor(**others):
    """A monitor after two periods, of one model or more."""
    made = cs.Monitor()
    for rows in (slice(0, 150), slice(150, 300)):
        made.update(Y[rows], {"first": P[rows]} | {k: p[rows] for k, p in others.items()} if others else P[rows])
    return made


MAKERS = {
    "calibration_test": lambda: cs.calibration_test(Y, P, measure="brier", n_resamples=19, rng=1),
    "detail": lambda: cs.detail(Y, P, measure="ks"),
    "simplex of three": lambda: cells(3),
    "simplex of four": lambda: cells(4),
    "class-wise test": lambda: made_up_tests(5),
    "compare": lambda: cs.compare(Y, {"one": P, "another": P**2}, measure="brier", rng=1),
    "calibration_belt": lambda: cs.classical.calibration_belt(Y, P, held_out=True),
    "sharpness": lambda: cs.sharpness(Y, P),
    "power": lambda: cs.power(P, "temperature=2", n=[20, 40], test="spiegelhalter", n_datasets=9, n_sets=2, rng=1),
    "validate": lambda: cs.validate(Y, P),
    "by_cluster": lambda: cs.validate(Y, P, cluster=np.arange(Y.size) % 6).by_cluster,
    "monitor": monitor,
    "models": lambda: monitor(second=P**2),
}
ROWS = {"simplex of three": 2, "simplex of four": 2, "models": 2}  # of pictures that together are wider than a page


@pytest.mark.parametrize("name", MAKERS)
def test_any_two_of_a_kind_stand_beside_each_other(name):
    """Each has its name above it and all the data that its own picture has; nothing overlaps and nothing is cut off."""
    found = MAKERS[name]()
    first = cs.plot({"this one": found, "that one": found})
    figure = first.figure
    figure.draw_without_rendering()
    panels = [ax for ax in figure.axes if ax.get_title()]
    names = [panel.get_title().partition("\n")[0] for panel in panels]
    several = ["this one, first", "this one, second", "that one, first", "that one, second"]
    assert names == (several if name == "models" else ["this one", "that one"])
    bottoms = {round(panel.get_window_extent().y0) for panel in panels}
    assert len(bottoms) == ROWS.get(name, 1)
    assert outside(figure) == []
    inside = {pair for pair in overlapping(figure) if {part.split()[0] for part in pair} != {"axes", "legend"}}
    assert not inside
    status = found.status() if name in ("monitor", "models") else found
    alone = cs.plot(status.models["first"] if name == "models" else status)
    assert line_data(panels[0]) == line_data(alone)


def line_data(ax):
    drawn = [line.get_data_3d() if ax.name == "3d" else line.get_data() for line in ax.lines]
    return [[np.round(np.asarray(part, float), 9).tolist() for part in each] for each in drawn]


def test_an_entry_about_one_picture_stays_in_it():
    """What is observed is another number in each test, so each keeps its legend; else one legend is for all."""
    made = cs.calibration_test(Y, {"A": P, "B": P**2}, measure="brier", n_resamples=19, rng=1)
    figure = cs.plot(made).figure
    assert not figure.legends
    observed = [panel.get_legend().get_texts()[1].get_text() for panel in figure.axes]
    assert observed == [f"observed, {one.statistic:.3g}" for one in made.values()]
    validated = cs.plot(cs.validate(Y, {"A": P, "B": P**2})).figure
    assert [text.get_text() for text in validated.legends[0].get_texts()][:2] == ["calibrated", "lowess"]
    assert not any(panel.get_legend() for panel in validated.axes)


def test_what_cannot_be_drawn_beside(sharp, reliable):
    with pytest.raises(ValueError, match="expected no axes for several diagrams"):
        cs.plot({"a": sharp, "b": reliable}, cs.plot(sharp))
    with pytest.raises(TypeError, match="expected a Reliability, "):
        cs.plot({"a": sharp, "b": 1})


def test_places_without_a_diagram_are_empty(smooth):
    """Three of a kind beside each other, and two in the next row, whose third place is empty."""
    figure, axes = drawn(dict.fromkeys("abcde", smooth))
    assert [ax.get_title()[0] for ax in axes] == list("abcde")
    assert len(axes) == 5
    assert all(ax.has_data() for ax in figure.axes)
    assert axes[4].get_position().y1 < axes[0].get_position().y0
