"""Ten pages have one shape: the question, five lines, the picture, how to read it, when not, and what is next."""

import doctest
import re

import pytest
from documentation import DOCS

TEN = [
    *("tests", "intervals", "reliability", "groups", "monitoring"),
    *("recalibration", "comparing", "cross-validation"),
    *("which-measure", "studies"),
]
SHAPE = ["Five lines", "The picture", "How to read it", "When not", "Next"]
MAY_BE = "Variants"  # between how to read it and when not
MOST_WORDS = 900  # with code and tables


def part(page, heading):
    """What stands below a heading, up to the next one."""
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def objections(page):
    """What is not of the shape."""
    headings = re.findall(r"(?m)^##? (.+)$", page.partition("\n")[2])
    found = [] if [each for each in headings if each != MAY_BE] == SHAPE else [f"headings {headings}"]
    if MAY_BE in headings and headings.index(MAY_BE) != 3:
        found.append("variants out of place")
    lines = [line for line in part(page, "Five lines").splitlines() if line.startswith((">>> ", "... "))]
    found += [f"{len(lines)} lines of code"] * (not 3 <= len(lines) <= 7)
    found += ["does not begin with y, p"] * (not any("y, p = " in line for line in lines[:3]))
    found += ["no picture"] * ("![" not in part(page, "The picture"))
    found += ["no next page"] * (len(re.findall(r"\]\([^)]+\.(?:md|rst)", part(page, "Next"))) < 2)
    found += [f"{len(page.split())} words"] * (len(page.split()) > MOST_WORDS)
    return found


@pytest.mark.parametrize("name", TEN)
def test_each_page_has_the_shape(name):
    page = (DOCS / "guide" / f"{name}.md").read_text(encoding="utf-8")
    assert objections(page) == []
    assert doctest.DocTestParser().get_examples(part(page, "Five lines"))


def test_what_is_out_of_shape_is_found():
    page = (DOCS / "guide" / "tests.md").read_text(encoding="utf-8")
    assert objections(page.replace("## When not", "## Never")) != []
    assert objections(page.replace("![", "[")) == ["no picture"]
    assert objections(page + " word" * MOST_WORDS)[-1].endswith("words")
    assert objections(page.replace("y, p = ", "a, b = ", 1)) == ["does not begin with y, p"]
    assert objections(page.replace("## Next\n", "## Next\n\n### More\n", 1)) == []  # smaller headings are free
