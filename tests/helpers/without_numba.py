"""Run a script as where Numba is not installed: ``python tests/helpers/without_numba.py SCRIPT [ARGUMENT ...]``."""

import runpy
import subprocess
import sys
from pathlib import Path


def printed_without_numba(script, *arguments, given=None):
    """What a script of the helpers prints for a text on its input; warnings are errors there."""
    asked = [sys.executable, "-W", "error", __file__, Path(__file__).with_name(script), *arguments]
    return subprocess.run(asked, input=given, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    sys.modules["numba"] = None  # so that its import fails
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
