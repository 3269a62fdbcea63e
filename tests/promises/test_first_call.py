"""What a first call costs where nothing is compiled yet, by the functions that Numba compiles; first calls together."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import pytest

import calibstat as cs

COUNT = """
    import numpy as np
    from numba.core import event

    compiled = event.RecordingListener()
    event.register("numba:compile", compiled)
    import calibstat as cs

    p = np.linspace(0.01, 0.99, 1000)
    y = (np.arange(1000) % 10 < 10 * p).astype(int)
    {call}
    print(sum(each.is_start for _, each in compiled.buffer))
"""


def compilations(call, folder):
    """How many functions a fresh process compiles, those of Numba itself among them."""
    code = textwrap.dedent(COUNT).format(call=call)
    environment = {"NUMBA_CACHE_DIR": str(folder)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return int(run.stdout)


@pytest.mark.slow
def test_the_default_test_compiles_few_functions(tmp_path):
    assert 10 < compilations("cs.calibration_test(y, p, rng=1)", tmp_path) <= 18
    assert compilations("cs.calibration_test(y, p, rng=2)", tmp_path) == 0
    again = (
        "from calibstat.measures.components.smooth_components import _add_products as add\n"
        "add(np.eye(4)[::2], np.eye(4), np.zeros((2, 4)))"
    )
    assert compilations(again, tmp_path) == 1  # another layout of an array is another compilation


@pytest.mark.slow
def test_a_report_compiles_few_functions(tmp_path):
    """No exact distribution of tied rows is compiled where no rows are tied, nor an array made in a kernel."""
    assert 30 < compilations("cs.report(y, p, rng=1)", tmp_path) <= 48


def test_one_thread_at_a_time_loads_public_names(monkeypatch):
    """Two threads that load modules which need each other may each get a part of one."""
    now, most = 0, 0

    def slow_import(name):
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        time.sleep(0.001)
        now -= 1
        return import_module(name)

    monkeypatch.setattr(cs, "import_module", slow_import)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cs.__getattr__, ["estimate", "compare", "Monitor", "audit"] * 8))
    assert most == 1


FIRST_CALLS = """
    import sys
    from concurrent.futures import ThreadPoolExecutor
    import numpy as np
    import calibstat as cs

    sys.setswitchinterval(1e-5)
    p = np.linspace(0.01, 0.99, 200)
    y = (np.arange(200) % 10 < 10 * p).astype(int)

    def pandas():
        import pandas

    calls = [
        pandas,
        lambda: cs.BrierMonitor().update(y, p, p**2),
        lambda: cs.Monitor().update(y, p).to_frame(),
        lambda: cs.calibration_test(y, p, n_resamples=19, rng=1),
        lambda: cs.confidence_interval(y, p, cluster=np.arange(200) % 50, n_resamples=19, rng=1),
        lambda: cs.recalibration.PlattScaling().fit(p, y).predict_proba(p),
        lambda: cs.generators.calibrated().sample(10, rng=1),
        lambda: cs.report(y, p, rng=1),
    ]
    with ThreadPoolExecutor(16) as pool:
        for done in [pool.submit(call) for call in calls * 2]:
            done.result()
"""


@pytest.mark.slow
def test_first_calls_may_come_together_while_pandas_is_imported():
    for _ in range(5):
        subprocess.run([sys.executable, "-c", textwrap.dedent(FIRST_CALLS)], capture_output=True, check=True)
