"""How often parameters have no type, signatures are overloaded, kinds are asked, and names are shared; none grows."""

import ast
import re
from collections import defaultdict

import pytest
from package_sources import ROOT, nodes_of, sources

MOST_WITHOUT_TYPE = 99
MOST_ASKED_KINDS = 7
MOST_OVERLOADS = 6  # of the public functions, and of `predict`
MOST_OVERRIDES = 0  # members of another type than in the base, of which mypy is told to keep silent
MOST_SHARED = 60  # names of constants with several values, of about 1,000
MOST_DRAWN = 8  # names with the word "drawn", which says neither what is drawn nor how
KINDS = ("bounds/", "inference/problems/", "data/weighted_sample.py")  # where intervals, moments ... are
NO_TYPE = """
def verb(y: Any, *rows: Any, kept: "Any" = None, values: list[Any], **options: Any) -> Any: ...
"""
OVERLOADS = """
@overload
def one(y: int) -> int: ...
class Each:
    @typing.overload
    @classmethod
    def of(cls) -> int: ...
"""
SILENT = """
def n(self) -> int:  # type: ignore[override]
cells: int  # type: ignore[assignment, override]
size: int  # type: ignore[misc]
"""
ASKS = """
isinstance(data, WeightedSample)
isinstance(problem, BinaryProblem | str)
isinstance(problem, (problems.ClassWiseProblem, int))
isinstance(data, np.ndarray)
"""
PLANTED = {
    "one.py": "ROWS, CELLS = 8, 256\nFEW = 3\nrows_drawn = redrawn(ROWS)",
    "two.py": "ROWS = 2**18\nFEW = 3\n\ndef drawn(self, drawn=None):\n    CELLS = 1",
}


def without_type(source):
    """The parameters of a file that are annotated as `Any` and nothing else, each "function(parameter)"."""
    functions = [node for node in nodes_of(source) if isinstance(node, ast.FunctionDef)]
    return [
        f"{function.name}({each.arg})"
        for function in functions
        for each in ast.walk(function.args)
        if isinstance(each, ast.arg) and each.annotation and ast.unparse(each.annotation).strip("'") == "Any"
    ]


def kinds(files):
    """The names of the classes of problems, intervals, moments and weighted rows."""
    found = [node for path, source in files.items() if path.startswith(KINDS) for node in nodes_of(source)]
    return {node.name for node in found if isinstance(node, ast.ClassDef)}


def asked_kinds(source, names):
    """The checks of a file by `isinstance` whether an object is of one of these kinds, as text."""
    calls = [node for node in nodes_of(source) if isinstance(node, ast.Call)]
    checks = [call for call in calls if ast.unparse(call.func) == "isinstance"]
    return [
        ast.unparse(check)
        for check in checks
        if names & {ast.unparse(node).rpartition(".")[2] for node in ast.walk(check.args[1]) if is_name(node)}
    ]


def is_name(node):
    return isinstance(node, ast.Name | ast.Attribute)


def overloads(source):
    """The functions of a file that are overloads of another one, by name."""
    functions = [node for node in nodes_of(source) if isinstance(node, ast.FunctionDef)]
    marks = {"overload", "typing.overload"}
    return [each.name for each in functions if marks & {ast.unparse(mark) for mark in each.decorator_list}]


def overrides(source):
    """The lines of a file on which mypy is told to keep silent about an override."""
    return [line.strip() for line in source.splitlines() if re.search(r"type: ignore\[[^]]*\boverride\b", line)]


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


def test_few_parameters_have_no_type():
    assert (ROOT / "compiled.py").exists()
    found = [f"{path}: {each}" for path, source in sources().items() for each in without_type(source)]
    assert len(found) <= MOST_WITHOUT_TYPE, "\n".join(found)


def test_code_seldom_asks_of_which_kind_an_object_is():
    names = kinds(sources())
    assert {"WeightedSample", "BinaryProblem"} <= names
    found = [f"{path}: {each}" for path, source in sources().items() for each in asked_kinds(source, names)]
    assert len(found) <= MOST_ASKED_KINDS, "\n".join(found)


@pytest.mark.parametrize(("count", "most"), [(overloads, MOST_OVERLOADS), (overrides, MOST_OVERRIDES)])
def test_types_are_written_once(count, most):
    found = [f"{path}: {each}" for path, source in sources().items() for each in count(source)]
    assert len(found) <= most, "\n".join(found)


def test_planted_overloads_and_overrides_are_counted():
    assert overloads(OVERLOADS) == ["one", "of"]
    assert [line[:5] for line in overrides(SILENT)] == ["def n", "cells"]


def test_planted_parameters_and_checks_are_counted():
    assert sorted(without_type(NO_TYPE)) == ["verb(kept)", "verb(options)", "verb(rows)", "verb(y)"]
    assert len(asked_kinds(ASKS, {"WeightedSample", "BinaryProblem", "ClassWiseProblem"})) == 3


def test_few_constants_share_a_name():
    found = shared(sources())
    assert len(found) <= MOST_SHARED, ", ".join(sorted(found))


def test_few_names_say_drawn():
    found = with_word(sources(), "drawn")
    assert len(found) <= MOST_DRAWN, ", ".join(sorted(found))


def test_planted_names_are_counted():
    assert shared(PLANTED) == {"ROWS"}
    assert with_word(PLANTED, "drawn") == {"rows_drawn", "redrawn", "drawn"}
