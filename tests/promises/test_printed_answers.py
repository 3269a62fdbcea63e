"""What is printed, word for word: twelve functions of a calibrated model, a wrong one and few rows; four commands."""

import re
from textwrap import wrap

import pytest
from printed_answers import COMMANDS, FOLDER, cases, file_of, names, printed, shown

MOST_LINES, MOST_WORDS, WIDTH = 12, 25, 80
ROW = re.compile(r"  |.*\S {2,}\S|─+$|    ")  # of a table or a list, which has as many as there are things
END = re.compile(r"(?<=[.!?])\s|:\n")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize(("function", "case"), [name for name in names() if name[0] != "summarize"])
def test_what_a_function_prints(function, case):
    assert printed(function, case) == file_of(f"{function}, {case}").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", cases())
def test_what_summarize_prints(case):
    """By itself, because it takes longer than all others together."""
    assert printed("summarize", case) == file_of(f"summarize, {case}").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_what_a_command_prints(command, tmp_path):
    assert shown(command, tmp_path) == file_of(f"command {command}").read_text(encoding="utf-8")


def test_no_answer_is_left_over():
    expected = {file_of(f"{function}, {case}") for function, case in names()}
    expected |= {file_of(f"command {command}") for command in COMMANDS}
    assert set(FOLDER.glob("*.txt")) == expected
    assert len(expected) == 70


def test_another_model_prints_another_answer():
    assert printed("calibration_test", "off") != printed("calibration_test", "calibrated")
    assert cases()["few rows"][0].size == 24


def too_long(answer):
    """What is too long of an answer: its lines on a terminal of 80 columns without tables, its first sentence."""
    text = [line for line in answer.splitlines() if line.strip() and not ROW.match(line)]
    lines = sum(len(wrap(line, WIDTH)) for line in text)
    words = len(END.split(answer, maxsplit=1)[0].split())
    return [f"{lines} lines"] * (lines > MOST_LINES) + [f"{words} words"] * (words > MOST_WORDS)


def test_answers_are_as_long_as_a_person_needs():
    answers = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.txt")}
    assert len(answers) == 70
    assert {name: said for name, answer in answers.items() if (said := too_long(answer))} == {}


def test_long_answers_are_found():
    """The twin: a line too many, a line that takes 13, a first sentence of 26 words; a table may have any length."""
    line = "It is so.\n"
    assert too_long(line * 12) == []
    assert too_long(line * 13) == too_long("It is so. " * 102) == ["13 lines"]
    assert too_long("word " * 25 + "word. It is so.\n") == ["26 words"]
    assert too_long("word " * 24 + "word. It is so.\n") == []
    assert too_long(line + "  a: 1\nb    2\n" * 20) == []
    assert too_long("word " * 26 + ":\n  a: 1") == ["26 words"]
