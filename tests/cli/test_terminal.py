"""What is printed: progress, and nothing that commands a terminal."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from command_line import run

import calibstat as cs
from calibstat.cli import terminal
from calibstat.cli.terminal import with_progress
from calibstat.output.visible_text import CONTROL

pytestmark = pytest.mark.usefixtures("quick_draws")


@pytest.mark.parametrize(
    ("folder", "names", "said"),
    [
        ("", ["a.csv"], "Written to a.csv."),
        ("out", ["a.csv"], f"Written to {Path('out', 'a.csv')}."),
        ("", ["a.csv", "b.png"], "Written to the current folder: a.csv, b.png."),
        ("out", ["a.csv", "b.png"], "Written to out: a.csv, b.png."),
    ],
)
def test_what_was_written_is_a_path_or_a_folder_with_names(folder, names, said):
    draft = Path("draft")
    assert terminal.written(Path(folder), [draft / name for name in names]) == said


def test_progress_answers_in_order():
    assert with_progress(["a", "b"], str.upper) == ["A", "B"]


def test_a_bar_is_shown_on_a_terminal_and_taken_away(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "GRACE", -1)
    monkeypatch.setenv("FORCE_COLOR", "1")  # so that a terminal is assumed
    assert with_progress(["first", "second"], str.upper) == ["FIRST", "SECOND"]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "second" in printed.err
    monkeypatch.setenv("FORCE_COLOR", "")
    assert with_progress(["third"], str.upper) == ["THIRD"]
    assert capsys.readouterr().err == ""


Y, P = cs.generators.temperature(1.5).sample(60, rng=1)
EVIL = "\x1b[31mEVIL\x1b[0m\x07\x9b1m\u202e"


def test_control_characters_are_printed_as_in_code(tmp_path):
    pd.DataFrame({"y": Y, EVIL: P, "q": P**2}).to_csv(tmp_path / "a.csv", index=False)
    found = run("compare", tmp_path / "a.csv", "--label", "y", "--prob", EVIL, "--prob", "q", "--n-resamples", "9")
    assert found.exit_code == 0, found.output
    wrong = run("test", tmp_path / f"{EVIL[:4]}.csv", "--label", "y", "--prob", "q")
    assert wrong.exit_code == 2
    for text in (found.output, wrong.stderr):
        assert not CONTROL.search(text)
        assert "\\x1b[31" in text
    three = pd.DataFrame(np.random.default_rng(1).dirichlet((1, 1, 1), 60), columns=[f"p_{EVIL}", "p_b", "p_c"])
    three.assign(y=[0, 1, 2] * 20).to_csv(tmp_path / "b.csv", index=False)
    for lens in ("class_wise", "one_class:b", f"one_class:{EVIL}"):
        found = run("test", tmp_path / "b.csv", "--label", "y", "--prob", "p_*", "--lens", lens, "--n-resamples", "9")
        assert found.exit_code == 0, found.output
        assert not CONTROL.search(found.output)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are text elsewhere")
def test_file_names_that_are_no_text(tmp_path):
    """They come as lone surrogates, which no terminal takes."""
    pd.DataFrame({"y": Y, "p": P}).to_csv(tmp_path / "bad\udcff.csv", index=False)
    out = tmp_path / "out\udcff.md"
    found = run("report", tmp_path / "bad\udcff.csv", "--label", "y", "--prob", "p", "--out", out)
    assert found.exit_code == 0, found.output
    assert "\\udcff" in found.output.replace("\n", "")


def test_markup_and_other_scripts_stay_as_they_are():
    for text in ("[red]x[/red]", "[/]", "жük 猫", "a\nb"):
        assert terminal.visible(text) == text


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError(28, "No space left on device", "a.csv"), "No space left on device: 'a.csv'"),
        (OSError("without a number"), "without a number"),
        (OverflowError("int too large"), "a number is too large: int too large"),
        (MemoryError("Unable to allocate"), "there is not enough memory: Unable to allocate"),
    ],
)
def test_errors_are_one_line(error, line, capsys):
    def fail():
        with terminal.one_line_errors():
            raise error

    with pytest.raises(typer.Exit):
        fail()
    assert capsys.readouterr().err == f"calibstat: {line}\n"


def test_an_interrupt_is_one_line_and_the_exit_code_of_the_signal(capsys):
    def interrupted():
        with terminal.one_line_errors(), terminal.one_line_errors():
            raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as left:
        interrupted()
    assert left.value.exit_code == 130
    assert capsys.readouterr().err == "Interrupted.\n"
