"""The source files of the package, its layers from the ground up, and what import statements load."""

import ast
from functools import cache
from pathlib import Path

import calibstat

ROOT = Path(calibstat.__file__).parent
LAYERS = [
    "compiled",
    "in_order",
    "digits",
    "inner_product",
    "in_words",
    "progress",
    "data",
    "resampling",
    "bounds",
    "measures",
    "output",
    "result",
    "answers_by_model",
]
LAYERS += [
    "generators",
    "inference",
    "classical",
    "planning",
    "monitoring",
    "recalibration",
    "calibrated_model",
    "plots",
    "reporting",
    "study",
    "readers",
]
LAYERS += ["__init__", "cli", "__main__", "papers"]


def sources():
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(ROOT.rglob("*.py"))}


@cache
def parsed(source):
    """The tree of a file, which many tests walk through."""
    return ast.parse(source)


@cache
def nodes_of(source):
    """All that the tree of a file consists of, in the order of `ast.walk`."""
    return [*ast.walk(parsed(source))]


@cache
def import_statements(source):
    """The import statements of a file, nested ones too."""
    return [node for node in nodes_of(source) if isinstance(node, ast.Import | ast.ImportFrom)]


def imported(node):
    """Dotted names that an import statement loads, or may load."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and node.module:
        return {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return set()
