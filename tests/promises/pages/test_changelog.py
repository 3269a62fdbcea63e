"""The changelog: a version has few lines, a short row for what to write now, and links that lead somewhere."""

import re

import pytest
from project_folder import PROJECT

import calibstat

TEXT = (PROJECT / "CHANGELOG.md").read_text(encoding="utf-8")
MOST_LINES = 150
LONGEST_LINE = 400
PARTS = (
    "What to change",
    "Defaults that changed",
    "Numbers that changed with the same seed and arguments",
    "What is new",
    "What was wrong",
)


def versions(text):
    """The lines of each version, by its number."""
    parts = [part.partition("\n") for part in text.split("\n## ")[1:]]
    return {heading.split()[0]: body.strip().splitlines() for heading, _, body in parts}


def objections(text):
    """What is wrong with the newest version: parts, length, rows of the table, entries of several lines, links."""
    version, lines = next(iter(versions(text).items()))
    found = [] if version == calibstat.__version__ else [f"{version} is not the version"]
    found += ["too long"] * (len(lines) > MOST_LINES) + [line for line in lines if len(line) > LONGEST_LINE]
    headings = tuple(line.removeprefix("### ") for line in lines if line.startswith("### "))
    found += [] if headings == PARTS else [f"parts {headings}"]
    found += [line for line in lines if line.startswith("|") and len(line[1:-1].split(" | ")) != 2 and "--" not in line]
    found += [line for line in lines if line.startswith(" ")]
    targets = re.findall(r"\]\(([^)#]+)", "\n".join(lines))
    return found + [target for target in targets if not (PROJECT / target).exists()]


def test_a_version_is_read_in_some_minutes():
    assert objections(TEXT) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("### What is new", "### News", "parts"),
        ("### What is new\n", "### What is new\n" + "- a\n" * MOST_LINES, "too long"),
        ("### What is new\n", "### What is new\n\n- " + "a" * LONGEST_LINE, "- aaa"),
        ("| before | now |\n", "| before | now | why |\n", "| before"),
        ("](docs/evidence/omnibus.md)", "](docs/omni.md)", "docs/omni.md"),
        ("### What is new\n", "### What is new\n\n- a line\n  of a diary\n", "  of a diary"),
        (f"## {calibstat.__version__}", "## 9.0.0", "9.0.0"),
    ],
)
def test_faults_are_found(old, new, said):
    assert old in TEXT
    assert any(each.startswith(said) for each in objections(TEXT.replace(old, new, 1)))
