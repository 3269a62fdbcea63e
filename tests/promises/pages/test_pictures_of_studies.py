"""The stored pictures of studies show the stored tables as they are, and not those of an earlier run."""

import shutil

import pytest
from redraw_pictures import FIGURES, RESULTS, outdated, study_of
from simulation_files import STORED


def test_every_picture_shows_the_table_of_its_study():
    """If not: ``python tests/helpers/redraw_pictures.py``, and look at what it wrote."""
    assert outdated() == {}


def test_every_picture_belongs_to_one_study():
    assert {study_of(picture) for picture in FIGURES.glob("*.png")} == set(STORED)
    assert study_of(FIGURES / "groups_power.png") == "groups"
    assert study_of(FIGURES / "grouping.png") == "grouping"


@pytest.fixture
def folders(tmp_path):
    """A few pictures, and tables of all studies."""
    figures = tmp_path / "figures"
    figures.mkdir()
    for name in ("size_both", "size_labels", "maps"):
        shutil.copy(FIGURES / f"{name}.png", figures)
    shutil.copytree(RESULTS, tmp_path / "results")
    return figures, tmp_path / "results"


def test_pictures_of_a_table_that_has_changed_are_found(folders):
    figures, results = folders
    assert outdated(figures, results) == {}
    table = results / "size.csv"
    first, *rows, last = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([first + "; rows: more", *rows, last, ""]), encoding="utf-8")
    assert outdated(figures, results) == {}  # only who made it has changed
    table.write_text("\n".join([first, *rows, ""]), encoding="utf-8")
    assert sorted(outdated(figures, results)) == ["size_both.png", "size_labels.png"]


def test_a_picture_of_another_study_or_without_a_name_is_found(folders):
    figures, results = folders
    shutil.copy(FIGURES / "peers.png", figures / "maps.png")
    assert list(outdated(figures, results)) == ["maps.png"]
