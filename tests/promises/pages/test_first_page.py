"""The first page, in README and on the site: one source, one screen of six questions, and the section on measures."""

import re
import tomllib

from documentation import DOCS, measure_pages
from project_folder import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
INDEX = (DOCS / "index.md").read_text(encoding="utf-8")
PAPERS = ("2406.04068", "2211.16886", "2210.01964", "1904.01685", "1902.06977")
MOST_WORDS = 120
MOST_WORDS_OF_README = 700  # with code
CARDS = {
    "Is it calibrated?": "guide/tests.md",
    "How large is the error?": "guide/intervals.md",
    "Where is it wrong?": "guide/reliability.md",
    "For whom is it wrong?": "guide/groups.md",
    "Which is better?": "guide/comparing.md",
    "How good is a measure?": "guide/studies.md",
}


def beginning(page):
    """What stands above the first section."""
    return page.partition("\n## ")[0]


def cards(page):
    """The questions of the first screen, and the pages that answer them."""
    return dict(re.findall(r"^- \*\*\[([^]]+)\]\(([^)]+)\)\*\*", beginning(page), flags=re.MULTILINE))


def section(page):
    """The section about studies of measures."""
    return page[page.index("## How good is a measure?") :].partition("\n## ")[0].strip()


def words(text):
    """How many words a reader reads: without code, and without the addresses and pictures behind links."""
    prose = re.sub(r"```.*?```|!\[[^\]]*\]\([^)]*\)", "", text, flags=re.DOTALL)
    return len(re.sub(r"\]\([^)]*\)", "]", prose).split())


def test_both_begin_with_the_same_six_questions():
    site = measure_pages().filled_in(INDEX)
    assert cards(site) == CARDS
    assert cards(README) == {question: f"docs/{page}" for question, page in CARDS.items()}
    assert cards(README.replace("- **[Is it", "- [Is it")) != cards(README)
    for line in filter(None, beginning(README).splitlines()):
        assert line.replace("](docs/", "](") in site
    assert "(more/what-calibstat-does-not-do.md)" in beginning(site)


def test_the_site_writes_nothing_of_it_again():
    own = re.sub(r"^<!-- \w+ -->$", "", INDEX, flags=re.MULTILINE)
    lines = [line for line in own.splitlines() if len(line.split()) > 2]
    assert [line for line in lines if line in README.replace("](docs/", "](")] == []
    assert INDEX.count("<!-- ") >= 5


def test_the_readme_is_short():
    assert len(README.split()) <= MOST_WORDS_OF_README


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
