"""Formulas without a request to another host: MathJax is copied from the package that ships it.

Of its 24 MB the site needs one script and the fonts.
"""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

SCRIPT = "mathjax/tex-chtml.js"
NEEDED = (SCRIPT, "mathjax/output/chtml/fonts/woff-v2")


def copy_mathjax(app: Any, error: Exception | None) -> None:
    """Copy the script and the fonts to the built site."""
    if error is not None or app.builder.format != "html":
        return
    found = find_spec("sphinx-mathjax-offline")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("expected the package sphinx-mathjax-offline, which the extra `docs` installs")
    shipped = Path(found.origin).parent / "static"
    for name in NEEDED:
        source, target = shipped / name, Path(app.outdir) / "_static" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy(source, target)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.config.mathjax_path = SCRIPT
    app.connect("build-finished", copy_mathjax)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
