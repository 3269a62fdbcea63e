"""Which tests are `thorough`: those that tests/durations.txt names, which ``python tests/helpers/durations.py`` writes.

A line is CPU seconds, what the plain run keeps, and a test function with all its parameters, one of its tests, a file
or a folder. It keeps all tests of a line if the word is "plain", the first one if it is "first", and else none. Seconds
are of all tests of the line, and with "plain" of the longest. Of several lines that name a test the longest name
decides. Lines with "plain", and those of files and folders, are written by hand.
"""

import json
import os
import re
import sys
import tempfile
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from project_folder import PROJECT

LIST = PROJECT / "tests" / "durations.txt"
LIMIT = 0.02  # CPU seconds of a test function with all its parameters above which it has a line
MOST = 1.0  # CPU seconds above which the plain run keeps no test
PLAIN = "not thorough and not slow"  # what the plain run asks for, as pyproject.toml says
APART = ("slow", "site", "spark")  # markers of tests that have no line
COLLECTED = pytest.StashKey[list[str]]()  # names of all tests of a run, before any is left out
HEAD = f"""# CPU seconds, what the plain run keeps ("first" of the tests, "plain": all), and test functions with all
# parameters, tests, files or folders. What it does not keep is `thorough`. `python tests/helpers/durations.py` writes
# what takes more than {LIMIT} seconds when all is compiled. Lines with "plain", and of files and folders, are by hand.
"""


class Line(NamedTuple):
    """What the list says of one name."""

    seconds: float
    keeps: str  # "plain", "first" or nothing


def read(path=LIST):
    """The lines of the list, by name."""
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            seconds, keeps, name = re.fullmatch(r" *([\d.]+) (plain|first|     ) (.*)", line).groups()
            found[name] = Line(float(seconds), keeps.strip())
    return found


def write(lines, path=LIST):
    rows = (f"{line.seconds:6.2f} {line.keeps:5} {name}\n" for name, line in sorted(lines.items()))
    path.write_text(HEAD + "".join(rows), encoding="utf-8")


def function_of(test):
    """The function of a test, without parameters."""
    return test.partition("[")[0]


def file_of(test):
    return test.partition("::")[0]


@cache
def places_of(file):
    """A file and the folders that it is in."""
    return [file, *map(str, Path(file).parents)]


def names_of(test):
    """What may name a test in the list, the longest first: itself, its function, its file, the folders of its file."""
    return [test, function_of(test), *places_of(file_of(test))]


def deciding(test, lines):
    """The name by which the list decides about a test, None if it says nothing."""
    return next((name for name in names_of(test) if name in lines), None)


def thorough(tests, lines):
    """Which of these tests, in the order in which they are collected, the plain run leaves out."""
    found, begun = set(), set()
    for test in tests:
        name = deciding(test, lines)
        keeps = lines[name].keeps if name else "plain"
        if keeps == "" or (keeps == "first" and name in begun):
            found.add(test)
        begun.add(name)
    return found


def is_left_out(path, lines):
    """Whether the plain run leaves out all tests of a file or folder."""
    name = deciding(str(path.relative_to(PROJECT)), lines) if path.is_relative_to(PROJECT) else None
    return name is not None and not any(line.keeps for other, line in lines.items() if other.startswith(name))


def updated(lines, seconds):
    """The lines after all tests of some files were found to take so many seconds; lines of other files stay."""
    total, longest = defaultdict(float), defaultdict(float)
    for test, found in seconds.items():
        for name in set(names_of(test)):
            total[name] += found
            longest[name] = max(longest[name], found)
    files = set(map(file_of, seconds))
    by_hand = {name: line for name, line in lines.items() if line.keeps == "plain" or "::" not in name}
    kept = by_hand | {name: line for name, line in lines.items() if file_of(name) not in files}
    first = {function_of(test): test for test in reversed(seconds)}
    for function, test in first.items():
        if total[function] > LIMIT and deciding(function, by_hand) is None:
            kept[function] = Line(total[function], "first" if test != function and seconds[test] <= LIMIT else "")
    figures = {"plain": longest, "first": total, "": total}
    return {name: line._replace(seconds=figures[line.keeps].get(name, line.seconds)) for name, line in kept.items()}


def stale(lines, collected):
    """Lines whose file is not there, or was collected without any test of their name."""
    files = set(map(file_of, collected))
    known = {name for test in collected for name in names_of(test)}
    gone = {name for name in lines if not (PROJECT / file_of(name)).exists()}
    return sorted(gone | {name for name in lines if file_of(name) in files and name not in known})


def too_long(lines):
    """Names of tests that the plain run keeps and that take longer than any may."""
    return [name for name, line in lines.items() if line.keeps == "plain" and line.seconds > MOST]


def cpu():
    """Seconds of this process and of those that it started and that ended."""
    of_others = os.times()
    return time.process_time() + of_others.children_user + of_others.children_system


class Seconds:
    """A plugin that keeps the CPU seconds of tests; what several tests share of a fixture is divided among them."""

    def __init__(self):
        self.tests = {}
        self.shared, self.users = defaultdict(float), defaultdict(list)  # by place and name of a fixture

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef, request):
        before = cpu()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.shared[request.node.nodeid, fixturedef.argname] += cpu() - before

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        before, of_others = cpu(), sum(self.shared.values())
        result = yield
        self.tests[item.nodeid] = cpu() - before - (sum(self.shared.values()) - of_others)
        for place in item.listchain():
            for name in getattr(item, "fixturenames", ()):
                self.users[place.nodeid, name].append(item.nodeid)
        return result

    def pytest_sessionfinish(self):
        for fixture, seconds in self.shared.items():
            for test in self.users[fixture]:
                self.tests[test] += seconds / len(self.users[fixture])


def run(arguments):
    """CPU seconds of the tests that pytest runs with these arguments, in one process, which starts anew."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "seconds.json"
        child = os.fork()
        if not child:
            seconds = Seconds()
            status = pytest.main(["-n0", "-q", *arguments], plugins=[seconds])
            answer.write_text(json.dumps(seconds.tests))
            os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            sys.exit(f"expected tests, found exit status {status} of pytest")
        return {test: found for test, found in json.loads(answer.read_text()).items() if test.startswith("tests/")}


def main(*arguments):
    """Measure all tests, and then the plain ones, which pay now what the others had loaded and computed."""
    os.chdir(PROJECT)
    write(updated(read(), run(["-m", "not slow", *arguments])))
    lines = updated({}, run(arguments))
    write({name: line for name, line in lines.items() if not deciding(name, read())} | read())


if __name__ == "__main__":
    main(*sys.argv[1:])
