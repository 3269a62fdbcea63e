"""The JSON that is written: what is left out, and that nothing else is."""

import json

import pytest

import calibstat as cs
from calibstat.output.json_text import INTERNAL, is_left_out, json_text
from calibstat.result import plain_values


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_what_is_empty_is_left_out(value):
    assert is_left_out("a", value)
    assert json.loads(json_text({"a": value, "b": 1}, 1)) == {"b": 1}


@pytest.mark.parametrize("value", [0, 0.0, False, "0", [None], [""], "Infinity"])
def test_what_says_something_is_kept(value):
    assert json.loads(json_text({"a": value}, 1)) == {"a": value}


def test_a_missing_number_is_left_out_and_an_infinite_one_kept():
    values = {"a": float("nan"), "b": float("inf"), "c": [float("nan"), 1.0]}
    assert json.loads(json_text(plain_values(values), 1)) == {"b": "Infinity", "c": [None, 1.0]}


@pytest.mark.parametrize("name", INTERNAL)
def test_internal_fields_are_left_out_under_any_name(name):
    for before in ("", "omnibus.", "models.a.b."):
        assert is_left_out(f"{before}{name}", 1.5)
    assert not is_left_out(f"x{name}", 1.5)


def test_every_internal_field_is_one_of_a_result():
    y, p = cs.generators.temperature(4).sample(200, rng=1)
    keys = cs.calibration_test(y, p, n_resamples=99, rng=1).to_dict()
    assert [name for name in INTERNAL if not is_left_out(name, 1) or name not in keys] == []


def test_objects_in_lists_are_read_too():
    assert json.loads(json_text({"a": [{"b": "", "c": 1}, {"d.rows": 2}]}, 1)) == {"a": [{"c": 1}, {"d.rows": 2}]}
