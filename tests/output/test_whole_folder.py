"""Folders that are written whole or not at all."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

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


def write(way, path, text="now"):
    """Write a file in one of two ways, alone or with others to a folder."""
    if way == "file":
        whole_folder.write_file(path, text)
    else:
        with whole_folder.whole_folder(path.parent) as draft:
            (draft / path.name).write_text(text)


both_ways = pytest.mark.parametrize("way", ["file", "folder"])


@both_ways
@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_and_what_it_names_is_written(way, there, tmp_path):
    target, link = tmp_path / "elsewhere" / "target.txt", tmp_path / "link.txt"
    target.parent.mkdir()
    link.symlink_to(target)
    if there:
        target.write_text("earlier")
    write(way, link)
    assert link.is_symlink()
    assert target.read_text() == "now"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "link.txt", "target.txt"]


def test_a_link_to_a_folder_stays(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write("folder", tmp_path / "link" / "a.txt")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target" / "a.txt").read_text() == "now"


@both_ways
def test_a_link_that_leads_nowhere_is_an_error(way, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="symbolic links"):
        write(way, tmp_path / "loop")
    assert [path.name for path in tmp_path.iterdir()] == ["loop"]


@both_ways
def test_a_link_to_another_disk(way, tmp_path, monkeypatch):
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk" / "a.txt")
    rename = Path.replace

    def replace(self, target):
        if self.parent.parent != Path(target).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    write(way, tmp_path / "link")
    assert (tmp_path / "disk" / "a.txt").read_text() == "now"
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["a.txt"]


@both_ways
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_the_mode_of_a_file_is_kept(way, mode, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("earlier")
    path.chmod(mode)
    write(way, path)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("now", mode)


@both_ways
def test_both_names_of_a_file_with_two_have_the_new_text(way, tmp_path):
    path, other = tmp_path / "a.txt", tmp_path / "other.txt"
    path.write_text("earlier and longer")
    other.hardlink_to(path)
    write(way, path)
    assert path.samefile(other)
    assert other.read_text() == "now"


@both_ways
def test_a_pipe_is_written_to(way, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    write(way, tmp_path / "pipe", "x" * 200_000)
    reader.join(10)
    assert found == ["x" * 200_000]
    assert (tmp_path / "pipe").is_fifo()


@both_ways
def test_a_device_stays_one(way, tmp_path):
    try:
        os.mknod(tmp_path / "null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
        (tmp_path / "null").write_text("")
    except PermissionError:
        pytest.skip("devices are made by root alone")
    write(way, tmp_path / "null")
    assert (tmp_path / "null").is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["null"]


def test_no_draft_is_made_beside_a_device(monkeypatch, tmp_path):
    monkeypatch.setattr(whole_folder.tempfile, "mkdtemp", lambda **_: pytest.fail("made a folder"))
    whole_folder.write_file(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()


KILLED = """
import os, signal, sys
from pathlib import Path
from calibstat.output.whole_folder import whole_folder
with whole_folder(Path(sys.argv[1])) as draft:
    (draft / "a.txt").write_text("never")
    if sys.argv[2] == "wait":
        print("there", flush=True)
        sys.stdin.read()
    else:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_writer_has_left_is_deleted_and_that_of_a_live_one_is_not(tmp_path):
    pytest.importorskip("fcntl")
    mine = tmp_path / ".unfinished-letters"
    mine.mkdir()
    (mine / "a.txt").write_text("mine")
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path, "die"], check=False).returncode
    (dead,) = (path for path in tmp_path.iterdir() if path != mine)
    alive = [sys.executable, "-c", KILLED, tmp_path, "wait"]
    with subprocess.Popen(alive, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "there\n"
        assert not dead.exists()
        (draft,) = (path for path in tmp_path.iterdir() if path != mine)
        write("file", tmp_path / "b.txt")
        assert (draft / "a.txt").read_text() == "never"
        process.communicate("", timeout=30)
    assert {path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()} == {
        "a.txt": "never",
        "b.txt": "now",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == [".unfinished-letters", "a.txt", "b.txt"]


@both_ways
def test_text_and_name_are_on_the_disk_before_it_returns(way, tmp_path, monkeypatch):
    """The text is written to the disk before the file has its name, and the folder after."""
    seen, sync, rename = [], os.fsync, Path.replace

    def fsync(handle):
        seen.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def replace(self, target):
        seen.append("name")
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write(way, tmp_path / "a.txt")
    assert seen == ["file", "name", "folder"]


def test_a_folder_that_another_process_has_written_to_stays(tmp_path):
    def fail():
        with whole_folder.whole_folder(tmp_path / "new" / "out"):
            (tmp_path / "new" / "theirs.txt").write_text("theirs")
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        fail()
    assert (tmp_path / "new" / "theirs.txt").read_text() == "theirs"


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path, monkeypatch):
    """And not the draft in it, of which the user knows nothing. Permissions would not stop root."""

    def refuse(prefix, dir):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(Path(dir) / prefix))

    monkeypatch.setattr(whole_folder.tempfile, "mkdtemp", refuse)
    with pytest.raises(OSError, match="Read-only") as raised, whole_folder.whole_folder(tmp_path):
        pass
    assert raised.value.errno == errno.EROFS
    assert raised.value.filename == str(tmp_path)


def test_a_file_where_the_folder_would_be_is_named(tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(ValueError, match=r"expected a folder to write to, found the file '.*out'"):
        write("folder", tmp_path / "out" / "a.txt")
    assert (tmp_path / "out").read_text() == "mine"


@both_ways
def test_another_error_of_moving_a_file_is_passed_on(way, tmp_path, monkeypatch):
    def refuse(self, target):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), str(target))

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(PermissionError):
        write(way, tmp_path / "a.txt")
    assert list(tmp_path.iterdir()) == []


@both_ways
def test_a_full_disk_is_an_error_that_names_what_was_written(way, tmp_path, monkeypatch):
    """The system names nothing where a write fails."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write(way, tmp_path / "a.txt")
    assert raised.value.errno == errno.ENOSPC
    assert raised.value.filename in (str(tmp_path / "a.txt"), str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_full_device_is_named():
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        whole_folder.write_file(Path("/dev/full"), "text")
