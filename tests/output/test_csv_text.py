"""Tables as CSV text in which nothing is a formula."""

import csv
import io

import numpy as np
import pandas as pd
import pytest
from command_line import run

import calibstat as cs
from calibstat.output import csv_text

FORMULAS = [
    "\n=1+1",
    " =1+1",
    "\nx",
    "＝1+1",
    "＋1",
    "－1",
    "＠c",
    "\u3000=1",
    "=1+1",
    '=HYPERLINK("http://x","a")',
    "@c",
    "+1",
    "-1",
    "\tx",
    "\rx",
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_text_is_a_formula(formula, tmp_path):
    frame = pd.DataFrame({"name": [formula, "plain"], formula: [-1.5, 2.0], "mixed": [formula, -3]})
    text = csv_text.as_csv(frame)
    (tmp_path / "a.csv").write_text(text, newline="")
    read = pd.read_csv(tmp_path / "a.csv")
    assert read.columns.tolist() == ["name", f"'{formula}", "mixed"]
    assert read["name"].tolist() == [f"'{formula}", "plain"]
    assert read[f"'{formula}"].tolist() == [-1.5, 2.0]
    cs.study.write_table(frame, tmp_path / "b.csv", command="x")
    assert pd.read_csv(tmp_path / "b.csv", comment="#")["name"].tolist()[0] == f"'{formula}"


@pytest.mark.usefixtures("quick_draws")
def test_names_of_models_that_are_formulas(tmp_path):
    p = np.random.default_rng(1).random((60, 2))
    pd.DataFrame(p, columns=["=1+1", "@c"]).assign(y=[0, 1] * 30).to_csv(tmp_path / "a.csv", index=False)
    models = ["--prob", "=1+1", "--prob", "@c"]
    found = run("report", tmp_path / "a.csv", "--label", "y", *models, "--out", tmp_path / "out.csv")
    assert found.exit_code == 0, found.output
    assert set(pd.read_csv(tmp_path / "out.csv")["model"].dropna()) >= {"'=1+1", "'@c"}


@pytest.mark.parametrize(
    "name", ["a;=1+1", "a; =1+1", "a;＠c", "a\n=1+1;", "a\r=1+1;", "a\t+1", "a;;-1", 'a";=1+1', "=1;=1"]
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_text_is_a_formula_where_columns_are_separated_otherwise(name, separator):
    """In any column: a reader with another separator takes quotes within a cell for text."""
    frame = pd.DataFrame({"plain": ["x"], name: [name], "value": [-1.5]})
    text = csv_text.as_csv(frame)
    cells = [cell for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) for cell in row]
    computed = [cell for cell in cells if cell.lstrip().startswith(tuple("=+-@＝＋－＠")) and cell != "-1.5"]
    assert not computed
    header, row = csv.reader(io.StringIO(text, newline=""))
    assert header[1] == row[1]
    assert row[1].replace("'", "") == name


def test_every_text_is_quoted_and_no_number():
    frame = pd.DataFrame({"name": ["a;b", "c"], "value": [0.5, np.nan], "count": [1, 2], "yes": [True, False]})
    assert csv_text.as_csv(frame) == '"name","value","count","yes"\n"a;b",0.5,1,True\n"c","",2,False\n'
