"""mypy understands code as users write it: the examples of all pages, and finds every misspelt argument."""

import re
import subprocess
import sys

import pytest
from user_code import ROOT, misspelt, pages, write

OPTIONS = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--allow-redefinition"]
# the libraries that no type of ours is made of, which take half of the time
CONFIG = "[mypy]\n[mypy-numba.*,IPython.*,rich.*,jinja2.*,PIL.*,typer.*]\nfollow_imports = skip\n"
UNTYPED = ["no-untyped-def", "no-untyped-call"]  # examples define functions without types
MAY_BE_NONE = ["union-attr", "index", "operator"]  # what an example shows to be there may be None elsewhere


def errors(paths, cache):
    """The errors that mypy finds in files, for each the name of its file."""
    off = [f"--disable-error-code={code}" for code in UNTYPED + MAY_BE_NONE]
    where = [f"--cache-dir={cache}", f"--config-file={cache / 'mypy.ini'}"]
    command = [sys.executable, "-m", "mypy", *OPTIONS, *off, *where, *map(str, paths)]
    found = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert found.returncode in (0, 1), found.stdout + found.stderr  # 2: mypy itself has failed
    lines = [line for line in found.stdout.splitlines() if ": error: " in line]
    assert bool(lines) == bool(found.returncode), found.stdout
    return [(re.search(r"(\w+)\.py:", line)[1], line.partition(": error: ")[2]) for line in lines]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mypy")
    (folder / "mypy.ini").write_text(CONFIG)
    return folder


def test_examples_have_no_error(tmp_path, cache):
    assert len(pages()) >= 20
    assert errors(write(tmp_path / "good", pages()), cache) == []


def test_every_misspelt_argument_is_found(tmp_path, cache):
    code = misspelt()
    assert len(code) >= 28
    found = errors(write(tmp_path / "bad", code), cache)
    assert {name for name, _ in found} == set(code)


def test_a_wrong_type_is_found(tmp_path, cache):
    planted = pages()["typed_calls.py"].replace("cs.estimate(y, p), float)", "cs.estimate(y, p), str)")
    assert [name for name, _ in errors(write(tmp_path / "wrong", {"typed_calls": planted}), cache)] == ["typed_calls"]
