"""Studies of tests and intervals: their pictures, their grids, and that `violations` finds a fault."""

import io

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file

import calibstat as cs
from calibstat.measures.kinds.registry import binary_measures, everyday_measures, find_measure
from calibstat.papers.parts.promises import FALSE_ALARM, missed_too_often
from calibstat.plots.studies import rates
from calibstat.study import most_rejections

coverage, size = map(study_file, ("coverage", "size"))
CALIBRATED = {"uniform": cs.generators.calibrated(), "five scores": cs.generators.calibrated(size.FIVE)}
WRONG = {"shift 0.5": cs.generators.shift(0.5), "hidden": cs.generators.hidden()}
FILES = [size, coverage]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def read_back(table):
    return pd.read_csv(io.StringIO(table.to_csv(index=False, float_format="%.6g")))


@pytest.fixture(scope="module", params=["size", "power"])
def rejections(request):
    generators = CALIBRATED if request.param == "size" else WRONG
    settings = {"replicates": 12, "seed": 3, "n_resamples": 19}
    return read_back(cs.study.run(request.param, generators, [30, 60], ["ece", "ks", "brier"], **settings))


@pytest.fixture(scope="module")
def coverages():
    methods = ["honest", "percentile", "basic"]
    settings = {"replicates": 12, "seed": 3, "n_resamples": 39}
    return read_back(cs.study.run("coverage", CALIBRATED | WRONG, [30, 60], ["ece", "brier"], methods, **settings))


def drawn(ax, handles, places):
    """Return rate, low and high of every mark in a panel by the name of its place and of itself."""
    found = {}
    for line, bars in zip(handles, ax.collections, strict=True):
        for x, y, bar in zip(*line.get_data(), bars.get_segments(), strict=True):
            assert bar[0, 1] == bar[1, 1] == y
            found[places[round(y)], line.get_label()] = x, bar[0, 0], bar[1, 0]
    return found


def told(part, place, beside):
    return {
        (row[place], str(row[beside])): pytest.approx((row["rate"], row["low"], row["high"]))
        for _, row in part.iterrows()
    }


def assert_panels_show(figure, panels, place, beside):
    shown = {ax.get_title(): ax for ax in figure.axes}
    assert list(shown) == list(panels)
    places = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    for title, part in panels.items():
        handles = [line for line in shown[title].lines if not line.get_label().startswith("_")]
        levels = [line for line in shown[title].lines if line.get_label().startswith("_")]
        assert drawn(shown[title], handles, places) == told(part, place, beside)
        assert [line.get_xdata()[0] for line in levels] == list(part["level"].unique())


def test_rejections_show_the_table(rejections):
    figure = cs.study.plot(rejections)
    assert_panels_show(figure, dict(list(rejections.groupby("generator", sort=False))), "measure", "n")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["30", "60"]
    assert "rejects at 5%" in figure.get_supxlabel()


def test_coverage_shows_the_table(coverages):
    figure = cs.study.plot(coverages)
    panels = {f"{m}\nn = {n}": part for (n, m), part in coverages.groupby(["n", "measure"], sort=False)}
    assert_panels_show(figure, panels, "generator", "method")
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["honest", "percentile", "basic"]
    assert "95% interval covers" in figure.get_supxlabel()


def test_two_ways_of_resampling_have_panels_of_their_own():
    settings = {"replicates": 5, "seed": 3, "n_resamples": 19}
    table = cs.study.run("size", CALIBRATED, 30, ["ece"], ["labels", "both"], **settings)
    titles = [ax.get_title() for ax in rates.draw_rejections(table).axes]
    assert titles == ["uniform, labels", "uniform, both", "five scores, labels", "five scores, both"]


def test_every_mark_is_inside_its_panel(coverages, rejections):
    for table in (coverages, rejections):
        for ax in cs.study.plot(table).axes:
            low, high = ax.get_xlim()
            assert low < 0
            assert table["high"].max() <= high


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 5), slice(0, 17)])
def test_part_of_a_table_can_be_drawn(rows, coverages):
    part = coverages[rows]
    figure = cs.study.plot(part)
    marks = sum(line.get_xdata().size for ax in figure.axes for line in ax.lines if line.get_label()[0] != "_")
    assert marks == len(part)
    labels = {text.get_text() for text in figure.legends[0].get_texts()}
    assert labels == set(part["method"])


def test_nothing_overlaps(coverages):
    figure = cs.study.plot(coverages)
    figure.draw_without_rendering()
    boxes = [ax.get_tightbbox() for ax in figure.axes] + [figure.legends[0].get_window_extent()]
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    for box in boxes:
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("file", FILES)
def test_quick_grids_ask_the_same_of_the_same_measures(file):
    def asked(grids):
        return {(grid["question"], tuple(grid["methods"]), tuple(grid["measures"]), grid["level"]) for grid in grids}

    def cells(grids):
        return {(g, n) for grid in grids for g in grid["generators"] for n in grid["n"]}

    quick, full = file.grids(True), file.grids(False)
    assert asked(quick) <= asked(full)
    assert file is coverage or asked(quick) == asked(full)  # the full study of coverage has more levels and fewer rows
    assert cells(quick) <= cells(full)
    assert max(grid["replicates"] for grid in quick) < min(grid["replicates"] for grid in full)


def test_what_is_registered_joins():
    assert set(everyday_measures()) <= {name for name, _ in size.grids(False)[0]["measures"].values()}
    honest = {name for name in binary_measures() if find_measure(name, {}).has_form}
    asked = [{name for name, _ in grid["measures"].values()} for grid in coverage.grids(False)]
    assert set.union(*asked) == honest
    assert asked[0] | asked[2] == honest  # with the fewest rows: those that most people ask for, and the others


def test_generators_are_what_the_questions_need():
    assert all(g.is_calibrated for grid in size.grids(False) for g in grid["generators"].values())


@pytest.mark.parametrize("quick", [True, False])
def test_sizes_can_reach_the_level(quick):
    for grid in size.grids(quick):
        tail = grid["level"] / 2 * (grid["n_resamples"] + 1)  # of a two-sided test
        assert tail >= 1
        assert 2 * tail == round(2 * tail)


def table_at_the_limit(file, question, method, number, promise, excess):
    """Return a table of 6 cells in which one has so many more rejections, or misses, than the promise still allows."""
    table = pd.DataFrame({"question": question, "measure": list("abcdef"), "replicates": [1000] * 3 + [400] * 3})
    table["method"] = method
    table = table.assign(level=promise if question == "size" else 0.95, truth=0.0, sd_estimate=1.0, mean_width=1.0)
    limit = [most_rejections(promise, r, FALSE_ALARM / 6) for r in table["replicates"]]
    table[number] = limit
    table.loc[4, number] += excess
    table["covered"] = table["replicates"] - table[number]
    return table


FAULTS = [(size, "size", "labels", "rejections", 0.05), (coverage, "coverage", "honest", "misses", 0.06)]


@pytest.mark.parametrize("promise", FAULTS)
def test_violations_finds_exactly_the_planted_fault(promise):
    file = promise[0]
    assert file.study.violations(table_at_the_limit(*promise, excess=0)).empty
    assert list(file.study.violations(table_at_the_limit(*promise, excess=1))["measure"]) == ["e"]


@pytest.mark.parametrize("promise", FAULTS)
def test_violations_asks_nothing_of_what_promises_nothing(promise):
    table = table_at_the_limit(*promise, excess=300)
    assert promise[0].study.violations(table.assign(method="basic")).empty
    other = table.assign(method="basic")
    assert len(promise[0].study.violations(pd.concat([table, other]))) == 1


def test_nothing_is_broken_in_what_runs(coverages):
    assert missed_too_often(coverages).empty


@pytest.mark.parametrize(("width", "broken"), [(4, 0), (8, 1), (12, 1)])
def test_wide_intervals_are_found_where_the_truth_is_far_from_0(width, broken):
    # the truth is 4 sd from 0, and a normal interval is 3.92 wide; 2.2 times as much is 8.62, and the three are 1.5
    # times as wide on average if their widths add to 17.64
    table = pd.DataFrame(
        {"method": "honest", "level": 0.95, "truth": 4.0, "sd_estimate": 1.0, "mean_width": [4.0, 4.0]}
    )
    table = pd.concat([table, table.iloc[:1].assign(mean_width=float(width) + (width == 8))], ignore_index=True)
    assert len(coverage.too_wide(table)) == broken
    assert coverage.widths(table)["relative_width"].iloc[0] == pytest.approx(4 / 3.92, rel=1e-3)
    assert coverage.too_wide(table.assign(truth=2.9)).empty
    assert coverage.too_wide(table.assign(method="basic")).empty


def test_the_scale_of_coverage_and_back():
    """At 95% it is minus the root of .05, at 1 it is 0, and above 1, beyond the axis, it goes on."""
    covered = np.array([0.0, 0.75, 0.95, 1.0, 1.01])
    scale = rates._root_of_misses(covered)
    assert scale == pytest.approx([-1, -0.5, -np.sqrt(0.05), 0, 0.1])
    assert rates._covered(scale) == pytest.approx(covered)


@pytest.mark.parametrize("table", [{"n": [1]}, {"question": ["size", "power"]}, {"question": ["sizes"]}])
def test_what_is_not_the_table_of_one_question_is_refused(table):
    with pytest.raises(ValueError, match=r"expected the table of one question, one of size, .*; found"):
        cs.study.plot(pd.DataFrame(table))
