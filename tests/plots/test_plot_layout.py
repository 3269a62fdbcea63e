"""In no picture of one event or many classes does anything overlap, get cut off or get read as a formula."""

import functools
from dataclasses import replace

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest
from plotted_results import (
    EDGE_CASES,
    cells,
    made_up_tests,
    outside,
    overlapping,
    panels,
    per_class,
    rows,
    six_points,
)

import calibstat as cs
from calibstat.inference.bands.bands import BANDS

pytestmark = pytest.mark.usefixtures("closed_figures")


def one_event(band):
    """A diagram of a single event, with frequencies inside and outside."""
    return cs.reliability(*rows(2000), band=band, rng=1)


ALL = {
    "six points": six_points,
    "triangle": lambda: cells(3),
    "225 triangles": lambda: cells(3, 15),
    "tetrahedron": lambda: cells(4),
    "fine tetrahedron": lambda: cells(4, 8),
    **{f"one event, {band}": functools.partial(one_event, band) for band in BANDS},
    "two classes": lambda: per_class(2),
    "three classes": lambda: per_class(3),
    "four classes": lambda: per_class(4, band="confidence"),
    "ten classes": lambda: per_class(10),
    "bands of a curve": lambda: per_class(4, band="monotone"),
    "ten deviations": lambda: per_class(10),
    "thirty classes": lambda: per_class(30, band=None),
    "tests": lambda: made_up_tests(12),
    "many tests": lambda: made_up_tests(60),
    **{name: functools.partial(EDGE_CASES.get, name) for name in EDGE_CASES},
}
ALIKE = {"225 triangles", "ten deviations", "four classes", "many tests"}  # others are drawn in the same way


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in ALIKE)) for name in ALL])
def test_nothing_overlaps_is_cut_off_or_changes_global_settings(name):
    found = ALL[name]()
    before = dict(mpl.rcParams), len(plt.get_fignums())
    figure = cs.plot(found, deviation=name == "ten deviations").figure
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


def test_names_are_not_read_as_formulas():
    names = ("$5 to $10", "a_b^c", "100%")
    ax = cs.plot(replace(six_points(), names=names))
    assert [t.get_text() for t in ax.texts if not t.get_parse_math()] == list(names)
    figure = cs.plot(replace(per_class(3), names=names)).figure
    assert not any(ax.title.get_parse_math() for ax in panels(figure))
    tests = made_up_tests(3)
    ax = cs.plot(replace(tests, classes=replace(tests.classes, names=names)))
    assert not any(label.get_parse_math() for label in ax.get_yticklabels())
    figure.draw_without_rendering()
    ax.figure.draw_without_rendering()
