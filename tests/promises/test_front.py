"""What a user meets first: short signatures, rows described in one place, one result for a question, short verbs.

Every rule is a checker that returns what it objects to, and has a twin test that feeds it a planted fault. A verb is a
function of `question` or `question_of_all`; a word about rows is a key of `AboutRows`, as `cluster` is.
"""

import ast
import inspect
import re
import sys
import typing
from typing import Unpack

import pytest
from held_objects import kinds
from package_sources import import_statements, imported, nodes_of, sources
from public_functions import public_functions
from uses_of_rows import MAY_ASK, OF_DESIGNS, asking_rows

import calibstat as cs
from calibstat.cli.app import app
from calibstat.data.checked_rows import AboutRows
from calibstat.inference.designs.question_of_rows import ROW_WORDS, question
from calibstat.inference.rows_of_results import Rows
from calibstat.result import Result

MOST_ARGUMENTS = 12  # beside y_true and y_prob, options and words about rows
MOST_OF_A_COMMAND = 14  # which has options for its file, too; beside how columns are read. `sample_size` plans for four
MOST_IFS = 3  # in the body of a verb
DICTIONARIES = {"AboutRows", "MeasureOptions", "RowsAndOptions"}
FLOORS = ("problems and other helpers", "comparing", "designs", "verbs")
WITH_VERBS = ("auditing", "bands", "choosing", "cross_validation", "decomposing", "power")  # and what they are made of
# What a rule does not hold for, by the name of the rule; all other rules hold for all.
EXCEPTIONS = {
    # `sample_size` and `decompose` have an argument of their own (`width`, `score`) that is a measure's option, too.
    # Type checkers allow no name twice, so that their options are written apart.
    "dictionaries": {"OptionsBesideWidth", "OptionsOfPlans", "OptionsOfFits", "RowsAndOptionsOfFits"},
    # One class for each kind of diagram: of an event, of each class, of all classes jointly.
    "results": {"reliability"},
}


def without(rule, found):
    """What a checker found, except what the rule does not hold for; and what meets it and stands there still."""
    return sorted(set(found) ^ EXCEPTIONS.get(rule, set()))


def public():
    """The public functions."""
    return public_functions()


def commands():
    """The functions of all commands, as they are written."""
    return {each.name: inspect.unwrap(each.callback) for each in app.registered_commands}


def arguments(function):
    """The arguments of a function by name, without outcomes, predictions and options."""
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.kind is not each.VAR_KEYWORD} - {"y_true", "y_prob"}


# --- signatures -------------------------------------------------------------------------------------------------------


def crowded(functions, most=MOST_ARGUMENTS):
    """Functions with more arguments than that."""
    return {name for name, each in functions.items() if len(arguments(each)) > most}


def naming_rows(functions):
    """Functions of outcomes and predictions that have words about rows in their signatures."""
    return {
        name
        for name, each in functions.items()
        if "y_true" in inspect.signature(each).parameters and arguments(each) & ROW_WORDS
    }


def test_signatures_are_short():
    plans = {"sample_size": cs.sample_size}
    assert without("arguments", crowded(public()) - set(plans)) == []
    assert crowded(plans, MOST_OF_A_COMMAND) == set()


def test_commands_are_short():
    assert len(commands()) >= 15
    assert without("commands", crowded(commands(), MOST_OF_A_COMMAND)) == []


def test_rows_are_described_beside_a_signature():
    assert without("rows' words", naming_rows(public())) == []


def test_a_long_signature_and_words_about_rows_are_found():
    @question("cluster")
    def verb(
        rows: cs.Data, /, *, a=1, b=1, c=1, d=1, e=1, f=1, g=1, h=1, i=1, j=1, k=1, m=1, **about: Unpack[AboutRows]
    ):
        """Ask."""

    def long(y_true, y_prob=None, *, a, b, c, d, e, f, g, h, i, j, k, m, n, **options):
        """Ask more."""

    def named(y_true, y_prob=None, *, cluster=None):
        """Describe rows."""

    assert crowded({"verb": verb, "long": long}) == {"long"}
    assert crowded({"long": long}, MOST_OF_A_COMMAND) == set()
    assert naming_rows({"verb": verb, "named": named, "map": lambda p, y, sample_weight: 1}) == {"named"}


def dictionaries(files):
    """The classes of dictionaries of arguments, those made from others too."""
    classes = [node for source in files.values() for node in nodes_of(source) if isinstance(node, ast.ClassDef)]
    bases = {node.name: {ast.unparse(base).rpartition(".")[2] for base in node.bases} for node in classes}
    found = set()
    while new := {name for name, of in bases.items() if of & (found | {"TypedDict"})} - found:
        found |= new
    return found


def locals_asked(files):
    """Files that call `locals()`."""
    calls = [(file, node) for file, source in files.items() for node in nodes_of(source) if isinstance(node, ast.Call)]
    return {file for file, node in calls if ast.unparse(node.func) == "locals"}


def test_arguments_are_written_once():
    assert without("dictionaries", dictionaries(sources()) - DICTIONARIES) == []
    assert without("locals", locals_asked(sources())) == []


def test_a_dictionary_of_arguments_and_locals_are_found():
    planted = "class One(typing.TypedDict): ...\nclass Two(One, total=False): ...\nclass Three(Two, X): ...\n"
    assert dictionaries({"a.py": planted, "b.py": "class Four(X): ..."}) == {"One", "Two", "Three"}
    assert locals_asked({"a.py": "def f():\n    return ask(locals())\nlocals_of(x)"}) == {"a.py"}


# --- verbs -----------------------------------------------------------------------------------------------------------


def verbs(files):
    """The verbs of source files, each with its function and its file."""
    found = {}
    for file, source in files.items():
        for node in nodes_of(source):
            if isinstance(node, ast.FunctionDef):
                marks = {ast.unparse(each).partition("(")[0] for each in node.decorator_list}
                found |= {node.name: (file, node)} if marks & {"question", "question_of_all"} else {}
    return found


def branching(files):
    """Verbs with more `if` statements in their bodies than a verb may have; what they call is not looked at."""
    return {
        name
        for name, (_, function) in verbs(files).items()
        if sum(isinstance(node, ast.If) for node in ast.walk(function)) > MOST_IFS
    }


def test_verbs_do_not_branch():
    assert {"calibration_test", "confidence_interval", "estimate", "reliability"} <= verbs(sources()).keys()
    assert without("ifs", branching(sources())) == []


@pytest.mark.parametrize("mark", ["question('cluster')", "question_of_all()"])
def test_a_verb_that_branches_is_found(mark):
    lines = [f"@{mark}", "def verb(rows):", *("    if rows:\n        return 1" for _ in range(3))]
    assert branching({"a.py": "\n".join(lines)}) == set()
    assert branching({"a.py": "\n".join([*lines, "    for x in rows:", "        if x:\n            return 2"])}) == {
        "verb"
    }
    assert branching({"a.py": "\n".join([*lines[1:], "    if rows:\n        return 2"])}) == set()


def several_results(functions, classes):
    """Verbs that return one of several classes of results, or of one that others are made from for no other verb."""
    returned = {name: result_classes_of(each, classes) for name, each in functions.items()}
    named = set().union(*returned.values())
    return {
        name
        for name, own in returned.items()
        if len(own) > 1 or any(set(kind.__subclasses__()) & classes - named for kind in own)
    }


def result_classes_of(function, classes):
    """The classes of results in the annotation of what a function returns, also by the name of a union."""
    known = vars(sys.modules[function.__module__]) | {kind.__name__: kind for kind in classes}
    written = re.findall(r"\w+", str(inspect.signature(function).return_annotation))
    objects = [known[name] for name in written if name in known]
    return {kind for each in objects for kind in (each, *typing.get_args(each)) if kind in classes}


def all_results():
    """All classes of results, those that others are made from too."""
    leaves = kinds()
    return leaves | {base for kind in leaves for base in kind.__mro__ if base.__module__.startswith("calibstat.infer")}


def test_a_question_has_one_result():
    asked = {name: each for name, each in public().items() if hasattr(each, "takes")}
    assert len(asked) > 15
    assert without("results", several_results(asked, all_results())) == []


EITHER = Result | Rows


def test_a_question_of_two_results_is_found():
    class First: ...

    class Second: ...

    class Third(Second): ...

    def one(y_true) -> "First | float": ...
    def two(y_true) -> "First | Second": ...
    def more(y_true) -> "Second": ...

    def other(y_true) -> "Third": ...
    def by_name(y_true) -> "EITHER": ...

    functions = {"one": one, "two": two, "more": more, "by name": by_name}
    assert several_results(functions, {First, Second}) == {"two"}
    assert several_results(functions, {First, Second, Third}) == {"two", "more"}
    assert several_results(functions | {"other": other}, {First, Second, Third}) == {"two"}
    assert several_results({"by name": by_name}, {Result, Rows}) == {"by name"}


# --- how rows came about ---------------------------------------------------------------------------------------------


def test_only_designs_ask_how_rows_came_about():
    assert without("rows", asking_rows(sources())) == []


@pytest.mark.parametrize(
    "function",
    [
        "def f(data: Data):\n    return data.cluster",
        "def f(rows: Models | None):\n    return rows.first.fold",
        "def f(rows: Models):\n    return [each.judged for each in rows.values()]",
        "def f(models: Mapping[str, Data]):\n    for name, each in models.items():\n        each.cluster",
        "def f(rows: Data):\n    for each in rows.repeats:\n        each.fold",
        "def f(y, p):\n    data = Data(y, p).through(None)\n    return data.judged",
        "def f(rows: Models):\n    one = rows['a']\n    return lambda: one.cluster",
        "class C:\n    data: Data\n    def f(self):\n        return self.data.cluster",
    ],
)
def test_code_that_asks_how_rows_came_about_is_found(function):
    assert asking_rows({"inference/bands/a.py": function}) == {"inference/bands/a.py: f"}
    assert asking_rows({"inference/designs/a.py": function}) == set()


@pytest.mark.parametrize(
    "function",
    [
        "def f(data: BinaryView):\n    return data.cluster",
        "def f(table: RowTable, data: Data):\n    return table.unit, data.n",
    ],
)
def test_what_is_no_rows_may_be_asked(function):
    assert asking_rows({"inference/bands/a.py": function}) == set()


def needs(files):
    """Functions that raise unless rows are of some kind, by words about rows, outside of what checks and designs do."""
    found = set()
    for file, source in files.items():
        for node in nodes_of(source):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("need_") and not file.startswith(MAY_ASK):
                own = {each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
                found |= {f"{file}: {node.name}"} if own & (ROW_WORDS | OF_DESIGNS | {"proxy"}) else set()
    return found


def test_designs_alone_say_what_rows_do_not_take():
    assert without("needs", needs(sources())) == []


def test_a_need_outside_of_designs_is_found():
    planted = "def need_none(cluster):\n    raise ValueError\ndef need_more(rows): ...\ndef as_one(folds): ..."
    assert needs({"inference/compare.py": planted}) == {"inference/compare.py: need_none"}
    assert needs({"inference/designs/design.py": planted}) == set()


# --- floors ----------------------------------------------------------------------------------------------------------


def homes():
    """The files of public functions."""
    modules = {inspect.unwrap(each).__module__ for each in public().values()}
    return {f"{module.removeprefix('calibstat.').replace('.', '/')}.py" for module in modules}


def floors(files, of_verbs):
    """The floor of each file of `inference/`: public functions, and folders of what they are made of, stand on top."""
    found = {}
    for file in files:
        folder = file.split("/")[1] if file.startswith("inference/") and file.count("/") > 1 else ""
        if file.startswith("inference/") and not file.endswith("__init__.py"):
            is_verb = file in of_verbs or folder in WITH_VERBS
            found[file] = FLOORS[3 if is_verb else 2 if folder == "designs" else 1 if folder == "comparing" else 0]
    return found


def rising(files, of_verbs):
    """Imports within `inference/` that point to a floor above, those for types too."""
    of = floors(files, of_verbs)
    by_module = {f"calibstat.{file.removesuffix('.py').replace('/', '.')}": file for file in of}
    found = set()
    for file, floor in of.items():
        for node in import_statements(files[file]):
            targets = {by_module[name] for name in imported(node) if name in by_module}
            above = {each for each in targets if FLOORS.index(of[each]) > FLOORS.index(floor)}
            found |= {f"{file} imports {each}" for each in above}
    return found


def test_floors_of_inference_carry_those_above():
    assert set(floors(sources(), homes()).values()) == set(FLOORS)
    assert without("floors", rising(sources(), homes())) == []


def test_an_import_of_a_floor_above_is_found():
    files = {
        "inference/honest_ends.py": "from calibstat.inference.designs.design import Design",
        "inference/comparing/pairs.py": "def f():\n    from calibstat.inference.test import test",
        "inference/designs/design.py": "from calibstat.inference.comparing.pairs import f",
        "inference/test.py": "from calibstat.inference.designs.design import Design",
    }
    assert rising(files, {"inference/test.py"}) == {
        "inference/honest_ends.py imports inference/designs/design.py",
        "inference/comparing/pairs.py imports inference/test.py",
    }
