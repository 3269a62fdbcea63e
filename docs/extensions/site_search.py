"""What the search of the site finds: pages that are left out of it, and words by which a page is looked for.

`outside_of_search` has patterns of pages that are left out, `search_words` words by page that its text does not have.
"""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

from docutils import nodes


def prepare(app: Any, doctree: Any) -> None:
    """Mark a page that was just read as outside of the search, or add the words by which it is looked for."""
    page = app.env.docname
    if any(fnmatch(page, pattern) for pattern in app.config.outside_of_search):
        app.env.metadata[page]["nosearch"] = True
    if words := app.config.search_words.get(page):
        doctree.append(nodes.meta(name="keywords", content=", ".join(words.split())))


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("outside_of_search", [], "env")
    app.add_config_value("search_words", {}, "env")
    app.connect("doctree-read", prepare, priority=900)  # after Sphinx has read what the page says of itself
    return {"parallel_read_safe": True, "parallel_write_safe": True}
