"""What is true of all models is said once, and what is the same of some beside the names of these."""

from calibstat.output.said_once import said_once


def test_one_model_has_no_name_and_no_shared_part():
    assert said_once({"A": "One. Two."}) == ["One. Two."]


def test_shared_sentences_come_first_and_once():
    said = {"A": "Of 3 bins, n = 10: 1 is out. All is well.", "B": "Of 3 bins, n = 10: none is out. All is well."}
    assert said_once(said) == ["All 2 models: Of 3 bins, n = 10. All is well.", "A: 1 is out.", "B: none is out."]


def test_models_of_which_the_same_is_said_share_a_line():
    said = {"A": "Fit again.", "B": "Collect rows.", "C": "Fit again."}
    assert said_once(said) == ["A, C: Fit again.", "B: Collect rows."]
    assert said_once(dict.fromkeys("ABC", "Fit again.")) == ["All 3 models: Fit again."]


def test_numbers_with_points_are_no_ends_of_sentences():
    said = {"A": "p = 0.5, e.g. Two of them.", "B": "p = 0.7. It is so."}
    assert said_once(said)[1:] == ["B: p = 0.7. It is so."]


def test_nothing_is_lost():
    said = {"A": "One. Two: three.\nFour.", "B": "One. Four. Five."}
    words = " ".join(said_once(said))
    assert all(each in words for each in ("One.", "Two: three.", "Four.", "Five."))
