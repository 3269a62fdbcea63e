"""Each page of proofs lists its places in the code, and their docstrings name the page."""

import ast
import re

import pytest
from documentation import TOOLS, load
from package_sources import parsed, sources
from project_folder import PROJECT

FOLDER = PROJECT / "docs" / "evidence" / "proofs"
FILES = {page.stem: page for page in sorted(FOLDER.glob("*.md")) if page.stem != "index"}
PAGES = {name: page.read_text(encoding="utf-8") for name, page in FILES.items()}
NAMED = re.compile(r"docs/evidence/proofs/([\w-]+)\.md")
SECTIONS = ["Statement", "Code", "Proof", "What breaks it"]
LONGEST_LINE = 140  # of a list of pages


def places(page):
    """The places in the code that a page lists."""
    code = re.search(r"(?ms)^## Code$(.*?)(?=^## |\Z)", page)
    return re.findall(r"(?m)^- `([\w.]+)`: ", code[1]) if code else []


def citations(files):
    """The pages that docstrings name, by the dotted name of their function, class or module."""
    found = {}

    def visit(node, name):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            return
        if pages := NAMED.findall(ast.get_docstring(node) or ""):
            found[name] = pages
        for child in node.body:
            visit(child, f"{name}.{getattr(child, 'name', '')}")

    for file, source in files.items():
        visit(parsed(source), file.removesuffix(".py").replace("/", "."))
    return found


def faults(pages, files):
    """Pages that list no place, and places that a page lists or a docstring claims, but not both."""
    listed = {(name, page) for page, text in pages.items() for name in places(text)}
    cited = {(name, page) for name, named in citations(files).items() for page in named}
    return [page for page, text in pages.items() if not places(text)], sorted(listed ^ cited)


def headings(page):
    """The sections of a page."""
    return re.findall(r"(?m)^## (.+)$", page)


def test_every_page_has_its_places_in_the_code():
    assert len(PAGES) >= 30
    assert faults(PAGES, sources()) == ([], [])


def test_no_page_is_named_elsewhere_than_in_docstrings():
    text = "".join(sources().values())
    assert len(NAMED.findall(text)) == sum(map(len, citations(sources()).values()))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_a_statement_its_code_and_a_proof(name):
    assert headings(PAGES[name]) in (SECTIONS, SECTIONS[:-1])


@pytest.mark.parametrize("name", FILES)
def test_the_line_of_a_page_is_short_and_without_formulas(name):
    line = load(TOOLS / "page_lists.py").said(FILES[name])[1]
    assert len(line) <= LONGEST_LINE
    assert "$" not in line


def test_what_does_not_agree_is_found():
    pages = {"one": "# One\n\n## Code\n\n- `bounds.a.B.high`: the end.\n\n## Proof\n", "two": "## Proof\n\n- `x.y`: z"}
    docstring = '"""Return it.\n\n        docs/evidence/proofs/{}.md\n        """'
    source = f"class B:\n    def high(self):\n        {docstring}\n"
    assert faults(pages, {"bounds/a.py": source.format("one")}) == (["two"], [])
    wrong = [("bounds.a.B.high", "one"), ("bounds.a.B.high", "two")]
    assert faults(pages, {"bounds/a.py": source.format("two")}) == (["two"], wrong)
    assert faults(pages, {"bounds/a.py": "x = 1"}) == (["two"], [("bounds.a.B.high", "one")])
    assert headings(pages["one"]) == ["Code", "Proof"]
