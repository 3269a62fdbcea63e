"""Folders that are written whole or not at all."""

import pytest

from calibstat.output import whole_folder


def test_files_of_an_earlier_report_are_replaced_and_others_kept(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "a.txt").write_text("earlier")
    (out / "mine.txt").write_text("mine")
    with whole_folder.whole_folder(out) as draft:
        (draft / "a.txt").write_text("now")
        (draft / "sub").mkdir()
        (draft / "sub" / "b.txt").write_text("b")
    assert {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()} == {
        "a.txt": "now",
        "mine.txt": "mine",
        "sub/b.txt": "b",
    }


def test_a_new_folder_has_the_usual_permissions(tmp_path):
    (tmp_path / "usual").mkdir()
    with whole_folder.whole_folder(tmp_path / "out") as draft:
        (draft / "a.txt").write_text("a")
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_folder_in_the_place_of_a_file_stops_all(tmp_path):
    out = tmp_path / "out"
    (out / "b.txt").mkdir(parents=True)

    def write():
        with whole_folder.whole_folder(out) as draft:
            (draft / "a.txt").write_text("a")
            (draft / "b.txt").write_text("b")

    with pytest.raises(ValueError, match=r"expected a file or nothing at .*b\.txt"):
        write()
    assert [path.name for path in out.iterdir()] == ["b.txt"]
