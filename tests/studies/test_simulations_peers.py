"""The study of packages: its truths by closed forms, its asking, its counting, and that broken promises show."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from simulation_files import study_file, study_part

import calibstat as cs

study = study_file("peers")
answers, truths = study_part("peer_answers"), study_part("peer_truths")
OVER = truths.Population("uniform", "over-confident")


def asked(package, call):
    return next(each for each in answers.ANSWERS if (each.package, each.call) == (package, call))


def test_there_are_sixty_populations_and_every_call_has_one_name():
    assert len(truths.populations()) * len(study.ROWS) == 60
    calls = [(each.package, each.call) for each in answers.ANSWERS]
    assert len(set(calls)) == len(calls)
    assert all(each.claim for each in answers.ANSWERS)


@pytest.mark.parametrize("population", truths.populations(), ids=lambda each: f"{each.law}, {each.wrong}")
def test_calibrated_models_have_error_0_and_others_have_not(population):
    assert population.model.is_calibrated == (population.wrong == "calibrated")


@pytest.mark.parametrize("estimand", ["ece, (a, b]", "ece, [a, b)", "smooth_ece"])
@pytest.mark.parametrize("population", [OVER, truths.Population("three values", "shifted")])
def test_truths_are_those_of_the_generators(population, estimand):
    """Of a million predictions with a standard deviation of at most 1/2: five standard errors are .0025."""
    measure = estimand.partition(",")[0]
    options = {"n_bins": 15} if measure == "ece" else {}
    assert truths.truth(population, estimand, 1) == pytest.approx(
        population.model.truth(measure, **options), abs=2.5e-3
    )


def test_truths_by_hand():
    """Three equally likely values .1, .5, .8, whose logits are moved by .5: gaps by the formula of the generator."""
    population = truths.Population("three values", "shifted")
    model = population.model
    value = np.unique(model.sample(1000, rng=1)[1])
    gap = np.abs(model.curve(value) - value)
    assert truths.truth(population, "l2 over equal masses", 1) == pytest.approx(np.sqrt((gap**2).mean()), abs=1e-3)
    folded = truths.truth(population, "ece, (a, b], of the predicted class", 1)
    assert folded == pytest.approx(gap.mean(), abs=1e-3)  # no two confidences share a bin
    assert truths.truth(replace(population, wrong="calibrated"), "ece, (a, b]") == 0


def test_what_calibstat_says_is_asked_by_its_public_functions():
    y, p = OVER.model.sample(300, rng=5)
    found = answers.answer(asked("calibstat", "confidence_interval, ece"), y, p, 7)
    expected = cs.confidence_interval(y, p, measure="ece", rng=7)
    assert found == (expected.estimate, expected.low, expected.high)
    assert answers.answer(asked("calibstat", "calibration_test"), y, p, 7) == (cs.calibration_test(y, p, rng=7).pvalue,)
    difference = asked("calibstat", "compare, ece, of a group of a tenth")
    samples = {"A": (y[:30], p[:30]), "B": (y[30:], p[30:])}
    expected = cs.compare(samples, measure="ece", rng=7).pvalue.item()
    assert answers.answer(difference, y, p, 7) == (expected,)


def test_the_intervals_of_scikit_learn_are_of_its_curve():
    """Its estimate is the binned error with the same bins."""
    y, p = OVER.model.sample(100, rng=5)
    estimate, low, high = answers.answer(asked("scikit-learn", "calibration_curve with scipy.stats.bootstrap"), y, p, 1)
    assert estimate == pytest.approx(cs.estimate(y, p, measure="ece"), rel=1e-12)
    assert low <= high


def test_failures_and_missing_packages_are_rows():
    def fails(y, p, seed):
        raise ValueError("no such rows\nat all")

    broken = replace(answers.ANSWERS[0], ask=fails)
    assert answers.answer(broken, np.zeros(2), np.zeros(2), 1) == "ValueError: no such rows"
    nan = replace(answers.ANSWERS[0], ask=lambda y, p, seed: (np.nan,))
    assert answers.answer(nan, np.zeros(2), np.zeros(2), 1) == "not a finite number"
    row = study.row_of(study.Cell(0, OVER, 300, 3), None)
    assert (row["refused"], row["answers"]) == ("not installed", 0)


def test_counting():
    row = {"question": "interval", "package": "a", "version": "1", "call": "b", "kind": "calibrated"}
    row |= {"replicates": 40, "answers": 40, "below": 1, "above": 3, "significant": 0, "width": 0.2, "spread": 0.1}
    wrong_model = row | {"question": "p-value", "kind": "shifted", "below": 0, "above": 0}
    wrong_model |= {"significant": 40}  # as it should be
    group = wrong_model | {"call": "c of a group of a tenth", "significant": 4}
    silent = row | {"package": "not installed", "answers": 0, "width": None, "spread": None}
    found = study.summary(pd.DataFrame([row, row | {"answers": 30}, wrong_model, group, silent]))
    assert found[["call", "replicates", "wrong"]].to_numpy().tolist() == [
        ["b", 70, 8],
        ["c of a group of a tenth", 40, 4],
    ]
    assert found["rate"].tolist() == pytest.approx([8 / 70, 0.1])
    assert found["ratio"].tolist()[0] == pytest.approx(2)


def test_broken_promises_of_calibstat_are_found():
    row = {"package": "calibstat", "question": "interval", "call": "x", "kind": "shifted", "answers": 300}
    row |= {"replicates": 300, "below": 5, "above": 5, "significant": 0}
    rows = [row, row | {"below": 40}, row | {"above": 40}, row | {"package": "another", "above": 300}]
    test = row | {"question": "p-value", "kind": "calibrated"}
    rows += [test | {"significant": 15}, test | {"significant": 60}, test | {"significant": 60, "kind": "shifted"}]
    assert study.violations(pd.DataFrame(rows)).index.tolist() == [1, 2, 5]


def test_the_page_has_the_numbers_of_the_stored_table():
    stored = pd.read_csv(PROJECT / "simulations" / "results" / "peers.csv", comment="#")
    page = (PROJECT / "docs" / "evidence" / "honesty.md").read_text(encoding="utf-8")
    for question in ("interval", "p-value"):
        assert study.of_page(stored, question) in page
    assert study.of_page(stored.assign(above=stored["above"] + 1), "interval") not in page


def test_the_page_begins_with_our_own_worst_rows():
    stored = pd.read_csv(PROJECT / "simulations" / "results" / "peers.csv", comment="#")
    page = (PROJECT / "docs" / "evidence" / "honesty.md").read_text(encoding="utf-8")
    worst = study.own_worst(stored)
    assert worst in page
    assert page.index(worst) < page.index("<!-- intervals: begin -->")
    ours = stored["package"] == "calibstat"
    assert study.own_worst(stored.assign(above=stored["above"] + ours)) not in page


def test_the_worst_row_of_a_call_is_found():
    row = {"package": "calibstat", "version": "1", "question": "interval", "call": "x", "kind": "shifted", "n": 2000}
    row |= {"law": "uniform", "wrong": "shifted", "answers": 100, "below": 1, "above": 2, "significant": 0}
    test = row | {"question": "p-value", "call": "y", "kind": "calibrated", "below": 0, "above": 0, "significant": 4}
    rows = [row, row | {"above": 1}, row | {"above": 99, "package": "another"}, test, test | {"kind": "shifted"}]
    head, _, *lines = study.own_worst(pd.DataFrame(rows)).splitlines()
    assert [line.split(" | ")[0] for line in lines] == ["| 1: y", "| 1: x"]
    assert lines[0].split(" | ")[3:5] == ["2,000", "4.0 % (4 of 100)"]
    assert lines[1].split(" | ")[4] == "3.0 % (3 of 100)"
    assert head.startswith("| call")


def test_the_stored_table_is_whole_and_keeps_the_promises():
    stored = pd.read_csv(PROJECT / "simulations" / "results" / "peers.csv", comment="#", keep_default_na=False)
    assert len(stored) == len(study.cells(False))
    assert stored["replicates"].tolist() == [cell.replicates for cell in study.cells(False)]
    for column in ("below", "above", "significant", "answers", "replicates"):
        stored[column] = stored[column].astype(int)
    assert study.violations(stored).empty
    assert not (stored["version"] == "not installed").any()
