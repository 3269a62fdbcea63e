"""The study of comparisons: truths by hand, equal measures, its cells, its promises and its pictures."""

import hashlib

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from oracles import bin_number
from project_folder import PROJECT
from scipy.special import expit, logit, ndtri
from scipy.stats import norm
from simulation_files import study_file

import calibstat as cs

comparison = study_file("comparison")
DIFFERENT, MEASURES, TwoModels = comparison.DIFFERENT, comparison.MEASURES, comparison.TwoModels
predictions, population, difference = comparison.predictions, comparison.population, comparison.difference


@pytest.fixture(scope="module")
def table():
    grids = comparison.grids(quick=True)
    return pd.concat([cs.study.run(**grid, seed=comparison.study.seed) for grid in grids], ignore_index=True)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_chances_by_hand():
    score = 1.28 * ndtri((np.arange(60) + 0.5) / 60)
    both = predictions(("both", 1.0)).reshape(60, 60)
    assert both[3, 50] == pytest.approx(expit(score[3] + score[50]), abs=1e-15)
    assert predictions(("first", 1.0)).reshape(60, 60)[7] == pytest.approx(np.full(60, both[7].mean()), abs=1e-15)
    assert predictions(("second", 2.0)).reshape(60, 60)[:, 7] == pytest.approx(
        np.full(60, expit(2 * logit(both[:, 7].mean()))), abs=1e-15
    )
    assert predictions(("none", 1.0)) == pytest.approx(np.full(3600, 0.5), abs=1e-12)  # by symmetry


def test_values_by_hand():
    over, chance = predictions(("both", 1.5)), predictions(("both", 1.0))
    # all predictions of a bin below (above) a half are too low (high), but of the bin in the middle
    cell = bin_number(over, 15)
    expected = np.abs(np.bincount(cell, chance - over)).sum() / 3600
    assert population(("both", 1.5)).truth("ece") == pytest.approx(expected, abs=1e-12)
    loss = chance * (1 - chance) + (over - chance) ** 2
    assert population(("both", 1.5)).truth("brier") == pytest.approx(loss.mean(), abs=1e-12)
    for measure in ("kernel_ce", "ks", "smooth_ce"):
        assert population(("first", 1.0)).truth(measure) == pytest.approx(0, abs=1e-9)
    assert difference(TwoModels(("both", 1.0), ("both", 1.5)), "ece") == pytest.approx(-expected, abs=1e-12)


@pytest.mark.parametrize("label", MEASURES)
def test_measures_that_should_be_equal_are(label):
    name, options = MEASURES[label]
    for pair in comparison.equal(name, options).values():
        assert pair.A != pair.B
        assert abs(difference(pair, name, **options)) < comparison.NO_DIFFERENCE
        assert population(pair.A).truth(name, **options) > (1e-4 if name == "kernel_ce_squared" else 0.004)


@pytest.mark.parametrize("measure", comparison.HARD)
def test_hard_pairs_do_not_differ(measure):
    options = MEASURES[measure][1]
    for label, pair in (comparison.rare(1000) | comparison.hard(measure, 1000, **options)).items():
        if label.endswith("too low and too high") and measure == "log_loss":
            continue  # a constant too low by half loses more than one too high by half
        assert abs(difference(pair, measure, **options)) < comparison.NEGLIGIBLE, label
    y, models = pair.sample(30, 1)
    assert set(models) == {"A", "B"}
    assert y.size == models["A"].size == 30


def test_rows_are_drawn_from_the_distribution():
    y, models = TwoModels(("both", 1.0), ("first", 1.5)).sample(20_000, 1)
    assert set(models) == {"A", "B"}
    chance = models["A"]
    z = (y - chance).sum() / np.sqrt((chance * (1 - chance)).sum())
    assert abs(z) < norm.isf(5e-5)
    assert np.unique(models["B"]).size <= 60
    again = TwoModels(("both", 1.0), ("first", 1.5)).sample(20_000, 1)
    assert np.array_equal(again[1]["B"], models["B"])


def test_answers_are_those_of_compare():
    pair = TwoModels(("both", 1.0), ("both", 3.0))
    grid = {"generators": {"pair": pair}, "n": 80, "measures": ["ks", "brier"], "methods": ["bootstrap", "swap"]}
    found = cs.study.run("comparison", **grid, replicates=12, seed=3, n_resamples=39)
    assert found["measure"].tolist() == ["ks", "ks", "brier", "brier"]
    assert found["method"].tolist() == ["bootstrap", "swap"] * 2
    assert found["truth"].tolist() == pytest.approx([difference(pair, m) for m in ("ks", "ks", "brier", "brier")])
    assert found["missed_below"].isna().tolist() == [False, True] * 2
    assert (found["rate"] == found["rejections"] / 12).all()
    assert (found["level"] == 0.05).all()


def test_a_broken_promise_is_seen(table):
    table = table.assign(n=1000, replicates=2000, rejections=90, missed_below=40, missed_above=40)
    table.loc[table["method"] == "swap", ["missed_below", "missed_above"]] = np.nan
    table.loc[table["generator"].isin(comparison.different()), "rejections"] = 2000
    assert comparison.violations(table).empty
    false_finding, miss, power = (table.copy() for _ in range(3))
    false_finding.loc[0, "rejections"] = 150
    assert comparison.violations(false_finding).index.tolist() == [0]
    at = int(table.index[table["generator"] == DIFFERENT][0])
    miss.loc[at, "missed_above"] = 110
    assert comparison.violations(miss).index.tolist() == [at]
    power.loc[table["generator"] == DIFFERENT, "rejections"] = 1300
    assert comparison.violations(power)["measure"].tolist() == [comparison.SQUARES]


def test_pictures_show_the_table(table):
    found = comparison.figures(table)
    assert set(found) == {"", "power"}
    for figure in found.values():
        figure.draw_without_rendering()
    titles = {axes.get_title().replace("\n", " ") for axes in found[""].axes}
    assert {f"{name}, {method}" for name in comparison.ALIKE for method in ("bootstrap", "swap")} <= titles
    assert not any(DIFFERENT in title for title in titles)


def test_full_and_quick_ask_the_same():
    quick = comparison.grids(True)
    assert {label for grid in quick for label in grid["generators"]} == {
        *(*comparison.ALIKE, comparison.SHARPER, comparison.CONSTANT, *comparison.EQUAL),
        *list(comparison.different())[:2],
        *(comparison.rare(1000) | comparison.hard("ks", 1000)),
    }
    assert all(set(grid["measures"]) <= set(MEASURES) for grid in quick)


def test_the_difference_is_that_over_the_cells_of_each_data_set():
    pair = TwoModels(("both", 1.0), ("both", 3.0))
    measures = {"quantile": ("ece", {"strategy": "quantile", "n_bins": 3}), "uniform": ("ece", {})}
    grid = {"generators": {"pair": pair}, "n": 60, "measures": measures}
    found = cs.study.run("comparison", **grid, replicates=2, seed=3, n_resamples=19).set_index("measure")["truth"]
    assert found["uniform"] == difference(pair, "ece")
    truths = []
    for replicate in range(2):
        key = int.from_bytes(hashlib.blake2b(b"pair/60", digest_size=8).digest(), "little")
        _, models = pair.sample(60, np.random.SeedSequence([3, key, replicate]).spawn(2)[0])
        of_model = []
        for model, p in ((pair.A, models["A"]), (pair.B, models["B"])):
            third, two_thirds = np.sort(p)[[19, 39]]  # 20 rows a bin; a tie here would show as a difference
            cell = np.digitize(predictions(model), [third, two_thirds], right=True)
            of_model.append(np.abs(np.bincount(cell, predictions(("both", 1.0)) - predictions(model))).sum() / 3600)
        truths.append(of_model[0] - of_model[1])
    assert found["quantile"] == pytest.approx(np.mean(truths), abs=1e-12)


def test_no_pair_without_a_difference_is_left_out():
    """Every measure is judged on every pair of equal models; losses reward sharpness, and are equal for fewer pairs."""
    path = PROJECT / "simulations" / "results" / "comparison.csv"
    stored = pd.read_csv(path, comment="#")
    judged = comparison.without_difference(stored)
    for measure in comparison.MEASURES:
        pairs = set(judged["generator"][judged["measure"] == measure])
        sharper = set() if measure in ("brier", "log_loss") else {comparison.SHARPER, comparison.CONSTANT}
        assert pairs >= {*comparison.ALIKE, *comparison.EQUAL, *sharper}, measure
    for measure in comparison.HARD:
        assert len(set(judged["generator"][judged["measure"] == measure])) >= 7, measure
