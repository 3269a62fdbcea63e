"""Text in which characters that show nothing are seen, and command neither a terminal nor a page."""

from __future__ import annotations

import re
from collections.abc import Sequence

CONTROL = re.compile(
    # controls, all but the newline; ends of lines and paragraphs; halves of characters
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
    # formats, as Unicode calls them
    r"\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
    # letters and marks that show nothing
    r"\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
)


def visible(text: str) -> str:
    """Return text in which characters that show nothing are written as in code: two names that differ look different.

    Among them are those that command a terminal, all but the newline, those that turn the direction of writing, and the
    parts of file names that are no text, which cannot be printed.
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Return lines whose cells stand below each other: the first to the left, all others to the right."""
    wide = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join([line[0].ljust(wide[0]), *map(str.rjust, line[1:], wide[1:])]) for line in lines]


def is_aligned(line: str) -> bool:
    """Whether a printed line is of a table, with columns that spaces keep below each other."""
    return "  " in line.strip()
