"""Commands with hostile files and options end with an answer, or with one line that says what is wrong."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from command_line import run
from hostile_rows import binary_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CASES = 400  # of each command
NAMES = ["y", "p", "q", "w", "c", "", "p ", "0", "y.1", "p*", "[p]", "<b>", "ä", "a,b", '"', "'", "=1+1", "-x", "p\tq"]
CELLS = [
    "",
    " ",
    "nan",
    "NaN",
    "inf",
    "-1",
    "2",
    "1e400",
    "0,5",
    "0.5",
    "1",
    "0",
    "yes",
    "None",
    "\ufeff1",
    "0x1",
    "١",
    "1e-320",
]
VALUES = [
    "",
    "0",
    "1",
    "-1",
    "0.5",
    "2",
    "nan",
    "inf",
    "1e400",
    "ece",
    "ks",
    "ks ",
    "none",
    "top_label",
    "p",
    "y",
    "q",
    "*",
    "<b>",
    "ä",
]
WITHOUT_VALUE = {"--logits", "--verbose", "--shape"}
COMMANDS = {  # options beside the columns, some of which get a hostile value
    "audit": ["--by", "--depth", "--min-rows", "--quantiles", "--learner", "--split", "--shape", "--level", "--lens"],
    "compare": ["--measure", "--lens", "--method", "--reference", "--adjust", "--cluster", "--weight", "--level"],
    "decompose": ["--score", "--lens", "--weight", "--clip"],
    "equivalence": ["--margin", "--measure", "--n-bins", "--level", "--lens"],
    "interval": ["--measure", "--lens", "--method", "--cluster", "--folds", "--weight", "--level", "--clip"],
    "monitor": ["--when", "--segment", "--alpha", "--arl", "--each", "--lens"],
    "net-benefit": ["--threshold", "--lens", "--level", "--weight"],
    "recalibrate": ["--map", "--rng"],
    "risk-coverage": ["--max-error", "--decide-at", "--lens", "--level"],
    "sharpness": ["--lens", "--clip"],
    "test": ["--measure", "--lens", "--reduce", "--cluster", "--folds", "--weight", "--clip", "--positive"],
    "validate": ["--lens", "--level", "--cluster", "--weight", "--clip"],
}
DRAWN = {"audit", "compare", "equivalence", "interval", "test"}  # that take a number of resamples


@st.composite
def files(draw):
    """The text of a file: rows that may be good, with a hostile column, cell, header, end or separator."""
    y, p = draw(binary_rows())
    frame = pd.DataFrame(
        {"y": y, "p": p.astype(object), "q": np.sqrt(p), "w": 1.0, "c": np.arange(len(y)) // 2}, dtype=object
    )
    for _ in range(draw(st.integers(0, 2))):
        frame.iloc[draw(st.integers(0, len(y) - 1)), draw(st.integers(0, 4))] = draw(st.sampled_from(CELLS))
    if draw(st.booleans()):
        frame.columns = [
            draw(st.sampled_from(NAMES)) if draw(st.integers(0, 3)) == 0 else name for name in frame.columns
        ]
    text = frame.to_csv(index=False, sep=draw(st.sampled_from([",", ",", ",", ";", "\t"])))
    damage = draw(st.sampled_from(["", "", "", "cut", "blank", "binary", "header", "empty", "wide"]))
    if damage == "cut":
        return text[: draw(st.integers(0, len(text)))].encode()
    if damage == "blank":
        return text.replace("\n", "\n\n", 1).encode()
    if damage == "binary":
        return text.encode() + draw(st.binary(max_size=8))
    if damage == "header":
        return text.partition("\n")[0].encode()
    return b"" if damage == "empty" else (text + "1,2,3,4,5,6,7\n").encode() if damage == "wide" else text.encode()


@st.composite
def options(draw, command):
    """The options of a command."""
    given = ["--label", draw(st.sampled_from(["y", "y", "y", *NAMES]))]
    given += ["--prob", draw(st.sampled_from(["p", "p", "p,q", "p*", *NAMES]))]
    for option in COMMANDS[command]:
        if draw(st.integers(0, 3)) == 0 or (option in ("--by", "--when", "--margin") and draw(st.integers(0, 9))):
            column = {"--by": "c", "--when": "c", "--cluster": "c", "--weight": "w", "--margin": "0.2"}.get(
                option, "0.5"
            )
            given += [option] if option in WITHOUT_VALUE else [option, draw(st.sampled_from([column, column, *VALUES]))]
    if command in DRAWN:
        given += ["--n-resamples", "19"]
    return given + draw(st.sampled_from([[], ["--format", "json"]]))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@settings(max_examples=CASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_command_answers_or_says_in_one_line_why_not(command, tmp_path, monkeypatch, data):
    text, asked = data.draw(files()), data.draw(options(command))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_bytes(text)
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")  # a process prints them
        result = run(command, "rows.csv", *asked)
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert result.exit_code in (0, 1, 2, 3)
    if result.exit_code == 2:
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        assert result.stderr.count("\n") == 1 or "Usage:" in result.stderr, result.stderr
    elif "json" in asked:
        json.loads(result.stdout, parse_constant=pytest.fail)
