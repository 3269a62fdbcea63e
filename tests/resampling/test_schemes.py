"""How often and from which streams to draw."""

import pytest

from calibstat.resampling import (
    Draws,
    Stream,
    key_of,
)
from calibstat.resampling.streams import first_state


def test_draws_are_checked():
    assert Draws.of(3, 99) == Draws(key_of(3), 99, 1)
    for n_resamples, n_jobs, text in ((0, 1, "expected n_resamples"), (9, 0, "expected n_jobs")):
        with pytest.raises(ValueError, match=text):
            Draws.of(1, n_resamples, n_jobs)
    with pytest.raises(ValueError, match="expected rng None"):
        Draws.of(-1, 9)


def test_parts_are_the_resamples_of_the_whole():
    whole = Draws.of(5, 99, 2)
    part = whole.part(40, 70, Stream.LABELS)
    assert (whole.total, part.total, part.n, part.n_jobs) == (99, 99, 30, 2)
    assert [first_state(part.key, Stream.LABELS, r) for r in range(30)] == [
        first_state(whole.key, Stream.LABELS, 40 + r) for r in range(30)
    ]
    assert first_state(part.key, Stream.ROWS, 0) != first_state(
        whole.key, Stream.ROWS, 40
    )  # the parts are those of one stream


def test_stages_keep_their_numbers():
    """Every seeded result depends on them. A comparison of two unpaired samples takes 6 and 7."""
    assert {name: number for name, number in vars(Stream).items() if name.isupper()} == {
        "LABELS": 1,
        "ROWS": 2,
        "BARS": 3,
        "ROW_SIGNS": 5,
        "COMPARE": 6,
        "BINS": 6,
        "SIGNS": 7,
        "SHARED": 8,
        "ALTERNATIVE": 9,
        "PLANNED": 10,
        "FOLDS": 11,
        "FOLD_SIGNS": 12,
        "REPEATS": 13,
        "FITS": 14,
        "UNLABELLED": 15,
        "DESIGN": 16,
        "GUESSES": 17,
        "UNCERTAIN": 18,
        "LEARNED": 19,
    }


def test_another_question_has_a_key_of_its_own():
    whole = Draws.of(5, 99, 2)
    own = whole.with_own_key(Stream.UNCERTAIN)
    assert (own.total, own.n, own.n_jobs) == (99, 99, 2)
    assert own == whole.with_own_key(Stream.UNCERTAIN)
    words = {first_state(whole.key, stream, r) for stream in range(1, 19) for r in range(99)}
    assert words.isdisjoint(first_state(own.key, stream, r) for stream in range(1, 19) for r in range(99))
