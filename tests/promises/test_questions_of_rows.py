"""The table of questions that are answered for rows with weights and in clusters."""

import pytest
from questions_of_rows import STORED, table


def stored(measures):
    """The lines of these measures, class-wise, in the stored table."""
    lines = STORED.read_text().splitlines()
    return [line for line in lines if line.split()[0] in measures and "class-wise mean" in line]


def test_some_lines_of_the_table():
    some = ("ece", "mcb", "brier")
    assert table(some, ("class-wise mean",)) == stored(some)


def test_a_planted_line_is_noticed():
    assert table(("ks",), ("class-wise mean",)) != stored(("ece",))


@pytest.mark.slow
def test_the_table():
    assert table() == STORED.read_text().splitlines()
