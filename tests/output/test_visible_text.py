"""Characters that show nothing are written as in code."""

import unicodedata

import pytest

from calibstat.output.visible_text import CONTROL, visible


def test_what_commands_a_terminal_or_turns_text_is_seen():
    assert visible("a\x1b[31m\tb\u202ec\ud800") == "a\\x1b[31m\\tb\\u202ec\\ud800"
    assert not CONTROL.search(visible("".join(map(chr, range(256)))))


def test_lines_and_letters_stay():
    assert visible("naïve\n−1 Ω") == "naïve\n−1 Ω"


NOTHING = [0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF, 0xAD, 0x180E, 0xFFF9, 0xE0041, 0x3164, 0xFE0F]


@pytest.mark.parametrize("code", NOTHING)
def test_two_names_of_which_one_ends_with_nothing_look_different(code):
    assert visible(f"a{chr(code)}").encode("ascii").decode("unicode_escape") == f"a{chr(code)}"


def test_all_controls_formats_and_separators_of_lines_are_seen_and_no_letter_is_lost():
    kinds = {chr(code): unicodedata.category(chr(code)) for code in [*range(0x20000), *range(0xE0000, 0xE1000)]}
    hidden = {each for each, kind in kinds.items() if kind in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}
    assert not [each for each in hidden if not CONTROL.match(each)]
    letters = "".join(each for each, kind in kinds.items() if kind in ("Lu", "Ll", "Nd", "Nl", "Sm", "Sc", "Zs", "Po"))
    assert visible(letters) == letters
