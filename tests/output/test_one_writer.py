"""One process writes at a time: others wait for their turn, or are told who writes."""

import os
import threading
import time

import pytest

from calibstat.output import one_writer as locks
from calibstat.output.one_writer import one_writer

fcntl = pytest.importorskip("fcntl")


def test_a_second_writer_is_told_who_writes(tmp_path):
    lock = tmp_path / "lock"
    with one_writer(lock, "a thing", "writes to it"):
        refused = pytest.raises(
            ValueError, match=f"a thing to which no .*, found that process {os.getpid()} writes to it"
        )
        with refused, one_writer(lock, "a thing", "writes to it"):
            pass
        assert lock.exists()
    assert not lock.exists()


@pytest.mark.parametrize("broken", [False, True])
def test_writers_take_turns(broken, tmp_path, monkeypatch):
    """Eight writers raise a number by 1, 25 times each, and none of this is lost, except without a lock."""
    if broken:
        monkeypatch.setattr(locks, "take", lambda file: True)
        monkeypatch.setattr(os.path, "samestat", lambda a, b: True)
    file, errors = tmp_path / "number", []
    file.write_text("0")

    def work():
        try:
            for _ in range(25):
                with one_writer(tmp_path / "lock", "a number", "writes to it", patience=60):
                    number = int(file.read_text() or 0)
                    time.sleep(0.0005)
                    file.write_text(str(number + 1))
        except (OSError, ValueError) as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (not errors and int(file.read_text()) == 200) is not broken


def test_without_locks_all_may_write(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with one_writer(tmp_path / "lock", "a thing", ""), one_writer(tmp_path / "lock", "a thing", ""):
        assert not (tmp_path / "lock").exists()
    assert locks.take(0)
