"""Text in which control characters are seen, and command neither a terminal nor a page."""

from __future__ import annotations

import re

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return text in which control characters, which could command a terminal, are written as in code.

    All but the newline; those that turn the direction of writing are among them, and the parts of file names that are
    no text, which cannot be printed.
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
