"""The page of designs: the words that functions take, and what designs refuse, are those of the code."""

import re

import pytest
from project_folder import PROJECT
from public_functions import public_functions

from calibstat.data.checked_rows import AboutRows
from calibstat.inference.designs.clustered import Clustered
from calibstat.inference.designs.cross_validated import CrossValidated
from calibstat.inference.designs.judged_labels import Judged

PAGE = (PROJECT / "docs" / "more" / "designs.md").read_text(encoding="utf-8")
LABELS = {"labels", "pos_label"}
REASONS = {"clusters": Clustered.refuses, "cross-validated": CrossValidated.refuses, "judged": Judged.refuses}


def rows_below(page, head):
    """The cells of the table with this head."""
    _, _, below = page.partition(head)
    lines = below.splitlines()[2:]
    table = lines[: next((at for at, line in enumerate(lines) if not line.startswith("|")), len(lines))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def written(page):
    """The words that each function takes, as the page says."""
    rows = rows_below(page, "| function | words |")
    return {
        name: set(re.findall(r"`(\w+)=`", words)) for names, words in rows for name in re.findall(r"`(\w+)`", names)
    }


def taken():
    """The words that each function takes, as functions say."""
    functions = public_functions()
    words = AboutRows.__annotations__.keys() - LABELS
    return {
        name: words & {*each.takes} for name, each in functions.items() if isinstance(vars(each).get("takes"), tuple)
    }


def without_reason(page):
    """The arguments that designs refuse of a test with a reason that the page does not tell."""
    design, found = "", set()
    for name, arguments, reason in rows_below(page, "| design | refused | because |"):
        design = name or design
        found |= {(design, argument, reason) for argument in re.findall(r"`(\w+)=", arguments)}
    return {(name, word, why) for name, reasons in REASONS.items() for word, why in reasons.items()} - found


def test_the_words_that_functions_take_are_on_the_page():
    assert len(taken()) > 20
    assert written(PAGE) == taken()


def test_the_reasons_of_designs_are_on_the_page():
    assert without_reason(PAGE) == set()


@pytest.mark.parametrize("found", ["`sharpness` ", "`folds=`, ", "`detail`, "])
def test_a_word_or_a_function_that_lacks_is_found(found):
    assert found in PAGE.partition("| function | words |")[2]
    before, head, after = PAGE.partition("| function | words |")
    assert written(before + head + after.replace(found, "", 1)) != taken()


def test_a_reason_that_lacks_is_found():
    reason = "each fold has a model of its own"
    assert without_reason(PAGE.replace(reason, "it is so")) == {("cross-validated", "null", reason)}
