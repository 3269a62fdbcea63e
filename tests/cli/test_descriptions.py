"""The commands that describe models print what the functions find."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, fails_with, plain_text, run

import calibstat as cs
from calibstat.inference.summarize import SECONDS
from calibstat.output.wording import number

TWO = ["--label", "y", "--prob", "raw", "--prob", "cool"]


@pytest.fixture(scope="module", name="models")
def models_fixture():
    y, p = cs.generators.temperature(2).sample(400, rng=1)
    return pd.DataFrame({"y": y, "raw": p, "cool": 1 / (1 + ((1 - p) / p) ** 0.5)})


@pytest.fixture(name="file")
def file_fixture(models, tmp_path):
    path = tmp_path / "models.csv"
    models.to_csv(path, index=False)
    return path


def printed(*arguments):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return plain_text(result.stdout)


def test_summarize(models, file):
    text = printed("summarize", file, *TWO)
    found = cs.summarize(models["y"], models[["raw", "cool"]], rng=0)
    smallest = [found.names[found.estimate[:, found.measures.index(name)].argmin()] for name in ("ece", "brier")]
    assert text.startswith(f"{found.answer} {smallest[0]} has the smallest ece:")
    assert f"{smallest[1]} has the smallest brier:" in text
    assert "400 rows, 2 models." in text
    for k, name in enumerate(found.measures):
        assert " ".join([name, *map(number, found.estimate[:, k])]) in text
    assert f"{number(found.low[0, 1])} to {number(found.high[0, 1])}" in text


def test_skill(models, file):
    y = models["y"]
    for arguments, reference in ([], None), (["--reference", "0.4"], 0.4), (["--reference", "cool"], models["cool"]):
        text = printed("skill", file, "--label", "y", "--prob", "raw", "--score", "log_loss", *arguments)
        assert plain_text(str(cs.skill_score(y, models["raw"], reference, score="log_loss"))) in text
    both = json.loads(run("skill", file, *TWO, "--reference", "cool", "--format", "json").stdout)
    assert both["cool.skill"] == 0
    assert both["raw.low"] == cs.skill_score(y, models["raw"], models["cool"]).low


def test_decompose(models, file):
    text = printed("decompose", file, *TWO, "--score", "log_loss")
    for name in ("raw", "cool"):
        found = cs.decompose(models["y"], models[name], score="log_loss")
        assert " ".join([name, *map(number, (found.score, found["mcb"], found["dsc"], found["unc"]))]) in text


def test_sharpness(models, file, tmp_path):
    picture = tmp_path / "sharpness.png"
    text = printed("sharpness", file, *TWO, "--out", picture)
    for name in ("raw", "cool"):
        found = cs.sharpness(models["y"], models[name])
        assert plain_text(f"{name}: {found}") in text
        root = found.calibration_error**0.5
        assert f"The root of the calibration error, {root:.4g}, is a difference of probabilities" in text
    assert picture.stat().st_size > 1000


def test_validate_without_an_event(models, tmp_path):
    path = tmp_path / "none.csv"
    models.assign(y=0).to_csv(path, index=False)
    text = printed("validate", path, *TWO)
    found = cs.validate(np.zeros(400, int), models["cool"])
    assert "raw: O/E 0.00 (0.00 to 0.02); the interval does not include 1, and the slope needs both outcomes." in text
    assert "Missing: calibration in the large, intercept, slope, ECI, " in text
    assert number(found.brier) in text
    assert number(found.intervals["brier"][1]) in text
    described = json.loads(run("validate", path, *TWO, "--format", "json").stdout)
    assert "cool.auc" not in described
    assert described["cool.missing.auc"] == "needs both outcomes"


def test_a_summary_of_some_measures(models, file, monkeypatch):
    found = cs.summarize(models["y"], {"raw": models["raw"], "cool": models["cool"]}, measures=["ece", "auc"], rng=0)
    for asked in (["--measures", "ece,auc"], ["--measures", "auc", "--measures", "ece"]):
        text = printed("summarize", file, *TWO, *asked)
        assert text.startswith(f"{found.answer} {found.names[found.estimate[:, 0].argmin()]} has the smallest ece: ")
        assert number(found.estimate[1, 1]) in text
        assert "brier" not in text
    assert "auc is 0." in printed("summarize", file, *TWO, "--measures", "auc")
    fails_with(run("summarize", file, *TWO, "--measures", "ece,aucc"), "found 'aucc'; did you mean 'auc'?")
    fails_with(run("summarize", file, *TWO, "--measures", "ece,ece"), "each once")
    monkeypatch.setitem(SECONDS, "smooth_ece", (1e9, 0.0))
    text = printed("summarize", file, *TWO)
    assert "Left out, because it takes long: smooth_ece (about " in text
    assert "To have smooth_ece, name it: --measures smooth_ece." in text
    assert "summary.left_out.smooth_ece" in json.loads(run("summarize", file, *TWO, "--format", "json").stdout)


@pytest.mark.parametrize(("p", "verdict"), [(0.2, "includes"), (1e-4, "does not include")])
def test_validate_equal_predictions(tmp_path, p, verdict):
    """The slope, which does not exist, was looked up."""
    path = tmp_path / "equal.csv"
    pd.DataFrame({"y": [0, 0, 0, 0, 0, 0, 1], "p": p}).to_csv(path, index=False)
    assert (
        f"the interval {verdict} 1, and the slope needs predictions that differ. Missing: intercept, slope (needs"
        in printed("validate", path, *COLUMNS)
    )


def test_validate(models, file):
    text = printed("validate", file, *TWO)
    raw, cool = (cs.validate(models["y"], models[name]) for name in ("raw", "cool"))
    assert f"slope 1 {number(raw.slope)} {number(cool.slope)}" in text
    assert f"{number(raw.intervals['slope'][0])} to {number(raw.intervals['slope'][1])}" in text
    assert f"AUC {number(raw.auc)} {number(cool.auc)}" in text
    assert f"p = {number(raw.pvalues['unreliability'])} p = {number(cool.pvalues['unreliability'])}" in text


def test_net_benefit(models, file, tmp_path):
    picture = tmp_path / "curve.png"
    text = printed("net-benefit", file, *TWO, "--threshold", 0.2, "--threshold", 0.5, "--out", picture)
    found = cs.net_benefit(models["y"], models["raw"], [0.2, 0.5])
    assert f"0.2 raw {number(found.model[0])} {number(found.low[0])} to {number(found.high[0])}" in text
    assert picture.exists()
    assert "Acting by the model is better than acting on all rows and on none at " in printed(
        "net-benefit", file, *TWO[:4]
    )


def test_weights_and_clusters(models, tmp_path):
    path, units = tmp_path / "units.csv", {"cluster": np.arange(400) // 10, "sample_weight": 1.0 + np.arange(400) % 3}
    models.assign(centre=units["cluster"], weight=units["sample_weight"]).to_csv(path, index=False)
    columns = ("--cluster", "centre", "--weight", "weight")
    text = printed("validate", path, *TWO[:4], *columns)
    low, high = cs.validate(models["y"], models["raw"], **units).intervals["slope"]
    assert f"{number(low)} to {number(high)}" in text
    assert "Rows are in 40 clusters of 10 rows each" in text
    text = printed("net-benefit", path, *TWO[:4], "--threshold", 0.2, *columns)
    found = cs.net_benefit(models["y"], models["raw"], [0.2], **units)
    assert f"{number(found.model[0])} {number(found.low[0])} to {number(found.high[0])}" in text


def test_validate_by_hospital(models, tmp_path):
    path, hospital = tmp_path / "hospitals.csv", np.array([f"H{k:02}" for k in range(40)])[np.arange(400) // 10]
    models.assign(hospital=hospital).to_csv(path, index=False)
    text = printed("validate", path, *TWO, "--cluster", "hospital")
    for name in ("raw", "cool"):
        found = cs.validate(models["y"], models[name], cluster=hospital).by_cluster
        assert plain_text(f"{name}: {found.answer}") in text
        low, high = found.ratio_interval[3]
        assert f"H03 10 {found.events[3]} {found.expected[3]:.1f} {found.ratio[3]:.2f} {low:.2f} to {high:.2f}" in text
    assert "and 20 more clusters: --format json has all." in text
    written = json.loads(run("validate", path, *TWO, "--cluster", "hospital", "--format", "json").stdout)
    assert written["raw.by_cluster.names"][3] == "H03"


def test_several_classes_through_a_lens(tmp_path):
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(200, rng=1)
    frame = pd.DataFrame(prob, columns=["p_a", "p_b", "p_c"]).assign(y=[*map("abc".__getitem__, label)])
    path = tmp_path / "classes.csv"
    frame.to_csv(path, index=False)
    text = printed("validate", path, "--label", "y", "--prob", "p_*", "--lens", "one_class:1")
    assert f"AUC {number(cs.validate((label == 1).astype(int), prob[:, 1]).auc)}" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("decompose", "--score", "brior"), "did you mean 'brier'?"),
        (("skill", "--reference", "r"), "no column 'r'"),
        (("skill", "--reference", "4"), "expected a rate between 0 and 1 as --reference, found 4"),
        (("net-benefit", "--threshold", "2"), "expected ascending thresholds between 0 and 1"),
        (("validate", "--lens", "top_label"), "expected several columns of probabilities for --lens top_label"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(arguments, message, file):
    command, *rest = arguments
    fails_with(run(command, file, *TWO, *rest), message)
