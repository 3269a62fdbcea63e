"""The study of the distances: its table says what the paper's says, and its pictures what the table says."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from documentation import measure_pages

import calibstat as cs
from calibstat.papers import distances

PAPER = {  # table 1 of arXiv:2211.16886: continuous, complete, sound, estimable
    "ECE, unbinned": "nyyn",
    "binned ECE": "nyny",
    "Brier score": "ynyy",
    "log loss": "ynyy",
    "normalized cross entropy": "ynyy",
    "KS": "nyyy",
    "Kuiper (ECCE)": "nyyy",
    "kernel error, Gaussian": "yyny",  # not robustly sound
    "kernel error, Laplace": "yyyy",
    "smooth error": "yyyy",
    "interval error": "nyyy",
    "surrogate interval error": "yyyy",
}


@pytest.fixture(scope="module")
def table():
    tables = [cs.study.run(**grid, seed=distances.SEED) for grid in distances.grids(quick=True)]
    return pd.concat(tables, ignore_index=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def marks(found):
    wide = found.pivot(index="measure", columns="property", values="holds")[list(distances.LIMITS)]
    return {name: "".join("ny"[bool(holds)] for holds in line) for name, line in zip(wide.index, wide.to_numpy())}  # noqa: B905


def test_the_table_is_that_of_the_paper(table):
    found = marks(distances.judge(table))
    assert {name: found[name] for name in PAPER} == PAPER
    assert set(found) == set(distances.COMPARED_MEASURES)


def test_the_numbers_of_the_table_by_hand(table):
    found = distances.judge(table).set_index(["measure", "property"])
    number, where = found["number"], found["where"]
    # ECE: 1/2 - 1e-5 beside 0; error of a sample of distinct predictions: E abs(y - v) = 2 E v (1 - v) = 1/3
    assert number["ECE, unbinned", "continuous"] == pytest.approx(0.5 - 1e-5, abs=1e-12)
    n = distances.grids(quick=True)[-1]["n"][0]
    error = 0.5 / np.sqrt(2 * n)  # of the mean of 2 n numbers from 0 to 1, at most
    assert abs(number["ECE, unbinned", "estimable"] - 1 / 3) < 5 * error
    # .51 with outcome 1, .54 with .05: residuals .49 and -.49
    assert number["binned ECE", "sound"] == pytest.approx(0, abs=1e-12)
    assert where["binned ECE", "sound"] == "opposite errors in a bin"
    # upper distance of the gap at .3: .3 if points tie, 2 * .1875 * (.3 - 1e-5) if they moved inwards
    assert number["upper distance", "continuous"] == pytest.approx(0.3 - 0.375 * (0.3 - 1e-5), abs=1e-9)
    # interval error: .3, and 4 * .1875 * (.3 - 1e-5)
    assert number["interval error", "continuous"] == pytest.approx(0.3 - 0.75 * (0.3 - 1e-5), abs=1e-9)
    assert number["binned ECE + width", "complete"] == pytest.approx(1 / 20, abs=1e-12)
    assert number["Brier score", "complete"] == pytest.approx((0.09 * 2 + 0.21 * 2 + 0.25) / 5, abs=1e-12)
    # the mean entropy of five scores, or of uniform ones, 1/2, whichever is more, over that of the rate 1/2
    entropy = sum(-v * np.log(v) - (1 - v) * np.log(1 - v) for v in (0.1, 0.3, 0.5, 0.7, 0.9)) / 5
    expected = max(entropy, 0.5) / np.log(2)
    assert number["normalized cross entropy", "complete"] == pytest.approx(expected, rel=1e-9)
    assert where["kernel error, Gaussian", "sound"] == "16 waves"
    assert np.isnan(number["upper distance", "estimable"])
    assert not found["holds"]["upper distance", "estimable"]


@pytest.mark.parametrize(
    ("generator", "measure", "broken"),
    [
        ("moved: two points", "smooth error", "nyyy"),
        ("calibrated: five scores", "smooth error", "ynyy"),
        ("calibrated: uniform", "smooth error", "ynyn"),
    ],
)
def test_a_measure_with_a_fault_is_marked(table, generator, measure, broken):
    wrong = table.copy()
    wrong.loc[(wrong["generator"] == generator) & (wrong["measure"] == measure), "truth"] += 0.2
    assert marks(distances.judge(wrong))[measure] == broken


def test_bounds_hold_in_the_table(table):
    for word in ("temperature", "alpha"):
        curves = distances._curves(distances._part(table, word), "truth")
        value = {name: y for name, (_, y) in curves.items()}
        lower, smooth, interval = (value[name] for name in ("lower distance", "smooth error", "interval error"))
        below = 1 / (3 * 400) + 1e-9  # what sharing out on the grid may take away
        assert np.all(lower / 2 <= smooth + 1e-5)
        assert np.all(smooth <= 2 * lower + 2 * below)
        assert np.all(lower <= interval + 1e-5)
        assert np.all(interval <= value["surrogate interval error"] + 1e-9)


def test_the_gap_is_quadratic(table):
    rows = distances._part(table, "alpha")
    for name, (alpha, value) in distances._curves(rows, "truth").items():
        expected = {
            "lower distance": 2 * alpha**2 / (1 + 2 * alpha),
            "smooth error": alpha**2,
            "interval error": alpha,
            "upper distance": alpha,
        }
        if name in expected:
            assert value == pytest.approx(expected[name], abs=1e-5)


def test_pictures_show_the_table(table):
    found = distances.figures(table)
    assert set(found) == {"", "gap", "table", "kernel"}
    rows = distances._part(table, "temperature").sort_values("x")
    (axes,) = found[""].axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    for name in distances.RESAMPLED:
        assert lines[name].tolist() == rows[rows["measure"] == name]["mean"].tolist()
    (axes,) = found["gap"].axes
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    alpha = np.sort(distances._part(table, "alpha")["x"].unique())
    assert lines["true distance, world 2"] == pytest.approx(alpha)
    shown = [text.get_text() for text in found["table"].axes[0].texts]
    judged = distances.judge(table)
    assert shown.count("✓") == judged["holds"].sum()
    assert shown.count("–") == judged["number"].isna().sum()
    for figure in found.values():
        figure.draw_without_rendering()


def test_the_documentation_shows_the_table(table, tmp_path, monkeypatch):
    pages = measure_pages()
    monkeypatch.setattr(pages, "RESULTS", tmp_path)
    cs.study.write_table(table, tmp_path / "distances.csv", command="made up")
    shown = pages.distances_table()
    assert "made up" in shown
    assert "| ECE, unbinned | ✗ 0.5 (two points) | ✓ 0 (" in shown
    assert shown.splitlines()[-1].startswith("| upper distance | ✗ 0.19 (gap, ")
    assert shown.splitlines()[-1].endswith("| – |")


def test_full_and_quick_ask_the_same(table):
    full, quick = distances.grids(False), distances.grids(True)
    for large, small in zip(full, quick, strict=True):
        assert set(small["generators"]) <= set(large["generators"])
        assert small["measures"] == large["measures"]
        assert small["replicates"] < large["replicates"]
