"""Docstrings say what is there, as a noun phrase or "Return ...", and their sections are read by numpydoc."""

import ast
import re
from itertools import pairwise

import pytest
from package_sources import nodes_of, sources

QUESTION = re.compile(r"(What|How|Where|Which|When|Why)\b")
DASHES = re.compile(r"-{4,}")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef


def docstrings(source):
    """The docstrings of a file, its own first."""
    nodes = [node for node in nodes_of(source) if isinstance(node, DOCUMENTED)]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def opens_as_question(text):
    return bool(QUESTION.match(text))


def has_folded_section(text):
    """Whether a line has the dashes of a section beside other text, or not as many as the title above has letters."""
    lines = ["", *text.splitlines()]
    return any(
        DASHES.search(line) and not (DASHES.fullmatch(line.strip()) and len(line.strip()) == len(above.strip()))
        for above, line in pairwise(lines)
    )


@pytest.mark.parametrize("fault", [opens_as_question, has_folded_section])
def test_no_docstring_has_this_fault(fault):
    found = [f"{path}: {text}" for path, source in sources().items() for text in docstrings(source) if fault(text)]
    assert found == []


@pytest.mark.parametrize("word", ["What", "How", "Where", "Which"])
def test_a_question_is_found(word):
    planted = f'"""The rows."""\n\ndef rows():\n    """{word} rows are there."""\n'
    assert [opens_as_question(text) for text in docstrings(planted)] == [False, True]


@pytest.mark.parametrize("folded", ["Notes ----- In a mixture", "Notes\n---- \nIn a mixture", "Examples --------"])
def test_a_folded_section_is_found(folded):
    assert has_folded_section(f"Return the curve.\n\n{folded}")


def test_a_section_is_not_objected_to():
    assert not has_folded_section("Return the curve.\n\nNotes\n-----\nIn a mixture it is none of the parts' curves.")
