"""Alternatives: the probabilities of labels given predictions."""

import numpy as np
import pytest
from command_line import plain_text, run
from hypothesis import given
from hypothesis import strategies as st
from project_folder import PROJECT

import calibstat as cs
from calibstat.inference.power.alternatives import ALTERNATIVES, as_alternative, distorted, find_families, size

GRID = np.array([0.0, 1e-9, 0.2, 0.5, 0.5, 0.9, 1.0])


def odds(v):
    return v / (1 - v)


@given(st.floats(0.2, 5), st.floats(-3, 3))
def test_log_odds_are_divided_and_moved(temperature, shift):
    q = distorted(temperature, shift).truth(GRID)
    assert q[[0, -1]].tolist() == [0, 1]
    inner = slice(1, -1)
    np.testing.assert_allclose(odds(q[inner]), odds(GRID[inner]) ** (1 / temperature) * np.exp(shift), rtol=1e-9)


def test_classes_have_powers_of_their_probabilities():
    prob = np.array([[0.0, 0.2, 0.8], [0.25, 0.25, 0.5]])
    expected = np.sqrt(prob)
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(distorted(2.0).truth(prob), expected)
    assert distorted(0.01).truth(prob)[0].tolist() == pytest.approx([0, 0, 1])


def test_two_classes_are_one_outcome():
    prob = np.array([[0.7, 0.3], [0.0, 1.0], [0.4, 0.6]])
    alternative = distorted(1.5, 0.4)
    np.testing.assert_allclose(alternative.truth(prob)[:, 1], alternative.truth(prob[:, 1].copy()))


@pytest.mark.parametrize(
    "given",
    [
        "temperature=1.4, shift=-0.3",
        {"temperature": 1.4, "shift": -0.3},
        lambda v: 1 / (1 + np.exp(0.3) * np.divide(1 - v, v, out=np.full(v.shape, np.inf), where=v > 0) ** (1 / 1.4)),
    ],
)
def test_spellings_agree(given):
    np.testing.assert_allclose(as_alternative(given).truth(GRID), distorted(1.4, -0.3).truth(GRID))


def test_a_shift_of_an_alternative_has_the_opposite_sign_of_the_generator_and_all_places_say_so():
    inside = np.array([0.1, 0.5, 0.9])
    assert np.all(as_alternative("shift=0.5").truth(inside) > inside)
    assert np.all(cs.generators.shift(0.5).curve(inside) < inside)
    planning = (PROJECT / "docs" / "more" / "planning.md").read_text(encoding="utf-8")
    options = [run(name, "--help").stdout.replace("│", "") for name in ("power", "sample-size")]
    for text in (cs.generators.shift.__doc__, cs.power.__doc__, cs.sample_size.__doc__, planning, *options):
        assert "more frequent than predicted" in plain_text(text)
    for text in (cs.power.__doc__, planning):
        assert "generators.shift` moves the predictions, so its sign is the opposite one" in plain_text(text)
    assert "makes all predictions too high" in plain_text(cs.generators.shift.__doc__)


def test_a_generator_is_its_curve():
    generator = cs.generators.temperature(1.7)
    np.testing.assert_allclose(as_alternative(generator).truth(GRID), distorted(1.7).truth(GRID), atol=1e-12)
    finite = cs.generators.domain((0.5, 0.5), (0.2, 0.6), (0.3, 0.9))
    with pytest.raises(ValueError, match=r"found nan at prediction 0\.5"):
        as_alternative(finite).truth(np.array([0.3, 0.5]))


def test_probabilities_of_tied_rows_are_averaged():
    rows = np.array([0.5, 0.2, 0.5, 0.5])
    found = as_alternative([0.1, 0.3, 0.2, 0.9]).truth(np.array([0.2, 0.5]), rows)
    np.testing.assert_allclose(found, [0.3, 0.4])
    np.testing.assert_allclose(as_alternative([0.1, 0.3, 0.2, 0.9]).take(np.array([1, 1])).truth(rows[:2]), [0.3, 0.3])


def test_size_is_the_mean_distance():
    assert size(np.array([0.3, 0.5]), np.array([0.2, 0.6]), np.array([3.0, 1.0])) == pytest.approx(0.1)
    assert size(np.array([[0.5, 0.3, 0.2]]), np.array([[0.3, 0.4, 0.3]])) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ("temperatur=2", "temperature=1.4"),
        ("temperature=2, temperature=3", "temperature=1.4"),
        ("shift=much", "temperature=1.4"),
        ({"temp": 2}, "expected options of an alternative"),
        ("temperature=0", "positive and finite"),
        ("shift=inf", "finite"),
        ({"shift": "1"}, "expected shift finite, found '1'"),
        ({"shift": None}, "expected shift finite, found None"),
        (3, "found 3"),
        (object(), "expected an alternative"),
        (lambda v: v + 1, "from 0 to 1"),
        (lambda v: v[1:], "shape"),
        ([0.5, 0.5], "shape"),
    ],
)
def test_wrong_alternatives_are_told(given, match):
    with pytest.raises(ValueError, match=match):
        as_alternative(given).truth(GRID, GRID)


def test_a_shift_of_three_classes_is_told():
    with pytest.raises(ValueError, match="temperature alone"):
        distorted(shift=0.1).truth(np.full((2, 3), 1 / 3))
    with pytest.raises(ValueError, match="sum to 1"):
        as_alternative(lambda v: v * 0.9).truth(np.full((2, 4), 0.25))


def test_families_go_both_ways():
    strength = 0.5
    found = {name: family.value(strength) for name, family in ALTERNATIVES.items()}
    assert found == pytest.approx(
        {"over_confidence": np.exp(0.5), "under_confidence": np.exp(-0.5), "shift_up": 0.5, "shift_down": -0.5}
    )
    v = np.array([0.8])
    assert ALTERNATIVES["over_confidence"].at(1).truth(v) < 0.8 < ALTERNATIVES["under_confidence"].at(1).truth(v)
    assert ALTERNATIVES["shift_down"].at(1).truth(v) < 0.8 < ALTERNATIVES["shift_up"].at(1).truth(v)


def test_words_have_two_digits_of_the_distance_from_calibration():
    assert ALTERNATIVES["over_confidence"].say(np.log(1.0389)) == "an over-confidence of temperature 1.039"
    assert ALTERNATIVES["shift_down"].say(0.2345) == "a shift of -0.23"


def test_which_families():
    assert [family.name for family in find_families(None, of_classes=False)] == ["over_confidence", "shift_up"]
    assert [family.name for family in find_families(None, of_classes=True)] == ["over_confidence"]
    assert [family.name for family in find_families("shift_down", of_classes=False)] == ["shift_down"]
    for names, match in (("overconfidence", "some of"), ((), "at least one")):
        with pytest.raises(ValueError, match=match):
            find_families(names, of_classes=False)
    with pytest.raises(ValueError, match="several classes"):
        find_families("shift_up", of_classes=True)


def test_an_alternative_is_taken_as_it_is():
    given = distorted(2.0)
    assert as_alternative(given) is given


def test_a_generator_of_classes_says_the_chances_of_all_and_of_none_alone():
    """Confidence 1.5 times as large as it should be in log-odds: chances are proportional to v**(1 / 1.5)."""
    given = as_alternative(cs.generators.dirichlet((1, 1, 1), temperature=1.5))
    prob = np.array([[0.2, 0.3, 0.5], [0.8, 0.1, 0.1]])
    chance = prob ** (1 / 1.5)
    np.testing.assert_allclose(given.truth(prob), chance / chance.sum(axis=1, keepdims=True), atol=1e-12)
    with pytest.raises(ValueError, match=r"expected a lens that shows all classes, .* found one of a single outcome"):
        given.truth(GRID)
