"""Files that are read: columns, patterns, names of classes, and one line for all that can be wrong."""

import json
import time

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, FAST, PATTERN, fails_with, plain_text, run
from compared_samples import same

import calibstat as cs
from calibstat.cli import input_files
from calibstat.cli.formats.chosen_columns import choose
from calibstat.cli.input_files import as_classes, plain_spelling, read_data

pytestmark = pytest.mark.usefixtures("quick_draws")


def test_missing_file():
    fails_with(run("test", "nowhere.csv", *COLUMNS), "no such file", "nowhere.csv")


def test_directory(tmp_path):
    fails_with(run("test", tmp_path, *COLUMNS), "directory")


def test_unknown_kind_of_file(tmp_path):
    (tmp_path / "rows.xls").write_text("y,p\n1,1\n")
    fails_with(
        run("test", tmp_path / "rows.xls", *COLUMNS),
        "a .csv, .tsv, .txt, .json or .jsonl file",
        "or a .parquet, .feather, .arrow, .npz or .npy file",
        "rows.xls'; save it as CSV",
    )


def test_empty_file(tmp_path):
    (tmp_path / "rows.csv").write_text("")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "is empty")


def test_header_alone(tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "at least one row")
    fails_with(
        run("compare", tmp_path / "rows.csv", *COLUMNS, "--prob", "p"), "at least one row, found none in", "rows"
    )


def test_missing_column_names_those_there_are(csv):
    fails_with(run("test", csv, "--label", "z", "--prob", "p"), "no column 'z'; the file has 'y', 'p', 'name'")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("y,p\n1,0.5\n0,often\n", ("'p'", "'often'", "row 1")),
        ("y,p\n1,0.5\nno,0.2\nyes,0.1\n", ("'y'", "'no'", "row 1")),
        ("y,p\n1,0.5\n0,\n", ("'p'", "nan", "row 1")),
        ("y,p\n1,0.5\n0,1.5\n", ("'p'", "1.5", "row 1")),
        ("y,p\n1,0.5\n2,0.5\n", ("'y'", "2.0", "row 1")),
        ("y,p\n0.5,1\n0.2,0\n", ("look swapped",)),
    ],
)
def test_bad_value_names_column_row_and_value(tmp_path, text, parts):
    (tmp_path / "rows.csv").write_text(text)
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), *parts)


def test_unreadable_parquet(tmp_path):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1 this is not it PAR1")
    fails_with(run("test", tmp_path / "rows.parquet", *COLUMNS), "cannot read")


def test_undecodable_csv(tmp_path):
    (tmp_path / "rows.csv").write_bytes(b"y,p\n1,\xff\xfe\n")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "cannot read")


def written_rows(folder, text):
    path = folder / "rows.csv"
    path.write_text(text)
    return path


def test_columns_by_pattern_or_by_name(zoo, animals, predictions):
    found, how = read_data(zoo, "y", ["p_*"])
    assert found.names == ("cat", "dog", "hen")
    assert np.allclose(found.prob, predictions.prob, atol=1e-15)
    assert (found.label == predictions.label).all()
    assert how == "Outcomes are names of classes."
    assert choose(list(animals), "y", ["p_hen", "p_cat"]) == (["p_hen", "p_cat"], ["p_hen", "p_cat"])


@pytest.mark.parametrize(
    ("pattern", "there", "names"),
    [
        ("p_*", ["p_a", "y", "p_b"], ["a", "b"]),
        ("*_p", ["a_p", "y", "b_p"], ["a", "b"]),
        ("p[12]x", ["p1x", "p2x", "p3x"], ["1", "2"]),
        ("p?_*", ["p1_a", "p2_b", "q1_a"], ["1_a", "2_b"]),
        ("*", ["y", "7", "8"], ["7", "8"]),
    ],
)
def test_a_wildcard_names_the_classes(pattern, there, names):
    columns, found = choose(there, "y", [pattern]) if "y" in there else choose(["y", *there], "y", [pattern])
    assert found == names
    assert columns == [column for column in there if column in columns]


def test_a_column_called_like_a_pattern_is_a_column():
    assert choose(["y", "p*", "pa", "pb"], "y", ["p*"]) == (["p*"], ["p*"])


@pytest.mark.parametrize(
    ("prob", "parts"),
    [
        (["q_*"], ("none that matches 'q_*'", "p_cat")),
        (["p_c*"], ("only 'p_cat'",)),
        (["p_cat", "p_cat"], ("'p_cat' twice",)),
        (["p_cat", "p_*"], ("one pattern or several columns", "'p_*'")),
        (["p_cat", "p_cow"], ("no column 'p_cow'", "'p_cat', 'y', 'p_dog', 'p_hen'")),
        (["p_cat", "y"], ("column of probabilities", "'y'")),
    ],
)
def test_wrong_columns(zoo, prob, parts):
    options = [part for name in prob for part in ("--prob", name)]
    fails_with(run("test", zoo, "--label", "y", *options), *parts)


def test_columns_of_the_same_name(tmp_path):
    file = written_rows(tmp_path, "y,p,p\n1,0.5,0.2\n")
    fails_with(run("test", file, *COLUMNS), "one column 'p'", "found 2")


def classes(values, names):
    return as_classes(pd.Series(values), "y", names)[0].tolist()


def test_names_win_over_numbers():
    names = ["1", "10", "2"]
    assert classes([1, 2, 10, 2], names) == [0, 2, 1, 2]
    assert classes(["2", "10"], names) == [2, 1]
    assert classes([0, 2, 1], names) == [0, 2, 1]  # 0 is no name, so all are numbers
    assert classes([1.0, 10.0], names) == [0, 1]
    assert classes([True, False], ["0", "1"]) == [1, 0]
    assert classes([2, 0], ["cat", "dog", "hen"]) == [2, 0]
    assert classes([1, 2], ["01", "02"]) == [0, 1]
    assert classes(["7", "007"], ["007", "7"]) == [1, 0]
    assert plain_spelling("0") == "0"
    assert plain_spelling("000.00") == "0"
    assert plain_spelling("1.50") == "1.50"


def test_how_outcomes_were_understood_is_said(tmp_path):
    text = "y,p_a,p_b\n" + "0,0.5,0.5\n1,0.25,0.75\n" * 5
    file = written_rows(tmp_path, text)
    assert "Outcomes are numbers of classes: 0 is a, 1 is b." in plain_text(run("test", file, *PATTERN, *FAST).stdout)


def test_a_class_called_na(tmp_path):
    file = written_rows(tmp_path, "y,p_NA,p_DE\nNA,0.5,0.5\nDE,0.25,0.75\n")
    assert read_data(file, "y", ["p_*"])[0].label.tolist() == [0, 1]


def test_single_precision_stays(animals, tmp_path):
    single = animals.astype({"p_cat": "float32", "p_dog": "float32", "p_hen": "float32"})
    single.to_parquet(tmp_path / "zoo.parquet")
    assert read_data(tmp_path / "zoo.parquet", "y", ["p_*"])[0].prob.dtype == np.float32


@pytest.mark.parametrize(
    ("rows", "parts"),
    [
        ("a,0.5,0.5\nc,0.5,0.5\n", ("names of classes (a, b)", "numbers from 0 to 1", "'c' at row 1", "from 0")),
        ("a,0.5,0.5\n1,0.5,0.5\n", ("(a, b)", "'1' at row 1")),
        ("0,0.5,0.5\n2,0.5,0.5\n", ("(a, b)", "numbers from 0 to 1", "'2' at row 1")),
        ("0.5,0.5,0.5\n", ("'0.5' at row 0",)),
        ("a,0.5,0.5\n,0.5,0.5\n", ("outcome in column 'y'", "nothing at row 1 (rows count from 0)")),
        ("a,0.5,0.5\na,0.5,often\n", ("'p_b'", "'often'", "row 1")),
        ("a,0.5,0.5\na,0.5,\n", ("column 'p_b' at row 1", "nan")),
        ("a,0.5,0.5\na,1.5,-0.5\n", ("column 'p_a' at row 1", "1.5")),
        ("a,0.5,0.5\na,0.5,0.4\na,1,0\n", ("2 probabilities that sums to 1", "0.9 at row 1 (rows count from 0)")),
        ("a,0.5,0.5\na,0.5,0.4\na,1,1\n", ("of classes that sum to 1", "2 at row 2", "for calibstat compare")),
        ("", ("at least one row",)),
    ],
)
def test_bad_value_of_several_columns(tmp_path, rows, parts):
    fails_with(run("test", written_rows(tmp_path, f"y,p_a,p_b\n{rows}"), *PATTERN), *parts)


def test_missing_numeric_outcome_in_parquet(tmp_path):
    rows = pd.DataFrame({"y": [1.0, np.nan], "p_1": [0.5, 0.5], "p_2": [0.5, 0.5]})
    rows.to_parquet(tmp_path / "rows.parquet")
    fails_with(run("test", tmp_path / "rows.parquet", *PATTERN), "nothing at row 1")


def test_a_pattern_over_very_many_columns_ends(tmp_path):
    names = [f"c{k}" for k in range(100_000)]
    begin = time.process_time()
    columns, classes = input_files.choose(["y", *names], "y", ["c*"])
    assert columns == names
    assert classes[:2] == ["0", "1"]
    assert time.process_time() - begin < 20  # it was hours


@pytest.mark.parametrize(("row", "number"), [("1,0.5,7", 0), ('0,"0,5",,', 0), ("0,0.1\n\n1,0.5,", 1)])
def test_rows_with_more_cells_than_columns_are_refused(row, number, tmp_path):
    (tmp_path / "a.csv").write_text(f"y,p\n{row}\n0,0.2\n")
    found = run("test", tmp_path / "a.csv", "--label", "y", "--prob", "p")
    assert found.exit_code == 2
    assert f"at row {number} (rows count from 0)" in found.stderr
    assert "expected rows of 2 cells" in found.stderr


def test_texts_of_numbers_are_numbers(rows, tmp_path):
    y, p = rows["y"].tolist(), rows["p"].tolist()
    lines = [json.dumps({"y": y[k], "p": repr(p[k]) if k % 2 else p[k]}) for k in range(len(y))]
    (tmp_path / "rows.jsonl").write_text("\n".join(lines))
    assert same(read_data(tmp_path / "rows.jsonl", "y", ["p"])[0], cs.Sample.from_rows(y, p))


def test_classes_in_clusters(zoo, predictions, tmp_path):
    frame = pd.read_csv(zoo).assign(unit=np.arange(predictions.n) // 4)
    frame.to_csv(tmp_path / "zoo.csv", index=False)
    asked = {"measure": "ece", "lens": "class_wise_mean", "n_resamples": 99, "rng": 0}
    found = cs.calibration_test(predictions, None, cluster=frame["unit"], **asked)
    options = ["--measure", "ece", "--lens", "class_wise_mean", "--cluster", "unit"]
    said = json.loads(run("test", tmp_path / "zoo.csv", *PATTERN, *FAST, *options, "--format", "json").stdout)
    assert [value for name, value in said.items() if name.endswith("pvalue")] == [found.pvalue]
