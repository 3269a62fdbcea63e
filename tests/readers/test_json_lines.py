"""Files of JSON lines: confidences in several writings, and whether they were right."""

import gzip
import json

import pytest

import calibstat as cs


def written(folder, *lines, name="log.jsonl"):
    file = folder / name
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    with gzip.open(file, "wt") if name.endswith(".gz") else file.open("w") as out:
        out.write(text + "\n")
    return file


def of(p, y=True, **more):
    return {"answer": {"confidence": p}, "ok": y, **more}


def read(file, **given):
    return cs.readers.json_lines(file, **{"confidence": "answer.confidence", "correct": "ok", **given})


@pytest.mark.parametrize("name", ["log.jsonl", "log.ndjson", "log.jsonl.gz"])
def test_rows_as_functions_take_them(tmp_path, name):
    lines = of(0.9), "", of("0.25", False), of("90%", "Correct"), of(" 40 % ", "no"), of(1, 0)
    rows = read(written(tmp_path, *lines, name=name))
    assert rows["y_prob"].tolist() == [0.9, 0.25, 0.9, 0.4, 1.0]
    assert rows["y_true"].tolist() == [1, 0, 1, 0, 0]
    assert rows["cluster"].tolist() == [1, 3, 4, 5, 6]
    assert cs.estimate(rows["y_true"], rows["y_prob"]) > 0


def test_numbers_up_to_a_hundred_are_per_cent(tmp_path):
    rows = read(written(tmp_path, of(90), of("35", "wrong"), of(0, "fail"), of(100), of("50%", "pass")))
    assert rows["y_prob"].tolist() == [0.9, 0.35, 0.0, 1.0, 0.5]


def test_functions_and_clusters(tmp_path):
    file = written(tmp_path, of(0.9, q="a"), of(0.6, False, q="a"), of(0.6, q="b"))
    rows = read(file, confidence=lambda row: 1 - row["answer"]["confidence"], correct=lambda row: not row["ok"])
    assert rows["y_prob"].tolist() == pytest.approx([0.1, 0.4, 0.4])
    assert rows["y_true"].tolist() == [0, 1, 0]
    assert read(file, cluster="q")["cluster"].tolist() == ["a", "a", "b"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ((of(0.9), of(90)), "one unit, found 0.9 in line 1 .* beside some above 1: is it 0.9 % or 90 %"),
        ((of(90), of(1)), "found 1 in line 2 .*is it 1 % or 100 %"),
        ((of(101), of(90)), "from 0 to 1 in line 1"),
        ((of(-0.1),), "from 0 to 1 in line 1"),
        ((of("101%"),), "from 0 to 1 in line 1"),
        ((of("very"),), "a number or a text of one, in line 1.*'very'"),
        ((of("%"),), "a number or a text of one, in line 1"),
        ((of(None),), "a number or a text of one, in line 1.*None"),
        ((of(True),), "a number or a text of one, in line 1.*True"),
        ((of("nan"),), "line 1"),
        ((of(0.5, "maybe"),), "expected an outcome of .* in line 1.*'maybe'"),
        ((of(0.5, None),), "expected an outcome"),
        ((of(0.5), {"ok": True}), "expected a field 'answer.confidence' in line 2"),
        ((of(0.5), "[1, 2]"), "expected a JSON object in line 2"),
        ((of(0.5), "{"), "expected a JSON object in line 2"),
        ((), "expected samples in 'log.jsonl', found none"),
    ],
)
def test_what_is_wrong_names_the_line(tmp_path, lines, expected):
    with pytest.raises(ValueError, match=expected):
        read(written(tmp_path, *lines))


@pytest.mark.parametrize("name", ["confidence", "correct", "cluster"])
def test_fields_are_paths_or_functions(tmp_path, name):
    with pytest.raises(ValueError, match=f"expected {name} to be a path of names or a function, found"):
        read(written(tmp_path, of(0.5)), **{name: 3})
