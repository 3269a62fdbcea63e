"""The command line: what it prints, what it writes, and one line for everything that can be wrong with the input."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli import class_report as report_classes
from calibstat.cli import demo
from calibstat.cli import saved_results as saving
from calibstat.cli import wording as words
from calibstat.cli.app import app
from calibstat.cli.input_files import as_classes, choose, plain, read_data
from calibstat.cli.lens_syntax import of_vectors, read_lens
from calibstat.cli.terminal import with_progress
from calibstat.measures.registry import everyday_measures

COLUMNS = ["--label", "y", "--prob", "p"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], terminal_width=120)


def plain_text(text):
    """The text without line breaks and colours."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())


@pytest.fixture(scope="module")
def rows():
    y, p = cs.generators.temperature(1.5).sample(400, rng=1)
    return pd.DataFrame({"y": y.astype(int), "p": p, "name": "x"})


@pytest.fixture
def csv(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def fails_with(result, *parts):
    """One line on standard error, exit code 2, nothing on standard output."""
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("calibstat: ")
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert part in result.stderr


def test_version():
    assert run("--version").stdout == f"calibstat {cs.__version__}\n"


def test_help_names_every_command():
    text = run("--help").stdout
    assert all(name in text for name in ("demo", "measures", "test", "interval", "report"))


def test_help_loads_nothing_slow():
    code = "import sys, calibstat.cli.app; print([m for m in ('pandas', 'statsmodels', 'seaborn') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_measures_lists_the_registry():
    text = run("measures").stdout
    assert all(name in text for name in cs.MEASURES)


def test_test_says_what_the_function_says(rows, csv):
    result = run("test", csv, *COLUMNS, "--measure", "ks", "--n-resamples", 199, "--rng", 5)
    assert result.exit_code == 0
    p = cs.calibration_test(rows["y"], rows["p"], measure="ks", n_resamples=199, rng=5).pvalue
    text = plain_text(result.stdout)
    assert f"p = {words.p_text(p)}" in text
    assert "400 rows" in text
    assert "A large p-value is not evidence that the model is calibrated" in text
    assert "held-out" in text


def test_same_seed_same_words_by_default(csv):
    assert run("test", csv, *COLUMNS).stdout == run("test", csv, *COLUMNS).stdout


def test_several_measures_are_taken_together(csv):
    text = plain_text(run("test", csv, *COLUMNS, "--measure", "ks", "--measure", "ece").stdout)
    assert "2 measures were asked the same question" in text
    assert "Multiplied by 2" in text


def test_interval_says_what_the_function_says(rows, csv):
    text = plain_text(run("interval", csv, *COLUMNS, "--level", 0.9, "--rng", 5).stdout)
    found = cs.confidence_interval(rows["y"], rows["p"], confidence_level=0.9, rng=5)
    assert f"{words.number(found.low)} to {words.number(found.high)}" in text
    assert "90 %" in text
    assert "honest method" in text


def test_interval_by_another_method(csv):
    assert "percentile method" in plain_text(run("interval", csv, *COLUMNS, "--method", "percentile").stdout)


def test_parquet_and_csv_agree(rows, csv, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet")
    assert run("test", csv, *COLUMNS).stdout == run("test", tmp_path / "rows.parquet", *COLUMNS).stdout


def test_report_writes_table_pictures_and_strict_json(rows, csv, tmp_path):
    out = tmp_path / "new" / "folder"
    result = run("report", csv, *COLUMNS, "--out", out)
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == {
        "report.json",
        "table.csv",
        "reliability.png",
        "null.png",
        "intervals.png",
    }
    found = json.loads((out / "report.json").read_text(), parse_constant=pytest.fail)
    assert [entry["measure"] for entry in found["findings"]] == everyday_measures()
    assert found["data"] == {"n": 400, "positives": rows["y"].sum(), "distinct_predictions": 400}
    assert found["rng"] == 0
    for entry in found["findings"]:
        honest = cs.MEASURES[entry["measure"]].bind({}).honest
        assert (entry["interval"] is None) == (honest is None)
        assert 0 < entry["test"]["pvalue"] <= 1
    assert list(pd.read_csv(out / "table.csv")["measure"]) == everyday_measures()
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_report_stays_strict_where_a_loss_is_infinite(tmp_path):
    rows = pd.DataFrame({"y": [0, 1, 1, 0] * 10, "p": [1.0, 0.5, 0.7, 0.2] * 10})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = run("report", tmp_path / "rows.csv", *COLUMNS, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    loss = next(entry for entry in found["findings"] if entry["measure"] == "log_loss")
    assert loss["estimate"] is None


def test_strict_replaces_what_json_cannot_say():
    bad = {"a": [float("nan"), (1.5, float("inf"))], "b": "text", "c": None}
    assert saving.strict(bad) == {"a": [None, [1.5, None]], "b": "text", "c": None}


def test_missing_file():
    fails_with(run("test", "nowhere.csv", *COLUMNS), "no such file", "nowhere.csv")


def test_directory(tmp_path):
    fails_with(run("test", tmp_path, *COLUMNS), "directory")


def test_unknown_kind_of_file(tmp_path):
    (tmp_path / "rows.xls").write_text("y,p\n1,1\n")
    fails_with(run("test", tmp_path / "rows.xls", *COLUMNS), ".csv or .parquet")


def test_empty_file(tmp_path):
    (tmp_path / "rows.csv").write_text("")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "is empty")


def test_header_alone(tmp_path):
    (tmp_path / "rows.csv").write_text("y,p\n")
    fails_with(run("test", tmp_path / "rows.csv", *COLUMNS), "at least one row")


def test_missing_column_names_those_there_are(csv):
    fails_with(run("test", csv, "--label", "z", "--prob", "p"), "no column 'z'", "y, p, name")


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


def test_unknown_measure(csv):
    fails_with(run("test", csv, *COLUMNS, "--measure", "ecce"), "'ecce'", "ece, ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("test", "--n-resamples", 0),
        ("test", "--rng", -1),
        ("interval", "--level", 1.5),
        ("interval", "--method", "exact"),
        ("interval", "--measure", "mcb"),
    ],
)
def test_bad_arguments(csv, arguments):
    command, *options = arguments
    fails_with(run(command, csv, *COLUMNS, *options), "calibstat")


def test_folder_that_is_a_file(csv):
    fails_with(run("report", csv, *COLUMNS, "--out", csv), csv.name)


def test_missing_option_is_a_usage_error(csv):
    assert run("test", csv, "--label", "y").exit_code == 2


def test_progress_answers_in_order():
    assert with_progress(["a", "b"], str.upper) == ["A", "B"]


def test_verdicts_do_not_claim_calibration():
    assert "compatible" in words.verdict(0.5)
    assert "strong" in words.verdict(0.01)
    assert "hint" in words.verdict(0.1)


@pytest.mark.parametrize(
    ("x", "text"), [(0.12345, "0.1235"), (0.0, "0.0000"), (0.00012, "1.2e-04"), (float("inf"), "inf")]
)
def test_numbers_stay_visible(x, text):
    assert words.number(x) == text


@pytest.mark.parametrize(("share", "text"), [(0.5, "50 %"), (1.0, "100 %"), (0.999, "99.9 %"), (0.0004, "0.04 %")])
def test_shares_are_not_rounded_away(share, text):
    assert words.percent(share) == text


# --- several classes -------------------------------------------------------------------------------------------------

PATTERN = ["--label", "y", "--prob", "p_*"]
FAST = ["--n-resamples", 99]


@pytest.fixture(scope="module")
def animals():
    """120 rows of three classes by name; the hen never happens."""
    rng = np.random.default_rng(2)
    prob = rng.dirichlet([2, 2, 0.3], 120)
    y = np.array(["cat", "dog"])[(rng.random(120) < prob[:, 1]).astype(int)]
    return pd.DataFrame({"p_cat": prob[:, 0], "y": y, "p_dog": prob[:, 1], "p_hen": prob[:, 2]})


@pytest.fixture(scope="module")
def predictions(animals):
    prob = animals[["p_cat", "p_dog", "p_hen"]].to_numpy()
    return cs.Predictions.from_rows(animals["y"].tolist(), prob, labels=["cat", "dog", "hen"])


@pytest.fixture
def zoo(animals, tmp_path):
    path = tmp_path / "zoo.csv"
    animals.to_csv(path, index=False)
    return path


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
        (["p_cat", "p_cow"], ("no column 'p_cow'", "p_cat, y, p_dog, p_hen")),
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
    assert plain("0") == "0"
    assert plain("000.00") == "0"
    assert plain("1.50") == "1.50"


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
        ("a,0.5,0.5\na,0.5,0.4\n", ("2 probabilities that sums to 1", "0.9 at row 1 (rows count from 0)")),
        ("", ("at least one row",)),
    ],
)
def test_bad_value_of_several_columns(tmp_path, rows, parts):
    fails_with(run("test", written_rows(tmp_path, f"y,p_a,p_b\n{rows}"), *PATTERN), *parts)


def test_missing_numeric_outcome_in_parquet(tmp_path):
    rows = pd.DataFrame({"y": [1.0, np.nan], "p_1": [0.5, 0.5], "p_2": [0.5, 0.5]})
    rows.to_parquet(tmp_path / "rows.parquet")
    fails_with(run("test", tmp_path / "rows.parquet", *PATTERN), "nothing at row 1")


def test_several_columns_say_what_the_function_says(zoo, predictions):
    result = run("test", zoo, *PATTERN, *FAST)
    assert result.exit_code == 0, result.output
    text = plain_text(result.stdout)
    p = cs.calibration_test(predictions, n_resamples=99, rng=0).pvalue
    assert f"p = {words.p_text(p)}" in text
    assert "120 rows, 3 classes (cat, dog, hen), 1 of which never happens." in text
    assert f"in {words.percent((predictions.top == predictions.label).mean())} of the rows (accuracy)" in text
    assert f"averages {predictions.largest.mean():.3f}" in text
    assert "Null hypothesis (lens top_label): given the probability of the most likely class" in text


def test_two_columns_are_outcome_one_of_two(rows, tmp_path):
    pair = pd.DataFrame({"y": rows["y"], "p_0": 1 - rows["p"], "p_1": rows["p"]})
    pair.to_csv(tmp_path / "pair.csv", index=False)
    text = plain_text(run("test", tmp_path / "pair.csv", *PATTERN, "--rng", 5).stdout)
    assert f"p = {words.p_text(cs.calibration_test(rows['y'], rows['p'], rng=5).pvalue)}" in text
    assert "class 1 happens with this probability" in text


def test_class_wise_prints_every_class_and_all_together(zoo, predictions):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", "class_wise", "--measure", "ks").stdout)
    found = cs.calibration_test(predictions, measure="ks", lens="class_wise", n_resamples=99, rng=0)
    for k, (name, happened) in enumerate(zip(found.names, np.bincount(predictions.label, minlength=3), strict=True)):
        p, holm = words.p_text(found.pvalue[k]), words.p_text(found.pvalue_holm[k])
        assert f"{name} {happened} {words.number(found.statistic[k])} {p} {holm}" in text
    assert f"Null hypothesis for each class: {found.null_hypothesis}" in text
    assert f"mean over 3 classes): {found.overall.null_hypothesis}" in text
    assert f"p = {words.p_text(found.overall.pvalue)}" in text


def test_class_wise_as_one_number(zoo, predictions):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", "class_wise", "--reduce", "max").stdout)
    found = cs.calibration_test(predictions, lens="class_wise", reduce="max", n_resamples=99, rng=0)
    assert f"Expected calibration error {words.number(found.statistic)}" in text
    assert f"p = {words.p_text(found.pvalue)}" in text
    assert "max over 3 classes" in text
    assert "p (Holm)" not in text


def test_interval_of_classes_is_of_their_mean(zoo, predictions):
    text = plain_text(run("interval", zoo, *PATTERN, *FAST, "--lens", "class_wise").stdout)
    found = cs.confidence_interval(predictions, lens="class_wise", reduce="mean", n_resamples=99, rng=0)
    assert f"{words.number(found.low)} to {words.number(found.high)}" in text
    assert "mean over the classes" in text
    largest = run("interval", zoo, *PATTERN, *FAST, "--lens", "class_wise", "--reduce", "max").stdout
    assert "max over the classes" in plain_text(largest)


@pytest.mark.parametrize("lens", ["canonical", "groups:cat+hen,dog", "top_k:2", None])
def test_measures_of_whole_vectors(zoo, lens):
    options = ["--lens", lens] if lens else []
    result = run("test", zoo, *PATTERN, *FAST, *options, "--measure", "canonical_ce", "--measure", "gce")
    assert result.exit_code == 0, result.output
    assert f"(lens {lens or 'canonical'})" in plain_text(result.stdout)


def test_different_hypotheses_are_told_apart(zoo):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--measure", "ece", "--measure", "gce").stdout)
    assert "Null hypothesis of Expected calibration error (lens top_label)" in text
    assert "Null hypothesis of General calibration error (lens canonical)" in text
    assert "2 measures were asked, so" in text


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (["--lens", "top"], ("top_label, class_wise, canonical, one_class:NAME, top_k:2 or groups", "'top'")),
        (["--lens", "one_class:cow"], ("(cat, dog, hen)", "from 0 to 2", "'cow'")),
        (["--lens", "top_k:two"], ("top_k:2", "'top_k:two'")),
        (["--lens", "top_k:3", "--measure", "gce"], ("more than 3 classes",)),
        (["--lens", "groups:cat+dog"], ("class hen in none",)),
        (["--lens", "groups:cat+dog,dog+hen"], ("class dog in 2",)),
        (["--lens", "groups:cat+dog+hen"], ("two or more groups",)),
        (["--lens", "canonical"], ("'ece', which is of one event", "canonical", "canonical_ce")),
        (["--lens", "class_wise", "--measure", "gce"], ("'gce', which is of whole vectors", "class_wise")),
        (["--lens", "class_wise", "--reduce", "sum"], ("'mean' or 'max'", "'sum'")),
        (["--reduce", "mean"], ("--lens class_wise", "no lens")),
    ],
)
def test_wrong_lens(zoo, options, parts):
    fails_with(run("test", zoo, *PATTERN, *options), *parts)


def test_one_column_has_no_lens(csv):
    fails_with(run("test", csv, *COLUMNS, "--lens", "top_label"), "several columns", "top_label", "found one")
    fails_with(run("test", csv, *COLUMNS, "--measure", "gce"), "several columns", "'gce'", "found one")


@pytest.mark.parametrize(
    ("text", "lens"),
    [
        ("one_class:dog", cs.lenses.one_class(1)),
        ("one_class:2", cs.lenses.one_class(2)),
        ("top_k:1", cs.lenses.top_k(1)),
        ("groups:cat+hen,1", cs.lenses.groups([[0, 2], [1]])),
        ("canonical", cs.LENSES["canonical"]),
        ("top_label", cs.LENSES["top_label"]),
    ],
)
def test_lens_from_text(predictions, text, lens):
    found = read_lens(text, predictions.names)
    for a, b in zip(found.rows(predictions), lens.rows(predictions), strict=True):
        assert np.array_equal(a, b)


def test_names_win_over_numbers_in_a_lens():
    predictions = cs.Predictions.from_rows([0, 1, 2], np.eye(3), labels=None)
    outcomes, _ = read_lens("one_class:2", ["1", "10", "2"]).rows(predictions)
    assert outcomes.tolist() == [0, 0, 1]
    with pytest.raises(ValueError, match=r"names of classes \(1, 10, 2\) in --lens, found '0'"):
        read_lens("one_class:0", ["1", "10", "2"])


def test_a_lens_speaks_of_classes_by_name():
    assert "class hen happens" in read_lens("one_class:hen", ["cat", "dog", "hen"]).null
    assert str(read_lens("groups:0+2,dog", ["cat", "dog", "hen"])) == "groups:cat+hen,dog"


def test_of_many_classes_the_smallest_p_are_shown():
    rng = np.random.default_rng(0)
    prob = rng.dirichlet(np.ones(23), 60)
    label = np.array([rng.choice(23, p=row) for row in prob])
    label[:30] = 5  # far too often
    names = [f"c{k}" for k in range(23)]
    predictions = cs.Predictions.from_rows([names[k] for k in label], prob, labels=names)
    found = report_classes.assess_classes(predictions, "ece", n_resamples=999)
    shown = found.shown()
    assert shown.size == 20
    assert found.test.pvalue[shown].max() <= np.delete(found.test.pvalue, shown).min()
    assert (np.diff(found.test.pvalue[shown]) >= 0).all()
    text = report_classes.say_classes(found)
    assert "3 more have p of at least" in text
    assert "1 of them: c5." in text or "of them: c5, " in text


def test_value_of_a_class_is_its_estimate(predictions):
    found = report_classes.assess_classes(predictions, "ece_debiased", n_resamples=19)
    assert np.allclose(found.estimate, cs.estimate(predictions, measure="ece_debiased", lens="class_wise"))
    assert found.overall.test is found.test.overall


def test_report_of_several_classes(zoo, predictions, tmp_path):
    result = run("report", zoo, *PATTERN, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    pictures = {"reliability.png", "null.png", "intervals.png", "classes.png", "simplex.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *pictures,
        "report.json",
        "table.csv",
        "classes.csv",
    }
    for name in pictures:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    assert found["prob"] == "p_*"
    assert found["data"]["classes"] == ["cat", "dog", "hen"]
    assert found["data"]["happened"] == np.bincount(predictions.label, minlength=3).tolist()
    assert [entry["measure"] for entry in found["findings"]] == everyday_measures()
    assert {entry["test"]["lens"] for entry in found["findings"]} == {"lens top_label"}
    assert found["reliability"]["lens"] == "lens top_label"
    assert len(found["classes"]["reliability"]["diagrams"]) == 3
    assert found["classes"]["simplex"]["names"] == ["cat", "dog", "hen"]
    sheet = pd.read_csv(tmp_path / "out" / "classes.csv")
    test = cs.calibration_test(predictions, lens="class_wise", rng=0)
    assert sheet["class"].tolist() == ["cat", "dog", "hen"]
    assert np.allclose(sheet["estimate"], test.statistic)
    assert np.allclose(sheet["pvalue_holm"], test.pvalue_holm)
    assert f"hen 0 {words.number(test.statistic[2])}" in plain_text(result.stdout)


def test_report_of_whole_vectors(zoo, tmp_path, monkeypatch):
    monkeypatch.setattr("calibstat.cli.lens_syntax.of_vectors", lambda: ["brier", "canonical_ce"])
    result = run("report", zoo, *PATTERN, "--lens", "groups:cat+hen,dog", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"report.json", "table.csv", "null.png", "classes.csv", "classes.png"}
    assert names.isdisjoint({"simplex.png", "reliability.png"})
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    assert [entry["measure"] for entry in found["findings"]] == ["brier", "canonical_ce"]
    assert found["classes"]["test"]["names"] == ["cat + hen", "dog"]
    assert found["classes"]["simplex"] is None


def test_measures_of_whole_vectors_are_told_apart():
    text = plain_text(run("measures").stdout)
    before, after = text.split("Of whole vectors")
    names = {name for name, entry in cs.MEASURES.items() if entry.of == "vectors"}
    assert all(f" {name} " in after and f" {name} " not in before for name in names)
    assert {"brier", "log_loss", "gce", "canonical_ce", "skce"} <= set(of_vectors())


def test_demo_splits_as_it_says():
    y, p = demo.held_out()
    assert y.size == 10_190
    assert np.unique(p).size == 2_514
    sharper = demo.over_confident(p)
    assert np.allclose(np.log(sharper / (1 - sharper)), np.log(p / (1 - p)) / demo.SHARPENING)


def test_demo_finds_the_over_confident_model(tmp_path):
    result = run("demo", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"reliability.png", "null.png", "intervals.png"}
    text = plain_text(result.stdout)
    assert "10,190" in text
    assert "lies wholly above" in text


def test_the_readme_picture_is_small():
    picture = Path(__file__).parent.parent / "docs" / "images" / "demo.png"
    assert picture.stat().st_size < 150_000


# --- compare ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_models(tmp_path):
    """Two models for two outcomes, and clusters of two rows."""
    import pandas as pd

    y, p = cs.generators.calibrated().sample(400, rng=1)
    odds = (p / (1 - p)) ** 2
    path = tmp_path / "models.csv"
    pd.DataFrame({"y": y, "A": p, "B": odds / (1 + odds), "who": np.arange(400) // 2}).to_csv(path, index=False)
    return path


def compared(*arguments):
    return CliRunner().invoke(app, ["compare", *map(str, arguments), "--n-resamples", "99"], env={"COLUMNS": "100"})


def test_compare_prints_what_compare_finds(two_models):
    import pandas as pd

    frame = pd.read_csv(two_models)
    result = compared(two_models, "--label", "y", "--prob", "A", "--prob", "B", "--rng", 3)
    assert result.exit_code == 0
    found = cs.compare(frame["y"], {"A": frame["A"], "B": frame["B"]}, n_resamples=99, rng=3)
    text = " ".join(result.output.split())
    assert f"A − B {found.difference[0]:.4f} {found.low[0]:.4f} to {found.high[0]:.4f} {found.pvalue[0]:.3f}" in text
    assert "the measure is the same for both models in the population" in text
    clustered = compared(
        two_models, "--label", "y", "--prob", "A", "--prob", "B", "--cluster", "who", "--measure", "ks"
    )
    assert clustered.exit_code == 0
    swapped = compared(two_models, "--label", "y", "--prob", "A", "--prob", "B", "--method", "swap", "--measure", "mcb")
    assert "can be exchanged" in swapped.output


def test_compare_of_several_classes_matches_them_by_name(tmp_path):
    import pandas as pd

    y, p = cs.generators.dirichlet((1, 1, 1)).sample(300, rng=1)
    names = np.array(["cat", "dog", "hen"])
    columns = {f"A_{name}": p[:, k] for k, name in enumerate(names)}
    columns |= {f"B_{name}": p[:, k] for k, name in reversed(list(enumerate(names)))}  # the same, in another order
    path = tmp_path / "classes.csv"
    pd.DataFrame({"y": names[y], **columns}).to_csv(path, index=False)
    arguments = ["--label", "y", "--prob", "A_*", "--prob", "B_*", "--measure", "brier", "--lens", "canonical"]
    result = compared(path, *arguments)
    assert result.exit_code == 0
    text = " ".join(result.output.split())
    assert "A − B 0.0000 0.0000 to 0.0000 1.000" in text
    assert "Outcomes are names of classes." in text
    pd.DataFrame({"y": names[y], **columns}).rename(columns={"B_cat": "B_cow"}).to_csv(path, index=False)
    assert "expected the same classes for all models" in compared(path, *arguments).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prob", "A"], "for two models or more, found one"),
        (["--prob", "A", "--prob", "Z"], "no column 'Z'; the file has y, A, B, who"),
        (["--prob", "A", "--prob", "A"], "found 'A' twice"),
        (["--prob", "A", "--prob", "B", "--measure", "mcb"], "no honest comparison is known for mcb"),
        (["--prob", "A", "--prob", "B", "--measure", "x"], "expected a measure, one of ece"),
        (["--prob", "A", "--prob", "B", "--cluster", "z"], "no column 'z'"),
        (["--prob", "A", "--prob", "B", "--reference", "C"], "expected a reference, one of A, B"),
        (["--prob", "A", "--prob", "B", "--lens", "top_label"], "expected several columns of probabilities"),
        (["--prob", "A", "--prob", "who"], "found 2.0 in 'who' at row 4"),
    ],
)
def test_compare_says_what_is_wrong_in_one_line(two_models, arguments, said):
    result = compared(two_models, "--label", "y", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
