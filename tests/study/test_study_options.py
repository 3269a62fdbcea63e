"""Options of a study: values as text and as they are, what is refused, and the list that an error has."""

import re

import pytest

from calibstat.study import Option
from calibstat.study.study_options import assignments, chosen

OPTIONS = {
    "splits": Option(5, "random splits", least=2),
    "names": Option(("a", "b"), "what is fitted", among=("a", "b", "c d")),
    "label": Option("", "the column"),
    "mode": Option("fast", "how", among=("fast", "slow")),
    "more": Option(True, "whether more is done"),
}
DEFAULTS = {"splits": 5, "names": ("a", "b"), "label": "", "mode": "fast", "more": True}


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("splits", "20", 20),
        ("splits", 20, 20),
        ("names", "c d, a", ("c d", "a")),
        ("names", ["b"], ("b",)),
        ("label", "my column", "my column"),
        ("mode", "slow", "slow"),
        ("more", "False", False),
        ("more", False, False),
    ],
)
def test_values_of_each_type(name, given, expected):
    assert chosen(OPTIONS, {name: given}, "s") == {**DEFAULTS, name: expected}


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("splits", "many", "expected splits to be a whole number of at least 2; found 'many'"),
        ("splits", "1", "expected splits to be a whole number of at least 2; found '1'"),
        ("splits", 2.5, "expected splits to be a whole number of at least 2; found 2.5"),
        ("splits", True, "expected splits to be a whole number of at least 2; found True"),
        ("splits", "³", "found '³'"),
        ("names", "a,e", "expected names to be names with commas, any of a, b, c d; found 'a,e'"),
        ("names", "a,a", "expected names to be names with commas"),
        ("names", "", "expected names to be names with commas"),
        ("names", [1], "expected names to be names with commas"),
        ("label", 3, "expected label to be text; found 3"),
        ("mode", "quick", "expected mode to be text, one of fast, slow; found 'quick'"),
        ("more", "yes", "expected more to be true or false; found 'yes'"),
        ("more", 1, "expected more to be true or false; found 1"),
    ],
)
def test_values_of_another_type_are_refused(name, given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        chosen(OPTIONS, {name: given}, "s")


def test_an_unknown_option_is_refused_with_the_list():
    with pytest.raises(ValueError, match="expected an option of study 's': splits ") as caught:
        chosen(OPTIONS, {"split": "3"}, "s")
    for name, option in OPTIONS.items():
        assert f"{name} ({option.says}; {option.expects})" in str(caught.value)
    assert str(caught.value).endswith("found 'split', perhaps splits")
    with pytest.raises(ValueError, match="expected an option of study 's': it has none; found 'x'"):
        chosen({}, {"x": "1"}, "s")


def test_a_default_of_another_type_is_refused():
    with pytest.raises(ValueError, match=r"expected the default of an option to be of type bool, .*, found 0\.5"):
        Option(0.5, "a share")


def test_texts_of_the_command_line():
    assert assignments(["splits=20", " label = a=b "]) == {"splits": "20", "label": "a=b"}
    for text in ("splits", "=3"):
        with pytest.raises(ValueError, match=f"expected --set NAME=VALUE, found '{text}'"):
            assignments([text])
    with pytest.raises(ValueError, match="expected every option once, found a twice"):
        assignments(["a=1", "a=2"])
