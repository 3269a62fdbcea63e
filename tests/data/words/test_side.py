"""The side of a question: what is taken, what is refused, and that the words of both sides are each other's mirror."""

import numpy as np
import pytest

from calibstat.data.words.side import AT_THE_BORDER, MORE_EVENTS, OTHER, TOO, check_side


@pytest.mark.parametrize("side", [None, "over", "under", np.str_("over")])
def test_sides_are_taken_as_they_are(side):
    assert check_side(side) == side


@pytest.mark.parametrize(
    "side",
    [
        *("Over", "UNDER", "both", "two-sided", "", " over", b"over", 0, 1, -1, True, False, float("nan"), ["over"]),
        *(("over",), {"over"}, {"over": 1}, np.array(["over"]), np.array("over"), {1, 2}),
    ],
    ids=repr,
)
def test_anything_else_is_refused_by_name(side):
    with pytest.raises(
        ValueError, match=r"expected side None, 'over' \(.*too high\?\) or 'under' \(too low\?\), found"
    ):
        check_side(side)


def test_a_long_text_is_cut_short():
    with pytest.raises(ValueError, match="expected side") as caught:
        check_side("over" * 1000)
    assert len(str(caught.value)) < 300


def test_both_sides_have_all_words_and_mirror_each_other():
    sides = {"over", "under"}
    for words in (TOO, OTHER, AT_THE_BORDER, MORE_EVENTS):
        assert set(words) == sides
    for side in sides:
        assert OTHER[OTHER[side]] == side != OTHER[side]
        assert MORE_EVENTS[side] == -MORE_EVENTS[OTHER[side]]


def test_predictions_too_high_have_fewer_events_than_expected_and_true_probabilities_are_else_at_least_so_large():
    assert (TOO["over"], AT_THE_BORDER["over"], MORE_EVENTS["over"]) == ("too high", "at least", -1)
    assert (TOO["under"], AT_THE_BORDER["under"], MORE_EVENTS["under"]) == ("too low", "at most", 1)
