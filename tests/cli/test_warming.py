"""`calibstat warm`: afterwards all compiled code of the package is in the cache."""

import os
import subprocess
import sys

import pytest
from compiled_code import compiled_functions

from calibstat.cli import warming

# of studies alone, of some comparisons by drawing, and of files of millions of rows
NOT_ASKED = {  # simulated by one function alone, of weights, and of more than two million rows
    "monitoring.evidence._paths",
    "resampling.row_sums._add_weighted",
    "cli.large.rows_in_cells._add",
    "cli.large.rows_of_models._put",
}


def not_kept(folder):
    """Compiled functions that have no file in the cache."""
    kept = {path.name.partition("-")[0] for path in folder.rglob("*.nbi")}
    return sorted(
        name
        for name, function in compiled_functions().items()
        if f"{name.split('.')[-2]}.{function.py_func.__name__}" not in kept  # `mix` has the name `_mixed` of its source
    )


@pytest.mark.slow
def test_everything_is_kept_afterwards(tmp_path):
    code = "from calibstat.cli.warming import warm_up; list(warm_up())"
    subprocess.run([sys.executable, "-c", code], env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}, check=True)
    assert set(not_kept(tmp_path)) <= NOT_ASKED


def test_what_is_missing_is_named(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cell_sums._add_up-20.py311.nbi").touch()
    assert set(compiled_functions()) - set(not_kept(tmp_path)) == {"data.cell_sums._add_up"}


def test_questions():
    """Every measure and every function of outcomes and predictions is asked, under a name of its own."""
    names = [name for name, _ in warming.questions()]
    assert len(set(names)) == len(names)
    assert {"calibration_test of ks, clusters", "validate, rows", "TemperatureScaling of classes"} <= set(names)


def test_a_refusal_is_no_error(monkeypatch):
    asked = []

    def refuse():
        asked.append(1)
        raise ValueError("expected other rows")

    monkeypatch.setattr(warming, "questions", lambda: [("one", refuse), ("two", lambda: 1 / 0)])
    answered = warming.warm_up()
    assert next(answered) == "one"
    assert asked == [1]
    with pytest.raises(ZeroDivisionError):
        next(answered)
