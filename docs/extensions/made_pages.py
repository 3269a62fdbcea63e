"""Pages and parts of pages that are made from the code: a Sphinx extension around `measure_pages` and `result_pages`.

A page for each measure and each class of results is written to docs/measures and docs/results, where git ignores it,
and a line ``<!-- name -->`` of a page is replaced by what `measure_pages.MARKERS` makes of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import measure_pages
import result_pages
from measure_pictures import picture

import calibstat as cs


def write_if_new(path: Path, text: str) -> None:
    """Write a file unless it has this text, so that a page that did not change is not read again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def write_measures(app: Any, config: Any) -> None:
    """Write the pages of the measures, and remove those of measures that are gone."""
    folder = Path(app.srcdir) / "measures"
    for name in cs.MEASURES:
        title, called, text = measure_pages.measure_page(name).split("\n\n", 2)
        shown = picture(name, folder / "images")
        write_if_new(folder / f"{name}.md", "\n\n".join((title, called, shown, text)))
    for page in folder.glob("*.md"):
        if page.stem not in {"index", *cs.MEASURES}:
            page.unlink()


def write_results(app: Any, config: Any) -> None:
    """Write the pages of the classes of results, and remove those of classes that are gone."""
    folder = Path(app.srcdir) / "results"
    for name in result_pages.RESULTS:
        write_if_new(folder / f"{name}.md", result_pages.result_page(name))
    for page in folder.glob("*.md"):
        if page.stem not in {"index", *result_pages.RESULTS}:
            page.unlink()


def fill_in(app: Any, page: str, source: list[str]) -> None:
    """Replace the markers of a page."""
    source[0] = measure_pages.filled_in(source[0])


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", write_measures)
    app.connect("config-inited", write_results)
    app.connect("source-read", fill_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
