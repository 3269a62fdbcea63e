"""The study of bands: its curves, what it asks of each band, its promise and its pictures."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from simulation_files import study_file

import calibstat as cs

bands = study_file("bands")
CURVES, METHODS, Model = bands.CURVES, bands.METHODS, bands.Model


@pytest.fixture(scope="module")
def table():
    return bands.table(quick=True, n_jobs=1)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_curves_are_what_their_names_say():
    v = np.linspace(0, 1, 1001)
    for name, (_, curve) in CURVES.items():
        chance = curve(v)
        assert ((chance >= 0) & (chance <= 1)).all(), name
        assert np.array_equal(chance, v) == ("calibrated" in name), name
        assert (np.diff(chance) >= -1e-12).all() != name.startswith("waves"), name


@pytest.mark.parametrize("name", CURVES)
def test_a_sample_has_the_chances_of_its_predictions(name):
    y, rows = Model(name).sample(2000, 1)
    v, chance = rows["prediction"], rows["chance"]
    np.testing.assert_array_equal(chance, CURVES[name][1](v))
    assert abs(y.sum() - chance.sum()) < 5 * np.sqrt((chance * (1 - chance)).sum()) + 1
    again = Model(name).sample(2000, 1)
    np.testing.assert_array_equal(again[1]["prediction"], v)


@pytest.mark.parametrize("name", ["uniform, calibrated", "eleven values, calibrated", "prevalence .01, calibrated"])
@pytest.mark.parametrize("options", [{}, bands.QUANTILE])
def test_averages_are_of_the_rows_of_each_bin(name, options):
    """In a band around the true averages they are all held; a band that leaves out one of them is missed."""
    y, rows = Model(name).sample(500, 2)
    v = rows["prediction"]
    found = cs.reliability(y, v, band="confidence", **{"n_bins": 15, **options})
    in_bin = (found.left[:, None] <= v) & (v <= found.right[:, None]) & ((v > found.left[:, None]) | (v == v.min()))
    if options:  # by its smallest and largest prediction
        in_bin = (found.left[:, None] <= v) & (v <= found.right[:, None])
    truth = np.array([rows["chance"][here].mean() for here in in_bin])
    for shift, held in ((0, True), (1e-6, False)):
        made = replace(found, low=truth + shift * (np.arange(truth.size) == 0), high=truth + 1e-5)
        assert bands.averages(made, Model(name), v, rows["chance"])[0] is held


def test_a_whole_curve_is_asked_for_at_its_steps():
    y, rows = Model("step").sample(300, 1)
    found = cs.reliability(y, rows["prediction"], band="monotone")
    held = bands.whole_curve(found, Model("step"), rows["prediction"], rows["chance"])
    other = bands.whole_curve(found, Model("constant .02"), rows["prediction"], rows["chance"])
    assert (held[0], other[0]) == (True, False)
    assert held[1] == other[1] > 0


def test_what_is_asked_of_each_curve(table):
    assert {"consistency", "pointwise consistency"} < set(bands.methods_of("uniform, calibrated"))
    assert set(bands.methods_of("step")) == {"confidence", "confidence, 10 quantile bins", "pointwise confidence",
                                             "monotone"}  # fmt: skip
    assert set(table["method"]) == set(METHODS)
    promised = table[table["promised"]]
    assert not promised["method"].str.startswith("pointwise").any()
    assert not (promised["generator"].str.startswith("waves") & (promised["method"] == "monotone")).any()
    assert (table["question"] == "coverage").all()


def test_a_broken_promise_is_seen(table):
    kept = table.assign(replicates=1000, covered=945)
    assert bands.violations(kept).empty
    broken = kept.copy()
    here = broken.index[broken["promised"]][3]
    broken.loc[here, "covered"] = 880
    assert bands.violations(broken).index.tolist() == [here]
    pointwise = kept.assign(covered=np.where(kept["promised"], 945, 300))
    assert bands.violations(pointwise).empty  # of which nothing is promised


def test_pictures_show_the_table(table):
    found = bands.figures(table)
    assert set(found) == {"", "width"}
    for key, column in (("", "rate"), ("width", "mean_width")):
        for n, axes in zip((100, 1000), found[key].axes, strict=True):
            drawn = {line.get_label(): list(line.get_xdata()) for line in axes.lines}
            for name in METHODS:
                rows = table[(table["n"] == n) & (table["method"] == name)]
                assert drawn[name] == rows[column].tolist()
        found[key].draw_without_rendering()
