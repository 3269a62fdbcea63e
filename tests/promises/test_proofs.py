"""Each formula of the page of proofs has its place in the code, which names the section that proves it."""

import ast
import re

from package_sources import parsed, sources
from project_folder import PROJECT

PAGE = (PROJECT / "docs" / "evidence" / "proofs.md").read_text(encoding="utf-8")
NAMED = re.compile(r"docs/evidence/proofs\.md, section (\d+)")


def places(page):
    """The places in the code that each section of a page lists, by the number of the section."""
    found = {}
    for part in re.split(r"(?m)^(?=## )", page):
        if number := re.match(r"## (\d+)\.", part):
            lists = re.findall(r"(?m)^\*In the code:\* (.+)$", part)
            found[int(number[1])] = [name for each in lists for name in re.findall(r"`([\w.]+)`", each)]
    return found


def citations(files):
    """The sections that docstrings name, by the dotted name of their function, class or module."""
    found = {}

    def visit(node, name):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            return
        if sections := NAMED.findall(ast.get_docstring(node) or ""):
            found[name] = [int(section) for section in sections]
        for child in node.body:
            visit(child, f"{name}.{getattr(child, 'name', '')}")

    for file, source in files.items():
        visit(parsed(source), file.removesuffix(".py").replace("/", "."))
    return found


def faults(page, files):
    """Sections that list no place, and places that a section lists or a docstring claims, but not both."""
    listed = {(name, section) for section, names in places(page).items() for name in names}
    cited = {(name, section) for name, sections in citations(files).items() for section in sections}
    return [section for section, names in places(page).items() if not names], sorted(listed ^ cited)


def test_every_section_has_its_place_in_the_code():
    assert len(places(PAGE)) >= 11
    assert faults(PAGE, sources()) == ([], [])


def test_no_section_is_named_elsewhere_than_in_docstrings():
    text = "".join(sources().values())
    assert len(NAMED.findall(text)) == sum(map(len, citations(sources()).values()))


def test_what_does_not_agree_is_found():
    page = "## 1. One\n\n*In the code:* `bounds.a.B.high`.\n\n## 2. Two\n\ntext\n"
    docstring = '"""Return it.\n\n        docs/evidence/proofs.md, section {}.\n        """'
    source = f"class B:\n    def high(self):\n        {docstring}\n"
    assert faults(page, {"bounds/a.py": source.format(1)}) == ([2], [])
    wrong = [("bounds.a.B.high", 1), ("bounds.a.B.high", 2)]
    assert faults(page, {"bounds/a.py": source.format(2)}) == ([2], wrong)
    assert faults(page, {"bounds/a.py": "x = 1"}) == ([2], [("bounds.a.B.high", 1)])
