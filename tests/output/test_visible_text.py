"""Control characters are written as in code."""

from calibstat.output.visible_text import CONTROL, visible


def test_what_commands_a_terminal_or_turns_text_is_seen():
    assert visible("a\x1b[31m\tb\u202ec\ud800") == "a\\x1b[31m\\tb\\u202ec\\ud800"
    assert not CONTROL.search(visible("".join(map(chr, range(256)))))


def test_lines_and_letters_stay():
    assert visible("naïve\n−1 Ω") == "naïve\n−1 Ω"
