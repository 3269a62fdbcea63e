"""Logs of inspect: files that it wrote itself, packed or not, and those that are refused."""

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

import calibstat as cs

FILES = Path(__file__).parent / "files" / "inspect_ai"
(LOG,) = (FILES / "0.3.285").glob("*.json")
(OLD,) = (FILES / "0.3.200").glob("*.eval")
(ZSTANDARD,) = (FILES / "0.3.285").glob("*.eval")
STATED = "scores.stated.metadata.confidence"
# as FILES/sums.py.txt lets the mock model say
CORRECT = [1, 0, 1, 1, 0, 1, 1, 0, 1, 0]
CONFIDENCE = [0.9, 0.8, 0.95, 0.6, 0.4, 0.7, 0.85, 0.5, 0.99, 0.3]
QUESTIONS = [f"sum-{i % 5}" for i in range(10)]


def columns(rows):
    return rows.y_true.tolist(), rows.y_prob.tolist(), rows.cluster.tolist()


@pytest.mark.parametrize("path", [LOG, OLD], ids=["0.3.285 json", "0.3.200 eval"])
def test_files_of_several_versions_are_read(path):
    assert columns(cs.readers.inspect_ai(path, confidence=STATED)) == (CORRECT, CONFIDENCE, QUESTIONS)


def test_the_files_say_which_version_wrote_them():
    assert json.loads(LOG.read_text())["eval"]["packages"] == {"inspect_ai": "0.3.285"}
    with ZipFile(OLD) as packed:
        header = json.loads(packed.read("header.json"))
    assert header["eval"]["packages"] == {"inspect_ai": "0.3.200"}
    assert header["version"] == json.loads(LOG.read_text())["version"] == 2


def test_a_log_that_this_python_cannot_unpack_is_refused_with_what_to_do():
    if find_spec("compression.zstd") if find_spec("compression") else find_spec("zipfile_zstd"):
        assert columns(cs.readers.inspect_ai(ZSTANDARD, confidence=STATED)) == (CORRECT, CONFIDENCE, QUESTIONS)
    else:
        with pytest.raises(ValueError, match=r"packed by Zstandard: install zipfile-zstd, .* inspect log convert"):
            cs.readers.inspect_ai(ZSTANDARD, confidence=STATED)


def test_a_function_finds_a_confidence_in_the_text():
    def stated(sample):
        return float(sample["output"]["completion"].split("Confidence: ")[1].split(" %")[0]) / 100

    assert cs.readers.inspect_ai(LOG, confidence=stated).equals(cs.readers.inspect_ai(LOG, confidence=STATED))


def test_rows_go_into_functions_with_their_questions():
    rows = cs.readers.inspect_ai(LOG, confidence=STATED)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="5 clusters are few")
        found = cs.confidence_interval(rows.y_true, rows.y_prob, measure="kernel_ce", cluster=rows.cluster, rng=1)
    assert "5 clusters of 2 rows each" in found.estimand


@pytest.fixture
def changed(tmp_path):
    """Write the log with changes of its fields and of those of its second sample; None takes a field away."""

    def change(sample=None, **fields):
        log = json.loads(LOG.read_text())
        log["samples"][1] |= sample or {}
        log |= fields
        log["samples"][1:2] = [{name: value for name, value in log["samples"][1].items() if value is not None}]
        path = tmp_path / "log.json"
        path.write_text(json.dumps({name: value for name, value in log.items() if value is not None}))
        return path

    return change


def score(**fields):
    return {"scores": {"stated": {"value": "C", "metadata": {"confidence": 0.5}, **fields}}}


@pytest.mark.parametrize("version", [1, 3, "2", None, True])
def test_an_unknown_version_is_refused_by_name(changed, version):
    with pytest.raises(ValueError, match=rf"expected version 2 of logs of inspect, found version {version!r}"):
        cs.readers.inspect_ai(changed(version=version), confidence=STATED)


@pytest.mark.parametrize("status", ["error", "cancelled", "started", None])
def test_an_evaluation_without_success_is_refused(changed, status):
    with pytest.raises(ValueError, match=rf"that ended with success, found status {status!r}"):
        cs.readers.inspect_ai(changed(status=status), confidence=STATED)


@pytest.mark.parametrize(
    ("sample", "error"),
    [
        (score(value="P"), "expected an outcome of 'C', 'I', 'N', 1, 0 in sample 'sum-1', epoch 1, found 'P'"),
        (score(value={"a": 1}), "expected an outcome of"),
        (score(metadata={}), "expected a field 'scores.stated.metadata.confidence' in sample 'sum-1', epoch 1"),
        (score(metadata={"confidence": 80}), "expected a confidence from 0 to 1 in sample 'sum-1', epoch 1, found 80"),
        (score(metadata={"confidence": None}), "expected a confidence from 0 to 1"),
        ({"scores": {}}, "expected scores in sample 'sum-1', epoch 1, found none"),
        ({"scores": None}, "expected scores in sample 'sum-1'"),
        ({"id": None}, "expected a field 'id' in sample None"),
    ],
)
def test_a_sample_that_is_not_as_expected_is_named(changed, sample, error):
    with pytest.raises(ValueError, match=error):
        cs.readers.inspect_ai(changed(sample), confidence=STATED)


@pytest.mark.parametrize(("value", "outcome"), [("C", 1), ("I", 0), ("N", 0), (1, 1), (0.0, 0), (True, 1)])
def test_values_of_scorers_are_outcomes(changed, value, outcome):
    assert cs.readers.inspect_ai(changed(score(value=value)), confidence=STATED).y_true[1] == outcome


def test_several_scorers_have_to_be_chosen_from(changed):
    both = score() | {"metadata": {"p": 0.25}}
    both["scores"]["judge"] = {"value": "I"}
    path = changed(both)
    with pytest.raises(ValueError, match="expected scorer=, one of 'stated', 'judge', because"):
        cs.readers.inspect_ai(path, confidence=STATED)
    assert cs.readers.inspect_ai(path, confidence=STATED, scorer="stated").y_true[1] == 1
    with pytest.raises(ValueError, match="expected one of the scorers 'stated', found 'judge'"):
        cs.readers.inspect_ai(path, confidence=STATED, scorer="judge")


def test_the_cluster_may_be_another_field():
    assert cs.readers.inspect_ai(LOG, confidence=STATED, cluster="epoch").cluster.tolist() == [1] * 5 + [2] * 5


def test_what_is_no_log_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"expected confidence to be a path of names or a function, found float 0.5"):
        cs.readers.inspect_ai(LOG, confidence=0.5)
    packed = tmp_path / "log.eval"
    packed.write_bytes(b"PK")
    with pytest.raises(ValueError, match=r"expected a packed log of inspect with a header, found 'log.eval'"):
        cs.readers.inspect_ai(packed, confidence=STATED)
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(ValueError, match="expected a packed log of inspect with a header"):
        cs.readers.inspect_ai(packed, confidence=STATED)
    empty = tmp_path / "log.json"
    empty.write_text('{"version": 2, "status": "success", "samples": []}')
    with pytest.raises(ValueError, match=r"expected samples in 'log.json', found none"):
        cs.readers.inspect_ai(empty, confidence=STATED)
