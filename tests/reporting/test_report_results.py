"""The report as a result: saved whole or not at all."""

import pickle

import pytest


def test_it_survives_pickling(one):
    assert pickle.loads(pickle.dumps(one)).to_dict() == one.to_dict()


def test_a_file_is_written_whole(tmp_path, one):
    path = one.save(tmp_path / "new" / "report.json")
    assert path == tmp_path / "new" / "report.json"
    assert [each.name for each in path.parent.iterdir()] == ["report.json"]


@pytest.mark.parametrize("existed", [False, True])
def test_a_failure_leaves_nothing(existed, tmp_path, monkeypatch, one):
    out = tmp_path / "deep" / "report.csv"
    if existed:
        out.parent.mkdir()
        out.write_text("earlier")
    monkeypatch.setattr("os.replace", lambda *paths: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        one.save(out)
    if existed:
        assert [each.name for each in out.parent.iterdir()] == ["report.csv"]
        assert out.read_text() == "earlier"
    else:
        assert not out.parent.exists()


def test_a_folder_is_no_file(tmp_path, one):
    with pytest.raises(ValueError, match="expected a file to write to, found the folder"):
        one.save(tmp_path, format="csv")
    with pytest.raises(ValueError, match=r"expected a file that ends in \.html"):
        one.save(tmp_path / "report")
