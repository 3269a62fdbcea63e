"""Numbers of threads: which are taken, and how many cores -1 stands for."""

import os
import subprocess
import sys
import threading

import pytest
from verb_arguments import NO_JOBS, VERBS

from calibstat.resampling.threads import in_order, in_threads, n_threads


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


@pytest.mark.parametrize("run", [in_threads, in_order])
def test_two_pieces_run_at_the_same_time_on_two_threads(run):
    """Each waits for the other, and gives up after a while."""
    meeting = threading.Barrier(2)

    def task(first, last):
        meeting.wait(timeout=20)
        return first, last

    assert list(run(task, [(0, 3), (3, 5)], 2)) == [(0, 3), (3, 5)]


@pytest.mark.parametrize("run", [in_threads, in_order])
@pytest.mark.parametrize(("pieces", "n_jobs"), [([(0, 1), (1, 2)], 1), ([(0, 2)], 3)])
def test_one_piece_or_one_job_needs_no_thread(run, pieces, n_jobs):
    found = list(run(lambda *piece: (piece, threading.current_thread()), pieces, n_jobs))
    assert found == [(piece, threading.main_thread()) for piece in pieces]
