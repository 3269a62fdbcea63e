"""The study of tests of one side: its laws, errors, grades and clusters, and its promises."""

from itertools import product

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from simulation_files import study_file, study_part

import calibstat as cs
from calibstat.resampling import Draws

one_side = study_file("one_side")
laws, errors = study_part("laws_of_one_side"), study_part("errors_of_one_side")
grades, alike = study_part("rating_grades"), study_part("alike_outcomes")
predictions = study_part("kinds_of_predictions").PREDICTIONS


@pytest.mark.parametrize("name", predictions)
def test_predictions_are_probabilities(name):
    v = predictions[name](500, np.random.default_rng(1))
    assert v.shape == (500,)
    assert (v >= 0).all()
    assert (v <= 1).all()
    assert name != "some 0 and 1" or ((v == 0).any() and (v == 1).any())


@pytest.mark.parametrize("way", laws.WAYS)
def test_laws_have_no_prediction_that_is_too_high(way):
    v = np.append(np.linspace(0, 1, 101), 1e-12)
    assert (laws.WAYS[way](v) >= v).all()
    assert (laws.WAYS[way](v) <= 1).all()
    assert (laws.WAYS[way](v) > v).any() == (way != laws.RIGHT)


def test_outcomes_are_raised_after_failures_alone():
    v = np.full(40_000, 0.4)
    y = laws.outcomes(v, laws.AFTER_FAILURES, np.random.default_rng(1))
    assert y[1:][y[:-1]].mean() == pytest.approx(0.4, abs=0.02)
    assert y[1:][~y[:-1]].mean() == pytest.approx(0.7, abs=0.02)


@pytest.mark.parametrize("way", [*laws.WAYS, laws.AFTER_FAILURES])
def test_of_the_other_side_no_prediction_is_too_low(way):
    for side, sign in (("over", 1), ("under", -1)):
        y, columns = laws.Allowed("uniform", way, 40_000, side).sample(40_000, 3)
        gap = sign * (y - columns["prediction"]).mean()
        assert (abs(gap) < 0.01) if way == laws.RIGHT else (gap > 0.02)


def test_laws_ask_every_measure_with_weights_and_with_stopping():
    for law in (
        laws.Allowed("uniform", laws.RIGHT, 40, "under", weights=True),
        laws.Allowed("uniform", laws.RIGHT, 40, "over", n_resamples=199, stop_after=5),
    ):
        data, seed = law.sample(40, 2), np.random.SeedSequence(5)
        y, columns = data
        options = {"sample_weight": columns["weight"]} if law.weights else {}
        options |= {"n_resamples": 199, "stop_after": law.stop_after, "side": law.side}
        expected = [
            cs.calibration_test(y, columns["prediction"], measure=each, rng=seed, **options).pvalue
            for each in laws.MEASURES
        ]
        assert law(data, seed) == expected


def test_settings_differ():
    asked = list(laws.allowed(False))
    assert len(asked) >= 48
    assert len({(law.label, law.n, law.side) for law in asked}) == len(asked)
    assert {law.side for law in asked if law.way == laws.AFTER_FAILURES} == {"over", "under"}


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "part"), [*product(errors.DIRECTED, [0.1, 0.5]), *product(errors.BOTH, [0.1, 0.5])])
def test_errors_have_the_direction_that_is_asked_about_or_both(name, part):
    side, kind, n, largest, shape = errors.ERRORS[name]
    v = np.sort(predictions[kind](n, np.random.default_rng(2)))
    chance = shape(v, part * largest)
    assert ((chance >= 0) & (chance <= 1)).all()
    too_high = v - chance if side == "over" else chance - v
    assert too_high.max() > 0.001
    assert (too_high.min() > -1e-12) == (name in errors.DIRECTED)
    assert np.abs(shape(v, 0.0) - v).max() < 1e-12


@pytest.mark.parametrize("side", ["over", "under"])
@pytest.mark.parametrize("measure", laws.MEASURES)
def test_statistics_are_those_of_the_public_test(measure, side):
    random = np.random.default_rng(4)
    v = np.sort(random.random(80))
    y = random.random(80) < v**1.5
    drawing = errors.Drawing(cs.Sample.from_rows(np.zeros(80, np.int64), v), Draws.of(1, 999))
    test = errors.ByOneSide(drawing, measure, {"side": side})
    expected = cs.calibration_test(y, v, measure=measure, side=side, n_resamples=999, rng=2)
    assert test.statistics(y.astype(np.float64), Draws.of(3, 1)) == pytest.approx(expected.statistic)
    assert test.pvalues(y.astype(np.float64), Draws.of(3, 1)) == pytest.approx(expected.pvalue, abs=0.06)


def test_the_size_of_an_error_is_found_by_halving():
    assert errors.half_of(lambda size: size / 2, 4) == pytest.approx(1.6, abs=4 / 2**errors.HALVINGS)
    assert errors.half_of(lambda size: 0.0, 4) == 4


def test_the_best_test_has_about_the_power_aimed_at():
    rows = errors.Found("all log-odds", 999, 400, 5).rows()
    assert len(rows) == len(laws.MEASURES) + len(errors.TWO_SIDED)
    assert max(row["rate"] for row in rows) == pytest.approx(errors.TARGET, abs=0.1)
    rate = {(row["method"], row["measure"]): row["rate"] for row in rows}
    assert rate[errors.ONE, "mean"] > rate[errors.TWO, "mean"]


def test_rows_that_share_a_prediction_have_its_mean_probability():
    assert errors.truth(np.array([0.1, 0.1, 0.4]), np.array([0.2, 0.4, 0.7])) == pytest.approx([0.3, 0.7])


# --- rating grades ----------------------------------------------------------------------------------------------------


def test_p_values_of_grades():
    defaults, loans, rate = np.array([0, 3, 9]), np.array([50, 200, 100]), np.array([0.01, 0.02, 0.05])
    posterior = stats.beta.cdf(rate, defaults + 0.5, loans - defaults + 0.5)
    assert grades.jeffreys_pvalue(defaults, loans, rate) == pytest.approx(posterior)
    assert grades.binomial_pvalue(defaults, loans, rate) == pytest.approx(stats.binom.sf(defaults - 1, loans, rate))


def test_levels_of_one_grade_by_hand():
    # of 50 loans at .003, Jeffreys' test finds one default, whose probability is 1 - .997^50
    assert grades.level_of_one_grade("Jeffreys", 0.003, 50) == pytest.approx(1 - 0.997**50)
    two = 1 - 0.997**50 - 50 * 0.003 * 0.997**49
    assert grades.level_of_one_grade("binomial", 0.003, 50) == pytest.approx(two)
    for rate, loans in product(grades.GRADES, grades.LOANS):
        assert grades.level_of_one_grade("binomial", rate, loans) <= 0.05


def test_all_grades_of_a_portfolio():
    rows = {
        row["generator"] + row["method"]: row["rate"] for row in grades.enumerated() if row["question"] != "one grade"
    }
    found = [
        grades.level_of_one_grade("Jeffreys", *each) for each in zip(grades.FIVE.rate, grades.FIVE.loans, strict=True)
    ]
    assert rows["5 gradesJeffreys"] == pytest.approx(1 - np.prod(1 - np.array(found)))
    assert rows["7 gradesbinomial, Bonferroni"] <= 0.05 < rows["7 gradesJeffreys"]


def test_rules_find_a_grade_that_is_far_too_low():
    wrong = grades.replace(grades.SEVEN, error="", factor=(1, 1, 1, 1, 1, 4, 1))
    found = grades.Rules(99)(wrong.sample(wrong.n, 1), np.random.SeedSequence(1))
    assert found == [1.0] * len(grades.RULES)
    better = grades.replace(grades.SEVEN, factor=(0.1,) * 7)
    assert grades.Rules(99)(better.sample(better.n, 1), np.random.SeedSequence(1)) == [0.0] * len(grades.RULES)


def test_portfolios_have_their_errors():
    for portfolio in grades.portfolios(False):
        higher = portfolio.true_rate > np.array(portfolio.rate) + 1e-12
        assert higher.any() == bool(portfolio.error), portfolio
        assert (portfolio.true_rate < 1).all()


# --- clusters ---------------------------------------------------------------------------------------------------------


def test_rows_of_a_cluster_are_alike():
    rows = alike.Alike("", ((4000, 3, 0.3),), 1.0)
    y, columns = rows.sample(rows.n, 1)
    events = np.bincount(columns["cluster"], y)
    assert set(events) == {0, 3}
    assert y.mean() == pytest.approx(0.3, abs=0.03)
    independent, _ = alike.Alike("", ((4000, 3, 0.3),), 0.0).sample(12_000, 1)
    assert np.bincount(columns["cluster"], independent).var() == pytest.approx(3 * 0.3 * 0.7, rel=0.1)


def test_predictions_of_clusters():
    rows = alike.Alike("", ((2, 3, 0.7), (1, 2, 0.2)), 0.5, spread=0.1, too_high=0.1)
    p, unit = rows.columns()
    assert p == pytest.approx([0.6, 0.7, 0.8, 0.6, 0.7, 0.8, 0.1, 0.3])
    assert unit.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert (rows.n, rows.clusters) == (8, 3)
    many = alike.Alike("", ((4000, 2, 0.7),), 0.0, too_high=0.1)
    assert many.sample(8000, 1)[0].mean() == pytest.approx(0.6, abs=0.02)


def test_tests_of_sums_of_clusters():
    sums = np.random.default_rng(1).normal(0.3, 1, 12)
    assert alike.by_t(sums) == pytest.approx(stats.ttest_1samp(sums, 0, alternative="greater").pvalue)
    every = np.array(list(product([-1, 1], repeat=12))) @ sums
    assert alike.by_signs(sums, 4999, np.random.SeedSequence(1)) == pytest.approx(
        (every >= sums.sum() - 1e-9).mean(), abs=0.03
    )
    assert alike.by_t(np.ones(5)) == 0
    assert alike.by_t(np.zeros(5)) == 1


def test_tests_of_clusters_look_at_the_side_that_is_asked():
    rows = alike.Alike("", ((60, 5, 0.9),), 0.0, too_high=0.3)
    data, seed = rows.sample(rows.n, 1), np.random.SeedSequence(1)
    assert max(alike.TestsOfClusters("over", 199)(data, seed)) < 0.05
    assert min(alike.TestsOfClusters("under", 199)(data, seed)) > 0.9
    *by_rows, exact = alike.TestsOfRows("over", 199)(data, seed)
    assert max(by_rows) < 0.05
    assert exact == alike.TestsOfClusters("over")(data, seed)[0]


# --- the study --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def quick():
    """The quick table."""
    return one_side.table(quick=True, n_jobs=1)


def test_the_quick_study(quick):
    asked = {"size", "dependence", "clusters, size", "clusters, power", "grades, size", "grades, power", "years, size"}
    assert set(quick["question"]) == asked | {"one grade", "all grades", "power", "power, both directions"}
    for figure in one_side.figures(quick).values():
        figure.draw_without_rendering()
        plt.close(figure)


def test_parts_are_kept_in_the_store(tmp_path, monkeypatch):
    law = next(laws.allowed(True))
    arguments = (tmp_path, 1, "size", law, law, [(each, "labels") for each in law.measures], 2)
    found = one_side.asked(*arguments)
    monkeypatch.setattr(one_side, "counted", lambda *_: pytest.fail("asked again"))
    assert one_side.asked(*arguments) == found


def test_the_promises_can_be_broken(quick):
    table = quick.assign(replicates=2000, rejections=0.0)
    assert one_side.violations(table).empty
    promised = one_side.promised(table)
    assert set(promised["question"]) == {"size", "dependence", "clusters, size", "grades, size", "years, size"}
    assert not {"Jeffreys", alike.ROWS, alike.SIGNS, alike.STUDENT} & set(promised["method"])
    broken = [promised.index[0], promised.index[promised["method"] == alike.EXACT][0]]
    table.loc[broken, "rejections"] = 180
    table.loc[table["method"].isin(["Jeffreys", alike.SIGNS]), "rejections"] = 900
    assert sorted(one_side.violations(table).index) == sorted(broken)


@pytest.mark.parametrize(("more", "found"), [(0.1, False), (0.03, True)])
def test_too_small_a_gain_is_found(quick, more, found):
    two = quick[(quick["question"] == "power") & (quick["measure"] == "omnibus")].iloc[:2]
    two = two.assign(replicates=1000, method=[errors.ONE, errors.TWO], rate=[0.6 + more, 0.6], rejections=600)
    table = pd.concat([two.assign(generator=name) for name in errors.DIRECTED], ignore_index=True)
    error = np.sqrt(20 * (0.6 * 0.4 + (0.6 + more) * (0.4 - more)) / 1000) / 20
    assert one_side.gain(table) == pytest.approx((more, error))
    assert one_side.violations(table).empty != found
    assert one_side.violations(table[:-2]).empty  # of fewer errors nothing is promised
