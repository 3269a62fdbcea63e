"""The option `--side` of commands: what they print and write is what the functions say."""

import json

import numpy as np
import pandas as pd
import pytest
from command_line import COLUMNS, fails_with, plain_text, run

import calibstat as cs

Y, P = cs.generators.temperature(2).sample(600, rng=1)
SITE = np.array(["a", "b"])[np.arange(600) % 2]
BOTH = ("over", "under")


@pytest.fixture(scope="module", name="file")
def file_fixture(tmp_path_factory):
    path = tmp_path_factory.mktemp("one side") / "rows.csv"
    frame = {"y": Y.astype(int), "p": P, "site": SITE, "five": np.arange(600) // 5, "day": np.arange(600) // 100}
    pd.DataFrame(frame).to_csv(path, index=False)
    return path


def said(*arguments):
    found = run(*arguments)
    assert found.exit_code == 0, found.stderr
    return plain_text(found.stdout)


@pytest.mark.parametrize("side", BOTH)
def test_a_test_says_what_the_function_says(file, side):
    found = said("test", file, *COLUMNS, "--side", side, "--rng", 3)
    assert plain_text(cs.calibration_test(Y, P, side=side, rng=3).answer) in found
    assert "ECE" not in found  # a size has both sides
    step = json.loads(run("test", file, *COLUMNS, "--side", side, "--format", "json").stdout)["next_step"]
    assert f"calibstat audit, with --by and --side {side}" in step


def test_several_measures_are_adjusted_in_the_words_of_the_side(file):
    found = said("test", file, *COLUMNS, "--side", "over", "--measure", "mean", "--measure", "ks", "--rng", 3)
    ks = cs.calibration_test(Y, P, side="over", measure="ks", rng=3).pvalue
    assert f"Some predictions are too high (p = {2 * ks:.3f}" in found
    assert "times 2, Bonferroni" in found
    assert "calibration is shown" not in found


def test_clusters_are_tested_by_the_number_of_events(file):
    found = json.loads(run("test", file, *COLUMNS, "--side", "over", "--cluster", "five", "--format", "json").stdout)
    expected = cs.calibration_test(Y, P, side="over", cluster=np.arange(600) // 5)
    assert found["mean.pvalue"] == expected.pvalue
    assert (found["mean.side"], found["mean.resample"]) == ("over", "none")
    assert found["next_step"] == "This does not show that there are none; more rows would say more."


@pytest.mark.parametrize("side", BOTH)
def test_audits_equivalence_and_reports_say_what_the_functions_say(file, side):
    audit = cs.audit(Y, P, pd.DataFrame({"site": SITE}), side=side, rng=3)
    assert plain_text(audit.answer) in said("audit", file, *COLUMNS, "--by", "site", "--side", side, "--rng", 3)
    within = said("equivalence", file, *COLUMNS, "--side", side, "--margin", 0.3)
    assert plain_text(cs.equivalence_test(Y, P, margin=0.3, side=side).answer) in within
    assert f"95 % {'low' if side == 'over' else 'high'} limit, each" in within
    report = said("report", file, *COLUMNS, "--side", side, "--rng", 3)
    assert plain_text(cs.calibration_test(Y, P, side=side, rng=3).answer) in report


@pytest.mark.parametrize("command", ["test", "audit", "equivalence", "report", "monitor"])
def test_what_is_no_side_is_refused(file, command):
    more = {"audit": ["--by", "site"], "monitor": ["--when", "day"]}.get(command, [])
    fails_with(run(command, file, *COLUMNS, *more, "--side", "up"), "expected --side 'over' (", "found 'up'")


def test_what_has_no_side_is_refused(file):
    brier = run("test", file, *COLUMNS, "--side", "over", "--measure", "brier")
    fails_with(brier, "expected a measure with one side, ece, mean, ks, kuiper, omnibus, beside --side over; ")
    margin = run("test", file, *COLUMNS, "--side", "over", "--margin", 0.1)
    fails_with(margin, "expected no --margin beside --side over")
    fails_with(run("audit", file, *COLUMNS, "--by", "site", "--side", "over", "--shape"), "a slope has no side")
    by_ks = run("equivalence", file, *COLUMNS, "--side", "over", "--measure", "ks")
    fails_with(by_ks, "expected --measure bins beside --side over")
