"""Each row of the pages for users of other packages, against what the package itself says of the same rows.

Its answers are stored with their versions (tests/helpers/rows_of_packages.py), and R's in tests/classical/val_prob.
Packages that are installed here are asked again.
"""

import csv
import re
from importlib.util import find_spec

import numpy as np
import pytest
from project_folder import PROJECT
from rows_of_packages import PACKAGES, asked, numbers, rows, stored, table
from val_prob_rows import stored as rows_of_r

import calibstat as cs

ROWS = [(package, *row) for package in PACKAGES for row in table(package)]
STORED = stored()
CLOSE, NEAR = 1e-6, 0.01  # torch has single precision


def said_by_r(call):
    """The number of a line of val.prob on the stored rows."""
    quantity = re.fullmatch(r'val\.prob\(p, y\)\["(.+)"\]', call)[1]
    with (PROJECT / "tests/classical/val_prob/numbers.csv").open() as file:
        lines = csv.DictReader(line for line in file if not line.startswith("#"))
        return next(each["value"] for each in lines if (each["rows"], each["quantity"]) == ("over_confident", quantity))


def both(package, there, here):
    """The numbers of the other package and of calibstat."""
    names = {"cs": cs} | rows()
    if there.startswith("val.prob"):
        y, p = rows_of_r("over_confident")
        return said_by_r(there), numbers(eval(here, names | {"y": y, "p": p}))
    return STORED[package, there][1], numbers(eval(here, names))


def distance(one, other):
    """The largest relative difference of two texts of numbers."""
    a, b = (np.array(text.split(), dtype=float) for text in (one, other))
    return np.inf if a.shape != b.shape else np.max(np.abs(a - b) / np.maximum(np.abs(a), 1e-9))


def objection(same, difference):
    """What is wrong with a cell about the numbers, if anything."""
    if same == "yes":
        return None if difference <= CLOSE else f"they differ by {difference:.2g}"
    if same.startswith("to 1 %: "):
        return None if CLOSE < difference <= NEAR else f"they differ by {difference:.2g}"
    return None if same.startswith("no: ") and difference > NEAR / 10 else "they are the same, or no reason is given"


@pytest.mark.parametrize(("package", "there", "here", "same"), ROWS, ids=[f"{row[0]}: {row[1]}" for row in ROWS])
def test_each_row_is_as_it_says(package, there, here, same):
    assert objection(same, distance(*both(package, there, here))) is None


def test_each_page_has_rows_and_each_stored_answer_is_on_a_page():
    assert {row[0] for row in ROWS} == set(PACKAGES)
    assert {path.stem.removeprefix("from-") for path in (PROJECT / "docs" / "start").glob("from-*.md")} == set(PACKAGES)
    assert set(STORED) == {(package, there) for package, there, *_ in ROWS if not there.startswith("val.prob")}


@pytest.mark.parametrize(
    "package", [name for name in ("scikit-learn", "relplot") if find_spec({"scikit-learn": "sklearn"}.get(name, name))]
)
def test_what_is_installed_still_says_what_is_stored(package):
    for there, (_, text) in asked(package).items():
        assert distance(text, STORED[package, there][1]) <= CLOSE, there


@pytest.mark.parametrize(
    ("same", "difference"), [("yes", 0.001), ("to 1 %: a grid", 0.02), ("no: bins", 0), ("perhaps", 0.5)]
)
def test_a_row_that_says_something_else_is_found(same, difference):
    assert objection(same, difference) is not None
