"""Several files as one place."""

from pathlib import Path

import pytest

from calibstat.cli.large.parts import need_other_file, parts_of
from calibstat.cli.large.several_files import SeveralFiles
from calibstat.cli.standard_input import place_of


@pytest.fixture(name="folder")
def folder_fixture(tmp_path):
    for name in ("a.csv", "b.csv", "c.csv"):
        (tmp_path / name).write_text("y,p\n")
    return tmp_path


def test_a_place_of_several_says_what_it_is_and_is_no_file(folder):
    place = place_of([folder / "b.csv", folder / "a.csv", folder / "c.csv"])
    assert isinstance(place, SeveralFiles)
    assert place.name == "a.csv and 2 more"
    assert not place.exists()
    assert parts_of(place) == [folder / "a.csv", folder / "b.csv", folder / "c.csv"]
    assert place_of([folder / "a.csv"]) == folder / "a.csv"


def test_folders_and_patterns_may_be_among_them(folder):
    inner = folder / "inner"
    inner.mkdir()
    (inner / "d.csv").write_text("y,p\n")
    parts = parts_of(SeveralFiles.of([folder / "[ab].csv", inner]))
    assert [part.name for part in parts] == ["a.csv", "b.csv", "d.csv"]
    with pytest.raises(ValueError, match=r"expected different files, found '.*a\.csv' twice"):
        parts_of(SeveralFiles.of([folder / "a.csv", folder / "[ab].csv"]))


def test_none_of_them_is_written_over(folder):
    place = SeveralFiles.of([folder / "a.csv", folder / "b.csv"])
    need_other_file(place, folder / "c.csv")
    with pytest.raises(ValueError, match="expected another file to write to"):
        need_other_file(place, folder / "b.csv")


def test_a_path_made_from_it_is_a_plain_one():
    assert SeveralFiles.of([Path("x/a.csv"), Path("x/b.csv")]).parent.places == ()
