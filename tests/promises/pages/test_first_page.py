"""The first page, in README and on the site: the same two questions, and the same section on measures."""

import re
import tomllib

from documentation import DOCS, measure_pages
from project_folder import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
PAPERS = ("2406.04068", "2211.16886", "2210.01964", "1904.01685", "1902.06977")
MOST_WORDS = 120


def beginning(page):
    """What stands below the title and above how to install it."""
    return page.partition("# calibstat\n")[2].partition("\nNot on the package index")[0].strip()


def section(page):
    """The section about studies of measures."""
    return page[page.index("## How good is a measure?") :].partition("\n## ")[0].strip()


def words(text):
    """How many words a reader reads: without code, and without the addresses and pictures behind links."""
    prose = re.sub(r"```.*?```|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    return len(re.sub(r"\]\([^)]*\)", "]", prose).split())


def test_both_begin_with_the_two_questions():
    assert beginning(README) == beginning(INDEX)
    assert "**Is my model calibrated?**" in beginning(README)
    assert "How good is a measure" in beginning(README)
    assert beginning(README) != beginning(README.replace("two questions", "a question"))


def test_both_have_the_same_section_on_measures():
    site = measure_pages().filled_in(INDEX)
    assert section(site) == section(README).replace("](docs/", "](")
    assert section(site).count("](images/how_good.png)") == 1
    links = re.findall(r"\]\(([^):#]+)\)", section(site))
    assert len(links) >= 3
    assert all((DOCS / link).exists() for link in links)


def test_the_section_is_short_and_names_what_there_is():
    assert words(section(README)) <= MOST_WORDS
    assert words("one [two](a/b c) ```x y z``` ![p q](r) three") == 3
    for name in ("consistency-resampling", "bootstrap", "honest intervals", "generators with known truth", *PAPERS):
        assert name in section(README)
    for question in ("bias", "consistency", "ranking"):
        assert f'"{question}"' in section(README)


def test_the_package_index_would_say_that_there_are_studies():
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "Monte Carlo studies" in project["description"]
    assert {"simulation", "Monte Carlo"} <= set(project["keywords"])
