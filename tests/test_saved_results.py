"""What `calibstat report` writes: strict JSON, tables, pictures; all of it or nothing."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, PATTERN, plain_text, run

import calibstat as cs
from calibstat.cli import saved_results, wording
from calibstat.measures.registry import everyday_measures

MEASURES = everyday_measures()


def test_report_writes_table_pictures_and_strict_json(rows, csv, tmp_path):
    out = tmp_path / "new" / "folder"
    result = run("report", csv, *COLUMNS, "--out", out)
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} == {
        "report.json",
        "verdict.csv",
        "table.csv",
        "reliability.png",
        "null.png",
        "intervals.png",
    }
    found = json.loads((out / "report.json").read_text(), parse_constant=pytest.fail)
    assert [entry["measure"] for entry in found["findings"]] == MEASURES
    assert found["data"] == {"n": 400, "positives": rows["y"].sum(), "distinct_predictions": 400}
    assert found["rng"] == 0
    for entry in found["findings"]:
        assert (entry["interval"] is not None) == cs.MEASURES[entry["measure"]]().has_form
        assert 0 < entry["test"]["pvalue"] <= 1
    assert list(pd.read_csv(out / "table.csv")["measure"]) == MEASURES
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_report_stays_strict_where_a_loss_is_infinite(tmp_path):
    rows = pd.DataFrame({"y": [0, 1, 1, 0] * 10, "p": [1.0, 0.5, 0.7, 0.2] * 10})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    result = run("report", tmp_path / "rows.csv", *COLUMNS, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    loss = next(entry for entry in found["findings"] if entry["measure"] == "log_loss")
    assert loss["estimate"] is None


def test_strict_replaces_what_json_cannot_say():
    bad = {"a": [float("nan"), (1.5, float("inf"))], "b": "text", "c": None}
    assert saved_results.strict(bad) == {"a": [None, [1.5, None]], "b": "text", "c": None}


def test_report_of_several_classes(zoo, predictions, tmp_path):
    result = run("report", zoo, *PATTERN, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    pictures = {"reliability.png", "null.png", "intervals.png", "classes.png", "simplex.png"}
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        *pictures,
        "report.json",
        "verdict.csv",
        "table.csv",
        "classes.csv",
    }
    for name in pictures:
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    assert found["prob"] == "p_*"
    assert found["data"]["classes"] == ["cat", "dog", "hen"]
    assert found["data"]["happened"] == np.bincount(predictions.label, minlength=3).tolist()
    assert [entry["measure"] for entry in found["findings"]] == MEASURES
    assert {entry["test"]["lens"] for entry in found["findings"]} == {"lens top_label"}
    assert found["reliability"]["lens"] == "lens top_label"
    assert len(found["classes"]["reliability"]["diagrams"]) == 3
    assert found["classes"]["simplex"]["names"] == ["cat", "dog", "hen"]
    sheet = pd.read_csv(tmp_path / "out" / "classes.csv")
    test = cs.calibration_test(predictions, lens="class_wise", stop_after=20, rng=0)
    assert found["classes"]["test"]["resamples_used"] == test.resamples_used.tolist()
    assert sheet["class"].tolist() == ["cat", "dog", "hen"]
    assert np.allclose(sheet["ece"], cs.estimate(predictions, measure="ece", lens="class_wise"))
    assert np.allclose(sheet["expected"], predictions.prob.sum(axis=0))
    assert np.allclose(sheet["pvalue_holm"], test.pvalue_holm)
    assert f"hen 0 {predictions.prob[:, 2].sum():.1f} {wording.number(sheet['ece'][2])}" in plain_text(result.stdout)


@pytest.mark.parametrize("lens", [None, "class_wise", "canonical", "one_class:dog"])
def test_the_verdict_is_that_of_the_test(lens, zoo, tmp_path, monkeypatch):
    """The same data and seed: the words, p and what drove it, on the screen and in the files."""
    monkeypatch.setattr("calibstat.cli.lens_syntax.View.everyday_measures", lambda self: ["brier"])
    given = [zoo, *PATTERN, "--rng", 3, *(["--lens", lens] if lens else [])]
    by_test = plain_text(run("test", *given).stdout)
    by_report = plain_text(run("report", *given, "--out", tmp_path / "out").stdout)
    words = by_test[: by_test.index("A large p-value")]
    assert by_report.startswith(words)
    found = json.loads((tmp_path / "out" / "report.json").read_text())["verdict"]
    row = pd.read_csv(tmp_path / "out" / "verdict.csv").iloc[0]
    assert f"p = {found['test']['pvalue']:.3g}." in by_test
    assert row["pvalue"] == found["test"]["pvalue"]
    assert f"(ECE {found['detectable_effect']['ece'][0]:.2g})" in by_test
    assert row["detectable_over_confidence"] == found["detectable_effect"]["effect"][0]


def test_files_say_what_drove_the_verdict(rows, csv, tmp_path, monkeypatch):
    monkeypatch.setattr("calibstat.cli.lens_syntax.View.everyday_measures", lambda self: ["ece", "ks"])
    run("report", csv, *COLUMNS, "--out", tmp_path / "out")
    test = cs.calibration_test(rows["y"], rows["p"], rng=0)
    found = json.loads((tmp_path / "out" / "report.json").read_text())
    assert found["verdict"]["test"]["deviation"] == test.deviation.to_dict()
    row = pd.read_csv(tmp_path / "out" / "verdict.csv").iloc[0]
    assert row["drove_kind"] == test.deviation.kind
    assert row["drove_observed"] == test.deviation.observed
    for entry in found["findings"]:  # nothing shows their distributions, so they stop
        by_itself = cs.calibration_test(rows["y"], rows["p"], measure=entry["measure"], stop_after=20, rng=0)
        assert entry["test"]["pvalue"] == by_itself.pvalue
        assert len(entry["test"]["null_distribution"]) == by_itself.n_resamples


def test_report_of_whole_vectors(zoo, tmp_path, monkeypatch):
    monkeypatch.setattr("calibstat.cli.lens_syntax.multiclass_measures", lambda: ["brier", "canonical_ce"])
    result = run("report", zoo, *PATTERN, "--lens", "groups:cat+hen,dog", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names >= {"report.json", "table.csv", "null.png", "classes.csv", "classes.png"}
    assert names.isdisjoint({"simplex.png", "reliability.png"})
    found = json.loads((tmp_path / "out" / "report.json").read_text(), parse_constant=pytest.fail)
    assert [entry["measure"] for entry in found["findings"]] == ["brier", "canonical_ce"]
    assert found["classes"]["test"]["names"] == ["cat + hen", "dog"]
    assert found["classes"]["simplex"] is None


def constants(path, classes):
    if classes == 2:
        pd.DataFrame({"y": [0, 1] * 20, "p": 0.5}).to_csv(path, index=False)
        return "--prob", "p"
    pd.DataFrame({"y": [0, 1, 2] * 20, "p_0": 0.2, "p_1": 0.3, "p_2": 0.5}).to_csv(path, index=False)
    return "--prob", "p_*"


@pytest.mark.parametrize("classes", [2, 3])
def test_report_on_constant_predictions(classes, tmp_path):
    given = constants(tmp_path / "const.csv", classes)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "out" / "null.png").exists()
    assert not [path for path in (tmp_path / "out").iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("existed", [False, True])
def test_a_failure_leaves_nothing(existed, tmp_path, monkeypatch):
    from calibstat.cli import saved_results

    given = constants(tmp_path / "const.csv", 2)
    out = tmp_path / "deep" / "out"
    if existed:
        out.mkdir(parents=True)
        (out / "report.json").write_text("earlier")
    monkeypatch.setattr(saved_results, "error_intervals", lambda findings: 1 / 0)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", out)
    assert found.exit_code != 0
    if existed:
        assert [path.name for path in out.iterdir()] == ["report.json"]
        assert (out / "report.json").read_text() == "earlier"
    else:
        assert not out.parent.exists()


def test_out_is_a_file(tmp_path):
    given = constants(tmp_path / "const.csv", 2)
    found = run("report", tmp_path / "const.csv", "--label", "y", *given, "--out", tmp_path / "const.csv")
    assert found.exit_code == 2
    assert "expected a folder to write to, found the file" in found.stderr


def test_a_report_names_the_measures_that_so_many_rows_make_costly(tmp_path, monkeypatch):
    """Asked of fewer rows, they are put to them; those left out are named on the screen and in the file."""
    import json

    from calibstat.cli import report

    asked = []

    def assess(data, measure, **settings):
        asked.append(measure)
        return real(data, measure, **{**settings, "n_resamples": 9, "stop_after": None})

    real = report.assess
    monkeypatch.setattr(report, "assess", assess)
    rng = np.random.default_rng(1)
    dear = {"interval_ce", "surrogate_interval_ce", "post_processing_gap", "regression_ce"}
    for rows in (10_000, 10_001):
        asked.clear()
        p = rng.random(rows).round(2)
        pd.DataFrame({"y": (rng.random(rows) < p).astype(int), "p": p}).to_csv(tmp_path / "a.csv", index=False)
        found = run("report", tmp_path / "a.csv", "--label", "y", "--prob", "p", "--out", tmp_path / "out")
        assert found.exit_code == 0, found.output
        left_out = dear if rows > 10_000 else set()
        assert dear & set(asked) == dear - left_out
        assert set(json.loads((tmp_path / "out" / "report.json").read_text())["left_out"]) == left_out
        text = " ".join(found.output.split())
        assert ("Left out, because they are costly on 10,001 rows:" in text) == bool(left_out)
        assert all(name in text for name in left_out)


def test_measures_say_above_how_many_rows_they_are_costly():
    from calibstat.measures.registry import everyday_measures

    few, many, most = (set(everyday_measures(rows)) for rows in (1, 10_001, 1_000_000))
    assert few > many > most
    assert {"ece", "brier", "log_loss"} <= most
    assert not {"lower_distance", "upper_distance"} & few
