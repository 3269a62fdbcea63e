"""Fields of samples by their paths, probabilities and outcomes that are none, and frames without rows."""

import pytest

from calibstat.readers.sample_rows import as_frame, field_at, from_json, need_file, need_outcome, need_probability

SAMPLE = {"a": {"b": [{"c": 0.5}, 2]}, "1": "x"}


def test_a_field_is_found_through_names_and_numbers():
    assert field_at(SAMPLE, "a.b.0.c", "sample 1") == 0.5
    assert field_at(SAMPLE, "a.b.1", "sample 1") == 2
    assert field_at(SAMPLE, "1", "sample 1") == "x"


@pytest.mark.parametrize("path", ["a.c", "a.b.2", "a.b.c", "1.x", "", "a.b.-1", "a."])
def test_a_field_that_is_not_there_is_named(path):
    with pytest.raises(ValueError, match=r"expected a field '.*' in sample 1, found no '.*' in"):
        field_at(SAMPLE, path, "sample 1")


def test_probabilities_are_numbers_from_0_to_1():
    assert [need_probability(value, "x") for value in (0, 1, 0.25)] == [0.0, 1.0, 0.25]
    for value in (True, "0.5", None, 80, -0.1, float("nan")):
        with pytest.raises(ValueError, match="expected a confidence from 0 to 1 in sample 1, found"):
            need_probability(value, "sample 1")


def test_outcomes_are_the_known_values():
    known = {"C": 1, 0: 0}
    assert [need_outcome(value, known, "x") for value in ("C", 0, 0.0, False)] == [1, 0, 0, 0]
    for value in ("I", 1, None, {"a": 1}, [1]):
        with pytest.raises(ValueError, match="expected an outcome of 'C', 0 in sample 1, found"):
            need_outcome(value, known, "sample 1")


def test_a_frame_has_rows_and_three_columns():
    assert as_frame([(1, 0.5, "q")], "x").to_dict("list") == {"y_true": [1], "y_prob": [0.5], "cluster": ["q"]}
    with pytest.raises(ValueError, match="expected samples in file x, found none"):
        as_frame([], "file x")


def test_files_and_objects_that_are_none_are_named(tmp_path):
    assert from_json("{}", "x") == {}
    for text in ("[]", "{", "1"):
        with pytest.raises(ValueError, match="expected a JSON object in line 3, found"):
            from_json(text, "line 3")
    (tmp_path / "a.json").write_text("{}")
    assert need_file(str(tmp_path / "a.json"), (".json",), "a log") == tmp_path / "a.json"
    for name in ("b.json", "a.txt"):
        with pytest.raises(ValueError, match=r"expected a log, with suffix .json or .eval, found"):
            need_file(tmp_path / name, (".json", ".eval"), "a log")
