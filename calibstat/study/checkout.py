"""The commit of the code that makes a table, where the code lies in a checkout."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def commit(package: Path = PACKAGE) -> str | None:
    """Return the commit that is checked out, "with changes" if files differ from it; None outside a checkout.

    An installed package may lie in somebody's checkout, in an environment there. So git has to know its files.
    """
    if _git(package, "ls-files", "--error-unmatch", "__init__.py") is None:
        return None
    found = _git(package, "rev-parse", "--short", "HEAD")
    changed = found and _git(package, "diff", "--quiet", "HEAD") is None
    return f"{found} with changes" if changed else found


def _git(folder: Path, *arguments: str) -> str | None:
    """Return what git prints in a folder; None if it fails, or is not there."""
    try:
        found = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()
