"""Killed and interrupted processes, full disks and other processes: nothing is lost, and the numbers are the same.

Killed studies are in ``tests/study/test_engine.py``, and damaged stores in ``tests/study/test_store.py``.
"""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import joblib
import numpy as np
import pandas as pd
import pytest
from command_line import run
from smoke_answers import ASKED, answer

import calibstat as cs

resource = pytest.importorskip("resource", reason="needs limits and kills of POSIX")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")]
FORK = get_context("fork")
KILLS = 40
STREAM = ["--label", "y", "--prob", "p", "--when", "day"]
LARGEST_FILE = 2_000  # bytes


@pytest.fixture(name="stream")
def stream_fixture():
    """60 days of 30 rows, from the 30th on with other outcomes than predicted."""
    y, p = cs.generators.calibrated().sample(1800, rng=5)
    day = np.repeat(np.arange(1, 61), 30)
    return pd.DataFrame({"y": np.where(day > 30, 1 - y, y).astype(int), "p": p, "day": day})


def feed(file, state):
    run("monitor", file, *STREAM, "--state", state)


def kill_feeders(stream, folder, seed):
    """Let two processes feed one state, and kill both at a random moment, many times; return how many were at work."""
    random, at_work, state = np.random.default_rng(seed), 0, folder / "state.json"
    for k in range(KILLS):
        files = [folder / f"{days}.csv" for days in (k + 1, k + 2)]
        for file in files:
            stream[stream["day"] <= int(file.stem)].to_csv(file, index=False)
        feeders = [FORK.Process(target=feed, args=(file, state)) for file in files]
        for feeder in feeders:
            feeder.start()
        time.sleep(random.uniform(0, 0.3))
        for feeder in feeders:
            at_work += feeder.is_alive()
            with contextlib.suppress(ProcessLookupError):
                os.kill(feeder.pid, signal.SIGKILL)
            feeder.join()
    return at_work


@pytest.mark.parametrize("seed", [1, 2])
def test_two_killed_feeders_leave_the_state_of_one_that_was_not(seed, stream, tmp_path):
    at_work = kill_feeders(stream, tmp_path, seed)
    assert at_work >= KILLS / 4, f"seed {seed}: {at_work} of {2 * KILLS} were killed at work"
    for state in ("state.json", "other.json"):
        stream.to_csv(tmp_path / "all.csv", index=False)
        feed(tmp_path / "all.csv", tmp_path / state)
    assert (tmp_path / "state.json").read_bytes() == (tmp_path / "other.json").read_bytes(), f"seed {seed}"
    assert not any(path.name.startswith(".") for path in tmp_path.iterdir())


WRITERS = {
    "monitor": (["monitor", "rows.csv", *STREAM, "--state", "old.json"], "old.json"),
    "recalibrate": (["recalibrate", "rows.csv", *STREAM[:4], "--map", "PlattScaling", "--out", "q.csv"], "q.csv"),
    "report": (["report", "rows.csv", *STREAM[:4], "--out", "r.html"], "r.html"),
    "study": (["study", "study.py", "--quick", "--out", "out"], "out"),
}
STUDY = """
from pathlib import Path
import calibstat as cs
from calibstat.study import Study
GRID = {"question": "bias", "generators": {"a": cs.generators.calibrated()}, "n": 20, "measures": ["ks"]}
study = Study(question="Is it small?", seed=1, grids=lambda quick: [{**GRID, "replicates": 900}],
              figures=lambda table: {"": cs.study.plot(table)}, file=Path(__file__))
"""


def with_full_disk(arguments, answers):
    """Run a command where no file may grow beyond a few rows, and send what it ends with."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails, as on a full disk
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))
    found = run(*arguments)
    answers.send((found.exit_code, found.stderr, repr(found.exception)))


@pytest.mark.parametrize("command", WRITERS)
def test_a_full_disk_is_one_line_and_leaves_what_was_there(command, stream, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream.to_csv("rows.csv", index=False)
    (tmp_path / "study.py").write_text(STUDY)
    stream[stream["day"] <= 30].to_csv("some.csv", index=False)
    feed("some.csv", "old.json")
    arguments, target = WRITERS[command]
    run(*arguments[:-1], "elsewhere")  # compiles what it needs, which is kept in files too
    before = (tmp_path / target).read_bytes() if (tmp_path / target).is_file() else None
    here, there = FORK.Pipe()
    process = FORK.Process(target=with_full_disk, args=(arguments, there))
    process.start()
    code, error, exception = here.recv()
    process.join()
    assert (code, error.count("\n")) == (2, 1), (error, exception)
    assert error.startswith("calibstat: ")
    assert "too large" in error
    assert ((tmp_path / target).read_bytes() if (tmp_path / target).is_file() else None) == before
    assert not [path.name for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.fixture(scope="module", name="expected")
def expected_fixture():
    return {name: answer(name) for name in ASKED}


@pytest.mark.parametrize("start", ["spawn", "fork", "forkserver"])
def test_processes_give_the_same_answers(start, expected):
    with ProcessPoolExecutor(2, mp_context=get_context(start)) as pool:
        assert dict(zip(ASKED, pool.map(answer, ASKED), strict=True)) == expected


def test_workers_of_joblib_give_the_same_answers(expected):
    found = joblib.Parallel(2, backend="loky")(joblib.delayed(answer)(name) for name in ASKED)
    assert dict(zip(ASKED, found, strict=True)) == expected


def test_threads_give_the_same_answers(expected):
    with ThreadPoolExecutor(8) as pool:
        assert dict(zip(ASKED, pool.map(answer, ASKED), strict=True)) == expected


INTERRUPTED = """
    import sys, threading, time, _thread
    import numpy as np
    import calibstat as cs

    rng = np.random.default_rng(1)
    p = rng.random({n})
    y = (rng.random({n}) < p).astype(int)
    prob, label = np.column_stack([1 - p, p]), y
    small = slice(0, 100)

    def ask(p, y, prob, label, n_resamples):
        return {call}

    ask(p[small], y[small], prob[small], label[small], 20)  # compiles
    print("ready", flush=True)
    try:
        ask(p, y, prob, label, 1_000_000)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""
CALLS = {
    "interval in bins": (300_000, "cs.confidence_interval(y, p, n_resamples=n_resamples, rng=1)"),
    "in threads": (300_000, "cs.confidence_interval(y, p, n_resamples=n_resamples, rng=1, n_jobs=2)"),
    "labels": (300_000, "cs.calibration_test(y, p, measure='ks', n_resamples=n_resamples, rng=1)"),
    "smooth": (300_000, "cs.confidence_interval(y, p, measure='smooth_ce', n_resamples=n_resamples, rng=1)"),
    "pairs of rows": (100_000, "cs.estimate(label, prob, measure='skce', lens='canonical')"),
    "draws of pairs": (
        5_000,
        "cs.calibration_test(label, prob, measure='skce', lens='canonical', n_resamples=n_resamples, rng=1)",
    ),
    "clusters": (
        300_000,
        "cs.confidence_interval(y, p, cluster=np.arange(len(y)) // 2, n_resamples=n_resamples, rng=1)",
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_is_heard_within_a_second(name):
    """A second of this process: two more are allowed for, as others may be at work beside it."""
    n, call = CALLS[name]
    code = textwrap.dedent(INTERRUPTED).format(n=n, call=call)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as at_work:
        assert at_work.stdout.readline() == "ready\n"
        time.sleep(2)
        at_work.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, err = at_work.communicate(timeout=60)
    assert (out, at_work.returncode) == ("interrupted\n", 0), err
    assert time.monotonic() - began < 3


def test_ctrl_c_ends_a_command_with_one_line(tmp_path):
    y, p = cs.generators.calibrated().sample(50_000, rng=1)
    np.savetxt(tmp_path / "rows.csv", np.column_stack([y, p]), delimiter=",", header="y,p", comments="")
    command = ["interval", tmp_path / "rows.csv", "--label", "y", "--prob", "p", "--measure", "ece"]
    command = [sys.executable, "-m", "calibstat", *command, "--n-resamples", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as at_work:
        time.sleep(8)
        at_work.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, err = at_work.communicate(timeout=60)
    assert (out, err, at_work.returncode) == ("", "Interrupted.\n", 130)
    assert time.monotonic() - began < 3
