"""The columns of a file that say how its rows came about."""

import numpy as np
import pandas as pd
import pytest
from command_line import plain_text, run

import calibstat as cs
from calibstat.cli.row_columns import RowColumns, in_words


@pytest.fixture(name="file")
def file_fixture(tmp_path):
    path = tmp_path / "rows.csv"
    rows = {"who": ["a", "b", "a", "b"], "fold": [0, 0, 1, 1], "w": [1, 2, "x", 4], "v": [1, 2, 3, 4]}
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_columns_are_words_about_rows(file):
    words = RowColumns(cluster="who", weight="v").words(file)
    assert [*words] == ["cluster", "sample_weight"]
    assert words["cluster"].tolist() == ["a", "b", "a", "b"]
    np.testing.assert_array_equal(words["sample_weight"], [1, 2, 3, 4])
    assert RowColumns().words(file) == {}
    assert (bool(RowColumns()), bool(RowColumns(folds="fold"))) == (False, True)


def test_what_is_wrong_names_the_column(file):
    with pytest.raises(ValueError, match="no column 'day'"):
        RowColumns(folds="day").words(file)
    with pytest.raises(ValueError, match="expected numbers in column 'w', found 'x' at row 2"):
        RowColumns(weight="w").words(file)


def test_rows_in_words(file):
    assert in_words({}) == in_words(RowColumns(weight="v").words(file)) == ""
    assert in_words(RowColumns(cluster="who").words(file)) == " Rows are in 2 clusters of 2 rows each."
    folds = " Rows were predicted out of 2 folds of 2 rows."
    assert in_words(RowColumns(folds="fold").words(file)) == folds
    assert in_words(RowColumns(folds="fold", cluster="who").words(file)) == folds


def test_what_is_supposed_of_absent_clusters_can_be_said(tmp_path):
    y, p = cs.generators.temperature(1.5).sample(600, rng=1)
    file = tmp_path / "rows.csv"
    pd.DataFrame({"y": y, "p": p, "q": p**1.2, "ward": np.arange(600) // 30}).to_csv(file, index=False)
    rows = (file, "--label", "y", "--cluster", "ward")
    asked = {
        "interval": (*rows, "--prob", "p", "--measure", "brier"),
        "compare": (*rows, "--prob", "p", "--prob", "q", "--measure", "brier"),
        "validate": (*rows, "--prob", "p"),
        "net-benefit": (*rows, "--prob", "p", "--threshold", "0.5"),
    }
    for command, words in asked.items():
        usual, whole = (plain_text(run(command, *words, *more).stdout) for more in ((), ("--unseen", "clusters")))
        assert "more extreme than the most extreme of these 20" in usual, command
        assert "all of whose rows have the worst outcome" in whole, command
    alone = run("interval", file, "--label", "y", "--prob", "p", "--unseen", "rows")
    assert "expected --cluster beside --unseen, found --unseen rows alone" in plain_text(alone.stderr)
    wrong = run("interval", *rows, "--prob", "p", "--unseen", "days")
    assert "'observed', 'clusters' or 'rows', found 'days'" in plain_text(wrong.stderr)


def test_outcomes_of_each_model(tmp_path):
    """One --label for each --prob, at the same place; the answer says how often each is right."""
    random = np.random.default_rng(1)
    prob = {"A": random.choice([0.6, 0.9], 300), "B": random.choice([0.7, 0.8], 300)}
    right = {f"right_{name}": (random.random(300) < p).astype(int) for name, p in prob.items()}
    file = tmp_path / "answers.csv"
    pd.DataFrame({**right, **prob}).to_csv(file, index=False)
    models = ("--prob", "A", "--prob", "B")
    both = ("--label", "right_A", "--label", "right_B")
    text = plain_text(run("compare", file, *both, *models).stdout)
    expected = cs.compare({"A": right["right_A"], "B": right["right_B"]}, prob)
    assert expected.answer in text
    assert f"outcome 1 in {100 * right['right_A'].mean():.0f} % of rows" in " ".join(text.split())
    one = run("compare", file, *both, "--label", "A", *models)
    assert "expected one --label, or one for each --prob, found 3 beside 2" in plain_text(one.stderr)
    missing = run("compare", file, "--label", "right_A", "--label", "right_C", *models)
    assert "no column 'right_C'" in plain_text(missing.stderr)
    classes = run("compare", file, *both, "--prob", "A*", "--prob", "B")
    assert "A*" in plain_text(classes.stderr)
