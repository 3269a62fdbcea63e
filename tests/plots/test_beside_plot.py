"""Diagrams of different kinds beside each other."""

import numpy as np
import pytest

import calibstat as cs

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
    assert [ax.get_title() for ax in axes] == ["a", "b"]
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
    assert [ax.get_title() for ax in axes] == ["raw", "again $x$", "third"]
    assert len({round(ax.get_position().y0, 6) for ax in axes}) == 1


def test_what_cannot_be_drawn_beside(sharp, reliable):
    with pytest.raises(ValueError, match="expected no axes for several diagrams"):
        cs.plot({"a": sharp, "b": reliable}, cs.plot(sharp))
    with pytest.raises(TypeError, match="expected a Reliability, "):
        cs.plot({"a": sharp, "b": 1})


def test_places_without_a_diagram_are_empty(smooth):
    """Four kinds of one beside each other, and a fifth in the next row, whose three other places are empty."""
    figure, axes = drawn(dict.fromkeys("abcde", smooth))
    assert [ax.get_title() for ax in axes] == list("abcde")
    assert [len({id(ax) for ax in figure.axes if ax.get_title() == name}) for name in "abcde"] == [1] * 5
    assert all(ax.has_data() for ax in figure.axes)
    assert axes[4].get_position().y1 < axes[0].get_position().y0
