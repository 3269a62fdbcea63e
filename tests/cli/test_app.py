"""The commands: what they print is what the functions find, and one line says what is wrong."""

import importlib.util
import json
import re
import runpy
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, FAST, PATTERN, fails_with, plain_text, run
from lucky_rows import lucky_rows
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli.app import app
from calibstat.output import wording


def test_version():
    assert run("--version").stdout == f"calibstat {cs.__version__}\n"


def test_the_package_runs_as_a_module(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["calibstat", "--version"])
    with pytest.raises(SystemExit) as left:
        runpy.run_path(importlib.util.find_spec("calibstat.__main__").origin, run_name="__main__")
    assert left.value.code == 0
    assert capsys.readouterr().out == f"calibstat {cs.__version__}\n"


def test_help_names_every_command():
    text = run("--help").stdout
    assert all(name in text for name in ("demo", "measures", "generators", "test", "interval", "equivalence", "report"))
    narrow = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "80"}).stdout
    lines = narrow.partition("Commands")[2].partition("Begin with")[0].splitlines()[1:]
    assert sum(line.startswith("│") for line in lines) == len(app.registered_commands)  # one line each


def test_test_says_what_the_function_says(rows, csv):
    result = run("test", csv, *COLUMNS, "--measure", "ks", "--n-resamples", 199, "--rng", 5)
    assert result.exit_code == 0
    p = cs.calibration_test(rows["y"], rows["p"], measure="ks", n_resamples=199, rng=5).pvalue
    text = plain_text(result.stdout)
    assert f"p = {wording.p_text(p)}" in text
    assert "400 rows" in text
    assert "held out" not in text
    long = plain_text(run("test", csv, *COLUMNS, "--measure", "ks", "--n-resamples", 199, "--rng", 5, "-v").stdout)
    assert "A large p is not evidence of calibration" in long
    assert "Rows must be held out and independent." in long


def test_stopping_is_said(rows, csv):
    """A stopped test says after how many draws, and nothing about quantiles for which it drew too little."""
    y, p = cs.generators.calibrated().sample(300, rng=3)
    pd.DataFrame({"y": y.astype(int), "p": p}).to_csv(csv, index=False)
    found = cs.calibration_test(y, p, measure="ks", stop_after=20, rng=0)
    assert found.stopped
    by_ks = [*COLUMNS, "--measure", "ks", "--stop-after", 20]
    text = plain_text(run("test", csv, *by_ks).stdout)
    assert f"weak evidence of miscalibration (p = {wording.p_text(found.pvalue)}" in text
    assert f"give or take {found.pvalue_error:.2g}, {found.why_stopped})" in text
    assert "too few resamples were drawn to say" in plain_text(run("test", csv, *by_ks, "--measure", "ece").stdout)
    assert "19 times in 20 below" not in text
    rows.assign(p=rows["p"] ** 4).to_csv(csv, index=False)
    capped = plain_text(run("test", csv, *by_ks).stdout)
    assert "19 times in 20 below" in capped
    assert "too few" not in capped
    fails_with(run("test", csv, *COLUMNS, "--stop-after", 0), "expected --stop-after to be a whole number from 1")


def test_a_margin_is_what_is_called_small(rows, csv):
    said = plain_text(run("test", csv, *COLUMNS, "--margin", 0.9).stdout)
    found = cs.calibration_test(rows["y"], rows["p"], margin=0.9, rng=0)
    assert found.size.is_small
    assert found.answer.splitlines()[0] in said
    assert "the error is small" in said
    assert "the error is small" not in plain_text(run("test", csv, *COLUMNS).stdout)
    fails_with(run("test", csv, *COLUMNS, "--margin", 0), "expected --margin between 0 and 1, found 0")
    fails_with(run("test", csv, *COLUMNS, "--measure", "ks", "--margin", 0.1), "expected no --margin beside --measure")


def test_the_answer_comes_first_then_what_drove_it(csv, rows):
    """Without a measure: the words of the result; at length what these rows could have shown; no value without unit."""
    text = plain_text(run("test", csv, *COLUMNS, "--rng", 5, "--verbose").stdout)
    found = cs.calibration_test(rows["y"], rows["p"], rng=5)
    assert found.deviation is not None
    effect = str(cs.detectable_effect(rows["y"], rows["p"], rng=0))
    parts = [
        plain_text(found.answer),
        plain_text(effect),
        plain_text(found.details),
        "The predictions average",
        "A large p-value",
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert "19 times in 20" not in text
    both = plain_text(run("test", csv, *COLUMNS, *FAST, "--measure", "omnibus", "--measure", "ks").stdout)
    assert "19 times in 20 below" in both
    assert "Kolmogorov" in both
    assert "2 tests of the same null hypothesis" in both
    brief = plain_text(run("test", csv, *COLUMNS, "--rng", 5).stdout)
    assert brief.startswith(plain_text(found.answer))
    assert "Null hypothesis" not in brief
    assert effect not in brief


def test_what_a_test_could_have_found_is_computed_only_where_it_is_shown(csv, rows, monkeypatch):
    asked = []
    power = "calibstat.inference.power.detectable_effect"
    monkeypatch.setattr(f"{power}.detectable_effect", lambda *rows, **given: asked.append(1) or "Two.")
    rows.assign(p=rows["p"] ** 4).to_csv(csv, index=False)
    assert "Not calibrated (p = " in run("test", csv, *COLUMNS, *FAST).stdout
    assert asked == []
    assert "Two." in run("test", csv, *COLUMNS, *FAST, "--verbose").stdout
    assert json.loads(run("test", csv, *COLUMNS, *FAST, "--format", "json").stdout)["detectable_effect"] == "Two."
    rows.assign(p=0.5, y=[0, 1] * (len(rows) // 2)).to_csv(csv, index=False)
    assert "Two." in run("test", csv, *COLUMNS, *FAST).stdout  # where nothing was found it belongs to the answer
    assert asked == [1, 1, 1]


@pytest.mark.parametrize("lens", ["top_label", "canonical", "one_class:dog"])
def test_every_lens_says_what_the_function_says(zoo, predictions, lens):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", lens, "--verbose").stdout)
    seen = cs.lenses.one_class(1) if ":" in lens else lens
    found = cs.calibration_test(predictions, lens=seen, n_resamples=99, rng=0)
    assert plain_text(found.answer).replace("class 1", "class dog") in text  # predictions of this test have no names
    assert str(cs.detectable_effect(predictions, lens=seen, rng=0)).split(" (ECE")[0] in text


@pytest.mark.usefixtures("quick_draws")
def test_each_class_says_what_the_function_says(zoo, predictions):
    text = plain_text(run("test", zoo, *PATTERN, *FAST, "--lens", "class_wise").stdout)
    found = cs.calibration_test(predictions, lens="class_wise", n_resamples=99, rng=0)
    assert found.answer in text
    assert f"p = {wording.p_text(found.pvalue)}" in text or f"p = {found.pvalue:.3g}" in text
    size = cs.estimate(predictions, measure="ece", lens="class_wise")
    each = found.classes
    for k, name in enumerate(each.names):
        holm = wording.p_text(each.pvalue_holm[k])
        assert f"{name} {np.sum(predictions.label == k)} {predictions.prob[:, k].sum():.1f}" in text
        assert f"{wording.number(size[k])} {wording.p_text(each.pvalue[k])} {holm}" in text


@pytest.mark.usefixtures("quick_draws")
def test_stopping_of_classes(zoo, predictions):
    found = cs.calibration_test(predictions, lens="class_wise", stop_after=5, rng=0)
    text = plain_text(run("test", zoo, *PATTERN, "--lens", "class_wise", "--stop-after", 5).stdout)
    for p in (*found.classes.pvalue, found.pvalue):
        assert wording.p_text(p) in text


@pytest.mark.usefixtures("quick_draws")
def test_same_seed_same_words_by_default(csv):
    assert run("test", csv, *COLUMNS).stdout == run("test", csv, *COLUMNS).stdout


def test_several_measures_are_taken_together(csv):
    text = plain_text(run("test", csv, *COLUMNS, "--measure", "ks", "--measure", "ece").stdout)
    assert text.startswith(("There is evidence of miscalibration (", "Not calibrated ("))
    assert "the smallest p-value of 2 tests of the same null hypothesis" in text
    assert "times 2, Bonferroni" in text


def test_interval_says_what_the_function_says(rows, csv):
    text = plain_text(run("interval", csv, *COLUMNS, "--level", 0.9, "--rng", 5).stdout)
    found = cs.confidence_interval(rows["y"], rows["p"], confidence_level=0.9, rng=5)
    assert f"between {wording.number(found.low)} and {wording.number(found.high)}" in text
    assert "90 %" in text
    several = plain_text(run("interval", csv, *COLUMNS, "--measure", "ece", "--measure", "ks", "--rng", 5).stdout)
    found = cs.confidence_interval(rows["y"], rows["p"], rng=5)
    assert f"{wording.number(found.low)} to {wording.number(found.high)} honest" in several
    assert "honest method" in text


def test_intervals_of_clusters(rows, csv, tmp_path):
    who = np.arange(400) // 4
    rows.assign(who=who).to_csv(tmp_path / "who.csv", index=False)
    text = plain_text(run("interval", tmp_path / "who.csv", *COLUMNS, "--cluster", "who", "--rng", 5, "-v").stdout)
    found = cs.confidence_interval(rows["y"], rows["p"], cluster=who, rng=5)
    assert f"at most {wording.number(found.high)}, and may be 0, with" in text
    assert "clusters independent" in text
    fails_with(run("interval", csv, *COLUMNS, "--cluster", "who"), "no column 'who'")


@pytest.fixture(name="lucky")
def lucky_fixture(tmp_path):
    path = tmp_path / "lucky.csv"
    y, p = lucky_rows()
    pd.DataFrame({"y": y, "p": p}).to_csv(path, index=False)
    return path


def test_why_an_interval_ends_where_it_does_and_an_estimate_lies_outside(lucky):
    text = plain_text(run("interval", lucky, *COLUMNS, *FAST).stdout)
    found = cs.confidence_interval(*lucky_rows(), n_resamples=99, rng=0)
    shown = f"A calibrated model would show {wording.number(found.high)} on these rows"
    assert f"(honest method). {shown}; the interval does not end below that." in text
    several = run("interval", lucky, *COLUMNS, *FAST, "--measure", "ks", "--measure", "ece_debiased").stdout
    assert "The estimate lies below the interval because its bias is subtracted" in plain_text(several)
    assert "A calibrated model" not in plain_text(several)
    by_ece = run("equivalence", lucky, *COLUMNS, *FAST, "--measure", "ece", "--margin", 0.01).stdout
    assert "A calibrated model would show 0.0" in plain_text(by_ece)


def test_equivalence_says_what_the_function_says(rows, csv):
    text = plain_text(run("equivalence", csv, *COLUMNS, "--margin", 0.2, "--level", 0.9, "--n-bins", 4, "-v").stdout)
    found = cs.equivalence_test(rows["y"], rows["p"], margin=0.2, confidence_level=0.9, n_bins=4)
    assert text.startswith(found.answer)
    assert plain_text(found.details) in text
    assert "Rows must be independent" in text
    by_ks = plain_text(run("equivalence", csv, *COLUMNS, *FAST, "--measure", "ks", "--margin", 0.3, "--rng", 5).stdout)
    found = cs.equivalence_test(rows["y"], rows["p"], measure="ks", margin=0.3, n_resamples=99, rng=5)
    assert by_ks.startswith(found.answer)
    assert "Predictions Rows" in text
    assert "Predictions Rows" not in by_ks


def test_interval_by_another_method(csv):
    assert "percentile method" in plain_text(run("interval", csv, *COLUMNS, "--method", "percentile").stdout)


@pytest.mark.usefixtures("quick_draws")
def test_parquet_and_csv_agree(rows, csv, tmp_path):
    rows.to_parquet(tmp_path / "rows.parquet")
    assert run("test", csv, *COLUMNS).stdout == run("test", tmp_path / "rows.parquet", *COLUMNS).stdout


def test_unknown_measure(csv):
    fails_with(run("test", csv, *COLUMNS, "--measure", "eec"), "'eec'", "ece, ", "did you mean 'ece'?")
    fails_with(
        run("test", csv, *COLUMNS, "--measure", "ecce"), "expected a measure, found 'ecce'; 'ecce' is cs.estimate"
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("test", "--n-resamples", 0),
        ("test", "--rng", -1),
        ("interval", "--level", 1.5),
        ("interval", "--method", "exact"),
        ("interval", "--measure", "regression_ce"),
        ("equivalence", "--measure", "brier"),
        ("equivalence", "--margin", 0),
        ("equivalence", "--lens", "top_label"),
    ],
)
def test_bad_arguments(csv, arguments):
    command, *options = arguments
    fails_with(run(command, csv, *COLUMNS, *options), "calibstat")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--by", "ks"), "expected --measure ks, found --by ks, which is gone"),
        (("--level", 0.05), "expected --level above 1/2, found 0.05"),
    ],
)
def test_options_of_before_are_answered_by_those_of_now(csv, options, message):
    fails_with(run("equivalence", csv, *COLUMNS, *options), message)


def test_missing_option_is_a_usage_error(csv):
    assert run("test", csv, "--label", "y").exit_code == 2


def test_several_columns_say_what_the_function_says(zoo, predictions):
    result = run("test", zoo, *PATTERN, *FAST, "--verbose")
    assert result.exit_code == 0, result.output
    text = plain_text(result.stdout)
    found = cs.calibration_test(predictions, n_resamples=99, rng=0)
    p = found.pvalue
    assert f"(p = {p:.3g})" in text
    assert "120 rows, 3 classes (cat, dog, hen), 1 of which is never observed." in text
    assert f"in {wording.percent((predictions.top == predictions.label).mean())} of the rows (accuracy)" in text
    assert f"averages {predictions.largest.mean():.3f}" in text
    assert plain_text(found.details) in text
    assert "Null hypothesis: given the probability of the most likely class" in text


@pytest.mark.usefixtures("quick_draws")
def test_two_columns_are_outcome_one_of_two(rows, tmp_path):
    pair = pd.DataFrame({"y": rows["y"], "p_0": 1 - rows["p"], "p_1": rows["p"]})
    pair.to_csv(tmp_path / "pair.csv", index=False)
    text = plain_text(run("test", tmp_path / "pair.csv", *PATTERN, "--rng", 5, "--verbose").stdout)
    assert f"p = {wording.p_text(cs.calibration_test(rows['y'], rows['p'], rng=5).pvalue)}" in text
    assert "class 1 is observed with this probability" in text


def test_class_wise_as_one_number(zoo, predictions):
    by_max = ["--lens", "class_wise_max", "--measure", "ece"]
    text = plain_text(run("test", zoo, *PATTERN, *FAST, *by_max, "--verbose").stdout)
    found = cs.calibration_test(predictions, measure="ece", lens="class_wise_max", n_resamples=99, rng=0)
    assert f"Expected calibration error: {wording.number(found.statistic)}" in text
    assert f"p = {wording.p_text(found.pvalue)}" in text
    assert "max over 3 classes" in text
    assert "p (Holm)" not in text


def test_interval_of_classes_is_of_their_mean(zoo, predictions):
    text = plain_text(run("interval", zoo, *PATTERN, *FAST, "--lens", "class_wise", "--verbose").stdout)
    found = cs.confidence_interval(predictions, lens="class_wise_mean", n_resamples=99, rng=0)
    assert found.low == 0
    assert f"at most {wording.number(found.high)}, and may be 0" in text
    assert "mean over 3 classes" in text
    largest = run("interval", zoo, *PATTERN, *FAST, "--lens", "class_wise_max", "--verbose").stdout
    assert "max over 3 classes" in plain_text(largest)


@pytest.mark.parametrize("lens", ["canonical", "groups:cat+hen,dog", "top_k:2", None])
def test_measures_of_canonical_predictions(zoo, lens):
    options = ["--lens", lens] if lens else []
    result = run("test", zoo, *PATTERN, *FAST, *options, "--measure", "canonical_ce", "--measure", "gce", "--verbose")
    assert result.exit_code == 0, result.output
    assert f"(lens {lens or 'canonical'})" in plain_text(result.stdout)


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
    result = compared(two_models, "--label", "y", "--prob", "A", "--prob", "B", "--rng", 3, "--verbose")
    assert result.exit_code == 0
    found = cs.compare(frame["y"], {"A": frame["A"], "B": frame["B"]}, n_resamples=99, rng=3)
    text = " ".join(result.output.split())
    assert f"A − B {found.difference[0]:.4f} {found.low[0]:.4f} to {found.high[0]:.4f} {found.pvalue[0]:.3f}" in text
    assert "the measure is the same for both models in the population" in text
    clustered = compared(
        two_models, "--label", "y", "--prob", "A", "--prob", "B", "--cluster", "who", "--measure", "ks"
    )
    assert clustered.exit_code == 0
    swapped = compared(
        two_models, "--label", "y", "--prob", "A", "--prob", "B", "--method", "swap", "--measure", "mcb", "-v"
    )
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
    assert re.search(r"A − B 0.0000 -(0.0\d+) to \1 1.000", text)  # rows that were not observed may differ
    assert "Outcomes are names of classes." in text
    pd.DataFrame({"y": names[y], **columns}).rename(columns={"B_cat": "B_cow"}).to_csv(path, index=False)
    assert "expected the same classes for all models" in compared(path, *arguments).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--prob", "A"], "for two models or more, found one"),
        (["--prob", "A", "--prob", "Z"], "no column 'Z'; the file has 'y', 'A', 'B', 'who'"),
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
