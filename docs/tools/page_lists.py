"""Lists of pages with a line under every link: the title of each page, and the first sentence below it.

A toctree with the option ``:lines:`` is hidden, and its pages are listed in its place. So what a list says of a page
stands in the page alone.
"""

from __future__ import annotations

import re
from pathlib import Path

TOCTREE = re.compile(r"^```\{toctree\}\n:lines:\n(.*?)\n```$", flags=re.DOTALL | re.MULTILINE)
NOT_TEXT = ("#", "|", "![", "<", "```", ":::", "- ", "> ", "*Made")
ABBREVIATED = r"(?<!e\.g)(?<!i\.e)(?<!et al)(?<!Fig)"
SENTENCE = re.compile(rf"(?:Context\. )?(.+?{ABBREVIATED}[.?!])(?:\s|$)")  # decisions begin with their context
MARKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|\*+")


def with_lines(text: str, folder: Path) -> str:
    """Replace the toctrees of a page of a folder that ask for lines."""
    return TOCTREE.sub(lambda found: listed(found[1].split(), folder), text)


def listed(pages: list[str], folder: Path) -> str:
    """List pages by their links, each with its line, and a toctree that is not shown."""
    names = [name for pattern in pages for name in names_of(pattern, folder)]
    lines = [f"[{title}]({name}.md)\n: {line}" for name in names for title, line in [said(folder / f"{name}.md")]]
    hidden = ["```{toctree}", ":hidden:", ":titlesonly:", "", *names, "```"]
    return "\n\n".join([*lines, "\n".join(hidden)])


def names_of(pattern: str, folder: Path) -> list[str]:
    """Return the pages that a line of a toctree names, from its folder."""
    if "*" not in pattern:
        return [pattern]
    found = (page.relative_to(folder).with_suffix("").as_posix() for page in folder.glob(f"{pattern}.md"))
    return sorted(name for name in found if Path(name).name != "index")


def said(page: Path) -> tuple[str, str]:
    """Return the title of a page and its first sentence, without links."""
    title, *parts = page.read_text(encoding="utf-8").split("\n\n")
    first = next((part for part in parts if not part.startswith(NOT_TEXT)), "")
    sentence = SENTENCE.match(MARKS.sub(r"\1", " ".join(first.split())))
    if sentence is None:
        raise ValueError(f"expected a sentence below the title of {page.name}, found {first[:60]!r}")
    return title.removeprefix("# "), sentence[1]
