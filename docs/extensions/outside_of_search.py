"""Pages that the search of the site leaves out: those whose names match a pattern of `outside_of_search`."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any


def leave_out(app: Any, doctree: Any) -> None:
    """Mark a page that was just read as outside of the search."""
    page = app.env.docname
    if any(fnmatch(page, pattern) for pattern in app.config.outside_of_search):
        app.env.metadata[page]["nosearch"] = True


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("outside_of_search", [], "env")
    app.connect("doctree-read", leave_out, priority=900)  # after Sphinx has read what the page says of itself
    return {"parallel_read_safe": True, "parallel_write_safe": True}
