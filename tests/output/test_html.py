"""Templates: what is text from data stays text."""

import pytest
from jinja2 import DictLoader, UndefinedError

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
    assert html.render("md", text="a|b *c* <i>\x1b\n# d_e") == r"a\|b \*c\* &lt;i&gt;\\x1b \# d\_e"
