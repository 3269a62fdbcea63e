"""A diagram for each class, and the tests of all classes."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted_results import (
    made_up_tests,
    panels,
    per_class,
)

import calibstat as cs
from calibstat.data import lenses
from calibstat.inference.bands.reliability_diagrams import ClassWiseReliability

pytestmark = pytest.mark.usefixtures("closed_figures")


@pytest.mark.parametrize("deviation", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_each_class_has_its_own_diagram(n_classes, deviation):
    found = per_class(n_classes, band="confidence")
    first = cs.plot(found, deviation=deviation)
    drawn = panels(first.figure)
    assert len(drawn) == n_classes
    assert drawn[0] is first
    for k, ax in enumerate(drawn):
        diagram = found.diagrams[k]
        base = diagram.mean_prediction if deviation else 0
        points = next(line for line in ax.lines if line.get_label() == "observed").get_xydata()
        np.testing.assert_array_equal(points, np.column_stack([diagram.mean_prediction, diagram.frequency - base]))
        (boxes,) = [found for found in ax.containers if "band" in found.get_label()]
        bars = np.array([(box.get_y(), box.get_y() + box.get_height()) for box in boxes.patches])
        np.testing.assert_allclose(bars, np.column_stack([diagram.low - base, diagram.high - base]), atol=1e-12)
        assert (
            ax.get_title()
            == f"class {k}\nECE {diagram.error:.3f} [{diagram.interval.low:.3f}, {diagram.interval.high:.3f}]"
        )
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
    worst = sorted(range(30), key=lambda k: -found.error[k])[:16]
    assert titles == [f"class {k}" for k in worst]
    assert figure.legends[0].get_title().get_text() == (
        "the 16 of 30 classes with the largest ECE, n = 600\nECE with 95% intervals; below, rows"
    )
    width, height = figure.get_size_inches()
    assert width < 8.3
    assert height < 11.7  # a page
    assert titles != [
        f"class {k}" for k in replace(found, error=found.error[::-1]).largest_errors(16)
    ]  # errors of other classes


def test_one_legend_for_all():
    figure = cs.plot(per_class(10, band="consistency")).figure
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert len(figure.legends) == 1
    assert not any(ax.get_legend() for ax in figure.axes)
    assert sorted(names) == sorted(
        ["calibrated", "CORP curve", "95% simultaneous consistency band", "95% simultaneous band, CORP curve",
         "observed, inside", "observed, outside"]
    )  # fmt: skip
    assert figure.legends[0].get_title().get_text() == (
        "10 classes, n = 600, each with its own band\nECE with 95% intervals; below, rows"
    )
    assert [text.get_text() for text in figure.texts] == ["Predicted probability", "Observed frequency"]


@pytest.mark.parametrize("n_classes", [2, 12, 60])
def test_tests_are_sorted_and_show_their_numbers(n_classes):
    result = made_up_tests(n_classes)
    ax, found = cs.plot(result), result.classes
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


def test_tests_are_drawn_in_given_axes():
    ax = plt.subplots(layout="constrained")[1]
    assert cs.plot(made_up_tests(5), ax) is ax


def test_degenerate_classes_are_drawn():
    """A class that never happens, one that always does, constant predictions, one row."""
    for label, prob in (([1, 1, 1], [[0.0, 0.7, 0.3]] * 3), ([0], [[1.0, 0.0, 0.0]])):
        truth = np.array(label)[:, None] == np.arange(3)
        diagrams = [
            cs.reliability(y * 1.0, p, rng=1, n_resamples=50) for y, p in zip(truth.T, np.transpose(prob), strict=True)
        ]
        found = ClassWiseReliability(tuple(diagrams), ("a", "b", "c"), np.zeros(3), lenses.class_wise.named, len(label))
        cs.plot(found).figure.draw_without_rendering()
        np.testing.assert_allclose(found.frequency, truth.mean(0))
        np.testing.assert_allclose(found.mean_prediction, np.mean(prob, axis=0))
