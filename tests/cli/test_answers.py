"""What a command prints: the answer first, and a line on the data; cautions and the rest with --verbose."""

import inspect
import json
import textwrap

import pytest
import typer
from command_line import COLUMNS, FAST, plain_text
from typer.testing import CliRunner

import calibstat as cs
from calibstat.cli.answers import Answer, as_json, prints_answer, show
from calibstat.cli.app import COMMANDS, app
from calibstat.cli.printed_tables import table
from calibstat.output import wording as words
from calibstat.output.wording import Brief

WIDTH = 80
ANSWER = Answer(
    ["The answer."], Brief("Short data.", ("Long data.",)), Brief("Short caution.", ("Long", "caution.")), ["Details."]
)


def said(capsys, answer, verbose):
    show(answer, verbose)
    return plain_text(capsys.readouterr().out)


def test_order_and_length(capsys):
    assert said(capsys, ANSWER, False) == "The answer. Short data."
    assert said(capsys, ANSWER, True) == "The answer. Short caution. Details. Long data. Long caution."
    brief = Answer(["One."], None, Brief("Short caution."))
    assert (said(capsys, brief, False), said(capsys, brief, True)) == ("One.", "One. Short caution.")
    assert said(capsys, Answer(["One."], Brief("Data."), None), True) == "One. Data."
    assert said(capsys, Answer(), False) == ""


def test_a_function_is_called_only_where_its_result_is_shown(capsys):
    called = []
    answer = Answer(
        ["One."],
        details=[lambda: called.append("details") or "Two."],
        results={"a": lambda: called.append("a") or {"b": 1}},
    )
    assert (said(capsys, answer.with_what_is_shown(False, None), False), called) == ("One.", [])
    assert (said(capsys, answer.with_what_is_shown(True, None), True), called) == ("One. Two.", ["details"])
    assert json.loads(as_json(answer.with_what_is_shown(False, "json"))) == {"answer": "One.", "a.b": 1}
    assert called == ["details", "a"]


@pytest.mark.parametrize("asked", [["--verbose"], ["--format", "json"]])
def test_an_error_of_such_a_function_is_one_line_too(asked):
    def wrong():
        raise ValueError("expected more rows")

    command = _single(Answer(["One."], details=[wrong], results={"a": wrong}))
    found = CliRunner().invoke(command, asked)
    assert (found.exit_code, found.stdout, found.stderr) == (2, "", "calibstat: expected more rows\n")
    assert CliRunner().invoke(command, []).exit_code == 0


def test_two_briefs_are_joined():
    joined = Brief("A.", ("a", "b")) + Brief("B.")
    assert (joined.short, joined.at_length) == ("A. B.", ("a", "b", "B."))


def test_conditions_that_are_met_end_with_code_1(capsys):
    with pytest.raises(typer.Exit) as left:
        show(Answer(["One."], failed=["ece is 1"]), False)
    assert left.value.exit_code == 1
    printed = capsys.readouterr()
    assert printed.out == "One.\n\n"
    assert printed.err == "calibstat: failed, because ece is 1\n"


def test_conditions_that_the_rows_leave_open_end_with_code_3_unless_another_failed(capsys):
    for failed, code in (((), 3), (("ece is 1",), 1)):
        with pytest.raises(typer.Exit) as left:
            show(Answer(["One."], failed=failed, unclear=["ks is 1"]), False)
        assert left.value.exit_code == code
        assert "calibstat: not shown, because ks is 1\n" in capsys.readouterr().err


def test_verbose_is_an_option_of_every_question():
    single = _single(ANSWER)
    assert "Details." not in CliRunner().invoke(single, []).stdout
    assert "Details." in CliRunner().invoke(single, ["--verbose"]).stdout
    for name in COMMANDS:
        shown = plain_text(CliRunner().invoke(app, [name, "--help"], terminal_width=WIDTH).stdout)
        assert "--verbose" in shown, name
        assert "--format" in shown, name


def test_json_is_the_sentences_and_all_fields_but_empty_and_internal_ones(capsys):
    result = cs.calibration_test([0, 1, 1], [0.2, 0.7, 0.9], n_resamples=9, rng=1)
    one = {"results": {"omnibus": result}, "failed": ["ece is 1"], "next_step": "Next."}
    given = Answer(["One.", table("A"), "Two."], Brief("Data."), **one)
    found = CliRunner().invoke(_single(given), ["--format", "json"])
    assert found.exit_code == 1
    said = {"answer": "One. Two.", "next_step": "Next.", "data": "Data."}
    fields = {f"omnibus.{name}": each for name, each in result.to_dict().items() if each not in (None, "", [])}
    del fields["omnibus.null_distribution"]
    assert json.loads(found.stdout) == said | fields
    assert "NaN" not in as_json(Answer(results={"a": {"b": float("nan")}}))
    wrong = CliRunner().invoke(_single(ANSWER), ["--format", "xml"])
    assert (wrong.exit_code, wrong.stdout) == (2, "")
    assert "expected --format json, or none for sentences and tables, found xml" in wrong.stderr


def _single(answer):
    single = typer.Typer()
    single.command()(prints_answer(lambda: answer))
    return single


def test_the_seed_is_said_in_text_and_json(csv):
    asked = ["test", str(csv), *COLUMNS, *map(str, FAST)]
    for options, seed in (([], 0), (["--rng", "7"], 7)):
        for verbose in ([], ["--verbose"]):
            assert f" Seed {seed}." in plain_text(CliRunner().invoke(app, [*asked, *options, *verbose]).stdout)
        assert json.loads(CliRunner().invoke(app, [*asked, *options, "--format", "json"]).stdout)["seed"] == seed
    without = ["decompose", str(csv), *COLUMNS]
    assert "Seed" not in CliRunner().invoke(app, without).stdout
    assert "seed" not in json.loads(CliRunner().invoke(app, [*without, "--format", "json"]).stdout)


def test_the_seed_of_every_command_is_0_unless_given():
    drawing = [name for name, command in COMMANDS.items() if "rng" in inspect.signature(command).parameters]
    assert {"test", "interval", "compare", "report", "audit", "demo", "power"} <= set(drawing)
    for name in drawing:
        assert inspect.signature(COMMANDS[name]).parameters["rng"].default == 0, name


STEPS = {  # options beside a file, a label and predictions
    "test": FAST,
    "interval": FAST,
    "equivalence": [],
    "compare": ["--prob", "q", "--measure", "brier"],
    "summarize": ["--measures", "ece"],
    "skill": ["--reference", "0.3"],
    "decompose": [],
    "sharpness": [],
    "validate": [],
    "net-benefit": [],
    "risk-coverage": [],
    "audit": ["--by", "name", *FAST],
    "monitor": ["--when", "day"],
    "recalibrate": ["--out", "new.csv"],
    "report": [],
}


@pytest.mark.parametrize("command", [*STEPS, "power", "sample-size", "measures", "generators", "demo"])
def test_json_has_the_answer_and_the_next_step_and_nothing_empty(command, rows, tmp_path, monkeypatch, quick_draws):
    monkeypatch.chdir(tmp_path)
    rows.assign(q=rows["p"] ** 3, name=["a", "b"] * 200, day=[1, 2] * 200).to_csv("rows.csv", index=False)
    given = ["rows.csv", *COLUMNS, *STEPS.get(command, [])]
    if command in ("power", "sample-size"):
        given = ["rows.csv", "--prob", "p", "--alternative", "shift=0.5"]
    given = given if command in STEPS or command in ("power", "sample-size") else []
    found = CliRunner().invoke(app, [command, *map(str, given), "--format", "json"])
    assert found.exit_code == 0, found.output
    values = json.loads(found.stdout)
    for said in ("answer", "next_step"):
        assert values[said].endswith((".", ")"))
    assert [name for name, each in values.items() if each in (None, "", []) or each == {}] == []
    assert [name for name in values if name.endswith("null_distribution") or "deviation.rows" in name] == []


JOINED = {
    f"{first} + {second}": getattr(words, first) + getattr(words, second)
    for first in ("NO_PROOF", "ABOUT_SCORES")
    for second in ("ROWS", "CLUSTERS")
}
CAUTIONS = {name: value for name, value in vars(words).items() if isinstance(value, Brief)} | JOINED


@pytest.mark.parametrize("name", CAUTIONS)
def test_no_caution_takes_more_than_two_lines(name):
    assert len(textwrap.wrap(CAUTIONS[name].short, WIDTH)) <= 2


BOTH = ["--prob", "q"]


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["test", *FAST], "Not calibrated (p = "),
        (["test", "--measure", "ks", *FAST], "There is weak evidence of miscalibration (p = "),
        (["test", "--cluster", "who", *FAST], "There is evidence of miscalibration (p = "),
        (["interval", *FAST], "Expected calibration error: 0."),
        (["equivalence"], "Not shown: "),
        (["compare", *BOTH, "--measure", "ece", *FAST], "p has a smaller ece than q (p = 0.0"),
        (["audit", "--by", "name", *FAST], "None of 3 groups is shown to deviate from "),
        (["monitor", "--when", "day"], "Alarm in period 2 of 2."),
        (["decompose", *BOTH], "p has the smallest miscalibration: "),
        (["sharpness"], "Calibration error 0."),
        (["validate", *BOTH], "p: O/E "),
        (["net-benefit", "--threshold", 0.2], "Acting by the model is "),
        (["risk-coverage", "--max-error", 0.05], "No confidence is shown from which on at most 5 % "),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_a_command_answers_first_and_is_brief(arguments, answer, rows, tmp_path):
    frame = rows.assign(q=rows["p"] ** 3, name=["a", "b"] * 200, day=[1, 2] * 200, who=[*range(100)] * 4)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    command, *options = arguments
    given = [command, str(tmp_path / "rows.csv"), *COLUMNS, *map(str, options)]
    brief, long = (
        CliRunner().invoke(app, [*given, *more], env={"COLUMNS": str(WIDTH)}).stdout for more in ([], ["--verbose"])
    )
    assert brief.startswith(answer)
    assert long.startswith(answer)
    data = brief.rstrip("\n").split("\n\n")[-1]
    assert "400 rows" in data
    assert data.count("\n") <= ("--cluster" in options)  # two sentences
    assert "Null hypothesis" not in brief
    said = [each.short for each in CAUTIONS.values() if plain_text(each.short) in plain_text(long)]
    assert said
    assert not any(plain_text(each) in plain_text(brief) for each in said)
    assert len(long) > len(brief)
    found = json.loads(CliRunner().invoke(app, [*given, "--format", "json"]).stdout)
    assert found["answer"].startswith(answer)
    assert "400 rows" in found["data"]
    assert len(found) > 5  # fields of results
