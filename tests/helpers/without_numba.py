"""Run a script as where Numba is not installed: ``python tests/helpers/without_numba.py SCRIPT [ARGUMENT ...]``."""

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.modules["numba"] = None  # so that its import fails
    del sys.argv[0]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
