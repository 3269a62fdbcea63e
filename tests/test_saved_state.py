"""Saved state: written whole, read back as it was, and anything else refused."""

import json

import pytest

from calibstat.monitoring.saved_state import VERSION, read_state, write_state


def test_a_state_is_read_back(tmp_path):
    state = {"alpha": 0.1, "periods": [["a", {"": [1, 2]}], [3, {"": [4]}]]}
    write_state(tmp_path / "new" / "s.json", "monitor", state)
    assert read_state(tmp_path / "new" / "s.json", "monitor") == state | {"kind": "monitor", "version": VERSION}
    write_state(tmp_path / "new" / "s.json", "monitor", {"periods": []})
    assert read_state(tmp_path / "new" / "s.json", "monitor")["periods"] == []
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["s.json"]


def test_a_failed_write_leaves_the_old_state(tmp_path):
    write_state(tmp_path / "s.json", "monitor", {"periods": []})
    before = (tmp_path / "s.json").read_text()
    with pytest.raises(TypeError):
        write_state(tmp_path / "s.json", "monitor", {"periods": [object()]})
    assert (tmp_path / "s.json").read_text() == before
    with pytest.raises(ValueError, match="expected a file to write to, found the folder"):
        write_state(tmp_path, "monitor", {"periods": []})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the saved state of a monitor in .*, found no JSON"),
        ("[1]", r"expected the saved state of a monitor in .*, found \[1\]"),
        (json.dumps({"kind": "Brier monitor"}), "found 'Brier monitor'"),
        (json.dumps({"kind": "monitor", "version": 0}), "expected version 1 of a saved monitor, found 0"),
        (json.dumps({"kind": "monitor", "version": 1}), "expected a list of periods in .*, found None"),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_state(tmp_path / "s.json", "monitor")
