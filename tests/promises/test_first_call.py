"""First calls: how many functions they compile, what answers them before one is, to the same bits; calls together."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

import calibstat as cs
from calibstat import compiled
from calibstat.compiled import first_calls, jit

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
    assert compilations("cs.calibration_test(y, p, rng=1)", tmp_path) == 0
    many = "cs.calibration_test(np.tile(y, 20), np.tile(p, 20), rng=1)"
    assert 3 < compilations(many, tmp_path) <= 22
    assert compilations(many, tmp_path) == 0
    again = (
        "from calibstat.measures.components.smooth_components import _add_products as add\n"
        "add.compiled(np.eye(4)[::2], np.eye(4), np.zeros((2, 4)))"
    )
    assert compilations(again, tmp_path) == 1  # another layout of an array is another compilation


@pytest.mark.slow
def test_a_report_compiles_few_functions(tmp_path):
    """No exact distribution of tied rows is compiled where no rows are tied, nor an array made in a kernel."""
    assert 10 < compilations("cs.report(y, p, rng=1)", tmp_path) <= 27


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


ROWS = """
    import sys
    import numpy as np
    import pandas as pd
    import calibstat as cs
    p = np.linspace(0.01, 0.99, 1000)
    y = (np.arange(1000) % 10 < 10 * p).astype(int)
"""
WITHOUT_NUMBA = {
    "default test": "cs.calibration_test(y, p, rng=1)",
    "estimate": "cs.estimate(y, p)",
    "test": "cs.calibration_test(y, p, measure='ece', rng=1)",
    "interval": "cs.confidence_interval(y, p, rng=1)",
    "compare": "cs.compare(y, {'A': p, 'B': p**1.1})",
    "audit": "cs.audit(y, p, pd.DataFrame({'age': np.arange(1000) % 5}), rng=1)",
    "diagram": "cs.ReliabilityDisplay.from_predictions(y, p, rng=1)",
}


def printed(code, *arguments, **variables):
    """What a fresh process prints."""
    run = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(run, env=os.environ | variables, capture_output=True, text=True, check=True).stdout


def total(values: np.ndarray, weight: float) -> float:
    found = 0.0
    for value in values:
        found += weight * value
    return found


def kernel(*given):
    """A kernel with first calls."""
    return first_calls(*given)(jit(total))


HALF = kernel()


def twice(values: np.ndarray) -> float:
    return 2.0 * HALF(values, 0.5)


@pytest.mark.parametrize("name", WITHOUT_NUMBA)
def test_a_first_call_on_few_rows_does_not_load_numba(name):
    code = textwrap.dedent(ROWS) + WITHOUT_NUMBA[name] + "\nprint('numba' in sys.modules)"
    assert printed(code, MPLBACKEND="agg") == "False\n"


@pytest.mark.thorough
def test_many_rows_load_it():
    code = textwrap.dedent(ROWS) + "cs.estimate(np.tile(y, 3000), np.tile(p, 3000))\nprint('numba' in sys.modules)"
    assert printed(code) == "True\n"


def test_it_is_compiled_once_first_calls_would_take_as_long():
    one = kernel(1e-3)
    for _ in range(9):
        assert one(np.ones(10), 0.5) == 5.0  # each counts as a hundredth of a second
        assert one.call is not one.compiled
    for _ in range(2):
        assert one(np.ones(10), 0.5) == 5.0
    assert one.call is one.compiled


def test_a_long_call_is_compiled_at_once():
    one = kernel(lambda values, weight: 1e-8 * values.size)
    assert one(np.ones(20_000_000), 1.0) == 2e7
    assert one.call is one.compiled


def test_python_answers_for_no_short_numbers_and_arrays_do():
    """Python adds numbers of single precision in single precision, compiled code in double."""
    values = np.full(10, 0.1, np.float32)
    one, other = kernel(), kernel(1e-8, lambda values, weight: -1.0)
    assert one(values, 1.0) == one.compiled(values, 1.0) != total(values, np.float32(1.0))
    assert one.call is one.compiled
    assert other(values, 1.0) == -1.0
    scalar = first_calls()(jit(lambda x: x + 0.1))
    assert scalar(np.float32(0.1)) == scalar.compiled(np.float32(0.1))


def test_nothing_but_compiled_code_answers_if_first_calls_may_take_no_time():
    one = kernel()
    with patch.object(compiled, "FIRST_SECONDS", 0.0):
        assert one(np.ones(2), 1.0) == 2.0
    assert one.call is one.compiled


def test_a_kernel_may_be_called_by_another_before_it_is_compiled():
    assert jit(twice)(np.ones(4)) == 4.0
    assert HALF.call is not HALF.compiled


@pytest.mark.thorough
def test_answers_are_the_same_to_the_last_bit():
    """Where all is compiled at once, and where as little as can be."""
    code = """
        import json, sys
        from calibstat import compiled
        compiled.FIRST_SECONDS = float(sys.argv[1])
        from smoke_answers import ASKED, answers
        print(json.dumps(answers(ASKED)))
    """
    helpers = {"PYTHONPATH": str(Path(__file__).parents[1] / "helpers")}
    all_compiled, as_few_as_can_be = (printed(code, seconds, **helpers) for seconds in ("0", "1e9"))
    assert all_compiled == as_few_as_can_be
    assert len(all_compiled) > 1000
