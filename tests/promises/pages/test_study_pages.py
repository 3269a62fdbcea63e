"""Every study has a page on the site, whose links and pictures lead to what is there."""

import re

from documentation import DOCS, TOOLS, load, measure_pages

measure_pages()  # which finds what stands beside it
made = load(TOOLS / "study_pages.py")
FOLDER = DOCS / "evidence" / "studies"


def leads_nowhere(page):
    """The links and pictures of a page of the folder that lead to no file, and to no page that is made."""
    targets = [target for _, target, _ in made.LINK.findall(page)]
    targets += re.findall(r"^:::\{figure\} (.*)$|<img src=\"([^\"]*)\"", page, flags=re.MULTILINE)
    targets = [target if isinstance(target, str) else "".join(target) for target in targets]
    return [each for each in targets if each.removesuffix(".md") not in made.PAGES and not (FOLDER / each).exists()]


def test_every_study_has_a_page_with_its_pictures():
    for name, source in made.PAGES.items():
        page, found = made.study_page(name), source.read_text(encoding="utf-8")
        assert page.count(":::{figure} ../../../simulations/figures/") == found.count("](../figures/") > 0, name
        assert "](../figures/" not in page, name
        assert re.search(rf"`(simulations|calibstat/papers)/{name}\.py`", page), name
        assert leads_nowhere(page) == [], name


def test_the_list_has_every_study_with_its_answer_and_its_limit():
    table = made.studies_table()
    assert leads_nowhere(table) == []
    rows = table.splitlines()[2:]
    assert sorted(re.search(r"\]\((\w+)\.md\)", row)[1] for row in rows) == list(made.PAGES)
    assert all(len(re.split(r"(?<!\\) \| ", row.strip("| "))) == 4 for row in rows)
    assert table.count("<img ") == len(rows)
    assert "at length" not in table
    assert "Bias <bias>" in made.studies_toctree().splitlines()


def test_links_lead_to_pages_of_the_site():
    found = (
        "[all](../README.md), [proofs](../../docs/evidence/squares.md#b), [its study](../size.py) and [bias](bias.md)"
    )
    expected = "[all](index.md), [proofs](../squares.md#b), `simulations/size.py` and [bias](bias.md)"
    assert made.LINK.sub(made.on_the_site, found) == expected
    assert leads_nowhere(expected) == []


def test_numbers_keep_their_per_cent_signs():
    assert made.together("5 % of 95 %, not 100 times") == "5\N{NO-BREAK SPACE}% of 95\N{NO-BREAK SPACE}%, not 100 times"
    assert not re.search(r"\d %", made.studies_table() + made.study_page("size"))


def test_a_link_to_nothing_is_found():
    assert leads_nowhere("[a](no_study.md) and [b](../no_page.md#a)") == ["no_study.md", "../no_page.md"]
    none = "../../../simulations/figures/none.png"
    assert leads_nowhere(f":::{{figure}} {none}\n") == [none]
