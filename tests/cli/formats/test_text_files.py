"""Tables in text: the same rows with any separator, as JSON lines and compressed; what is wrong is named."""

import gzip
import json

import numpy as np
import pandas as pd
import pytest

import calibstat as cs
from calibstat.cli import file_checks
from calibstat.cli.formats.text_files import check_expanded, kind_of
from calibstat.cli.input_files import columns_of, read_data, read_models, read_rows
from calibstat.cli.reading import Reading

RANDOM = np.random.default_rng(1)
P = RANDOM.random(50)
ROWS = pd.DataFrame({"y": (RANDOM.random(50) < P).astype(int), "p, of 1": P, "q": P**2, "word": "a;b"})


def write(folder, name):
    """Write the rows as the name of the file says; numbers keep all their digits."""
    file, kind = folder / name, name.split(".")[1]
    if kind == "json":
        text = json.dumps(ROWS.to_dict("records"), indent=1)
    elif kind == "jsonl":
        text = "".join(f"{json.dumps(row)}\n" for row in ROWS.to_dict("records"))
    else:
        text = ROWS.to_csv(index=False, sep={"tsv": "\t", "txt": ";"}.get(kind, ","))
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


NAMES = ["a.csv", "a.csv.gz", "a.tsv", "a.tsv.gz", "a.txt", "a.jsonl", "a.jsonl.gz", "a.json.gz"]


@pytest.mark.parametrize("name", NAMES)
def test_any_text_has_the_same_rows(name, tmp_path):
    file = write(tmp_path, name)
    assert columns_of(file) == list(ROWS)
    (y, p), how = read_rows(file, "y", ["p, of 1"])
    assert (y == ROWS["y"]).all()
    assert (p == P).all()
    assert how == ""
    sample, _ = read_data(file, "y", ["p, of 1"])
    assert [*map(list, sample.arrays)] == [*map(list, cs.Sample.from_rows(ROWS["y"], P).arrays)]
    _, models, _ = read_models(file, "y", ["p, of 1", "q"])
    assert (models["q"] == P**2).all()
    (y, _), _ = read_rows(file, "y", ["q"], Reading(positive="0"))
    assert (y == 1 - ROWS["y"]).all()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
@pytest.mark.parametrize(
    "text",
    ['[{"y": 1, "p": 0.5, "name": "ö"}, {"y": 0, "p": "25 %"}]', '{"y": 1, "p": 0.5}\n\n{"y": 0, "p": 0.25}\n', "[]"],
)
def test_json_of_either_form(text, encoding, tmp_path):
    (tmp_path / "a.json").write_bytes(text.encode(encoding))
    if text == "[]":
        with pytest.raises(ValueError, match="it is empty"):
            columns_of(tmp_path / "a.json")
    elif "%" in text:
        with pytest.raises(ValueError, match=r"found '25 %' at row 1 .* behind every number of the column"):
            read_rows(tmp_path / "a.json", "y", ["p"])
    else:
        assert read_rows(tmp_path / "a.json", "y", ["p"])[0][1].tolist() == [0.5, 0.25]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'[{"y": 1, "p": 0.5}, 3]', "expected an array of JSON objects, found 3 at row 1"),
        (b'[{"y": 1, "p": 0.5}', "expected an array of JSON objects, found Expecting"),
        (b'[{"y": 1, "p": 0.5, "p": 1}]', "found the name 'p' twice"),
        (
            b'{\n"y": [1]}',
            r"expected one JSON object a line, found in line 1: .*; or an array of objects, such as to_json",
        ),
        (b'{"y": {"0": 1}, "p": {"0": 0.5}}', "no column 'y'; the file has 'y.0', 'p.0'"),
        ('[{"y": 1, "p": 0.5, "ö": 1}]'.encode("latin-1"), "save it as UTF-8"),
    ],
)
def test_what_is_wrong_with_an_array_is_named(text, found, tmp_path):
    (tmp_path / "a.json").write_bytes(text)
    with pytest.raises(ValueError, match=found):
        read_rows(tmp_path / "a.json", "y", ["p"])


def test_kinds_are_told_by_names(tmp_path):
    names = {"a.csv": ".csv", "a.CSV.GZ": ".csv", "a.b.parquet": ".parquet", "a.gz": ".gz", "a": ""}
    assert {name: kind_of(tmp_path / name) for name in names} == names


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"y": 1, "p": 0.5}\n[1]\n', "one JSON object a line, found '\\[1\\].*' in line 2"),
        ('{"y": 1, "p": 0.5}\n{"y": 1\n', "one JSON object a line, found in line 2"),
        ('{"y": 1, "p": 0.5, "p": 0.6}\n', "the name 'p' twice"),
        ('{"y": 1, "p": 0.5}\n{"y": 1}\n', "found nan in 'p' at row 1"),
        ('{"y": 1, "p": 0.5}\n{"y": 1, "p": [0.5]}\n', "nested values"),
        ('{"y": 1}\n', "no column 'p'; the file has 'y'"),
        ("\n", "it is empty"),
    ],
)
def test_what_is_wrong_with_json_lines_is_named(text, found, tmp_path):
    (tmp_path / "a.jsonl").write_text(text)
    with pytest.raises(ValueError, match=found):
        read_rows(tmp_path / "a.jsonl", "y", ["p"])


@pytest.mark.parametrize("name", ["a.tsv", "a.txt", "a.csv.gz"])
def test_surplus_cells_are_found_between_any_separators(name, tmp_path):
    between = {"a.tsv": "\t", "a.txt": ";"}.get(name, ",")
    text = f"y{between}p\n1{between}0.5{between}7\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    with pytest.raises(ValueError, match="expected rows of 2 cells, as many as there are columns; found 3 at row 0"):
        read_rows(tmp_path / name, "y", ["p"])


def test_a_file_that_expands_too_much_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(file_checks, "FILE_LIMIT", 1000)
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(b"y,p\n" + b"0,0.5\n" * 10**5))
    for read in (lambda: read_rows(file, "y", ["p"]), lambda: columns_of(file)):
        with pytest.raises(ValueError, match=r"expected at most .* found more; if that is right, unpack it first"):
            read()
    check_expanded(write(tmp_path, "b.csv"))


def test_damaged_files_are_named(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"y,p\n1,0.5\n")[:-6])
    with pytest.raises(ValueError, match=r"cannot read .*a\.csv\.gz"):
        read_rows(tmp_path / "a.csv.gz", "y", ["p"])


@pytest.mark.parametrize("form", ["lines", "array"])
def test_objects_in_objects_are_called_by_both_names(form, tmp_path):
    """As in logs of agents and judges; of 90 % and of numbers alike."""
    found = [{"judge": {"confidence": f"{p}%", "said": {"ok": ok}}, "id": 7} for p, ok in ((90, 1), (35, 0), (60, 1))]
    file = tmp_path / ("log.jsonl" if form == "lines" else "log.json")
    file.write_text("\n".join(map(json.dumps, found)) if form == "lines" else json.dumps(found))
    assert columns_of(file) == ["judge.confidence", "judge.said.ok", "id"]
    (y, p), _ = read_rows(file, "judge.said.ok", ["judge.confidence"])
    assert (y.tolist(), p.tolist()) == ([1, 0, 1], [0.9, 0.35, 0.6])
    file.write_text('{"a": {"b": 1}, "a.b": 2}\n')
    with pytest.raises(ValueError, match=r"'a\.b' twice"):
        columns_of(file)
