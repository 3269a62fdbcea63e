"""Small reliability diagrams beside each other show each model, or class of a model, with its own numbers."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import lines, outside, overlapping, panels, per_class, rows

import calibstat as cs

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.fixture(scope="module")
def five():
    y, p = rows(2000)
    models = {"A": p, "B": p**2, "a forest of five hundred trees": p**0.5, "D": 1 - p, "E": np.full(2000, 0.5)}
    return cs.reliability(y, models, rng=1)


@pytest.mark.parametrize("deviation", [False, True])
def test_five_models_are_five_panels(five, deviation):
    figure = cs.plot(five, deviation=deviation).figure
    assert len(panels(figure)) == 5
    for (name, one), panel in zip(five.items(), panels(figure), strict=True):
        e, words = one.interval, panel.get_title().split()
        assert " ".join(words) == f"{name} ECE {e.estimate:.3f} [{e.low:.3f}, {e.high:.3f}]"
        base = one.mean_prediction if deviation else 0
        for where, these in (("inside", one.inside), ("outside", ~one.inside)):
            expected = np.column_stack([one.mean_prediction, one.frequency - base])[these]
            assert these.any() == (f"observed, {where}" in lines(panel))
            if these.any():
                np.testing.assert_array_equal(lines(panel)[f"observed, {where}"], expected)
        np.testing.assert_array_equal([bar.get_height() for bar in panel.child_axes[0].patches], one.count)
    assert len({panel.get_ylim() for panel in panels(figure)}) == 1
    assert len({panel.child_axes[0].get_ylim() for panel in panels(figure)}) == 1
    assert overlapping(figure) == []
    assert outside(figure) == []


def test_what_is_said_of_all_is_said_once(five):
    figure = cs.plot(five).figure
    heading = figure.legends[0].get_title().get_text()
    assert heading == "5 models, n = 2,000, each with its own band\nECE with 95% intervals; below, rows"
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(names) == len(set(names))
    assert {"calibrated", "observed, inside", "observed, outside"} <= set(names)
    different = cs.plot({"A": five["A"], "few": cs.reliability(*rows(50), rng=1)})
    assert "n = " not in different.figure.legends[0].get_title().get_text()


def test_classes_of_models_have_a_row_for_each_model():
    figure = cs.plot({"A": per_class(4), "B": per_class(4)}).figure
    titles = [panel.get_title().partition("\n")[0] for panel in panels(figure)]
    assert titles == [f"{name}, class {k}" for name in "AB" for k in range(4)]
    heights = [round(panel.get_position().y0, 6) for panel in panels(figure)]
    assert len({*heights[:4]}) == len({*heights[4:]}) == 1
    assert heights[0] > heights[4]
    assert overlapping(figure) == []
    with pytest.raises(ValueError, match="expected no axes for class-wise diagrams, found axes"):
        cs.plot({"A": per_class(4), "B": per_class(4)}, plt.subplots()[1])


def test_of_many_classes_those_with_the_largest_error_are_shown():
    found = per_class(10)
    figure = cs.plot({"A": found, "B": found}).figure
    worst = [f"class {k}" for k in np.argsort(-found.error)[:4]]
    assert [p.get_title().partition("\n")[0] for p in panels(figure)] == [f"{m}, {k}" for m in "AB" for k in worst]
    assert "the classes with the largest ECE: 4 of 10" in figure.legends[0].get_title().get_text()
