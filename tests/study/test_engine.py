"""The engine: the same numbers on every backend and after every interruption, and a store that nothing can fool."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pandas as pd
import pytest
from project_folder import PROJECT
from slow_generator import Slow

import calibstat as cs
from calibstat.study import engine
from calibstat.study.store import DESCRIPTION, UNFINISHED, Store

GENERATORS = {"uniform": cs.generators.calibrated(), "shift": cs.generators.shift(1.0)}


def table(**changes):
    arguments = {"question": "power", "generators": GENERATORS, "n": [20, 30], "measures": ["ece", "ks"]}
    return cs.study.run(**{**arguments, "replicates": 60, "seed": 5, "n_resamples": 19, **changes})


@pytest.fixture(scope="module")
def expected():
    return table()


# --- backends ---------------------------------------------------------------------------------------------------------


def test_processes_do_not_change_the_numbers(expected):
    pd.testing.assert_frame_equal(table(n_jobs=2), expected, check_exact=True)


def test_threads_do_not_change_the_numbers(expected):
    with joblib.parallel_config("threading", n_jobs=2):
        pd.testing.assert_frame_equal(table(), expected, check_exact=True)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of the cluster are not ours
def test_a_cluster_does_not_change_the_numbers(expected, tmp_path):
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        pd.testing.assert_frame_equal(table(store=tmp_path / "store"), expected, check_exact=True)
        seen = client.run(lambda: [m for m in __import__("sys").modules if m == "calibstat.study.engine"])
    assert len(seen) == 2
    assert all(seen.values())  # both worker processes had work


def test_the_order_of_cells_does_not_matter():
    cells = engine.Cells([("uniform", 5), ("shift", 7)], GENERATORS, 3, 9, _values, ["sum"])
    backwards = [cells.answer(i) for i in reversed(range(len(cells)))]
    assert backwards[::-1] == [cells.answer(i) for i in range(len(cells))]
    assert len({tuple(answer) for answer in backwards}) == 6


def _values(sample, rng):
    return [sample.value.sum()]


def test_tasks_take_about_the_same_time():
    """Every stretch of tasks holds all groups, so that a group that is 1000 times as slow stretches no task."""
    pace = engine._Pace(4)
    tasks = pace.cut(np.arange(10**5))
    taken = []
    for _ in range(200):
        chunk = next(tasks)
        taken.append(sum(0.1 if cell % 4 == 0 else 1e-4 for cell in chunk))
        pace.learn(chunk.size, taken[-1])
    assert max(taken) <= 2 - engine.BATCH_SECONDS  # so that batches are less than 2 seconds apart
    assert np.mean(taken) >= engine.TASK_SECONDS / 2


def test_a_slow_start_is_forgotten():
    pace = engine._Pace(2)
    pace.learn(2, 60.0)  # compiling
    assert pace.size() == 1
    for _ in range(2):
        pace.learn(1, 1e-3)
    assert pace.size() == 250


# --- the store --------------------------------------------------------------------------------------------------------


def kept(tmp_path, **changes):
    return table(store=tmp_path / "store", **changes)


def batches(tmp_path):
    return sorted((tmp_path / "store").glob("*.parquet"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A store that no test changes."""
    folder = tmp_path_factory.mktemp("finished")
    table(store=folder)
    return folder


@pytest.fixture
def never_compute(monkeypatch):
    def refuse(self, cell):
        raise AssertionError(f"cell {cell} was computed again")

    return lambda: monkeypatch.setattr(engine.Cells, "answer", refuse)


def test_a_finished_store_is_only_read(tmp_path, expected, never_compute):
    pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)
    assert len(batches(tmp_path)) == 1
    never_compute()
    pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)


def test_what_is_missing_is_computed_and_nothing_else(tmp_path, expected, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_CELLS", 30)
    monkeypatch.setattr(engine, "TASK_CELLS", 10)
    kept(tmp_path)
    lost = batches(tmp_path)[2]
    cells = pd.read_parquet(lost)["cell"].tolist()
    lost.unlink()
    asked = []
    answer = engine.Cells.answer
    monkeypatch.setattr(engine.Cells, "answer", lambda self, cell: asked.append(cell) or answer(self, cell))
    pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)
    assert asked == cells


def test_batches_are_small_and_never_far_apart(tmp_path, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_SECONDS", 0.05)
    monkeypatch.setattr(engine, "TASK_SECONDS", 0.01)
    arguments = {"question": "bias", "generators": {"slow": Slow(1e-3)}, "n": 1, "measures": ["brier"]}
    start = time.perf_counter()
    kept(tmp_path, **arguments, replicates=300)
    assert len(batches(tmp_path)) >= 3  # of 0.3 s and more
    assert len(batches(tmp_path)) <= 1 + (time.perf_counter() - start) / 0.05
    monkeypatch.setattr(engine, "BATCH_SECONDS", 1e9)
    table(**{**arguments, "generators": GENERATORS, "measures": ["ks"]}, replicates=2100, store=tmp_path / "other")
    sizes = [len(pd.read_parquet(path)) for path in (tmp_path / "other").glob("*.parquet")]
    assert sum(sizes) == 4200
    assert max(sizes) <= 1000


def test_an_interruption_keeps_what_is_finished(tmp_path, monkeypatch):
    answer = engine.Cells.answer

    def interrupted(self, cell):
        if cell == 100:
            raise KeyboardInterrupt
        return answer(self, cell)

    monkeypatch.setattr(engine.Cells, "answer", interrupted)
    monkeypatch.setattr(engine, "TASK_CELLS", 10)
    with pytest.raises(KeyboardInterrupt):
        kept(tmp_path)
    assert sum(len(pd.read_parquet(path)) for path in batches(tmp_path)) >= 90


DAMAGE = {
    "cut short": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "one bit flipped": lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
    "bytes after its end": lambda content: content + b"x",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_file_is_named_and_computed_again(tmp_path, expected, kind, monkeypatch):
    monkeypatch.setattr(engine, "BATCH_CELLS", 100)
    monkeypatch.setattr(engine, "TASK_CELLS", 50)
    kept(tmp_path)
    bad = batches(tmp_path)[1]
    bad.write_bytes(DAMAGE[kind](bad.read_bytes()))
    with pytest.warns(RuntimeWarning, match=f"{bad.name} is damaged"):
        pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)
    pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)  # without a warning


def test_a_batch_under_another_name_is_damaged(tmp_path, expected):
    kept(tmp_path)
    (path,) = batches(tmp_path)
    path.rename(path.with_name("cells-1.parquet"))
    with pytest.warns(RuntimeWarning, match=r"cells-1.parquet is damaged"):
        pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)


def test_a_file_that_was_being_written_is_dropped(tmp_path, expected):
    kept(tmp_path)
    half = tmp_path / "store" / f"cells-5-abc.parquet{UNFINISHED}"
    half.write_bytes(b"PAR1")
    pd.testing.assert_frame_equal(kept(tmp_path), expected, check_exact=True)
    assert not half.exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 6}, "seed is 5 there and 6 here"),
        ({"n": [20, 31]}, r"n is \[20, 30\] there and \[20, 31\] here"),
        ({"replicates": 61}, "replicates is 60 there and 61 here"),
        ({"n_resamples": 39}, "n_resamples is 19 there and 39 here"),
        ({"level": 0.1}, "level is 0.05 there and 0.1 here"),
        ({"methods": ["both"]}, r"methods is \['labels'\] there and \['both'\] here"),
        ({"measures": ["ece"]}, r"measure 'ks' is \('ks', {}\) there and absent here"),
        (
            {"measures": {"ece": ("ece", {"n_bins": 3}), "ks": ("ks", {})}},
            r"measure 'ece' is \('ece', {}\) there and \('ece', {'n_bins': 3}\) here",
        ),
        (
            {"generators": {**GENERATORS, "more": cs.generators.hidden()}},
            r"generator 'more' is absent there and hidden",
        ),
        ({"question": "bias", "level": None}, "question is 'power' there and 'bias' here"),
    ],
)
def test_the_store_of_another_study_is_refused(tmp_path, finished, changes, message):
    shutil.copytree(finished, tmp_path / "store")
    before = {path: path.read_bytes() for path in (tmp_path / "store").iterdir()}
    with pytest.raises(ValueError, match=message):
        kept(tmp_path, **changes)
    assert {path: path.read_bytes() for path in (tmp_path / "store").iterdir()} == before


def test_the_store_of_another_version_is_refused(tmp_path):
    kept(tmp_path)
    path = tmp_path / "store" / DESCRIPTION
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": "'0.0.1'"}))
    with pytest.raises(ValueError, match=r"version is '0.0.1' there"):
        kept(tmp_path)


def test_a_folder_of_other_files_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(ValueError, match="expected the store of a study or an empty folder"):
        table(store=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_store_keeps_every_bit(tmp_path):
    awkward = np.array([[0.1, np.nan], [-0.0, np.inf], [5e-324, 1 / 3]])
    store = Store(tmp_path, {}, ["a", "b | low"])
    store.append(np.array([7, 3, 5]), awkward)
    cells, answers = Store(tmp_path, {}, ["a", "b | low"]).read()
    assert cells.tolist() == [7, 3, 5]
    assert answers.tobytes() == awkward.tobytes()


# --- SIGKILL ----------------------------------------------------------------------------------------------------------

SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import calibstat as cs
from slow_generator import Slow
cs.study.run(**{arguments!r}, generators={{"slow": Slow(5e-4)}}, store=sys.argv[1], n_jobs=int(sys.argv[2]))
"""


def asked(replicates):
    """The arguments of the study that is killed, without its generator."""
    grid = {"n": [1, 2], "measures": ["brier", "ece"], "replicates": replicates, "n_resamples": 19}
    return {"question": "bias", **grid, "seed": 3}


def kills(times, replicates, tmp_path, n_jobs=1):
    """Kill a study that many times at random moments; return its table at last, and how often it was at work then."""
    random = np.random.default_rng(times)
    script = SCRIPT.format(tests=str(PROJECT / "tests" / "helpers"), arguments=asked(replicates))
    command = [sys.executable, "-c", script, str(tmp_path / "store"), str(n_jobs)]
    at_work, finished = 0, 0
    for _ in range(times):
        process = subprocess.Popen(command, start_new_session=True)
        before = len(batches(tmp_path))
        while len(batches(tmp_path)) == before and process.poll() is None:
            time.sleep(0.01)  # until it has begun to write, or a kill would hit the interpreter's start
        time.sleep(random.uniform(0, 0.6))
        at_work += process.poll() is None
        with contextlib.suppress(ProcessLookupError):  # it may have ended meanwhile, with all of its processes
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        now = sum(len(pd.read_parquet(path)) for path in batches(tmp_path))  # none is half written
        assert now > finished or process.returncode == 0
        finished = now
    return kept(tmp_path, **asked(replicates), generators={"slow": Slow(0)}, n_jobs=n_jobs), at_work


def uninterrupted(replicates):
    return table(**asked(replicates), generators={"slow": Slow(0)})


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_a_killed_study_goes_on_where_it_was(tmp_path):
    found, at_work = kills(1, 2500, tmp_path)  # at least 2.5 s of work, so that a kill within .6 s finds it at work
    assert at_work == 1
    pd.testing.assert_frame_equal(found, uninterrupted(2500), check_exact=True)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_killed_twenty_times_gives_the_same_table(tmp_path, n_jobs):
    found, at_work = kills(20, 40_000, tmp_path, n_jobs)
    assert at_work >= 18
    pd.testing.assert_frame_equal(found, uninterrupted(40_000), check_exact=True)
