"""The studies that are installed: they are listed, found by name from any folder, and need no other package."""

import sys
from pathlib import Path

import pytest
from command_line import plain_text, run

import calibstat as cs
from calibstat.study import load_study
from calibstat.study.study_file import installed_names

NINE = [
    "bias",
    "checkpoints",
    "consistency",
    "distances",
    "error_choices",
    "mixture",
    "ranking",
    "six_points",
    "tables",
]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """An empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_they_are_listed_with_question_and_time(empty, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    text = plain_text(run("study").stdout)
    assert installed_names() == NINE
    for name in NINE:
        study = load_study(name)
        assert f"{name} {study.question} simulated" in text
        assert study.runtime_hours
    assert "3 min" in text  # bias: .05 hours
    assert "--quick" in text
    assert list(empty.iterdir()) == []


@pytest.mark.parametrize("options", [["--quick"], ["--data", "a.npz"], ["--set", "splits=2"], ["--n-jobs", 2]])
def test_what_belongs_to_a_run_needs_a_study(options):
    found = run("study", *options)
    assert found.exit_code == 2
    assert f"expected the name or the file of a study beside {options[0]}, found none" in found.stderr


def test_they_are_found_by_name_from_any_folder(empty):
    for name in NINE:
        study = load_study(name)
        assert study.file == Path(cs.__file__).parent / "papers" / f"{name}.py"
        assert (study.name, study.called, study.home) == (name, name, Path())


def test_a_name_is_no_path(empty):
    """A folder of the same name does not hide an installed study, and a file of its own is run by its path."""
    Path("ranking").mkdir()
    Path("ranking.py").write_text("from calibstat.study import Study\nstudy = Study(question='Own?', seed=1)\n")
    assert load_study("ranking").question == "Do measures put models in the same order, and in the right order?"
    own = load_study("ranking.py")
    assert (own.question, own.home, own.called) == ("Own?", Path(), f"{empty.name}/ranking.py")


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("papers/tables.py", "; did you mean 'tables'?"),
        ("simulations/mixture.py", "; did you mean 'mixture'?"),
        ("rankin", "; did you mean 'ranking'?"),
        ("six-points", "; did you mean 'six_points'?"),
        ("simulations/size.py", "."),
        ("tables.csv", "; did you mean 'tables'?"),
        ("papers", "."),
    ],
)
def test_what_is_not_there_is_refused_with_the_names(asked, meant, empty):
    found = run("study", asked)
    assert found.exit_code == 2
    assert f"expected a study file, or an installed study, one of {', '.join(NINE)}; found no file at" in found.stderr
    assert f"found no file at {asked}{meant} Other studies of calibstat are with its sources" in found.stderr


def test_a_file_that_is_another_kind_is_still_told(empty):
    Path("tables.csv").write_text("y,p\n")
    assert (
        "expected a study file named NAME.py, without other dots, found tables.csv" in run("study", "tables.csv").stderr
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NINE)
def test_they_run_in_an_empty_folder_without_seaborn(name, empty, monkeypatch):
    monkeypatch.setitem(sys.modules, "seaborn", None)
    found = run("study", name, "--quick")
    assert found.exit_code == 0, found.stderr
    assert "Written to the current folder: results/" in plain_text(found.stdout)
    assert (
        (empty / "results" / f"{name}-quick.csv").read_text().startswith(f"# command: calibstat study {name} --quick;")
    )
    assert list((empty / "figures").glob(f"{name}-quick*.png"))
