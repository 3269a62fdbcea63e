"""Lists of pages have a line under every link: the first sentence of each page, which therefore has to have one."""

import re

import pytest
from documentation import DOCS, TOOLS, load

lists = load(TOOLS / "page_lists.py")
INDEXES = [page for page in sorted(DOCS.glob("**/*.md")) if "```{toctree}\n:lines:" in page.read_text(encoding="utf-8")]
BARE = re.compile(r"```\{toctree\}\n(?!:lines:)(?!:hidden:)")
LONGEST = 240  # letters of a line
MOST_FILES = 15  # at the top of the documentation


def write(folder, **pages):
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, encoding="utf-8")


def test_a_list_shows_titles_and_first_sentences(tmp_path):
    write(
        tmp_path,
        a="# Title of A\n\n![picture](x.png)\n\n*Is it [so](b.md)?* More of it.\n",
        b="# B\n\n```python\nx\n```\n\n**Context.** By e.g. two\nlines it says so. Then more.\n",
        index="# All\n\n```{toctree}\n:lines:\na\nb\n```\n",
    )
    shown = lists.with_lines((tmp_path / "index.md").read_text(), tmp_path)
    assert "[Title of A](a.md)\n: Is it so?\n" in shown
    assert "[B](b.md)\n: By e.g. two lines it says so.\n" in shown
    assert "```{toctree}\n:hidden:\n:titlesonly:\n\na\nb\n```" in shown


def test_a_pattern_names_all_pages_but_the_index(tmp_path):
    write(tmp_path, one="# One\n\nIt is one page.\n", two="# Two\n\nIt is another page.\n", index="# Index\n")
    assert lists.names_of("*", tmp_path) == ["one", "two"]


def test_a_page_that_begins_with_a_table_is_named(tmp_path):
    write(tmp_path, bare="# Bare\n\n| a | b |\n|---|---|\n")
    with pytest.raises(ValueError, match=r"expected a sentence below the title of bare\.md, found"):
        lists.said(tmp_path / "bare.md")


@pytest.mark.parametrize("page", INDEXES, ids=lambda page: page.parent.name)
def test_every_link_of_an_index_has_a_line_that_is_short(page):
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"(?m)^: (.+)$", lists.with_lines(text, page.parent))
    assert len(lines) >= 2
    assert [line for line in lines if len(line) > LONGEST] == []


def test_no_index_has_bare_links():
    bare = [str(page) for page in sorted(DOCS.glob("**/*.md")) if BARE.search(page.read_text(encoding="utf-8"))]
    assert bare == []
    assert BARE.search("```{toctree}\n:titlesonly:\n\na\n```")


def test_few_files_are_at_the_top():
    assert len([path for path in DOCS.iterdir() if path.is_file()]) <= MOST_FILES
