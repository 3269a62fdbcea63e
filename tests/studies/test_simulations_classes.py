"""The study of many classes: its rounded predictions, its grid, its verdict and its pictures."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulation_files import study_file

import calibstat as cs
from calibstat.study import most_rejections

classes = study_file("classes")
STUDY = classes.study
TEN = cs.generators.dirichlet([1] * 10)
NEAR_CORNERS = cs.generators.dirichlet([0.05] * 100)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    """The rows of the full study with made-up rates, so that no data set has to be drawn."""
    rows = []
    for grid in STUDY.grids(False):
        for generator, n, measure, method in itertools.product(
            grid["generators"], grid["n"], grid["measures"], grid.get("methods", ["labels"])
        ):
            keys = ("question", "level", "replicates")
            row = {key: grid[key] for key in keys} | {"generator": generator, "n": n, "measure": measure}
            row |= {"method": method, "low": 0.02, "high": 0.98}
            if grid["question"] == "size":
                row |= {"rejections": grid["replicates"] // 20, "rate": 0.05}
            else:
                row |= {"covered": grid["replicates"] * 19 // 20, "rate": 0.95}
            rows.append(row)
    return pd.DataFrame(rows)


def test_quarters_by_hand():
    # cumulative sums .3, .7, 1 and .1, .3, 1 are nearest to 1/4, 3/4, 1 and 0, 1/4, 1
    found = classes.quarters(np.array([[0.3, 0.4, 0.3], [0.1, 0.2, 0.7]]))
    assert found.tolist() == [[0.25, 0.5, 0.25], [0, 0.25, 0.75]]


def test_quarters_are_tied_and_at_the_ends():
    _, p = classes.rounded(cs.generators.dirichlet([1, 1, 1]), "quarters").sample(2000, 1)
    assert np.all(p.sum(axis=1) == 1)
    assert np.all(p * 4 == np.round(p * 4))
    assert p.min() == 0
    assert p.max() == 1
    assert len(np.unique(p, axis=0)) == 15  # 4 quarters given to 3 classes: 6 choose 2


@pytest.mark.parametrize("base", [TEN, NEAR_CORNERS])
def test_single_precision_reaches_the_tests_as_it_is(base):
    y, p = classes.rounded(base, "single precision").sample(500, 2)
    assert p.dtype == np.float32
    assert (p.sum(axis=1, dtype=np.float64) != 1).any()
    assert cs.Predictions.from_rows(y, p).prob.dtype == np.float32
    assert y.dtype == np.int64


@pytest.mark.parametrize("to", classes.ROUNDED)
def test_rounded_predictions_are_calibrated(to):
    assert unlikely(*classes.rounded(cs.generators.dirichlet([1, 1, 1]), to).sample(20_000, 3)) > 1e-5


def test_the_check_of_calibration_can_fail():
    """Labels drawn from the vectors before they were rounded."""
    y, p = cs.generators.dirichlet([1, 1, 1]).sample(20_000, 3)
    assert unlikely(y, classes.quarters(p)) < 1e-5


def unlikely(y, p):
    """The p-value of calibration in quarters of the probability of each class; 0 if an impossible class is observed."""
    if (p[np.arange(y.size), y] == 0).any():
        return 0.0
    found = 0.0
    bins = 0
    for k in range(p.shape[1]):
        for b in range(4):
            rows = (p[:, k] >= b / 4) & (p[:, k] < (b + 1) / 4 if b < 3 else p[:, k] < 1)
            chance = p[rows, k].astype(float)
            spread = (chance * (1 - chance)).sum()
            if spread > 20:
                found = max(found, abs((y[rows] == k).sum() - chance.sum()) / np.sqrt(spread))
                bins += 1
    return min(1.0, bins * 2 * stats.norm.sf(found))


def test_a_data_set_depends_on_its_seed_alone():
    family = classes.rounded(TEN, "single precision")
    first, again, other = (family.sample(50, np.random.SeedSequence(seed)) for seed in (1, 1, 2))
    assert np.array_equal(first[1], again[1])
    assert np.array_equal(first[0], again[0])
    assert not np.array_equal(first[1], other[1])
    assert repr(family) == f"rounded(base={TEN!r}, to='single precision')"  # by which a store knows it


def test_every_lens_and_every_test_is_in_the_grid():
    seen = {}
    for grid in STUDY.grids(False):
        if grid["question"] == "size":
            assert grid["replicates"] >= 2000
            for name, options in grid["measures"].values():
                lens = str(options["lens"]).split("(")[0]
                seen.setdefault(lens, set()).add(name)
    of_each_class = ["class_wise", "class_wise_mean", "class_wise_max"]
    assert set(seen) == {"top_label", "one_class", "groups", "top_k", "canonical", *of_each_class}
    assert {"ece", "ks", "kernel_ce", "mcb", "brier", "smooth_ece"} <= seen["top_label"]
    assert {"canonical_ce", "skce", "gce", "brier", "log_loss"} <= seen["canonical"]
    for lens in of_each_class:
        assert {"ece", "ks", "brier"} <= seen[lens]


def test_a_test_of_each_class_can_reject():
    """Its smallest p-value, times the classes, is at most the level; 99 resamples of 10 classes could never reject."""
    for grid in STUDY.grids(False):
        for name, options in grid["measures"].values():
            if str(options["lens"]) == "class_wise":
                tails = 2 if name == "brier" else 1
                for generator in grid["generators"].values():
                    assert tails * generator.n_classes / (grid["n_resamples"] + 1) <= classes.LEVEL + 1e-12


def test_the_six_points_are_cells_of_their_own():
    _, p = cs.generators.six_points().sample(1000, 1)
    points = np.unique(p, axis=0)
    for grid in STUDY.grids(False):
        if "six points" in grid["generators"]:
            for label, (name, options) in grid["measures"].items():
                if name == "canonical_ce":
                    bins = options["n_bins"]
                    assert len(np.unique(np.ceil(points * bins), axis=0)) == 6, label
                    assert np.abs(points * bins - np.round(points * bins)).min() > 0.05, label
                    scale = 2 if options.get("distance") == "l1" else 1
                    assert grid["generators"]["six points"].truth(name, **options) == pytest.approx(0.1 * scale)


def test_the_names_of_measures_are_those_of_one_question(table):
    key = ["question", "generator", "n", "measure", "method"]
    assert not table.duplicated(key).any()


def test_kept_promises_are_not_broken(table):
    assert classes.violations(table).empty


@pytest.mark.parametrize(("question", "method"), [("size", "labels"), ("coverage", "honest")])
def test_a_broken_promise_is_found(table, question, method):
    promised = ((table["question"] == "size") | (table["method"] == "honest")).sum()
    row = table.index[(table["question"] == question) & (table["method"] == method)][3]
    replicates = table.loc[row, "replicates"]
    level = 0.05 if question == "size" else 0.06
    most = most_rejections(level, int(replicates), 1e-3 / promised)
    assert stats.binom.sf(most, replicates, level) <= 1e-3 / promised < stats.binom.sf(most - 1, replicates, level)
    for number, expected in ((most, []), (most + 1, [row])):
        changed = table.copy()
        column, value = ("rejections", number) if question == "size" else ("covered", replicates - number)
        changed.loc[row, column] = value
        assert list(classes.violations(changed).index) == expected


def test_bootstrap_intervals_promise_nothing(table):
    changed = table.copy()
    changed.loc[changed["method"].isin(["percentile", "basic"]), "covered"] = 0
    assert classes.violations(changed).empty


def test_every_row_is_in_one_picture(table, monkeypatch):
    drawn = []
    monkeypatch.setattr(classes, "plot", drawn.append)
    found = classes.figures(table)
    intervals = {"intervals_3_classes", "intervals_10_classes"}
    assert set(found) == {"events", "class_wise", "vectors", "hostile"} | intervals
    assert sorted(index for part in drawn for index in part.index) == list(table.index)


def test_pictures_can_be_drawn_of_a_file(table, tmp_path):
    few = table[table["measure"].str.endswith(": ece") | table["measure"].str.endswith("brier")]
    cs.study.write_table(few, tmp_path / "classes.csv", command="made up", seed=1)
    found = classes.figures(pd.read_csv(tmp_path / "classes.csv", comment="#"))
    assert all(figure.axes for figure in found.values())


def test_a_planted_fault_is_found():
    """Labels that are drawn once more from other vectors: the study's own tests see it through every lens."""
    grid = STUDY.grids(True)[0]
    family = classes.rounded(cs.generators.dirichlet([1, 1, 1]), "quarters")
    planted = {"wrong": cs.generators.label_noise(cs.generators.dirichlet([1, 1, 1]), 1.0)}
    assert family.is_calibrated
    few = {label: each for label, each in grid["measures"].items() if each[0] in ("ece", "canonical_ce", "gce")}
    with pytest.raises(ValueError, match="expected calibrated generators, found 'wrong'"):
        cs.study.run("size", planted, 200, few, replicates=1, seed=1)
    found = cs.study.run("power", planted, 200, few, replicates=20, seed=1, n_resamples=39)
    assert (found["rejections"] >= 18).all(), found[found["rejections"] < 18]
