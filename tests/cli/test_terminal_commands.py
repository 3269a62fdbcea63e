"""Unknown commands: the name of a function, or of another package, is answered with the command, which answers."""

import pytest
from command_line import COLUMNS, csv_fixture, fails_with, plain_text, quick_draws_fixture, rows_fixture, run

from calibstat.cli.app import COMMANDS as KNOWN
from calibstat.data.words.names_elsewhere import COMMANDS, command_meant

FIXTURES = (csv_fixture, quick_draws_fixture, rows_fixture)
WRONG = {
    "calibration-test": "test",
    "calibration_test": "test",
    "is_calibrated": "test",
    "confidence-interval": "interval",
    "estimate": "interval",
    "ece": "interval --measure ece",
    "ECE": "interval --measure ece",
    "expected_calibration_error": "interval --measure ece",
    "brier_score_loss": "interval --measure brier",
    "equivalence-test": "equivalence",
    "summary": "summarize",
    "reliability": "report",
    "calibration_curve": "report",
    "plot": "report",
    "murphy": "decompose",
    "val.prob": "validate",
    "net_benefit": "net-benefit",
    "decision-curve": "net-benefit",
    "aurc": "risk-coverage",
    "sample_size": "sample-size",
    "calibrate": "recalibrate",
    "temperature-scaling": "recalibrate --map TemperatureScaling",
    "metrics": "measures",
}
MORE = {  # what a command needs beside a file
    "recalibrate": ["--out", "new.csv"],
    "summarize": ["--prob", "q"],
    "report": ["--out", "report.html"],
    "sample-size": ["--alternative", "shift=1"],
}


@pytest.mark.parametrize("wrong", WRONG)
def test_another_name_is_answered_with_the_command(wrong):
    fails_with(run(wrong, "rows.csv"), f"expected a command, found {wrong!r}; write calibstat {WRONG[wrong]}\n")


@pytest.mark.parametrize("written", dict.fromkeys(WRONG.values()))
@pytest.mark.usefixtures("quick_draws")
def test_the_command_has_an_answer(written, rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows.assign(q=rows["p"] ** 2).to_csv("rows.csv", index=False)
    command, *options = written.split()
    data = [] if command == "measures" else ["rows.csv", *(COLUMNS[2:] if command == "sample-size" else COLUMNS)]
    found = run(command, *data, *options, *MORE.get(command, ()))
    assert (found.exit_code, found.stderr.count("calibstat: ")) == (0, 0), plain_text(found.stderr)


def test_a_name_that_means_nothing_is_left_to_typer():
    assert command_meant("nothing like it", KNOWN) == ""
    found = run("repotr")
    assert found.exit_code == 2
    assert "No such command 'repotr'" in plain_text(found.stderr)


def test_every_command_of_the_table_is_there():
    assert {command.split()[0] for command in COMMANDS} <= set(KNOWN)
    assert {name for name in KNOWN if command_meant(name, KNOWN) != name} == set()


def test_a_command_that_is_not_there_is_found(monkeypatch):
    monkeypatch.setitem(COMMANDS, "tset", ("cs.calibration_tset(y, p)",))
    fails_with(run("calibration_tset"), "write calibstat tset\n")
    assert {command.split()[0] for command in COMMANDS} - set(KNOWN) == {"tset"}
