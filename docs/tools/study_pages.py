"""The pages of studies: `simulations/findings` and the list of `simulations/README.md`, with links of the site.

A picture becomes a figure with its text as caption, which leads to the picture alone. A link to another page goes to
its page of the site, and a link to a file that the site does not have becomes its name in code.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from markdown_parts import rows_of

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
FOLDER = DOCS / "evidence" / "studies"  # of the pages
SIMULATIONS = PROJECT / "simulations"
FINDINGS = SIMULATIONS / "findings"
LIST = SIMULATIONS / "README.md"
FIGURES = "../../../simulations/figures/"  # from the folder of the pages
PAGES = {page.stem: page for page in sorted(FINDINGS.glob("*.md"))}
FIGURE = re.compile(r"^!\[([^\]]*)\]\(([^)]*)\)$", flags=re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#:]+)(#[^)]*)?\)")
ROW = re.compile(
    r"^\| (.*?) \| \[(\w+)\]\([\w/.]+\.py\), (.*?) \| \[(<img .*?>)\].*? \| (.*?) \| (.*?) \|$", flags=re.MULTILINE
)
AT_LENGTH = re.compile(r" \(\[at length\]\([^)]*\)\)")


def study_page(name: str) -> str:
    """Write the page of one study."""
    text = PAGES[name].read_text(encoding="utf-8")
    return together(LINK.sub(on_the_site, FIGURE.sub(figure, text)))


def together(text: str) -> str:
    """Keep per cent signs on the lines of their numbers."""
    return re.sub(r"(?<=\d) %", "\N{NO-BREAK SPACE}%", text)


def figure(found: re.Match[str]) -> str:
    """Write a picture with its text as caption."""
    text, target = found.groups()
    options = f":alt: {text}\n:scale: 100"  # a scaled picture is a link to the file
    return f":::{{figure}} {FIGURES}{Path(target).name}\n{options}\n\n{text[0].upper()}{text[1:]}\n:::"


def on_the_site(found: re.Match[str]) -> str:
    """Write a link of a page of findings as a link between pages of the site."""
    text, target, anchor = found.groups(default="")
    path = Path(os.path.normpath(FINDINGS / target))
    if path == LIST:
        return f"[{text}](index.md{anchor})"
    if path.suffix == ".md" and path.is_relative_to(FINDINGS):
        return f"[{text}]({path.name}{anchor})"
    if path.suffix == ".md" and path.is_relative_to(DOCS):
        return f"[{text}]({Path(os.path.relpath(path, FOLDER)).as_posix()}{anchor})"
    return f"`{path.relative_to(PROJECT).as_posix()}`"


def studies_table() -> str:
    """List the studies: a small picture, the question with a link to its page, the answer and its limit."""
    rows = [
        [small.replace("figures/", FIGURES), f"[{question}]({name}.md) ({hours})", answer, limit]
        for question, name, hours, small, answer, limit in ROW.findall(LIST.read_text(encoding="utf-8"))
    ]
    return rows_of(
        ["figure", "question", "answer", "limit"], [[together(AT_LENGTH.sub("", cell)) for cell in row] for row in rows]
    )


def studies_toctree() -> str:
    """List the pages by what they are about, without ": what was found" behind each."""
    titles = {name: page.read_text(encoding="utf-8").partition("\n")[0] for name, page in PAGES.items()}
    lines = [f"{title.removeprefix('# ').partition(':')[0]} <{name}>" for name, title in titles.items()]
    return "\n".join(["```{toctree}", ":hidden:", "", *lines, "```"])
