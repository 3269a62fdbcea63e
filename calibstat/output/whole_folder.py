"""Writes a file, or several to a folder: all of them whole, or none, also if the process or the power is lost."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from calibstat.output.one_writer import take

PREFIX = ".unfinished-calibstat-"
DRAFT = re.compile(re.escape(PREFIX) + r"[a-z0-9_]{8}")  # as mkdtemp calls them


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file as `whole_folder` does; what is not a file, such as a device or a pipe, is written to.

    A symbolic link stays, and the file that it names is written.
    """
    if path.is_dir():
        raise ValueError(f"expected a file to write to, found the folder {str(path)!r}")
    content = content.encode() if isinstance(content, str) else content
    if is_special(path):
        with _naming(path):
            path.write_bytes(content)  # no draft, which would lie beside the devices
        return
    path = Path(os.path.realpath(path))
    with whole_folder(path.parent) as draft, _naming(path):
        (draft / path.name).write_bytes(content)


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Give a temporary folder, whose files go to `out` at the end; where something fails, nothing is left.

    Files of the same names that `out` has are replaced, its others kept. The temporary folder lies in `out`, or beside
    where that will be, on the same disk, so that files are moved by giving them another name. What a writer that was
    killed has left there is deleted.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"expected a folder to write to, found the file {str(out)!r}")
    out = Path(os.path.realpath(out))
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    home = out.parent if missing else out
    home.mkdir(parents=True, exist_ok=True)
    for place in (out, out.parent):  # the folder may have been made since
        _delete_drafts_of_the_dead(place)
    try:
        with _draft(home) as draft, _naming(out):
            yield draft
            files = [path.relative_to(draft) for path in sorted(draft.rglob("*")) if path.is_file()]
            for file in files:
                if (out / file).is_dir():
                    raise ValueError(f"expected a file or nothing at {str(out / file)!r}, found a folder")
            for file in files:
                (out / file).parent.mkdir(parents=True, exist_ok=True)
                move(draft / file, out / file)
    except BaseException:
        for folder in missing:  # the innermost first
            with suppress(OSError):  # another process has written to it
                folder.rmdir()
        raise


def move(draft: Path, target: Path) -> None:
    """Give a finished file its place, on the disk for good when this returns.

    A link is followed. A file that is there is replaced in one step, by one of the same mode and owner. What is not a
    file, or has other names (hard links), which a replacement would not have, is written to where it is.
    """
    there = _stat(target)
    if there is not None and not (stat.S_ISREG(there.st_mode) and there.st_nlink == 1):
        target.write_bytes(draft.read_bytes())
        if stat.S_ISREG(there.st_mode):
            _to_disk(target)
        draft.unlink()
        return
    target = Path(os.path.realpath(target))
    with _naming(target):
        _to_disk(draft)
    if there is not None:
        with suppress(OSError, AttributeError):  # only root may give a file away; Windows has no owners
            os.chown(draft, there.st_uid, there.st_gid)
        draft.chmod(stat.S_IMODE(there.st_mode))
    try:
        draft.replace(target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        with _draft(target.parent) as near:  # behind a link to another disk
            shutil.copy2(draft, near / target.name)
            move(near / target.name, target)
        return
    if os.name == "posix":  # elsewhere a folder cannot be opened, and renaming is durable by itself
        _to_disk(target.parent, os.O_RDONLY)


def is_special(path: Path) -> bool:
    """Whether a path leads to what is neither a file nor a folder: a device, a pipe, a socket."""
    there = _stat(path)
    return there is not None and not stat.S_ISREG(there.st_mode) and not stat.S_ISDIR(there.st_mode)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name a file or folder in an error of the system that names none, such as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


@contextmanager
def _draft(home: Path) -> Iterator[Path]:
    """Give a temporary folder in `home`, which is locked while it is in use and deleted at the end."""
    draft, handle = _new_draft(home)
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def _new_draft(home: Path) -> tuple[Path, int | None]:
    while True:
        try:
            draft = Path(tempfile.mkdtemp(prefix=PREFIX, dir=home))
        except OSError as error:  # the user knows the folder, and not the name of the draft
            raise OSError(error.errno, error.strerror, str(home)) from None
        try:
            handle = os.open(draft, os.O_RDONLY)
        except FileNotFoundError:  # deleted before it was locked, as if its writer were dead
            continue
        except OSError:  # Windows
            return draft, None
        try:
            held = take(handle)
        except OSError:  # a disk without locks, where nobody deletes drafts either
            return draft, handle
        if held and draft.exists():
            return draft, handle
        os.close(handle)


def _delete_drafts_of_the_dead(home: Path) -> None:
    """Delete the temporary folders that writers have left which were killed: those that are not locked."""
    drafts: list[Path] = []
    with suppress(OSError):  # not there yet, or not ours to read
        drafts = [path for path in home.iterdir() if DRAFT.fullmatch(path.name) and not path.is_symlink()]
    for path in drafts:
        with suppress(OSError):  # not ours to delete, deleted by another writer, or a disk without locks
            handle = os.open(path, os.O_RDONLY)
            try:
                if take(handle):
                    shutil.rmtree(path)
            finally:
                os.close(handle)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _to_disk(path: Path, mode: int = os.O_RDWR) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
