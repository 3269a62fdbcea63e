"""What is printed, word for word: twelve functions of a calibrated model, a wrong one and few rows; four commands."""

import pytest
from printed_answers import COMMANDS, FOLDER, cases, file_of, names, printed, shown

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
