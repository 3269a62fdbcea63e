"""The command `monitor`: what it says is what the monitor says, and it goes on where it stopped."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command_line import fails_with, plain_text, run

import calibstat as cs

STREAM = ["--label", "y", "--prob", "p", "--when", "day"]


@pytest.fixture(scope="module", name="stream")
def stream_fixture():
    """Forty days with a change on the 25th, shuffled, as files are."""
    days = []
    for t in range(40):
        y, p = cs.generators.temperature(1 if t < 24 else 2).sample(50, rng=t)
        day = str(np.datetime64("2026-01-01") + np.timedelta64(t, "D"))
        days.append(pd.DataFrame({"y": y.astype(int), "p": p, "q": p**2, "day": day, "place": np.arange(50) % 2}))
    return pd.concat(days).sample(frac=1, random_state=1)


@pytest.fixture(name="file")
def file_fixture(stream, tmp_path):
    stream.to_csv(tmp_path / "stream.csv", index=False)
    return tmp_path / "stream.csv"


def fed(stream, segments=False, **settings):
    monitor = cs.Monitor(**settings)
    for day, rows in stream.groupby("day"):
        monitor.update(rows["y"], rows["p"], day, rows["place"] if segments else None)
    return monitor


def said(*arguments):
    found = run("monitor", *arguments)
    assert found.exit_code == 0, found.stderr
    return plain_text(found.stdout)


def test_it_says_what_the_monitor_says_alarm_first(stream, file, tmp_path):
    monitor = fed(stream)
    text = said(file, *STREAM, "--out", tmp_path / "out")
    assert text.startswith(plain_text(str(monitor.status())))
    assert text.startswith("Alarm in period 2026-01-")
    assert "stream.csv: 2,000 rows in 40 periods, 0 of them known already." in text
    assert "Written to" in text
    table = pd.read_csv(tmp_path / "out" / "monitor.csv")
    pd.testing.assert_frame_equal(table, monitor.to_frame())
    assert (tmp_path / "out" / "monitor.png").stat().st_size > 1000
    assert plain_text(str(fed(stream, arl=50).status())) in said(file, *STREAM, "--arl", 50)
    assert plain_text(str(fed(stream, True).status())) in said(file, *STREAM, "--segment", "place")


def test_it_goes_on_where_it_stopped(stream, file, tmp_path):
    state, early = tmp_path / "state.json", tmp_path / "early.csv"
    stream[stream["day"] <= "2026-01-20"].to_csv(early, index=False)
    assert "0 of them known already" in said(early, *STREAM, "--state", state)
    text = said(file, *STREAM, "--state", state)
    assert "20 of them known already" in text
    assert text.startswith(plain_text(str(fed(stream).status())))
    before = state.read_text()
    assert "40 of them known already" in said(file, *STREAM, "--state", state)
    assert state.read_text() == before
    changed = stream.copy()
    changed.loc[changed["day"] == "2026-01-07", "y"] = 0
    changed.to_csv(file, index=False)
    fails_with(run("monitor", file, *STREAM, "--state", state), "rows of period 2026-01-07 as they were fed before")
    fails_with(run("monitor", early, *STREAM, "--state", state, "--alpha", 0.1), "expected --alpha 0.05 as in")
    stream.assign(day="2025-12-31").to_csv(early, index=False)
    fails_with(run("monitor", early, *STREAM, "--state", state), "new periods after 2026-02-09", "found 2025-12-31")
    assert state.read_text() == before


SPELLINGS = ["2026-01-12 00:00:00", "2026-01-12T00:00", "2026-01-12T00:00:00Z", "20260112", "2026-01-12T01:00+01:00"]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_day_that_is_spelled_otherwise_is_known(spelling, stream, file, tmp_path):
    state, again = tmp_path / "state.json", tmp_path / "again.csv"
    stream[stream["day"] <= "2026-01-12"].to_csv(file, index=False)
    said(file, *STREAM, "--state", state)
    before = state.read_text()
    rows = stream[stream["day"] == "2026-01-12"].assign(day=spelling)
    rows.to_csv(again, index=False)
    assert "50 rows in 1 period, 1 of them known already" in said(again, *STREAM, "--state", state)
    assert state.read_text() == before
    rows.assign(y=0).to_csv(again, index=False)
    fails_with(run("monitor", again, *STREAM, "--state", state), "rows of period 2026-01-12 as they were fed before")
    stream[stream["day"] == "2026-01-12"].assign(day="2026-01").to_csv(again, index=False)
    fails_with(run("monitor", again, *STREAM, "--state", state), "found 2026-01")
    assert state.read_text() == before


def test_spellings_of_a_day_in_one_file_are_one_period(stream, file):
    days = ["2026-01-12", *SPELLINGS]
    some = stream[stream["day"] <= "2026-01-12"].copy()
    text = said(file, *STREAM)
    some.to_csv(file, index=False)
    text = said(file, *STREAM)
    last = np.flatnonzero(some["day"] == "2026-01-12")
    some.iloc[last, some.columns.get_loc("day")] = [days[i % len(days)] for i in range(last.size)]
    some.to_csv(file, index=False)
    assert said(file, *STREAM) == text
    some.iloc[last[0], some.columns.get_loc("day")] = "2026-01"
    some.to_csv(file, index=False)
    fails_with(run("monitor", file, *STREAM), "which shares days with '2026-01', fed before")


FEED = """
import os, sys
from typer.testing import CliRunner
from calibstat.cli.app import app

def feed(file, k):
    return CliRunner().invoke(app, ["monitor", file, *sys.argv[1:], "--state", f"{k}.json"]).exit_code

def begun(file, k, gate):
    return os.fork() or os.read(gate, 1) and os._exit(feed(file, k))

print(feed("39.csv", 0), feed("40.csv", 0))  # now all is loaded that the processes to come need
for k in range(1, 11):
    gate, opening = os.pipe()
    processes = begun("39.csv", k, gate), begun("40.csv", k, gate)
    os.write(opening, b"go")  # a byte for each
    print(*(os.waitstatus_to_exitcode(os.waitpid(each, 0)[1]) for each in processes))
"""


def test_two_processes_lose_no_period(stream, tmp_path):
    """One has the rows of 39 days and the other of 40, and both begin at once, 10 times: all 40 are in the state."""
    pytest.importorskip("fcntl")
    stream[stream["day"] < stream["day"].max()].to_csv(tmp_path / "39.csv", index=False)
    stream.to_csv(tmp_path / "40.csv", index=False)
    command = [sys.executable, "-c", FEED, *STREAM]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout == "0 0\n" * 11
    assert [len(cs.Monitor.load(tmp_path / f"{k}.json").periods) for k in range(11)] == [40] * 11
    assert not any(path.name.startswith(".") for path in tmp_path.iterdir())


def test_an_alpha_too_small_is_one_line(file):
    fails_with(
        run("monitor", file, *STREAM, "--alpha", 1e-17), "expected --alpha so large that 1 - alpha is less than 1"
    )


def test_two_models(stream, file, tmp_path):
    state = tmp_path / "pair.json"
    monitor = cs.BrierMonitor(names=("p", "q"))
    for day, rows in stream.groupby("day"):
        monitor.update(rows["y"], rows["p"], rows["q"], day)
    both = [*STREAM, "--prob", "q", "--state", state]
    assert plain_text(str(monitor.status())) in said(file, *both, "--out", tmp_path / "out")
    assert "40 of them known already" in said(file, *both)
    fails_with(run("monitor", file, *both, "--alpha", 0.2), "expected p and q at confidence level 0.95 as in")
    fails_with(run("monitor", file, *both, "--arl", 50), "twice to compare two models alone")
    fails_with(run("monitor", file, *both, "--segment", "place"), "as they were fed before, found others")


def test_classes_through_a_lens(tmp_path):
    label, prob = cs.generators.dirichlet((0.4, 0.3, 0.3)).sample(60, rng=1)
    frame = pd.DataFrame(prob, columns=["p_a", "p_b", "p_c"]).assign(
        y=np.array(["a", "b", "c"])[label], year=2020 + np.arange(60) // 20
    )
    frame.to_csv(tmp_path / "c.csv", index=False)
    monitor = cs.Monitor()
    for year in (2020, 2021, 2022):
        rows = (frame["year"] == year).to_numpy()
        monitor.update(label[rows], prob[rows], year, lens=cs.lenses.one_class(1))
    arguments = [tmp_path / "c.csv", "--label", "y", "--prob", "p_*", "--when", "year", "--lens", "one_class:b"]
    assert plain_text(str(monitor.status())) in said(*arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--alpha", 0.1, "--arl", 10], "expected --alpha or --arl, found both"),
        (["--lens", "top_label"], "expected several columns of probabilities for --lens top_label, found one"),
        (["--prob", "q", "--prob", "place"], "found it 3 times"),
        (["--when", "p"], "expected dates such as 2026-11-22, or whole numbers, in column 'p'; found"),
        (["--when", "no"], "no column 'no'"),
        (["--cluster", "place"], "expected rows without --cluster for a monitor, because a monitor multiplies"),
    ],
)
def test_bad_arguments_are_refused(file, arguments, message):
    fails_with(run("monitor", file, *STREAM, *arguments), message)


def test_each_of_several_models_is_watched(stream, file, tmp_path):
    several, state = [*STREAM, "--prob", "q", "--each", "--segment", "place"], tmp_path / "state.json"
    monitor = cs.Monitor()
    for day, rows in stream.groupby("day"):
        monitor.update(rows["y"], {"p": rows["p"], "q": rows["q"]}, day, rows["place"])
    text = said(file, *several, "--state", state, "--out", tmp_path / "out")
    assert text.startswith(plain_text(str(monitor.status())))
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out" / "monitor.csv"), monitor.to_frame())
    assert "40 of them known already" in said(file, *several, "--state", state)
    fails_with(run("monitor", file, *several, "--state", state, "--alpha", 0.1), "expected --alpha 0.05 as in")
    other = ["--label", "y", "--prob", "q", "--prob", "p", "--when", "day", "--each", "--segment", "place"]
    fails_with(run("monitor", file, *other, "--state", state), "expected p, q as in")
    fails_with(run("monitor", file, *STREAM, "--prob", "q", "--prob", "p"), "or --each to watch several")


def test_two_models_in_segments(stream, file, tmp_path):
    monitor = cs.BrierMonitor(names=["p", "q"])
    for day, rows in stream.groupby("day"):
        monitor.update(rows["y"], rows["p"], rows["q"], day, rows["place"])
    text = said(file, *STREAM, "--prob", "q", "--segment", "place", "--state", tmp_path / "state.json")
    assert text.startswith(plain_text(str(monitor.status())))
    again = said(file, *STREAM, "--prob", "q", "--segment", "place", "--state", tmp_path / "state.json")
    assert "40 of them known already" in again


@pytest.mark.parametrize("each", [["--each"], []])
def test_several_models_of_several_classes_are_refused(each, tmp_path):
    prob = np.random.default_rng(1).dirichlet((1, 1, 1), 30)
    names = [f"{model}_{k}" for model in "pq" for k in range(3)]
    frame = pd.DataFrame(np.column_stack((prob, prob)), columns=names).assign(y=[0, 1, 2] * 10, day="2026-01-01")
    frame.to_csv(tmp_path / "a.csv", index=False)
    asked = ["--label", "y", "--prob", "p_*", "--prob", "q_*", "--when", "day", *each]
    fails_with(run("monitor", tmp_path / "a.csv", *asked), "expected models of outcome 1, found several classes")


# --- the exit code of an alarm ---------------------------------------------------------------------------------------


def test_an_alarm_is_an_exit_code_if_asked_for(stream, file, tmp_path):
    quiet = tmp_path / "quiet.csv"
    stream[stream["day"] < "2026-01-20"].to_csv(quiet, index=False)
    assert run("monitor", file, *STREAM).exit_code == 0
    assert run("monitor", quiet, *STREAM, "--fail-on-alarm").exit_code == 0
    found = run("monitor", file, *STREAM, "--fail-on-alarm", "--out", tmp_path / "out")
    period = fed(stream).alarm_period
    assert found.exit_code == 1
    assert found.stderr == f"calibstat: failed, because there is an alarm in period {period}\n"
    assert found.stdout.startswith(f"Alarm in period {period}")
    assert (tmp_path / "out" / "monitor.csv").exists()
    assert run("monitor", file, *STREAM, "--fail-on-alarm", "--format", "json").exit_code == 1


def test_an_alarm_stands_but_one_after_which_the_monitor_starts_again_is_told_once(stream, file, tmp_path):
    for options, again in (([], 1), (["--arl", 200], 0)):
        state = tmp_path / f"state{len(options)}.json"
        asked = [file, *STREAM, *options, "--state", state, "--fail-on-alarm"]
        assert run("monitor", *asked).exit_code == 1
        assert run("monitor", *asked).exit_code == again


def test_alarms_of_models_are_named_and_a_comparison_has_none(file):
    found = run("monitor", file, *STREAM, "--prob", "q", "--each", "--fail-on-alarm")
    assert found.exit_code == 1
    assert "there is an alarm for q in period 2026-01-" in found.stderr
    wrong = run("monitor", file, *STREAM, "--prob", "q", "--fail-on-alarm")
    fails_with(wrong, "expected --fail-on-alarm with one model, or with --each; a comparison raises no alarm")
