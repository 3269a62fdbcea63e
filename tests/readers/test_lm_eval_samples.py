"""Samples of lm_eval: files that it wrote itself, and those that are refused."""

import json
import math
import shutil
from pathlib import Path

import pytest

import calibstat as cs
from calibstat.readers.lm_eval_samples import VERSIONS

FILES = Path(__file__).parent / "files" / "lm_eval"


def samples_of(folder):
    (path,) = folder.glob("samples_*.jsonl")
    return path


@pytest.fixture
def folder(tmp_path):
    """A copy of the files of the newest version, to be changed."""
    return Path(shutil.copytree(FILES / VERSIONS[-1], tmp_path / "run"))


def changed(folder, **fields):
    """Change fields of the second sample, or take away those that are None."""
    path = samples_of(folder)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[1] = {name: value for name, value in {**lines[1], **fields}.items() if value is not None}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_every_known_version_are_read(version):
    path = samples_of(FILES / version)
    written = [json.loads(line) for line in path.read_text().splitlines()]
    (results,) = (FILES / version).glob("results_*.json")
    assert json.loads(results.read_text())["lm_eval_version"] == version
    rows = cs.readers.lm_eval(path)
    assert list(rows.columns) == ["y_true", "y_prob", "cluster"]
    assert len(rows) == len(written) == 10
    assert rows.cluster.tolist() == [sample["doc_hash"] for sample in written]
    for row, sample in zip(rows.itertuples(), written, strict=True):
        likelihood = [math.exp(float(log)) for log, _ in sample["filtered_resps"]]
        assert row.y_prob == pytest.approx(max(likelihood) / sum(likelihood), rel=1e-12)
        assert row.y_true == (likelihood.index(max(likelihood)) == int(sample["target"]))
    accuracy = json.loads(results.read_text())["results"]["sums"]["acc,none"]
    assert rows.y_true.mean() == accuracy


def test_a_sample_by_hand(folder):
    path = changed(folder, filtered_resps=[[math.log(0.1), True], [math.log(0.3), False]], arguments={"a": 1, "b": 2})
    assert cs.readers.lm_eval(path).y_prob[1] == pytest.approx(0.75)  # .3 / (.1 + .3)
    path = changed(folder, filtered_resps=[["-1000.0", "False"], ["-1001.0", "False"]])
    assert cs.readers.lm_eval(path).y_prob[1] == pytest.approx(1 / (1 + math.exp(-1)))
    path = changed(folder, filtered_resps=[["-inf", "False"], ["0.0", "True"]])
    assert cs.readers.lm_eval(path).y_prob[1] == 1


def test_the_cluster_may_be_another_field():
    path = samples_of(FILES / VERSIONS[-1])
    assert cs.readers.lm_eval(path, cluster="doc.id").cluster.tolist() == [f"sum-{i}" for i in range(10)]
    with pytest.raises(
        ValueError, match=r"expected a field 'doc.page' in line 1 of 'samples_.*, found no 'page' in 'id'"
    ):
        cs.readers.lm_eval(path, cluster="doc.page")


@pytest.mark.parametrize("version", ["0.4.9", "1.0.0", None, 4])
def test_an_unknown_version_is_refused_by_name(folder, version):
    (results,) = folder.glob("results_*.json")
    results.write_text(json.dumps({**json.loads(results.read_text()), "lm_eval_version": version}))
    with pytest.raises(ValueError, match=rf"expected samples of lm_eval 0.4.10, .*, 0.4.13, found version {version!r}"):
        cs.readers.lm_eval(samples_of(folder))


def test_samples_without_results_are_refused(folder):
    (results,) = folder.glob("results_*.json")
    results.rename(folder / "results_other.json")
    with pytest.raises(ValueError, match=rf"expected the file '{results.name}' beside 'samples_"):
        cs.readers.lm_eval(samples_of(folder))


def test_several_filters_have_to_be_chosen_from(folder):
    path = changed(folder, filter="strict")
    with pytest.raises(ValueError, match="expected filter=, one of 'none', 'strict'"):
        cs.readers.lm_eval(path)
    assert len(cs.readers.lm_eval(path, filter="none")) == 9
    assert len(cs.readers.lm_eval(path, filter="strict")) == 1
    with pytest.raises(ValueError, match="expected one of the filters 'none', 'strict', found 'lax'"):
        cs.readers.lm_eval(path, filter="lax")


def test_a_task_that_is_not_multiple_choice_is_refused(folder):
    with pytest.raises(ValueError, match=r"expected a field 'acc' in line 1 of 'samples_sums_open_"):
        cs.readers.lm_eval(samples_of(FILES / "open-0.4.13"))
    with pytest.raises(ValueError, match=r"expected a log-likelihood of each answer in line 2.*multiple_choice"):
        cs.readers.lm_eval(changed(folder, filtered_resps=["lol"]))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"acc": 0.5}, "expected an outcome of 0.0, 1.0 in line 2"),
        ({"acc": None}, "expected a field 'acc' in line 2"),
        ({"filter": None}, "expected a field 'filter' in line 2"),
        ({"filtered_resps": None}, "expected a field 'filtered_resps' in line 2"),
        ({"filtered_resps": [["-1", "False"]] * 3}, "expected one log-likelihood for each .*, found 3 for 4"),
        ({"metrics": ["acc", "acc_mutual_info"]}, "with metrics 'acc', 'acc_mutual_info'"),
        ({"filtered_resps": [["0.5", "False"]] * 4}, "expected a log-likelihood of at most 0 in line 2"),
        ({"filtered_resps": [["-inf", "False"]] * 4}, "expected a log-likelihood of at most 0 in line 2"),
        ({"filtered_resps": [["nan", "False"]] * 4}, "expected a log-likelihood of at most 0 in line 2"),
    ],
)
def test_a_sample_that_is_not_as_expected_is_named(folder, fields, error):
    with pytest.raises(ValueError, match=error):
        cs.readers.lm_eval(changed(folder, **fields))


def test_a_file_that_is_not_json_or_has_no_sample_is_refused(folder):
    path = samples_of(folder)
    path.write_text('{"filter": "none"\n')
    with pytest.raises(ValueError, match="expected a JSON object in line 1 of 'samples_"):
        cs.readers.lm_eval(path)
    path.write_text("\n")
    with pytest.raises(ValueError, match=r"expected samples in 'samples_.*', found none"):
        cs.readers.lm_eval(path)
