"""The study of few labels: its populations are what they say, its misses are of the intervals, faults are seen."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from judged_by import judged_by
from simulation_files import study_file, study_part

import calibstat as cs

few_labels, judges, ends = study_file("few_labels"), study_part("judges"), study_part("rectified_ends")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("few_labels")


@pytest.fixture(scope="module")
def quick(store):
    return few_labels.table(quick=True, store=store)


@pytest.mark.parametrize("judge", judges.JUDGES)
def test_rows_have_the_law_of_their_population(judge):
    cell = judges.population("temperature 1.5", judge)
    y, p, f = cell.sample(20_000, np.random.default_rng(1))
    assert cell.answer.sum(axis=2) == pytest.approx(np.ones((100, 2)))
    assert ((f >= 0) & (f <= 1)).all()
    low = p < 0.5
    expected = (cell.chance * cell.share)[cell.value < 0.5].sum() / 0.5
    assert y[low].mean() == pytest.approx(expected, abs=5 * 0.5 / 10_000**0.5)


def test_judges_are_what_their_names_say():
    random = np.random.default_rng(1)
    for judge, right in {"right 90 %": 0.9, "perfect": 1.0, "adversarial": 0.0}.items():
        y, p, f = judges.population("calibrated", judge).sample(20_000, random)
        assert np.mean(f == y) == pytest.approx(right, abs=0.01)
    y, p, f = judges.population("calibrated", "echo").sample(100, random)
    assert (f == p).all()
    y, p, f = judges.population("calibrated", "reversed below .5").sample(20_000, random)
    assert np.mean((f == y)[p < 0.5]) == pytest.approx(0.05, abs=0.02)


def test_the_truth_is_the_estimate_of_many_rows():
    cell = judges.random_population(np.random.default_rng(3))
    y, p, _ = cell.sample(400_000, np.random.default_rng(1))
    assert cs.estimate(y, p, measure="ks") == pytest.approx(cell.truth("ks"), abs=0.006)


@pytest.mark.parametrize("other", judges.OTHERS)
def test_the_truth_of_another_model_is_of_its_predictions(other):
    cell, function = judges.population("shift .4", "echo"), judges.OTHERS[other]
    y, p, _ = cell.sample(400_000, np.random.default_rng(2))
    assert cs.estimate(y, function(p), measure="brier") == pytest.approx(cell.truth("brier", function), abs=0.003)
    assert (np.diff(function(cell.value)) > 0).all()


def test_misses_of_a_mean_are_those_of_the_interval():
    random = np.random.default_rng(3)
    y, p, f = judges.population("shift .4", "right 90 %").sample(1000, random)
    few = judges.few_labels(y, 100, random)
    asked = ends.Asked.of(few, p, f, 3, 199)
    found = cs.confidence_interval(few, p, judge=cs.Judge(f), measure="brier", rng=3)
    for truth in (found.low - 1e-6, found.low + 1e-6, found.high - 1e-6, found.high + 1e-6):
        assert asked.missed("brier", truth) == (found.low > truth, found.high < truth)
    assert asked.width("brier") == pytest.approx(found.high - found.low)


@pytest.mark.parametrize("seed", range(5))
def test_misses_are_those_of_the_intervals(seed):
    """Ends that need no resamples have none: the same misses as of `confidence_interval`, around both ends."""
    random = np.random.default_rng(seed)
    y, p, f = judges.population("shift .4", "right 90 %").sample(1000, random)
    few = judges.few_labels(y, 100, random)
    asked = ends.Asked.of(few, p, f, seed, 199)
    found = cs.confidence_interval(few, p, judge=cs.Judge(f), measure="ks", n_resamples=199, rng=seed)
    for truth in (found.low * 0.99, found.low * 1.01 + 1e-9, found.high * 0.99, found.high * 1.01):
        below, above = ends.missed(asked.ends("ks"), truth, 0.05)
        assert (below, above) == (found.low > truth, found.high < truth)
    estimate, low, high = asked.mean
    rows = judged_by(few, p, f)
    assert estimate == pytest.approx(rows.contribution.sum() / 100)
    assert low < estimate < high


def test_the_quick_table_has_all_parts(quick):
    assert set(quick["question"]) == {"grid", "search", "search, again", "width", "compare", "level"}
    assert set(quick[quick["question"] == "level"]["model"]) == set(few_labels.KINDS)
    figure = few_labels.figures(quick)[""]
    assert len(figure.axes) == 3
    plt.close(figure)


def test_parts_in_the_store_are_not_asked_again(store, monkeypatch, quick):
    monkeypatch.setattr(few_labels, "misses", None)
    pd.testing.assert_frame_equal(few_labels.table(quick=True, store=store), quick, check_dtype=False)


def test_broken_promises_are_found(quick):
    assert few_labels.violations(quick).empty
    bad = quick.copy()
    first = bad["question"] == "grid"
    bad.loc[first, "above"] = bad.loc[first, "replicates"] = 40
    assert len(few_labels.violations(bad)) == first.sum()
    dear = quick.copy()
    useless = (dear["question"] == "width") & (dear["judge"] == "constant")
    dear.loc[useless, ["worth", "worth_se"]] = 0.9, 0.0
    assert len(few_labels.violations(dear)) == useless.sum()
    liberal = quick.copy()
    level = (liberal["question"] == "level") & (liberal["model"] == "repeated") & (liberal["test"] == "direction")
    liberal.loc[level, ["replicates", "rejected"]] = 400, 60
    assert len(few_labels.violations(liberal)) == level.sum()
