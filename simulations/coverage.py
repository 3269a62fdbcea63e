"""Does every interval cover what it says?

The grid and the figure are in calibstat/studies/coverage.py.
"""

if __name__ != "__main__":  # numba looks for the package "coverage" and would find this script instead
    raise ImportError("this is a script, not the package coverage")

import sys
from pathlib import Path

from calibstat.cli.app import app

app(["study", "coverage", "--out", str(Path(__file__).parent), *sys.argv[1:]])
