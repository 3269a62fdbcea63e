"""A name says one thing: how many names of constants stand in several files, and which vague words remain."""

import ast
from collections import defaultdict

from package_sources import nodes_of, sources

MOST_SHARED = 60  # names of constants with several values, of about 1,000
MOST_DRAWN = 8  # names with the word "drawn", which says neither what is drawn nor how
PLANTED = {
    "one.py": "ROWS, CELLS = 8, 256\nFEW = 3\nrows_drawn = redrawn(ROWS)",
    "two.py": "ROWS = 2**18\nFEW = 3\n\ndef drawn(self, drawn=None):\n    CELLS = 1",
}


def constants(source):
    """The constants of a file, each with its value as written."""
    found = {}
    for node in ast.parse(source).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names = [each for target in targets for each in getattr(target, "elts", [target]) if isinstance(each, ast.Name)]
        found |= {name.id: ast.unparse(node) for name in names if name.id.strip("_").isupper()}
    return found


def shared(files):
    """The names of constants that have another value in another file."""
    values = defaultdict(set)
    for source in files.values():
        for name, value in constants(source).items():
            values[name].add(value)
    return {name for name, of_files in values.items() if len(of_files) > 1}


def with_word(files, word):
    """The names of these files that have a word in them."""
    nodes = [node for source in files.values() for node in nodes_of(source)]
    names = {getattr(node, field, None) for node in nodes for field in ("id", "name", "attr", "arg")}
    return {name for name in names if isinstance(name, str) and word in name.lower()}


def test_few_constants_share_a_name():
    found = shared(sources())
    assert len(found) <= MOST_SHARED, ", ".join(sorted(found))


def test_few_names_say_drawn():
    found = with_word(sources(), "drawn")
    assert len(found) <= MOST_DRAWN, ", ".join(sorted(found))


def test_planted_names_are_counted():
    assert shared(PLANTED) == {"ROWS"}
    assert with_word(PLANTED, "drawn") == {"rows_drawn", "redrawn", "drawn"}
