"""HTML and Markdown from templates: text from data is escaped, and control characters are shown as in code."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calibstat.output.visible_text import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).parent / "templates"
MARKDOWN = re.compile(r"([\\`*_{}\[\]#|~!])")
WORD = re.compile(r"([^\s\\`|<>&]+)")  # which needs no escapes in code
# Where a page is posted, addresses become links, @name calls a person and #1 names a page, whatever is escaped: not so
# in code.
ALIVE = re.compile(r":/|@|\bwww\.|\b(?:mailto|xmpp):|#\d|\bGH-\d", re.IGNORECASE)


def render(template: str, **values: Any) -> str:
    """Return what a template of the folder makes of these values; only ready ``Markup`` is not escaped."""
    return _templates().get_template(template).render(**values)


def svg_markup(svg: str) -> Any:
    """Mark a picture as ready for a template: the only text that is not escaped, and no text from data by itself."""
    from markupsafe import Markup

    return Markup(svg)


def markdown(text: object) -> Any:
    """Escape what Markdown or HTML would take for more than text; what would become a link is written as code."""
    from markupsafe import Markup

    parts = WORD.split(" ".join(visible(str(text)).split()))
    return Markup("".join(f"`{part}`" if ALIVE.search(part) else _plain(part) for part in parts))


def _plain(text: str) -> str:
    """Escape what Markdown or HTML would take for more than text."""
    plain = MARKDOWN.sub(r"\\\1", text)
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        autoescape=True,
        finalize=_seen,
        loader=FileSystemLoader(TEMPLATES),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters["markdown"] = markdown
    return made


def _seen(value: object) -> Any:
    """Write control characters of text as in code; pictures and what templates made stay as they are."""
    return value if hasattr(value, "__html__") or not isinstance(value, str) else visible(value)
