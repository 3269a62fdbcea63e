"""Numbers of threads: which are taken, and how many cores -1 is; pieces, between which an interrupt is heard."""

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from verb_arguments import NO_JOBS, VERBS

import calibstat as cs
from calibstat import compiled
from calibstat.resampling import binary_cells, threads
from calibstat.resampling.threads import in_threads, n_threads, one_after_another, small_chunks


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("bad", NO_JOBS, ids=repr)
def test_n_jobs_is_a_whole_number(verb, bad):
    with pytest.raises(ValueError, match="expected n_jobs to be a whole number of at least 1, or -1"):
        VERBS[verb](n_jobs=bad)


def test_all_cores_are_those_that_may_be_used():
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("no affinity here")
    code = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
    code += "from calibstat.resampling.threads import n_threads; print(n_threads(-1), n_threads(3))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert found.split() == ["1", "3"]
    assert n_threads(-1) <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("run", [in_threads, one_after_another])
def test_two_pieces_run_at_the_same_time_on_two_threads(run):
    """Each waits for the other, and gives up after a while."""
    meeting = threading.Barrier(2)

    def task(first, last):
        meeting.wait(timeout=20)
        return first, last

    assert list(run(task, [(0, 3), (3, 5)], 2)) == [(0, 3), (3, 5)]


@pytest.mark.parametrize("run", [in_threads, one_after_another])
@pytest.mark.parametrize(("pieces", "n_jobs"), [([(0, 1), (1, 2)], 1), ([(0, 2)], 3)])
def test_one_piece_or_one_job_needs_no_thread(run, pieces, n_jobs):
    found = list(run(lambda *piece: (piece, threading.current_thread()), pieces, n_jobs))
    assert found == [(piece, threading.main_thread()) for piece in pieces]


@pytest.mark.parametrize("run", [in_threads, one_after_another])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_in_any_piece_is_one_and_begins_no_other(run, n_jobs):
    begun = []

    def task(first, last):
        begun.append(first)
        if first == 1:
            raise KeyboardInterrupt
        time.sleep(0.001)

    with pytest.raises(KeyboardInterrupt):
        list(run(task, [(i, i + 1) for i in range(100)], n_jobs))
    assert len(begun) <= 2 + 2 * n_jobs


def test_small_chunks_are_of_so_many_bytes_at_most(monkeypatch):
    monkeypatch.setattr(threads, "LARGEST_PIECE", 1000)
    for size, n_jobs, each in ((100, 1, 70), (5, 2, 8), (3, 1, 5000), (1, 1, 1)):
        pieces = small_chunks(size, n_jobs, each)
        assert [i for first, last in pieces for i in range(first, last)] == list(range(size))
        assert all((last - first) * each <= 1000 or last - first == 1 for first, last in pieces)


RNG = np.random.default_rng(1)
P = np.round(RNG.random(120), 3)
Y = (RNG.random(120) < P).astype(int)
PROB = RNG.dirichlet(np.ones(3), 60)
CLASS = RNG.integers(0, 3, 60)
MASKS = RNG.random((120, 5)) < 0.5
DRAWS = {"n_resamples": 99, "rng": 1}
ASKED = {  # each enters kernels that are called for some draws, rows, pairs or groups at a time
    "bins": lambda: cs.confidence_interval(Y, P, n_bins=5, **DRAWS),
    "test in bins": lambda: cs.calibration_test(Y, P, measure="ece", **DRAWS),
    "bands": lambda: cs.reliability(Y, P, **DRAWS),
    "clusters": lambda: cs.confidence_interval(Y, P, cluster=np.arange(120) % 40, **DRAWS),
    "weights": lambda: cs.confidence_interval(Y, P, sample_weight=1 + P, **DRAWS),
    "groups": lambda: cs.audit(Y, P, MASKS, **DRAWS),
    "classes": lambda: cs.calibration_test(CLASS, PROB, lens="class_wise_mean", measure="ece", **DRAWS),
    "pairs of classes": lambda: cs.confidence_interval(CLASS, PROB, lens="class_wise_mean", **DRAWS),
    "vectors": lambda: cs.calibration_test(CLASS, PROB, lens="canonical", measure="skce", **DRAWS),
    "blocks of vectors": lambda: cs.estimate(CLASS, PROB, measure="skce", statistic="block", block_size=7),
}


@pytest.mark.parametrize("name", ASKED)
def test_answers_are_the_same_however_short_the_calls_of_kernels_are(name, monkeypatch):
    whole = ASKED[name]()
    monkeypatch.setattr(threads, "LARGEST_PIECE", 500)
    monkeypatch.setattr(compiled, "LONGEST_CALL", 100)
    binary_cells._last.clear()  # the draws of a sample are kept
    parts = ASKED[name]()
    assert repr(parts) == repr(whole) if isinstance(whole, float) else repr(parts.to_dict()) == repr(whole.to_dict())


@pytest.mark.parametrize("redraw", [False, True])
def test_no_call_draws_very_many_rows(redraw, monkeypatch):
    """300 rows and 999 draws in pieces of at most 10,000 draws of a row; without pieces it would be one call."""
    calls, kernel = [], binary_cells._rows_in_cells
    monkeypatch.setattr(threads, "LARGEST_PIECE", 80_000)
    monkeypatch.setattr(binary_cells, "_rows_in_cells", lambda *a: (calls.append(a[0].size * a[3].size), kernel(*a))[1])
    y, p = cs.generators.calibrated().sample(300, rng=1)
    if redraw:
        cs.reliability(y, p, rng=1)
    else:
        cs.confidence_interval(y, p, rng=1)
    assert sum(calls) >= 999 * 300
    assert max(calls) <= 10_000
