"""A cluster whose workers die during a study, one after the other: the table stays the same."""

import os
import signal
import sys
import threading
import time

import joblib
import pandas as pd
import pytest
from slow_generator import Slow

import calibstat as cs


def table(**settings):
    generators = {"slow": Slow(0.03), "shift": cs.generators.shift(1.0)}
    return cs.study.run("bias", generators, n=[20], measures=["brier"], replicates=600, seed=5, **settings)


def kill_each(cluster, killed):
    """Kill both workers after a second of work, the other one as soon as a new one works in place of the first."""
    nannies = [*cluster.workers.values()]
    for nanny in nannies:
        wait_for_two(cluster, killed)
        time.sleep(1.0)
        killed.append(nanny.pid)
        os.kill(nanny.pid, signal.SIGKILL)
    wait_for_two(cluster, killed)


def wait_for_two(cluster, killed):
    """Wait until two workers are there, none of which was killed."""
    while len(cluster.scheduler.workers) < 2 or {nanny.pid for nanny in cluster.workers.values()} & {None, *killed}:
        time.sleep(0.1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="workers are killed by a signal")
@pytest.mark.filterwarnings("default")  # those of the cluster are not ours
def test_two_workers_that_die_one_after_the_other_do_not_change_the_numbers(tmp_path):
    distributed = pytest.importorskip("distributed")
    killed = []
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config("dask"),
    ):
        killer = threading.Thread(target=kill_each, args=(cluster, killed))
        killer.start()
        found = table(store=tmp_path / "store")
        assert len(killed) == 2  # while the study ran
        killer.join(60)
        assert not killer.is_alive()  # two new workers are there
    pd.testing.assert_frame_equal(found, table(), check_exact=True)
