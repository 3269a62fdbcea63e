"""Where Numba is not installed, as in a browser, everything works, with the same answers."""

import json
import math
import subprocess
import sys

import pytest
from smoke_answers import CALLS, UNSEEDED, answers
from without_numba import printed_without_numba

FAST = (
    *("calibration_test", "choose", "classical", "decompose", "generalization_gap", "lenses"),
    *("measures", "pairs", "summarize", "tied weights", "validate"),
)


def check_alike(found, expected, where):
    """Raise unless all that was found is as expected, numbers up to rounding."""
    if isinstance(expected, dict | list):
        assert type(found) is type(expected), where
        assert len(found) == len(expected), where
        for key in expected if isinstance(expected, dict) else range(len(expected)):
            check_alike(found[key], expected[key], f"{where}, {key}")
    elif isinstance(expected, float):
        assert math.isclose(found, expected, rel_tol=1e-10, abs_tol=1e-12) or found is expected, where
    else:
        assert found == expected, where


def compare(names):
    """Ask in another process without Numba and here with it; NaN becomes a text in both."""
    texts = printed_without_numba("smoke_answers.py", *names), json.dumps(answers(names))
    found, expected = (json.loads(text, parse_constant=str) for text in texts)
    assert set(expected) == set(names)
    check_alike(found, expected, "answers")


def test_answers_are_the_same_without_numba():
    compare(FAST)


@pytest.mark.slow
def test_all_answers_are_the_same_without_numba():
    compare([name for name in CALLS if name not in UNSEEDED])


@pytest.mark.slow
def test_every_name_and_command_works_without_numba():
    assert "called: none failed" in printed_without_numba("smoke.py")


@pytest.mark.parametrize(
    "found", [{"p": [0.5, 0.25 + 1e-9]}, {"p": [0.5]}, {"p": [0.5, 0.25], "q": 1}, {"p": [0.5, 1]}]
)
def test_another_answer_is_found(found):
    check_alike({"p": [0.5, 0.25 + 1e-15]}, {"p": [0.5, 0.25]}, "answers")
    with pytest.raises(AssertionError):
        check_alike(found, {"p": [0.5, 0.25]}, "answers")


def test_a_library_that_numba_lacks_is_still_an_error():
    """Only without Numba itself are kernels Python: a broken one would make everything slow in silence."""
    code = "import sys; sys.modules['llvmlite'] = None; from calibstat.compiled import jit; jit(abs)(1)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "llvmlite" in found.stderr
    assert found.returncode == 1
