"""Templates: what is text from data stays text."""

import re

import pytest
from jinja2 import DictLoader, UndefinedError
from markdown_it import MarkdownIt

from calibstat.output import html


@pytest.fixture(name="own")
def own_fixture(monkeypatch):
    made = html._templates.__wrapped__()
    made.loader = DictLoader({"own": "<p title='{{ text }}'>{{ text }}</p>", "md": "{{ text | markdown }}"})
    monkeypatch.setattr(html, "_templates", lambda: made)


def test_text_is_escaped_and_seen(own):
    found = html.render("own", text="<b>'&\"\x1b{{7*7}}")
    assert found.count("&lt;b&gt;&#39;&amp;&#34;\\x1b{{7*7}}") == 2


def test_only_pictures_are_not_escaped(own):
    assert ">&lt;svg/&gt;<" in html.render("own", text="<svg/>")
    assert "><svg/><" in html.render("own", text=html.svg_markup("<svg/>"))


def test_what_is_missing_is_an_error(own):
    with pytest.raises(UndefinedError):
        html.render("own")


def test_markdown_is_escaped_once(own):
    """A parser of CommonMark reads the text again, with escapes that a table needs."""
    assert html.render("md", text="a|b *c* <i>\x1b\n# d_e") == r"a\|b \*c\* &lt;i&gt;\\x1b \# d\_e"


ALIVE = re.compile(r"://|@|www\.|mailto:|#\d|GH-\d", re.IGNORECASE)


@pytest.mark.parametrize("name", [
    "http://a.example/x_y?z=1&w=2", "HTTPS://a.example", "ftp://a", "www.a.example", "@user", "@group/team",
    "a@b.example", "mailto:a@b", "#12", "owner/page#12", "GH-12", "x`http://a`", "\\@user", "`@user", "<@user>", "@", "://",
    "|@a|", "a&@b",
])  # fmt: skip
def test_no_name_is_a_link_or_calls_anyone_in_markdown(own, name):
    """What is alive where pages are posted is within code, and all of the text is there."""
    page = html.render("md", text=f"The model {name} is better than {name}, p = .01")
    (paragraph,) = [token for token in MarkdownIt("commonmark").parse(page) if token.type == "inline"]
    assert {token.type for token in paragraph.children} <= {"text", "text_special", "code_inline"}
    assert not [token for token in paragraph.children if token.type != "code_inline" and ALIVE.search(token.content)]
    assert "".join(token.content for token in paragraph.children) == f"The model {name} is better than {name}, p = .01"
