"""The search for the worst cases: its populations and their truths, its reruns, and that it finds failures."""

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from simulation_files import study_file, study_part

import calibstat as cs

worst_case = study_file("worst_case")
populations, cases, classes, kinds, searching = (
    study_part(name) for name in ("populations", "cases", "class_cases", "kinds_of_cases", "search")
)
LITTLE = searching.Effort(4, 20, 1, 2, 2, worst=2, fresh=40, most=80, n_resamples=39)
SEEDS = range(30)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def drawn(kind, seed, unbounded=False):
    return kinds.KINDS[kind].random(np.random.default_rng(seed), unbounded)


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_case_is_valid_and_so_is_one_beside_it(kind):
    recipe = searching.Recipe(kind, "brier", (("lens", "canonical"),) if "Classes" in kind else ())
    for seed in SEEDS:
        random = np.random.default_rng([seed, 1])
        case = drawn(kind, seed, unbounded=seed % 2 == 1)
        for each in (case, case.moved(random)):
            ((arguments, more),) = each.draws(random, 1)
            assert not np.isnan(recipe.answer((arguments, more), 9, 1)[0]), each.text
            assert np.isfinite(each.truth("brier", recipe.measure_options, (arguments, more))), each.text


@pytest.mark.parametrize("kind", kinds.KINDS)
def test_a_case_is_made_again_from_its_text(kind):
    for case in (drawn(kind, seed) for seed in SEEDS):
        again = kinds.case_of(case.text)
        assert again == case
        first, second = (pickle.dumps(list(each.draws(np.random.default_rng(1), 2))) for each in (case, again))
        assert first == second, case.text


def test_a_loss_without_bound_meets_no_prediction_that_may_be_unseen():
    for seed in range(200):
        case = drawn("Rows", seed, unbounded=True)
        probability, _, prediction = case.population.points
        assert (case.n * probability).min() >= cases.SEEN or probability.size == 1
        assert prediction.min() > 0
        assert prediction.max() < 1


def test_populations_are_of_all_kinds():
    found = [drawn("Rows", seed) for seed in range(300)]
    points = [case.population.points for case in found]
    rates = np.array([each.probability @ each.chance for each in points])
    certain = [((each.chance == 0) | (each.chance == 1)).any() for each in points]
    assert rates.min() < 0.005
    assert rates.max() > 0.9
    assert min(case.n for case in found) < 50
    assert max(case.n for case in found) > 50_000
    assert 0.1 < np.mean(certain) < 0.7
    assert {len(each.chance) for each in points} >= {1, 2, 4, 8, populations.GRID}


TWO = populations.Atoms((1, 3), (0.5, 0.2), (0.3, 0.3 + 0.1))  # residuals 1/4 * .2 = .05 and 3/4 * -.2 = -.15


@pytest.mark.parametrize(
    ("measure", "options", "truth"),
    [
        ("ece", {}, 0.2),  # bins of 1/15 part .3 and .4: .05 + .15
        ("ece", {"n_bins": 2}, 0.1),  # one bin: abs(.05 - .15)
        ("ks", {}, 0.1),  # partial sums .05 and -.1
        ("kuiper", {}, 0.15),  # from .05 to -.1
        # outcome 1 costs .49 and .36, outcome 0 costs .09 and .16: (.245 + .045) / 4 + 3 (.072 + .128) / 4
        ("brier", {}, 0.0725 + 0.15),
    ],
)
def test_truths_of_two_predictions_by_hand(measure, options, truth):
    rows = cases.Rows(100, TWO)
    data = next(rows.draws(np.random.default_rng(1), 1))
    assert rows.truth(measure, options, data) == pytest.approx(truth, abs=1e-12)
    # clusters of one row and of three, equally many, hold one and three quarters of the rows
    clusters = cases.Clusters(50, (1, 1), (1, 3), 0.5, TWO.chance, TWO.prediction)
    assert clusters.truth(measure, options, None) == pytest.approx(truth, abs=1e-12)
    calibrated = cases.Pair(50, TWO.mass, TWO.chance, TWO.prediction, TWO.chance)
    zero = 0.0725 + 0.15 - (0.25 / 4 + 0.16 * 3 / 4) if measure == "brier" else truth  # .25 and .16: y has variance
    assert calibrated.truth(measure, options, None) == pytest.approx(zero, abs=1e-12)


def test_truth_over_quantile_bins_is_that_of_the_cells_of_the_data():
    # 2 bins of the rows at .3, .4 and .6: where the middle one goes decides the error
    three = cases.Rows(30, populations.Atoms((1, 1, 1), (0.6, 0.1, 0.6), (0.3, 0.4, 0.6)))
    options = {"strategy": "quantile", "n_bins": 2}
    few_low = (cs.Sample.from_counts([0.3, 0.4, 0.6], [5, 10, 15], [1, 1, 1]),), {}
    few_high = (cs.Sample.from_counts([0.3, 0.4, 0.6], [15, 10, 5], [1, 1, 1]),), {}
    # residuals .1, -.1 and 0: the first two in one bin, or the first by itself
    assert three.truth("ece", options, few_low) == pytest.approx(0, abs=1e-12)
    assert three.truth("ece", options, few_high) == pytest.approx(0.2, abs=1e-12)


def test_truth_of_classes_by_hand():
    # class-wise errors: class 0 is off by .1, class 1 by -.1, in each of two vectors; class 2 is right
    vectors = ((0.6, 0.2, 0.2), (0.1, 0.7, 0.2))
    chance = ((0.7, 0.1, 0.2), (0.2, 0.6, 0.2))
    case = classes.Classes(100, (1, 3), chance, vectors)
    assert case.truth("ece", {"lens": "class_wise_max"}, None) == pytest.approx(0.1)
    assert case.truth("ece", {"lens": "class_wise_mean"}, None) == pytest.approx(0.2 / 3)


def test_rival_classes_nearly_tie():
    for seed in range(20):
        case = classes.Classes(*classes.random_rivals(np.random.default_rng(seed)))
        first, second, _ = sorted(case.truth("ece", {"lens": "class_wise", "n_bins": None}, None))[::-1]
        # within half a unit, 1 / sqrt(n), of each other, and the rounding of probabilities to .001
        assert first - second < 0.5 / np.sqrt(case.n) + 0.002


def frequencies(case, data):
    """Mean outcome minus the expected one, in standard errors, over the rows of many data sets."""
    y = np.concatenate([arguments[0] for arguments, _ in data])
    return y.mean(), y.size


def test_clusters_are_drawn_as_they_are_described():
    case = cases.Clusters(50, (1, 1), (1, 3), 1.0, (0.5, 0.2), (0.3, 0.4))
    data = list(case.draws(np.random.default_rng(3), 400))
    rate, rows = frequencies(case, data)
    # comonotone outcomes: a row in four of chance .5, the others .2, that is .275; at most 3 rows to a cluster
    assert rate == pytest.approx(0.275, abs=4 * np.sqrt(0.25 * 3 / rows))
    for (y, p), more in data[:20]:
        three = p == 0.4
        alike = pd.Series(y[three]).groupby(more["cluster"].labels[three]).nunique()
        assert (alike == 1).all()


def test_models_that_are_exchanged_have_the_same_measures():
    found = [drawn("Pair", seed) for seed in range(60)]
    same = [case for case in found if sorted(case.first) == sorted(case.second) and case.first != case.second]
    assert len(same) > 5
    for case in same:
        for measure in ("ece", "ks", "kernel_ce", "brier"):
            assert case.truth(measure, {}, None) == pytest.approx(0, abs=1e-12)


def test_every_interval_that_is_offered_is_searched():
    found = searching.recipes()
    rows = {recipe.name for recipe in found if recipe.kind == "Rows" and recipe.level == 0.95}
    assert rows == {name for name in known_binary() if cs.MEASURES[name]().has_form}
    assert {recipe.kind for recipe in found} >= set(kinds.KINDS)
    assert {recipe.level for recipe in found if recipe.kind == "Clusters"} == {0.8, 0.9, 0.95, 0.99}
    names = {kind: {recipe.name for recipe in found if recipe.kind == kind} for kind in kinds.KINDS}
    assert names["Pair"] >= {"kernel_ce", "ks", "kuiper", "ece", "smooth_ce", "brier", "log_loss"}
    assert names["Samples"] == names["PairInClusters"] == set(searching.MOST_ASKED)
    classes = {recipe.label for recipe in found if recipe.kind == "Classes"}
    assert classes >= {"ece, lens class_wise_max", "canonical_ce, strategy uniform, n_bins 3"}


def known_binary():
    """The binary measures whose true value is known on few predictions."""
    case = cases.Rows.trial()
    data = next(case.draws(np.random.default_rng(1), 1))
    found = []
    for name in searching.binary_measures():
        try:
            case.truth(name, {}, data)
        except NotImplementedError:
            continue
        found.append(name)
    return found


def test_a_new_measure_is_searched(registry):
    @cs.measure("mean_residual_of_search", bounds=(0, 1))
    def mean_residual_of_search(value, residual):
        return abs(residual.sum())

    found = searching.recipes(["mean_residual_of_search"])
    assert {recipe.kind for recipe in found} >= {"Rows", "Clusters", "Pair", "Samples", "PairInClusters"}


def test_the_numbers_depend_on_the_seed_alone(monkeypatch):
    monkeypatch.setattr(worst_case, "QUICK", ["ks"])
    monkeypatch.setattr(worst_case, "effort_of", lambda *_: LITTLE)
    recipe = searching.Recipe("Rows", "ks")
    monkeypatch.setattr(worst_case, "recipes", lambda _: [recipe, searching.Recipe("Rows", "brier")])
    found = worst_case.table(quick=True, n_jobs=2)
    alone = pd.DataFrame(searching.search(recipe, LITTLE, worst_case.SEED))
    here = found[found["measure"] == "ks"].reset_index(drop=True)
    pd.testing.assert_frame_equal(here, alone)
    other = searching.search(recipe, LITTLE, worst_case.SEED + 1)
    assert [row["case"] for row in other] != list(alone["case"])


def test_a_search_that_was_stopped_goes_on(tmp_path, monkeypatch):
    recipe = searching.Recipe("Rows", "brier")
    first = worst_case.searched(recipe, LITTLE, tmp_path / "kept")
    monkeypatch.setattr(worst_case, "search", lambda *_: 1 / 0)
    again = worst_case.searched(recipe, LITTLE, tmp_path / "kept")
    assert pd.DataFrame(again).equals(pd.DataFrame(first))
    with pytest.raises(ZeroDivisionError):
        worst_case.searched(searching.Recipe("Rows", "ks"), LITTLE, tmp_path / "kept")


@pytest.fixture(scope="module")
def percentile():
    """What the search finds of an interval that is known to fail: a percentile interval near calibration."""
    recipe = searching.Recipe("Rows", "ece", method="percentile")
    return pd.DataFrame(searching.search(recipe, LITTLE, 1))


def test_failures_are_found(percentile):
    broken = worst_case.violations(percentile)
    assert len(broken) == len(percentile)
    assert percentile["missed_below"].min() > percentile["replicates"].min() / 2


def test_a_case_that_was_found_can_be_asked_again(percentile):
    row = percentile.iloc[0]
    case = kinds.case_of(row["case"])
    recipe = searching.Recipe("Rows", "ece", method="percentile")
    again = searching.Counts(case).add(recipe, 40, 39, [99])
    assert again.below > 20
    assert again.truth / again.asked == pytest.approx(row["truth"])


def made_up(**counts):
    """Rows of a table, the second with other counts; 25 misses on each side of 1000 are as many as promised."""
    row = {"level": 0.95, "replicates": 1000, "missed_below": 25, "missed_above": 25, "truth": 0.1}
    row |= {"rejections": np.nan, "disagreements": np.nan}
    return pd.DataFrame([row, row | counts])


@pytest.mark.parametrize(
    ("counts", "broken"),
    [
        ({}, False),
        ({"missed_below": 70, "missed_above": 0}, True),  # 1000 * .035 = 35, by more than five standard errors
        ({"missed_above": 70, "missed_below": 0}, True),
        ({"missed_above": 45, "missed_below": 45}, True),  # 60 at most
        ({"level": 0.9, "missed_above": 70, "missed_below": 45}, False),  # 120, and 70 on each side
        ({"level": 0.99, "missed_above": 25, "missed_below": 0}, True),  # 12, and 7 on each side
        ({"rejections": 90, "truth": 0.0}, True),
        ({"rejections": 90, "truth": 0.1}, False),
        ({"disagreements": 10}, False),  # 10 at most, up to chance
        ({"disagreements": 40}, True),
    ],
)
def test_broken_promises_are_listed(counts, broken):
    found = worst_case.violations(made_up(**counts))
    assert len(found) == broken


def test_reruns_go_on_until_there_is_no_doubt():
    recipe = searching.Recipe("Rows", "ks")
    counts = searching.Counts(cases.Rows.trial(), asked=1000, below=10, above=10)
    assert not counts.is_open(recipe)
    counts.above = 33  # above 1.2 times .025
    assert counts.is_open(recipe)
    counts.above = 500
    assert not counts.is_open(recipe)


def test_pictures_are_drawn_for_each_kind_and_level(percentile):
    other = percentile.assign(level=0.9)
    assert list(worst_case.figures(pd.concat([percentile, other]))) == ["rows_95", "rows_90"]


def test_a_longer_search_tries_more():
    recipe = searching.Recipe("Rows", "ks")
    short, full = (worst_case.effort_of(recipe, False, hours) for hours in (0.5, 2))
    assert short.populations < full.populations
    assert (full.worst, full.fresh, full.most) == (20, 1000, 20_000)
    assert worst_case.effort_of(recipe, True, 2).populations < 10
