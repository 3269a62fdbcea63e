"""What a first call costs where nothing is compiled yet: the number of functions that Numba compiles."""

import os
import subprocess
import sys
import textwrap

import pytest

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
