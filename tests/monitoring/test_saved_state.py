"""Saved state: written whole, read back as it was, and anything else refused."""

import json
import os

import pytest

from calibstat.monitoring import saved_state
from calibstat.monitoring.saved_state import VERSION, one_feeder, read_state, write_state


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


def test_what_is_not_a_file_is_no_state(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="found what is not a file"):
        read_state(tmp_path / "pipe", "monitor")


def test_feeders_wait_for_each_other(tmp_path, monkeypatch):
    pytest.importorskip("fcntl")
    monkeypatch.setattr(saved_state, "LOCK_WAIT", 0.05)
    with one_feeder(tmp_path / "new" / "s.json"):
        (tmp_path / "link").symlink_to(tmp_path / "new" / "s.json")
        refused = pytest.raises(ValueError, match=rf"process {os.getpid()} writes to .*s\.json; wait for it")
        with refused, one_feeder(tmp_path / "link"):
            pass
    with one_feeder(tmp_path / "link"), one_feeder(os.devnull), one_feeder(os.devnull):
        pass
    assert not any((tmp_path / "new").iterdir())


def test_a_failed_feed_leaves_no_folder(tmp_path):
    def fail():
        with one_feeder(tmp_path / "new" / "er" / "s.json"):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert not any(tmp_path.iterdir())
