"""The columns that options name."""

import pytest

from calibstat.cli.formats.chosen_columns import choose, matching, need_column, need_features

THERE = ["y", "p_cat", "p_dog", "q", "q"]


def test_names_and_patterns():
    assert choose(THERE, "y", ["p_dog", "p_cat"]) == (["p_dog", "p_cat"], ["p_dog", "p_cat"])
    assert choose(THERE, "y", ["p_*"]) == (["p_cat", "p_dog"], ["cat", "dog"])
    assert choose(THERE, None, ["[yp]*"])[0] == ["y", "p_cat", "p_dog"]
    assert matching(THERE, "y", "*_*") == ["p_cat", "p_dog"]


@pytest.mark.parametrize(
    ("label", "prob", "message"),
    [
        ("z", ["p_cat"], "no column 'z'; the file has 'y', 'p_cat'"),
        ("y", ["p"], "no column 'p'"),
        ("y", ["q"], "expected one column 'q', found 2"),
        ("y", ["p_cat", "p_cat"], "found 'p_cat' twice"),
        ("y", ["y"], "found the column of outcomes, 'y'"),
        ("y", ["p_*", "q"], "found 2 of that name"),
        ("y", ["p_*", "p_cat"], "expected one pattern or several columns"),
        ("y", ["z*"], "found none that matches"),
        ("y", ["*cat"], "found only 'p_cat'"),
    ],
)
def test_what_is_not_there_or_not_clear_is_named(label, prob, message):
    with pytest.raises(ValueError, match=message):
        choose(THERE, label, prob)


def test_columns_of_other_options():
    need_column(THERE, "q")
    need_features(THERE, ["y", "p_cat"])
    with pytest.raises(ValueError, match="no column 'z'"):
        need_column(THERE, "z")
    for names, found in (
        (["z"], "the file has 'y'"),
        (["q"], "found 2 of that name"),
        (["y", "y"], "different columns"),
    ):
        with pytest.raises(ValueError, match=found):
            need_features(THERE, names)
