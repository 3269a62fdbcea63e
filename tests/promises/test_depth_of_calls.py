"""How deep a call goes, how many files it enters, how many members bases have: limits to be lowered, and not raised.

They are what was measured when they were written. Of the files ten check the arguments and say what is odd about
them; each has a task of its own.
"""

import inspect

import pytest
from profiled import profiled
from quick_report import quick_report

import calibstat as cs
from calibstat.inference.problems.problem import Problem
from calibstat.measures.kinds.binary_kinds import Statistic

ROWS = cs.generators.temperature(3).sample(500, rng=1)
OTHER_ROWS = cs.generators.temperature(3).sample(500, rng=2)
CALLS = {  # what is called, the deepest that it may go, and the most files and functions that it may enter
    "estimate": (lambda y, p: cs.estimate(y, p), 8, 13, 31),
    "interval": (lambda y, p: cs.confidence_interval(y, p, measure="ks", n_resamples=99, rng=1), 15, 37, 195),
    "test": (lambda y, p: cs.calibration_test(y, p, measure="ece", n_resamples=99, rng=1), 11, 36, 146),
}
MEMBERS = {Problem: 42, Statistic: 44}  # attributes, class variables and methods that a subclass may touch
CHECKS = 2  # of the rows of one model by a report: of their form and of their values


@pytest.mark.parametrize("name", CALLS)
def test_calls_are_no_deeper_and_enter_no_more_files_and_functions(name):
    call, deepest, files, functions = CALLS[name]
    found = profiled(call, *ROWS, warm_up=OTHER_ROWS)
    assert found.deepest <= deepest
    assert len(found.files) <= files
    assert len(found.calls) <= functions


def test_the_interval_takes_the_whole_way():
    """Its low end is above 0, so that the test of calibration is asked too."""
    assert CALLS["interval"][0](*ROWS).low > 0


def members(cls):
    """The public names of a class and its bases, with what is annotated."""
    bases = [base for base in cls.__mro__ if base is not object]
    names = {name for base in bases for name in (*vars(base), *inspect.get_annotations(base))}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("cls", MEMBERS, ids=lambda cls: cls.__name__)
def test_bases_have_no_more_members(cls):
    assert len(members(cls)) <= MEMBERS[cls]


def test_members_by_hand():
    class Base:
        field: int
        _hidden = 1

    class Part(Base):
        def ask(self): ...

    assert members(Part) == {"field", "ask"}


def test_a_report_checks_the_rows_no_more_often():
    found = profiled(lambda y, p: quick_report(y, p, rng=1), *ROWS, warm_up=OTHER_ROWS)
    assert 1 <= found.times("data", "as_rows", "check_rows") <= CHECKS


# --- by hand ----------------------------------------------------------------------------------------------------------

SOURCES = {
    "outer.py": """
def outer(x):
    return [inner(each) for each in (x, x)]

def caught():
    try:
        fail(1)
    except ValueError:
        return inner(1)
""",
    "data/inner.py": """
def inner(x):
    return innermost(x)

def innermost(x):
    return sorted([x, 0], key=key)[0]

def key(x):
    return -x

def fail(x):
    if x:
        fail(x - 1)
    raise ValueError
""",
}


@pytest.fixture(scope="module")
def package():
    """The functions of these files, as if they were below a folder `root`."""
    found = {}
    for file, source in SOURCES.items():
        exec(compile(source, f"root/{file}", "exec"), found)
    return found


def test_a_profile_by_hand(package):
    """outer, inner, innermost and key are open at once; the list is made in place, and `sorted` is of no file."""
    found = profiled(package["outer"], 1, warm_up=(2,), root="root")
    assert found.deepest == 4
    assert found.files == {"outer.py", "data/inner.py"}
    assert found.times("data", "inner", "key") == 2 + 4
    assert found.times("bounds", "inner", "key") == found.times("data", "outer") == 0


def test_errors_close_what_they_leave(package):
    found = profiled(package["caught"], root="root")
    assert found.deepest == 4  # caught, inner, innermost and key: the error has left both calls of fail
    assert found.times("data", "fail") == 2
