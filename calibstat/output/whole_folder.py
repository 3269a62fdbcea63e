"""Writes several files to a folder, all of them or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_folder(out: Path) -> Iterator[Path]:
    """Give a temporary folder, whose files go to `out` at the end; where something fails, nothing is left.

    Files of the same names that `out` has are replaced, its others kept. The temporary folder lies in `out`, or beside
    where that will be, on the same disk, so that files are moved by giving them another name.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"expected a folder to write to, found the file {str(out)!r}")
    existed = out.exists()
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    home = out if existed else out.parent
    home.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=home))
    try:
        yield draft
        files = [path.relative_to(draft) for path in sorted(draft.rglob("*")) if path.is_file()]
        for file in files:
            if (out / file).is_dir():
                raise ValueError(f"expected a file or nothing at {str(out / file)!r}, found a folder")
        for file in files:
            (out / file).parent.mkdir(parents=True, exist_ok=True)
            os.replace(draft / file, out / file)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        for folder in missing:  # the innermost first
            if folder.exists():
                folder.rmdir()
        raise
    shutil.rmtree(draft)
