"""What six newcomers do, as scripts that a person could have written: each asserts what this person needs to be told.

A script is run as it is, and as the notebook made of its cells.
"""

import os
import subprocess
import sys
from pathlib import Path

import nbclient.exceptions
import notebooks
import pytest
from project_folder import PROJECT

STORIES = sorted(path for path in Path(__file__).parent.glob("*.py") if path != Path(__file__))
MOST_LINES = 60  # of a story
story = pytest.mark.parametrize("story", STORIES, ids=lambda path: path.stem)


def test_there_are_six():
    assert len(STORIES) == 6


@story
def test_it_fits_on_a_screen(story):
    assert story.read_text().count("\n") <= MOST_LINES


@story
def test_it_ends_well_as_a_script(story, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "MPLBACKEND": "agg"}
    command = [sys.executable, "-W", "error", story]
    found = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout + found.stderr


@story
def test_it_ends_well_as_a_notebook(story, monkeypatch, tmp_path):
    """No cell raises, and what a cell ends with is shown as a table or a picture."""
    settings, folder = tmp_path / "settings", tmp_path / "work"
    settings.mkdir()
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    assert bare(notebooks.executed(notebooks.of_script(story.read_text()), monkeypatch, settings, folder)) == []


def bare(notebook):
    """What cells end with and is shown as Python code, but for texts."""
    shown = [out.data for cell in notebook.cells for out in cell.get("outputs", []) if "data" in out]
    plain = [data["text/plain"] for data in shown if "text/html" not in data]
    return [text for text in plain if not text.startswith(("'", '"'))]


PLANTED = '"""Somebody."""\n\n# %% A cell\nfound = 1\n\n# %% Another\nassert found == {}\nfound\n'


def test_a_script_is_a_notebook_of_its_cells():
    cells = notebooks.of_script(PLANTED.format(1)).cells
    assert [cell.source for cell in cells] == [
        "Somebody.",
        "## A cell",
        "found = 1",
        "## Another",
        "assert found == 1\nfound",
    ]


def test_a_bare_number_is_found(monkeypatch, tmp_path):
    assert bare(notebooks.executed(notebooks.of_script(PLANTED.format(1)), monkeypatch, tmp_path, tmp_path)) == ["1"]


def test_a_story_that_ends_badly_is_found(monkeypatch, tmp_path):
    with pytest.raises(nbclient.exceptions.CellExecutionError, match="AssertionError"):
        notebooks.executed(notebooks.of_script(PLANTED.format(2)), monkeypatch, tmp_path, tmp_path)
