"""The command `monitor`: what it says is what the monitor says, and it goes on where it stopped."""

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
        day = str(np.datetime64("2026-01-01") + t)
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


def test_two_models(stream, file, tmp_path):
    state = tmp_path / "pair.json"
    monitor = cs.BrierMonitor(names=("p", "q"))
    for day, rows in stream.groupby("day"):
        monitor.update(rows["y"], rows["p"], rows["q"], day)
    both = [*STREAM, "--prob", "q", "--state", state]
    assert plain_text(str(monitor.status())) in said(file, *both, "--out", tmp_path / "out")
    assert "40 of them known already" in said(file, *both)
    fails_with(run("monitor", file, *both, "--alpha", 0.2), "expected p and q at confidence level 0.95 as in")
    fails_with(run("monitor", file, *both, "--segment", "place"), "twice to compare two models alone")


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
    ],
)
def test_bad_arguments_are_refused(file, arguments, message):
    fails_with(run("monitor", file, *STREAM, *arguments), message)
