"""Pages and parts of pages that are made: an extension around `measure_pages` and `study_pages`.

A page for each measure and each study is written to docs/measures and docs/evidence/studies, where git ignores it.
A line ``<!-- name -->`` of a page is replaced by what `measure_pages.MARKERS` makes of it, and a toctree with the
option ``:lines:`` by a list of its pages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import measure_pages
import page_lists
import study_pages
from measure_pictures import picture

import calibstat as cs


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it has this text, so that a page that did not change is not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_pages(folder: Path, pages: dict[str, str]) -> None:
    """Write pages beside the index of a folder, and remove those that are gone."""
    for name, text in pages.items():
        write_if_new(folder / f"{name}.md", text)
    for page in folder.glob("*.md"):
        if page.stem not in {"index", *pages}:
            page.unlink()


def write_measures(app: Any, config: Any) -> None:
    """Write the pages of the measures, each with its picture."""
    folder = Path(app.srcdir) / "measures"
    pages = {}
    for name in cs.MEASURES:
        title, called, text = measure_pages.measure_page(name).split("\n\n", 2)
        pages[name] = "\n\n".join((title, called, picture(name, folder / "images"), text))
    write_pages(folder, pages)


def write_studies(app: Any, config: Any) -> None:
    """Write the pages of the studies."""
    write_pages(
        Path(app.srcdir) / "evidence" / "studies", {name: study_pages.study_page(name) for name in study_pages.PAGES}
    )


def fill_in(app: Any, page: str, source: list[str]) -> None:
    """Replace the markers of a page, and list the pages of its toctrees."""
    source[0] = page_lists.with_lines(measure_pages.filled_in(source[0]), Path(app.env.doc2path(page)).parent)


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", write_measures)
    app.connect("config-inited", write_studies)
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
