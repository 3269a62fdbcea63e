"""What the search of the site finds, in which order, and what it says of each page.

`outside_of_search` has patterns of pages that are left out, `evidence` patterns of pages that stand behind all others
unless one is called by its name, and `search_words` the names that users have for a page, with commas between them.
The file `_static/search_pages.js` has for each page its names, its place in the menus and its first words, so that
search_order.js can show them also where the site is opened as files, from which a browser reads no other page.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from docutils import nodes

from calibstat.data.words.names_elsewhere import CALLS

WORDS, LETTERS = 6, 180  # the fewest words of a paragraph that says what a page is about, and the most letters shown
ASIDE = (nodes.table, nodes.list_item, nodes.note, nodes.caption, nodes.footnote, nodes.field_list)


def inside(node: nodes.Node, kinds: tuple[type, ...]) -> bool:
    """Whether a node is part of one of these kinds."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, kinds):
            return True
    return False


def is_plain(paragraph: nodes.paragraph) -> bool:
    """Whether a paragraph is part of the text: not of a table or list, no line on a picture and no call."""
    children = [child for child in paragraph.children if not isinstance(child, nodes.image)]
    of_picture = not children or (len(children) == 1 and isinstance(children[0], nodes.emphasis))
    return not of_picture and not inside(paragraph, ASIDE) and not paragraph.astext().startswith("measure=")


def first_words(doctree: Any) -> str:
    """Return the first paragraph of a page, or what its lists and tables say if it has none, cut if it is long."""
    paragraphs = list(doctree.findall(nodes.paragraph))
    texts = [" ".join(paragraph.astext().split()) for paragraph in paragraphs]
    plain = (text for paragraph, text in zip(paragraphs, texts, strict=True) if is_plain(paragraph))
    text = next((text for text in plain if len(text.split()) >= WORDS), " ".join(texts))
    return text if len(text) <= LETTERS else text[:LETTERS].rpartition(" ")[0] + " …"


def matches(page: str, patterns: list[str]) -> bool:
    """Whether a page is one of those that patterns name."""
    return any(fnmatch(page, pattern) for pattern in patterns)


def prepare(app: Any, doctree: Any) -> None:
    """Mark a page that was just read as outside of the search, or add the words by which it is looked for."""
    page = app.env.docname
    if matches(page, app.config.outside_of_search):
        app.env.metadata[page]["nosearch"] = True
    app.env.metadata[page]["first_words"] = first_words(doctree)
    if words := app.config.search_words.get(page):
        doctree.append(nodes.meta(name="keywords", content=", ".join(re.split(r"[,\s]+", words))))


def in_menus(env: Any) -> list[str]:
    """Return the pages in the order of the menus."""
    order, waiting = {}, [env.config.root_doc]
    while waiting:
        page = waiting.pop()
        if page not in order:
            order[page] = True
            waiting += reversed(env.toctree_includes.get(page, []))
    return [*order, *sorted(env.found_docs - set(order))]


def elsewhere(page: str) -> list[str]:
    """Return what other packages and papers call the measure or the function of a page."""
    folder, _, last = page.partition("/")
    starts = {
        "measures": rf'cs\.estimate\(.*measure="{last}"',
        "reference": rf"{last.replace('calibstat.', 'cs.', 1)}\(",
    }
    if folder not in starts:
        return []
    return [name for call, called in CALLS.items() if re.match(starts[folder], call) for name in called]


def names(env: Any, page: str) -> list[str]:
    """Return what a page is called: its title, the part of it before a colon, its file, and what others say."""
    title = env.titles[page].astext()
    said = env.config.search_words.get(page, "").split(",")
    file = [] if matches(page, env.config.evidence) else [re.split(r"[/.]", page)[-1]]
    found = [title, title.partition(":")[0], *file, *said, *elsewhere(page)]
    return list(dict.fromkeys(re.sub(r"[-_\s]+", " ", name).strip().lower() for name in found if name.strip()))


def pages(app: Any) -> dict[str, dict[str, Any]]:
    """Return what search_order.js knows of each page that can be found, in the order of the menus."""
    env, config = app.env, app.config
    found = [page for page in in_menus(env) if not matches(page, config.outside_of_search)]
    return {
        page: {
            "names": names(env, page),
            "says": env.metadata[page].get("first_words", ""),
            "evidence": matches(page, config.evidence),
        }
        for page in found
    }


def write_pages(app: Any, error: Exception | None) -> None:
    """Write the file of all pages beside the index of the search."""
    if error is None and app.builder.format == "html":
        text = f"const SEARCH_PAGES = {json.dumps(pages(app), ensure_ascii=False, separators=(',', ':'))};\n"
        (Path(app.outdir) / "_static" / "search_pages.js").write_text(text, encoding="utf-8")


def load_pages(app: Any, page: str, template: str, context: Any, doctree: Any) -> None:
    """Let the page of the search load the file of all pages, and the order."""
    if page == "search":
        for name in ("search_pages.js", "search_order.js"):
            app.add_js_file(name, loading_method="defer")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("outside_of_search", [], "env")
    app.add_config_value("evidence", [], "html")
    app.add_config_value("search_words", {}, "env")
    app.connect("doctree-read", prepare, priority=900)  # after Sphinx has read what the page says of itself
    app.connect("html-page-context", load_pages)
    app.connect("build-finished", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
