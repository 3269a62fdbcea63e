"""Docstrings say what is there, as a noun phrase or "Return ...", and their sections are read by numpydoc.

They are short enough to be read in a terminal, and so are the bodies of nearly all functions.
"""

import ast
import re
from itertools import pairwise

import pytest
from package_sources import nodes_of, sources

QUESTION = re.compile(r"(What|How|Where|Which|When|Why)\b")
DASHES = re.compile(r"-{4,}")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef
DOCSTRING = {ast.FunctionDef: 60, ast.ClassDef: 80}  # lines
BODY = 40  # lines, without the docstring
LONG_BODIES = 6  # in the package; a lower number of them is a lower number here


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


def long_docstrings(source):
    """The names of functions and classes whose docstrings have more lines than one should."""
    nodes = [node for node in nodes_of(source) if type(node) in DOCSTRING]
    texts = {node: ast.get_docstring(node, clean=False) or "" for node in nodes}
    return [node.name for node, text in texts.items() if len(text.splitlines()) > DOCSTRING[type(node)]]


def long_bodies(source):
    """The names of functions whose bodies have more lines than one should; overloads have none."""
    functions = [node for node in nodes_of(source) if isinstance(node, ast.FunctionDef)]
    bodies = {node: node.body[ast.get_docstring(node) is not None :] for node in functions}
    return [node.name for node, body in bodies.items() if body and body[-1].end_lineno - body[0].lineno >= BODY]


def test_docstrings_are_short():
    assert {name for source in sources().values() for name in long_docstrings(source)} == set()


def test_hardly_any_function_is_long():
    found = [f"{path}: {name}" for path, source in sources().items() for name in long_bodies(source)]
    assert len(found) <= LONG_BODIES, found


@pytest.mark.parametrize(("head", "limit"), [("def rows():", 60), ("class Rows:", 80)])
def test_a_long_docstring_is_found(head, limit):
    """The lines of a text are counted as in an editor: the quotes behind the last line are one more."""
    whole, more = (f'{head}\n    """Rows.\n' + "    More.\n" * lines + '    """\n' for lines in (limit - 2, limit - 1))
    assert [long_docstrings(whole), long_docstrings(more)] == [[], ["rows" if head[0] == "d" else "Rows"]]


def test_a_long_body_is_found():
    """The docstring is no part of it, and a function inside another is one by itself."""
    short, long = ('def rows():\n    """Rows."""\n' + "    x = 1\n" * lines for lines in (40, 41))
    inner = "def outer():\n    def inner():\n" + "        x = 1\n" * 41
    assert [long_bodies(short), long_bodies(long), long_bodies(inner)] == [[], ["rows"], ["outer", "inner"]]
