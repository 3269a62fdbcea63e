"""The option --folds: what the functions say of predictions out of folds."""

import numpy as np
import pytest
from command_line import COLUMNS, FAST, fails_with, plain_text, run

import calibstat as cs
from calibstat.output import wording


@pytest.fixture(name="out_of_fold")
def out_of_fold_fixture(rows, tmp_path):
    table = rows.assign(q=rows["p"] ** 2, fold=np.random.default_rng(1).permutation(400) % 5, one=1)
    path = tmp_path / "folds.csv"
    table.to_csv(path, index=False)
    return table, path


def test_test_and_interval(out_of_fold):
    table, path = out_of_fold
    rows = table["y"], table["p"]
    test = cs.calibration_test(*rows, folds=table["fold"], rng=0)
    text = plain_text(run("test", path, *COLUMNS, "--folds", "fold").stdout)
    assert plain_text(test.answer) in text
    assert "Rows were predicted out of 5 folds of 80 rows." in text
    several = plain_text(run("test", path, *COLUMNS, "--folds", "fold", "--measure", "ks", "--measure", "ece").stdout)
    assert "the smallest p-value of 2 tests" in several
    interval = cs.confidence_interval(*rows, folds=table["fold"], rng=0)
    text = plain_text(run("interval", path, *COLUMNS, "--folds", "fold").stdout)
    assert f"{wording.number(interval.high)}" in text
    assert interval.scope in text
    both = plain_text(
        run("interval", path, *COLUMNS, "--folds", "fold", "--measure", "ks", "--measure", "brier").stdout
    )
    assert "triangle" in both
    assert "This is the mean loss of the 5 models" in both


def test_compare_and_report(out_of_fold):
    _, path = out_of_fold
    models = ["--label", "y", "--prob", "p", "--prob", "q", "--folds", "fold"]
    text = plain_text(run("compare", path, *models).stdout)
    assert "p has a smaller brier than q (p = " in text
    assert "Of one repeat the variance within folds is doubled" in text
    text = plain_text(run("report", path, *models).stdout)
    assert "This is the error of the 5 models on new rows, each predicted by one at random." in text


def test_what_is_wrong_is_one_line(out_of_fold):
    _, path = out_of_fold
    fails_with(run("test", path, *COLUMNS, *FAST, "--folds", "day"), "no column 'day'")
    fails_with(run("test", path, *COLUMNS, *FAST, "--folds", "one"), "expected at least 2 folds, found 1")
    fails_with(run("interval", path, *COLUMNS, "--folds", "fold", "--cluster", "name"), "expected")
    fails_with(
        run("report", path, *COLUMNS, "--folds", "fold", "--recalibrate"),
        "expected rows without --folds beside --recalibrate, because a map takes",
    )
