"""The results behind reliability diagrams of many classes."""

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from plotted_results import EDGE_CASES, over_confident, per_class, six_points, some_cells

pytestmark = pytest.mark.usefixtures("closed_figures")


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
        "Reliability of 3 classes (1, 2, 3), canonical, n = 600, in 6 cells, the largest with 17 % of the rows "
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
    head, titles, *rows, own = str(found).split("\n")
    assert own.startswith("Each class has its own 95 % simultaneous consistency band; all observed frequencies lie")
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


@pytest.mark.parametrize("make", [six_points, partial(per_class, 3, band=None)], ids=["simplex", "class-wise"])
def test_results_are_ready_for_json(make):
    found = make()
    again = json.loads(json.dumps(found.to_dict()))
    assert again["names"] == list(found.names)
    if "diagrams" in again:
        assert again["diagrams"][2]["frequency"] == found.diagrams[2].frequency.tolist()
